/* SPDX-License-Identifier: MIT */
/* Opens, describes and destroys models: finds the family by config.json, opens network and tokenizer, reads the settings of
 * sentence-transformers. */
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/options.h"
#include "io/checkpoint_gguf.h"
#include "io/json.h"
#include "model/model_checkpoint.h"
#include "model/network_open.h"
#include "model/sentence_config.h"
#include "model/sentence_settings.h"
#include "model/transformer_settings.h"

static bool can_generate(const clf_model *model)
{
    return (model->tasks & CLF_TASK_GENERATE) != 0;
}

clf_status clfi_model_tasks(const clf_family *family, const char *path, unsigned *out)
{
    json_t *modules = NULL;
    if (family->tasks & CLF_TASK_GENERATE) {
        char *place;
        CLF_TRY(clfi_sentence_place(path, &place));
        const clf_status st = clfi_json_read_in(place, CLFI_SENTENCE_MODULES, NULL, &modules);
        free(place);
        CLF_TRY(st);
    }
    *out = modules ? CLF_TASK_EMBED : family->tasks;
    json_decref(modules);
    return CLF_OK;
}

/* Whether the family is a decoder whose layers make embeddings here. */
static bool is_as_encoder(unsigned tasks, const clf_family *family)
{
    return tasks == CLF_TASK_EMBED && !(family->tasks & CLF_TASK_EMBED);
}

static clf_status find_network(clf_model *model, const char *directory, bool has_weights)
{
    clf_checkpoint *checkpoint;
    CLF_TRY(clfi_model_checkpoint_open(directory, &checkpoint));
    const json_t *config = clfi_checkpoint_config(checkpoint);
    clf_status st = clfi_family_find(config, CLF_TASK_EMBED | CLF_TASK_GENERATE, &model->family);
    if (st == CLF_OK)
        st = clfi_arguments_check(directory, config);
    if (st == CLF_OK)
        st = clfi_model_tasks(model->family, directory, &model->tasks);
    if (st == CLF_OK)
        st = can_generate(model) ? clfi_generation_config_read(directory, config, &model->generation)
                                 : clfi_labels_read(config, &model->labels);
    if (st != CLF_OK) {
        clfi_checkpoint_close(checkpoint);
        return st;
    }
    const bool as_encoder = is_as_encoder(model->tasks, model->family);
    return has_weights
               ? clfi_network_open(model->context, checkpoint, model->family, as_encoder, &model->params, &model->plan, &model->network)
               : clfi_network_describe(model->context, checkpoint, model->family, as_encoder, &model->network);
}

/* Opens the network. Messages about a GGUF file's configuration name keys of config.json; the file's name goes before them. */
static clf_status open_network(clf_model *model, const char *directory, bool has_weights)
{
    const clf_status st = find_network(model, directory, has_weights);
    if (st == CLF_OK || !clfi_is_gguf(directory) || strstr(clf_last_error(), directory))
        return st;
    return clfi_fail_prefix(st, "%s", directory);
}

static void describe(clf_model *model)
{
    const clf_network *network = model->network;
    const clf_network_config *config = &network->config;
    const bool has_encoder = config->encoder.layers > 0, has_decoder = config->decoder.layers > 0;
    const clf_stack_config *stack = has_encoder ? &config->encoder : &config->decoder;
    const clf_embedding_config *embedding = has_encoder ? &config->source : &config->target;
    model->info = (clf_model_info){.architecture = model->family->model_type,
                                   .layers = stack->layers,
                                   .width = stack->width,
                                   .hidden_width = stack->hidden_width,
                                   .heads = stack->attention.heads,
                                   .vocabulary = has_decoder ? config->target.vocabulary : embedding->vocabulary,
                                   .type_vocabulary = embedding->types ? embedding->types : 1, /* without a table all are of type 0 */
                                   .max_positions = embedding->max_positions,
                                   .parameters = network->parameters,
                                   .file_bytes = network->file_bytes,
                                   .weights = model->params.weights};
}

static const char *linear_engine(const clf_model *model)
{
    enum { TYPICAL_ROWS = 1024 };
    const clf_network *network = model->network;
    const clf_layer *first = network->config.encoder.layers > 0 ? network->encoder.layers : network->decoder.layers;
    return clfi_linear_engine(model->context, first->ffn_in, TYPICAL_ROWS);
}

/* Checks that the embedding table has a row for each token. name: the tokenizer's, for messages. */
static clf_status check_tokenizer(const clf_tokenizer *tokenizer, const char *name, int64_t rows)
{
    const size_t tokens = clf_tokenizer_vocabulary_size(tokenizer);
    if ((int64_t)tokens > rows)
        CLF_FAIL(CLF_FORMAT, "%s: %zu tokens, the embedding table has %lld rows", name, tokens, (long long)rows);
    return CLF_OK;
}

