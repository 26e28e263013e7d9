/* SPDX-License-Identifier: MIT */
/* Attention weights of one layer, for pictures of what a model looks at. */
#include "model/model.h"

clf_status clf_model_attention_ids(clf_model *model, const int32_t *ids, const int32_t *type_ids, size_t length, int64_t layer,
                                   clf_tensor **out)
{
    clf_token_batch batch;
    clf_tensor *weights;
    if (!model || !ids || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention weights: model, ids and out must not be NULL");
    if (length == 0 || length > (size_t)model->info.max_positions)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention weights: %zu tokens, expected 1 to %lld", length, (long long)model->info.max_positions);
    if (layer < 0 || layer >= model->info.layers)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention weights: layer %lld, the model has layers 0 to %lld", (long long)layer,
                 (long long)model->info.layers - 1);
    const int64_t tokens = (int64_t)length;
    CLF_TRY(clfi_model_set_batch(model, ids, type_ids, (int32_t[]){0, (int32_t)length}, 1, &batch));
    CLF_TRY(clf_tensor_create(model->context, CLF_F32, 3, (int64_t[]){model->info.heads, tokens, tokens}, &weights));
    const clf_status st = model->architecture->attention(model->context, model->state, &batch, layer, clfi_tensor_view(weights));
    if (st != CLF_OK) {
        clf_tensor_destroy(weights);
        return st;
    }
    *out = weights;
    return CLF_OK;
}
