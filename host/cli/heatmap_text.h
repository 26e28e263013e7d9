/* SPDX-License-Identifier: MIT */
/* Measures, shortens and draws the text of pictures. On a surface of pixels it is drawn with the machine's fonts, and characters that no
 * font has are shown by number. In an SVG it stays text, which can be selected and searched, and the viewer brings the fonts. */
#ifndef CLFI_CLI_HEATMAP_TEXT_H
#define CLFI_CLI_HEATMAP_TEXT_H

#include <cairo.h>
#include <stdbool.h>

#include "base/str.h"
#include "report/markup.h"

/* Side of a text that its position refers to. */
typedef enum cli_align { CLI_ALIGN_LEFT, CLI_ALIGN_CENTER, CLI_ALIGN_RIGHT } cli_align;

enum { CLI_PEN_FACES = 8, CLI_PEN_LACKING = 64 };

typedef struct cli_pen {
    cairo_t *cr;
    clfi_markup *svg; /* texts become elements of it; NULL: they are drawn to cr */
    double size;
    cairo_font_face_t *faces[CLI_PEN_FACES]; /* sans-serif, then fonts for characters that it lacks */
    size_t face_count;
    uint32_t lacking[CLI_PEN_LACKING]; /* characters without a font; if the list is full, no font is searched for others */
    size_t lacking_count;
} cli_pen;

/* `cr` and `svg` are borrowed until cli_pen_close. */
cli_pen cli_pen_open(cairo_t *cr, clfi_markup *svg);
void cli_pen_close(cli_pen *pen);

void cli_pen_set_size(cli_pen *pen, double size);

/* Says on standard error, once, which characters of the texts so far no font draws, and which Debian package has one. */
void cli_pen_tell_lacking(const cli_pen *pen);

/* *out: `text` as it is drawn. Unprintable characters become U+XXXX, and so do those that no font has, except in an SVG. Ill-formed UTF-8
 * becomes "?". A text wider than `limit` loses its end for an ellipsis. OUT_OF_MEMORY. */
clf_status cli_text_fit(cli_pen *pen, const char *text, double limit, clf_str *out);

/* In picture units, at the pen's size. */
double cli_text_width(cli_pen *pen, const char *text);

/* Draws a line of text. (x, y) is its left end, centre or right end by `align`, at half the height of letters. turned: the text reads
 * upwards. */
void cli_text_draw(cli_pen *pen, const char *text, double x, double y, cli_align align, bool turned);

#endif
