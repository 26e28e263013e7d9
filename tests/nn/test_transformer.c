/* SPDX-License-Identifier: MIT */
/* Encoder, decoder and generator against float64, in every configuration and layout with every kind of mask; name maps; the seeded
 * initialisation; refusals are test_transformer_limits.c's. Results of torch.nn.Transformer are test_torch_golden.c's, of transformers
 * model/test_huggingface.c's. */
#include "support/check.h"
#include "support/device.h"
#include "support/operand.h"
#include "support/random_weights.h"
#include "support/small_transformer.h"

#include <stdio.h>
#include <stdlib.h>

#define XAVIER_FIRST -0.238354117f
#define XAVIER_LAST -0.00777924201f

static clf_transformer *build(clf_context *context, const clf_transformer_config *config, const clfi_ref_weights *weights)
{
    static tensor_list list;
    clf_transformer *made;
    list_labml(context, config, weights, &list);
    CHECK_OK(clf_transformer_create(context, config, CLF_NAMES_LABML, list.named, list.count, &made));
    list_free(&list);
    return made;
}

/* Masks of a case: the tensors, and what they mean for each query, head and key. */
typedef struct mask_case {
    clf_attention_masks masks;
    clf_tensor *owned[3];
    bool keep[N * H * S * S];
} mask_case;

enum mask_kind { MASK_NONE, MASK_CAUSAL, MASK_PADDING, MASK_PADDING_CAUSAL, MASK_ATTENTION, MASK_GENERAL, MASK_GENERAL_SHARED };

static const int lengths[N] = {7, 3, 0}; /* the last sequence has no key at all: rows of zeros */

static void make_masks(clf_context *context, enum mask_kind kind, clf_layout order, int64_t queries, int64_t keys, mask_case *out)
{
    uint8_t padding[N * S], attention[S * S], general[N * H * S * S];
    rng r = {99 + (uint64_t)kind};
    *out = (mask_case){.masks = CLF_ATTENTION_MASKS_INIT};
    for (int64_t n = 0; n < N; n++)
        for (int64_t j = 0; j < keys; j++)
            padding[n * keys + j] = j < lengths[n] ? 7 : 0;
    for (int64_t i = 0; i < N * H * queries * keys; i++)
        general[i] = rng_below(&r, 4) > 0;
    for (int64_t i = 0; i < queries * keys; i++)
        attention[i] = rng_below(&r, 3) > 0;
    const bool has_padding = kind == MASK_PADDING || kind == MASK_PADDING_CAUSAL,
               is_causal = kind == MASK_CAUSAL || kind == MASK_PADDING_CAUSAL;
    /* Shared: one row of keys for all queries and heads, in labml's [1,K,N] where the sequence comes first. */
    const bool is_shared = kind == MASK_GENERAL_SHARED, is_labml = is_shared && order == CLF_LAYOUT_LND;
    if (has_padding)
        out->masks.padding_mask = out->owned[0] = make_u8(context, 2, (int64_t[]){N, keys}, padding);
    if (kind == MASK_ATTENTION)
        out->masks.attention_mask = out->owned[1] = make_u8(context, 2, (int64_t[]){queries, keys}, attention);
    if (kind == MASK_GENERAL)
        out->masks.mask = out->owned[2] = make_u8(context, 4, (int64_t[]){N, H, queries, keys}, general);
    if (is_labml)
        out->masks.mask = out->owned[2] = make_u8(context, 3, (int64_t[]){1, keys, N}, general);
    else if (is_shared)
        out->masks.mask = out->owned[2] = make_u8(context, 4, (int64_t[]){N, 1, 1, keys}, general);
    out->masks.is_causal = is_causal;
    for (int64_t n = 0; n < N; n++) {
        for (int64_t h = 0; h < H; h++) {
            for (int64_t i = 0; i < queries; i++) {
                for (int64_t j = 0; j < keys; j++) {
                    const int64_t at = ((n * H + h) * queries + i) * keys + j;
                    out->keep[at] = (!has_padding || padding[n * keys + j]) && (!is_causal || j <= i) &&
                                    (kind != MASK_ATTENTION || attention[i * keys + j]) && (kind != MASK_GENERAL || general[at]) &&
                                    (!is_shared || general[is_labml ? j * N + n : n * keys + j]);
                }
            }
        }
    }
}

