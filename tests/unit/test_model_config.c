/* SPDX-License-Identifier: MIT */
/* Keys of config.json of which one goes before another, as transformers 4.57 has them: a tiny model's file with some keys changed. */
#include <stdio.h>

#include "io/json.h"
#include "model/families.h"
#include "model/family.h"
#include "support/check.h"

/* The file's configuration with the members of `change`. */
static json_t *changed(const char *model, const char *change)
{
    char path[512];
    json_t *config, *more;
    snprintf(path, sizeof path, CLF_TEST_DATA "/%s/config.json", model);
    CHECK_OK(clfi_json_read(path, 1 << 20, &config));
    CHECK_OK(clfi_json_parse(change, strlen(change), "change", &more));
    assert_int_equal(json_object_update(config, more), 0);
    json_decref(more);
    return config;
}

static clf_status read(const char *model, const char *change, clf_network_config *out)
{
    const clf_family *family;
    json_t *config = changed(model, change);
    clf_status st = clfi_family_find(config, CLF_TASK_GENERATE, &family);
    if (st == CLF_OK)
        st = family->read_config(config, out);
    json_decref(config);
    return st;
}

static void activations(void **state)
{
    (void)state;
    static const struct {
        const char *model, *change;
        clf_activation activation;
        bool is_gated;
    } rows[] = {
        {"generation/gemma", "{\"hidden_activation\":null,\"hidden_act\":\"relu\"}", CLF_ACTIVATION_RELU, true},
        {"generation/gemma", "{\"hidden_activation\":null,\"hidden_act\":\"gelu\"}", CLF_ACTIVATION_GELU_TANH, true}, /* transformers 5 */
        {"generation/gemma", "{\"hidden_activation\":\"relu\",\"hidden_act\":\"relu\"}", CLF_ACTIVATION_RELU, true},
        {"generation/gemma", "{\"hidden_activation\":\"gelu_pytorch_tanh\",\"hidden_act\":\"gelu\"}", CLF_ACTIVATION_GELU_TANH, true},
        {"generation/gemma2", "{\"hidden_act\":\"relu\"}", CLF_ACTIVATION_GELU_TANH, true},
        {"translation/t5", "{\"dense_act_fn\":\"gelu_new\"}", CLF_ACTIVATION_GELU_TANH, false},
        {"translation/t5_gated", "{\"dense_act_fn\":\"silu\"}", CLF_ACTIVATION_SILU, true},
        {"translation/t5_gated", "{\"is_gated_act\":false}", CLF_ACTIVATION_GELU_TANH, false},
        {"translation/t5_gated", "{\"is_gated_act\":null}", CLF_ACTIVATION_GELU_TANH, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        clf_network_config config;
        CHECK_OK(read(rows[i].model, rows[i].change, &config));
        CHECK(config.decoder.activation == rows[i].activation && config.decoder.is_gated == rows[i].is_gated, "%s %s: %s%s", rows[i].model,
              rows[i].change, clf_activation_name(config.decoder.activation), config.decoder.is_gated ? ", gated" : "");
    }
}

static void rotary_bases(void **state)
{
    (void)state;
    static const struct {
        const char *change;
        double global, local;
    } rows[] = {
        {"{\"global_rope_theta\":300,\"local_rope_theta\":null}", 300, 300},
        {"{\"global_rope_theta\":300,\"local_rope_theta\":20}", 300, 20},
        {"{\"global_rope_theta\":300,\"local_rope_theta\":20,\"rope_theta\":5}", 300, 20},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        clf_network_config config;
        json_t *json = changed("encoders/modernbert_biases", rows[i].change);
        json_object_del(json, "rope_parameters");
        CHECK_OK(clfi_family_modernbert.read_config(json, &config));
        CHECK(config.encoder.attention.rotary.base == rows[i].global && config.encoder.local.rotary.base == rows[i].local, "%s: %g, %g",
              rows[i].change, config.encoder.attention.rotary.base, config.encoder.local.rotary.base);
        json_decref(json);
    }
}

/* One of two objects describes rotary positions, and some families have more keys than they look at. */
static void rotary_forms(void **state)
{
    (void)state;
    static const struct {
        const char *change;
        double base, factor;
    } rows[] = {
        {"{\"rope_scaling\":{\"rope_type\":\"linear\",\"factor\":2}}", 1e4, 2},
        {"{\"rope_scaling\":{\"rope_type\":\"linear\",\"factor\":2,\"rope_theta\":500}}", 500, 2},
        {"{\"rope_scaling\":{},\"rope_parameters\":{\"rope_type\":\"linear\",\"factor\":3,\"rope_theta\":500}}", 500, 3},
        {"{\"rope_scaling\":{\"rope_type\":\"default\"},\"rope_theta\":7,\"rope_parameters\":{\"rope_type\":\"linear\",\"factor\":3}}", 7,
         0},
    };
    static const struct {
        const char *model, *change, *message;
    } refused[] = {
        {"generation/llama", "{\"partial_rotary_factor\":0.5}", "partial_rotary_factor is 0.5: expected 1"},
        {"generation/llama", "{\"rope_scaling\":{\"type\":\"linear\",\"factor\":2,\"partial_rotary_factor\":0.5}}",
         "partial_rotary_factor is 0.5"},
        {"generation/gemma3", "{\"rope_scaling\":{\"type\":\"linear\",\"factor\":2}}", "rope_scaling beside rope_parameters"},
        {"generation/phi3_longrope", "{\"original_max_position_embeddings\":9}", "original_max_position_embeddings is 9 and"},
        {"generation/llama", "{\"model_type\":\"phi3\",\"rope_parameters\":{\"rope_type\":\"longrope\",\"short_factor\":[1,1]}}",
         "original_max_position_embeddings is absent, which means 4096"},
        {"generation/phi3", "{\"rope_parameters\":{\"rope_type\":\"yarn\",\"factor\":2,\"short_factor\":[1,1]}}",
         "rope_type \"yarn\": expected longrope"},
        {"generation/llama_yarn", "{\"original_max_position_embeddings\":9}", "original_max_position_embeddings is 9 and"},
        {"generation/llama_llama3", "{\"original_max_position_embeddings\":9}", "original_max_position_embeddings is 9 and"},
    };
    clf_network_config config;
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_OK(read("generation/llama", rows[i].change, &config));
        const clf_rotary *rotary = &config.decoder.attention.rotary;
        CHECK(rotary->base == rows[i].base && rotary->factor == rows[i].factor, "%s: %g, %g", rows[i].change, rotary->base, rotary->factor);
    }
    for (size_t i = 0; i < COUNT(refused); i++)
        CHECK_FAILS(read(refused[i].model, refused[i].change, &config), CLF_UNSUPPORTED, refused[i].message);
    CHECK_OK(read("generation/phi3_partial", "{}", &config));
    CHECK_OK(read("generation/gemma3", "{\"rope_parameters\":{\"rope_theta\":500,\"rope_type\":\"linear\",\"factor\":4}}", &config));
    assert_true(config.decoder.attention.rotary.base == 1e6 && config.decoder.attention.rotary.scaling == CLF_ROTARY_PLAIN);
}

