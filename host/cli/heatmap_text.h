/* SPDX-License-Identifier: MIT */
/* Text of pictures: measured, shortened, and never invisible. On a surface of pixels it is drawn with the machine's fonts; in an SVG it
 * stays text, which can be selected and searched, and whoever shows it has the fonts. */
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
    cairo_font_face_t *faces[CLI_PEN_FACES]; /* sans-serif, then fonts of characters that it lacks */
    size_t face_count;
    uint32_t lacking[CLI_PEN_LACKING]; /* characters that no font of the machine draws; those after the last place are not looked for */
    size_t lacking_count;
} cli_pen;

/* `cr` and `svg` are borrowed until cli_pen_close. */
cli_pen cli_pen_open(cairo_t *cr, clfi_markup *svg);
void cli_pen_close(cli_pen *pen);

void cli_pen_set_size(cli_pen *pen, double size);

/* Says on standard error, once, which characters of the texts so far no font draws, and which Debian package has one. */
void cli_pen_tell_lacking(const cli_pen *pen);

/* `text` as it is drawn: ill-formed and unprintable characters, and drawn ones that no font has, become U+XXXX; what is wider than `limit`
 * loses its end for an ellipsis. */
clf_status cli_text_fit(cli_pen *pen, const char *text, double limit, clf_str *out);

double cli_text_width(cli_pen *pen, const char *text);

/* Draws at (x, y), vertically centred there; turned: reading upwards, x and y as before. */
void cli_text_draw(cli_pen *pen, const char *text, double x, double y, cli_align align, bool turned);

#endif
