/* SPDX-License-Identifier: MIT */
/* Reference Transformer. */
#include "support/ref_transformer.h"

#include "support/check.h"
#include "bench/reference_attention.h"
#include "bench/reference_gemm.h"
#include "support/rng.h"

#include <stdio.h>
#include <stdlib.h>

static void add(ref_weights *w, rng *r, float range, const char *prefix, const char *suffix, int rank, int64_t d0, int64_t d1, int64_t d2)
{
    assert_true(w->count < REF_MOST_WEIGHTS);
    ref_weight *weight = &w->weight[w->count++];
    snprintf(weight->name, sizeof weight->name, "%s%s", prefix, suffix);
    weight->rank = rank;
    weight->dim[0] = d0;
    weight->dim[1] = d1;
    weight->dim[2] = d2;
    const int64_t count = d0 * (rank > 1 ? d1 : 1) * (rank > 2 ? d2 : 1);
    const float middle = strstr(weight->name, "norm") && strstr(weight->name, "weight") ? 1.0f : 0.0f;
    weight->value = malloc((size_t)count * sizeof *weight->value);
    assert_non_null(weight->value);
    for (int64_t i = 0; i < count; i++)
        weight->value[i] = middle + rng_uniform(r, -range, range);
}

static void add_linear(ref_weights *w, rng *r, float range, const char *prefix, const char *name, int64_t out, int64_t in)
{
    char full[REF_NAME_BYTES];
    snprintf(full, sizeof full, "%s%s.weight", prefix, name);
    add(w, r, range, full, "", 2, out, in, 0);
    snprintf(full, sizeof full, "%s%s.bias", prefix, name);
    add(w, r, range, full, "", 1, out, 0, 0);
}

static void add_norm(ref_weights *w, rng *r, float range, const char *prefix, const char *name, int64_t c)
{
    char full[REF_NAME_BYTES];
    snprintf(full, sizeof full, "%s%s.", prefix, name);
    add(w, r, range, full, "weight", 1, c, 0, 0);
    add(w, r, range, full, "bias", 1, c, 0, 0);
}

static void add_attention(ref_weights *w, rng *r, float range, const char *prefix, const char *name, int64_t c)
{
    static const char *const parts[] = {"query.linear", "key.linear", "value.linear", "output"};
    char full[REF_NAME_BYTES];
    for (int i = 0; i < 4; i++) {
        snprintf(full, sizeof full, "%s.%s", name, parts[i]);
        add_linear(w, r, range, prefix, full, c, c);
    }
}

static void add_stack(ref_weights *w, rng *r, float range, const clf_transformer_config *config, bool is_decoder)
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

void ref_weights_make(const clf_transformer_config *config, uint64_t seed, float range, ref_weights *out)
{
    rng r = {seed};
    const int64_t c = config->width;
    out->count = 0;
    for (int side = 0; side < 2; side++) {
        const int64_t vocabulary = side ? config->target_vocabulary : config->source_vocabulary;
        if (vocabulary == 0)
            continue;
        add(out, &r, range, side ? "tgt_embed" : "src_embed", ".linear.weight", 2, vocabulary, c, 0);
        if (config->positions == CLF_POSITIONS_LEARNED)
            add(out, &r, range, side ? "tgt_embed" : "src_embed", ".positional_encodings", 3, side ? config->max_target : config->max_source, 1,
                c);
    }
    add_stack(out, &r, range, config, false);
    add_stack(out, &r, range, config, true);
    if (config->has_generator)
        add_linear(out, &r, range, "", "generator.projection", config->target_vocabulary, c);
}

void ref_weights_free(ref_weights *weights)
{
    for (int i = 0; i < weights->count; i++)
        free(weights->weight[i].value);
    weights->count = 0;
}

const ref_weight *ref_weights_find(const ref_weights *weights, const char *name)
{
    for (int i = 0; i < weights->count; i++)
        if (strcmp(weights->weight[i].name, name) == 0)
            return &weights->weight[i];
    fail_msg("no reference weight %s", name);
    return NULL;
}

static double *room(int64_t count)
{
    double *values = calloc((size_t)(count > 0 ? count : 1), sizeof *values);
    assert_non_null(values);
    return values;
}

