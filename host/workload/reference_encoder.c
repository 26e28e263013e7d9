/* SPDX-License-Identifier: MIT */
/* Encoders of BERT's kind in double: embeddings of token, position and type, the post-norm stack of the reference Transformer, pooling. */
#include "workload/reference_encoder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "io/json.h"
#include "model/model_config.h"
#include "workload/reference_transformer.h"

enum { SAFETY = 4, BUCKETS = 32 /* of MPNet, half of them for later keys */ };

static const double u = 0x1p-24;

/* Weights of a layer, from the checkpoint's name to labml's. */
typedef const char *part_names[2];
static const part_names bert_parts[] = {{"attention.self.query", "self_attn.query.linear"},
                                        {"attention.self.key", "self_attn.key.linear"},
                                        {"attention.self.value", "self_attn.value.linear"},
                                        {"attention.output.dense", "self_attn.output"},
                                        {"attention.output.LayerNorm", "norm_self_attn"},
                                        {"intermediate.dense", "feed_forward.layer1"},
                                        {"output.dense", "feed_forward.layer2"},
                                        {"output.LayerNorm", "norm_ff"}};
static const part_names mpnet_parts[] = {{"attention.attn.q", "self_attn.query.linear"}, {"attention.attn.k", "self_attn.key.linear"},
                                         {"attention.attn.v", "self_attn.value.linear"}, {"attention.attn.o", "self_attn.output"},
                                         {"attention.LayerNorm", "norm_self_attn"},      {"intermediate.dense", "feed_forward.layer1"},
                                         {"output.dense", "feed_forward.layer2"},        {"output.LayerNorm", "norm_ff"}};
_Static_assert(sizeof bert_parts == sizeof mpnet_parts, "the same parts");

typedef struct ref_family {
    const char *model_type, *prefix;
    const part_names *parts;
    bool has_types, skips_padding; /* positions as RoBERTa's: from the one after the padding's id, without padding tokens */
    int64_t padding;               /* its id, -1: as config.json has it */
} ref_family;

static const ref_family families[] = {{"bert", "bert.", bert_parts, true, false, -1},
                                      {"roberta", "roberta.", bert_parts, true, true, -1},
                                      {"xlm-roberta", "roberta.", bert_parts, true, true, -1},
                                      {"camembert", "roberta.", bert_parts, true, true, -1},
                                      {"mpnet", "mpnet.", mpnet_parts, false, true, 1}};

static const char words_name[] = "embeddings.word_embeddings.weight", positions_name[] = "embeddings.position_embeddings.weight",
                  types_name[] = "embeddings.token_type_embeddings.weight", bias_name[] = "encoder.relative_attention_bias.weight";

struct clfi_ref_encoder {
    const ref_family *family;
    clf_transformer_config config;
    clf_pooling pooling;
    int64_t padding;
    clfi_ref_weights weights;
};

static clf_status read_config(const json_t *json, const clf_model_info *info, clfi_ref_encoder *out)
{
    double eps;
    CLF_TRY(clfi_json_opt_number(json, "config.json", "layer_norm_eps", 0, 1, 1e-12, &eps));
    CLF_TRY(clfi_json_opt_int(json, "config.json", "pad_token_id", 0, CLFI_CONFIG_LARGEST, 1, &out->padding));
    if (out->family->padding >= 0)
        out->padding = out->family->padding;
    out->config = (clf_transformer_config){.size = sizeof out->config,
                                           .width = info->width,
                                           .hidden_width = info->hidden_width,
                                           .heads = info->heads,
                                           .encoder_layers = info->layers,
                                           .norm_eps = (float)eps};
    return clfi_model_config_activation(json, "hidden_act", "gelu", &out->config.activation);
}

static clf_status find_family(const char *directory, const clf_model_info *info, const ref_family **out)
{
    for (size_t i = 0; i < COUNT(families); i++)
        if (strcmp(families[i].model_type, info->architecture) == 0) {
            *out = &families[i];
            return CLF_OK;
        }
    CLF_FAIL(CLF_UNSUPPORTED, "%s: model_type \"%s\": the reference computes bert, roberta, xlm-roberta, camembert and mpnet", directory,
             info->architecture);
}

