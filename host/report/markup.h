/* SPDX-License-Identifier: MIT */
/* Writes the text of reports: appends, escapes and formats numbers. m->status keeps the first failure; later calls append nothing. */
#ifndef CLFI_REPORT_MARKUP_H
#define CLFI_REPORT_MARKUP_H

#include "base/str.h"

typedef struct clfi_markup {
    clf_str text;
    clf_status status;
} clfi_markup;

#define CLFI_MARKUP_INIT {CLF_STR_INIT, CLF_OK}

/* Append the program's own markup unchanged. Strings of a file must not go through these two. clfi_markup_format: at most 1023 bytes a
 * call, else m->status becomes INTERNAL. */
void clfi_markup_raw(clfi_markup *m, const char *text);
void clfi_markup_format(clfi_markup *m, const char *format, ...) CLFI_PRINTF(2, 3);

/* Appends any text for HTML and SVG, in elements and attributes alike: & < > " ' become references; control characters and those that
 * change the direction of writing become U+FFFD. At most `most` characters, the last one "…" if something was left out; 0: all. */
void clfi_markup_escape(clfi_markup *m, const char *text, size_t most);

/* Appends any text for Markdown, also in a table's cell: a backslash precedes characters that Markdown interprets; U+FFFD as above. */
void clfi_markup_escape_markdown(clfi_markup *m, const char *text);

/* As clfi_markup_escape, but "…" stands in the middle if something was left out; for identifiers, whose end says as much as their start.
 * most: above 0. */
void clfi_markup_escape_middle(clfi_markup *m, const char *text, size_t most);

enum { CLFI_FIGURE_BYTES = 32 };

/* Stands for a missing number. */
#define CLFI_NO_FIGURE "\u2013"

/* At least three significant digits, without exponent: "0.0123", "1.23", "12,345"; CLFI_NO_FIGURE for NaN and infinities. Returns
 * `text`. */
const char *clfi_figure(double value, char text[CLFI_FIGURE_BYTES]);

/* A time, given in ms, and bytes with a fitting unit: "1.23 µs", "12.3 ms", "1.23 s"; "12.3 MiB". They return `text`. */
const char *clfi_figure_time(double ms, char text[CLFI_FIGURE_BYTES]);
const char *clfi_figure_bytes(double bytes, char text[CLFI_FIGURE_BYTES]);

#endif
