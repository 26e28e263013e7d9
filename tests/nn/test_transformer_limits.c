/* SPDX-License-Identifier: MIT */
/* Transformers that are refused, with the reason, and a device whose allocations are small. */
#include <stdio.h>
#include <stdlib.h>

#include "support/check.h"
#include "support/device.h"
#include "support/random_weights.h"
#include "support/small_transformer.h"

#include "nn/layer.h"
#include "runtime/context.h"

static void test_local_layers(void **state)
{
    static const int64_t local[] = {0, 65, 130};
    static clf_stack_config config = {.layers = 200};
    (void)state;
    for (size_t i = 0; i < COUNT(local); i++)
        clfi_stack_set_local(&config, local[i]);
    assert_int_equal(clfi_stack_local_count(&config), COUNT(local));
    for (int64_t i = 0; i < config.layers; i++) {
        const bool is_local = i == 0 || i == 65 || i == 130;
        CHECK(clfi_stack_attention(&config, i) == (is_local ? &config.local : &config.attention), "layer %lld", (long long)i);
    }
}

static void test_refusals(void **state)
{
    static clfi_ref_weights weights;
    static tensor_list list;
    clf_context *context = *state;
    clf_transformer_config config = base_config;
    clf_transformer *network = NULL, *other;
    int32_t tokens[N * S] = {0}, bad[N * S] = {0};
    random_weights(&config, 3, 0.3f, &weights);
    list_labml(context, &config, &weights, &list);
    bad[5] = SOURCE_V;
    clf_tensor *ids = sequence(context, CLF_LAYOUT_NLD, CLF_I32, S, 1, tokens),
               *bad_ids = sequence(context, CLF_LAYOUT_NLD, CLF_I32, S, 1, bad);
    clf_tensor *memory = output(context, CLF_LAYOUT_NLD, S, C), *narrow = output(context, CLF_LAYOUT_NLD, S, C / 2);
    clf_tensor *features = output(context, CLF_LAYOUT_NLD, S, C), *short_features = output(context, CLF_LAYOUT_NLD, T, C);
    clf_tensor *long_ids, *mask3, *mask2, *float_mask;
    CHECK_OK(clf_tensor_create_from(context, CLF_I32, 2, (int64_t[]){1, 10}, tokens, &long_ids));
    const uint8_t ones[S * S * N] = {0};
    mask3 = make_u8(context, 3, (int64_t[]){S, S, N}, ones);
    mask2 = make_u8(context, 2, (int64_t[]){N, S}, ones);
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){N, 1}, (float[N]){0}, &float_mask));

    struct {
        int64_t *field;
        int64_t value;
        const char *part;
    } sizes[] = {{&config.width, 0, "width"},
                 {&config.heads, 5, "heads"},
                 {&config.encoder_layers, -1, "encoder_layers"},
                 {&config.max_target, 0, "max_target"},
                 {&config.hidden_width, 0, "hidden_width"}};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        const int64_t old = *sizes[i].field;
        *sizes[i].field = sizes[i].value;
        CHECK_FAILS(clf_transformer_create(context, &config, CLF_NAMES_LABML, list.named, list.count, &network), CLF_INVALID_ARGUMENT,
                    "E_SHAPE");
        CHECK(strstr(clf_last_error(), sizes[i].part), "%s: %s", sizes[i].part, clf_last_error());
        *sizes[i].field = old;
    }
    config.hidden_width = F + 1;
    CHECK_FAILS(clf_transformer_create(context, &config, CLF_NAMES_LABML, list.named, list.count, &network), CLF_INVALID_ARGUMENT,
                "feed_forward.layer1.weight: expected [49,32], found [48,32]");
    config.hidden_width = F;
    config.is_gated = 1;
    CHECK_FAILS(clf_transformer_create(context, &config, CLF_NAMES_LABML, list.named, list.count, &network), CLF_NOT_FOUND, "linear_v");
    config.is_gated = 0;
    config.has_embedding_norm = 1;
    CHECK_FAILS(clf_transformer_create(context, &config, CLF_NAMES_LABML, list.named, list.count, &network), CLF_NOT_FOUND,
                "src_embed.norm.weight");
    CHECK_FAILS(clf_transformer_create(context, &base_config, (clf_weight_names)9, list.named, list.count, &network), CLF_INVALID_ARGUMENT,
                "names 9");
    CHECK_FAILS(clf_transformer_create(context, NULL, CLF_NAMES_LABML, list.named, list.count, &network), CLF_INVALID_ARGUMENT, "NULL");
    assert_null(network);

    CHECK_OK(clf_transformer_create(context, &base_config, CLF_NAMES_LABML, list.named, list.count, &network));
    CHECK_FAILS(clf_transformer_encode(network, CLF_LAYOUT_NLD, bad_ids, NULL, NULL, memory), CLF_INVALID_ARGUMENT,
                "E_VALUE: transformer source: token 11");
    CHECK_FAILS(clf_transformer_encode(network, CLF_LAYOUT_NLD, long_ids, NULL, NULL, memory), CLF_INVALID_ARGUMENT,
                "there are 9 positions");
    CHECK_FAILS(clf_transformer_encode(network, CLF_LAYOUT_NLD, ids, NULL, NULL, narrow), CLF_INVALID_ARGUMENT,
                "E_SHAPE: transformer memory");
    CHECK_FAILS(clf_transformer_encode(network, CLF_LAYOUT_LND, ids, NULL, NULL, NULL), CLF_INVALID_ARGUMENT, "memory");
    CHECK_FAILS(clf_transformer_encode(network, (clf_layout)4, ids, NULL, NULL, memory), CLF_INVALID_ARGUMENT, "E_VALUE: layout 4");
    const struct {
        clf_attention_masks masks;
        const char *reason;
    } refused[] = {
        {{.size = sizeof(clf_attention_masks), .mask = mask3}, "E_SHAPE: source mask is ["},
        {{.size = sizeof(clf_attention_masks), .mask = mask2}, "E_SHAPE: source mask is ["},
        {{.size = sizeof(clf_attention_masks), .attention_mask = mask2}, "E_SHAPE"},
        {{.size = sizeof(clf_attention_masks), .padding_mask = float_mask}, "E_DTYPE"},
        {{.mask = mask2}, "clf_attention_masks: its member size is 0"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        CHECK_FAILS(clf_transformer_encode(network, CLF_LAYOUT_NLD, ids, &refused[i].masks, NULL, memory), CLF_INVALID_ARGUMENT,
                    refused[i].reason);
    clf_attention_masks garbage;
    memset(&garbage, 0xaa, sizeof garbage);
    garbage.size = 0;
    CHECK_FAILS(clf_transformer_encode(network, CLF_LAYOUT_LND, ids, &garbage, NULL, memory), CLF_INVALID_ARGUMENT,
                "clf_attention_masks: its member size is 0");
    garbage.size = sizeof garbage.size; /* an older struct, which has no masks */
    CHECK_OK(clf_transformer_encode(network, CLF_LAYOUT_LND, ids, &garbage, NULL, memory));
    CHECK_FAILS(clf_transformer_decode(network, CLF_LAYOUT_NLD, memory, NULL, ids, NULL, NULL, short_features), CLF_INVALID_ARGUMENT,
                "E_SHAPE: transformer features");
    CHECK_FAILS(clf_transformer_decode(network, CLF_LAYOUT_NLD, memory, NULL, long_ids, NULL, NULL, features), CLF_INVALID_ARGUMENT,
                "E_VALUE");
    CHECK_FAILS(clf_transformer_generate(network, narrow, 0, features), CLF_INVALID_ARGUMENT, "E_SHAPE: generator");
    CHECK_FAILS(clf_transformer_generate(network, ids, 0, features), CLF_INVALID_ARGUMENT, "E_DTYPE: transformer: features is int32");
    clf_tensor *repeated;
    CHECK_OK(clf_tensor_view(memory, 3, (int64_t[]){N, S, C}, (int64_t[]){0, C, 1}, 0, &repeated));
    CHECK_FAILS(clf_transformer_encode(network, CLF_LAYOUT_NLD, ids, NULL, NULL, repeated), CLF_INVALID_ARGUMENT,
                "E_SHAPE: transformer: memory has a stride of 0 along axis 0");
    clf_tensor_destroy(repeated);
    CHECK_FAILS(clf_transformer_embed(network, 1, CLF_LAYOUT_NLD, memory, features), CLF_INVALID_ARGUMENT, "E_DTYPE");
    clf_transformer_destroy(network);

    /* A memory for a network whose layers have no source attention; parts that are left out. */
    config = base_config;
    config.decoder_layers = 0;
    config.source_vocabulary = 0;
    config.has_generator = 0;
    CHECK_OK(clf_transformer_create(context, &config, CLF_NAMES_LABML, list.named, list.count, &other));
    CHECK_FAILS(clf_transformer_decode(other, CLF_LAYOUT_NLD, memory, NULL, ids, NULL, NULL, features), CLF_INVALID_ARGUMENT,
                "source attention");
    CHECK_FAILS(clf_transformer_encode(other, CLF_LAYOUT_NLD, ids, NULL, NULL, memory), CLF_INVALID_ARGUMENT, "no embedding");
    CHECK_FAILS(clf_transformer_generate(other, memory, 0, features), CLF_INVALID_ARGUMENT, "no generator");
    clf_transformer_destroy(other);

    list_free(&list);
    clfi_ref_weights_free(&weights);
    clf_tensor *const all[] = {ids, bad_ids, memory, narrow, features, short_features, long_ids, mask3, mask2, float_mask};
    for (size_t i = 0; i < COUNT(all); i++)
        clf_tensor_destroy(all[i]);
}

/* A NULL among the tensors is no absent bias, and a name stands for one tensor. */
static void test_lists(void **state)
{
    static clfi_ref_weights weights;
    static tensor_list list;
    clf_transformer *network = NULL;
    random_weights(&base_config, 3, 0.3f, &weights);
    list_labml(*state, &base_config, &weights, &list);
    const clf_named_tensor last = list.named[list.count - 1];
    char reason[256];
    list.named[list.count - 1].tensor = NULL;
    snprintf(reason, sizeof reason, "weights: %s: the tensor is NULL", last.name);
    CHECK_FAILS(clf_transformer_create(*state, &base_config, CLF_NAMES_LABML, list.named, list.count, &network), CLF_INVALID_ARGUMENT,
                reason);
    list.named[list.count - 1] = (clf_named_tensor){NULL, last.tensor};
    CHECK_FAILS(clf_transformer_create(*state, &base_config, CLF_NAMES_LABML, list.named, list.count, &network), CLF_INVALID_ARGUMENT,
                "weights: the name of tensor ");
    list.named[list.count - 1] = list.named[0];
    snprintf(reason, sizeof reason, "E_VALUE: weights: tensors 0 and %zu are both called %s", list.count - 1, list.named[0].name);
    CHECK_FAILS(clf_transformer_create(*state, &base_config, CLF_NAMES_LABML, list.named, list.count, &network), CLF_INVALID_ARGUMENT,
                reason);
    assert_null(network);
    list_free(&list);
    clfi_ref_weights_free(&weights);
}

/* A network keeps its numbers when the tensors that it was made from change; these may lie in any order. */
static void test_copies(void **state)
{
    static clfi_ref_weights weights;
    static tensor_list list;
    static float before[N * S * C], after[N * S * C], table[SOURCE_V * C], turned_table[C * SOURCE_V];
    clf_transformer *network, *turned_network;
    clf_tensor *columns, *turned;
    int32_t tokens[N * S];
    size_t at = 0;
    for (int i = 0; i < N * S; i++)
        tokens[i] = i % SOURCE_V;
    random_weights(&base_config, 3, 0.3f, &weights);
    list_labml(*state, &base_config, &weights, &list);
    clf_tensor *ids = sequence(*state, CLF_LAYOUT_NLD, CLF_I32, S, 1, tokens), *memory = output(*state, CLF_LAYOUT_NLD, S, C);
    CHECK_OK(clf_transformer_create(*state, &base_config, CLF_NAMES_LABML, list.named, list.count, &network));
    CHECK_OK(clf_transformer_encode(network, CLF_LAYOUT_NLD, ids, NULL, NULL, memory));
    CHECK_OK(clf_tensor_read_f32(memory, before, COUNT(before)));
    while (strcmp(list.names[at], "src_embed.linear.weight") != 0)
        assert_true(++at < list.count);
    CHECK_OK(clf_tensor_read_f32(list.tensor[at], table, COUNT(table)));
    for (int i = 0; i < SOURCE_V * C; i++)
        turned_table[i % C * SOURCE_V + i / C] = table[i];
    CHECK_OK(clf_tensor_create_from(*state, CLF_F32, 2, (int64_t[]){C, SOURCE_V}, turned_table, &columns));
    CHECK_OK(clf_tensor_permute(columns, (int[]){1, 0}, &turned));
    list.named[at].tensor = turned;
    CHECK_OK(clf_transformer_create(*state, &base_config, CLF_NAMES_LABML, list.named, list.count, &turned_network));
    for (size_t i = 0; i < list.count; i++) {
        const size_t count = clf_tensor_count(list.tensor[i]);
        float *zeros = calloc(count, sizeof *zeros);
        CHECK_OK(clf_tensor_write_f32(list.tensor[i], zeros, count));
        free(zeros);
    }
    clf_transformer *const both[] = {network, turned_network};
    for (size_t i = 0; i < COUNT(both); i++) {
        CHECK_OK(clf_transformer_encode(both[i], CLF_LAYOUT_NLD, ids, NULL, NULL, memory));
        CHECK_OK(clf_tensor_read_f32(memory, after, COUNT(after)));
        assert_memory_equal(before, after, sizeof before);
        clf_transformer_destroy(both[i]);
    }
    clf_tensor *const all[] = {ids, memory, columns, turned};
    for (size_t i = 0; i < COUNT(all); i++)
        clf_tensor_destroy(all[i]);
    list_free(&list);
    clfi_ref_weights_free(&weights);
}

/* A device whose largest allocation holds neither an embedding, which is the generator too, nor most linear layers: the same logits
 * as without a limit. */
static void test_small_allocations(void **state)
{
    enum { V = 300 };
    clf_context *context = *state;
    const uint64_t old = context->device.caps.max_allocation_bytes;
    clf_transformer *network[2] = {NULL, NULL};
    static float got[2][T * V];
    clf_tensor *source, *target, *features, *logits;
    clf_transformer_config config = base_config;
    config.source_vocabulary = config.target_vocabulary = V;
    config.is_generator_tied = 1;
    CHECK_OK(clf_tensor_create_from(context, CLF_I32, 2, (int64_t[]){1, S}, (int32_t[S]){0, 299, 64, 63, 127, 128, 1}, &source));
    CHECK_OK(clf_tensor_create_from(context, CLF_I32, 2, (int64_t[]){1, T}, (int32_t[T]){12, 0, 8, 7, 3}, &target));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){1, T, C}, &features));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){1, T, V}, &logits));
    for (int i = 0; i < 2; i++) {
        context->device.caps.max_allocation_bytes = i ? (63 + 16) * F * 4 : old;
        CHECK_OK(clf_transformer_create_random(context, &config, 5, &network[i]));
        context->device.caps.max_allocation_bytes = old;
        CHECK_OK(clf_transformer_forward(network[i], CLF_LAYOUT_NLD, source, target, NULL, NULL, NULL, features));
        CHECK_OK(clf_transformer_generate(network[i], features, 0, logits));
        CHECK_OK(clf_tensor_read_f32(logits, got[i], COUNT(got[i])));
        clf_transformer_destroy(network[i]);
    }
    for (size_t i = 0; i < COUNT(got[0]); i++)
        CHECK(within(got[1][i], got[0][i], 1e-5), "logit %zu: %.9g in pieces, %.9g whole", i, (double)got[1][i], (double)got[0][i]);
    context->device.caps.max_allocation_bytes = 4 * C - 1;
    CHECK_FAILS(clf_transformer_create_random(context, &config, 5, &network[0]), CLF_OUT_OF_MEMORY,
                "src_embed.linear.weight: rows of 128 bytes");
    context->device.caps.max_allocation_bytes = old;
    clf_tensor *const all[] = {source, target, features, logits};
    for (size_t i = 0; i < COUNT(all); i++)
        clf_tensor_destroy(all[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_local_layers), cmocka_unit_test(test_refusals), cmocka_unit_test(test_lists),
                                       cmocka_unit_test(test_copies), cmocka_unit_test(test_small_allocations)};
    return cmocka_run_group_tests_name("nn.transformer_limits", tests, device_setup, device_teardown);
}
