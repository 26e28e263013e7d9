/* SPDX-License-Identifier: MIT */
/* Keys of a model's files that nothing reads, though they might change its numbers. */
#ifndef CLFI_MODEL_UNREAD_KEYS_H
#define CLFI_MODEL_UNREAD_KEYS_H

#include <jansson.h>
#include <stdbool.h>

#include "clformer/status.h"
#include "model/directory_account.h"
#include "model/family.h"
#include "model/sentence_config.h"

/* *out: an array of the keys of `config`, in its order, that neither the family nor the labels nor generating look for and that are not
 * known to be about training, files or programs; those that are null or false do not count. Release it with json_decref. Statuses as the
 * family's. */
clf_status clfi_unread_keys(const json_t *config, const clf_family *family, json_t **out);

/* UNSUPPORTED, by file and key: a key of config_kwargs in the directory's CLFI_TRANSFORMER_SETTINGS that clfi_unread_keys lists in
 * `config`, which has it already: sentence-transformers follows it. */
clf_status clfi_arguments_check(const char *directory, const json_t *config, const clf_family *family);

/* The same of the directory's config_sentence_transformers.json; an empty array where it has none. labels: of the model's head. Without
 * modules.json only the similarity is looked for. */
clf_status clfi_unread_settings(const char *directory, const clf_sentence_config *config, int64_t labels, json_t **out);

/* Add the keys of both to the account: of config.json and of config_sentence_transformers.json. */
clf_status clfi_account_config(const json_t *config, const clf_family *family, clf_directory_account *account);
clf_status clfi_account_settings(const char *directory, const clf_sentence_config *config, int64_t labels, clf_directory_account *account);

/* Whether generating follows this key of generation_config.json, or of config.json in its place; or it says nothing about a text. */
bool clfi_is_generation_key(const char *key);

#endif