static void masks_free(mask_case *masks)
{
    for (size_t i = 0; i < COUNT(masks->owned); i++)
        clf_tensor_destroy(masks->owned[i]);
}

static void make_tokens(uint64_t seed, int64_t count, int64_t vocabulary, int32_t *out)
{
    rng r = {seed};
    for (int64_t i = 0; i < count; i++)
        out[i] = (int32_t)rng_below(&r, vocabulary);
}

/* Everything in one configuration: memory, features, logits, log-probabilities; apart and in one call. */
static void check_network(clf_context *context, const char *id, const clf_transformer_config *config, clf_layout order,
                          enum mask_kind source_kind, enum mask_kind target_kind)
{
    static clfi_ref_weights weights;
    static double memory[N * S * C], features[N * T * C], logits[N * T * TARGET_V];
    static mask_case encoder_masks, source_masks, target_masks;
    int32_t source_tokens[N * S], target_tokens[N * T];
    const bool shared = source_kind != MASK_GENERAL && source_kind != MASK_ATTENTION && source_kind != MASK_CAUSAL &&
                        source_kind != MASK_PADDING_CAUSAL; /* the same masks fit both attentions to the sources */
    random_weights(config, 1234, 0.3f, &weights);
    make_tokens(1, N * S, SOURCE_V, source_tokens);
    make_tokens(2, N * T, TARGET_V, target_tokens);
    make_masks(context, source_kind, order, S, S, &encoder_masks);
    make_masks(context, source_kind, order, T, S, &source_masks);
    make_masks(context, target_kind, order, T, T, &target_masks);
    CHECK_OK(clfi_ref_embed(config, &weights, false, N, S, source_tokens, memory));
    CHECK_OK(clfi_ref_embed(config, &weights, true, N, T, target_tokens, features));
    CHECK_OK(clfi_ref_stack(config, &weights, false, &(clfi_ref_batch){N, S, T, encoder_masks.keep, NULL, NULL}, NULL, memory, NULL));
    CHECK_OK(clfi_ref_stack(config, &weights, true, &(clfi_ref_batch){N, S, T, target_masks.keep, source_masks.keep, NULL}, memory,
                            features, NULL));

    clf_transformer *network = build(context, config, &weights);
    clf_tensor *source = sequence(context, order, CLF_I32, S, 1, source_tokens),
               *target = sequence(context, order, CLF_I32, T, 1, target_tokens);
    clf_tensor *memory_out = output(context, order, S, C), *features_out = output(context, order, T, C);
    clf_tensor *logits_out = output(context, order, T, TARGET_V);
    char name[160];
    CHECK_OK(clf_transformer_encode(network, order, source, &encoder_masks.masks, NULL, memory_out));
    snprintf(name, sizeof name, "%s memory", id);
    check_sequence(name, memory_out, order, S, C, memory);
    CHECK_OK(clf_transformer_decode(network, order, memory_out, &source_masks.masks, target, &target_masks.masks, NULL, features_out));
    snprintf(name, sizeof name, "%s features", id);
    check_sequence(name, features_out, order, T, C, features);
    for (int is_log = 0; is_log < 2; is_log++) {
        CHECK_OK(clfi_ref_generate(config, &weights, N * T, features, is_log, logits, NULL));
        CHECK_OK(clf_transformer_generate(network, features_out, is_log, logits_out));
        snprintf(name, sizeof name, "%s %s", id, is_log ? "log-softmax" : "logits");
        check_sequence(name, logits_out, order, T, TARGET_V, logits);
    }
    if (shared) {
        clf_tensor_destroy(features_out);
        features_out = output(context, order, T, C);
        CHECK_OK(clf_transformer_forward(network, order, source, target, &source_masks.masks, &target_masks.masks, NULL, features_out));
        snprintf(name, sizeof name, "%s forward", id);
        check_sequence(name, features_out, order, T, C, features);
    }
    clf_tensor_destroy(source);
    clf_tensor_destroy(target);
    clf_tensor_destroy(memory_out);
    clf_tensor_destroy(features_out);
    clf_tensor_destroy(logits_out);
    clf_transformer_destroy(network);
    masks_free(&encoder_masks);
    masks_free(&source_masks);
    masks_free(&target_masks);
    clfi_ref_weights_free(&weights);
}

