/* SPDX-License-Identifier: MIT */
/* Top-k on GPUs: a work-group compares the keys of its block with a threshold, the k-th best key so far. Better keys go to a queue in local
 * memory. A full queue is sorted together with the best keys so far (bitonic network, Batcher 1968), which raises the threshold. */
#include "top_k.cl"

#if !defined(WG) || !defined(HALF)
#error "WG: work-group size; HALF: places for the best and for the queue, a power of two, at least k and WG"
#endif

/* Sorts keys[0 .. 2 * HALF) into falling order. */
static inline void sort_keys(__local ulong *keys, uint item)
{
    for (uint run = 2; run <= 2 * HALF; run *= 2) {
        for (uint step = run / 2; step > 0; step /= 2) {
            for (uint pair = item; pair < HALF; pair += WG) {
                const uint low = 2 * pair - (pair & (step - 1));
                const ulong a = keys[low], b = keys[low + step];
                const bool is_falling = (low & run) == 0;
                if ((a < b) == is_falling) {
                    keys[low] = b;
                    keys[low + step] = a;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
}

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void top_k_group(__global const CANDIDATE_T *candidates, long offset, long row_stride, long column_stride, long count, long block_size,
                 int k, __global ulong *keys, long keys_offset, __global float *values, long values_offset, __global int *indices,
                 long indices_offset)
{
    __local ulong best[2 * HALF]; /* the best so far, then the queue */
    __local uint queued;
    const uint item = get_local_id(0);
    const long block = get_group_id(0), row_index = get_group_id(1), blocks = (count + block_size - 1) / block_size;
    const long start = block * block_size, end = min(start + block_size, count);
    candidates += offset + row_index * row_stride;
    for (uint i = item; i < 2 * HALF; i += WG)
        best[i] = 0;
    if (item == 0)
        queued = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    ulong bar = 0;
    for (long base = start; base < end; base += WG) {
        const long i = base + item;
        const ulong key = i < end ? CANDIDATE(candidates, i) : 0;
        if (key > bar)
            best[HALF + atomic_inc(&queued)] = key;
        barrier(CLK_LOCAL_MEM_FENCE);
        const bool is_due = queued + WG > HALF || base + WG >= end;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (is_due) {
            sort_keys(best, item);
            bar = best[k - 1];
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint j = item; j < HALF; j += WG)
                best[HALF + j] = 0;
            if (item == 0)
                queued = 0;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
    for (int j = (int)item; j < k; j += WG) {
#if IS_LAST
        values[values_offset + row_index * k + j] = score_of(best[j]);
        indices[indices_offset + row_index * k + j] = index_of(best[j]);
#else
        keys[keys_offset + (row_index * blocks + block) * k + j] = best[j];
#endif
    }
}
