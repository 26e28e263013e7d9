/* SPDX-License-Identifier: MIT */
/* Prepares the choice of next tokens: the device finds the largest logits of each row, checks the row for values that are not finite, and
 * sums exp(scale * (logit - largest)). So the host reads a few numbers of a row and not all its logits. */
#ifndef CLFI_MODEL_CHOICE_H
#define CLFI_MODEL_CHOICE_H

#include "model/packing.h"
#include "model/sampler.h"

/* Memory that is kept from pass to pass. */
typedef struct clf_choice {
    clf_context *context; /* borrowed */
    clf_packer scales;    /* the rows' scales on the device, as f32 bits */
    float *values, *sums; /* [rows][best], [rows] */
    int32_t *tokens;      /* [rows][best] */
    size_t value_capacity, token_capacity, sum_capacity;
    size_t best;        /* logits of each row that were read in the last pass */
    bool has_sums;      /* whether the last pass has sums */
    uint64_t read_bytes; /* by all passes */
} clf_choice;

clf_choice clfi_choice(clf_context *context);
void clfi_choice_clear(clf_choice *choice);

/* Enqueues the search for each row's largest logits, as many as the row that wants most, and the sums if a row has a scale. No-op if all
 * rows want none (best 0). logits [count,V] f32, dense. */
clf_status clfi_choice_launch(clf_choice *choice, const clf_view *logits, const clf_wanted_logits *rows, size_t count);

/* clfi_choice_launch, then waits for the results and reads them. */
clf_status clfi_choice_find(clf_choice *choice, const clf_view *logits, const clf_wanted_logits *rows, size_t count);

/* Row `row` of the last pass, as a sampler takes it. */
clf_best clfi_choice_row_of(const clf_choice *choice, size_t row);

/* All logits [V] of a row, for choosers that need them. */
clf_status clfi_choice_read_row(clf_choice *choice, const clf_view *logits, size_t row, float *out);

#endif
