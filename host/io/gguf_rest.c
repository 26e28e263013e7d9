/* SPDX-License-Identifier: MIT */
/* Keys of GGUF files that the configuration does not use: those that change results are refused, the others are kept for the account. */
#include "io/gguf_rest.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "io/gguf_keys.h"

enum { KEY_BYTES = 256 };

/* Keys of one number that change nothing if they have one of these two values. */
static const struct {
    const char *suffix;
    double neutral, other;
} plain[] = {
    {"attention.causal", 1, 1},
    {"attention.clamp_kqv", 0, 0},
    {"attention.max_alibi_bias", 0, 0},
    {"attention.output_scale", 1, 1},
    {"attention.scale", 0, 0},
    {"attention.shared_kv_layers", 0, 0},
    {"attention.temperature_length", 0, 0},
    {"attention.temperature_scale", 0, 0},
    {"embedding_scale", 1, 0},
    {"logit_scale", 1, 0},
    {"nextn_predict_layers", 0, 0}, /* the last layers, which predict later tokens */
    {"residual_scale", 1, 0},
    {"rope.scaling.yarn_attn_factor", 1, 1},
    {"rope.scaling.yarn_ext_factor", 1, 1},
    {"rope.scaling.yarn_log_multiplier", 0, 0},
    {"use_parallel_residual", 0, 0},
};

/* Refuses heads in layers with windows whose sizes differ from those of the other layers. */
static clf_status refuse_other_heads(const clf_gguf *file, const char *architecture, int64_t head_size)
{
    static const char *const suffixes[] = {CLFI_GGUF_KEY_SIZE, CLFI_GGUF_VALUE_SIZE, CLFI_GGUF_ROPE_DIMS};
    for (size_t i = 0; i < COUNT(suffixes); i++) {
        char key[KEY_BYTES], local[KEY_BYTES];
        int64_t size, local_size;
        snprintf(key, sizeof key, "%s.%s", architecture, suffixes[i]);
        snprintf(local, sizeof local, "%s.%s_swa", architecture, suffixes[i]);
        CLF_TRY(clfi_gguf_opt_int(file, key, 0, INT32_MAX, head_size, &size));
        CLF_TRY(clfi_gguf_opt_int(file, local, 0, INT32_MAX, size, &local_size));
        if (local_size != size)
            CLF_FAIL(CLF_UNSUPPORTED, "%s: %s is %lld: expected %s, %lld", clfi_gguf_path(file), local, (long long)local_size, key,
                     (long long)size);
    }
    return CLF_OK;
}

clf_status clfi_gguf_refuse_rest(const clf_gguf *file, const char *architecture, int64_t head_size)
{
    for (size_t i = 0; i < COUNT(plain); i++) {
        char key[KEY_BYTES];
        double number;
        snprintf(key, sizeof key, "%s.%s", architecture, plain[i].suffix);
        const clf_gguf_value *value = clfi_gguf_value(file, key);
        if (!value)
            continue;
        if (value->type == CLF_GGUF_ARRAY || !clfi_gguf_number(value, 0, &number))
            CLF_FAIL(CLF_FORMAT, "%s: %s: expected a number, found %s", clfi_gguf_path(file), key, clfi_gguf_type_name(value->type));
        if (number != plain[i].neutral && number != plain[i].other)
            CLF_FAIL(CLF_UNSUPPORTED, "%s: %s is %g: expected %g, other networks are not supported", clfi_gguf_path(file), key, number,
                     plain[i].neutral);
    }
    return refuse_other_heads(file, architecture, head_size);
}

static bool is_idle(const char *suffix)
{
    static const char *const idle[] = {"vocab_size", "tensor_data_layout", /* the tensors show both */
                                       CLFI_GGUF_SCALING_POSITIONS,        /* read with the scalings that use it */
                                       "rope.scaling.finetuned"};          /* describes the model to people */
    for (size_t i = 0; i < COUNT(idle); i++)
        if (strcmp(suffix, idle[i]) == 0)
            return true;
    for (size_t i = 0; i < COUNT(plain); i++)
        if (strcmp(suffix, plain[i].suffix) == 0)
            return true;
    return strcmp(suffix, CLFI_GGUF_EXPERTS) == 0; /* 0, or it was refused */
}

