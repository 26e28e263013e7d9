/* SPDX-License-Identifier: MIT */
/* Text of pages and pictures: appending, escaping and number formats. The first failure sticks and the rest does nothing. */
#ifndef CLFI_REPORT_MARKUP_H
#define CLFI_REPORT_MARKUP_H

#include "base/str.h"

typedef struct clfi_markup {
    clf_str text;
    clf_status status;
} clfi_markup;

#define CLFI_MARKUP_INIT {CLF_STR_INIT, CLF_OK}

/* The program's own markup, as it stands; no string of a file may go through these two. */
void clfi_markup_raw(clfi_markup *m, const char *text);
void clfi_markup_format(clfi_markup *m, const char *format, ...) CLFI_PRINTF(2, 3);

/* Text from anywhere for HTML and SVG, elements and attributes alike: & < > " ' become references; control characters and those that turn
 * the direction of writing become U+FFFD. At most `most` characters, the last one "…" where something was left out; 0: all. */
void clfi_markup_escape(clfi_markup *m, const char *text, size_t most);

/* The same for Markdown, inside a table's cell. */
void clfi_markup_escape_markdown(clfi_markup *m, const char *text);

/* "PoCL 3.1" at most `most` characters long, in the middle "…" where something was left out; for identifiers, whose end tells as much as
 * their start. */
void clfi_markup_escape_middle(clfi_markup *m, const char *text, size_t most);

enum { CLFI_FIGURE_BYTES = 32 };

/* Text in the place of a missing number. */
#define CLFI_NO_FIGURE "\u2013"

/* Three significant digits without exponent: "0.0123", "1.23", "12,300"; CLFI_NO_FIGURE for what is not finite. Returns `text`. */
const char *clfi_figure(double value, char text[CLFI_FIGURE_BYTES]);

/* Milliseconds with a unit that fits: "1.23 µs", "12.3 ms", "1.23 s"; bytes: "12.3 MiB". */
const char *clfi_figure_time(double ms, char text[CLFI_FIGURE_BYTES]);
const char *clfi_figure_bytes(double bytes, char text[CLFI_FIGURE_BYTES]);

#endif
