/* SPDX-License-Identifier: MIT */
/* Row normalisation on CPUs: one work-item takes whole rows with vectors of WIDTH floats. A row is read three times and stays in the first-level
 * cache meanwhile. WIDTH 1 takes operands whose columns are not adjacent. */
#include "vector.cl"
#include "lane_sum.cl"
#include "row_norm.cl"

#if WIDTH > 1 && !IS_UNIT
#error "vectors need adjacent columns"
#endif

#if WIDTH > 1
inline floatv elements(const row *r, int i)
{
    floatv s = PASTE(vector_, LOAD_X)(r->x + i);
#if HAS_RESIDUAL
    s += PASTE(vector_, LOAD_RESIDUAL)(r->residual + i);
#endif
    return s;
}

inline void finish_elements(const row *r, int i, floatv c, float scale)
{
    floatv value = c * scale;
#if HAS_GAMMA
    value *= PASTE(vector_, LOAD_GAMMA)(r->gamma + i);
#endif
#if HAS_BETA
    value += PASTE(vector_, LOAD_BETA)(r->beta + i);
#endif
    PASTE(vector_, STORE_Y)(r->y + i, value);
}
#else
#define elements element
#define finish_elements finish
#endif

/* Sums of c and of c^2, c = s - shift - correction: four independent chains of vectors, then single vectors, then the tail. */
inline float2 moments(const row *r, int n, float shift, float correction)
{
    floatv sum0 = 0.0f, sum1 = 0.0f, sum2 = 0.0f, sum3 = 0.0f, square0 = 0.0f, square1 = 0.0f, square2 = 0.0f, square3 = 0.0f;
    int i = 0;
    for (; i <= n - 4 * WIDTH; i += 4 * WIDTH) {
        const floatv c0 = elements(r, i) - shift - correction;
        const floatv c1 = elements(r, i + WIDTH) - shift - correction;
        const floatv c2 = elements(r, i + 2 * WIDTH) - shift - correction;
        const floatv c3 = elements(r, i + 3 * WIDTH) - shift - correction;
        sum0 += c0;
        sum1 += c1;
        sum2 += c2;
        sum3 += c3;
        square0 = fma(c0, c0, square0);
        square1 = fma(c1, c1, square1);
        square2 = fma(c2, c2, square2);
        square3 = fma(c3, c3, square3);
    }
    for (; i <= n - WIDTH; i += WIDTH) {
        const floatv c = elements(r, i) - shift - correction;
        sum0 += c;
        square0 = fma(c, c, square0);
    }
    float sum = lane_sum((sum0 + sum1) + (sum2 + sum3));
    float square = lane_sum((square0 + square1) + (square2 + square3));
    for (; i < n; i++) {
        const float c = element(r, i) - shift - correction;
        sum += c;
        square = fma(c, c, square);
    }
    return (float2)(sum, square);
}

/* y = (s - shift - correction) * scale * gamma + beta */
inline void store_row(const row *r, int n, float shift, float correction, float scale)
{
    int i = 0;
    for (; i <= n - WIDTH; i += WIDTH)
        finish_elements(r, i, elements(r, i) - shift - correction, scale);
    for (; i < n; i++)
        finish(r, i, element(r, i) - shift - correction, scale);
}

inline void normalize_row(const row *r, int n, float eps)
{
    const float inverse_n = 1.0f / (float)n;
#if IS_CENTERED
    const float first = element(r, 0);
    const float mean = first + moments(r, n, first, 0.0f).x * inverse_n;
    const float2 sums = moments(r, n, mean, 0.0f);
    const float mean_error = sums.x * inverse_n;
    float square_sum = sums.y - mean_error * sums.x;
    if (mean_is_coarse(mean_error, sums.y * inverse_n))
        square_sum = moments(r, n, mean, mean_error).y;
    store_row(r, n, mean, mean_error, row_scale(square_sum, inverse_n, eps));
#else
    store_row(r, n, 0.0f, 0.0f, row_scale(moments(r, n, 0.0f, 0.0f).y, inverse_n, eps));
#endif
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void NAME(__global const X_T *x, long x_offset, __global const RESIDUAL_T *residual, long residual_offset, __global const GAMMA_T *gamma,
          long gamma_offset, __global const BETA_T *beta, long beta_offset, __global Y_T *y, long y_offset, row_axes rows,
          column_axes columns, long row_count, int rows_per_item, int n, float eps)
{
    const long first = (long)get_group_id(0) * rows_per_item;
    const long end = min(first + rows_per_item, row_count);
    for (long index = first; index < end; index++) {
        row r = {x + x_offset, residual + residual_offset, gamma + gamma_offset, beta + beta_offset, y + y_offset, &columns};
        select_row(&r, &rows, index);
        normalize_row(&r, n, eps);
    }
}
