/* SPDX-License-Identifier: MIT */
/* Computes the frequencies of rotary positions and their table. */
#include "op/rotary.h"

#include <math.h>

#include "base/alloc.h"
#include "kernel/rotary.h"

/* Index, not rounded, of the pair that makes `turns` full turns within the trained positions. */
static double pair_of(const clf_rotary *rotary, double turns)
{
    const double pi = 3.14159265358979323846;
    return (double)rotary->dims * log((double)rotary->trained_positions / (turns * 2 * pi)) / (2 * log(rotary->base));
}

static double yarn(const clf_rotary *rotary, int64_t pair, double frequency)
{
    const bool is_exact = rotary->has_exact_range;
    const double first = pair_of(rotary, rotary->high_frequency_factor), last = pair_of(rotary, rotary->low_frequency_factor);
    const double low = fmax(is_exact ? first : floor(first), 0);
    const double high = fmin(is_exact ? last : ceil(last), (double)rotary->dims - 1);
    const double slow = fmin(fmax(((double)pair - low) / (high > low ? high - low : 0.001), 0), 1);
    return frequency / rotary->factor * slow + frequency * (1 - slow);
}

static double scaled(const clf_rotary *rotary, double frequency)
{
    const double pi = 3.14159265358979323846;
    if (rotary->scaling == CLF_ROTARY_LINEAR)
        return frequency / rotary->factor;
    if (rotary->scaling == CLF_ROTARY_PLAIN)
        return frequency;
    const double turns = (double)rotary->trained_positions * frequency / (2 * pi); /* within the trained positions */
    const double low = rotary->low_frequency_factor, high = rotary->high_frequency_factor;
    if (turns < low)
        return frequency / rotary->factor;
    if (turns > high)
        return frequency;
    const double kept = (turns - low) / (high - low);
    return (1 - kept) * frequency / rotary->factor + kept * frequency;
}

void clfi_rotary_frequencies(const clf_rotary *rotary, double *out)
{
    for (int64_t i = 0; i < rotary->dims / 2; i++) {
        const double divisor = i < rotary->divisor_count ? (double)rotary->divisors[i] : 1;
        const double frequency = pow(rotary->base, -2.0 * (double)i / (double)rotary->dims) / divisor;
        out[i] = rotary->scaling == CLF_ROTARY_YARN ? yarn(rotary, i, frequency) : scaled(rotary, frequency);
    }
}

/* Only the coarse rows contain the magnitude, because the kernel multiplies a fine row with a coarse one. */
static void fill(const double *frequencies, int64_t pairs, int64_t rows, double magnitude, float *turns)
{
    for (int64_t row = 0; row < rows; row++) {
        const double length = row < CLFI_ROTARY_FINE ? 1 : magnitude;
        const int64_t position = row < CLFI_ROTARY_FINE ? row : (row - CLFI_ROTARY_FINE) * CLFI_ROTARY_FINE;
        for (int64_t i = 0; i < pairs; i++) {
            turns[2 * (row * pairs + i)] = (float)(length * cos((double)position * frequencies[i]));
            turns[2 * (row * pairs + i) + 1] = (float)(length * sin((double)position * frequencies[i]));
        }
    }
}

clf_status clfi_rotary_table(clf_context *context, const clf_rotary *rotary, int64_t max_positions, clf_buffer **out, clf_view *view)
{
    const int64_t pairs = rotary->dims / 2, coarse = (max_positions + CLFI_ROTARY_FINE - 1) / CLFI_ROTARY_FINE;
    const int64_t dim[3] = {CLFI_ROTARY_FINE + coarse, pairs, 2};
    size_t count;
    float *turns = NULL;
    double *frequencies = NULL;
    clf_buffer *buffer = NULL;
    clf_status st;
    CLF_TRY(clfi_shape_count("rotary positions", CLF_F32, 3, dim, &count));
    CLF_GOTO(clfi_alloc(count, sizeof *turns, "rotary positions", &turns));
    CLF_GOTO(clfi_alloc((size_t)pairs, sizeof *frequencies, "rotary positions", &frequencies));
    clfi_rotary_frequencies(rotary, frequencies);
    fill(frequencies, pairs, dim[0], rotary->magnitude > 0 ? rotary->magnitude : 1, turns);
    CLF_GOTO(clfi_buffer_create(context, count * sizeof *turns, &buffer));
    CLF_GOTO(clfi_buffer_write(buffer, 0, turns, count * sizeof *turns));
    *out = buffer;
    *view = clfi_view_dense(buffer, CLF_F32, 0, 3, dim);
    buffer = NULL;
done:
    clfi_buffer_release(buffer);
    free(frequencies);
    free(turns);
    return st;
}

clf_status clfi_rotary_run(clf_context *context, const clf_rotary *rotary, const clf_view *table, const clf_view *positions,
                           const clf_view *x)
{
    if (clfi_view_count(x) == 0)
        return CLF_OK;
    return clfi_rotary_launch(context, x, positions, table, rotary->is_interleaved);
}
