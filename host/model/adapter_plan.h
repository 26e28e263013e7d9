/* SPDX-License-Identifier: MIT */
/* Plans an adapter's changes to a checkpoint: lists all tensors of the merged model, each with its changes. */
#ifndef CLFI_MODEL_ADAPTER_PLAN_H
#define CLFI_MODEL_ADAPTER_PLAN_H

#include <jansson.h>

#include "model/adapter_key.h"
#include "model/adapter_merge.h"

enum { CLFI_ADAPTER_MOST_CHANGES = 4 }; /* of one tensor: those of all modules that share a table */

typedef struct clf_adapter_entry {
    clf_checkpoint_tensor tensor; /* as loaders see it; its name is borrowed from the checkpoint, or is own_name */
    char *own_name;               /* of a tensor that the checkpoint has under another name, or not at all */
    clf_weight_type own_type;
    const void *data;                /* the model's own; NULL where it has none */
    const clf_file_tensor *replaced; /* the adapter's, in the place of the model's; NULL: not replaced */
    clf_adapter_change changes[CLFI_ADAPTER_MOST_CHANGES];
    size_t change_count;
    bool is_hidden; /* a copy of a shared table */
} clf_adapter_entry;

typedef struct clf_adapter_plan {
    clf_adapter_entry *entries; /* in the order of their names, without hidden ones */
    size_t count, capacity;
} clf_adapter_plan;

/* Sources of a plan; all are borrowed and must outlive it. */
typedef struct clf_adapter_source {
    clf_checkpoint *base; /* loaded */
    const clf_safetensors *file;
    const json_t *config; /* adapter_config.json */
    const char *config_path;
} clf_adapter_source;

/* FORMAT: sizes or ranks that do not fit, a factor without the other one, or no change at all. UNSUPPORTED: a tensor of the adapter that
 * the model lacks, that adapter_config.json excludes, or of a kind that is not merged. Messages name the tensor. */
clf_status clfi_adapter_plan_make(const clf_adapter_source *source, clf_adapter_plan *out);
void clfi_adapter_plan_clear(clf_adapter_plan *plan);

/* The entry of that name; NULL: there is none. */
const clf_adapter_entry *clfi_adapter_plan_find(const clf_adapter_plan *plan, const char *name);

#endif
