/* SPDX-License-Identifier: MIT */
/* A launch graph on CPUs: one kernel launch that runs a sequence of recorded launches, so that the host calls the driver once. The graph
 * has one work-group for each compute unit, and all of them run at once. The work-groups share the items of a recorded launch, and wait for
 * each other before the next recorded launch begins. A record (graph_record.cl) describes each recorded launch. It names a part: a kernel
 * with its own macros, compiled as a function part_<number> that runs items first .. end - 1. */
#include "graph_record.cl"

#ifndef EACH_PART
#error "EACH_PART(F): F(0) F(1) ... for every part that this program is linked from"
#endif

/* Spin limits, in polls of a word: about 1 ms, 50 ms and 1 min. */
#define LATE_LOOKS (1ul << 20)
#define BEGIN_LOOKS (1ul << 26)
#define LOST_LOOKS (1ul << 36)

#define DECLARE(number) void part_##number(uint first, uint end, uint items_x, uint items_y, __global const uchar *arguments);
EACH_PART(DECLARE)

#define CASE(number)                                               \
    case number:                                                   \
        part_##number(first, end, items_x, items_y, arguments);    \
        break;

static void run_part(uint part, uint first, uint end, uint items_x, uint items_y, __global const uchar *arguments)
{
    switch (part) {
        EACH_PART(CASE)
    }
}

/* Waits until all groups run at the same time, which no driver guarantees. Returns false if a group did not start in time; then no group
 * may do any work. */
static bool have_all_begun(volatile __global uint *meeting, uint groups)
{
    if (atomic_inc(meeting + BEGUN) + 1 == groups)
        atomic_cmpxchg(meeting + STATE, IS_OPEN, IS_COMPLETE);
    for (ulong looks = 0; meeting[STATE] == IS_OPEN; looks++)
        if (looks == BEGIN_LOOKS)
            atomic_cmpxchg(meeting + STATE, IS_OPEN, IS_REFUSED);
    return meeting[STATE] == IS_COMPLETE;
}

/* Waits until `arrivals` groups have arrived. Returns false if they did not arrive in time; then all results are invalid. */
static bool meet(volatile __global uint *meeting, uint arrivals)
{
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_inc(meeting + ARRIVED);
    for (ulong looks = 0; (int)(meeting[ARRIVED] - arrivals) < 0; looks++) {
        if (looks % LATE_LOOKS == LATE_LOOKS - 1)
            atomic_inc(meeting + LATE);
        if (looks % 1024 == 1023 && (looks >= LOST_LOOKS || meeting[LOST])) {
            meeting[LOST] = 1;
            return false;
        }
    }
    atomic_add(meeting + ARRIVED, 0u); /* later reads see what other groups wrote before they arrived */
    return true;
}

/* Takes a group's next items of a recorded launch: half of the group's share of the remaining items, so that fast and slow groups finish at
 * the same time. Returns false if none is left. */
static bool take_items(volatile __global uint *taken, uint items, uint groups, uint *first, uint *end)
{
    uint begin = *taken;
    while (begin < items) {
        const uint next = begin + max((items - begin) / (2 * groups), 1u), found = atomic_cmpxchg(taken, begin, next);
        if (found == begin) {
            *first = begin;
            *end = next;
            return true;
        }
        begin = found;
    }
    return false;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void launch_graph(__global uchar *records, int launches, volatile __global uint *meeting)
{
    const uint all = (uint)get_num_groups(0);
    uint arrivals = 0;
    if (!have_all_begun(meeting, all))
        return;
    for (int i = 0; i < launches; i++) {
        volatile __global uint *header = (volatile __global uint *)records;
        const uint items = header[ITEMS_X] * header[ITEMS_Y] * header[ITEMS_Z];
        uint first, end;
        while (take_items(header + TAKEN, items, all, &first, &end))
            run_part(header[PART], first, end, header[ITEMS_X], header[ITEMS_Y], records + HEADER_WORDS * sizeof(uint));
        records += header[BYTES];
        arrivals += all;
        if (i + 1 < launches && !meet(meeting, arrivals))
            return;
    }
}
