/* SPDX-License-Identifier: MIT */
/* UTF-8 decoding and encoding of single code points (Unicode 15, section 3.9, table 3-7). */
#ifndef CLFI_BASE_UTF8_H
#define CLFI_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLFI_UTF8_INVALID 0xffffffffu

/* Decodes the code point at text[0..size), size > 0; returns the bytes consumed, at least 1. Broken input gives *code =
 * CLFI_UTF8_INVALID and consumes the maximal subpart of an ill-formed sequence (the practice that Unicode recommends). */
size_t clfi_utf8_decode(const unsigned char *text, size_t size, uint32_t *code);

/* Encodes `code` (a scalar value) into out[0..4); returns the number of bytes. */
size_t clfi_utf8_encode(uint32_t code, unsigned char out[4]);

/* Index of the first byte that is not well-formed UTF-8, or `size` if all of it is. */
size_t clfi_utf8_check(const unsigned char *text, size_t size);

/* False for what acts on a terminal instead of showing there: control characters, and those that turn the direction of text or hide in
 * it. */
bool clfi_utf8_is_printable(uint32_t code);

/* Whether it moves a terminal's cursor, changes its state or turns the direction of text: the control characters but newline and tab, and
 * U+202A to U+202E and U+2066 to U+2069. */
bool clfi_utf8_drives_terminal(uint32_t code);

/* Replaces broken UTF-8 and what is not printable by '?', byte by byte. */
void clfi_utf8_make_printable(char *text, size_t size);

#endif
