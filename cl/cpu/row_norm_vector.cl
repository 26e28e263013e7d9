/* SPDX-License-Identifier: MIT */
/* Row normalisation on CPUs: one work-item takes whole rows with vectors of WIDTH floats. A row is read from memory once, for its sums, and
 * again from the first-level cache, to be stored. Memory stays busy meanwhile: y's lines are fetched during the sums, the next row during
 * the store. WIDTH 1 takes operands whose columns are not adjacent. */
#include "lane_sum.cl"
#include "prefetch.cl"
#include "row_norm.cl"
#include "item.cl"

#if WIDTH > 1 && !IS_UNIT
#error "vectors need adjacent columns"
#endif

#define BLOCK (4 * WIDTH) /* elements per iteration: four independent chains */

#if WIDTH > 1
static inline floatv elements(const row *r, int i)
{
    floatv s = PASTE(vector_, LOAD_X)(r->x + i);
#if HAS_RESIDUAL
    s += PASTE(vector_, LOAD_RESIDUAL)(r->residual + i);
#endif
    return s;
}

/* finished() of columns i .. i + WIDTH - 1. */
static inline void finish_elements(const row *r, int i, const affine *a)
{
#if IS_CENTERED
    floatv value = (elements(r, i) - a->shift) * a->scale - a->offset;
#else
    floatv value = elements(r, i) * a->scale;
#endif
#if HAS_GAMMA && HAS_BETA
    value = value * PASTE(vector_, LOAD_GAMMA)(r->gamma + i) + PASTE(vector_, LOAD_BETA)(r->beta + i);
#elif HAS_GAMMA
    value *= PASTE(vector_, LOAD_GAMMA)(r->gamma + i);
#elif HAS_BETA
    value += PASTE(vector_, LOAD_BETA)(r->beta + i);
#endif
    PASTE(vector_, STORE_Y)(r->y + i, value);
}
#else
#define elements element
#define finish_elements(r, i, a) STORE_Y((r)->y, COLUMN(r, y, i), finished(r, i, a))
#endif

/* Sums of c and of c^2, c = s - shift. */
static inline float2 moments(const row *r, int n, float shift)
{
    floatv sum0 = 0.0f, sum1 = 0.0f, sum2 = 0.0f, sum3 = 0.0f, square0 = 0.0f, square1 = 0.0f, square2 = 0.0f, square3 = 0.0f;
    int i = 0;
    for (; i <= n - BLOCK; i += BLOCK) {
        PREFETCH_STREAM(r->y + i);
        PREFETCH_STREAM(r->y + i + WIDTH);
        PREFETCH_STREAM(r->y + i + 2 * WIDTH);
        PREFETCH_STREAM(r->y + i + 3 * WIDTH);
        const floatv c0 = elements(r, i) - shift, c1 = elements(r, i + WIDTH) - shift;
        const floatv c2 = elements(r, i + 2 * WIDTH) - shift, c3 = elements(r, i + 3 * WIDTH) - shift;
        sum0 += c0;
        sum1 += c1;
        sum2 += c2;
        sum3 += c3;
        square0 += c0 * c0;
        square1 += c1 * c1;
        square2 += c2 * c2;
        square3 += c3 * c3;
    }
    for (; i <= n - WIDTH; i += WIDTH) {
        const floatv c = elements(r, i) - shift;
        sum0 += c;
        square0 += c * c;
    }
    float sum = lane_sum((sum0 + sum1) + (sum2 + sum3));
    float square = lane_sum((square0 + square1) + (square2 + square3));
    for (; i < n; i++) {
        const float c = element(r, i) - shift;
        sum += c;
        square += c * c;
    }
    return (float2)(sum, square);
}

/* Sum of (s - shift - d)^2, for rows whose deviation is as small as the rounding error of their mean. */
static inline float residual_square(const row *r, int n, float shift, float d)
{
    floatv square = 0.0f;
    int i = 0;
    for (; i <= n - WIDTH; i += WIDTH) {
        const floatv c = elements(r, i) - shift - d;
        square += c * c;
    }
    float sum = lane_sum(square);
    for (; i < n; i++) {
        const float c = element(r, i) - shift - d;
        sum += c * c;
    }
    return sum;
}

/* Estimates the mean by that of the first block. The block's size is a power of two, so that the mean of equal elements is exact and does
 * not overflow. */
static inline float head_mean(const row *r, int n)
{
    if (!IS_CENTERED)
        return 0.0f;
    if (n < BLOCK)
        return element(r, 0);
    const float part = 1.0f / BLOCK;
    return lane_sum((elements(r, 0) * part + elements(r, WIDTH) * part) + (elements(r, 2 * WIDTH) * part + elements(r, 3 * WIDTH) * part));
}

/* Fills *a for a row; shift is near its mean. (Oclgrind cannot run the code that LLVM generates for a struct returned by value.) */
static inline void find_affine(const row *r, int n, float eps, float shift, affine *a)
{
    const float inverse_n = 1.0f / (float)n;
    float2 sums = moments(r, n, shift);
    float square = sums.y;
#if IS_CENTERED
    float d = sums.x * inverse_n;
    square -= d * sums.x;
    if (mean_is_coarse(d, sums.y * inverse_n)) {
        shift += d;
        sums = moments(r, n, shift);
        d = sums.x * inverse_n;
        square = mean_is_coarse(d, sums.y * inverse_n) ? residual_square(r, n, shift, d) : sums.y - d * sums.x;
    }
#endif
    a->shift = shift;
    a->scale = row_scale(square, inverse_n, eps);
#if IS_CENTERED
    a->offset = d * a->scale;
#endif
}

static inline void store_row(const row *r, int n, const affine *a, const row *next)
{
    int i = 0;
    for (; i <= n - WIDTH; i += WIDTH) {
        PREFETCH_STREAM(next->x + i);
#if HAS_RESIDUAL
        PREFETCH_STREAM(next->residual + i);
#endif
        finish_elements(r, i, a);
    }
    for (; i < n; i++)
        STORE_Y(r->y, COLUMN(r, y, i), finished(r, i, a));
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void NAME(ITEM_PARAMETERS __global const X_T *x, long x_offset, __global const RESIDUAL_T *residual, long residual_offset,
          __global const GAMMA_T *gamma, long gamma_offset, __global const BETA_T *beta, long beta_offset, __global Y_T *y, long y_offset,
          row_axes rows, column_axes columns, long row_count, int rows_per_item, int n, float eps)
{
    const row origin = {x + x_offset, residual + residual_offset, gamma + gamma_offset, beta + beta_offset, y + y_offset, &columns};
    const long first = (long)get_group_id(0) * rows_per_item;
    const long end = min(first + rows_per_item, row_count);
    row next = origin;
    select_row(&next, &rows, first);
    float shift = head_mean(&next, n);
    for (long index = first; index < end; index++) {
        const row r = next;
        affine a = {0.0f, 0.0f, 0.0f};
        find_affine(&r, n, eps, shift, &a);
        if (index + 1 < end) { /* reads the head of the next row before this row is stored, so that memory stays busy */
            next = origin;
            select_row(&next, &rows, index + 1);
            shift = head_mean(&next, n);
        }
        store_row(&r, n, &a, &next);
    }
}