static void test_configurations(void **state)
{
    const clf_activation activations[] = {CLF_ACTIVATION_RELU, CLF_ACTIVATION_GELU, CLF_ACTIVATION_SILU};
    for (int i = 0; i < (only_small_cases() ? 3 : 24); i++) {
        clf_transformer_config config = base_config;
        char id[128];
        config.norm_first = i % 2;
        config.is_gated = i / 2 % 2;
        config.activation = activations[i % 3];
        config.has_final_norm = i % 2 || i / 4 % 2; /* pre-norm without the last norm as well */
        if (i >= 16)
            config.has_final_norm = 0;
        config.decoder_layers = i % 5 == 4 ? 1 : 2; /* an odd number of residual blocks */
        config.positions = (clf_positions)((i + i / 4) % CLF_POSITIONS_COUNT);
        config.embedding_scale = i % 3 == 1 ? 0.5f : 0.0f;
        config.has_embedding_norm = i / 3 % 2;
        config.is_generator_tied = i % 5 == 2;
        snprintf(id, sizeof id, "transformer[%s %s%s final=%d positions=%d scale=%g norm=%d tied=%d layers=%d]",
                 config.norm_first ? "pre" : "post", clf_activation_name(config.activation), config.is_gated ? " gated" : "",
                 config.has_final_norm, (int)config.positions, (double)config.embedding_scale, config.has_embedding_norm,
                 config.is_generator_tied, (int)config.decoder_layers);
        check_network(*state, id, &config, i % 2 ? CLF_LAYOUT_NLD : CLF_LAYOUT_LND, MASK_NONE, MASK_CAUSAL);
    }
}

static void test_masks(void **state)
{
    static const char *const names[] = {"none", "causal", "padding", "padding+causal", "attention", "general", "keys"};
    for (int order = 0; order < 2; order++) {
        for (int kind = MASK_NONE; kind <= MASK_GENERAL_SHARED; kind += only_small_cases() ? 3 : 1) {
            char id[96];
            snprintf(id, sizeof id, "transformer[%s mask=%s]", order == CLF_LAYOUT_NLD ? "nld" : "lnd", names[kind]);
            check_network(*state, id, &base_config, (clf_layout)order, (enum mask_kind)kind, (enum mask_kind)((kind + 3) % 7));
        }
    }
}

/* The same weights under torch's and Hugging Face's names. */
static void rename_weight(clf_context *context, const char *const (*rules)[2], size_t rule_count, const clfi_ref_weight *w,
                          tensor_list *list)
{
    char name[CLFI_REF_NAME_BYTES + 32];
    snprintf(name, sizeof name, "%s", w->name);
    for (size_t i = 0; i < rule_count; i++) {
        char *at = strstr(name, rules[i][0]), tail[CLFI_REF_NAME_BYTES + 32];
        if (!at)
            continue;
        snprintf(tail, sizeof tail, "%s", at + strlen(rules[i][0]));
        snprintf(at, sizeof name - (size_t)(at - name), "%s%s", rules[i][1], tail);
    }
    list_add(context, list, name, w->rank, w->dim, w->value);
}

