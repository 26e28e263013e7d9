/* SPDX-License-Identifier: MIT */
/* Sums over a row, by the tree of row_reduce.cl or by sub-groups. Sub-groups are used if a whole work-group shares a row and a probe found
 * the device's sub-groups right. Sub-groups need two barriers, the tree log2(LANES) + 2. */
#include "row_reduce.cl"
#include "subgroups.cl"

#if !defined(SUBGROUPS)
#error "SUBGROUPS: see subgroups.cl"
#endif
#if SUBGROUPS && LANES != WG
#error "SUBGROUPS: only where a row is a work-group's"
#endif

#if SUBGROUPS
#define SUBGROUP_SUM_float(value) sub_group_reduce_add(value)
#define SUBGROUP_SUM_float2(value) ((float2)(sub_group_reduce_add((value).x), sub_group_reduce_add((value).y)))

/* Defines type name(scratch, value), like ROW_REDUCTION with ROW_PLUS; type is float or float2. */
#define ROW_SUM(name, type, fence)                                         \
    static inline type name(__local type *scratch, type value)             \
    {                                                                      \
        const type part = SUBGROUP_SUM_##type(value);                      \
        if (get_sub_group_local_id() == 0)                                 \
            scratch[get_sub_group_id()] = part;                            \
        barrier(CLK_LOCAL_MEM_FENCE);                                      \
        type result = scratch[0];                                          \
        for (uint i = 1; i < get_num_sub_groups(); i++)                    \
            result += scratch[i];                                          \
        barrier(fence);                                                    \
        return result;                                                     \
    }
#else
#define ROW_SUM(name, type, fence) ROW_REDUCTION(name, type, ROW_PLUS, fence)
#endif