/* Weight and bias of one part of a layer, from Hugging Face's name to labml's. */
static clf_status load_pair(clfi_ref_encoder *encoder, const clf_safetensors *file, const char *from, const char *to)
{
    static const char *const kinds[] = {"weight", "bias"};
    char file_name[2 * CLFI_REF_NAME_BYTES], name[2 * CLFI_REF_NAME_BYTES];
    for (size_t i = 0; i < COUNT(kinds); i++) {
        snprintf(file_name, sizeof file_name, "%s.%s", from, kinds[i]);
        snprintf(name, sizeof name, "%s.%s", to, kinds[i]);
        CLF_TRY(clfi_ref_weights_load(&encoder->weights, file, file_name, name));
    }
    return CLF_OK;
}

static clf_status load_weights(clfi_ref_encoder *encoder, const clf_safetensors *file)
{
    const ref_family *family = encoder->family;
    const char *const tables[] = {words_name, positions_name, family->has_types ? types_name : bias_name};
    const char *prefix = clfi_safetensors_find(file, tables[0]) ? "" : family->prefix;
    char from[CLFI_REF_NAME_BYTES], to[CLFI_REF_NAME_BYTES];
    for (size_t i = 0; i < COUNT(tables); i++) {
        snprintf(from, sizeof from, "%s%s", prefix, tables[i]);
        CLF_TRY(clfi_ref_weights_load(&encoder->weights, file, from, tables[i]));
    }
    snprintf(from, sizeof from, "%sembeddings.LayerNorm", prefix);
    CLF_TRY(load_pair(encoder, file, from, "embeddings.LayerNorm"));
    for (int64_t layer = 0; layer < encoder->config.encoder_layers; layer++) {
        for (size_t i = 0; i < COUNT(bert_parts); i++) {
            snprintf(from, sizeof from, "%sencoder.layer.%lld.%s", prefix, (long long)layer, family->parts[i][0]);
            snprintf(to, sizeof to, "encoder.layers.%lld.%s", (long long)layer, family->parts[i][1]);
            CLF_TRY(load_pair(encoder, file, from, to));
        }
    }
    return CLF_OK;
}

clf_status clfi_ref_encoder_open(const char *directory, const clf_model_info *info, clfi_ref_encoder **out)
{
    clfi_ref_encoder *encoder;
    json_t *config = NULL;
    clf_safetensors *file = NULL;
    clf_status st;
    if (info->poolings > 1 || info->layers_after > 0)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: modules.json: the reference has one pooling and no layers after it", directory);
    const ref_family *family = NULL;
    CLF_TRY(find_family(directory, info, &family));
    CLF_TRY(clfi_alloc(1, sizeof *encoder, "reference encoder", &encoder));
    encoder->family = family;
    encoder->pooling = info->pooling;
    CLF_GOTO(clfi_model_config_read(directory, &config));
    CLF_GOTO(read_config(config, info, encoder));
    CLF_GOTO(clfi_safetensors_open_directory(directory, &file));
    CLF_GOTO(load_weights(encoder, file));
done:
    json_decref(config);
    clfi_safetensors_close(file);
    if (st != CLF_OK) {
        clfi_ref_encoder_close(encoder);
        return st;
    }
    *out = encoder;
    return CLF_OK;
}

void clfi_ref_encoder_close(clfi_ref_encoder *encoder)
{
    if (!encoder)
        return;
    clfi_ref_weights_free(&encoder->weights);
    free(encoder);
}

static clf_status embed_tokens(const clfi_ref_encoder *encoder, const int32_t *ids, size_t length, double *x, clfi_ref_noise *noise)
{
    const size_t c = (size_t)encoder->config.width;
    const clfi_ref_weight *words = clfi_ref_weights_find(&encoder->weights, words_name);
    const clfi_ref_weight *positions = clfi_ref_weights_find(&encoder->weights, positions_name);
    const clfi_ref_weight *types = clfi_ref_weights_find(&encoder->weights, types_name);
    size_t last = (size_t)encoder->padding;
    for (size_t t = 0; t < length; t++) {
        const size_t place = !encoder->family->skips_padding ? t : ids[t] == encoder->padding ? (size_t)encoder->padding : ++last;
        if (ids[t] < 0 || ids[t] >= words->dim[0] || (int64_t)place >= positions->dim[0])
            CLF_FAIL(CLF_INVALID_ARGUMENT, "reference: token %d at %zu is outside the tables", (int)ids[t], t);
        for (size_t i = 0; i < c; i++) {
            const double word = (double)words->value[(size_t)ids[t] * c + i], position = (double)positions->value[place * c + i];
            const double type = types ? (double)types->value[i] : 0;
            x[t * c + i] = clfi_ref_rounded(noise, word + position + type, 2 * u * (fabs(word) + fabs(position) + fabs(type)));
        }
    }
    return clfi_ref_norm(&encoder->weights, "", "embeddings.LayerNorm", (int64_t)length, (int64_t)c, (double)encoder->config.norm_eps, x, x,
                         noise);
}

