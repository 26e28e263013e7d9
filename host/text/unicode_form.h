/* SPDX-License-Identifier: MIT */
/* Makes Unicode's normal forms (UAX 15), as lists of characters with the place that each comes from (clfi_rewrite_put). */
#ifndef CLFI_TEXT_UNICODE_FORM_H
#define CLFI_TEXT_UNICODE_FORM_H

#include <stdbool.h>

#include "text/text_workspace.h"

typedef struct clf_unicode_form {
    bool compatible; /* NFKD, NFKC */
    bool composed;   /* NFC, NFKC */
} clf_unicode_form;

/* Writes the form of UTF-8 text[0..size) to work->codes, which is emptied first. */
clf_status clfi_unicode_form_of(clf_unicode_form form, const char *text, size_t size, clf_text_workspace *work);

/* Appends the form of `from` to `to`. */
clf_status clfi_unicode_form_run(clf_unicode_form form, const clf_aligned_text *from, clf_aligned_text *to, clf_text_workspace *work);

/* Appends `from` with each character in lower case to `to`. */
clf_status clfi_lowercase(const clf_aligned_text *from, clf_aligned_text *to);

#endif
