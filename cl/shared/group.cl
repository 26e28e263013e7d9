/* SPDX-License-Identifier: MIT */
/* A kernel whose work-groups know nothing of each other can be a part of a launch graph of work-groups (cl/gpu/group_graph.cl): there it
 * is an ordinary function, and its caller says which group it is and gives it local memory. Such a kernel's parameters begin with
 * GROUP_PARAMETERS, which is nothing where the kernel is launched by itself, its local memory is one LOCAL_SPACE(struct, pointer), and its
 * groups have WG items in dimension 0. Included last, behind what uses the words below otherwise. */
#ifdef GRAPH_PART
#define GROUP_PARAMETERS \
    const uint group_x, const uint group_y, const uint group_z, const uint groups_x, const uint groups_y, __local uint4 *const space,
#define LOCAL_SPACE(type, name)                                              \
    __local type *const name = (__local type *)space;                        \
    typedef char name##_fits_the_space[sizeof(type) <= SPACE_BYTES ? 1 : -1];
#define __kernel static
#define reqd_work_group_size(x, y, z) unused
#define get_group_id(d) ((size_t)((d) == 0 ? group_x : (d) == 1 ? group_y : group_z))
#define get_num_groups(d) ((size_t)((d) == 0 ? groups_x : groups_y)) /* of dimensions 0 and 1 alone */
#define get_global_id(d) ((d) == 0 ? (size_t)group_x * WG + get_local_id(0) : get_group_id(d))
#else
#define GROUP_PARAMETERS
#define LOCAL_SPACE(type, name) \
    __local type name##_itself; \
    __local type *const name = &name##_itself;
#endif