/* Reads modules.json and loads the modules after the network. A model that generates has none: its pooling is the family's. */
static clf_status read_sentence(clf_model *model, const char *directory, bool has_weights, clf_sentence_config *sentence)
{
    const clf_network_config *network = &model->network->config;
    if (can_generate(model)) {
        CLF_TRY(clfi_generation_config_check(&model->generation, network->target.vocabulary, network->decoder.has_source));
        *sentence = (clf_sentence_config){.pooling = {model->family->pooling}, .pooling_count = 1};
        if (network->encoder.layers > 0 && !network->source.trained) /* T5 without n_positions: the tokenizer knows its length */
            CLF_TRY(clfi_tokenizer_length_read(directory, &sentence->max_tokens));
    } else {
        CLF_TRY(clfi_sentence_config_read(directory, model->family->pooling, sentence));
        if (sentence->has_modules)
            CLF_TRY(clfi_sentence_settings_read(directory, model->labels.count, &model->settings));
        if (model->settings.is_cross_encoder && sentence->pooling_count > 0)
            CLF_FAIL(CLF_UNSUPPORTED,
                     "%s: model_type \"CrossEncoder\" and modules.json lists a Pooling: expected one of them (set model_type to "
                     "\"SentenceTransformer\" for embeddings)",
                     CLFI_SENTENCE_SETTINGS);
    }
    return clfi_sentence_head_load(model->context, directory, sentence, model->info.width, has_weights, &model->sentence);
}

static clf_status open_text(clf_model *model, const char *directory, bool has_weights)
{
    const clf_network_config *network = &model->network->config;
    const bool has_encoder = network->encoder.layers > 0;
    clf_sentence_config sentence;
    clf_model_info *info = &model->info;
    char *place;
    CLF_TRY(clfi_sentence_place(directory, &place));
    const clf_status st = read_sentence(model, place, has_weights, &sentence);
    free(place);
    CLF_TRY(st);
    CLF_TRY(clfi_sentence_head_width(&model->sentence, sentence.pooling_count, &info->embedding_width));
    if (model->settings.truncate_dim && model->settings.truncate_dim < info->embedding_width)
        info->embedding_width = model->settings.truncate_dim;
    CLF_TRY(clf_tokenizer_open(directory, &model->tokenizer));
    CLF_TRY(check_tokenizer(model->tokenizer, "tokenizer", has_encoder ? network->source.vocabulary : network->target.vocabulary));
    if (has_encoder && network->decoder.layers > 0) {
        CLF_TRY(clf_tokenizer_open_target(directory, &model->target));
        CLF_TRY(check_tokenizer(model->target, "tokenizer of the target", network->target.vocabulary));
    }
    info->pooling = sentence.pooling[0];
    info->poolings = (int64_t)sentence.pooling_count;
    for (size_t i = 0; i < sentence.module_count; i++)
        info->layers_after += sentence.module[i].kind != CLF_MODULE_NORMALIZE;
    info->normalize = sentence.normalize;
    const int64_t longest = has_encoder && network->source.trained ? network->source.trained : info->max_positions;
    info->max_tokens = sentence.max_tokens && sentence.max_tokens < longest ? sentence.max_tokens : longest;
    return CLF_OK;
}

CLFI_OPTIONS(clf_model_params, CLF_MODEL_PARAMS_INIT)

static clf_status read_params(const clf_model_params *params, clf_model_params *out)
{
    CLF_TRY(clf_model_params_read(params, out));
    if ((unsigned)out->weights > CLF_STORAGE_F16 || !clfi_cache_storage(out->cache))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "model: storage %d of weights or %d of the cache is unknown", (int)out->weights, (int)out->cache);
    return CLF_OK;
}

/* Gives back one reference: the caller's, or a session's. */
void clf_model_destroy(clf_model *model)
{
    if (!model || atomic_fetch_sub(&model->references, 1) > 1)
        return;
    clfi_context_drain(model->context); /* kernels may still read the mapped weights */
    clf_tokenizer_destroy(model->tokenizer);
    clf_tokenizer_destroy(model->target);
    clfi_generation_config_free(&model->generation);
    clfi_network_destroy(model->network);
    clfi_labels_free(&model->labels);
    clfi_sentence_head_clear(&model->sentence);
    clfi_sentence_settings_free(&model->settings);
    clfi_context_release(model->context);
    pthread_mutex_destroy(&model->lock);
    free(model->directory);
    free(model);
}

