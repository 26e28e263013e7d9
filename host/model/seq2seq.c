/* SPDX-License-Identifier: MIT */
/* Opens an encoder-decoder for pronunciation: its network, and its source and target vocabularies, which are lists in config.json. */
#include "model/seq2seq.h"

#include <string.h>

#include "base/alloc.h"
#include "io/json.h"
#include "model/built_in.h"
#include "model/network_open.h"
#include "runtime/context.h"

static const char where[] = CLFI_MODEL_CONFIG;

static clf_status read_tokens(const json_t *json, const char *key, char ***out, int32_t *out_count)
{
    const json_t *array;
    char **tokens;
    CLF_TRY(clfi_json_get_array(json, where, key, &array));
    const size_t count = json_array_size(array);
    if (count < 1 || count > CLFI_CONFIG_LARGEST)
        CLF_FAIL(CLF_FORMAT, "%s: %s: %zu tokens, expected 1 to %d", where, key, count, CLFI_CONFIG_LARGEST);
    CLF_TRY(clfi_alloc(count, sizeof *tokens, key, &tokens));
    *out = tokens; /* now clfi_seq2seq_close frees it, also after a failure below */
    *out_count = (int32_t)count;
    for (size_t i = 0; i < count; i++) {
        const json_t *token = json_array_get(array, i);
        char found[CLFI_JSON_FOUND_BYTES];
        if (!json_is_string(token) || strlen(json_string_value(token)) != json_string_length(token))
            CLF_FAIL(CLF_FORMAT, "%s: %s[%zu]: expected a string, found %s", where, key, i, clfi_json_found(token, found));
        CLF_TRY(clfi_strdup(json_string_value(token), &tokens[i]));
    }
    return CLF_OK;
}

static clf_status read_vocabularies(const json_t *json, clf_seq2seq *model)
{
    int64_t bos, eos;
    CLF_TRY(read_tokens(json, "source_tokens", &model->source_tokens, &model->source_count));
    CLF_TRY(read_tokens(json, "target_tokens", &model->target_tokens, &model->target_count));
    const int32_t least = model->source_count < model->target_count ? model->source_count : model->target_count;
    CLF_TRY(clfi_json_get_int(json, where, "bos_token_id", 0, model->target_count - 1, &bos));
    CLF_TRY(clfi_json_get_int(json, where, "eos_token_id", 0, least - 1, &eos));
    if (bos == eos)
        CLF_FAIL(CLF_FORMAT, "%s: bos_token_id and eos_token_id are both %lld", where, (long long)bos);
    model->bos = (int32_t)bos;
    model->eos = (int32_t)eos;
    return CLF_OK;
}

clf_status clfi_g2p_checkpoint(clf_checkpoint **out)
{
    return clfi_checkpoint_open_memory("built-in", clfi_g2p_config, (size_t)(clfi_g2p_config_end - clfi_g2p_config), clfi_g2p_weights,
                                       (size_t)(clfi_g2p_weights_end - clfi_g2p_weights), out);
}

clf_status clfi_seq2seq_open(clf_context *context, const char *directory, clf_seq2seq **out)
{
    clf_seq2seq *model;
    clf_checkpoint *checkpoint = NULL;
    const clf_family *family;
    clf_status st;
    CLF_TRY(clfi_alloc(1, sizeof *model, "model", &model));
    atomic_init(&model->references, 1);
    model->opening = context->openings;
    if (directory)
        CLF_GOTO(clfi_strdup(directory, &model->directory));
    CLF_GOTO(directory ? clfi_checkpoint_open(directory, &checkpoint) : clfi_g2p_checkpoint(&checkpoint));
    CLF_GOTO(clfi_family_find(clfi_checkpoint_config(checkpoint), CLF_TASK_PRONOUNCE, &family));
    CLF_GOTO(read_vocabularies(clfi_checkpoint_config(checkpoint), model));
    st = clfi_network_open(context, checkpoint, family, false, &(clf_model_params)CLF_MODEL_PARAMS_INIT, NULL, &model->network);
    checkpoint = NULL;
    if (st != CLF_OK)
        goto done;
    *out = model;
    return CLF_OK;
done:
    clfi_checkpoint_close(checkpoint);
    clfi_seq2seq_close(model);
    return st;
}

static void free_tokens(char **tokens, int32_t count)
{
    for (int32_t i = 0; tokens && i < count; i++)
        free(tokens[i]);
    free(tokens);
}

clf_seq2seq *clfi_seq2seq_retain(clf_seq2seq *model)
{
    atomic_fetch_add(&model->references, 1);
    return model;
}

void clfi_seq2seq_close(clf_seq2seq *model)
{
    if (!model || atomic_fetch_sub(&model->references, 1) > 1)
        return;
    clfi_network_destroy(model->network);
    free_tokens(model->source_tokens, model->source_count);
    free_tokens(model->target_tokens, model->target_count);
    free(model->directory);
    free(model);
}

static bool is_same(const clf_seq2seq *a, const clf_seq2seq *b)
{
    return a->bos == b->bos && a->eos == b->eos && a->source_count == b->source_count && a->target_count == b->target_count &&
           a->network->parameters == b->network->parameters && a->network->file_bytes == b->network->file_bytes;
}

clf_status clfi_seq2seq_refresh(clf_context *context, clf_seq2seq *model)
{
    clf_seq2seq *again;
    clf_status st = CLF_OK;
    if (model->opening == context->openings)
        return CLF_OK;
    CLF_TRY(clfi_seq2seq_open(context, model->directory, &again));
    if (is_same(again, model)) {
        clfi_network_swap_weights(model->network, again->network);
        model->opening = again->opening;
    } else {
        st = clfi_fail(CLF_IO, "%s: a file of the model was changed since it was opened: start again",
                       model->directory ? model->directory : "the built-in model");
    }
    clfi_seq2seq_close(again);
    return st;
}
