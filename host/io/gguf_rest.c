/* SPDX-License-Identifier: MIT */
/* Keys of GGUF files that become no configuration. Keys that change results are refused; the others are kept for the account. */
#include "io/gguf_rest.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "io/gguf_keys.h"

enum { KEY_BYTES = 256 };

/* With these values nothing changes. */
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

/* Sizes of the heads in layers with windows: those of the others. */
static clf_status refuse_other_heads(const clf_gguf *file, const char *architecture)
{
    static const char *const suffixes[] = {CLFI_GGUF_KEY_SIZE, CLFI_GGUF_VALUE_SIZE, CLFI_GGUF_ROPE_DIMS};
    for (size_t i = 0; i < COUNT(suffixes); i++) {
        char key[KEY_BYTES], local[KEY_BYTES];
        int64_t size, local_size;
        snprintf(key, sizeof key, "%s.%s", architecture, suffixes[i]);
        snprintf(local, sizeof local, "%s.%s_swa", architecture, suffixes[i]);
        CLF_TRY(clfi_gguf_opt_int(file, key, 0, INT32_MAX, 0, &size));
        CLF_TRY(clfi_gguf_opt_int(file, local, 0, INT32_MAX, size, &local_size));
        if (local_size != size)
            CLF_FAIL(CLF_UNSUPPORTED, "%s: %s is %lld: expected %s, %lld", clfi_gguf_path(file), local, (long long)local_size, key,
                     (long long)size);
    }
    return CLF_OK;
}

clf_status clfi_gguf_refuse_rest(const clf_gguf *file, const char *architecture)
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
    return refuse_other_heads(file, architecture);
}

static bool is_idle(const char *suffix)
{
    static const char *const idle[] = {"vocab_size", "tensor_data_layout",      /* told by the tensors */
                                       "rope.scaling.original_context_length"}; /* of scalings that read it */
    for (size_t i = 0; i < COUNT(idle); i++)
        if (strcmp(suffix, idle[i]) == 0)
            return true;
    for (size_t i = 0; i < COUNT(plain); i++)
        if (strcmp(suffix, plain[i].suffix) == 0)
            return true;
    return strcmp(suffix, CLFI_GGUF_EXPERTS) == 0; /* 0, or it was refused */
}

clf_status clfi_gguf_keep_rest(const clf_gguf *file, const char *architecture, const json_t *seen, json_t *config)
{
    const size_t length = strlen(architecture);
    for (size_t i = 0; i < clfi_gguf_value_count(file); i++) {
        const clf_gguf_value *value = clfi_gguf_value_at(file, i);
        char key[KEY_BYTES];
        double number;
        if (value->key.length <= length + 1 || value->key.length >= sizeof key || memcmp(value->key.data, architecture, length) != 0 ||
            value->key.data[length] != '.')
            continue;
        memcpy(key, value->key.data, value->key.length);
        key[value->key.length] = '\0';
        if (json_object_get(seen, key) || is_idle(key + length + 1))
            continue;
        const bool is_number = value->type != CLF_GGUF_ARRAY && value->type != CLF_GGUF_BOOL && clfi_gguf_number(value, 0, &number);
        json_t *kept = value->type == CLF_GGUF_BOOL ? json_boolean(value->data[0]) : is_number ? json_real(number) : json_true();
        if (json_object_set_new(config, key, kept ? kept : json_true()) != 0)
            CLF_FAIL(CLF_OUT_OF_MEMORY, "malloc: not enough memory for %s", key);
    }
    return CLF_OK;
}
