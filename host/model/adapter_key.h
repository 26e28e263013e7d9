/* SPDX-License-Identifier: MIT */
/* Splits the names of tensors in an adapter's file into the module and what the tensor is to it. */
#ifndef CLFI_MODEL_ADAPTER_KEY_H
#define CLFI_MODEL_ADAPTER_KEY_H

#include <stdbool.h>

enum { CLFI_ADAPTER_NAME_BYTES = 256 };

typedef enum clf_adapter_part {
    CLF_ADAPTER_A,           /* M.lora_A.weight */
    CLF_ADAPTER_B,           /* M.lora_B.weight */
    CLF_ADAPTER_B_BIAS,      /* M.lora_B.bias */
    CLF_ADAPTER_EMBEDDING_A, /* M.lora_embedding_A */
    CLF_ADAPTER_EMBEDDING_B, /* M.lora_embedding_B */
    CLF_ADAPTER_WHOLE,       /* M.weight, M.bias, or the same of M.base_layer: a tensor of the model */
    CLF_ADAPTER_OTHER        /* of DoRA, or of other changes that are not merged */
} clf_adapter_part;

typedef struct clf_adapter_key {
    clf_adapter_part part;
    bool is_base_layer;                   /* WHOLE: the model's own parameter, which tied modules see too */
    char module[CLFI_ADAPTER_NAME_BYTES]; /* M, without base_model.model. */
    char tensor[CLFI_ADAPTER_NAME_BYTES]; /* what it changes: "M.weight" or "M.bias" */
} clf_adapter_key;

/* False: the name is too long for clf_adapter_key, or it is not the name of a parameter. */
bool clfi_adapter_key_read(const char *name, clf_adapter_key *out);

#endif
