/* SPDX-License-Identifier: MIT */
/* Fields of a request's JSON object. A field that is null is as if it were not there. Each reader refuses another type or range by the
 * field's name, with what it may be and what was found. */
#ifndef CLFI_SERVE_FIELDS_H
#define CLFI_SERVE_FIELDS_H

#include <jansson.h>
#include <stdint.h>

#include "clformer/text.h"
#include "serve/error.h"

/* object[key]; NULL where it is missing or null. */
const json_t *srv_field(const json_t *object, const char *key);

bool srv_read_bool(const json_t *object, const char *key, bool standard, bool *out, srv_error *error);
bool srv_read_int(const json_t *object, const char *key, int64_t least, int64_t most, int64_t standard, int64_t *out, srv_error *error);
bool srv_read_number(const json_t *object, const char *key, double least, double most, double standard, double *out, srv_error *error);

/* *out NULL: it is missing. Borrowed from the object. A text that is C's: refused with U+0000. */
bool srv_read_word(const json_t *object, const char *key, const char **out, srv_error *error);

/* A string's text; U+0000 is a character like any other. */
clf_text srv_text(const json_t *string);

/* Refuses the field as what it should not be: "KEY: expected WHAT, found ...". */
bool srv_refuse_field(const json_t *object, const char *key, const char *what, srv_error *error);

/* Fields that would change the answer and are not supported, with the values that change nothing. */
typedef struct srv_unbuilt {
    const char *key;
    enum { SRV_ONLY_FALSE, SRV_ONLY_ONE, SRV_ONLY_ZERO, SRV_ONLY_EMPTY, SRV_ONLY_TEXT_FORMAT, SRV_ONLY_NOTHING } neutral;
} srv_unbuilt;

/* Refuses the first of them that asks for something. */
bool srv_check_unbuilt(const json_t *object, const srv_unbuilt *rows, size_t count, srv_error *error);

/* The body as a JSON object. *out: the caller releases it. */
bool srv_parse_body(const char *text, size_t size, json_t **out, srv_error *error);

#endif
