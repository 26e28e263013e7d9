/* SPDX-License-Identifier: MIT */
/* Opening a model directory: architecture by config.json, tokenizer, sentence settings. */
#include "model/model.h"

#include "base/alloc.h"
#include "io/json.h"
#include "model/model_config.h"
#include "model/sentence_config.h"

static clf_status open_network(clf_model *model, const char *directory)
{
    json_t *config = NULL;
    const char *type;
    char known[256];
    clf_status st = clfi_model_config_read(directory, &config);
    if (st == CLF_OK)
        st = clfi_json_get_string(config, CLFI_MODEL_CONFIG, "model_type", &type);
    if (st == CLF_OK) {
        model->architecture = clfi_architecture_find(type);
        if (!model->architecture) {
            clfi_architecture_list(known, sizeof known);
            st = clfi_fail(CLF_UNSUPPORTED, "%s: model_type \"%s\": expected one of %s", CLFI_MODEL_CONFIG, type, known);
        }
    }
    if (st == CLF_OK)
        st = model->architecture->open(model->context, directory, config, &model->info, &model->state);
    json_decref(config);
    return st;
}

static clf_status open_text(clf_model *model, const char *directory)
{
    clf_sentence_config sentence;
    clf_model_info *info = &model->info;
    CLF_TRY(clfi_sentence_config_read(directory, &sentence));
    CLF_TRY(clfi_tokenizer_open(directory, &model->tokenizer));
    if ((int64_t)clfi_tokenizer_vocabulary_size(model->tokenizer) > info->vocabulary)
        CLF_FAIL(CLF_FORMAT, "tokenizer: %zu tokens, the embedding table has %lld rows", clfi_tokenizer_vocabulary_size(model->tokenizer),
                 (long long)info->vocabulary);
    info->pooling = sentence.pooling;
    info->normalize = sentence.normalize;
    info->max_tokens = sentence.max_tokens && sentence.max_tokens < info->max_positions ? sentence.max_tokens : info->max_positions;
    return CLF_OK;
}

clf_status clf_model_open(clf_context *context, const char *directory, clf_model **out)
{
    clf_model *model;
    if (!context || !directory || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "model open: context, directory and out must not be NULL");
    CLF_TRY(clfi_alloc(1, sizeof *model, "model", &model));
    model->context = context;
    clfi_context_retain(context);
    clf_status st = open_network(model, directory);
    if (st == CLF_OK)
        st = open_text(model, directory);
    if (st == CLF_OK)
        st = clfi_attention_batch_create(context, &model->attention);
    if (st != CLF_OK) {
        clf_model_destroy(model);
        return st;
    }
    model->info.architecture = model->architecture->model_type;
    *out = model;
    return CLF_OK;
}

void clf_model_destroy(clf_model *model)
{
    if (!model)
        return;
    clf_context_finish(model->context); /* kernels may still read the mapped weights */
    clfi_attention_batch_destroy(model->attention);
    clfi_buffer_release(model->token_buffer);
    free(model->token_host);
    clfi_tokenizer_destroy(model->tokenizer);
    if (model->state)
        model->architecture->destroy(model->state);
    clfi_context_release(model->context);
    free(model);
}

const clf_model_info *clf_model_get_info(const clf_model *model)
{
    return model ? &model->info : NULL;
}
