/* SPDX-License-Identifier: MIT */
/* The weights of the reference Transformer, as a list by name. */
#include "workload/reference_transformer.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

/* Adds a weight of zeros; *out is valid until the next one is added. INVALID_ARGUMENT: the name is too long, the rank above 3 or the
 * size too large. */
static clf_status add_weight(clfi_ref_weights *weights, const char *name, int rank, const int64_t *dim, clfi_ref_weight **out)
{
    size_t count = 1;
    clfi_ref_weight weight = {.rank = rank};
    if (rank < 0 || rank > (int)COUNT(weight.dim) || strlen(name) >= sizeof weight.name)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "reference: weight %s of rank %d", name, rank);
    memcpy(weight.name, name, strlen(name) + 1);
    for (int i = 0; i < rank; i++) {
        weight.dim[i] = dim[i];
        if (dim[i] < 0 || !clfi_mul_size(count, (size_t)dim[i], &count))
            CLF_FAIL(CLF_INVALID_ARGUMENT, "reference: weight %s of %lld elements", name, (long long)dim[i]);
    }
    CLF_TRY(clfi_grow(&weights->items, &weights->capacity, weights->count + 1, sizeof *weights->items, "reference weights"));
    CLF_TRY(clfi_alloc(count, sizeof *weight.value, "reference weight", &weight.value));
    weights->items[weights->count] = weight;
    *out = &weights->items[weights->count++];
    return CLF_OK;
}

static clf_status add_named(clfi_ref_weights *weights, const char *prefix, const char *name, int rank, const int64_t *dim)
{
    char full[2 * CLFI_REF_NAME_BYTES]; /* add_weight refuses longer names */
    clfi_ref_weight *added;
    snprintf(full, sizeof full, "%s%s", prefix, name);
    return add_weight(weights, full, rank, dim, &added);
}

/* dim: [out, in] of a linear layer, or the one size of a norm. */
static clf_status add_pair(clfi_ref_weights *weights, const char *prefix, const char *name, int rank, const int64_t *dim)
{
    char full[CLFI_REF_NAME_BYTES];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    CLF_TRY(add_named(weights, full, ".weight", rank, dim));
    return add_named(weights, full, ".bias", 1, dim);
}

static clf_status add_attention(clfi_ref_weights *weights, const char *prefix, const char *name, int64_t c)
{
    static const char *const parts[] = {"query.linear", "key.linear", "value.linear", "output"};
    char full[CLFI_REF_NAME_BYTES];
    for (size_t i = 0; i < COUNT(parts); i++) {
        snprintf(full, sizeof full, "%s.%s", name, parts[i]);
        CLF_TRY(add_pair(weights, prefix, full, 2, (int64_t[]){c, c}));
    }
    return CLF_OK;
}

static clf_status add_stack(clfi_ref_weights *weights, const clf_transformer_config *config, bool is_decoder)
{
    const char *stack = is_decoder ? "decoder." : "encoder.";
    const int64_t c = config->width, f = config->hidden_width, layers = is_decoder ? config->decoder_layers : config->encoder_layers;
    char prefix[48];
    for (int64_t i = 0; i < layers; i++) {
        snprintf(prefix, sizeof prefix, "%slayers.%d.", stack, (int)i);
        CLF_TRY(add_attention(weights, prefix, "self_attn", c));
        CLF_TRY(add_pair(weights, prefix, "norm_self_attn", 1, &c));
        if (is_decoder) {
            CLF_TRY(add_attention(weights, prefix, "src_attn", c));
            CLF_TRY(add_pair(weights, prefix, "norm_src_attn", 1, &c));
        }
        CLF_TRY(add_pair(weights, prefix, "feed_forward.layer1", 2, (int64_t[]){f, c}));
        if (config->is_gated)
            CLF_TRY(add_pair(weights, prefix, "feed_forward.linear_v", 2, (int64_t[]){f, c}));
        CLF_TRY(add_pair(weights, prefix, "feed_forward.layer2", 2, (int64_t[]){c, f}));
        CLF_TRY(add_pair(weights, prefix, "norm_ff", 1, &c));
    }
    return layers && config->has_final_norm ? add_pair(weights, stack, "norm", 1, &c) : CLF_OK;
}

clf_status clfi_ref_weights_add_all(clfi_ref_weights *weights, const clf_transformer_config *config)
{
    const int64_t c = config->width;
    for (int side = 0; side < 2; side++) {
        const int64_t vocabulary = side ? config->target_vocabulary : config->source_vocabulary;
        const int64_t positions = side ? config->max_target : config->max_source;
        const char *prefix = side ? "tgt_embed" : "src_embed";
        if (vocabulary == 0)
            continue;
        CLF_TRY(add_named(weights, prefix, ".linear.weight", 2, (int64_t[]){vocabulary, c}));
        if (config->has_embedding_norm)
            CLF_TRY(add_pair(weights, side ? "tgt_embed." : "src_embed.", "norm", 1, &c));
        if (config->positions == CLF_POSITIONS_LEARNED)
            CLF_TRY(add_named(weights, prefix, ".positional_encodings", 3, (int64_t[]){positions, 1, c}));
    }
    CLF_TRY(add_stack(weights, config, false));
    CLF_TRY(add_stack(weights, config, true));
    return config->has_generator ? add_pair(weights, "", "generator.projection", 2, (int64_t[]){config->target_vocabulary, c}) : CLF_OK;
}

void clfi_ref_weights_tie(clfi_ref_weights *weights, const clf_transformer_config *config)
{
    if (config->is_generator_tied)
        memcpy(clfi_ref_weights_find(weights, "generator.projection.weight")->value,
               clfi_ref_weights_find(weights, "tgt_embed.linear.weight")->value,
               (size_t)(config->target_vocabulary * config->width) * sizeof(float));
}

clf_status clfi_ref_weights_add_seeded(clfi_ref_weights *weights, const clf_transformer_config *config, uint64_t seed)
{
    const size_t before = weights->count;
    CLF_TRY(clfi_ref_weights_add_all(weights, config));
    for (size_t i = before; i < weights->count; i++) {
        clfi_ref_weight *w = &weights->items[i];
        clf_xavier_uniform(seed, w->name, w->rank, w->dim, w->value);
    }
    clfi_ref_weights_tie(weights, config);
    return CLF_OK;
}

clf_status clfi_ref_weights_load(clfi_ref_weights *weights, const clf_safetensors *file, const char *file_name, const char *name)
{
    const clf_file_tensor *tensor = clfi_safetensors_find(file, file_name);
    clfi_ref_weight *weight;
    if (!tensor)
        CLF_FAIL(CLF_NOT_FOUND, "reference: the checkpoint has no %s", file_name);
    CLF_TRY(add_weight(weights, name, tensor->rank, tensor->dim, &weight));
    const size_t step = clfi_file_dtype_bytes(tensor->dtype);
    return clfi_file_to_f32(tensor->dtype, false, tensor->data, (ptrdiff_t)step, tensor->bytes / step, weight->value);
}

const clfi_ref_weight *clfi_ref_weights_find(const clfi_ref_weights *weights, const char *name)
{
    for (size_t i = 0; i < weights->count; i++)
        if (strcmp(weights->items[i].name, name) == 0)
            return &weights->items[i];
    return NULL;
}

void clfi_ref_weights_free(clfi_ref_weights *weights)
{
    for (size_t i = 0; i < weights->count; i++)
        free(weights->items[i].value);
    free(weights->items);
    *weights = (clfi_ref_weights){0};
}
