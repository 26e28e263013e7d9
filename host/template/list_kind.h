/* SPDX-License-Identifier: MIT */
/* Kinds of Python lists for chat templates. Jinja's filters and Python's methods return tuples, views and generators, which differ from
 * lists in their text, equality and lifetime. Here all of them are jansson arrays. An array of another kind than LIST ends with a mark,
 * an extra last element that only these functions know. */
#ifndef CLFI_TEMPLATE_LIST_KIND_H
#define CLFI_TEMPLATE_LIST_KIND_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"

/* X(kind, its name in messages, text before and after its elements). A GENERATOR's elements can be read only once. */
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

/* The text before and after the elements; NULL: the text of such a list is not supported. */
const char *clfi_list_before(clf_list_kind kind);
const char *clfi_list_behind(clf_list_kind kind);

/* The number of elements without the mark; 0 for a value that is not an array. */
size_t clfi_list_count(const json_t *list);

/* Turns a plain list into one of this kind. OUT_OF_MEMORY. */
clf_status clfi_list_mark(json_t *list, clf_list_kind kind);

/* Copies the elements to a new plain list; a generator is empty afterwards. OUT_OF_MEMORY. */
clf_status clfi_list_take(const json_t *list, json_t **out);

/* Removes the first `count` elements of a generator, for example those that the operator `in` has read. OUT_OF_MEMORY. */
clf_status clfi_list_drop(const json_t *generator, size_t count);

#endif
