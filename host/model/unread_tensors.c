/* SPDX-License-Identifier: MIT */
/* Refuses checkpoints with tensors that the network would silently ignore, for example a norm, a bias or a layer. */
#include "model/unread_tensors.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "io/gguf_keys.h"
#include "model/tied_tables.h"
#include "model/weight_lookup.h"

/* Whether the tensor may be ignored: it has no effect, or config.json describes its effect too. */
static bool is_harmless(const clf_checkpoint_tensor *tensor)
{
    static const char *const patterns[] = {/* buffers that can be computed; transformers ignores stored ones too */
                                           "*rotary_emb.*", "*position_ids", "*.attn.masked_bias",
                                           /* stored in the first T5 files, but no T5 uses it */
                                           "*.EncDecAttention.relative_attention_bias.weight",
                                           /* the part of the model that reads images */
                                           "*vision_tower.*", "*vision_model.*", "*multi_modal_projector.*",
                                           /* GGUF's rotary divisors, which are already in the configuration */
                                           CLFI_GGUF_FREQUENCIES, CLFI_GGUF_FACTORS_SHORT, CLFI_GGUF_FACTORS_LONG};
    enum { MASK_RANK = 4 };
    for (size_t i = 0; i < COUNT(patterns); i++)
        if (fnmatch(patterns[i], tensor->name, 0) == 0)
            return true;
    return tensor->rank == MASK_RANK && fnmatch("*.attn.bias", tensor->name, 0) == 0; /* GPT-2's causal mask */
}

/* Whether the name belongs to the network: it begins as the names of a layer do, or is in a module outside the layers that `rows` has. */
static bool is_of_rows(const clf_tensor_readers *r, const clf_weight_name *rows, const char *name)
{
    for (; rows && rows->role != CLF_WEIGHT_END; rows++) {
        const char *before = rows->pattern[0] == '/' ? "" : r->prefix, *pattern = rows->pattern + (rows->pattern[0] == '/');
        const char *layer = strstr(pattern, "%d");
        const size_t prefix = strlen(before), length = layer ? (size_t)(layer - pattern) : strlen(pattern);
        if (strncmp(name, before, prefix) == 0 && strncmp(name + prefix, pattern, length) == 0 && (layer || name[prefix + length] == '.'))
            return true;
    }
    return false;
}

/* Whether a tensor is a second version of a loaded weight: the same name under another prefix, with different values. */
static bool is_second_version(const clf_checkpoint *checkpoint, const clf_tensor_readers *r, const char *name)
{
    char taken[CLFI_WEIGHT_NAME_BYTES];
    for (const char *const *prefix = r->names->prefixes; prefix && *prefix; prefix++) {
        if (strcmp(*prefix, r->prefix) == 0 || strncmp(name, *prefix, strlen(*prefix)) != 0)
            continue;
        const int length = snprintf(taken, sizeof taken, "%s%s", r->prefix, name + strlen(*prefix));
        if (length > 0 && (size_t)length < sizeof taken && r->is_taken(r->user, taken) && !clfi_checkpoint_is_copy(checkpoint, name, taken))
            return true;
    }
    return false;
}

clf_status clfi_unread_tensors_check(const clf_checkpoint *checkpoint, const clf_tensor_readers *r)
{
    clf_checkpoint_tensor tensor;
    /* config_kwargs may ask for less than the file stores, for example fewer layers */
    if (json_object_get(clfi_checkpoint_config(checkpoint), CLFI_CONFIG_ARGUMENTS))
        return CLF_OK;
    for (size_t i = 0; clfi_checkpoint_at(checkpoint, i, &tensor); i++) {
        if (r->is_taken(r->user, tensor.name) || is_harmless(&tensor) ||
            clfi_is_copy_of_table(checkpoint, r->names, r->prefix, tensor.name, r->is_taken, r->user))
            continue;
        if (is_second_version(checkpoint, r, tensor.name))
            CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: the file has this weight twice, with different values under \"%s\" (remove one of them)",
                     clfi_checkpoint_file_path(checkpoint, tensor.file), tensor.name, r->prefix);
        if (r->takes_all || is_of_rows(r, r->names->encoder, tensor.name) || is_of_rows(r, r->names->decoder, tensor.name))
            CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: unexpected tensor for model_type \"%s\" with this configuration",
                     clfi_checkpoint_file_path(checkpoint, tensor.file), tensor.name, r->model_type);
    }
    return CLF_OK;
}
