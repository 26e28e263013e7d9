/* SPDX-License-Identifier: MIT */
/* Values of templates, with the meaning that they have in Python. A value is a jansson value; NULL is Jinja's undefined. Functions that
 * return json_t * return borrowed values; those with json_t **out give a new reference there. */
#ifndef CLFI_TEMPLATE_VALUE_H
#define CLFI_TEMPLATE_VALUE_H

#include <stdbool.h>

#include "template/template.h"

/* Lists, dictionaries and scopes cannot hold NULL: they hold a special value for undefined, which only these two functions know. stored:
 * the form in which they hold a value; read: the value of a stored form. Neither changes a count of references. */
json_t *clfi_value_stored(json_t *value);
json_t *clfi_value_read(json_t *stored);

/* Objects that are no dictionaries in Jinja. They have attributes, are true, can be tested, and can be kept in variables. Every other use
 * is refused (clfi_run_expression). A mark that no key of a template equals tells them from dictionaries. */
typedef enum clf_special { CLF_SPECIAL_NONE, CLF_SPECIAL_NAMESPACE, CLF_SPECIAL_LOOP, CLF_SPECIAL_METHOD } clf_special;
clf_special clfi_value_special(const json_t *value);
const char *clfi_special_name(clf_special special);

/* Marks a dictionary as a special object. OUT_OF_MEMORY. */
clf_status clfi_special_mark(json_t *object, clf_special special);

/* The i-th element of a list, borrowed; NULL: undefined, or there is none. */
json_t *clfi_value_at(const json_t *list, size_t i);

/* The kind for messages: "string", "undefined" ...; the value may be in its stored form. */
const char *clfi_value_kind(const json_t *value);

/* bool(value); undefined is false. */
bool clfi_value_is_true(const json_t *value);

/* a == b: numbers and bools by value, generators only if they are the same object, everything else by kind and content. undefined equals
 * undefined. */
bool clfi_value_equal(const json_t *a, const json_t *b);

/* A number or bool as double; false for other kinds. */
bool clfi_value_number(const json_t *value, double *out);

/* -1, 0, 1 for two numbers or two strings (by code points); false where Python cannot order them. */
bool clfi_value_order(const json_t *a, const json_t *b, int *out);

/* Appends str(value): a string itself, otherwise its literal; undefined is "". FORMAT: nested beyond CLFI_TEMPLATE_MAX_DEPTH, or longer
 * than CLFI_TEMPLATE_MAX_OUTPUT. UNSUPPORTED: a range or generator. */
clf_status clfi_value_append(const json_t *value, clf_str *out);

/* Appends repr(value), which quotes a string too; undefined in a list is Undefined. Statuses as above. */
clf_status clfi_value_append_literal(const json_t *value, clf_str *out);

/* The arguments of json.dumps. */
typedef struct template_json {
    bool is_ascii;          /* other characters as \uXXXX */
    int indent;             /* < 0: one line */
    const char *comma, *is; /* NULL: as Python has them with or without an indent */
} template_json;

/* Appends json.dumps(value, ...); an integer key becomes a string. FORMAT: it contains undefined, or a list that is neither list nor tuple;
 * too deep or too long as above. */
clf_status clfi_value_append_json(const json_t *value, const template_json *how, clf_str *out);

/* A dictionary stores a string key as it is, and an integer key as its digits after a byte that UTF-8 never has. A bool is the integer 0
 * or 1, and a whole real number is that integer. */
typedef struct template_key {
    char room[24];
    const char *text;
    size_t length;
} template_key;

/* The stored form of a key; false: the value is no string, whole number or bool. `out` points into itself or into `value`.
 * clfi_value_of_key makes the value of a stored key. */
bool clfi_value_key(const json_t *value, template_key *out);
clf_status clfi_value_of_key(const char *text, size_t length, json_t **out);

/* dict[key] as it is stored, borrowed; NULL: there is none, or `dict` is no dictionary. */
json_t *clfi_value_entry(const json_t *dict, const json_t *key);

/* *out = value, where `value` is the result of a jansson constructor. OUT_OF_MEMORY: it is NULL. */
clf_status clfi_value_new(json_t *value, json_t **out);

/* Makes a string. OUT_OF_MEMORY; FORMAT: it is not UTF-8. */
clf_status clfi_value_of_text(const char *text, size_t size, json_t **out);

/* The number of code points of a string, elements of a list or keys of a dictionary; false for generators and other kinds. */
bool clfi_value_length(const json_t *value, size_t *out);

/* The part of a string from code point `first`, `count` of them, every `step`-th (step != 0; negative: backwards from `first`). */
clf_status clfi_value_characters(const json_t *string, size_t first, size_t count, int64_t step, json_t **out);

/* The bytes of the white space character (Python's str.isspace) at the start of text[0..size); 0: it is none. */
size_t clfi_value_space(const char *text, size_t size);

/* Removes white space (characters NULL), or the listed characters, on the left or right of the text. */
void clfi_value_strip(const char **text, size_t *size, const json_t *characters, bool left, bool right);

/* *out: whether the item is in the container; undefined contains nothing. A generator loses the elements that were looked at. False: the
 * container is no string (for a string), list or dictionary (for a possible key), or there was not enough memory. */
bool clfi_value_contains(const json_t *container, const json_t *item, bool *out);

/* Reverses the order of the elements of a plain list. */
void clfi_value_reverse(json_t *list);

#endif
