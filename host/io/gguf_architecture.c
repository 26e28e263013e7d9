/* SPDX-License-Identifier: MIT */
/* The table of GGUF's architectures. */
#include "io/gguf_architecture.h"

#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "io/json.h"

static const clf_gguf_architecture rows[] = {
    {.model_type = "llama", .name = "llama", .activation = "silu", .is_interleaved = true, .scalings = CLF_GGUF_SCALINGS_LLAMA3},
    {.model_type = "mistral", .name = "llama", .activation = "silu", .is_interleaved = true, .scalings = CLF_GGUF_SCALINGS_LLAMA3},
    {.model_type = "qwen2", .name = "qwen2", .activation = "silu", .scalings = CLF_GGUF_SCALINGS_YARN},
    {.model_type = "qwen3", .name = "qwen3", .activation = "silu", .scalings = CLF_GGUF_SCALINGS_YARN},
    {.model_type = "gemma", .name = "gemma", .activation = "gelu_tanh", .norms_hold_one = true, .scalings = CLF_GGUF_SCALINGS_LINEAR},
    {.model_type = "gemma2",
     .name = "gemma2",
     .activation = "gelu_tanh",
     .norms_hold_one = true,
     .has_soft_caps = true,
     .has_windows = true,
     .period = 2,
     .largest = 46},
    {.model_type = "gemma3_text",
     .name = "gemma3",
     .activation = "gelu_tanh",
     .norms_hold_one = true,
     .scalings = CLF_GGUF_SCALINGS_LINEAR,
     .has_local_base = true,
     .has_windows = true,
     .period = 6,
     .largest = 62},
    {.model_type = "phi3",
     .name = "phi3",
     .activation = "silu",
     .feed_forward = CLF_GGUF_FUSED,
     .fuses_qkv = true,
     .scalings = CLF_GGUF_SCALINGS_LINEAR,
     .turns_parts = true,
     .has_windows = true},
    {.model_type = "gpt2",
     .name = "gpt2",
     .activation = "gelu_tanh",
     .feed_forward = CLF_GGUF_PLAIN,
     .fuses_qkv = true,
     .has_layer_norms = true},
};

const clf_gguf_architecture *clfi_gguf_architecture_named(const char *name)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

const clf_gguf_architecture *clfi_gguf_architecture_of(const char *model_type)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        if (strcmp(rows[i].model_type, model_type) == 0)
            return &rows[i];
    return NULL;
}

clf_status clfi_gguf_architecture_find(const json_t *config, const char *where, const clf_gguf_architecture **out)
{
    const char *type;
    clf_str known = CLF_STR_INIT;
    clf_status st = CLF_OK;
    CLF_TRY(clfi_json_get_string(config, where, "model_type", &type));
    const clf_gguf_architecture *row = clfi_gguf_architecture_of(type);
    if (row) {
        *out = row;
        return CLF_OK;
    }
    for (size_t i = 0; st == CLF_OK && i < COUNT(rows); i++)
        st = clfi_str_appendf(&known, "%s%s", i == 0 ? "" : i + 1 < COUNT(rows) ? ", " : " or ", rows[i].model_type);
    if (st == CLF_OK)
        st = clfi_fail(CLF_UNSUPPORTED, "%s: model_type \"%s\" cannot be written as GGUF: expected %s", where, type, clfi_str_text(&known));
    clfi_str_free(&known);
    return st;
}
