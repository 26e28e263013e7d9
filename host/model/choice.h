/* SPDX-License-Identifier: MIT */
/* Prepares the choice of next tokens: the device finds the largest logits of each row, checks the row for values that are not finite, and
 * sums exp(scale * (logit - largest)). So the host reads a few numbers of a row and not all its logits. */
#ifndef CLFI_MODEL_CHOICE_H
#define CLFI_MODEL_CHOICE_H

#include "model/packing.h"
#include "model/sampler.h"

/* Results of the last pass, and buffers that all passes reuse. */
typedef struct clf_choice {
    clf_context *context; /* borrowed */
    clf_packer scales;    /* the rows' scales on the device, as f32 bits */
    float *values, *sums; /* [rows][best]: largest logits; [rows]: sums of exp, NaN for a row with a logit that is not finite */
    int32_t *tokens;      /* [rows][best]: tokens of the largest logits */
    size_t value_capacity, token_capacity, sum_capacity;
    size_t best;        /* logits per row in the last pass */
    bool has_sums;      /* a row of the last pass had a scale; false: `sums` holds only 0 or NaN */
    uint64_t read_bytes; /* bytes that all passes together read from the device */
} clf_choice;

clf_choice clfi_choice(clf_context *context);
void clfi_choice_clear(clf_choice *choice);

/* Enqueues the search for each row's largest logits, and the sums if a row has a scale. Every row gets as many logits as the row that wants
 * most. No-op if all rows want none (best 0). logits [count,V] f32, dense. */
clf_status clfi_choice_launch(clf_choice *choice, const clf_view *logits, const clf_wanted_logits *rows, size_t count);

/* clfi_choice_launch, then waits for the results and reads them. */
clf_status clfi_choice_find(clf_choice *choice, const clf_view *logits, const clf_wanted_logits *rows, size_t count);

/* Returns row `row` of the last pass, for clfi_sampler_choose_best. */
clf_best clfi_choice_row_of(const clf_choice *choice, size_t row);

/* Reads all logits [V] of a row, for choosers (a sampler or a beam search) that need them. */
clf_status clfi_choice_read_row(clf_choice *choice, const clf_view *logits, size_t row, float *out);

#endif
