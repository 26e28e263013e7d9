/* SPDX-License-Identifier: MIT */
/* Runs classification heads. */
#include "nn/classifier.h"

#include "op/layer_norm.h"
#include "op/linear.h"
#include "op/pooling.h"

void clfi_classifier_clear(clf_classifier *classifier)
{
    clfi_linear_destroy(classifier->dense);
    clfi_linear_destroy(classifier->out);
    *classifier = (clf_classifier){.dense = NULL};
}

static clf_status run(clf_context *context, const clf_classifier *classifier, const clf_classifier_config *config, const clf_view *hidden,
                      const clf_view *offsets, const clf_view *logits)
{
    const clf_norm *norm = &classifier->norm;
    const int64_t dim[2] = {logits->dim[0], hidden->dim[1]};
    clf_view pooled, features;
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 2, dim, &pooled));
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 2, dim, &features));
    CLF_TRY(clfi_pool(context, config->pooling, hidden, offsets, &pooled));
    CLF_TRY(clfi_linear_run(context, classifier->dense, &pooled, config->activation, NULL, &features));
    if (config->has_norm)
        CLF_TRY(clfi_layer_norm(context, &features, NULL, &norm->gamma, norm->beta.buffer ? &norm->beta : NULL, 1, config->norm_eps,
                                &features));
    return clfi_linear_run(context, classifier->out, &features, CLF_ACTIVATION_NONE, NULL, logits);
}

clf_status clfi_classifier_forward(clf_context *context, const clf_classifier *classifier, const clf_classifier_config *config,
                                   const clf_view *hidden, const clf_view *offsets, const clf_view *logits)
{
    const clf_arena_mark mark = clfi_arena_top(context);
    const clf_status st = run(context, classifier, config, hidden, offsets, logits);
    clfi_arena_release(context, mark);
    return st;
}
