/* SPDX-License-Identifier: MIT */
/* Opening an encoder-decoder directory: the architecture by config.json's model_type. */
#include <string.h>

#include "io/json.h"
#include "model/bart.h"
#include "model/model_config.h"
#include "model/seq2seq.h"

static clf_status open_seq2seq(clf_context *context, const char *directory, const json_t *json, clf_transformer **out,
                               clf_weights **weights)
{
    clf_seq2seq *model;
    CLF_TRY(clfi_seq2seq_open_config(context, directory, json, &model));
    *out = model->network;
    *weights = model->weights;
    model->network = NULL;
    model->weights = NULL;
    clfi_seq2seq_close(model);
    return CLF_OK;
}

static const struct {
    const char *model_type;
    clf_status (*open)(clf_context *context, const char *directory, const json_t *json, clf_transformer **out, clf_weights **weights);
} rows[] = {{"encoder-decoder", open_seq2seq}, {"bart", clfi_bart_open}, {"marian", clfi_bart_open}};

static void close_weights(void *weights)
{
    clfi_weights_close(weights);
}

static clf_status open_type(clf_context *context, const char *directory, const json_t *json, clf_transformer **out)
{
    clf_transformer *network;
    clf_weights *weights;
    const char *type;
    CLF_TRY(clfi_json_get_string(json, CLFI_MODEL_CONFIG, "model_type", &type));
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (strcmp(rows[i].model_type, type) != 0)
            continue;
        CLF_TRY(rows[i].open(context, directory, json, &network, &weights));
        network->owner = weights;
        network->release_owner = close_weights;
        *out = network;
        return CLF_OK;
    }
    CLF_FAIL(CLF_UNSUPPORTED, "%s: model_type \"%s\": expected encoder-decoder, bart or marian", CLFI_MODEL_CONFIG, type);
}

clf_status clf_transformer_open(clf_context *context, const char *directory, clf_transformer **out)
{
    json_t *json;
    if (!context || !directory || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "transformer open: context, directory and out must not be NULL");
    CLF_TRY(clfi_model_config_read(directory, &json));
    const clf_status st = open_type(context, directory, json, out);
    json_decref(json);
    return st;
}
