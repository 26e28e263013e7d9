/* SPDX-License-Identifier: MIT */
/* Changes the case of letters as Python's strings do: by Unicode's full mappings (ß becomes SS), and with the final sigma. */
#ifndef CLFI_TEMPLATE_LETTER_CASE_H
#define CLFI_TEMPLATE_LETTER_CASE_H

#include <stddef.h>

#include "base/status.h"
#include "base/str.h"

typedef enum clf_letter_case {
    CLF_CASE_UPPER, /* str.upper, and so on */
    CLF_CASE_LOWER,
    CLF_CASE_TITLE, /* a letter is a capital unless a letter stands before it: "What'S" */
    CLF_CASE_CAPITALIZE,
    CLF_CASE_SWAP,
    CLF_CASE_FOLD,
    CLF_CASE_TITLE_WORDS /* Jinja's filter title: words end at white space, hyphens and opening brackets alone: "What's" */
} clf_letter_case;

/* Appends the UTF-8 text in this case. FORMAT: it is not UTF-8. */
clf_status clfi_letter_case(clf_letter_case to, const char *text, size_t size, clf_str *out);

#endif