static void list_huggingface(clf_context *context, const clfi_ref_weights *weights, tensor_list *list)
{
    static const char *const rules[][2] = {{"encoder.", "model.encoder."},
                                           {"decoder.", "model.decoder."},
                                           {"src_embed.linear", "model.encoder.embed_tokens"},
                                           {"tgt_embed.linear", "model.decoder.embed_tokens"},
                                           {"norm_self_attn", "self_attn_layer_norm"},
                                           {"norm_src_attn", "encoder_attn_layer_norm"},
                                           {"src_attn.", "encoder_attn."},
                                           {"query.linear", "q_proj"},
                                           {"key.linear", "k_proj"},
                                           {"value.linear", "v_proj"},
                                           {"attn.output", "attn.out_proj"},
                                           {"norm_ff", "final_layer_norm"},
                                           {"feed_forward.layer1", "fc1"},
                                           {"feed_forward.layer2", "fc2"},
                                           {"coder.norm", "coder.layer_norm"},
                                           {"generator.projection", "lm_head"}};
    list->count = 0;
    for (size_t i = 0; i < weights->count; i++)
        rename_weight(context, rules, COUNT(rules), &weights->items[i], list);
}

/* Query, key and value as one in_proj. */
static void add_in_proj(clf_context *context, const clfi_ref_weights *weights, const char *from, const char *to, tensor_list *list)
{
    static const char *const parts[] = {"query", "key", "value"};
    float fused[3 * C * C], bias[3 * C];
    char name[CLFI_REF_NAME_BYTES + 32];
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s.%s.linear.weight", from, parts[i]);
        memcpy(fused + i * C * C, clfi_ref_weights_find(weights, name)->value, C * C * sizeof *fused);
        snprintf(name, sizeof name, "%s.%s.linear.bias", from, parts[i]);
        memcpy(bias + i * C, clfi_ref_weights_find(weights, name)->value, C * sizeof *bias);
    }
    snprintf(name, sizeof name, "%s.in_proj_weight", to);
    list_add(context, list, name, 2, (int64_t[]){3 * C, C}, fused);
    snprintf(name, sizeof name, "%s.in_proj_bias", to);
    list_add(context, list, name, 1, (int64_t[]){3 * C}, bias);
}

static void list_torch(clf_context *context, const clfi_ref_weights *weights, tensor_list *list)
{
    static const char *const rules[][2] = {
        {"src_embed.linear", "src_embed"},  {"tgt_embed.linear", "tgt_embed"},  {"norm_self_attn", "norm1"},
        {"norm_src_attn", "norm2"},         {"src_attn.", "multihead_attn."},   {"attn.output", "attn.out_proj"},
        {"feed_forward.layer1", "linear1"}, {"feed_forward.layer2", "linear2"}, {"generator.projection", "generator"}};
    list->count = 0;
    for (size_t i = 0; i < weights->count; i++) {
        clfi_ref_weight w = weights->items[i];
        if (strstr(w.name, ".linear.") && strstr(w.name, "attn"))
            continue;
        char *norm = strstr(w.name, "norm_ff");
        if (norm) { /* the third norm of a decoder layer, the second of an encoder layer */
            char tail[CLFI_REF_NAME_BYTES];
            snprintf(tail, sizeof tail, "%s", norm + strlen("norm_ff"));
            snprintf(norm, sizeof w.name - (size_t)(norm - w.name), "norm%d%s", w.name[0] == 'd' ? 3 : 2, tail);
        }
        rename_weight(context, rules, COUNT(rules), &w, list);
    }
    for (int i = 0; i < base_config.encoder_layers; i++) {
        char from[64], to[64];
        snprintf(from, sizeof from, "encoder.layers.%d.self_attn", i);
        add_in_proj(context, weights, from, from, list);
        snprintf(from, sizeof from, "decoder.layers.%d.self_attn", i);
        add_in_proj(context, weights, from, from, list);
        snprintf(from, sizeof from, "decoder.layers.%d.src_attn", i);
        snprintf(to, sizeof to, "decoder.layers.%d.multihead_attn", i);
        add_in_proj(context, weights, from, to, list);
    }
}

