/* SPDX-License-Identifier: MIT */
/* Extensions of Python's json module to RFC 8259, for a parser and a writer that know the RFC alone. */
#ifndef CLFI_IO_JSON_PYTHON_H
#define CLFI_IO_JSON_PYTHON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/str.h"

/* Appends the text with stand-ins, all within strict JSON, for NaN, Infinity and -Infinity, numbers beyond double and integers beyond
 * int64, and with U+FFFD for escapes of lone surrogates. It stops once it has written `most` bytes. *out_read: the bytes of the text that
 * were read. Anything else is copied, mistakes too. keeps_digits: every number becomes a stand-in, from which clfi_json_append_restored
 * writes the same digits, and one that is not finite becomes null. */
clf_status clfi_json_rewrite(const char *text, size_t size, bool keeps_digits, size_t most, clf_str *out, size_t *out_read);

/* Whether the text has an escape of half a surrogate pair, which clfi_json_rewrite replaces. */
bool clfi_json_has_lone_surrogate(const char *text, size_t size);

/* Replaces the stand-ins in the values of a rewritten text by what they stand for. Numbers that are not finite become real numbers of
 * jansson's, which json_real refuses to make. Takes over *root, which is NULL after a failure. UNSUPPORTED: this version of jansson cannot
 * hold them. OUT_OF_MEMORY. */
clf_status clfi_json_restore(json_t **root);

/* For the writer. stand_in: the value with strings in place of what strict JSON cannot hold (a new reference; NULL: not enough memory).
 * append_restored: appends what json_dumps makes of such a value as Python writes it. */
json_t *clfi_json_stand_in(const json_t *value);
clf_status clfi_json_append_restored(const char *text, clf_str *out);

#endif
