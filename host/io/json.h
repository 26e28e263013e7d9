/* SPDX-License-Identifier: MIT */
/* JSON from untrusted files (RFC 8259, through jansson): strict parsing, and getters whose errors name file, key, expected and found. */
#ifndef CLFI_IO_JSON_H
#define CLFI_IO_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { CLFI_JSON_MAX_DEPTH = 128 }; /* arrays and objects inside each other */

/* Parses text[0..size), which need not end with NUL. Any value may be the root. Refused with FORMAT "<name>: line L, column C: ...":
 * syntax errors, text after the value, duplicate keys, bytes that are not UTF-8, lone surrogates, U+0000 in a key (it may stand in a
 * string value), numbers outside double, nesting deeper than CLFI_JSON_MAX_DEPTH. An integer outside int64 becomes a real number.
 * `name` is the file's name for messages. Release *out with json_decref. */
clf_status clfi_json_parse(const char *text, size_t size, const char *name, json_t **out);

/* Reads and parses a file. FORMAT when it is larger than limit_bytes; NOT_FOUND and IO as clfi_file_read. */
clf_status clfi_json_read(const char *path, size_t limit_bytes, json_t **out);

/* Reads and parses the file `name` of a directory; *out NULL: it has none. *out_path (may be NULL): its path, which the caller frees; NULL
 * where there is no file. FORMAT when it is larger than CLFI_MODEL_FILE_BYTES; IO. */
clf_status clfi_json_read_in(const char *directory, const char *name, char **out_path, json_t **out);

/* The getters below read object[key]. `where` comes first in every message: the file's name, or "<file>: <outer key>" for inner
 * objects. FORMAT: `object` is no object, the key is missing or null, the type is wrong, the value is out of range.
 * Strings, arrays and objects are borrowed from the parsed document. */

/* An integer in [min, max]; 3.0 is a number, not an integer. */
clf_status clfi_json_get_int(const json_t *object, const char *where, const char *key, int64_t min, int64_t max, int64_t *out);

/* An integer or real number in [min, max]. */
clf_status clfi_json_get_number(const json_t *object, const char *where, const char *key, double min, double max, double *out);
clf_status clfi_json_get_bool(const json_t *object, const char *where, const char *key, bool *out);

/* A string without U+0000, so that it is a C string. */
clf_status clfi_json_get_string(const json_t *object, const char *where, const char *key, const char **out);
clf_status clfi_json_get_object(const json_t *object, const char *where, const char *key, const json_t **out);
clf_status clfi_json_get_array(const json_t *object, const char *where, const char *key, const json_t **out);

/* The optional forms: a missing key or null gives the default; every other fault is refused as above. */
clf_status clfi_json_opt_int(const json_t *object, const char *where, const char *key, int64_t min, int64_t max, int64_t standard,
                             int64_t *out);
clf_status clfi_json_opt_number(const json_t *object, const char *where, const char *key, double min, double max, double standard,
                                double *out);
clf_status clfi_json_opt_bool(const json_t *object, const char *where, const char *key, bool standard, bool *out);
clf_status clfi_json_opt_string(const json_t *object, const char *where, const char *key, const char *standard, const char **out);

/* NULL when missing or null. */
clf_status clfi_json_opt_object(const json_t *object, const char *where, const char *key, const json_t **out);
clf_status clfi_json_opt_array(const json_t *object, const char *where, const char *key, const json_t **out);

/* From now on the getters note in `seen`, an object, the keys that this thread looks for in `object`; NULL, NULL: no longer. Both are
 * borrowed until then. */
void clfi_json_watch(const json_t *object, json_t *seen);

/* Describes a value for a message, for example `string "abc"`, `integer -3`, `array of 2`; returns `text`. NULL is "nothing". */
enum { CLFI_JSON_FOUND_BYTES = 80 };
const char *clfi_json_found(const json_t *value, char text[CLFI_JSON_FOUND_BYTES]);

#endif
