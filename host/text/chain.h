/* SPDX-License-Identifier: MIT */
/* A chain of parts of one sort (normalizers, pre-tokenizers, post-processors, decoders), read from tokenizer.json by a table with a row for
 * each "type". */
#ifndef CLFI_TEXT_CHAIN_H
#define CLFI_TEXT_CHAIN_H

#include <jansson.h>
#include <stddef.h>

#include "base/status.h"

/* The first members of the rows of all tables. */
typedef struct clf_part_kind {
    const char *type; /* as in tokenizer.json */

    /* Reads the settings of one part. `where` comes first in messages. *out is set only on success. NULL: the part has no settings. */
    clf_status (*read)(const json_t *json, const char *where, void **out);
    void (*destroy)(void *settings); /* NULL: free() does it */
} clf_part_kind;

typedef struct clf_part_table {
    const clf_part_kind *const *rows;
    size_t count;
    const char *members; /* key of a Sequence's list: "normalizers"; NULL: there are no Sequences */
} clf_part_table;

typedef struct clf_part {
    const clf_part_kind *kind;
    void *settings;
} clf_part;

typedef struct clf_chain {
    clf_part *parts;
    size_t count, capacity;
} clf_chain;

enum { CLFI_CHAIN_PARTS_MAX = 64 };

void clfi_chain_free(clf_chain *chain);

/* Appends the part that `json` describes, or all parts of a Sequence in their order; NULL adds nothing. FORMAT: not an object with a
 * "type", or more than CLFI_CHAIN_PARTS_MAX parts. UNSUPPORTED: a type that is not in the table; the message lists the known ones. Statuses
 * also those of clf_part_kind.read. The caller frees the chain, also after a failure. */
clf_status clfi_chain_read(const json_t *json, const char *where, const clf_part_table *table, clf_chain *chain);

/* The row of this type, NULL when there is none. */
const clf_part_kind *clfi_part_find(const clf_part_table *table, const char *type);

/* Fails with UNSUPPORTED and a message that names the type and lists the known ones. */
clf_status clfi_part_unknown(const clf_part_table *table, const char *where, const char *type);

#endif
