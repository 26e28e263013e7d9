/* SPDX-License-Identifier: MIT */
/* BERT encoders (Devlin et al. 2018): embeddings of token, position and type, layer norm, post-norm encoder layers. Names of config keys
 * and weights are Hugging Face's. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "io/json.h"
#include "model/architecture.h"
#include "model/model_config.h"
#include "model/weights.h"
#include "nn/encoder.h"
#include "op/embedding.h"

typedef struct bert {
    clf_weights *weights;
    clf_encoder encoder;
    clf_row_blocks words, positions, types;
    clf_row_blocks norm_gamma, norm_beta;
    clf_row_blocks *layer_norms; /* 4 for each layer: gamma and beta after attention, gamma and beta after the feed-forward network */
    int64_t vocabulary, max_positions, type_vocabulary;
} bert;

static void bert_destroy(void *state)
{
    bert *model = state;
    if (!model)
        return;
    for (int64_t i = 0; model->layer_norms && i < 4 * model->encoder.layer_count; i++)
        clfi_row_blocks_clear(&model->layer_norms[i]);
    free(model->layer_norms);
    clfi_row_blocks_clear(&model->words);
    clfi_row_blocks_clear(&model->positions);
    clfi_row_blocks_clear(&model->types);
    clfi_row_blocks_clear(&model->norm_gamma);
    clfi_row_blocks_clear(&model->norm_beta);
    clfi_encoder_clear(&model->encoder);
    clfi_weights_close(model->weights);
    free(model);
}

static clf_status read_config(const json_t *config, bert *model, int64_t *layers)
{
    static const char where[] = CLFI_MODEL_CONFIG;
    enum { LARGEST = 1 << 24 };
    clf_encoder *encoder = &model->encoder;
    double eps;
    const char *positions;
    CLF_TRY(clfi_json_get_int(config, where, "hidden_size", 1, LARGEST, &encoder->width));
    CLF_TRY(clfi_json_get_int(config, where, "intermediate_size", 1, LARGEST, &encoder->hidden_width));
    CLF_TRY(clfi_json_get_int(config, where, "num_attention_heads", 1, LARGEST, &encoder->heads));
    CLF_TRY(clfi_json_get_int(config, where, "num_hidden_layers", 1, 4096, layers));
    CLF_TRY(clfi_json_get_int(config, where, "vocab_size", 1, INT32_MAX, &model->vocabulary));
    CLF_TRY(clfi_json_get_int(config, where, "max_position_embeddings", 1, LARGEST, &model->max_positions));
    CLF_TRY(clfi_json_opt_int(config, where, "type_vocab_size", 1, LARGEST, 2, &model->type_vocabulary));
    CLF_TRY(clfi_json_opt_number(config, where, "layer_norm_eps", 0, 1, 1e-12, &eps));
    CLF_TRY(clfi_json_opt_string(config, where, "position_embedding_type", "absolute", &positions));
    if (strcmp(positions, "absolute") != 0)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: position_embedding_type \"%s\": expected \"absolute\"", where, positions);
    if (encoder->width % encoder->heads != 0)
        CLF_FAIL(CLF_FORMAT, "%s: hidden_size %lld is not a multiple of num_attention_heads %lld", where, (long long)encoder->width,
                 (long long)encoder->heads);
    encoder->norm_eps = (float)eps;
    return clfi_model_config_activation(config, "hidden_act", "gelu", &encoder->activation);
}

static clf_status load_embeddings(bert *model)
{
    clf_weights *weights = model->weights;
    const int64_t c = model->encoder.width;
    CLF_TRY(clfi_weights_load(weights, "embeddings.word_embeddings.weight", 2, (int64_t[]){model->vocabulary, c}, &model->words));
    CLF_TRY(clfi_weights_load(weights, "embeddings.position_embeddings.weight", 2, (int64_t[]){model->max_positions, c},
                              &model->positions));
    CLF_TRY(clfi_weights_load(weights, "embeddings.token_type_embeddings.weight", 2, (int64_t[]){model->type_vocabulary, c},
                              &model->types));
    CLF_TRY(clfi_weights_load(weights, "embeddings.LayerNorm.weight", 1, &c, &model->norm_gamma));
    return clfi_weights_load(weights, "embeddings.LayerNorm.bias", 1, &c, &model->norm_beta);
}