/* y [rows,out] = f(x W^T + b) */
static void linear(const ref_weights *w, const char *prefix, const char *name, int64_t rows, const double *x, clf_activation activation, double *y)
{
    char full[REF_NAME_BYTES];
    snprintf(full, sizeof full, "%s%s.weight", prefix, name);
    const ref_weight *weight = ref_weights_find(w, full);
    snprintf(full, sizeof full, "%s%s.bias", prefix, name);
    const ref_weight *bias = ref_weights_find(w, full);
    const int64_t out = weight->dim[0], in = weight->dim[1];
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t o = 0; o < out; o++) {
            double sum = bias->value[o];
            for (int64_t i = 0; i < in; i++)
                sum += x[r * in + i] * (double)weight->value[o * in + i];
            y[r * out + o] = clfi_ref_activation(activation, sum);
        }
    }
}

static void norm(const ref_weights *w, const char *prefix, const char *name, int64_t rows, int64_t c, double eps, const double *x, double *y)
{
    char full[REF_NAME_BYTES];
    snprintf(full, sizeof full, "%s%s.weight", prefix, name);
    const ref_weight *gain = ref_weights_find(w, full);
    snprintf(full, sizeof full, "%s%s.bias", prefix, name);
    const ref_weight *shift = ref_weights_find(w, full);
    for (int64_t r = 0; r < rows; r++) {
        double mean = 0, variance = 0;
        for (int64_t i = 0; i < c; i++)
            mean += x[r * c + i] / (double)c;
        for (int64_t i = 0; i < c; i++)
            variance += (x[r * c + i] - mean) * (x[r * c + i] - mean) / (double)c;
        for (int64_t i = 0; i < c; i++)
            y[r * c + i] = (x[r * c + i] - mean) / sqrt(variance + eps) * (double)gain->value[i] + (double)shift->value[i];
    }
}

/* y [N,Q,C] = MHA(queries [N,Q,C], keys [N,K,C]) */
static void attention(const clf_transformer_config *config, const ref_weights *w, const char *prefix, int64_t batch, int64_t queries, int64_t keys,
                      const double *from, const double *to, const bool *keep, double *y)
{
    const int64_t c = config->width, heads = config->heads, d = c / heads;
    double *q = room(batch * queries * c), *k = room(batch * keys * c), *v = room(batch * keys * c), *mixed = room(batch * queries * c);
    double *head_k = room(keys * d), *head_v = room(keys * d), *bound = room(d);
    linear(w, prefix, "query.linear", batch * queries, from, CLF_ACTIVATION_NONE, q);
    linear(w, prefix, "key.linear", batch * keys, to, CLF_ACTIVATION_NONE, k);
    linear(w, prefix, "value.linear", batch * keys, to, CLF_ACTIVATION_NONE, v);
    for (int64_t n = 0; n < batch; n++) {
        for (int64_t h = 0; h < heads; h++) {
            for (int64_t j = 0; j < keys; j++) {
                memcpy(head_k + j * d, k + (n * keys + j) * c + h * d, (size_t)d * sizeof *k);
                memcpy(head_v + j * d, v + (n * keys + j) * c + h * d, (size_t)d * sizeof *v);
            }
            for (int64_t i = 0; i < queries; i++)
                CHECK_OK(clfi_ref_attention_row(q + (n * queries + i) * c + h * d, head_k, head_v,
                                                keep ? keep + ((n * heads + h) * queries + i) * keys : NULL, (size_t)keys, (size_t)d,
                                                (size_t)d, 1.0 / sqrt((double)d), CLF_EMPTY_ROWS_ZERO, mixed + (n * queries + i) * c + h * d,
                                                bound));
        }
    }
    linear(w, prefix, "output", batch * queries, mixed, CLF_ACTIVATION_NONE, y);
    free(q);
    free(k);
    free(v);
    free(mixed);
    free(head_k);
    free(head_v);
    free(bound);
}

static void feed_forward(const clf_transformer_config *config, const ref_weights *w, const char *prefix, int64_t rows, const double *x, double *y)
{
    const int64_t f = config->hidden_width;
    double *hidden = room(rows * f), *gate = room(rows * f);
    linear(w, prefix, "feed_forward.layer1", rows, x, config->activation, hidden);
    if (config->is_gated) {
        linear(w, prefix, "feed_forward.linear_v", rows, x, CLF_ACTIVATION_NONE, gate);
        for (int64_t i = 0; i < rows * f; i++)
            hidden[i] *= gate[i];
    }
    linear(w, prefix, "feed_forward.layer2", rows, hidden, CLF_ACTIVATION_NONE, y);
    free(hidden);
    free(gate);
}

