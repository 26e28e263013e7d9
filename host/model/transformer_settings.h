/* SPDX-License-Identifier: MIT */
/* Reads from sentence_bert_config.json (CLFI_TRANSFORMER_SETTINGS) how the network is called. */
#ifndef CLFI_MODEL_TRANSFORMER_SETTINGS_H
#define CLFI_MODEL_TRANSFORMER_SETTINGS_H

#include <jansson.h>
#include <stdint.h>

#include "base/status.h"

/* A length that binds, or 0 for one that does not (tools write "no limit" as 1e30 or Infinity). *out stays where the key is absent or
 * null. FORMAT. */
clf_status clfi_length_read(const json_t *json, const char *where, const char *key, int64_t *out);

/* `settings` as clfi_transformer_settings_read gives them, `name`: their file's. UNSUPPORTED, by file and key: a task or an output that is
 * not an encoder's, and the refused rows of the account. FORMAT. */
clf_status clfi_transformer_settings_check(const json_t *settings, const char *name);

/* Length at which longer texts are cut: processing_kwargs.text.max_length, else processor_kwargs.model_max_length, else max_seq_length, as
 * sentence-transformers has it. *out stays where none is there. FORMAT. */
clf_status clfi_transformer_settings_length(const json_t *settings, const char *name, int64_t *out);

/* UNSUPPORTED, by file and key: a key of config_kwargs in the directory's settings that nothing reads in `config`, which has it already:
 * sentence-transformers follows it. */
clf_status clfi_arguments_check(const char *directory, const json_t *config);

#endif
