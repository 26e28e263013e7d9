/* SPDX-License-Identifier: MIT */
/* Python's kinds of lists. Jinja's filters and Python's methods give tuples, views and generators, which print, compare and end otherwise
 * than lists do. All are arrays of jansson here. Behind the elements of each other kind than a list lies a mark, which only these functions
 * know. */
#ifndef CLFI_TEMPLATE_LIST_KIND_H
#define CLFI_TEMPLATE_LIST_KIND_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"

/* X(kind, its name in messages, text before and behind its elements): GENERATOR's elements can be gone through once. */
#define CLFI_LIST_KINDS(X)                          \
    X(LIST, "list", "[", "]")                       \
    X(TUPLE, "tuple", "(", ")")                     \
    X(KEYS, "dict_keys", "dict_keys([", "])")       \
    X(VALUES, "dict_values", "dict_values([", "])") \
    X(ITEMS, "dict_items", "dict_items([", "])")    \
    X(RANGE, "range", NULL, NULL)                   \
    X(GENERATOR, "generator", NULL, NULL)

typedef enum clf_list_kind {
#define X(kind, name, before, behind) CLF_LIST_##kind,
    CLFI_LIST_KINDS(X)
#undef X
        CLF_LIST_KINDS
} clf_list_kind;

/* LIST also for values that are no arrays. */
clf_list_kind clfi_list_kind_of(const json_t *value);
const char *clfi_list_kind_name(clf_list_kind kind);

/* The text before its elements, and behind them; NULL: it has none that means something. */
const char *clfi_list_before(clf_list_kind kind);
const char *clfi_list_behind(clf_list_kind kind);

/* Elements; 0 for values that are no arrays. */
size_t clfi_list_count(const json_t *list);

/* Makes a plain list one of the kind. OUT_OF_MEMORY. */
clf_status clfi_list_mark(json_t *list, clf_list_kind kind);

/* The elements as a new plain list. A generator has none afterwards. OUT_OF_MEMORY. */
clf_status clfi_list_take(const json_t *list, json_t **out);

/* Takes the first `count` elements from a generator, as `in` does, which stops where it found one. OUT_OF_MEMORY. */
clf_status clfi_list_drop(const json_t *generator, size_t count);

#endif