static void test_name_maps(void **state)
{
    static clfi_ref_weights weights;
    static tensor_list list;
    static float want[N * T * C], got[N * T * C];
    clf_context *context = *state;
    int32_t source_tokens[N * S], target_tokens[N * T];
    make_tokens(1, N * S, SOURCE_V, source_tokens);
    make_tokens(2, N * T, TARGET_V, target_tokens);
    random_weights(&base_config, 77, 0.3f, &weights);
    for (int names = 0; names < CLF_NAMES_COUNT; names++) {
        clf_transformer *network;
        clf_tensor *source = sequence(context, CLF_LAYOUT_NLD, CLF_I32, S, 1, source_tokens);
        clf_tensor *target = sequence(context, CLF_LAYOUT_NLD, CLF_I32, T, 1, target_tokens), *out = output(context, CLF_LAYOUT_NLD, T, C);
        if (names == CLF_NAMES_LABML)
            list_labml(context, &base_config, &weights, &list);
        else
            (names == CLF_NAMES_TORCH ? list_torch : list_huggingface)(context, &weights, &list);
        CHECK_OK(clf_transformer_create(context, &base_config, (clf_weight_names)names, list.named, list.count, &network));
        list_free(&list);
        CHECK_OK(clf_transformer_forward(network, CLF_LAYOUT_NLD, source, target, NULL, NULL, NULL, out));
        CHECK_OK(clf_tensor_read_f32(out, names == CLF_NAMES_LABML ? want : got, COUNT(got)));
        for (size_t i = 0; names != CLF_NAMES_LABML && i < COUNT(got); i++)
            CHECK(within(got[i], want[i], 1e-6), "names %d: element %zu: %.9g, labml's %.9g", names, i, (double)got[i], (double)want[i]);
        clf_tensor_destroy(source);
        clf_tensor_destroy(target);
        clf_tensor_destroy(out);
        clf_transformer_destroy(network);
    }
    clfi_ref_weights_free(&weights);
}

static void test_seeded_initialisation(void **state)
{
    enum { ROWS = 40, COLUMNS = 60 };
    float a[ROWS * COLUMNS], b[ROWS * COLUMNS];
    const int64_t dim[2] = {ROWS, COLUMNS};
    const double limit = sqrt(6.0 / (ROWS + COLUMNS));
    double sum = 0, squares = 0, largest = 0;
    clf_xavier_uniform(5, "generator.projection.weight", 2, dim, a);
    /* Fixed for all time: other numbers would be another initialisation. */
    CHECK(within(a[0], XAVIER_FIRST, 0) && within(a[ROWS * COLUMNS - 1], XAVIER_LAST, 0), "first %.9g, last %.9g", (double)a[0],
          (double)a[ROWS * COLUMNS - 1]);
    clf_xavier_uniform(5, "generator.projection.weight", 2, dim, b);
    assert_memory_equal(a, b, sizeof a);
    for (size_t i = 0; i < COUNT(a); i++) {
        sum += a[i];
        squares += (double)a[i] * a[i];
        largest = fmax(largest, fabs((double)a[i]));
    }
    const double n = COUNT(a), variance = limit * limit / 3;
    assert_true(largest <= limit && largest > 0.99 * limit);
    CHECK(within(sum / n, 0, 4 * sqrt(variance / n)), "mean %g", sum / n);
    /* kurtosis of a uniform: 9/5 */
    CHECK(within(squares / n, variance, 4 * variance * sqrt(0.8 / n)), "variance %g, want %g", squares / n, variance);
    clf_xavier_uniform(6, "generator.projection.weight", 2, dim, b);
    assert_memory_not_equal(a, b, sizeof a);
    clf_xavier_uniform(5, "encoder.norm.bias", 1, dim, b);
    assert_true(b[0] == 0.0f && b[ROWS - 1] == 0.0f);
    clf_xavier_uniform(5, "encoder.norm.weight", 1, dim, b);
    assert_true(b[0] == 1.0f && b[ROWS - 1] == 1.0f);

    /* The network is built from these numbers. */
    static clfi_ref_weights weights;
    static double features[N * T * C], memory[N * S * C];
    int32_t source_tokens[N * S], target_tokens[N * T];
    clf_transformer *network;
    clf_transformer_config config = base_config;
    config.positions = CLF_POSITIONS_LEARNED;
    config.has_embedding_norm = 1;
    make_tokens(1, N * S, SOURCE_V, source_tokens);
    make_tokens(2, N * T, TARGET_V, target_tokens);
    CHECK_OK(clfi_ref_weights_add_seeded(&weights, &config, 31));
    CHECK_OK(clfi_ref_embed(&config, &weights, false, N, S, source_tokens, memory));
    CHECK_OK(clfi_ref_embed(&config, &weights, true, N, T, target_tokens, features));
    CHECK_OK(clfi_ref_stack(&config, &weights, false, &(clfi_ref_batch){N, S, T, NULL, NULL, NULL}, NULL, memory, NULL));
    CHECK_OK(clfi_ref_stack(&config, &weights, true, &(clfi_ref_batch){N, S, T, NULL, NULL, NULL}, memory, features, NULL));
    CHECK_OK(clf_transformer_create_random(*state, &config, 31, &network));
    assert_int_equal(clf_transformer_get_config(network)->positions, CLF_POSITIONS_LEARNED);
    assert_int_equal(clf_transformer_get_config(network)->hidden_width, config.hidden_width);
    clf_tensor *source = sequence(*state, CLF_LAYOUT_NLD, CLF_I32, S, 1, source_tokens);
    clf_tensor *target = sequence(*state, CLF_LAYOUT_NLD, CLF_I32, T, 1, target_tokens), *out = output(*state, CLF_LAYOUT_NLD, T, C);
    CHECK_OK(clf_transformer_forward(network, CLF_LAYOUT_NLD, source, target, NULL, NULL, NULL, out));
    check_sequence("seeded", out, CLF_LAYOUT_NLD, T, C, features);
    clf_tensor_destroy(source);
    clf_tensor_destroy(target);
    clf_tensor_destroy(out);
    clf_transformer_destroy(network);
    clfi_ref_weights_free(&weights);
}

