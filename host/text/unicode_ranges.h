/* SPDX-License-Identifier: MIT */
/* Tables behind text/unicode.h: sorted ranges of code points without overlaps. */
#ifndef CLFI_TEXT_UNICODE_RANGES_H
#define CLFI_TEXT_UNICODE_RANGES_H

#include "text/unicode.h"

typedef struct clf_code_range {
    uint32_t first, last;
} clf_code_range;

typedef struct clf_property_range {
    uint32_t first, last;
    uint8_t flags;     /* CLFI_CHAR_* */
    uint8_t combining; /* canonical combining class; for marks 1 in place of every class but 0 */
} clf_property_range;

typedef struct clf_combining_range {
    uint32_t first, last;
    uint8_t combining; /* canonical combining class */
} clf_combining_range;

extern const clf_property_range clfi_property_ranges[];
extern const size_t clfi_property_range_count;

/* Characters with a combining class other than 0 that do not decompose. */
extern const clf_combining_range clfi_combining_ranges[];
extern const size_t clfi_combining_range_count;

/* All marks (Mn, Mc, Me); numbers (Nd, Nl, No); what has a compatibility decomposition. */
extern const clf_code_range clfi_accent_ranges[], clfi_numeric_ranges[], clfi_compatibility_ranges[];
extern const size_t clfi_accent_range_count, clfi_numeric_range_count, clfi_compatibility_range_count;

/* Characters that the regular expression \w matches. */
extern const clf_code_range clfi_word_ranges[];
extern const size_t clfi_word_range_count;

#endif
