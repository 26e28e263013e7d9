/* SPDX-License-Identifier: MIT */
/* Reductions over a row that LANES neighbouring work-items share, by a tree in local memory. A work-group of WG items holds WG / LANES
 * rows. All items of the group must call together, because a reduction has barriers. */
#ifndef WG
#error "WG: work-group size"
#endif
#ifndef LANES
#error "LANES: work-items per row, a power of two that divides WG"
#endif

/* Defines type name(scratch, value), which joins the values of a row by join(a, b) and returns the result to all its lanes. scratch: WG
 * elements, which may be used again afterwards. fence: flags of the last barrier. With CLK_GLOBAL_MEM_FENCE, global memory that other items
 * read before may be overwritten afterwards. */
#define ROW_REDUCTION(name, type, join, fence)                             \
    static inline type name(__local type *scratch, type value)             \
    {                                                                      \
        const uint item = get_local_id(0), lane = item & (LANES - 1);      \
        scratch[item] = value;                                             \
        barrier(CLK_LOCAL_MEM_FENCE);                                      \
        for (uint step = LANES / 2; step > 0; step >>= 1) {                \
            if (lane < step)                                               \
                scratch[item] = join(scratch[item], scratch[item + step]); \
            barrier(CLK_LOCAL_MEM_FENCE);                                  \
        }                                                                  \
        const type result = scratch[item - lane];                          \
        barrier(fence);                                                    \
        return result;                                                     \
    }

#define ROW_LARGER(a, b) ((b) > (a) ? (b) : (a))
#define ROW_PLUS(a, b) ((a) + (b))
