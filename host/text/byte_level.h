/* SPDX-License-Identifier: MIT */
/* Byte-level text: each byte is written as a character that can be seen (GPT-2's bytes_to_unicode): printable Latin-1 as itself, the others
 * as U+0100 on. */
#ifndef CLFI_TEXT_BYTE_LEVEL_H
#define CLFI_TEXT_BYTE_LEVEL_H

#include "text/aligned_text.h"

/* The byte of a character, -1 when it stands for none. */
int clfi_char_to_byte(uint32_t code);

/* Appends bytes [start, end) of `from` as such characters; each has the span of its byte. */
clf_status clfi_byte_level_append(clf_aligned_text *to, const clf_aligned_text *from, size_t start, size_t end);

#endif
