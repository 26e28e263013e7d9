/* SPDX-License-Identifier: MIT */
/* Searches for scales and offsets of quantised weights: least squares alternating with rounding. */
#include "base/weight_fit.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/half.h"

enum { LANES = 4, TURNS = 3, WIDTH_MOST = 32 };

/* A line d q - m. */
typedef struct fitted_line {
    float scale, offset;
} fitted_line;

/* Sums over a group whose q are chosen. */
typedef struct sums {
    float error; /* of (d q - m - x)^2 */
    float q, qq, x, qx;
} sums;

/* The nearest integer of |value| < 2^22. */
static float nearest(float value)
{
    const float shift = 0x1.8p23f;
    return value + shift - shift;
}

/* Adds up n numbers, a power of two of them, and overwrites them. Loops of known length over whole arrays become vector instructions. */
static inline float sum_of(int n, float *numbers)
{
    for (int half = n / 2; half >= LANES; half /= 2)
        for (int i = 0; i < half; i++)
            numbers[i] += numbers[i + half];
    float sum = 0;
    for (int i = 0; i < LANES; i++)
        sum += numbers[i];
    return sum;
}

/* measure for a width that the compiler knows, so that its loops become vector instructions. */
static inline __attribute__((always_inline)) sums measure_width(int width, const clf_weight_grid *grid, const float *restrict x,
                                                                fitted_line at, float *restrict q)
{
    const float inverse = at.scale != 0.0f ? 1.0f / at.scale : 0.0f, lowest = (float)grid->lowest, highest = (float)grid->highest;
    float errors[WIDTH_MOST], squares[WIDTH_MOST], products[WIDTH_MOST], integers[WIDTH_MOST], numbers[WIDTH_MOST];
    for (int i = 0; i < width; i++) {
        const float exact = (x[i] + at.offset) * inverse, above = exact > lowest ? exact : lowest;
        const float chosen = nearest(above < highest ? above : highest), miss = at.scale * chosen - at.offset - x[i];
        q[i] = integers[i] = chosen;
        numbers[i] = x[i];
        errors[i] = miss * miss;
        squares[i] = chosen * chosen;
        products[i] = chosen * x[i];
    }
    return (sums){sum_of(width, errors), sum_of(width, integers), sum_of(width, squares), sum_of(width, numbers), sum_of(width, products)};
}

/* Chooses the best q for the line; returns the sums over them. */
static sums measure(const clf_weight_grid *grid, const float *x, fitted_line at, float *q)
{
    return grid->width == WIDTH_MOST ? measure_width(WIDTH_MOST, grid, x, at, q) : measure_width(WIDTH_MOST / 2, grid, x, at, q);
}

/* The line of least squares through the chosen q; `before` where all of them are alike. */
static fitted_line solve(const clf_weight_grid *grid, const sums *s, fitted_line before)
{
    const float n = (float)grid->width, determinant = n * s->qq - s->q * s->q;
    if (grid->offset != CLF_OFFSET_ZERO && determinant > 0) {
        const fitted_line best = {(n * s->qx - s->q * s->x) / determinant, (s->q * s->qx - s->qq * s->x) / determinant};
        if (grid->offset == CLF_OFFSET_FREE || best.offset >= 0)
            return best;
    }
    return s->qq > 0 && (grid->offset != CLF_OFFSET_FREE) ? (fitted_line){s->qx / s->qq, 0} : before;
}

static void improve(const clf_weight_grid *grid, const float *x, fitted_line at, float *least, fitted_line *best)
{
    float q[WIDTH_MOST];
    for (int turn = 0; turn < TURNS; turn++) {
        const sums s = measure(grid, x, at, q);
        if (s.error < *least) {
            *least = s.error;
            *best = at;
        }
        at = solve(grid, &s, at);
    }
}

/* The best line of a group by itself. Starts leave out more or less of the range that the weights span. */
static fitted_line fit_group(const clf_weight_grid *grid, const float *x)
{
    static const float lines[] = {-1.0f, -0.4f, 0.2f, 0.8f, 1.6f, 2.6f}, scales[] = {-1.2f, -0.4f, 0.4f, 1.2f};
    float smallest = x[0], largest = x[0], least = FLT_MAX;
    fitted_line best = {0, 0};
    for (int i = 1; i < grid->width; i++) {
        smallest = x[i] < smallest ? x[i] : smallest;
        largest = x[i] > largest ? x[i] : largest;
    }
    if (grid->offset == CLF_OFFSET_POSITIVE && smallest > 0)
        smallest = 0;
    if (grid->offset == CLF_OFFSET_ZERO) {
        const float farthest = largest > -smallest ? largest : smallest;
        for (size_t i = 0; i < COUNT(scales); i++) {
            improve(grid, x, (fitted_line){farthest / ((float)grid->lowest - scales[i]), 0}, &least, &best);
            improve(grid, x, (fitted_line){farthest / ((float)grid->highest + scales[i]), 0}, &least, &best);
        }
        return best;
    }
    if (largest <= smallest)
        return (fitted_line){0, -smallest};
    for (size_t i = 0; i < COUNT(lines); i++) {
        const float steps = (float)grid->highest, scale = (largest - smallest) / (steps + lines[i]);
        const float offset = (scale * steps - largest - smallest) / 2;
        improve(grid, x, (fitted_line){scale, grid->offset == CLF_OFFSET_POSITIVE && offset < 0 ? 0 : offset}, &least, &best);
    }
    return best;
}

