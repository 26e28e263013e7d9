/* SPDX-License-Identifier: MIT */
/* Values of templates as Python sees them. A value is a jansson value; NULL is Jinja's undefined. Functions that return json_t * give a new
 * reference, and NULL only where they say so. */
#ifndef CLFI_TEMPLATE_VALUE_H
#define CLFI_TEMPLATE_VALUE_H

#include <stdbool.h>

#include "template/template.h"

/* Lists, dictionaries and scopes cannot hold NULL: undefined lies in them as a value of its own kind, which only these two functions know.
 * stored: what to put there for a value; read: the value that was put there. Neither takes nor gives a reference. */
json_t *clfi_value_stored(json_t *value);
json_t *clfi_value_read(json_t *stored);

/* The i-th element of a list, borrowed; NULL: undefined, or there is none. */
json_t *clfi_value_at(const json_t *list, size_t i);

/* "string", "undefined" ... for messages; of what a list holds, too. */
const char *clfi_value_kind(const json_t *value);

/* bool(value); undefined is false. */
bool clfi_value_is_true(const json_t *value);

/* a == b: numbers and bools by value, everything else by kind and content; undefined equals undefined. */
bool clfi_value_equal(const json_t *a, const json_t *b);

/* A number or bool as double; false for other kinds. */
bool clfi_value_number(const json_t *value, double *out);

/* -1, 0, 1 for two numbers or two strings (by code points); false where Python cannot order them. */
bool clfi_value_order(const json_t *a, const json_t *b, int *out);

/* Appends str(value): a string itself, otherwise its literal; undefined is "". FORMAT: nested beyond CLFI_TEMPLATE_MAX_DEPTH. */
clf_status clfi_value_append(const json_t *value, clf_str *out);

/* Appends repr(value): the literal of a string too; undefined in a list is Undefined. */
clf_status clfi_value_append_literal(const json_t *value, clf_str *out);

/* The arguments of json.dumps. */
typedef struct template_json {
    bool is_ascii;          /* other characters as \uXXXX */
    int indent;             /* < 0: one line */
    const char *comma, *is; /* NULL: as Python has them with or without an indent */
} template_json;

/* Appends json.dumps(value, ...); an integer key becomes a string. FORMAT: there is something undefined in it. */
clf_status clfi_value_append_json(const json_t *value, const template_json *how, clf_str *out);

/* A dictionary keeps a string key as it is, and an integer one as its digits behind a byte that no string has. A bool is 0 or 1 here. */
typedef struct template_key {
    char room[24];
    const char *text;
    size_t length;
} template_key;

/* False: neither string nor integer nor bool. `out` points into itself or into `value`. */
bool clfi_value_key(const json_t *value, template_key *out);
clf_status clfi_value_of_key(const char *text, size_t length, json_t **out);

/* dict[key] as it is stored, borrowed; NULL: there is none, or `dict` is no dictionary. */
json_t *clfi_value_entry(const json_t *dict, const json_t *key);

/* *out = value, which a constructor of jansson made. OUT_OF_MEMORY: it made none. */
clf_status clfi_value_new(json_t *value, json_t **out);

/* The string as value. OUT_OF_MEMORY, FORMAT (not UTF-8). */
clf_status clfi_value_of_text(const char *text, size_t size, json_t **out);

/* Code points of a string, list elements, dictionary keys; false for other kinds. */
bool clfi_value_length(const json_t *value, size_t *out);

/* The part of a string from code point `first`, `count` of them, every `step`-th (step != 0; negative: backwards from `first`). */
clf_status clfi_value_characters(const json_t *string, size_t first, size_t count, int64_t step, json_t **out);

/* Python's white space (str.isspace) at text[at..size): bytes of it, 0: none. */
size_t clfi_value_space(const char *text, size_t size);

/* text without white space (characters NULL), or without the listed characters, on its left or right. */
void clfi_value_strip(const char **text, size_t *size, const json_t *characters, bool left, bool right);

/* Whether the item is in the container; false where that is no string (of a string), list or dictionary (of what can be a key). */
bool clfi_value_contains(const json_t *container, const json_t *item, bool *out);

/* The last element first. */
void clfi_value_reverse(json_t *list);

#endif