/* The sequence's vector, of norm 1. The mean over sqrt(length) points the same way as the mean, and the sum as both. */
static void pool(const clfi_ref_encoder *encoder, const double *x, size_t length, double *out)
{
    const size_t c = (size_t)encoder->config.width;
    double square = 0;
    for (size_t i = 0; i < c; i++) {
        out[i] = x[(encoder->pooling == CLF_POOLING_LAST ? length - 1 : 0) * c + i];
        for (size_t t = 1; encoder->pooling != CLF_POOLING_CLS && encoder->pooling != CLF_POOLING_LAST && t < length; t++)
            out[i] = encoder->pooling == CLF_POOLING_MAX             ? fmax(out[i], x[t * c + i])
                     : encoder->pooling == CLF_POOLING_WEIGHTED_MEAN ? out[i] + (double)(t + 1) * x[t * c + i]
                                                                     : out[i] + x[t * c + i];
        square += out[i] * out[i];
    }
    for (size_t i = 0; square > 0 && i < c; i++)
        out[i] /= sqrt(square);
}

/* T5's buckets, two-sided: half of them for later keys; in each half one for each of 8 distances, then eight that grow by sqrt(2). */
static int64_t bucket_of(int64_t distance)
{
    const int64_t half = BUCKETS / 2, exact = half / 2, far = distance < 0 ? -distance : distance;
    int64_t bucket = far < exact ? far : exact;
    while (far >= exact && bucket < half - 1 && far * far >= exact * exact << (bucket - exact + 1))
        bucket++;
    return bucket + (distance > 0 ? half : 0);
}

/* [heads, 2 length + 1] of scores by distance; NULL where the family has none. */
static clf_status spread_bias(const clfi_ref_encoder *encoder, int64_t length, double **out)
{
    const clfi_ref_weight *table = clfi_ref_weights_find(&encoder->weights, bias_name);
    const int64_t heads = encoder->config.heads;
    *out = NULL;
    if (!table)
        return CLF_OK;
    CLF_TRY(clfi_alloc((size_t)(heads * (2 * length + 1)), sizeof **out, "reference", out));
    for (int64_t h = 0; h < heads; h++)
        for (int64_t d = -length; d <= length; d++)
            (*out)[h * (2 * length + 1) + d + length] = (double)table->value[bucket_of(d) * heads + h];
    return CLF_OK;
}

static clf_status run_pass(const clfi_ref_encoder *encoder, const int32_t *ids, size_t length, clfi_ref_noise *noise, double *out)
{
    double *x, *bias;
    CLF_TRY(spread_bias(encoder, (int64_t)length, &bias));
    const clfi_ref_extras extras = {.distance_bias = bias, .reach = (int64_t)length};
    const clfi_ref_batch batch = {.batch = 1, .source_length = (int64_t)length, .extras = bias ? &extras : NULL};
    clf_status st = clfi_alloc(length * (size_t)encoder->config.width, sizeof *x, "reference", &x);
    if (st != CLF_OK) {
        free(bias);
        return st;
    }
    st = embed_tokens(encoder, ids, length, x, noise);
    if (st == CLF_OK)
        st = clfi_ref_stack(&encoder->config, &encoder->weights, false, &batch, NULL, x, noise);
    if (st == CLF_OK)
        pool(encoder, x, length, out);
    free(bias);
    free(x);
    return st;
}

clf_status clfi_ref_encoder_embed(const clfi_ref_encoder *encoder, const int32_t *ids, size_t length, double *out, double *bound)
{
    const size_t c = (size_t)encoder->config.width;
    clfi_ref_noise noise = {1};
    double *disturbed, worst = 0;
    CLF_TRY(clfi_alloc(c, sizeof *disturbed, "reference", &disturbed));
    clf_status st = run_pass(encoder, ids, length, NULL, out);
    if (st == CLF_OK)
        st = run_pass(encoder, ids, length, &noise, disturbed);
    for (size_t i = 0; st == CLF_OK && i < c; i++)
        worst = fmax(worst, fabs(disturbed[i] - out[i]));
    free(disturbed);
    *bound = SAFETY * worst + u;
    return st;
}
