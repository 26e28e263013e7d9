/* SPDX-License-Identifier: MIT */
/* GGUF: what the metadata of a model becomes, and what of it is refused. */
#include "io/checkpoint_gguf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/gguf_image.h"

static void put_epsilon(image *f, const char *architecture, const char *name, float value)
{
    char key[64];
    snprintf(key, sizeof key, "%s.attention.%s", architecture, name);
    put_float(f, key, value);
}

/* A file of the architecture, with another epsilon than it needs or a value that is none. */
static void wrong_epsilon(image *f, const char *architecture, const char *name, float value)
{
    begin(f, 0, 5);
    put_string(f, "general.architecture", architecture);
    for (int i = 0; i < 3; i++) {
        static const char *const suffixes[] = {"block_count", "embedding_length", "attention.head_count"};
        char key[64];
        snprintf(key, sizeof key, "%s.%s", architecture, suffixes[i]);
        put_uint(f, key, 2);
    }
    put_epsilon(f, architecture, name, value);
}

/* A file of the architecture with 6 layers of 2 heads of 4, and `more` keys to come. */
static void begin_model(image *f, const char *architecture, uint64_t more)
{
    static const struct {
        const char *suffix;
        uint32_t value;
    } sizes[] = {{"block_count", 6}, {"embedding_length", 8}, {"attention.head_count", 2}, {"context_length", 64}};
    begin(f, 0, COUNT(sizes) + 2 + more);
    put_string(f, "general.architecture", architecture);
    put_epsilon(f, architecture, strcmp(architecture, "gpt2") == 0 ? "layer_norm_epsilon" : "layer_norm_rms_epsilon", 1e-5f);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        char key[64];
        snprintf(key, sizeof key, "%s.%s", architecture, sizes[i].suffix);
        put_uint(f, key, sizes[i].value);
    }
}

MAKE(no_scaling, begin_model(f, "llama", 0))
MAKE(factor_alone, begin_model(f, "llama", 1); put_float(f, "llama.rope.scaling.factor", 3))
MAKE(old_factor, begin_model(f, "llama", 1); put_float(f, "llama.rope.scale_linear", 2.5f))
MAKE(both_factors, begin_model(f, "llama", 2); put_float(f, "llama.rope.scale_linear", 2.5f); put_float(f, "llama.rope.scaling.factor", 4))
MAKE(factor_zero, begin_model(f, "llama", 1); put_float(f, "llama.rope.scaling.factor", 0))
MAKE(typed_none, begin_model(f, "llama", 2); put_string(f, "llama.rope.scaling.type", "none"); put_float(f, "llama.rope.scaling.factor", 3))
MAKE(typed_linear, begin_model(f, "llama", 2); put_string(f, "llama.rope.scaling.type", "linear");
     put_float(f, "llama.rope.scaling.factor", 3))
MAKE(yarn, begin_model(f, "qwen2", 3); put_string(f, "qwen2.rope.scaling.type", "yarn"); put_float(f, "qwen2.rope.scaling.factor", 4);
     put_uint(f, "qwen2.rope.scaling.original_context_length", 32))
MAKE(yarn_magnitude, begin_model(f, "qwen2", 3); put_string(f, "qwen2.rope.scaling.type", "yarn");
     put_float(f, "qwen2.rope.scaling.factor", 4); put_float(f, "qwen2.rope.scaling.attn_factor", 2))
MAKE(yarn_limits, begin_model(f, "qwen2", 4); put_string(f, "qwen2.rope.scaling.type", "yarn");
     put_float(f, "qwen2.rope.scaling.factor", 4); put_float(f, "qwen2.rope.scaling.yarn_beta_fast", 32);
     put_float(f, "qwen2.rope.scaling.yarn_beta_slow", 1))
