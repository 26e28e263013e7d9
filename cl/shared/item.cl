/* SPDX-License-Identifier: MIT */
/* A kernel whose work-items know nothing of each other can be a part of a launch graph (cl/cpu/launch_graph.cl, cl/gpu/group_graph.cl):
 * there it is an ordinary function, and its caller says which item it is. Such a kernel's parameters begin with ITEM_PARAMETERS, which is
 * nothing where the kernel is launched by itself. Included last, behind what uses the words below otherwise. */
#ifdef GRAPH_PART
#define ITEM_PARAMETERS const uint item_x, const uint item_y, const uint item_z,
#define __kernel static
#define reqd_work_group_size(x, y, z) unused
#define get_global_id(d) ((size_t)((d) == 0 ? item_x : (d) == 1 ? item_y : item_z))
#define get_group_id get_global_id
#else
#define ITEM_PARAMETERS
#endif
