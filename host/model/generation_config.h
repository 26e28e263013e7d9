/* SPDX-License-Identifier: MIT */
/* What a model's files say about generating text beside the network. */
#ifndef CLFI_MODEL_GENERATION_CONFIG_H
#define CLFI_MODEL_GENERATION_CONFIG_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"

typedef struct clf_generation_config {
    int32_t *ends; /* [end_count]: tokens that end texts */
    size_t end_count;
    int32_t start[2]; /* [start_count]: what the texts of an encoder-decoder begin with */
    size_t start_count;
    int32_t *banned; /* [banned_count]: tokens that no text has */
    size_t banned_count;
} clf_generation_config;

/* From generation_config.json where `path` is a directory that has one, else from config.json, key by key: eos_token_id, a number or a
 * list; bad_words_ids; decoder_start_token_id (or bos_token_id) and, behind it, forced_bos_token_id. FORMAT: no numbers from 0.
 * UNSUPPORTED: bad words of several tokens. Release with clfi_generation_config_free. */
clf_status clfi_generation_config_read(const char *path, const json_t *config, clf_generation_config *out);

/* FORMAT: nothing to start the texts of an encoder-decoder (has_source) with, or a token outside the vocabulary. */
clf_status clfi_generation_config_check(const clf_generation_config *config, int64_t vocabulary, bool has_source);
void clfi_generation_config_free(clf_generation_config *config);

#endif
