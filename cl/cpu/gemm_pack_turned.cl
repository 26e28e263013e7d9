/* SPDX-License-Identifier: MIT */
/* Packs panels of B on CPU devices from a source that is contiguous in k: squares of WIDTH columns by WIDTH k are transposed in
 * registers. */
#include "transpose.cl"
#include "gemm_batch.cl"
#include "item.cl"

#if !defined(BLOCK_K)
#error "BLOCK_K: k of one work-item, a multiple of WIDTH"
#endif

#define LOAD_LINE(i, s) line[i] = i < count ? PASTE(vector_, LOAD_FROM)(from + i * row_stride + p) : (floatv)(0.0f);
#define STORE_LINE(i, s) PASTE(vector_, STORE_TO)(to + (long)(p + i) * panel, line[i]);

/* to[batch][(j / panel)][p][j % panel] = from[j - first, p] for first <= j < first + rows, and 0 from there to the end of the last
 * panel. first is a multiple of WIDTH. Dimension 0 of the grid counts WIDTH columns, 1 counts BLOCK_K of k, 2 counts batches. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gemm_pack_turned(ITEM_PARAMETERS int rows, int k, __global const FROM_T *restrict from, long from_offset, long row_stride,
                      uint4 batch_size, long4 batch_stride, __global TO_T *restrict to, long to_offset, long to_batch_stride, int panel,
                      int first)
{
    const int row = (int)get_global_id(0) * WIDTH;
    const int column = first + row;
    const int end = min(k, (int)(get_global_id(1) + 1) * BLOCK_K);
    const uint batch = (uint)get_global_id(2);
    const int count = min(WIDTH, rows - row);
    from += from_offset + strided_batch_offset(batch, batch_size, batch_stride) + row * row_stride;
    to += to_offset + batch * to_batch_stride + (long)(column / panel * panel) * k + column % panel;
    int p = (int)get_global_id(1) * BLOCK_K;
    for (; p + WIDTH <= end; p += WIDTH) {
        floatv line[WIDTH];
        EACH_LANE(LOAD_LINE)
        transpose(line);
        EACH_LANE(STORE_LINE)
    }
    for (; p < end; p++)
        for (int i = 0; i < WIDTH; i++)
            STORE_TO(to, (long)p * panel + i, i < count ? LOAD_FROM(from, i * row_stride + p) : 0.0f);
}
