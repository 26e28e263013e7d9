/* SPDX-License-Identifier: MIT */
/* The words of a launch graph's record, and of the barrier between work-groups. Launch graphs (cl/cpu/launch_graph.cl,
 * cl/gpu/group_graph.cl) and the host (host/runtime/recording.c and launch_graph.c) share them. */

/* A launch's record: its size in bytes, the index of its part (a kernel), the number of items or work-groups in each dimension, how many of
 * them were taken, and whether they are work-groups. The part's arguments follow these words; a buffer is given by its address. */
enum { HEADER_WORDS = 8, BYTES = 0, PART = 1, ITEMS_X = 2, ITEMS_Y = 3, ITEMS_Z = 4, TAKEN = 5, IS_GROUP = 6 };

/* Words of `meeting`, each on a cache line of its own. ARRIVED: arrivals of all launches. LATE: how often a group has waited long (CPUs
 * only). LOST: 1 after a wait reached its limit. BEGUN: how many groups have begun. STATE: IS_OPEN until all have begun (IS_COMPLETE) or
 * were awaited too long (IS_REFUSED). ARRIVED, BEGUN and STATE are zeros before a graph. */
enum { ARRIVED = 0, LATE = 32, LOST = 64, BEGUN = 96, STATE = 128 };
enum { IS_OPEN = 0, IS_COMPLETE = 1, IS_REFUSED = 2 };
