/* SPDX-License-Identifier: MIT */
/* Character properties, lower-casing and canonical decomposition as the reference tokenizers (Hugging Face's `tokenizers`) have them:
 * Unicode 8 categories, Unicode 9 decomposition, Unicode 17 lower case. Ids then do not depend on the Unicode library installed. */
#ifndef CLFI_TEXT_UNICODE_H
#define CLFI_TEXT_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum {
    CLFI_CHAR_CONTROL = 1,     /* what text cleaning removes: Cc, Cf, Co but tab, newline and return; also U+FFFD */
    CLFI_CHAR_WHITESPACE = 2,  /* White_Space */
    CLFI_CHAR_PUNCTUATION = 4, /* P*, and every ASCII character that is neither letter, digit, space nor control */
    CLFI_CHAR_MARK = 8,        /* Mn: what accent stripping removes */
};

typedef struct clf_char_properties {
    uint8_t flags;
    uint8_t combining; /* canonical combining class; for marks 1 in place of every class but 0 */
} clf_char_properties;

clf_char_properties clfi_char_properties(uint32_t code);

/* Letter, mark, digit, connector or joiner: a regular expression's \w. */
bool clfi_char_is_word(uint32_t code);

/* A mark of any kind: Mn, Mc, Me. */
bool clfi_char_is_accent(uint32_t code);

/* Nd, Nl, No. */
bool clfi_char_is_numeric(uint32_t code);

bool clfi_char_is_whitespace(uint32_t code);

/* Canonical combining class (of a character that does not decompose). */
uint8_t clfi_char_combining_class(uint32_t code);

/* Ideograph that BERT sets apart by spaces: the ranges of its first implementation, without U+2B820..U+2B91F. */
bool clfi_char_is_chinese(uint32_t code);

enum { CLFI_LOWER_MAX = 2, CLFI_DECOMPOSE_MAX = 4, CLFI_COMPATIBILITY_MAX = 18 };

/* Unconditional full lower-casing of one character (final sigma needs context and is not done); returns the count written. */
size_t clfi_char_lower(uint32_t code, uint32_t out[CLFI_LOWER_MAX]);

/* Full canonical decomposition of one character (NFD without reordering); returns the count written. */
size_t clfi_char_decompose(uint32_t code, uint32_t out[CLFI_DECOMPOSE_MAX]);

/* Full compatibility decomposition (NFKD without reordering); returns the count written. */
size_t clfi_char_decompose_compatibly(uint32_t code, uint32_t out[CLFI_COMPATIBILITY_MAX]);

/* The character that a starter and a following character compose to (NFC); false when they don't. */
bool clfi_char_compose(uint32_t first, uint32_t second, uint32_t *out);

#endif
