/* SPDX-License-Identifier: MIT */
/* Random weights for the reference Transformer. */
#include "support/random_weights.h"

#include <stdio.h>

#include "support/check.h"
#include "support/rng.h"

static void add(clfi_ref_weights *w, rng *r, float range, const char *prefix, const char *suffix, int rank, int64_t d0, int64_t d1, int64_t d2)
{
    char name[CLFI_REF_NAME_BYTES];
    clfi_ref_weight *weight;
    snprintf(name, sizeof name, "%s%s", prefix, suffix);
    CHECK_OK(clfi_ref_weights_add(w, name, rank, (int64_t[]){d0, d1, d2}, &weight));
    const int64_t count = d0 * (rank > 1 ? d1 : 1) * (rank > 2 ? d2 : 1);
    const float middle = strstr(weight->name, "norm") && strstr(weight->name, "weight") ? 1.0f : 0.0f;
    for (int64_t i = 0; i < count; i++)
        weight->value[i] = middle + rng_uniform(r, -range, range);
}

static void add_linear(clfi_ref_weights *w, rng *r, float range, const char *prefix, const char *name, int64_t out, int64_t in)
{
    char full[CLFI_REF_NAME_BYTES];
    snprintf(full, sizeof full, "%s%s.weight", prefix, name);
    add(w, r, range, full, "", 2, out, in, 0);
    snprintf(full, sizeof full, "%s%s.bias", prefix, name);
    add(w, r, range, full, "", 1, out, 0, 0);
}

static void add_norm(clfi_ref_weights *w, rng *r, float range, const char *prefix, const char *name, int64_t c)
{
    char full[CLFI_REF_NAME_BYTES];
    snprintf(full, sizeof full, "%s%s.", prefix, name);
    add(w, r, range, full, "weight", 1, c, 0, 0);
    add(w, r, range, full, "bias", 1, c, 0, 0);
}

static void add_attention(clfi_ref_weights *w, rng *r, float range, const char *prefix, const char *name, int64_t c)
{
    static const char *const parts[] = {"query.linear", "key.linear", "value.linear", "output"};
    char full[CLFI_REF_NAME_BYTES];
    for (int i = 0; i < 4; i++) {
        snprintf(full, sizeof full, "%s.%s", name, parts[i]);
        add_linear(w, r, range, prefix, full, c, c);
    }
}

static void add_stack(clfi_ref_weights *w, rng *r, float range, const clf_transformer_config *config, bool is_decoder)
{
    const char *stack = is_decoder ? "decoder" : "encoder";
    const int64_t c = config->width, layers = is_decoder ? config->decoder_layers : config->encoder_layers;
    char prefix[48];
    for (int64_t i = 0; i < layers; i++) {
        snprintf(prefix, sizeof prefix, "%s.layers.%d.", stack, (int)i);
        add_attention(w, r, range, prefix, "self_attn", c);
        add_norm(w, r, range, prefix, "norm_self_attn", c);
        if (is_decoder) {
            add_attention(w, r, range, prefix, "src_attn", c);
            add_norm(w, r, range, prefix, "norm_src_attn", c);
        }
        add_linear(w, r, range, prefix, "feed_forward.layer1", config->hidden_width, c);
        if (config->is_gated)
            add_linear(w, r, range, prefix, "feed_forward.linear_v", config->hidden_width, c);
        add_linear(w, r, range, prefix, "feed_forward.layer2", c, config->hidden_width);
        add_norm(w, r, range, prefix, "norm_ff", c);
    }
    snprintf(prefix, sizeof prefix, "%s.", stack);
    if (layers && config->has_final_norm)
        add_norm(w, r, range, prefix, "norm", c);
}

void random_weights(const clf_transformer_config *config, uint64_t seed, float range, clfi_ref_weights *out)
{
    rng r = {seed};
    const int64_t c = config->width;
    *out = (clfi_ref_weights){0};
    for (int side = 0; side < 2; side++) {
        const int64_t vocabulary = side ? config->target_vocabulary : config->source_vocabulary;
        if (vocabulary == 0)
            continue;
        add(out, &r, range, side ? "tgt_embed" : "src_embed", ".linear.weight", 2, vocabulary, c, 0);
        if (config->has_embedding_norm)
            add_norm(out, &r, range, side ? "tgt_embed." : "src_embed.", "norm", c);
        if (config->positions == CLF_POSITIONS_LEARNED)
            add(out, &r, range, side ? "tgt_embed" : "src_embed", ".positional_encodings", 3, side ? config->max_target : config->max_source, 1,
                c);
    }
    add_stack(out, &r, range, config, false);
    add_stack(out, &r, range, config, true);
    if (config->has_generator)
        add_linear(out, &r, range, "", "generator.projection", config->target_vocabulary, c);
    if (config->is_generator_tied)
        memcpy(clfi_ref_weights_find(out, "generator.projection.weight")->value,
               clfi_ref_weights_find(out, "tgt_embed.linear.weight")->value, (size_t)(config->target_vocabulary * c) * sizeof(float));
}
