/* SPDX-License-Identifier: MIT */
/* Row normalisation: layer norm, RMS norm and L2 normalisation of s = x + residual, which differ in the mean and in the scale alone.
 *
 * Layer norm needs an accurate mean and variance even if the mean is a million times the deviation. So the sums run over c = s - shift,
 * where the shift is near the mean (and equal to the elements of a constant row). Then mean = shift + d with d = mean(c), and the variance
 * is mean(c^2) - d^2. This is as accurate as sums about the mean itself while d^2 is small against mean(c^2). Otherwise the sums are taken
 * again about shift + d, and finally about the pair (shift + d, d') (Chan, Golub & LeVeque 1983, corrected two-pass and shifted forms). The
 * CPU kernel takes a further pass only if a row needs it, the GPU kernel takes all three.
 *
 * Operands X, RESIDUAL, GAMMA, BETA, Y (an absent one is passed as X and not read); ROW_AXES and COLUMN_AXES merged axes; IS_UNIT: columns
 * adjacent in every operand. The kernels are in row_norm_vector.cl and row_norm_group.cl. */
#include "types.cl"
#include "axes.cl"

#if !defined(NAME) || !defined(IS_CENTERED) || !defined(IS_L2)
#error "NAME: kernel name; IS_CENTERED: subtract the mean; IS_L2: divide by the norm instead of the root mean square"
#endif
#if !defined(HAS_RESIDUAL) || !defined(HAS_GAMMA) || !defined(HAS_BETA)
#error "HAS_RESIDUAL, HAS_GAMMA, HAS_BETA: which operands there are"
#endif
#if !defined(ROW_AXES) || !defined(COLUMN_AXES) || !defined(IS_UNIT)
#error "ROW_AXES, COLUMN_AXES, IS_UNIT: layout of the operands"
#endif

typedef struct row_axes {
    long dim[ROW_AXES], x[ROW_AXES], residual[ROW_AXES], y[ROW_AXES];
} row_axes;

typedef struct column_axes {
    long dim[COLUMN_AXES], x[COLUMN_AXES], residual[COLUMN_AXES], y[COLUMN_AXES], gamma[COLUMN_AXES], beta[COLUMN_AXES];
} column_axes;

/* One row of every operand. */
typedef struct row {
    __global const X_T *x;
    __global const RESIDUAL_T *residual;
    __global const GAMMA_T *gamma;
    __global const BETA_T *beta;
    __global Y_T *y;
    const column_axes *columns;
} row;

#if IS_UNIT
#define COLUMN(row, operand, i) (i)
#else
#define COLUMN(row, operand, i) axes_offset((row)->columns->dim, (row)->columns->operand, COLUMN_AXES, i)
#endif

static inline float element(const row *r, int i)
{
    float s = LOAD_X(r->x, COLUMN(r, x, i));
#if HAS_RESIDUAL
    s += LOAD_RESIDUAL(r->residual, COLUMN(r, residual, i));
#endif
    return s;
}

/* How a row is normalised: (s - shift) * scale - offset, where offset = d * scale is the rest of the mean. If no mean is subtracted, shift
 * and offset are 0. */
typedef struct affine {
    float shift, scale, offset;
} affine;

/* ((s - shift) * scale - offset) * gamma + beta of column i. */
static inline float finished(const row *r, int i, const affine *a)
{
#if IS_CENTERED
    float value = (element(r, i) - a->shift) * a->scale - a->offset;
#else
    float value = element(r, i) * a->scale;
#endif
#if HAS_GAMMA && HAS_BETA
    value = value * LOAD_GAMMA(r->gamma, COLUMN(r, gamma, i)) + LOAD_BETA(r->beta, COLUMN(r, beta, i));
#elif HAS_GAMMA
    value *= LOAD_GAMMA(r->gamma, COLUMN(r, gamma, i));
#elif HAS_BETA
    value += LOAD_BETA(r->beta, COLUMN(r, beta, i));
#endif
    return value;
}

/* 1 / sqrt(mean square + eps), or with IS_L2 1 / max(norm, eps). With eps = 0 a variance of exactly 0 gives 0, so that the row becomes
 * beta, and a norm of 0 gives 0, so that the row stays 0. */
static inline float row_scale(float square_sum, float inverse_n, float eps)
{
#if IS_L2
    const float norm = sqrt(square_sum), divisor = norm < eps ? eps : norm; /* NaN stays */
    return divisor == 0.0f ? 0.0f : 1.0f / divisor;
#else
    const float mean_square = square_sum * inverse_n + eps;
    return IS_CENTERED && mean_square == 0.0f ? 0.0f : 1.0f / sqrt(mean_square);
#endif
}

/* True when mean(c^2) - d^2 would lose digits. */
static inline bool mean_is_coarse(float mean_error, float mean_square)
{
    return mean_error * mean_error > 0.0625f * mean_square;
}

/* Moves the operands of row 0 to row `index`. */
static inline void select_row(row *r, const row_axes *rows, long index)
{
    r->x += axes_offset(rows->dim, rows->x, ROW_AXES, index);
    r->residual += HAS_RESIDUAL ? axes_offset(rows->dim, rows->residual, ROW_AXES, index) : 0;
    r->y += axes_offset(rows->dim, rows->y, ROW_AXES, index);
}
