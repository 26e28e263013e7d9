/* SPDX-License-Identifier: MIT */
/* adapter_config.json: what peft's LoRA adapters change, and by how much. */
#ifndef CLFI_MODEL_ADAPTER_CONFIG_H
#define CLFI_MODEL_ADAPTER_CONFIG_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Reads and checks a directory's adapter_config.json. *out: the object, which the caller releases; NULL: there is none. *out_path: the
 * file's path, which the caller frees. UNSUPPORTED, naming the key: a peft_type other than LORA, starting weights that change the model's
 * (init_lora_weights pissa, corda, olora, loftq, lora_ga), keys that change the network (use_dora ...), unknown keys, an unknown value of
 * bias. FORMAT: a value of the wrong type. */
clf_status clfi_adapter_config_read(const char *directory, char **out_path, json_t **out);

/* The rank of a module's factors (rank_pattern, else r) and the factor of their product: alpha / rank, or alpha / sqrt(rank) with
 * use_rslora, where alpha is alpha_pattern's or lora_alpha. path: the config's, for messages. module: its path in the network
 * ("encoder.layer.0.attention.self.query"). FORMAT: a value of the wrong type, or a rank that is no whole number above 0. */
clf_status clfi_adapter_config_scaling(const json_t *config, const char *path, const char *module, int64_t *rank, double *scaling);

/* Whether the adapter adds a product to the module, by peft's rules. target_modules is a list of names, a regular expression, or
 * "all-linear" (or absent) for every module; layers_to_transform and layers_pattern narrow a list. Modules of exclude_modules and
 * modules_to_save get none. */
clf_status clfi_adapter_config_targets(const json_t *config, const char *path, const char *module, bool *out);

/* Whether modules_to_save names the module or one that holds it. */
clf_status clfi_adapter_config_saves(const json_t *config, const char *path, const char *module, bool *out);

#endif
