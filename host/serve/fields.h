/* SPDX-License-Identifier: MIT */
/* Reads the fields of a request's JSON object for the routes. A null field counts as missing, and so do all fields if the object is NULL.
 * A reader refuses a wrong type or value with the field's name, what was expected and what was found. */
#ifndef CLFI_SERVE_FIELDS_H
#define CLFI_SERVE_FIELDS_H

#include <jansson.h>
#include <stdint.h>

#include "clformer/text.h"
#include "serve/error.h"

/* object[key]; NULL: it is missing or null. */
const json_t *srv_field(const json_t *object, const char *key);

/* standard: the value if the field is missing. least, most: the limits of the field's value, both included. */
bool srv_read_bool(const json_t *object, const char *key, bool standard, bool *out, srv_error *error);
bool srv_read_int(const json_t *object, const char *key, int64_t least, int64_t most, int64_t standard, int64_t *out, srv_error *error);
bool srv_read_number(const json_t *object, const char *key, double least, double most, double standard, double *out, srv_error *error);

/* Reads a string; U+0000 in it is refused, because *out is a C string. *out: borrowed from the object; NULL: the field is missing. */
bool srv_read_word(const json_t *object, const char *key, const char **out, srv_error *error);

/* Reads a list of token ids below `vocabulary` into out[json_array_size(ids)]. param: the field. where, hint: beginning and end of the
 * message. */
bool srv_read_ids(const json_t *ids, size_t vocabulary, const char *param, const char *where, const char *hint, int32_t *out,
                  srv_error *error);

/* Whether the value is this text. */
bool srv_is_word(const json_t *value, const char *word);

/* The text of a JSON string, borrowed from it; it may contain U+0000. */
clf_text srv_text(const json_t *string);

/* Refuses a field with a wrong type or value: "KEY: expected WHAT, found ...". */
bool srv_refuse_field(const json_t *object, const char *key, const char *what, srv_error *error);

/* A field that is not supported. `neutral`: the only value that is accepted, because it changes nothing; ABSENT: none is. */
typedef struct srv_unbuilt {
    const char *key;
    enum {
        SRV_ONLY_FALSE,
        SRV_ONLY_TRUE,
        SRV_ONLY_ONE,
        SRV_ONLY_ZERO,
        SRV_ONLY_EMPTY,
        SRV_ONLY_TEXT_FORMAT,
        SRV_ONLY_NO_TOOLS, /* "auto" too, where the request has no tools */
        SRV_ONLY_FLOAT,
        SRV_ONLY_RIGHT,
        SRV_ONLY_ABSENT
    } neutral;
} srv_unbuilt;

/* Refuses the first field of rows[0..count) that has a value other than its neutral one. */
bool srv_check_unbuilt(const json_t *object, const srv_unbuilt *rows, size_t count, srv_error *error);

/* The body as a JSON object. *out: the caller releases it. most_bytes: memory that its values may occupy; *out_bytes: that they occupy. */
bool srv_parse_body(const char *text, size_t size, size_t most_bytes, json_t **out, size_t *out_bytes, srv_error *error);

#endif
