/* SPDX-License-Identifier: MIT */
/* The types of tensors in mixed files, by their names. Source of the rules: llama_tensor_get_type in src/llama-quant.cpp of
 * https://github.com/ggml-org/llama.cpp. */
#include "io/gguf_mix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* The layer in "blk.12.attn_v.weight" and the rest of the name; -1: a tensor of no layer. */
static int64_t layer_of(const char *name, const char **rest)
{
    char *end;
    if (strncmp(name, "blk.", 4) != 0 || name[4] < '0' || name[4] > '9')
        return -1;
    const long layer = strtol(name + 4, &end, 10);
    if (*end != '.' || layer > INT32_MAX)
        return -1;
    *rest = end + 1;
    return layer;
}

void clfi_gguf_mix_see(clf_gguf_mix *mix, const clf_gguf_tensor *tensor)
{
    const char *rest = "";
    const int64_t layer = layer_of(tensor->name, &rest);
    mix->layers = layer >= mix->layers ? layer + 1 : mix->layers;
    mix->has_head = mix->has_head || strcmp(tensor->name, "output.weight") == 0;
    if (layer == 0 && strcmp(rest, "attn_q.weight") == 0)
        mix->query_rows = tensor->dim[0];
    if (layer == 0 && strcmp(rest, "attn_v.weight") == 0)
        mix->value_rows = tensor->dim[0];
}

/* 80 layers whose heads share values, as in Llama 70B: the values are few. */
static bool is_70b(const clf_gguf_mix *mix)
{
    return mix->layers == 80 && mix->value_rows < mix->query_rows;
}

static bool has_more_bits(int64_t layer, int64_t layers)
{
    const int64_t eighth = layers / 8;
    return layer < eighth || layer >= 7 * layers / 8 || (layer - eighth) % 3 == 2;
}

static clf_weight_type type_of_matrix(const clf_gguf_mix *mix, const char *name)
{
    const clf_gguf_file_type *file = mix->file;
    const char *rest = "";
    const int64_t layer = layer_of(name, &rest);
    const bool is_value = strcmp(rest, "attn_v.weight") == 0 || strcmp(rest, "attn_qkv.weight") == 0;
    if (strcmp(name, "output.weight") == 0)
        return file->head;
    if (strcmp(name, "token_embd.weight") == 0)
        return mix->has_head ? file->table : file->head;
    if ((is_value || strcmp(rest, "ffn_down.weight") == 0) && has_more_bits(layer, mix->layers))
        return file->better;
    return is_value && is_70b(mix) && file->most == CLF_WEIGHT_Q4_K ? CLF_WEIGHT_Q5_K : file->most;
}

/* The type with blocks of 32 in the place of one with blocks of 256. */
static clf_weight_type of_short_blocks(clf_weight_type type)
{
    switch (type) {
    case CLF_WEIGHT_Q4_K:
        return CLF_WEIGHT_Q5_0;
    case CLF_WEIGHT_Q5_K:
        return CLF_WEIGHT_Q5_1;
    case CLF_WEIGHT_Q6_K:
        return CLF_WEIGHT_Q8_0;
    default:
        return type;
    }
}

static bool is_smaller(clf_weight_type a, clf_weight_type b)
{
    const clf_weight_type_info *one = clfi_weight_type_info(a), *other = clfi_weight_type_info(b);
    return one->block_bytes * other->block_weights < other->block_bytes * one->block_weights;
}

clf_weight_type clfi_gguf_mixed_type(const clf_gguf_mix *mix, const clf_gguf_tensor *tensor)
{
    if (tensor->rank < 2 || strcmp(tensor->name, "position_embd.weight") == 0)
        return tensor->type;
    const int64_t columns = tensor->dim[tensor->rank - 1];
    clf_weight_type wanted = type_of_matrix(mix, tensor->name);
    if (columns % clfi_weight_type_info(wanted)->block_weights != 0)
        wanted = of_short_blocks(wanted);
    if (columns % clfi_weight_type_info(wanted)->block_weights != 0 || (wanted != mix->file->most && is_smaller(tensor->type, wanted)))
        return tensor->type;
    return wanted;
}
