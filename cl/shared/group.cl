/* SPDX-License-Identifier: MIT */
/* Lets a kernel whose work-groups are independent be a part of a launch graph of work-groups (cl/gpu/group_graph.cl). In a graph the kernel
 * is an ordinary function, and its caller passes the group's index and its local memory. The kernel's parameters begin with
 * GROUP_PARAMETERS, which is empty if the kernel is launched by itself. Its local arrays are declared by LOCAL_ARRAY, and its groups have
 * WG items in dimension 0. Include this file last: it redefines names such as get_group_id, which other files use in their usual meaning.
 *
 * LOCAL_ARRAY(type, name, count, begin) declares a local array; LOCAL_ALIGNED_ARRAY declares one that is read by vectors of 16 bytes. begin
 * is its offset in a graph's local memory, in bytes, a multiple of 16. A kernel launched by itself has separate arrays, aligned only where
 * needed: llvmpipe compiles one struct of them seven times as long, and aligned arrays three times as long. */
#ifdef GRAPH_PART
#define GROUP_PARAMETERS \
    const uint group_x, const uint group_y, const uint group_z, __local uint4 *const space,
#define LOCAL_ARRAY(type, name, count, begin)                                                   \
    __local type *const name = (__local type *)((__local uchar *)space + (begin));              \
    typedef char name##_fits_the_space[(begin) + (count) * sizeof(type) <= SPACE_BYTES ? 1 : -1];
#define LOCAL_ALIGNED_ARRAY LOCAL_ARRAY
#define __kernel static
#define reqd_work_group_size(x, y, z) unused
#define get_group_id(d) ((size_t)((d) == 0 ? group_x : (d) == 1 ? group_y : group_z))
#define get_global_id(d) ((d) == 0 ? (size_t)group_x * WG + get_local_id(0) : get_group_id(d))
#else
#define GROUP_PARAMETERS
#define LOCAL_ARRAY(type, name, count, begin) __local type name[count];
#define LOCAL_ALIGNED_ARRAY(type, name, count, begin) __local type name[count] __attribute__((aligned(16)));
#endif
