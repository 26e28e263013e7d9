/* SPDX-License-Identifier: MIT */
/* Text of pictures: measured, shortened, and never invisible. */
#ifndef CLFI_CLI_HEATMAP_TEXT_H
#define CLFI_CLI_HEATMAP_TEXT_H

#include <cairo.h>
#include <stdbool.h>

#include "base/str.h"

/* Where a text's anchor lies. */
typedef enum cli_align { CLI_ALIGN_LEFT, CLI_ALIGN_CENTER, CLI_ALIGN_RIGHT } cli_align;

/* The machine's sans-serif font in this size. */
void cli_text_font(cairo_t *cr, double size);

/* Whether that is a real font; cairo draws plain strokes where the machine has none. */
bool cli_text_has_font(cairo_t *cr);

/* `text` as it is drawn: ill-formed and unprintable characters, and those that the current font lacks, become U+XXXX; what is wider than `limit`
 * loses its end for an ellipsis. */
clf_status cli_text_fit(cairo_t *cr, const char *text, double limit, clf_str *out);

double cli_text_width(cairo_t *cr, const char *text);

/* Draws at (x, y), vertically centred there; turned: reading upwards, x and y as before. */
void cli_text_draw(cairo_t *cr, const char *text, double x, double y, cli_align align, bool turned);

#endif
