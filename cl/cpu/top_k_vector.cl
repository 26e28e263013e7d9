/* SPDX-License-Identifier: MIT */
/* Top-k on CPUs: a work-item keeps the k best keys of its block in a heap whose root is the worst of them. A vector of scores without a
 * better one is skipped with one comparison. */
#include "top_k.cl"

static inline void sift_down(__global ulong *heap, int size, int at)
{
    const ulong key = heap[at];
    for (int child = 2 * at + 1; child < size; child = 2 * at + 1) {
        if (child + 1 < size && heap[child + 1] < heap[child])
            child++;
        if (heap[child] >= key)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = key;
}

static inline void offer(__global ulong *heap, int size, ulong key)
{
    if (key > heap[0]) {
        heap[0] = key;
        sift_down(heap, size, 0);
    }
}

#if IS_FIRST && WIDTH > 1
/* True if a score may beat the heap's worst, by the signed integer order of their bits. A positive NaN passes too; its key is refused
 * later. */
static inline bool any_better(floatv scores, ulong worst)
{
    const intv bits = AS_INTV(scores);
    return any((bits ^ ((bits >> 31) & 0x7fffffff)) > as_int((uint)(worst >> 32) ^ 0x80000000u));
}
#endif

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void top_k_vector(__global const CANDIDATE_T *candidates, long offset, long row_stride, long column_stride, long count, long block_size,
                  int k, __global ulong *keys, long keys_offset, __global float *values, long values_offset, __global int *indices,
                  long indices_offset)
{
    const long block = get_group_id(0), row_index = get_group_id(1), blocks = (count + block_size - 1) / block_size;
    __global ulong *heap = keys + keys_offset + (row_index * blocks + block) * k;
    const long start = block * block_size, end = min(start + block_size, count);
    const int size = (int)min((long)k, end - start);
    candidates += offset + row_index * row_stride;
    for (int i = 0; i < size; i++)
        heap[i] = CANDIDATE(candidates, start + i);
    for (int i = size; i < k; i++)
        heap[i] = 0;
    for (int at = size / 2 - 1; at >= 0; at--)
        sift_down(heap, size, at);

    long i = start + size;
#if IS_FIRST && WIDTH > 1
    for (; i <= end - WIDTH; i += WIDTH)
        if (any_better(PASTE(vector_, LOAD_X)(candidates + i), heap[0]))
            for (int lane = 0; lane < WIDTH; lane++)
                offer(heap, size, CANDIDATE(candidates, i + lane));
#endif
    for (; i < end; i++)
        offer(heap, size, CANDIDATE(candidates, i));

    for (int left = size - 1; left > 0; left--) { /* the worst goes to the end: falling order */
        const ulong worst = heap[0];
        heap[0] = heap[left];
        heap[left] = worst;
        sift_down(heap, left, 0);
    }
#if IS_LAST
    for (int j = 0; j < k; j++) {
        values[values_offset + row_index * k + j] = score_of(heap[j]);
        indices[indices_offset + row_index * k + j] = index_of(heap[j]);
    }
#endif
}
