/* SPDX-License-Identifier: MIT */
/* Splits the name of a tensor in an adapter's file into the module that it changes and its part in the change. */
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
    CLF_ADAPTER_WHOLE,       /* M.weight, M.bias, M.base_layer.weight or .bias: replaces the model's tensor */
    CLF_ADAPTER_OTHER        /* DoRA and other changes that cannot be merged */
} clf_adapter_part;

typedef struct clf_adapter_key {
    clf_adapter_part part;
    bool is_base_layer;                   /* WHOLE, named M.base_layer: tied modules change too */
    char module[CLFI_ADAPTER_NAME_BYTES]; /* M, without the prefix "base_model.model." */
    char tensor[CLFI_ADAPTER_NAME_BYTES]; /* the model's tensor that changes: "M.weight" or "M.bias" */
} clf_adapter_key;

/* False: the name is too long for clf_adapter_key, or it is not the name of a parameter. */
bool clfi_adapter_key_read(const char *name, clf_adapter_key *out);

#endif