MAKE(longrope, begin_model(f, "phi3", 1); f->bytes[8] = 1; /* tensors */ put_uint(f, "phi3.rope.scaling.original_context_length", 32);
     put_tensor(f, "rope_factors_short.weight", 1, SIZES(1), 0, 0); put_data(f, 32, 4))
MAKE(local_base, begin_model(f, "gemma3", 1); put_float(f, "gemma3.rope.freq_base_swa", 500))
MAKE(same_base, begin_model(f, "gemma2", 2); put_float(f, "gemma2.rope.freq_base", 500); put_float(f, "gemma2.rope.freq_base_swa", 500))
MAKE(same_heads, begin_model(f, "gemma3", 2); put_uint(f, "gemma3.attention.key_length_swa", 4);
     put_uint(f, "gemma3.rope.dimension_count_swa", 4))
MAKE(unused_factor, begin_model(f, "gemma3", 2); put_string(f, "gemma3.rope.scaling.type", "none");
     put_float(f, "gemma3.rope.scaling.factor", 4))
MAKE(pattern_alone, begin_model(f, "gemma3", 1); put_uint(f, "gemma3.attention.sliding_window_pattern", 3))
MAKE(windows_by_number, begin_model(f, "gemma3", 2); put_uint(f, "gemma3.attention.sliding_window", 8);
     put_uint(f, "gemma3.attention.sliding_window_pattern", 3))
MAKE(windows_listed, begin_model(f, "gemma3", 2); put_uint(f, "gemma3.attention.sliding_window", 8);
     put_key(f, "gemma3.attention.sliding_window_pattern", 9); put(f, 7, 4); put(f, 6, 8); put(f, 0x010100000001, 6))
MAKE(zeros, begin_model(f, "gemma2", 2); put_uint(f, "gemma2.attention.sliding_window", 0);
     put_float(f, "gemma2.attn_logit_softcapping", 0))
MAKE(rest, begin_model(f, "llama", 3); put_uint(f, "llama.vocab_size", 9); put_uint(f, "llama.attention.sliding_window_pattern", 6);
     put_float(f, "llama.more", 0.5f))
MAKE(neutral, begin_model(f, "llama", 3); put_uint(f, "llama.expert_count", 0); put_key(f, "llama.attention.causal", 7); put(f, 1, 1);
     put_float(f, "llama.logit_scale", 1))

MAKE(suppressed, begin_model(f, "llama", 1); put_key(f, "tokenizer.ggml.suppress_tokens", 9); put(f, 5, 4); put(f, 3, 8); put(f, 7, 4);
     put(f, UINT32_MAX, 4); put(f, 2, 4))

static void put_signed(image *f, const char *key, int32_t value)
{
    put_key(f, key, 5);
    put(f, (uint32_t)value, 4);
}

#define PENALTY "general.sampling.penalty_repeat"
#define WINDOW "general.sampling.penalty_last_n"
MAKE(penalty, begin_model(f, "llama", 1); put_float(f, PENALTY, 1.25f))
MAKE(penalty_window, begin_model(f, "llama", 2); put_float(f, PENALTY, 1.25f); put_signed(f, WINDOW, 3))
MAKE(penalty_of_all, begin_model(f, "llama", 2); put_float(f, PENALTY, 1.25f); put_signed(f, WINDOW, -1))
MAKE(penalty_off, begin_model(f, "llama", 2); put_float(f, PENALTY, 1.25f); put_signed(f, WINDOW, 0))
MAKE(window_alone, begin_model(f, "llama", 1); put_signed(f, WINDOW, 5))
MAKE(window_text, begin_model(f, "llama", 1); put_string(f, WINDOW, "5"))

