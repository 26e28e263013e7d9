/* SPDX-License-Identifier: MIT */
/* Packs panels of B on CPU devices from a source that is contiguous along the columns of B: it moves whole vectors. */
#include "vector.cl"
#include "gemm_batch.cl"
#include "item.cl"

#if !defined(BLOCK_K)
#error "BLOCK_K: k of one work-item, a multiple of WIDTH"
#endif

/* to[batch][(j / panel)][p][j % panel] = from[j - first, p] for first <= j < first + rows, and 0 from there to the end of the last
 * panel. Dimension 0 of the grid is the batch, so that batches that share cache lines and pages of the source follow one another; 1 is the
 * panel, 2 is a block of BLOCK_K along k. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gemm_pack_lines(ITEM_PARAMETERS int rows, int k, __global const FROM_T *restrict from, long from_offset, long k_stride,
                     uint4 batch_size, long4 batch_stride, __global TO_T *restrict to, long to_offset, long to_batch_stride, int panel,
                     int first)
{
    const uint batch = (uint)get_global_id(0);
    const int first_panel = (first / panel + (int)get_global_id(1)) * panel; /* first column; those before `begin` are another source's */
    const int begin = max(first, first_panel) - first_panel;
    const int count = min(panel, first + rows - first_panel);
    const int end = min(k, (int)(get_global_id(2) + 1) * BLOCK_K);
    from += from_offset + strided_batch_offset(batch, batch_size, batch_stride) + (first_panel - first);
    to += to_offset + batch * to_batch_stride + (long)first_panel * k;
    for (int p = (int)get_global_id(2) * BLOCK_K; p < end; p++) {
        __global const FROM_T *line = from + p * k_stride;
        __global TO_T *packed = to + (long)p * panel;
        int j = begin;
        for (; j + WIDTH <= count; j += WIDTH)
            PASTE(vector_, STORE_TO)(packed + j, PASTE(vector_, LOAD_FROM)(line + j));
        for (; j < count; j++)
            STORE_TO(packed, j, LOAD_FROM(line, j));
        for (; j < panel; j++)
            STORE_TO(packed, j, 0.0f);
    }
}
