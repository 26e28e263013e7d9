/* SPDX-License-Identifier: MIT */
/* Encoders of BERT's kind in double: embeddings of token, position and type, the post-norm stack of the reference Transformer, pooling. */
#include "workload/reference_encoder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "io/safetensors.h"
#include "model/family.h"
#include "model/weight_lookup.h"
#include "workload/reference_transformer.h"

enum { SAFETY = 4, BUCKETS = 32 /* of MPNet, half of them for later keys */, MAX_DISTANCE = 128 };

static const double u = 0x1p-24;

/* Parts of a layer, in labml's names. */
static const struct {
    clf_weight_role role;
    const char *name;
} parts[] = {{CLF_WEIGHT_QUERY, "self_attn.query.linear"},  {CLF_WEIGHT_KEY, "self_attn.key.linear"},
             {CLF_WEIGHT_VALUE, "self_attn.value.linear"},  {CLF_WEIGHT_OUTPUT, "self_attn.output"},
             {CLF_WEIGHT_ATTENTION_NORM, "norm_self_attn"}, {CLF_WEIGHT_FFN_IN, "feed_forward.layer1"},
             {CLF_WEIGHT_FFN_OUT, "feed_forward.layer2"},   {CLF_WEIGHT_FFN_NORM, "norm_ff"}};

static const char words_name[] = "embeddings.words", positions_name[] = "embeddings.positions", types_name[] = "embeddings.types",
                  norm_name[] = "embeddings.norm", bias_name[] = "distance_bias";

struct clfi_ref_encoder {
    clf_embedding_config source;
    clf_transformer_config config;
    clf_pooling pooling;
    bool normalizes;
    clfi_ref_weights weights;
};

/* The checkpoint, and what its family calls weights: names are all that is shared with the library's own loader. */
typedef struct ref_names {
    const clf_safetensors *file;
    const clf_weight_name *rows;
    clf_weight_lookup lookup;
} ref_names;

static bool has_tensor(void *user, const char *name)
{
    return clfi_safetensors_find(user, name) != NULL;
}

/* Post-norm layers over learned positions, nothing else that a configuration may ask for. */
static bool is_of_berts_kind(const clf_network_config *network)
{
    const clf_stack_config *stack = &network->encoder;
    const clf_attention_shape *shape = &stack->attention;
    const clf_embedding_config *source = &network->source;
    return stack->layers > 0 && stack->place == CLF_NORM_POST && stack->norm == CLF_NORM_LAYER && !stack->has_final_norm &&
           !stack->is_gated && !stack->has_query_key_norm && !stack->divides_by_depth && clfi_stack_local_count(stack) == 0 &&
           shape->key_heads == shape->heads && shape->heads * shape->head_size == stack->width && shape->scale == 0 &&
           shape->rotary.base == 0 && shape->window == 0 && shape->soft_cap == 0 && !shape->is_causal &&
           (stack->buckets.count == 0 || (stack->buckets.count == BUCKETS && stack->buckets.max_distance == MAX_DISTANCE)) &&
           source->positions == CLF_POSITIONS_LEARNED && (source->skips_padding || source->position_offset == 0) && source->has_norm &&
           source->scale == 1;
}

static clf_status read_config(const char *directory, const json_t *json, clfi_ref_encoder *out, const clf_family **family, bool *has_bias)
{
    clf_network_config network;
    CLF_TRY(clfi_family_find(json, CLF_TASK_EMBED, family));
    CLF_TRY((*family)->read_config(json, &network));
    if (!is_of_berts_kind(&network))
        CLF_FAIL(CLF_UNSUPPORTED, "%s: model_type \"%s\": the reference computes encoders of BERT's kind alone", directory,
                 (*family)->model_type);
    out->source = network.source;
    out->config = (clf_transformer_config){.size = sizeof out->config,
                                           .width = network.encoder.width,
                                           .hidden_width = network.encoder.hidden_width,
                                           .heads = network.encoder.attention.heads,
                                           .encoder_layers = network.encoder.layers,
                                           .norm_eps = network.encoder.norm_eps,
                                           .activation = network.encoder.activation};
    *has_bias = network.encoder.buckets.count > 0;
    return CLF_OK;
}

/* The tensor of a role under the name `to`; suffix: "weight" or "bias". */
static clf_status load_one(clfi_ref_encoder *encoder, const ref_names *names, clf_weight_role role, int64_t layer, const char *suffix,
                           const char *to)
{
    char name[CLFI_WEIGHT_NAME_BYTES];
    const clf_weight_name *row = clfi_weight_find(&names->lookup, names->rows, role, layer);
    if (!row || row->role != role || (row->stored != CLF_STORED_PLAIN && row->stored != CLF_STORED_GAMMA))
        CLF_FAIL(CLF_UNSUPPORTED, "reference: %s is not stored by itself", to);
    clfi_weight_full_name(names->lookup.prefix, row, layer, suffix, name);
    return clfi_ref_weights_load(&encoder->weights, names->file, name, to);
}

