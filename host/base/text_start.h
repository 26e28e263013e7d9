/* SPDX-License-Identifier: MIT */
/* How a text file begins: a byte order mark, or an encoding other than UTF-8. */
#ifndef CLFI_BASE_TEXT_START_H
#define CLFI_BASE_TEXT_START_H

#include <stddef.h>

#include "base/status.h"
#include "base/str.h"

/* *out_skip: bytes of UTF-8's byte order mark (3 or 0), which is not part of the text. FORMAT: the bytes are UTF-16 or UTF-32, by their
 * mark or, without one, by the NULs of their first characters; the message has the iconv command. `name`: the file's, for messages. */
clf_status clfi_text_start(const char *bytes, size_t size, const char *name, size_t *out_skip);

/* Checks a text in memory as clfi_text_start does, and removes its mark. */
clf_status clfi_text_skip_mark(const char *name, clf_str *text);

#endif
