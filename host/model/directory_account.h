/* SPDX-License-Identifier: MIT */
/* The account of a model's files and their keys: what is followed, what is refused, and what is known to change no number. One table
 * (directory_rows.h) says it; refusals, notes and info read it, so that a new key is a new row. */
#ifndef CLFI_MODEL_DIRECTORY_ACCOUNT_H
#define CLFI_MODEL_DIRECTORY_ACCOUNT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

typedef enum clf_account_verdict { CLF_ACCOUNT_FOLLOWED, CLF_ACCOUNT_REFUSED, CLF_ACCOUNT_HARMLESS } clf_account_verdict;

typedef struct clf_account_row {
    const char *file; /* its name, or "<file>: <key>" of an object inside; of a module's config.json "<class>/config.json" */
    const char *key;  /* "*": every key without a row of its own; "": the file itself, by a pattern as fnmatch has them */
    clf_account_verdict verdict;
    const char *reason; /* who reads it; what to do; or why it changes nothing */
} clf_account_row;

/* All rows; *count of them, static storage. */
const clf_account_row *clfi_account_rows(size_t *count);

/* The row of a key of a file, or the file's "*"; NULL: none. */
const clf_account_row *clfi_account_find(const char *file, const char *key);

/* The row of a file by its name; NULL: none. */
const clf_account_row *clfi_account_file(const char *name);

/* Whether a value asks for something: it is not null, not false and no empty object or list. */
bool clfi_account_is_set(const json_t *value);

/* UNSUPPORTED "<where>: <key>: <reason>": a key of a refused row that is set. `where`: the file as messages name it. */
clf_status clfi_account_check(const json_t *object, const char *file, const char *where);

/* Lists of texts "<file>: <key>". */
typedef struct clf_directory_account {
    json_t *followed, *harmless, *unknown;
} clf_directory_account;

#define CLF_DIRECTORY_ACCOUNT_INIT \
    {                              \
        NULL, NULL, NULL           \
    }

/* Adds the keys of the sentence-transformers files of a directory that loads: of the Transformer's settings and of the config.json of each
 * module. Release with clfi_directory_account_clear, also on failure. */
clf_status clfi_account_modules(const char *directory, clf_directory_account *account);

/* Adds the keys of one object by the rows of `file`; those in `seen` (NULL: none) are followed. Keys that are not set and have no row are
 * left out. */
clf_status clfi_account_add(const json_t *object, const char *file, const char *where, const json_t *seen, clf_directory_account *account);

/* "<where>: <key>" to one of the lists, which is made if it is NULL. */
clf_status clfi_account_append(json_t **list, const char *where, const char *key);
void clfi_directory_account_clear(clf_directory_account *account);

#endif
