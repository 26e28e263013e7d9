/* SPDX-License-Identifier: MIT */
/* Prepares the choice of next tokens: the device finds the largest logits of each row, checks the row for values that are not finite, and
 * sums its weights. So the host reads a few numbers of a row and not all its logits. */
#ifndef CLFI_MODEL_CHOICE_H
#define CLFI_MODEL_CHOICE_H

#include "model/packing.h"
#include "model/sampler.h"

/* Memory that is used from pass to pass. */
typedef struct clf_choice {
    clf_context *context; /* borrowed */
    clf_packer scales;    /* f32 bits */
    float *values, *sums; /* [rows][best], [rows] */
    int32_t *tokens;      /* [rows][best] */
    size_t value_capacity, token_capacity, sum_capacity;
    size_t best;        /* of the last pass: logits of each row that were read */
    bool has_sums;      /* of the last pass */
    uint64_t read_bytes; /* by all passes */
} clf_choice;

clf_choice clfi_choice(clf_context *context);
void clfi_choice_clear(clf_choice *choice);

/* Enqueues what the rows want: as many logits of each as the one that wants most; best 0: nothing. logits [count,V] f32, dense. */
clf_status clfi_choice_launch(clf_choice *choice, const clf_view *logits, const clf_wanted_logits *rows, size_t count);

/* clfi_choice_launch, and waits for the results. No-op where no row wants anything. */
clf_status clfi_choice_find(clf_choice *choice, const clf_view *logits, const clf_wanted_logits *rows, size_t count);

/* Row `row` of the last pass, as a sampler takes it. */
clf_best clfi_choice_row_of(const clf_choice *choice, size_t row);

/* All logits [V] of a row, for choosers that need them. */
clf_status clfi_choice_read_row(clf_choice *choice, const clf_view *logits, size_t row, float *out);

#endif
