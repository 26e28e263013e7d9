/* SPDX-License-Identifier: MIT */
/* Applies a matrix product's epilogue alone: c = f(alpha sum + bias[n]) + residual, for sums that another engine has computed, or for no
 * sum at all (k = 0). The sums are in c itself or in a dense temporary. A temporary may have several parts, part_stride apart, which are
 * added here. One work-item per element; columns in dimension 0, rows in 1, batches in 2. */
#include "types.cl"
#include "gemm_common.cl"

#define SUM_NONE 0
#define SUM_IN_PLACE 1
#define SUM_DENSE 2
#if !defined(SUM)
#error "SUM: SUM_NONE, SUM_IN_PLACE or SUM_DENSE"
#endif

__kernel void gemm_epilogue(int m, int n, __global const float *restrict sums, long sums_offset, int parts, long part_stride,
                            RESULT_PARAMETERS)
{
    const int column = (int)get_global_id(0);
    const int row = (int)get_global_id(1);
    const uint batch = (uint)get_global_id(2);
    if (column >= n)
        return;
    const long at = C_ROW(batch, row) + C_COLUMN(column);
#if SUM == SUM_NONE
    const float sum = 0.0f;
#elif SUM == SUM_IN_PLACE
    const float sum = LOAD_C(c, at);
#else
    float sum = 0.0f;
    sums += sums_offset + ((long)batch * m + row) * n + column;
    for (int part = 0; part < parts; part++)
        sum += sums[part * part_stride];
#endif
    const float bias_value = HAS_BIAS ? bias[bias_offset + column] : 0.0f;
    STORE_C(c, at, ADD_RESIDUAL(FINISH(sum, bias_value), R_ROW(batch, row) + column * r_column_stride));
}
