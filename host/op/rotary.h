/* SPDX-License-Identifier: MIT */
/* Rotary positions (Su et al. 2021): queries and keys turned by angles that grow with the position, so that their products know distances
 * alone. */
#ifndef CLFI_OP_ROTARY_H
#define CLFI_OP_ROTARY_H

#include "tensor/view.h"

/* How contexts longer than the trained ones are reached. */
typedef enum clf_rotary_scaling {
    CLF_ROTARY_PLAIN,
    CLF_ROTARY_LINEAR, /* w_i / factor */
    /* slow turns (wavelength above trained / low) divided by factor, fast ones (below trained / high) kept, between them a mixture */
    CLF_ROTARY_LLAMA3,
    /* the same by the pair's index, between those that turn fast and slow times within the trained positions (Peng et al. 2024) */
    CLF_ROTARY_YARN
} clf_rotary_scaling;

enum { CLFI_ROTARY_MOST_DIVISORS = 256 };

/* Pair i of the first `dims` elements of a head turns by p w_i at position p, w_i = base^(-2i / dims). */
typedef struct clf_rotary {
    double base;         /* 0: no rotary positions */
    int64_t dims;        /* even, at most the head size */
    bool is_interleaved; /* pairs are (2i, 2i + 1); otherwise (i, i + dims / 2) */
    clf_rotary_scaling scaling;
    double factor, low_frequency_factor, high_frequency_factor; /* of yarn: its slow and fast turns */
    int64_t trained_positions;
    double magnitude;      /* yarn: of the turned pair; 0: 1 */
    bool has_exact_range;  /* yarn: the pairs between slow and fast turns begin and end at fractions, not at whole pairs */
    int32_t divisor_count; /* dims / 2, or 0: none */
    float divisors[CLFI_ROTARY_MOST_DIVISORS]; /* w_i is divided by them before anything else */
} clf_rotary;

/* out[i] = w_i for i < dims / 2, scaled, in double. */
void clfi_rotary_frequencies(const clf_rotary *rotary, double *out);

/* The table that clfi_rotary_run reads, for positions below max_positions: f32 [rows, dims / 2, 2]; angles and functions in double. *out:
 * one reference. */
clf_status clfi_rotary_table(clf_context *context, const clf_rotary *rotary, int64_t max_positions, clf_buffer **out, clf_view *view);

/* Turns the rows of x [H,T,D] f32 in place; positions i32 [T] on the device. Error: 4 units in the last place of f32 of the pair's length.
 * Enqueued. */
clf_status clfi_rotary_run(clf_context *context, const clf_rotary *rotary, const clf_view *table, const clf_view *positions,
                           const clf_view *x);

#endif