static clf_status open_model(clf_context *context, const char *directory, const clf_model_params *params, bool has_weights, clf_model **out)
{
    clf_model *model;
    clf_model_params own;
    if (!context || !directory || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "model open: context, directory and out must not be NULL");
    CLF_TRY(read_params(params, &own));
    CLF_TRY(clfi_alloc(1, sizeof *model, "model", &model));
    model->params = own;
    model->has_weights = has_weights;
    atomic_init(&model->references, 1);
    pthread_mutex_init(&model->lock, NULL);
    model->context = context;
    clfi_context_retain(context);
    clf_status st = clfi_strdup(directory, &model->directory);
    if (st == CLF_OK)
        st = open_network(model, directory, has_weights);
    if (st == CLF_OK) {
        describe(model);
        st = open_text(model, directory, has_weights);
    }
    if (st == CLF_OK && has_weights)
        model->info.linear_engine = linear_engine(model);
    model->left_out = context->unbuilt;
    model->opening = context->openings;
    if (st == CLF_OK)
        st = clf_context_finish(context); /* other queues may read the weights from here on */
    if (st != CLF_OK) {
        clf_model_destroy(model);
        return st;
    }
    *out = model;
    return CLF_OK;
}

clf_status clfi_model_plan(clf_context *context, clf_checkpoint *checkpoint, const char *directory, const clf_model_params *params,
                           const clf_family **out_family, clf_memory_plan *out)
{
    unsigned tasks;
    CLF_TRY(clfi_family_find(clfi_checkpoint_config(checkpoint), CLF_TASK_EMBED | CLF_TASK_GENERATE, out_family));
    CLF_TRY(clfi_model_tasks(*out_family, directory, &tasks));
    return clfi_network_plan(context, checkpoint, *out_family, is_as_encoder(tasks, *out_family), params, out);
}

clf_status clf_memory_plan_read(clf_context *context, const char *directory, const clf_model_params *params, clf_memory_plan *out)
{
    clf_checkpoint *checkpoint;
    clf_model_params own;
    const clf_family *family;
    if (!context || !directory || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "memory plan: context, directory and out must not be NULL");
    CLF_TRY(read_params(params, &own));
    CLF_TRY(clfi_model_checkpoint_open(directory, &checkpoint));
    const clf_status st = clfi_model_plan(context, checkpoint, directory, &own, &family, out);
    clfi_checkpoint_close(checkpoint);
    return st;
}

const clf_memory_plan *clf_model_get_memory_plan(const clf_model *model)
{
    return model ? &model->plan : NULL;
}

clf_status clf_model_open(clf_context *context, const char *directory, const clf_model_params *params, clf_model **out)
{
    clf_status st;
    do
        st = open_model(context, directory, params, true, out);
    while (context && clfi_context_recover(context, &st));
    return st;
}

static bool is_same(const clf_model_info *a, const clf_model_info *b)
{
    return a->layers == b->layers && a->width == b->width && a->vocabulary == b->vocabulary && a->parameters == b->parameters &&
           a->file_bytes == b->file_bytes;
}

/* Exchanges the weights with those of `again`; NULL: only checks that nobody else may be reading them. Weights of a lost device have no
 * readers. */
static clf_status exchange_weights(clf_model *model, clf_model *again)
{
    const clf_sentence_head head = model->sentence;
    if (model->elsewhere > 0 && model->opening == model->context->openings)
        CLF_FAIL(CLF_UNSUPPORTED,
                 "%s: its weights are packed for an engine that no longer works on the device, and several contexts share them (open the "
                 "model again)",
                 model->directory);
    if (!again)
        return CLF_OK;
    clfi_network_swap_weights(model->network, again->network);
    memcpy(model->sentence.step, again->sentence.step, sizeof head.step);
    memcpy(again->sentence.step, head.step, sizeof head.step);
    model->info.linear_engine = again->info.linear_engine;
    model->left_out = again->left_out;
    model->opening = again->opening;
    return CLF_OK;
}

static clf_status exchange_locked(clf_model *model, clf_model *again)
{
    pthread_mutex_lock(&model->lock);
    const clf_status st = exchange_weights(model, again);
    pthread_mutex_unlock(&model->lock);
    return st;
}

clf_status clfi_model_load_again(clf_model *model)
{
    clf_model *again;
    CLF_TRY(exchange_locked(model, NULL));
    clfi_log(model->context, CLF_LOG_INFO, "%s: the weights are loaded again", model->directory);
    CLF_TRY(open_model(model->context, model->directory, &model->params, model->has_weights, &again));
    const clf_status st = is_same(&again->info, &model->info)
                              ? exchange_locked(model, again)
                              : clfi_fail(CLF_IO, "%s: a file of the model was changed since it was opened: start again", model->directory);
    clf_model_destroy(again);
    return st;
}

clf_status clfi_model_describe(clf_context *context, const char *directory, const clf_model_params *params, clf_model **out)
{
    return open_model(context, directory, params, false, out);
}
