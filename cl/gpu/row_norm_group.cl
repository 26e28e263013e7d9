/* SPDX-License-Identifier: MIT */
/* Layer, RMS and L2 normalisation of rows on GPUs. LANES work-items share a row, and a work-group has WG / LANES rows. */
#include "row_norm.cl"
#include "row_sum.cl"
#include "group.cl"

/* Elements that a work-item loads before it uses the first, so that the loads overlap. It is 1 with IS_CENTERED: PoCL 3.1 compiles
 * larger values to wrong code if y is x. */
#define READS (IS_CENTERED ? 1 : 4)

ROW_SUM(row_sum, float2, CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE) /* the global fence: y may be x */

/* Sums of c and of c^2 over the row, where c = element - shift - correction. All lanes of the row get the same sums. */
static inline float2 moments(const row *r, __local float2 *scratch, int lane, int n, float shift, float correction)
{
    float2 sum = (float2)(0.0f, 0.0f);
    for (int i = lane; i < n; i += READS * LANES) {
        float c[READS];
        for (int j = 0; j < READS; j++)
            c[j] = i + j * LANES < n ? element(r, i + j * LANES) - shift - correction : 0.0f;
        for (int j = 0; j < READS; j++)
            sum += (float2)(c[j], c[j] * c[j]);
    }
    return row_sum(scratch, sum);
}

/* Every row takes all three passes with IS_CENTERED, even if its mean needs no correction: all rows of a work-group must meet the same
 * barriers. */
__kernel SUBGROUP_SIZE __attribute__((reqd_work_group_size(WG, 1, 1)))
void NAME(GROUP_PARAMETERS __global const X_T *x, long x_offset, __global const RESIDUAL_T *residual, long residual_offset,
          __global const GAMMA_T *gamma, long gamma_offset, __global const BETA_T *beta, long beta_offset, __global Y_T *y, long y_offset,
          row_axes rows, column_axes columns, long row_count, int n, float eps)
{
    LOCAL_ARRAY(float2, scratch, WG, 0)
    const float inverse_n = 1.0f / (float)n;
    const int lane = (int)(get_local_id(0) & (LANES - 1));
    const long index = (long)get_group_id(0) * (WG / LANES) + (long)(get_local_id(0) / LANES);
    row r = {x + x_offset, residual + residual_offset, gamma + gamma_offset, beta + beta_offset, y + y_offset, &columns};
    select_row(&r, &rows, min(index, row_count - 1));
    const int length = index < row_count ? n : 0; /* lanes past the last row only take part in barriers */
    affine a = {0.0f, 0.0f, 0.0f};
#if IS_CENTERED
    const float first = element(&r, 0);
    a.shift = first + moments(&r, scratch, lane, length, first, 0.0f).x * inverse_n;
    const float d = moments(&r, scratch, lane, length, a.shift, 0.0f).x * inverse_n;
    a.scale = row_scale(moments(&r, scratch, lane, length, a.shift, d).y, inverse_n, eps);
    a.offset = d * a.scale;
#else
    a.scale = row_scale(moments(&r, scratch, lane, length, 0.0f, 0.0f).y, inverse_n, eps);
#endif
    for (int i = lane; i < length; i += READS * LANES) {
        float value[READS];
        for (int j = 0; j < READS; j++)
            value[j] = i + j * LANES < length ? finished(&r, i + j * LANES, &a) : 0.0f;
        for (int j = 0; j < READS; j++) {
            if (i + j * LANES < length)
                STORE_Y(r.y, COLUMN(&r, y, i + j * LANES), value[j]);
        }
    }
}
