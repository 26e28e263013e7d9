/* SPDX-License-Identifier: MIT */
/* Rotary positions (Su et al. 2021): queries and keys are rotated by angles that grow with the position, so that their products depend only
 * on distances. */
#ifndef CLFI_OP_ROTARY_H
#define CLFI_OP_ROTARY_H

#include "tensor/view.h"

/* How frequencies are scaled for sequences longer than those of the training. */
typedef enum clf_rotary_scaling {
    CLF_ROTARY_PLAIN,
    CLF_ROTARY_LINEAR, /* w_i / factor */
    /* low frequencies (wavelength above trained / low) are divided by factor, high ones (below trained / high) kept, others are mixed */
    CLF_ROTARY_LLAMA3,
    /* mixed in the same way by the pair's index, between the pairs that make high and low turns within the trained positions (Peng et al.
     * 2024) */
    CLF_ROTARY_YARN
} clf_rotary_scaling;

enum { CLFI_ROTARY_MOST_DIVISORS = 256 };

/* Pair i of the first `dims` elements of a head is rotated by the angle p w_i at position p, w_i = base^(-2i / dims). */
typedef struct clf_rotary {
    double base;         /* 0: no rotary positions */
    int64_t dims;        /* even, at most the head size */
    bool is_interleaved; /* pairs are (2i, 2i + 1); otherwise (i, i + dims / 2) */
    clf_rotary_scaling scaling;
    double factor, low_frequency_factor, high_frequency_factor; /* yarn: low and high are numbers of turns (beta_slow, beta_fast) */
    int64_t trained_positions;
    double magnitude;                          /* yarn: factor of the rotated pair; 0: 1 */
    bool has_exact_range;                      /* yarn: the range of mixed pairs is not rounded to whole pairs */
    int32_t divisor_count;                     /* dims / 2, or 0: none */
    float divisors[CLFI_ROTARY_MOST_DIVISORS]; /* w_i is divided by divisors[i] before it is scaled */
} clf_rotary;

/* out[i] = w_i for i < dims / 2, scaled, in double. */
void clfi_rotary_frequencies(const clf_rotary *rotary, double *out);

/* Makes the table that clfi_rotary_run reads, for positions below max_positions: f32 [rows, dims / 2, 2], computed in double. *out: one
 * reference, which the caller releases; *view: the table in it. Synchronous. INVALID_ARGUMENT: its size overflows. OUT_OF_MEMORY,
 * DEVICE. */
clf_status clfi_rotary_table(clf_context *context, const clf_rotary *rotary, int64_t max_positions, clf_buffer **out, clf_view *view);

/* Rotates the rows of x [H,T,D] f32 in place; positions i32 [T] on the device. Error: at most 4 units in the last place (f32) of the pair's
 * length. Enqueued. */
clf_status clfi_rotary_run(clf_context *context, const clf_rotary *rotary, const clf_view *table, const clf_view *positions,
                           const clf_view *x);

#endif