static clf_status load_pair(clfi_ref_encoder *encoder, const ref_names *names, clf_weight_role role, int64_t layer, const char *to)
{
    static const char *const kinds[] = {"weight", "bias"};
    char name[2 * CLFI_REF_NAME_BYTES];
    for (size_t i = 0; i < COUNT(kinds); i++) {
        snprintf(name, sizeof name, "%s.%s", to, kinds[i]);
        CLF_TRY(load_one(encoder, names, role, layer, kinds[i], name));
    }
    return CLF_OK;
}

static clf_status load_weights(clfi_ref_encoder *encoder, const ref_names *names, bool has_bias)
{
    char to[CLFI_REF_NAME_BYTES];
    CLF_TRY(load_one(encoder, names, CLF_WEIGHT_TOKENS, 0, "weight", words_name));
    CLF_TRY(load_one(encoder, names, CLF_WEIGHT_POSITIONS, 0, "weight", positions_name));
    if (encoder->source.types > 0)
        CLF_TRY(load_one(encoder, names, CLF_WEIGHT_TYPES, 0, "weight", types_name));
    if (has_bias)
        CLF_TRY(load_one(encoder, names, CLF_WEIGHT_DISTANCE_BIAS, 0, "weight", bias_name));
    CLF_TRY(load_pair(encoder, names, CLF_WEIGHT_EMBEDDING_NORM, 0, norm_name));
    for (int64_t layer = 0; layer < encoder->config.encoder_layers; layer++)
        for (size_t i = 0; i < COUNT(parts); i++) {
            snprintf(to, sizeof to, "encoder.layers.%lld.%s", (long long)layer, parts[i].name);
            CLF_TRY(load_pair(encoder, names, parts[i].role, layer, to));
        }
    return CLF_OK;
}

clf_status clfi_ref_encoder_open(const char *directory, const clf_model_info *info, clfi_ref_encoder **out)
{
    clfi_ref_encoder *encoder;
    json_t *config = NULL;
    clf_safetensors *file = NULL;
    const clf_family *family;
    bool has_bias;
    clf_status st;
    if (info->poolings != 1 || info->layers_after > 0 || info->embedding_width != info->width)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: modules.json: the reference has one pooling and no layers after it", directory);
    CLF_TRY(clfi_alloc(1, sizeof *encoder, "reference encoder", &encoder));
    encoder->pooling = info->pooling;
    encoder->normalizes = info->normalize != 0;
    CLF_GOTO(clfi_model_config_read(directory, &config));
    CLF_GOTO(read_config(directory, config, encoder, &family, &has_bias));
    CLF_GOTO(clfi_safetensors_open_directory(directory, &file));
    ref_names names = {.file = file, .rows = family->names->encoder, .lookup = {has_tensor, file, ""}};
    names.lookup.prefix = clfi_weight_prefix(&names.lookup, family->names);
    CLF_GOTO(load_weights(encoder, &names, has_bias));
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
    const int32_t padding = encoder->source.padding;
    size_t last = (size_t)padding;
    for (size_t t = 0; t < length; t++) {
        const size_t place = !encoder->source.skips_padding ? t : ids[t] == padding ? (size_t)padding : ++last;
        if (ids[t] < 0 || ids[t] >= words->dim[0] || (int64_t)place >= positions->dim[0])
            CLF_FAIL(CLF_INVALID_ARGUMENT, "reference: token %d at %zu is outside the tables", (int)ids[t], t);
        for (size_t i = 0; i < c; i++) {
            const double word = (double)words->value[(size_t)ids[t] * c + i], position = (double)positions->value[place * c + i];
            const double type = types ? (double)types->value[i] : 0;
            x[t * c + i] = clfi_ref_rounded(noise, word + position + type, 2 * u * (fabs(word) + fabs(position) + fabs(type)));
        }
    }
    return clfi_ref_norm(&encoder->weights, "", norm_name, (int64_t)length, (int64_t)c, (double)encoder->config.norm_eps, x, x, noise);
}

/* What a sum over tokens is divided by. */
static double divisor(clf_pooling pooling, size_t length)
{
    const double count = (double)length;
    switch (pooling) {
    case CLF_POOLING_MEAN:
        return count;
    case CLF_POOLING_MEAN_SQRT_LEN:
        return sqrt(count);
    case CLF_POOLING_WEIGHTED_MEAN:
        return count * (count + 1) / 2;
    default:
        return 1;
    }
}

/* The sequence's vector. */
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
        out[i] /= divisor(encoder->pooling, length);
        square += out[i] * out[i];
    }
    for (size_t i = 0; encoder->normalizes && square > 0 && i < c; i++)
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
    double *disturbed, worst = 0, largest = 0;
    CLF_TRY(clfi_alloc(c, sizeof *disturbed, "reference", &disturbed));
    clf_status st = run_pass(encoder, ids, length, NULL, out);
    if (st == CLF_OK)
        st = run_pass(encoder, ids, length, &noise, disturbed);
    for (size_t i = 0; st == CLF_OK && i < c; i++) {
        worst = fmax(worst, fabs(disturbed[i] - out[i]));
        largest = fmax(largest, fabs(out[i]));
    }
    free(disturbed);
    *bound = SAFETY * worst + u * fmax(1, largest);
    return st;
}