/* A key's other name has the key's value, or the file says two networks. */
static void other_names(void **state)
{
    (void)state;
    static const struct {
        const char *model, *same, *other, *message;
    } rows[] = {
        {"generation/gpt2", "{\"hidden_size\":24}", "{\"num_attention_heads\":1}", "\"num_attention_heads\" is another name of \"n_head\""},
        {"translation/marian", "{\"num_hidden_layers\":2}", "{\"num_hidden_layers\":1}",
         "\"num_hidden_layers\" is another name of \"encoder_layers\""},
        {"translation/bart", "{}", "{\"hidden_size\":1}", "\"hidden_size\" is another name of \"d_model\""},
        {"translation/t5", "{}", "{\"head_dim\":1}", "\"head_dim\" is another name of \"d_kv\""},
    };
    clf_network_config config;
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_OK(read(rows[i].model, rows[i].same, &config));
        CHECK_FAILS(read(rows[i].model, rows[i].other, &config), CLF_FORMAT, rows[i].message);
    }
    json_t *json = changed("families/modernbert", "{\"local_attention\":8,\"sliding_window\":2}"); /* half a window */
    CHECK_OK(clfi_family_modernbert.read_config(json, &config));
    assert_int_equal(config.encoder.local.window, 3);
    json_decref(json);
}

/* null means false for this key of T5; without the key a tied head is scaled. */
static void scaled_outputs(void **state)
{
    (void)state;
    clf_network_config config;
    CHECK_OK(read("translation/t5", "{\"scale_decoder_outputs\":true}", &config));
    assert_true(config.generator_scale > 0);
    CHECK_OK(read("translation/t5", "{\"scale_decoder_outputs\":null}", &config));
    assert_true(config.generator_scale == 0);
}

/* transformers divides by such a cap, and such a window shows a token nothing. */
static void zeros(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"generation/mistral", "sliding_window"},
                                          {"generation/gemma2", "attn_logit_softcapping"},
                                          {"generation/gemma3", "final_logit_softcapping"}};
    clf_network_config config;
    char change[64];
    for (size_t i = 0; i < COUNT(rows); i++) {
        snprintf(change, sizeof change, "{\"%s\":0}", rows[i][1]);
        CHECK_FAILS(read(rows[i][0], change, &config), CLF_FORMAT, rows[i][1]);
        snprintf(change, sizeof change, "{\"%s\":null}", rows[i][1]);
        CHECK_OK(read(rows[i][0], change, &config));
    }
}

