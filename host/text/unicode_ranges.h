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

extern const clf_property_range clfi_property_ranges[];
extern const size_t clfi_property_range_count;

/* Characters that the regular expression \w matches. */
extern const clf_code_range clfi_word_ranges[];
extern const size_t clfi_word_range_count;

#endif
