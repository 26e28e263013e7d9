/* SPDX-License-Identifier: MIT */
/* Runs sentence-transformers' modules on an encoder's token vectors: pooling, dense layers, norms. */
#ifndef CLFI_MODEL_SENTENCE_HEAD_H
#define CLFI_MODEL_SENTENCE_HEAD_H

#include "model/packing.h"
#include "model/sentence_config.h"
#include "op/linear.h"

typedef struct clf_sentence_step {
    clf_module_kind kind;
    clf_linear *linear;   /* dense: y = f(W x + b), or + x */
    clf_linear *residual; /* if the widths differ: + R x in place of + x; NULL: none */
    clf_activation activation;
    bool has_residual;
    clf_row_blocks gamma, beta; /* layer norm */
    int64_t width;              /* of the step's output */
} clf_sentence_step;

typedef struct clf_sentence_head {
    clf_sentence_config config;
    int64_t width; /* of token vectors */
    clf_sentence_step step[16];
    size_t steps;
} clf_sentence_head;

/* How one call makes embeddings. */
typedef struct clf_sentence_choice {
    clf_pooling pooling[CLF_POOLING_COUNT];
    size_t pooling_count;
    bool keeps_normalize; /* Normalize modules run */
    bool normalize;       /* at the end, after truncation */
    int32_t skipped;      /* first tokens of each text that are not pooled: a prompt's */
    int64_t width;        /* of the embeddings; less than the head's width truncates them */
} clf_sentence_choice;

/* Loads the modules' weights from their directories inside `directory`. Weights are on the device when the context has finished.
 * has_weights false: reads only the configuration, for the widths. Statuses as clf_model_open. */
clf_status clfi_sentence_head_load(clf_context *context, const char *directory, const clf_sentence_config *config, int64_t width,
                                   bool has_weights, clf_sentence_head *out);
void clfi_sentence_head_clear(clf_sentence_head *head); /* a zeroed one is accepted */

/* Width after all modules for a number of poolings. INVALID_ARGUMENT: the first dense layer or norm takes another width. */
clf_status clfi_sentence_head_width(const clf_sentence_head *head, size_t poolings, int64_t *out);

/* Computes embeddings [n, choice->width], f32 and dense, from hidden [T,C]. The caller releases temporaries. Enqueued. */
clf_status clfi_sentence_head_forward(clf_context *context, const clf_sentence_head *head, const clf_sentence_choice *choice,
                                      const clf_view *hidden, const clf_view *offsets, const clf_view *embeddings);

#endif
