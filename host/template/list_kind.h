/* SPDX-License-Identifier: MIT */
/* Python's kinds of lists. Jinja's filters and Python's methods return tuples, views and generators, which differ from lists in their text,
 * equality and lifetime. All are arrays of jansson here. Every kind but LIST has a mark as its last array element, which only these
 * functions know. */
#ifndef CLFI_TEMPLATE_LIST_KIND_H
#define CLFI_TEMPLATE_LIST_KIND_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"

/* X(kind, its name in messages, text before and behind its elements). A GENERATOR's elements can be read only once. */
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

/* The kind of an array; LIST also for other values. */
clf_list_kind clfi_list_kind_of(const json_t *value);
const char *clfi_list_kind_name(clf_list_kind kind);

/* The text before and behind the elements; NULL: a list of this kind has no useful text. */
const char *clfi_list_before(clf_list_kind kind);
const char *clfi_list_behind(clf_list_kind kind);

/* The number of elements, without the mark; 0 for values that are no arrays. */
size_t clfi_list_count(const json_t *list);

/* Turns a plain list into one of this kind. OUT_OF_MEMORY. */
clf_status clfi_list_mark(json_t *list, clf_list_kind kind);

/* Copies the elements to a new plain list; a generator is empty afterwards. OUT_OF_MEMORY. */
clf_status clfi_list_take(const json_t *list, json_t **out);

/* Removes the first `count` elements of a generator, such as those that `in` has looked at. OUT_OF_MEMORY. */
clf_status clfi_list_drop(const json_t *generator, size_t count);

#endif
