/* SPDX-License-Identifier: MIT */
/* Softmax for GPUs: LANES work-items share a row through local memory; a work-group of WG items holds WG / LANES rows. */
#include "softmax_exp.cl"
#include "softmax_row.cl"
#include "row_sum.cl"

ROW_REDUCTION(row_max, float, ROW_LARGER, CLK_LOCAL_MEM_FENCE)
ROW_SUM(row_sum, float, CLK_LOCAL_MEM_FENCE)

/* Items beyond the last row take part in the barriers with no keys: barriers stay uniform. */
__kernel SUBGROUP_SIZE __attribute__((reqd_work_group_size(WG, 1, 1))) void softmax_group(ROW_PARAMETERS)
{
    __local float scratch[WG];
    const int lane = (int)(get_local_id(0) & (LANES - 1));
    const long index = (long)get_group_id(0) * (WG / LANES) + (long)(get_local_id(0) / LANES);
    const bool is_row = index < row_count;
    softmax_row r = ROW_START;
    select_row(&r, &axes, lengths + lengths_offset, causal_offset, min(index, row_count - 1));
    const int used = is_row ? r.used : 0, end = is_row ? keys : 0;
    float maximum = -INFINITY, sum = 0.0f;
    for (int j = lane; j < used; j += LANES) {
        const float s = row_score(&r, &strides, scale, j);
        maximum = s > maximum ? s : maximum; /* NaN never becomes the maximum; the sum is NaN then */
    }
    const float shift = row_shift(row_max(scratch, maximum));
    for (int j = lane; j < used; j += LANES)
        sum += softmax_exp(row_score(&r, &strides, scale, j) - shift);
    sum = row_sum(scratch, sum);
    const float inverse = 1.0f / sum;
    for (int j = lane; j < end; j += LANES) {
        float weight = 0.0f;
        if (j < used)
            weight = softmax_exp(row_score(&r, &strides, scale, j) - shift);
        STORE_Y(r.y, (long)j * strides.y, sum == 0.0f ? empty_weight(keys) : weight * inverse);
    }
}
