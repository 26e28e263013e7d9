/* SPDX-License-Identifier: MIT */
/* Says for each file and key of a model's directory whether clformer follows it, refuses it, or knows that it changes no result: the
 * directory's account. Refusals, notes and `info` all come from one table (directory_rows.c), so that a new key is a new row. */
#ifndef CLFI_MODEL_DIRECTORY_ACCOUNT_H
#define CLFI_MODEL_DIRECTORY_ACCOUNT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "io/model_directory.h"

typedef enum clf_account_verdict { CLF_ACCOUNT_FOLLOWED, CLF_ACCOUNT_REFUSED, CLF_ACCOUNT_HARMLESS } clf_account_verdict;

/* Objects that have rows of their own, beside those that other headers name. */
#define CLFI_ACCOUNT_CLASSIFIER "config.json of a classifier"
#define CLFI_ACCOUNT_QUANTIZATION "config.json: quantization_config: quant_method"
#define CLFI_ACCOUNT_GENERATION "generation_config.json"
#define CLFI_ACCOUNT_TOKENIZER "tokenizer_config.json"
#define CLFI_ACCOUNT_SPECIALS "special_tokens_map.json"
#define CLFI_ACCOUNT_ADDED "added_tokens.json"
#define CLFI_ACCOUNT_WITH_MODULES "config_sentence_transformers.json beside modules.json"
#define CLFI_ACCOUNT_MODEL_ARGUMENTS CLFI_TRANSFORMER_SETTINGS ": model_kwargs"
#define CLFI_ACCOUNT_TOKENIZER_ARGUMENTS CLFI_TRANSFORMER_SETTINGS ": processor_kwargs"
#define CLFI_ACCOUNT_CONFIG_ARGUMENTS CLFI_TRANSFORMER_SETTINGS ": config_kwargs"
#define CLFI_ACCOUNT_PROCESSING CLFI_TRANSFORMER_SETTINGS ": processing_kwargs"
#define CLFI_ACCOUNT_TEXT CLFI_ACCOUNT_PROCESSING ": text"
#define CLFI_ACCOUNT_COMMON CLFI_ACCOUNT_PROCESSING ": common"
#define CLFI_ACCOUNT_MODALITIES CLFI_TRANSFORMER_SETTINGS ": modality_config"

typedef struct clf_account_row {
    const char *file;  /* its name, or "<file>: <key>" of an object inside; of a module's config.json "<class>/config.json" */
    const char *types; /* the values of config.json's model_type for which the row holds, a space between two; NULL: all */
    clf_account_verdict verdict;
    const char *reason; /* who reads it; what to do; or why it changes nothing */
    const char *keys;   /* a space between two; "*": every key without a row of its own; "": the file itself, by a pattern as fnmatch has
                           them */
} clf_account_row;

/* All rows; *count of them, static storage. */
const clf_account_row *clfi_account_rows(size_t *count);

/* Whether a list of words with a space between two has the word. */
bool clfi_account_has(const char *list, const char *word);

/* The row of a key in a file of a model of this type (NULL: unknown, so that only rows for all types count). The first row that has the key
 * counts, else the file's "*". NULL: there is none. */
const clf_account_row *clfi_account_find(const char *file, const char *type, const char *key);

/* The row of a file by its name; NULL: none. */
const clf_account_row *clfi_account_file(const char *name);

/* Whether the key belongs to generation_config.json, or to config.json where older models have it. Generating follows such keys, refuses
 * values that change texts, or knows that they change none. */
bool clfi_account_generates(const char *key);

/* Whether a value asks for something: it is not null, not false and no empty object or list. */
bool clfi_account_is_set(const json_t *value);

/* UNSUPPORTED "<where>: <key>: <reason>": a key of a refused row is set. `where`: the file as messages name it. If the row is "*", false
 * counts as set, too. */
clf_status clfi_account_check(const json_t *object, const char *file, const char *where);

/* Lists of texts "<file>: <key>". */
typedef struct clf_directory_account {
    json_t *followed, *harmless, *unknown;
} clf_directory_account;

#define CLF_DIRECTORY_ACCOUNT_INIT \
    {                              \
        NULL, NULL, NULL           \
    }

/* The next four functions add the keys of files of a directory that loads. Release with clfi_directory_account_clear, also on failure.
 * Statuses: those of reading the files, and OUT_OF_MEMORY. */

/* The keys of config.json. labels: of the model's head; without a head, keys of classifiers change nothing. */
clf_status clfi_account_config(const json_t *config, int64_t labels, clf_directory_account *account);

/* config_sentence_transformers.json. Without modules.json beside it, sentence-transformers reads only some of its keys. */
clf_status clfi_account_settings(const char *directory, clf_directory_account *account);

/* The Transformer's settings and the config.json of each module. */
clf_status clfi_account_modules(const char *directory, clf_directory_account *account);

/* tokenizer_config.json, special_tokens_map.json and added_tokens.json. */
clf_status clfi_account_tokenizer(const char *directory, clf_directory_account *account);

/* The unknown keys of the file `where`. *out: an array, which the caller releases. */
clf_status clfi_account_unknown(const clf_directory_account *account, const char *where, json_t **out);
void clfi_directory_account_clear(clf_directory_account *account);

#endif
