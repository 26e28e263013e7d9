/* SPDX-License-Identifier: MIT */
/* What a model's files say about generating text beside the network. */
#ifndef CLFI_MODEL_GENERATION_CONFIG_H
#define CLFI_MODEL_GENERATION_CONFIG_H

#include <jansson.h>

#include "base/status.h"

/* Tokens that end a text: eos_token_id, a number or a list, of generation_config.json where `path` is a directory that has one, else of
 * config.json. *out: the caller frees it. FORMAT: no number from 0. */
clf_status clfi_generation_read_ends(const char *path, const json_t *config, int32_t **out, size_t *out_count);

#endif