/* Keys without the architecture's name that are read elsewhere or change no token and no number. */
static bool is_known(const char *key)
{
    static const char *const patterns[] = {"general.*",
                                           "split.*",
                                           "quantize.imatrix.*", /* for people, or read when the file is opened */
                                           CLFI_GGUF_TOKEN_MODEL,
                                           CLFI_GGUF_TOKEN_PRE,
                                           CLFI_GGUF_TOKEN_TOKENS,
                                           CLFI_GGUF_TOKEN_MERGES,
                                           CLFI_GGUF_TOKEN_SCORES,
                                           CLFI_GGUF_TOKEN_TYPES,
                                           CLFI_GGUF_TOKEN_BOS,
                                           CLFI_GGUF_TOKEN_EOS,
                                           CLFI_GGUF_TOKEN_UNKNOWN,
                                           CLFI_GGUF_TOKEN_SEPARATOR,
                                           CLFI_GGUF_TOKEN_PADDING,
                                           CLFI_GGUF_TOKEN_CLASS,
                                           CLFI_GGUF_TOKEN_MASK,
                                           CLFI_GGUF_TOKEN_ADD_BOS,
                                           CLFI_GGUF_TOKEN_ADD_EOS,
                                           CLFI_GGUF_TOKEN_ADD_SPACE,
                                           CLFI_GGUF_TOKEN_END_OF_TURN,
                                           CLFI_GGUF_TOKEN_END_OF_MESSAGE,
                                           CLFI_GGUF_TOKEN_SUPPRESSED,
                                           CLFI_GGUF_TOKEN_ABSENT,
                                           CLFI_GGUF_TOKEN_FILL "???_token_id",
                                           CLFI_GGUF_TOKEN_OLD_FILL "prefix_token_id",
                                           CLFI_GGUF_TOKEN_OLD_FILL "middle_token_id",
                                           CLFI_GGUF_TOKEN_OLD_FILL "suffix_token_id",
                                           "tokenizer.chat_template",
                                           "tokenizer.chat_templates", /* chat reads the first; the others are for callers who name them */
                                           "tokenizer.chat_template.*",
                                           "tokenizer.huggingface.json", /* the same tokenizer for another program */
                                           "tokenizer.ggml.token_type_count",
                                           "tokenizer.ggml.add_sep_token", /* of encoders */
                                           "tokenizer.ggml.remove_extra_whitespaces",
                                           "tokenizer.ggml.precompiled_charsmap"}; /* of T5's tokenizers, which are refused */
    for (size_t i = 0; i < COUNT(patterns); i++)
        if (fnmatch(patterns[i], key, 0) == 0)
            return true;
    return false;
}

static clf_status keep(const clf_gguf_value *value, const char *architecture, const json_t *seen, json_t *config)
{
    const size_t length = strlen(architecture);
    char key[KEY_BYTES];
    double number;
    snprintf(key, sizeof key, "%.*s", (int)(value->key.length < sizeof key ? value->key.length : sizeof key - 1), value->key.data);
    const bool is_own = strncmp(key, architecture, length) == 0 && key[length] == '.';
    if (json_object_get(seen, key) || (is_own ? is_idle(key + length + 1) : is_known(key)))
        return CLF_OK;
    const bool is_number = value->type != CLF_GGUF_ARRAY && value->type != CLF_GGUF_BOOL && clfi_gguf_number(value, 0, &number);
    json_t *kept = value->type == CLF_GGUF_BOOL ? json_boolean(value->data[0]) : is_number ? json_real(number) : json_true();
    if (json_object_set_new(config, key, kept ? kept : json_true()) != 0)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "malloc: not enough memory for %s", key);
    return CLF_OK;
}

clf_status clfi_gguf_keep_rest(const clf_gguf *file, const char *architecture, const json_t *seen, json_t *config)
{
    for (size_t i = 0; i < clfi_gguf_value_count(file); i++)
        CLF_TRY(keep(clfi_gguf_value_at(file, i), architecture, seen, config));
    return CLF_OK;
}
