/* SPDX-License-Identifier: MIT */
/* JSON from untrusted files, through jansson: its one reader, its one writer, and getters whose errors name file, key, expected and
 * found. */
#ifndef CLFI_IO_JSON_H
#define CLFI_IO_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"

enum { CLFI_JSON_MAX_DEPTH = 128 }; /* arrays and objects inside each other */

/* Parses text[0..size), which need not end with NUL, as Python's json module reads it. Beyond RFC 8259 it takes NaN, Infinity and
 * -Infinity, keys that come twice (the last counts), and escapes of lone surrogates, which become U+FFFD. Any value may be the root. A byte
 * order mark of UTF-8 is left out. An integer outside int64 becomes a real number, and a number outside double an infinity. Real numbers
 * may thus be infinite or NaN: readers check their range. FORMAT "<name>: line L, column C: ...": syntax errors, text after the value,
 * bytes that are not UTF-8, U+0000 in a key (it may stand in a string value), nesting deeper than CLFI_JSON_MAX_DEPTH. FORMAT also: UTF-16
 * and UTF-32, by name. OUT_OF_MEMORY. `name` is the file's name for messages. Release *out with json_decref. */
clf_status clfi_json_parse(const char *text, size_t size, const char *name, json_t **out);

/* clfi_json_parse for one line of a file. Messages give the column only, "<name>, column C: ...": `name` ends with the line's number. */
clf_status clfi_json_parse_line(const char *text, size_t size, const char *name, json_t **out);

/* clfi_json_parse for formats that are not written by hand or by Python: RFC 8259 alone, and no key twice. */
clf_status clfi_json_parse_strict(const char *text, size_t size, const char *name, json_t **out);

/* Appends the value as json_dumps writes it with these flags, and numbers that are not finite as Python does, so that clfi_json_parse reads
 * the same value. OUT_OF_MEMORY "<what> as JSON: not enough memory", also for value NULL, and if an allocation of the thread's JSON values
 * has failed since the last call. So a caller that builds a value need not check each of its parts. */
clf_status clfi_json_write(const json_t *value, size_t flags, const char *what, clf_str *out);

/* Appends the object text[0..size), which clfi_json_parse has read, without the member `key`, as RFC 8259 has it: numbers with the digits
 * that were written, null for NaN and infinities. Appends nothing where no member is left. what: its name for messages. OUT_OF_MEMORY. */
clf_status clfi_json_append_without(const char *text, size_t size, const char *key, const char *what, clf_str *out);

/* A copy whose arrays and objects may be changed without changing the original's; strings and numbers are shared. NULL: not enough memory.
 * (json_deep_copy fails at numbers that are not finite.) */
json_t *clfi_json_copy(const json_t *value);

/* The text as a JSON string, with U+FFFD where it is not UTF-8. NULL: not enough memory. */
json_t *clfi_json_text(const char *text, size_t size);

/* Reads and parses a file. FORMAT when it is larger than limit_bytes; NOT_FOUND and IO as clfi_file_read. */
clf_status clfi_json_read(const char *path, size_t limit_bytes, json_t **out);

/* Reads and parses the file `name` of a directory; *out NULL: it has none. *out_path (may be NULL): its path, which the caller frees; NULL
 * where there is no file. FORMAT when it is larger than CLFI_MODEL_FILE_BYTES; IO. */
clf_status clfi_json_read_in(const char *directory, const char *name, char **out_path, json_t **out);

/* The getters below read object[key]. `where` comes first in every message: the file's name, or "<file>: <outer key>" for inner
 * objects. FORMAT: `object` is not an object, the key is missing or null, the type is wrong, the value is out of range.
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

/* The optional forms: a missing key or null gives `standard`; every other fault is FORMAT as above. */
clf_status clfi_json_opt_int(const json_t *object, const char *where, const char *key, int64_t min, int64_t max, int64_t standard,
                             int64_t *out);
clf_status clfi_json_opt_number(const json_t *object, const char *where, const char *key, double min, double max, double standard,
                                double *out);
clf_status clfi_json_opt_bool(const json_t *object, const char *where, const char *key, bool standard, bool *out);
clf_status clfi_json_opt_string(const json_t *object, const char *where, const char *key, const char *standard, const char **out);

/* *out NULL: the key is missing or null. */
clf_status clfi_json_opt_object(const json_t *object, const char *where, const char *key, const json_t **out);
clf_status clfi_json_opt_array(const json_t *object, const char *where, const char *key, const json_t **out);

/* Describes a value for a message, for example `string "abc"`, `integer -3`, `array of 2`; returns `text`. NULL is "nothing". */
enum { CLFI_JSON_FOUND_BYTES = 80 };
const char *clfi_json_found(const json_t *value, char text[CLFI_JSON_FOUND_BYTES]);

#endif
