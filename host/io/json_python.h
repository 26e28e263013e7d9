/* SPDX-License-Identifier: MIT */
/* Converts between the JSON of Python's json module, which has NaN, Infinity and big numbers, and the strict JSON (RFC 8259) that jansson
 * reads and writes. */
#ifndef CLFI_IO_JSON_PYTHON_H
#define CLFI_IO_JSON_PYTHON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/str.h"

/* Appends the text to *out as strict JSON that jansson reads. NaN, Infinity, -Infinity and numbers beyond double become strings
 * (stand-ins). Integers of more than 18 characters become real numbers, and escapes of lone surrogates become U+FFFD. Everything else is
 * copied, syntax errors too. keeps_digits: every finite number becomes a stand-in, from which clfi_json_append_restored writes the same
 * digits; other numbers become null. Stops once *out has `most` bytes. *out_read: the number of bytes read. */
clf_status clfi_json_rewrite(const char *text, size_t size, bool keeps_digits, size_t most, clf_str *out, size_t *out_read);

/* Whether the text has an escape of a lone surrogate, which clfi_json_rewrite replaces. */
bool clfi_json_has_lone_surrogate(const char *text, size_t size);

/* Replaces the stand-ins in a text that was rewritten without keeps_digits by the values that they stand for. NaN and infinities become
 * real numbers that json_real would refuse. Consumes *root; it is NULL after a failure. UNSUPPORTED: this version of jansson cannot hold
 * them. OUT_OF_MEMORY. */
clf_status clfi_json_restore(json_t **root);

/* For writing JSON. clfi_json_stand_in: a copy with strings in place of NaN and infinities (a new reference; NULL: not enough memory).
 * clfi_json_append_restored: appends the output of json_dumps for such a copy, with the stand-ins written as Python writes them. */
json_t *clfi_json_stand_in(const json_t *value);
clf_status clfi_json_append_restored(const char *text, clf_str *out);

#endif