/* The configuration made from the metadata. */
static void configurations(void **state)
{
    static const struct {
        const char *name;
        void (*make)(image *f);
        const char *key, *json; /* of the configuration; NULL: the key is absent */
    } rows[] = {
        {"no scaling", make_no_scaling, "rope_scaling", NULL},
        {"a factor without a type is linear", make_factor_alone, "rope_scaling", "{\"rope_type\": \"linear\", \"factor\": 3.0}"},
        {"the older name", make_old_factor, "rope_scaling", "{\"rope_type\": \"linear\", \"factor\": 2.5}"},
        {"the newer name first", make_both_factors, "rope_scaling", "{\"rope_type\": \"linear\", \"factor\": 4.0}"},
        {"0 is none", make_factor_zero, "rope_scaling", NULL},
        {"none", make_typed_none, "rope_scaling", NULL},
        {"linear", make_typed_linear, "rope_scaling", "{\"rope_type\": \"linear\", \"factor\": 3.0}"},
        {"yarn", make_yarn, "rope_scaling", "{\"rope_type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 32}"},
        {"yarn, magnitude", make_yarn_magnitude, "rope_scaling",
         "{\"rope_type\": \"yarn\", \"factor\": 4.0, \"attention_factor\": 2.2772588722239782}"},
        {"yarn, its limits", make_yarn_limits, "rope_scaling", "{\"rope_type\": \"yarn\", \"factor\": 4.0}"},
        {"longrope without a magnitude", make_longrope, "rope_scaling",
         "{\"short_factor\": [1.1443742118159064e-28], \"rope_type\": \"longrope\", \"original_max_position_embeddings\": 32, "
         "\"attention_factor\": 1.0}"},
        {"no base", make_no_scaling, "rope_theta", "10000.0"},
        {"no base of layers without windows", make_local_base, "rope_theta", "10000.0"},
        {"a base of layers with windows", make_local_base, "rope_local_base_freq", "500.0"},
        {"one base for all layers", make_same_base, "rope_theta", "500.0"},
        {"heads of layers with windows", make_same_heads, "head_dim", NULL},
        {"a factor that is not used", make_unused_factor, "rope_scaling", NULL},
        {"no width of windows", make_pattern_alone, "sliding_window", "null"},
        {"no windows without a width", make_pattern_alone, "layer_types", NULL},
        {"each third sees all", make_windows_by_number, "layer_types",
         "[\"sliding_attention\", \"sliding_attention\", \"full_attention\", \"sliding_attention\", \"sliding_attention\", "
         "\"full_attention\"]"},
        {"windows in a list", make_windows_listed, "layer_types",
         "[\"sliding_attention\", \"full_attention\", \"full_attention\", \"full_attention\", \"sliding_attention\", "
         "\"sliding_attention\"]"},
        {"no window", make_zeros, "sliding_window", "null"},
        {"no cap", make_zeros, "attn_logit_softcapping", "null"},
        {"tokens that no text has", make_suppressed, "suppress_tokens", "[7, 2]"},
        {"a penalty", make_penalty, "repetition_penalty", "1.25"},
        {"llama.cpp's window of a penalty", make_penalty, "repetition_window", "64"},
        {"its own window", make_penalty_window, "repetition_window", "3"},
        {"a penalty of the whole text", make_penalty_of_all, "repetition_window", NULL},
        {"a penalty of the whole text", make_penalty_of_all, "repetition_penalty", "1.25"},
        {"a penalty of no token", make_penalty_off, "repetition_penalty", NULL},
        {"a window without a penalty", make_window_alone, "repetition_window", "5"},
        {"no penalty", make_no_scaling, "repetition_window", NULL},
        {"what is not read", make_rest, "llama.more", "0.5"},
        {"windows of an architecture without", make_rest, "llama.attention.sliding_window_pattern", "6.0"},
        {"told by the tensors", make_rest, "llama.vocab_size", NULL},
        {"causal", make_neutral, "llama.attention.causal", NULL},
        {"no experts", make_neutral, "llama.expert_count", NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        static image f;
        clf_checkpoint *checkpoint;
        rows[i].make(&f);
        put_data(&f, 32, 0);
        CHECK_OK(clfi_checkpoint_parse_gguf(f.bytes, f.size, "made.gguf", &checkpoint));
        char *json = json_dumps(json_object_get(clfi_checkpoint_config(checkpoint), rows[i].key), JSON_ENCODE_ANY);
        CHECK(rows[i].json ? json && strcmp(json, rows[i].json) == 0 : !json, "%s: %s is %s, want %s", rows[i].name, rows[i].key,
              json ? json : "absent", rows[i].json ? rows[i].json : "none");
        free(json);
        clfi_checkpoint_close(checkpoint);
    }
}

MAKE(not_causal, begin_model(f, "llama", 1); put_key(f, "llama.attention.causal", 7); put(f, 0, 1))
MAKE(logit_scale, begin_model(f, "llama", 1); put_float(f, "llama.logit_scale", 0.25f))
MAKE(value_size, begin_model(f, "llama", 1); put_uint(f, "llama.attention.value_length", 2))
MAKE(linear_magnitude, begin_model(f, "llama", 2); put_float(f, "llama.rope.scaling.factor", 2);
     put_float(f, "llama.rope.scaling.attn_factor", 2))
MAKE(local_magnitude, begin_model(f, "gemma3", 2); put_float(f, "gemma3.rope.scaling.factor", 2);
     put_float(f, "gemma3.rope.scaling.attn_factor", 2))
MAKE(yarn_fast, begin_model(f, "llama", 3); put_string(f, "llama.rope.scaling.type", "yarn"); put_float(f, "llama.rope.scaling.factor", 4);
     put_float(f, "llama.rope.scaling.yarn_beta_fast", 8))
MAKE(yarn_slow, begin_model(f, "phi3", 3); put_string(f, "phi3.rope.scaling.type", "yarn"); put_float(f, "phi3.rope.scaling.factor", 4);
     put_float(f, "phi3.rope.scaling.yarn_beta_slow", 2))
MAKE(other_base, begin_model(f, "gemma2", 1); put_float(f, "gemma2.rope.freq_base_swa", 500))
MAKE(local_factor, begin_model(f, "gemma2", 2); put_string(f, "gemma2.rope.scaling.type", "none");
     put_float(f, "gemma2.rope.scaling.factor", 4))
MAKE(windows_short, begin_model(f, "gemma2", 1); put_key(f, "gemma2.attention.sliding_window_pattern", 9); put(f, 7, 4); put(f, 2, 8);
     put(f, 1, 2))
MAKE(suppressed_text, begin_model(f, "llama", 1); put_string(f, "tokenizer.ggml.suppress_tokens", "7"))
MAKE(later_layers, begin_model(f, "qwen3", 1); put_uint(f, "qwen3.nextn_predict_layers", 1))
MAKE(other_heads, begin_model(f, "gemma3", 2); put_uint(f, "gemma3.attention.key_length", 4);
     put_uint(f, "gemma3.attention.key_length_swa", 8))
MAKE(experts, begin_model(f, "llama", 1); put_uint(f, "llama.expert_count", 8))

MAKE(adapter, begin_model(f, "llama", 1); put_string(f, "general.type", "adapter"))
MAKE(other_name, begin_model(f, "mistral", 0))
MAKE(no_layers, begin(f, 0, 2); put_string(f, "general.architecture", "llama"); put_epsilon(f, "llama", "layer_norm_rms_epsilon", 1e-5f))

MAKE(eps_none, wrong_epsilon(f, "llama", "other", 1))
MAKE(eps_other, wrong_epsilon(f, "qwen2", "layer_norm_epsilon", 1e-5f))
MAKE(eps_gpt2, wrong_epsilon(f, "gpt2", "layer_norm_rms_epsilon", 1e-5f))
MAKE(eps_nan, wrong_epsilon(f, "gemma", "layer_norm_rms_epsilon", NAN))
MAKE(eps_negative, wrong_epsilon(f, "phi3", "layer_norm_rms_epsilon", -1e-5f))
MAKE(eps_infinite, wrong_epsilon(f, "qwen3", "layer_norm_rms_epsilon", INFINITY))

/* Networks that are not supported are refused by what makes them so. */
static void refused_configurations(void **state)
{
    static const broken_file rows[] = {
        ROW(not_causal, CLF_UNSUPPORTED, "llama.attention.causal is 0: expected 1"),
        ROW(logit_scale, CLF_UNSUPPORTED, "llama.logit_scale is 0.25"),
        ROW(value_size, CLF_UNSUPPORTED, "llama.attention.value_length is 2: expected the size of keys, 4"),
        ROW(linear_magnitude, CLF_UNSUPPORTED, "llama.rope.scaling.attn_factor is 2: expected only with yarn or longrope"),
        ROW(local_magnitude, CLF_UNSUPPORTED, "gemma3.rope.scaling.attn_factor is 2: expected 1"),
        ROW(yarn_fast, CLF_UNSUPPORTED, "llama.rope.scaling.yarn_beta_fast is 8: expected 32"),
        ROW(yarn_slow, CLF_UNSUPPORTED, "phi3.rope.scaling.yarn_beta_slow is 2: expected 1"),
        ROW(other_base, CLF_UNSUPPORTED, "gemma2.rope.freq_base_swa is 500: expected gemma2.rope.freq_base, 10000"),
        ROW(local_factor, CLF_UNSUPPORTED, "gemma2.rope.scaling.factor is 4 beside the type \"none\""),
        ROW(windows_short, CLF_FORMAT, "gemma2.attention.sliding_window_pattern: expected one number, or one for each of 6 layers"),
        ROW(suppressed_text, CLF_FORMAT, "tokenizer.ggml.suppress_tokens: expected an array of token ids"),
        ROW(window_text, CLF_FORMAT, "penalty_last_n\": expected an integer from -1"),
        ROW(later_layers, CLF_UNSUPPORTED, "qwen3.nextn_predict_layers is 1: expected 0"),
        ROW(other_heads, CLF_UNSUPPORTED, "gemma3.attention.key_length_swa is 8: expected gemma3.attention.key_length, 4"),
        ROW(experts, CLF_UNSUPPORTED, "llama.expert_count"),
        ROW(adapter, CLF_UNSUPPORTED, "general.type \"adapter\": expected a whole model"),
        ROW(other_name, CLF_UNSUPPORTED, "general.architecture \"mistral\": expected \"llama\""),
        ROW(no_layers, CLF_FORMAT, "\"llama.embedding_length\": expected an integer from 0 to 1073741824, found nothing"),
        ROW(eps_none, CLF_FORMAT, "\"llama.attention.layer_norm_rms_epsilon\": expected a number from 0 to 1, found nothing"),
        ROW(eps_other, CLF_FORMAT, "\"qwen2.attention.layer_norm_rms_epsilon\": expected a number from 0 to 1, found nothing"),
        ROW(eps_gpt2, CLF_FORMAT, "\"gpt2.attention.layer_norm_epsilon\": expected a number from 0 to 1, found nothing"),
        ROW(eps_nan, CLF_FORMAT, "gemma.attention.layer_norm_rms_epsilon"),
        ROW(eps_negative, CLF_FORMAT, "phi3.attention.layer_norm_rms_epsilon"),
        ROW(eps_infinite, CLF_FORMAT, "qwen3.attention.layer_norm_rms_epsilon"),
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        static image f;
        clf_checkpoint *checkpoint = NULL;
        rows[i].make(&f);
        put_data(&f, 32, 0);
        CHECK_FAILS(clfi_checkpoint_parse_gguf(f.bytes, f.size, "made.gguf", &checkpoint), rows[i].status, rows[i].part);
        assert_true(!checkpoint && strstr(clf_last_error(), "made.gguf"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(configurations),
        cmocka_unit_test(refused_configurations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
