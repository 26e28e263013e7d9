/* SPDX-License-Identifier: MIT */
/* A launch graph on GPUs: one kernel launch that runs a sequence of recorded launches, so that the host calls the driver once. The graph
 * has as many work-groups as the device runs at once. They share the items or work-groups of a recorded launch, and wait for each other
 * before the next recorded launch begins. A record (graph_record.cl) describes each recorded launch. It names a part: a kernel with its own
 * macros, compiled as a function part_<number> that runs every step-th item or work-group from `first` on. */
#include "graph_record.cl"

#if !defined(EACH_PART) || !defined(GROUP) || !defined(SPACE_BYTES) || !defined(HAS_PTX)
#error "EACH_PART(F): F(0) F(1) ... for every part; GROUP: work-items of a group; SPACE_BYTES: of local memory; HAS_PTX: NVIDIA's assembler"
#endif

/* Fence for the whole device. It publishes what this item and the items that it met at a barrier wrote; later reads see what others
 * published. OpenCL C 1.2 has no such fence: NVIDIA's mem_fence holds for a work-group alone (with it, groups read stale values). */
#if HAS_PTX || defined(__NVPTX__)
#define IS_NVIDIA 1
#define DEVICE_FENCE() asm volatile("membar.gl;" : : : "memory")
#else
#define IS_NVIDIA 0
#define DEVICE_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

/* Spin limits, in polls of a word: about 0.1 s and 1 min. A poll takes a GPU a quarter of a microsecond or more and a CPU
 * some nanoseconds. */
#define BEGIN_LOOKS (IS_NVIDIA ? 1ul << 19 : 1ul << 26)
#define LOST_LOOKS (IS_NVIDIA ? 1ul << 27 : 1ul << 36)


#define DECLARE(number)                                                                                              \
    void part_##number(uint first, uint end, uint step, uint items_x, uint items_y, __global const uchar *arguments, \
                       __local uint4 *space);
EACH_PART(DECLARE)

#define CASE(number)                                                            \
    case number:                                                                \
        part_##number(first, end, step, items_x, items_y, arguments, space);    \
        break;

/* Waits until all groups run at the same time, which no driver guarantees. Returns false if a group did not start in time; then no group
 * may do any work. */
inline bool have_all_begun(volatile __global uint *meeting, uint groups, __local uint *answer)
{
    if (get_local_id(0) == 0) {
        if (atomic_inc(meeting + BEGUN) + 1 == groups)
            atomic_cmpxchg(meeting + STATE, IS_OPEN, IS_COMPLETE);
        for (ulong looks = 0; meeting[STATE] == IS_OPEN; looks++)
            if (looks == BEGIN_LOOKS)
                atomic_cmpxchg(meeting + STATE, IS_OPEN, IS_REFUSED);
        *answer = meeting[STATE] == IS_COMPLETE;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return *answer;
}

/* Waits until `arrivals` groups have arrived. Returns false if they did not arrive in time; then all results are invalid. */
inline bool meet(volatile __global uint *meeting, uint arrivals, __local uint *answer)
{
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        uint is_lost = 0;
        DEVICE_FENCE();
        atomic_inc(meeting + ARRIVED);
        for (ulong looks = 1; !is_lost && (int)(meeting[ARRIVED] - arrivals) < 0; looks++)
            if (looks % 1024 == 0)
                is_lost = looks >= LOST_LOOKS || meeting[LOST];
        if (is_lost)
            meeting[LOST] = 1;
        DEVICE_FENCE();
        *answer = !is_lost;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return *answer;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void group_graph(__global const uchar *records, int launches, volatile __global uint *meeting)
{
    __local uint4 space[SPACE_BYTES / sizeof(uint4)];
    __local uint answer;
    const uint all = (uint)get_num_groups(0), group = (uint)get_group_id(0), item = (uint)get_global_id(0);
    uint arrivals = 0;
    bool is_on = have_all_begun(meeting, all, &answer);
    for (int i = 0; is_on && i < launches; i++) {
        __global const uint *header = (__global const uint *)records;
        __global const uchar *arguments = records + HEADER_WORDS * sizeof(uint);
        const uint items_x = header[ITEMS_X], items_y = header[ITEMS_Y], end = items_x * items_y * header[ITEMS_Z];
        const uint first = header[IS_GROUP] ? group : item, step = header[IS_GROUP] ? all : all * GROUP;
        switch (header[PART]) {
            EACH_PART(CASE)
        }
        records += header[BYTES];
        arrivals += all;
        if (i + 1 < launches)
            is_on = meet(meeting, arrivals, &answer);
    }
}
