/* SPDX-License-Identifier: MIT */
/* Classification heads: pool the token vectors of each sequence to one vector and map it to logits. */
#ifndef CLFI_NN_CLASSIFIER_H
#define CLFI_NN_CLASSIFIER_H

#include "clformer/ops.h"
#include "nn/layer.h"

/* logits = Wo n(f(Wd p + bd)) + bo, p the pooled vector. Everything about a head but its weights. */
typedef struct clf_classifier_config {
    int64_t labels;            /* rows of Wo; 0: there is no head */
    clf_pooling pooling;       /* what p is */
    clf_activation activation; /* f */
    bool has_norm;             /* n: a layer norm; else nothing */
    float norm_eps;
} clf_classifier_config;

/* The linears are owned. */
typedef struct clf_classifier {
    clf_linear *dense; /* Wd [C,C] */
    clf_norm norm;
    clf_linear *out; /* Wo [labels,C]; NULL: there is no head */
} clf_classifier;

void clfi_classifier_clear(clf_classifier *classifier);

/* logits [n,labels] f32 dense from hidden [T,C] f32, whose sequence i is rows offsets[i] to offsets[i + 1]. Temporary memory comes from the
 * context's arena. Enqueued. */
clf_status clfi_classifier_forward(clf_context *context, const clf_classifier *classifier, const clf_classifier_config *config,
                                   const clf_view *hidden, const clf_view *offsets, const clf_view *logits);

#endif
