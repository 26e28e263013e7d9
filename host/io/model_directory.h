/* SPDX-License-Identifier: MIT */
/* Finds the network's files in a model's directory, and reads the settings file that sentence-transformers keeps beside them. */
#ifndef CLFI_IO_MODEL_DIRECTORY_H
#define CLFI_IO_MODEL_DIRECTORY_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"

/* The file with sentence-transformers' list of modules. */
#define CLFI_SENTENCE_MODULES "modules.json"

/* Name of the settings file in the table of known files and keys (model/directory_account.h), which stands for each of the file's names. */
#define CLFI_TRANSFORMER_SETTINGS "sentence_*_config.json"

enum { CLFI_MODULE_PATH_BYTES = 128 };

/* A module's "path" as a name inside the model's directory: "1_Pooling" of "1_Pooling", "./1_Pooling/"; "" (the directory itself) of "",
 * "." and "./". FORMAT: any other path, such as "../x", "/x" and "a/b". */
clf_status clfi_module_path(const char *path, char out[CLFI_MODULE_PATH_BYTES]);

/* The directory with the network's config.json, its weights and its tokenizer, newly allocated. It is `directory` itself, or a folder in it
 * if modules.json names one for a first module of type Transformer (older versions of sentence-transformers wrote "0_Transformer").
 * clfi_sentence_config_read reports other faults of modules.json. FORMAT: its path, or the file is not JSON; IO. */
clf_status clfi_network_directory(const char *directory, char **out);

/* Reads the object of sentence_bert_config.json in the network's directory, or of a file with one of its other names: the first that exists
 * and is not empty, in sentence-transformers' order. The other names are sentence_roberta_config.json, ..._distilbert_, ..._camembert_,
 * ..._albert_, ..._xlm-roberta_, ..._xlnet_. *out: the caller releases it with json_decref; NULL: no such file. *name: the file's name,
 * static storage. FORMAT: not an object; IO. */
clf_status clfi_transformer_settings_read(const char *network_directory, json_t **out, const char **name);

/* clfi_transformer_settings_read for a model's directory, whose network may lie in a folder. Statuses also those of
 * clfi_network_directory. */
clf_status clfi_transformer_settings_open(const char *directory, json_t **out, const char **name);

/* Whether `name` is one of the seven names that clfi_transformer_settings_read tries. */
bool clfi_is_transformer_settings(const char *name);

/* Reads an object of the settings: under a key's older name ("config_args") if the settings have it, else under `key` ("config_kwargs").
 * `name` is the file's name for messages. *found: the key that was read. *out, borrowed from the settings; NULL: the value is missing or
 * null. FORMAT: not an object. */
clf_status clfi_transformer_arguments(const json_t *settings, const char *name, const char *key, const char *older, const char **found,
                                      const json_t **out);

#endif
