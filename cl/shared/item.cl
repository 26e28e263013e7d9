/* SPDX-License-Identifier: MIT */
/* Lets a kernel whose work-items are independent be a part of a launch graph (cl/cpu/launch_graph.cl, cl/gpu/group_graph.cl). In a graph
 * the kernel is an ordinary function, and its caller passes the item's index. The kernel's parameters begin with ITEM_PARAMETERS, which is
 * empty if the kernel is launched by itself. Include this file last: it redefines names such as get_global_id. */
#ifdef GRAPH_PART
#define ITEM_PARAMETERS const uint item_x, const uint item_y, const uint item_z,
#define __kernel static
#define reqd_work_group_size(x, y, z) unused
#define get_global_id(d) ((size_t)((d) == 0 ? item_x : (d) == 1 ? item_y : item_z))
#define get_group_id get_global_id
#else
#define ITEM_PARAMETERS
#endif