/* One linear of `parts` weights side by side; the raw weights are let go of (an engine that uses them in place keeps a reference). */
static clf_status load_linear(clf_context *context, bert *model, int layer, int parts, const char *const *names, int64_t out_features,
                              int64_t in_features, clf_linear **out)
{
    enum { MAX_PARTS = 3 };
    clf_row_blocks weights[MAX_PARTS] = {CLF_ROW_BLOCKS_INIT}, biases[MAX_PARTS] = {CLF_ROW_BLOCKS_INIT};
    clf_status st = CLF_OK;
    for (int i = 0; i < parts; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s.weight", names[i]);
        CLF_GOTO(clfi_weights_load_layer(model->weights, name, layer, 2, (int64_t[]){out_features, in_features}, &weights[i]));
        snprintf(name, sizeof name, "%s.bias", names[i]);
        CLF_GOTO(clfi_weights_load_layer(model->weights, name, layer, 1, &out_features, &biases[i]));
    }
    CLF_GOTO(clfi_linear_create_blocks(context, parts, weights, biases, out));
    if (clfi_linear_is_packed(*out)) {
        CLF_GOTO(clf_context_finish(context)); /* the packing kernel still reads the file's pages */
        for (int i = 0; i < parts; i++) {
            char name[128];
            snprintf(name, sizeof name, "%s.weight", names[i]);
            clfi_weights_forget(model->weights, name, layer);
        }
    }
done:
    for (int i = 0; i < parts; i++) {
        clfi_row_blocks_clear(&weights[i]);
        clfi_row_blocks_clear(&biases[i]);
    }
    return st;
}

static clf_status load_norm(bert *model, int layer, const char *name, clf_row_blocks pair[2], clf_norm *out)
{
    static const char *const suffixes[2] = {"weight", "bias"};
    for (int i = 0; i < 2; i++) {
        char full[128];
        snprintf(full, sizeof full, "%s.%s", name, suffixes[i]);
        CLF_TRY(clfi_weights_load_layer(model->weights, full, layer, 1, &model->encoder.width, &pair[i]));
    }
    *out = (clf_norm){pair[0].view[0], pair[1].view[0]};
    return CLF_OK;
}

static clf_status load_layer(clf_context *context, bert *model, int i)
{
    static const char *const qkv[] = {"encoder.layer.%d.attention.self.query", "encoder.layer.%d.attention.self.key",
                                      "encoder.layer.%d.attention.self.value"};
    static const char *const output[] = {"encoder.layer.%d.attention.output.dense"};
    static const char *const ffn_in[] = {"encoder.layer.%d.intermediate.dense"};
    static const char *const ffn_out[] = {"encoder.layer.%d.output.dense"};
    clf_encoder_layer *layer = &model->encoder.layers[i];
    clf_row_blocks *norms = model->layer_norms + 4 * i;
    const int64_t c = model->encoder.width, f = model->encoder.hidden_width;
    CLF_TRY(load_linear(context, model, i, 3, qkv, c, c, &layer->qkv));
    CLF_TRY(load_linear(context, model, i, 1, output, c, c, &layer->output));
    CLF_TRY(load_linear(context, model, i, 1, ffn_in, f, c, &layer->ffn_in));
    CLF_TRY(load_linear(context, model, i, 1, ffn_out, c, f, &layer->ffn_out));
    CLF_TRY(load_norm(model, i, "encoder.layer.%d.attention.output.LayerNorm", norms, &layer->attention_norm));
    return load_norm(model, i, "encoder.layer.%d.output.LayerNorm", norms + 2, &layer->ffn_norm);
}

