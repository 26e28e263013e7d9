/* SPDX-License-Identifier: MIT */
/* Finds the parts of a model's directory, and sentence-transformers' file beside the network. */
#ifndef CLFI_IO_MODEL_DIRECTORY_H
#define CLFI_IO_MODEL_DIRECTORY_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"

/* sentence-transformers' list of modules. */
#define CLFI_SENTENCE_MODULES "modules.json"

/* How the account of files and keys calls the file that clfi_transformer_settings_read reads. */
#define CLFI_TRANSFORMER_SETTINGS "sentence_*_config.json"

enum { CLFI_MODULE_PATH_BYTES = 128 };

/* A module's "path" as a name inside the model's directory: "1_Pooling" of "1_Pooling", "./1_Pooling/"; "" (the directory itself) of "",
 * "." and "./". FORMAT: any other path, such as "../x", "/x" and "a/b". */
clf_status clfi_module_path(const char *path, char out[CLFI_MODULE_PATH_BYTES]);

/* The directory with the network's config.json, its weights and its tokenizer, newly allocated. It is `directory` itself, or a folder in it
 * if modules.json names one for a first module of type Transformer (older versions of sentence-transformers wrote "0_Transformer").
 * clfi_sentence_config_read reports other faults of modules.json. FORMAT: its path, or the file is not JSON; IO. */
clf_status clfi_network_directory(const char *directory, char **out);

/* The object of sentence_bert_config.json in the network's directory, or of a file of another name that it has had: the first that is there
 * and not empty. sentence-transformers looks for them in this order: sentence_roberta_config.json, ..._distilbert_, ..._camembert_,
 * ..._albert_, ..._xlm-roberta_, ..._xlnet_. *out NULL: none. *name: the file's, static storage. FORMAT: no object; IO. */
clf_status clfi_transformer_settings_read(const char *network_directory, json_t **out, const char **name);

/* The same of a model's directory, whose network may lie in a folder. Statuses also those of clfi_network_directory. */
clf_status clfi_transformer_settings_open(const char *directory, json_t **out, const char **name);

/* Whether the file's name is one of those seven. */
bool clfi_is_transformer_settings(const char *name);

/* Reads the object that the settings have under `key` or, without it, under its older name: "config_kwargs", "config_args". *found: the
 * name that is there. *out NULL: neither, or null. FORMAT: no object. */
clf_status clfi_transformer_arguments(const json_t *settings, const char *name, const char *key, const char *older, const char **found,
                                      const json_t **out);

#endif
