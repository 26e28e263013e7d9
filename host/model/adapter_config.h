/* SPDX-License-Identifier: MIT */
/* adapter_config.json: what peft's LoRA adapters change, and by how much. */
#ifndef CLFI_MODEL_ADAPTER_CONFIG_H
#define CLFI_MODEL_ADAPTER_CONFIG_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Reads and checks a directory's adapter_config.json. *out: the object, which the caller releases; NULL: there is none. *out_path: the
 * file's path, which the caller frees.
 * UNSUPPORTED, by the key: another peft_type than LORA, use_dora, starting weights that change the model's (init_lora_weights pissa, corda,
 * olora, loftq, lora_ga), keys that change the network, keys that are unknown. FORMAT: another type of value. */
clf_status clfi_adapter_config_read(const char *directory, char **out_path, json_t **out);

/* Scaling of the module with this path in the network ("encoder.layer.0.attention.self.query"). Its rank comes from rank_pattern or r,
 * alpha from alpha_pattern or lora_alpha. The factor of its product is alpha / rank, or alpha / sqrt(rank) with use_rslora. */
clf_status clfi_adapter_config_scaling(const json_t *config, const char *path, const char *module, int64_t *rank, double *scaling);

/* Whether the adapter changes the module: target_modules (a list of names, a regular expression or "all-linear"), exclude_modules,
 * layers_to_transform and layers_pattern, which peft reads so. */
clf_status clfi_adapter_config_targets(const json_t *config, const char *path, const char *module, bool *out);

/* Whether modules_to_save names the module or one that holds it. */
clf_status clfi_adapter_config_saves(const json_t *config, const char *path, const char *module, bool *out);

#endif
