/* SPDX-License-Identifier: MIT */
/* config.json of a model directory: reading it, and what Hugging Face's families have in common there. */
#ifndef CLFI_MODEL_MODEL_CONFIG_H
#define CLFI_MODEL_MODEL_CONFIG_H

#include <jansson.h>

#include "base/status.h"
#include "clformer/linear.h"

/* How messages call the file. */
#define CLFI_MODEL_CONFIG "config.json"

/* Reads directory/config.json; release *out with json_decref. NOT_FOUND: no such directory or file. FORMAT: not JSON, or too large. */
clf_status clfi_model_config_read(const char *directory, json_t **out);

/* The activation that config[key] names as transformers does ("gelu", "gelu_new", "swish" ...); a missing key is `standard`. UNSUPPORTED:
 * another name. */
clf_status clfi_model_config_activation(const json_t *config, const char *key, const char *standard, clf_activation *out);

#endif