static void refused(void **state)
{
    (void)state;
    static const struct {
        const char *model, *change, *message;
    } rows[] = {
        {"generation/gpt2", "{\"is_causal\":false}", "is_causal is false: expected true for model_type \"gpt2\""},
        {"generation/gemma", "{\"use_bidirectional_attention\":true}",
         "use_bidirectional_attention is true: expected false for model_type \"gemma\""},
        {"generation/gemma", "{\"hidden_activation\":\"relu\"}", "hidden_activation: expected the function of hidden_act"},
        {"generation/gemma2", "{\"use_bidirectional_attention\":true}",
         "use_bidirectional_attention is true: expected false for model_type \"gemma2\""},
        {"generation/mistral", "{\"is_causal\":false,\"sliding_window\":4}", "is_causal is false: expected no sliding_window, found 4"},
        {"generation/mistral", "{\"layer_types\":[\"full_attention\",\"sliding_attention\"]}", "layer_types has \"full_attention\" beside"},
        {"generation/phi3", "{\"sliding_window\":4,\"layer_types\":[\"full_attention\",\"full_attention\"]}",
         "layer_types has \"full_attention\" beside sliding_window"},
        {"generation/qwen2", "{\"layer_types\":[\"full_attention\",\"sliding_attention\"]}", "layer_types has \"sliding_attention\""},
    };
    clf_network_config config;
    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_FAILS(read(rows[i].model, rows[i].change, &config), CLF_UNSUPPORTED, rows[i].message);
    CHECK_OK(read("generation/llama", "{\"is_causal\":false}", &config));
    assert_false(config.decoder.attention.is_causal);
    CHECK_OK(read("generation/llama", "{\"is_causal\":null}", &config));
    assert_true(config.decoder.attention.is_causal);
}

/* Networks without windows refuse keys that make transformers' cache forget tokens. */
static void no_windows(void **state)
{
    (void)state;
    static const char *const models[] = {"generation/llama",   "generation/gemma",   "generation/gpt2", "translation/bart",
                                         "translation/marian", "generation/mistral", "generation/phi3", "translation/t5"};
    static const char *const keys[] = {"sliding_window", "attention_chunk_size"};
    enum { WITHOUT = 5, LIMITED = 7 }; /* the later models have windows; a T5 has no limit of positions */
    clf_network_config config;
    char change[96], message[64];
    for (size_t i = 0; i < COUNT(models); i++)
        for (size_t k = 0; k < COUNT(keys); k++) {
            if (k == 0 && i >= WITHOUT && i < LIMITED)
                continue;
            snprintf(message, sizeof message, "%s: expected null or at least", keys[k]);
            snprintf(change, sizeof change, "{\"sliding_window\":null,\"%s\":4}", keys[k]);
            CHECK_FAILS(read(models[i], change, &config), CLF_UNSUPPORTED, message);
            snprintf(change, sizeof change, "{\"sliding_window\":null,\"%s\":null}", keys[k]);
            CHECK_OK(read(models[i], change, &config));
            snprintf(change, sizeof change, "{\"sliding_window\":null,\"%s\":4096}", keys[k]);
            if (i < LIMITED)
                CHECK_OK(read(models[i], change, &config));
        }
    CHECK_OK(read("generation/llama", "{\"sliding_window\":4,\"rope_interleaved\":true}", &config)); /* as a GGUF file has it */
}

/* Names of transformers' activations; those that are not element by element, or that nobody built, are refused by name. */
static void activation_names(void **state)
{
    static const struct {
        const char *name;
        clf_activation activation;
    } rows[] = {{"gelu_python", CLF_ACTIVATION_GELU},
                {"gelu_10", CLF_ACTIVATION_GELU_10},
                {"gelu_accurate", CLF_ACTIVATION_GELU_TANH},
                {"gelu_python_tanh", CLF_ACTIVATION_GELU_TANH},
                {"hardswish", CLF_ACTIVATION_HARDSWISH},
                {"leaky_relu", CLF_ACTIVATION_LEAKY_RELU},
                {"linear", CLF_ACTIVATION_NONE},
                {"mish", CLF_ACTIVATION_MISH},
                {"relu2", CLF_ACTIVATION_RELU2},
                {"relu6", CLF_ACTIVATION_RELU6}};
    static const char *const refused[] = {"laplace", "prelu", "sqrtsoftplus", "xielu", "mish2"};
    clf_activation found;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_OK(clfi_model_activation_find("hidden_act", rows[i].name, &found));
        assert_int_equal(found, rows[i].activation);
    }
    for (size_t i = 0; i < COUNT(refused); i++)
        CHECK_FAILS(clfi_model_activation_find("hidden_act", refused[i], &found), CLF_UNSUPPORTED, refused[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(activations),    cmocka_unit_test(activation_names), cmocka_unit_test(rotary_bases),
                                       cmocka_unit_test(rotary_forms),   cmocka_unit_test(other_names),      cmocka_unit_test(zeros),
                                       cmocka_unit_test(scaled_outputs), cmocka_unit_test(refused),          cmocka_unit_test(no_windows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
