/* SPDX-License-Identifier: MIT */
/* Reads from sentence_bert_config.json (CLFI_TRANSFORMER_SETTINGS) how sentence-transformers runs the network: the longest text, and
 * settings that are refused. */
#ifndef CLFI_MODEL_TRANSFORMER_SETTINGS_H
#define CLFI_MODEL_TRANSFORMER_SETTINGS_H

#include <jansson.h>
#include <stdint.h>

#include "base/status.h"

/* Reads a length. *out 0: one above 1e9, which is no limit (tools write "no limit" as 1e30 or Infinity). *out does not change if the key is
 * absent or null. FORMAT. */
clf_status clfi_length_read(const json_t *json, const char *where, const char *key, int64_t *out);

/* Checks `settings` as clfi_transformer_settings_read gives them; `name`: their file's. UNSUPPORTED, by file and key: a task or an output
 * that is neither an encoder's nor a classifier's, or a key that directory_account.h refuses. FORMAT. */
clf_status clfi_transformer_settings_check(const json_t *settings, const char *name);

/* Length to which longer texts are truncated: processing_kwargs.text.max_length, else processor_kwargs.model_max_length, else
 * max_seq_length, as sentence-transformers has it. *out does not change if no key has a length. FORMAT. */
clf_status clfi_transformer_settings_length(const json_t *settings, const char *name, int64_t *out);

/* Refuses keys of config_kwargs that sentence-transformers follows but nothing reads here. config: config.json with config_kwargs merged
 * in. UNSUPPORTED, by file and key. */
clf_status clfi_arguments_check(const char *directory, const json_t *config);

#endif