static void test_embedding_and_vectors(void **state)
{
    static clfi_ref_weights weights;
    static double want[N * S * C];
    static float vectors[N * S * C];
    int32_t tokens[N * S];
    clf_transformer_config config = base_config;
    for (int positions = 0; positions < CLF_POSITIONS_COUNT; positions++) {
        config.positions = (clf_positions)positions;
        config.embedding_scale = positions == CLF_POSITIONS_NONE ? 1.0f : 0.0f;
        config.has_embedding_norm = positions == CLF_POSITIONS_LEARNED;
        random_weights(&config, 3, 0.3f, &weights);
        make_tokens(1, N * S, SOURCE_V, tokens);
        CHECK_OK(clfi_ref_embed(&config, &weights, false, N, S, tokens, want));
        clf_transformer *network = build(*state, &config, &weights);
        for (int order = 0; order < 2; order++) {
            clf_tensor *ids = sequence(*state, (clf_layout)order, CLF_I32, S, 1, tokens), *out = output(*state, (clf_layout)order, S, C);
            CHECK_OK(clf_transformer_embed(network, 0, (clf_layout)order, ids, out));
            check_sequence("embedding", out, (clf_layout)order, S, C, want);
            /* Vectors that are already embedded give what their tokens give. */
            for (int i = 0; i < N * S * C; i++)
                vectors[i] = (float)want[i];
            clf_tensor *embedded = sequence(*state, (clf_layout)order, CLF_F32, S, C, vectors);
            double memory[N * S * C];
            memcpy(memory, want, sizeof memory);
            CHECK_OK(clfi_ref_stack(&config, &weights, false, &(clfi_ref_batch){N, S, T, NULL, NULL, NULL}, NULL, memory, NULL));
            CHECK_OK(clf_transformer_encode(network, (clf_layout)order, embedded, NULL, NULL, out));
            check_sequence("vectors", out, (clf_layout)order, S, C, memory);
            clf_tensor_destroy(embedded);
            clf_tensor_destroy(ids);
            clf_tensor_destroy(out);
        }
        clf_transformer_destroy(network);
        clfi_ref_weights_free(&weights);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_configurations),
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_name_maps),
        cmocka_unit_test(test_seeded_initialisation),
        cmocka_unit_test(test_embedding_and_vectors),
    };
    return cmocka_run_group_tests_name("nn.transformer", tests, device_setup, device_teardown);
}