/* Before anything is loaded: does the checkpoint fit the device at all? */
static clf_status check_memory(const clf_context *context, const bert *model)
{
    const uint64_t need = clfi_weights_file_bytes(model->weights), have = context->device.info.global_memory_bytes;
    if (have && need > have)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "model: the weights take %llu MB, device %s has %llu MB", (unsigned long long)(need >> 20),
                 context->device.info.name, (unsigned long long)(have >> 20));
    return CLF_OK;
}

static clf_status bert_open(clf_context *context, const char *directory, const json_t *config, clf_model_info *info, void **out)
{
    static const char *const prefixes[] = {"", "bert.", NULL};
    enum { TYPICAL_ROWS = 1024 };
    bert *model;
    clf_status st;
    int64_t layers;
    CLF_TRY(clfi_alloc(1, sizeof *model, "model", &model));
    CLF_GOTO(read_config(config, model, &layers));
    CLF_GOTO(clfi_weights_open(context, directory, prefixes, "embeddings.word_embeddings.weight", &model->weights));
    CLF_GOTO(check_memory(context, model));
    CLF_GOTO(clfi_encoder_init(&model->encoder, layers));
    CLF_GOTO(clfi_alloc((size_t)layers * 4, sizeof *model->layer_norms, "layer norms", &model->layer_norms));
    CLF_GOTO(load_embeddings(model));
    for (int i = 0; i < layers; i++)
        CLF_GOTO(load_layer(context, model, i));
    info->layers = layers;
    info->width = model->encoder.width;
    info->hidden_width = model->encoder.hidden_width;
    info->heads = model->encoder.heads;
    info->vocabulary = model->vocabulary;
    info->max_positions = model->max_positions;
    info->type_vocabulary = model->type_vocabulary;
    info->parameters = clfi_weights_parameters(model->weights);
    info->file_bytes = clfi_weights_file_bytes(model->weights);
    info->linear_engine = clfi_linear_engine(context, model->encoder.layers[0].ffn_in, TYPICAL_ROWS);
    *out = model;
    return CLF_OK;
done:
    bert_destroy(model);
    return st;
}

static clf_status embed_tokens(clf_context *context, const bert *model, const clf_token_batch *batch, const clf_view *hidden)
{
    const clf_embedding_term terms[] = {
        {model->words.view, &batch->ids, model->words.count},
        {model->positions.view, &batch->positions, model->positions.count},
        {model->types.view, &batch->type_ids, model->types.count},
    };
    return clfi_embedding_layer_norm(context, terms, 3, 1.0f, model->norm_gamma.view, model->norm_beta.view, model->encoder.norm_eps, hidden);
}

static clf_status bert_encode(clf_context *context, const void *state, const clf_token_batch *batch, const clf_view *hidden)
{
    const bert *model = state;
    CLF_TRY(embed_tokens(context, model, batch, hidden));
    return clfi_encoder_forward(context, &model->encoder, batch->attention, hidden);
}

static clf_status bert_attention(clf_context *context, const void *state, const clf_token_batch *batch, int64_t layer, const clf_view *weights)
{
    const bert *model = state;
    const clf_arena_mark mark = clfi_arena_top(context);
    clf_view hidden;
    clf_status st;
    CLF_GOTO(clfi_view_temporary(context, CLF_F32, 2, (int64_t[]){batch->tokens, model->encoder.width}, &hidden));
    CLF_GOTO(embed_tokens(context, model, batch, &hidden));
    CLF_GOTO(clfi_encoder_weights(context, &model->encoder, batch->attention, layer, &hidden, weights));
done:
    clfi_arena_release(context, mark);
    return st;
}

const clf_architecture clfi_architecture_bert = {"bert", bert_open, bert_destroy, bert_encode, bert_attention};
