/* SPDX-License-Identifier: MIT */
/* torch.nn.Transformer's own state dictionaries and results (tests/data/transformer, made by make_golden.py): pre-norm and post-norm, relu
 * and gelu. */
#include "support/check.h"
#include "support/device.h"
#include "support/named_tensors.h"

#include <stdio.h>

#include "base/status.h"
#include "clformer/transformer.h"
#include "io/safetensors.h"

enum { MOST_VALUES = 3 * 7 * 16 };

/* Rows of order 1 to 4 behind three layers' roundings. */
static const double bound = 2e-5;

static clf_tensor *golden_tensor(clf_context *context, const clf_safetensors *file, const char *name)
{
    clf_tensor *tensor;
    const clf_file_tensor *t = clfi_safetensors_find(file, name);
    CHECK(t, "golden.safetensors has no %s", name);
    CHECK_OK(clf_tensor_create_from(context, t->dtype == CLF_FILE_U8 ? CLF_U8 : CLF_F32, t->rank, t->dim, t->data, &tensor));
    return tensor;
}

static void check_golden(const clf_safetensors *file, const char *name, const clf_tensor *tensor)
{
    const clf_file_tensor *want = clfi_safetensors_find(file, name);
    float got[MOST_VALUES], value;
    CHECK(want && want->bytes <= sizeof got, "golden.safetensors has no such %s", name);
    CHECK_OK(clf_tensor_read_f32(tensor, got, want->bytes / sizeof value));
    for (size_t i = 0; i < want->bytes / sizeof value; i++) {
        memcpy(&value, (const char *)want->data + i * sizeof value, sizeof value);
        CHECK(within(got[i], value, bound), "%s: element %zu: %.9g, torch has %.9g", name, i, (double)got[i], (double)value);
    }
}

static void test_torch_golden(void **state)
{
    static const char *const cases[] = {"pre_relu", "pre_gelu", "post_relu", "post_gelu"};
    static tensor_list list;
    clf_context *context = *state;
    clf_safetensors *file;
    CHECK_OK(clfi_safetensors_open(CLF_TEST_DATA "/transformer/golden.safetensors", &file));
    clf_tensor *padding = golden_tensor(context, file, "padding");
    for (size_t c = 0; c < COUNT(cases); c++) {
        clf_transformer_config config = CLF_TRANSFORMER_CONFIG_INIT;
        clf_transformer *network;
        char name[64];
        config.width = 16;
        config.hidden_width = 24;
        config.heads = 2;
        config.encoder_layers = 1;
        config.decoder_layers = 2;
        config.has_generator = 0;
        config.norm_first = c < 2;
        config.activation = c % 2 ? CLF_ACTIVATION_GELU : CLF_ACTIVATION_RELU;
        list.count = 0;
        for (size_t i = 0; i < clfi_safetensors_count(file); i++) {
            const clf_file_tensor *t = clfi_safetensors_at(file, i);
            const size_t prefix = strlen(cases[c]);
            if (strncmp(t->name, cases[c], prefix) == 0 && strstr(t->name, "coder."))
                list_add(context, &list, t->name + prefix + 1, t->rank, t->dim, t->data);
        }
        CHECK_OK(clf_transformer_create(context, &config, CLF_NAMES_TORCH, list.named, list.count, &network));
        list_free(&list);
        const clf_attention_masks source_masks = {.size = sizeof source_masks, .padding_mask = padding};
        const clf_attention_masks causal = {.size = sizeof causal, .is_causal = 1};
        snprintf(name, sizeof name, "%s.source", cases[c]);
        clf_tensor *source = golden_tensor(context, file, name);
        snprintf(name, sizeof name, "%s.target", cases[c]);
        clf_tensor *target = golden_tensor(context, file, name), *memory, *features;
        CHECK_OK(clf_tensor_create(context, CLF_F32, 3, clf_tensor_dim(source), &memory));
        CHECK_OK(clf_tensor_create(context, CLF_F32, 3, clf_tensor_dim(target), &features));
        CHECK_OK(clf_transformer_encode(network, CLF_LAYOUT_NLD, source, &source_masks, NULL, memory));
        snprintf(name, sizeof name, "%s.memory", cases[c]);
        check_golden(file, name, memory);
        CHECK_OK(clf_transformer_forward(network, CLF_LAYOUT_NLD, source, target, &source_masks, &causal, NULL, features));
        snprintf(name, sizeof name, "%s.features", cases[c]);
        check_golden(file, name, features);
        clf_tensor_destroy(source);
        clf_tensor_destroy(target);
        clf_tensor_destroy(memory);
        clf_tensor_destroy(features);
        clf_transformer_destroy(network);
    }
    clf_tensor_destroy(padding);
    clfi_safetensors_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_torch_golden)};
    return cmocka_run_group_tests_name("nn.torch_golden", tests, device_setup, device_teardown);
}
