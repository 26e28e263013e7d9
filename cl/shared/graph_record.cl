/* SPDX-License-Identifier: MIT */
/* What launch graphs (cl/cpu/launch_graph.cl, cl/gpu/group_graph.cl) share with the host (host/runtime/recording.c and launch_graph.c): the
 * words of a record, and of the place where work-groups meet. */

/* A launch's record: how many bytes it has, which part it is, how many items or work-groups there are in each dimension, how many of them
 * were taken, whether they are work-groups; behind these words lie the part's arguments, buffers as their addresses. */
enum { HEADER_WORDS = 8, BYTES = 0, PART = 1, ITEMS_X = 2, ITEMS_Y = 3, ITEMS_Z = 4, TAKEN = 5, IS_GROUP = 6 };

/* Words of `meeting`, each on a cache line of its own: arrivals of all launches, how often a group has waited long, whether a wait had no
 * end, how many groups have begun, and what came of that, a state. ARRIVED, BEGUN and STATE are zeros before a graph. */
enum { ARRIVED = 0, LATE = 32, LOST = 64, BEGUN = 96, STATE = 128 };
enum { IS_OPEN = 0, IS_COMPLETE = 1, IS_REFUSED = 2 };