void ref_stack(const clf_transformer_config *config, const ref_weights *w, bool is_decoder, const ref_batch *b, const double *memory, double *x)
{
    static const char *const norms[] = {"norm_self_attn", "norm_src_attn", "norm_ff"};
    const int64_t c = config->width, layers = is_decoder ? config->decoder_layers : config->encoder_layers;
    const int64_t length = is_decoder ? b->target_length : b->source_length, rows = b->batch * length;
    double *z = room(rows * c), *y = room(rows * c);
    char prefix[48], part[64];
    for (int64_t layer = 0; layer < layers; layer++) {
        snprintf(prefix, sizeof prefix, "%s.layers.%d.", is_decoder ? "decoder" : "encoder", (int)layer);
        for (int block = 0; block < 3; block++) {
            if (block == 1 && !is_decoder)
                continue;
            if (config->norm_first)
                norm(w, prefix, norms[block], rows, c, (double)config->norm_eps, x, z);
            else
                memcpy(z, x, (size_t)(rows * c) * sizeof *z);
            snprintf(part, sizeof part, "%s%s.", prefix, block == 0 ? "self_attn" : "src_attn");
            if (block == 0)
                attention(config, w, part, b->batch, length, length, z, z, b->keep_self, y);
            else if (block == 1)
                attention(config, w, part, b->batch, length, b->source_length, z, memory, b->keep_source, y);
            else
                feed_forward(config, w, prefix, rows, z, y);
            for (int64_t i = 0; i < rows * c; i++)
                x[i] += y[i];
            if (!config->norm_first) {
                norm(w, prefix, norms[block], rows, c, (double)config->norm_eps, x, z);
                memcpy(x, z, (size_t)(rows * c) * sizeof *z);
            }
        }
    }
    if (layers && config->has_final_norm) {
        norm(w, is_decoder ? "decoder." : "encoder.", "norm", rows, c, (double)config->norm_eps, x, z);
        memcpy(x, z, (size_t)(rows * c) * sizeof *z);
    }
    free(z);
    free(y);
}

void ref_embed(const clf_transformer_config *config, const ref_weights *w, bool is_target, int64_t batch, int64_t length, const int32_t *tokens,
               double *x)
{
    const int64_t c = config->width;
    const ref_weight *table = ref_weights_find(w, is_target ? "tgt_embed.linear.weight" : "src_embed.linear.weight");
    const ref_weight *learned = config->positions == CLF_POSITIONS_LEARNED
                                    ? ref_weights_find(w, is_target ? "tgt_embed.positional_encodings" : "src_embed.positional_encodings")
                                    : NULL;
    for (int64_t t = 0; t < batch * length; t++) {
        for (int64_t i = 0; i < c; i++) {
            const double angle = (double)(t % length) * exp(-(double)(i / 2 * 2) * log(10000.0) / (double)c);
            const double sinusoid = config->positions == CLF_POSITIONS_SINUSOIDAL ? (i % 2 ? cos(angle) : sin(angle)) : 0.0;
            x[t * c + i] = (double)table->value[tokens[t] * c + i] * sqrt((double)c) +
                           (learned ? (double)learned->value[t % length * c + i] : sinusoid);
        }
    }
}

void ref_generate(const clf_transformer_config *config, const ref_weights *w, int64_t rows, const double *features, bool is_log, double *logits)
{
    const int64_t v = config->target_vocabulary;
    linear(w, "", "generator.projection", rows, features, CLF_ACTIVATION_NONE, logits);
    for (int64_t r = 0; is_log && r < rows; r++) {
        double largest = -INFINITY, sum = 0;
        for (int64_t i = 0; i < v; i++)
            largest = fmax(largest, logits[r * v + i]);
        for (int64_t i = 0; i < v; i++)
            sum += exp(logits[r * v + i] - largest);
        for (int64_t i = 0; i < v; i++)
            logits[r * v + i] -= largest + log(sum);
    }
}