static float half_nearest(float value)
{
    return clfi_f32_from_f16(clfi_f16_from_f32(value));
}

static int limited(float value, int least, int most)
{
    const float v = nearest(value);
    return v < (float)least ? least : v > (float)most ? most : (int)v;
}

/* The scale and the offset of the block, and the sums that say how both could be better. */
typedef struct block_state {
    fitted_line unit;
    double error;
    double ss, st, tt, sx, tx; /* of a = s q and of b = t: a a, a b, b b, a x, b x */
} block_state;

/* The best s and t of a group among the neighbours of what its line asks for. */
static void choose_group(const clf_weight_grid *grid, const float *x, fitted_line wanted, int group, block_state *state,
                         clf_weight_fit *out)
{
    const fitted_line unit = state->unit;
    const int s0 = unit.scale != 0 ? limited(wanted.scale / unit.scale, grid->least_scale, grid->most_scale) : 0;
    const int t0 = unit.offset != 0 ? limited(wanted.offset / unit.offset, 0, grid->most_offset) : 0;
    float q[WIDTH_MOST], best_q[WIDTH_MOST];
    sums best = {.error = FLT_MAX};
    for (int s = s0 - 1; s <= s0 + 1; s++) {
        for (int t = t0 - 1; t <= t0 + 1; t++) {
            if (s < grid->least_scale || s > grid->most_scale || t < 0 || t > grid->most_offset)
                continue;
            const sums found = measure(grid, x, (fitted_line){unit.scale * (float)s, unit.offset * (float)t}, q);
            if (found.error < best.error) {
                best = found;
                memcpy(best_q, q, sizeof q);
                out->scales[group] = (int8_t)s;
                out->offsets[group] = (uint8_t)t;
            }
        }
    }
    const double s = out->scales[group], t = out->offsets[group];
    state->error += (double)best.error;
    state->ss += s * s * (double)best.qq;
    state->st += s * t * (double)best.q;
    state->tt += t * t * grid->width;
    state->sx += s * (double)best.qx;
    state->tx += t * (double)best.x;
    for (int i = 0; i < grid->width; i++)
        out->q[group * grid->width + i] = (int8_t)best_q[i];
}

/* The D and M of least squares for the chosen s, t and q. */
static fitted_line solve_block(const block_state *b)
{
    const double determinant = b->ss * b->tt - b->st * b->st;
    fitted_line best = b->unit;
    if (determinant > 1e-9 * b->ss * b->tt) {
        best =
            (fitted_line){(float)((b->sx * b->tt - b->tx * b->st) / determinant), (float)((b->sx * b->st - b->tx * b->ss) / determinant)};
    } else if (b->ss > 0) {
        best.scale = (float)((b->sx + b->st * (double)best.offset) / b->ss);
    }
    if (!(fabsf(best.offset) < 65504.0f && fabsf(best.scale) < 65504.0f) || best.offset < 0)
        return b->unit;
    return (fitted_line){half_nearest(best.scale), half_nearest(best.offset)};
}

static void fit_grouped(const clf_weight_grid *grid, const float *x, clf_weight_fit *out)
{
    fitted_line lines[CLFI_FIT_GROUPS_MOST], most = {0, 0}, unit;
    for (int g = 0; g < grid->groups; g++) {
        lines[g] = fit_group(grid, x + g * grid->width);
        most.scale = fabsf(lines[g].scale) > fabsf(most.scale) ? lines[g].scale : most.scale;
        most.offset = lines[g].offset > most.offset ? lines[g].offset : most.offset;
    }
    const int end = grid->least_scale < 0 ? grid->least_scale : grid->most_scale;
    unit.scale = half_nearest(most.scale / (float)end);
    unit.offset = grid->most_offset ? half_nearest(most.offset / (float)grid->most_offset) : 0;
    double least = DBL_MAX;
    for (int turn = 0; turn < TURNS; turn++) {
        clf_weight_fit made = {.scale = clfi_f16_from_f32(unit.scale), .offset = clfi_f16_from_f32(unit.offset)};
        block_state state = {.unit = unit};
        for (int g = 0; g < grid->groups; g++)
            choose_group(grid, x + g * grid->width, lines[g], g, &state, &made);
        if (state.error < least) {
            least = state.error;
            *out = made;
        }
        unit = solve_block(&state);
    }
}

void clfi_weight_fit(const clf_weight_grid *grid, const float *x, clf_weight_fit *out)
{
    float q[WIDTH_MOST];
    if (grid->most_scale > 0) {
        fit_grouped(grid, x, out);
        return;
    }
    const fitted_line exact = fit_group(grid, x), stored = {half_nearest(exact.scale), half_nearest(exact.offset)};
    measure(grid, x, stored, q);
    out->scale = clfi_f16_from_f32(stored.scale);
    out->offset = clfi_f16_from_f32(stored.offset);
    for (int i = 0; i < grid->width; i++)
        out->q[i] = (int8_t)q[i];
}
