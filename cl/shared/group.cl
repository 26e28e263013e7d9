/* SPDX-License-Identifier: MIT */
/* A kernel whose work-groups know nothing of each other can be a part of a launch graph of work-groups (cl/gpu/group_graph.cl). There it is
 * an ordinary function, and its caller says which group it is and gives it local memory. The kernel's parameters begin with
 * GROUP_PARAMETERS, which is nothing where the kernel is launched by itself, its local memory is LOCAL_ARRAYs, and its groups have WG items
 * in dimension 0. Included last, behind what uses the words below otherwise.
 *
 * LOCAL_ARRAY(type, name, count, begin), or LOCAL_ALIGNED_ARRAY for one that is read by vectors of 16 bytes: begin: in bytes, a multiple of
 * 16, where it lies in a graph's local memory. By itself a kernel has arrays of its own, no more of them aligned than need be: llvmpipe
 * compiles one struct of them seven times as long, and aligned ones three times. */
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
