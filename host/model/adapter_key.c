/* SPDX-License-Identifier: MIT */
/* Recognises an adapter's tensors by the ends of their names. */
#include "model/adapter_key.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"

static const struct {
    const char *end, *parameter;
    clf_adapter_part part;
    bool is_base_layer;
} ends[] = {
    {".lora_A.weight", "weight", CLF_ADAPTER_A, false},
    {".lora_B.weight", "weight", CLF_ADAPTER_B, false},
    {".lora_B.bias", "bias", CLF_ADAPTER_B_BIAS, false},
    {".lora_embedding_A", "weight", CLF_ADAPTER_EMBEDDING_A, false},
    {".lora_embedding_B", "weight", CLF_ADAPTER_EMBEDDING_B, false},
    {".base_layer.weight", "weight", CLF_ADAPTER_WHOLE, true},
    {".base_layer.bias", "bias", CLF_ADAPTER_WHOLE, true},
    {".weight", "weight", CLF_ADAPTER_WHOLE, false},
    {".bias", "bias", CLF_ADAPTER_WHOLE, false},
};

bool clfi_adapter_key_read(const char *name, clf_adapter_key *out)
{
    static const char wrapper[] = "base_model.model.";
    static const char *const others[] = {"lora_magnitude_vector", ".token_adapter.", ".lora_"};
    if (strncmp(name, wrapper, sizeof wrapper - 1) == 0)
        name += sizeof wrapper - 1;
    const size_t size = strlen(name);
    for (size_t i = 0; i < COUNT(ends); i++) {
        const size_t length = strlen(ends[i].end);
        if (size <= length || strcmp(name + size - length, ends[i].end) != 0)
            continue;
        if (size >= CLFI_ADAPTER_NAME_BYTES - sizeof ".weight")
            return false;
        out->part = ends[i].part;
        out->is_base_layer = ends[i].is_base_layer;
        snprintf(out->module, sizeof out->module, "%.*s", (int)(size - length), name);
        snprintf(out->tensor, sizeof out->tensor, "%.*s.%s", (int)(size - length), name, ends[i].parameter);
        for (size_t k = 0; out->part == CLF_ADAPTER_WHOLE && k < COUNT(others); k++)
            if (strstr(name, others[k]))
                out->part = CLF_ADAPTER_OTHER;
        return true;
    }
    return false;
}
