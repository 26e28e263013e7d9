/* SPDX-License-Identifier: MIT */
/* A model's checkpoint: its files with the adapter that lies beside them, or the files that an adapter's directory names. */
#ifndef CLFI_MODEL_MODEL_CHECKPOINT_H
#define CLFI_MODEL_MODEL_CHECKPOINT_H

#include "io/checkpoint.h"

/* Opens a model's checkpoint as clfi_checkpoint_open does. If the directory has an adapter_config.json, the tensors are those of the
 * merged model: a tensor that the adapter changes has is_made, and is merged when it is loaded. Statuses also as clfi_adapter_base,
 * clfi_adapter_config_read and clfi_account_check. */
clf_status clfi_model_checkpoint_open(const char *path, clf_checkpoint **out);

/* Reads the config.json of the model in a directory; for an adapter it is the model's that the adapter belongs to. *out: the caller
 * releases it with json_decref. Statuses as clfi_model_checkpoint_open. */
clf_status clfi_model_config_read(const char *directory, json_t **out);

/* Changes of an adapter to a loaded checkpoint. */
typedef struct clf_adapter_info {
    const char *directory; /* of the adapter */
    const char *base;      /* of the model; both borrowed */
    size_t merged;         /* tensors that got products or biases added */
    size_t replaced;       /* tensors that are the adapter's own */
} clf_adapter_info;

/* False: the checkpoint has no adapter. */
bool clfi_checkpoint_adapter(const clf_checkpoint *checkpoint, clf_adapter_info *out);

#endif
