/* SPDX-License-Identifier: MIT */
/* Text of pictures: measured, shortened, and never invisible. */
#include "cli/heatmap_text.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"

enum { MOST_CHARACTERS = 400 }; /* more do not fit any picture, and need not be measured */

void cli_text_font(cairo_t *cr, double size)
{
    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr, size);
}

bool cli_text_has_font(cairo_t *cr)
{
    return cairo_scaled_font_get_type(cairo_get_scaled_font(cr)) != CAIRO_FONT_TYPE_USER;
}

/* Whether the current font draws this character as itself; glyph 0 stands for all that it lacks, and cairo's own strokes know ASCII only. */
static bool has_glyph(cairo_t *cr, uint32_t code, const char *bytes, size_t size)
{
    cairo_glyph_t *glyphs = NULL;
    int count = 0;
    if (code < 0x20 || code == 0x7f)
        return false;
    if (!cli_text_has_font(cr))
        return code < 0x7f;
    const cairo_status_t status =
        cairo_scaled_font_text_to_glyphs(cairo_get_scaled_font(cr), 0, 0, bytes, (int)size, &glyphs, &count, NULL, NULL, NULL);
    const bool found = status == CAIRO_STATUS_SUCCESS && count > 0 && glyphs[0].index != 0;
    cairo_glyph_free(glyphs);
    return found;
}

static clf_status replace_missing(cairo_t *cr, const char *text, clf_str *out)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t left = strlen(text);
    for (int i = 0; left && i < MOST_CHARACTERS; i++) {
        uint32_t code;
        const size_t size = clfi_utf8_decode(at, left, &code);
        if (code == CLFI_UTF8_INVALID)
            CLF_TRY(clfi_str_append_text(out, "?"));
        else if (has_glyph(cr, code, (const char *)at, size))
            CLF_TRY(clfi_str_append(out, at, size));
        else
            CLF_TRY(clfi_str_appendf(out, "U+%04X", (unsigned)code));
        at += size;
        left -= size;
    }
    return CLF_OK;
}

clf_status cli_text_fit(cairo_t *cr, const char *text, double limit, clf_str *out)
{
    static const char dots[] = "\xe2\x80\xa6";
    const char *ellipsis = has_glyph(cr, 0x2026, dots, 3) ? dots : "..";
    clfi_str_clear(out);
    CLF_TRY(replace_missing(cr, text, out));
    if (cli_text_width(cr, clfi_str_text(out)) <= limit)
        return CLF_OK;
    size_t keep = out->length;
    do { /* one character less */
        while (keep > 0 && (out->data[--keep] & 0xc0) == 0x80)
            continue;
        out->length = keep;
        CLF_TRY(clfi_str_append_text(out, ellipsis));
    } while (keep > 0 && cli_text_width(cr, out->data) > limit);
    return CLF_OK;
}

double cli_text_width(cairo_t *cr, const char *text)
{
    cairo_text_extents_t extents;
    cairo_text_extents(cr, text, &extents);
    return fmax(extents.x_advance, extents.x_bearing + extents.width);
}

void cli_text_draw(cairo_t *cr, const char *text, double x, double y, cli_align align, bool turned)
{
    cairo_font_extents_t font;
    const double width = cli_text_width(cr, text);
    cairo_font_extents(cr, &font);
    cairo_save(cr);
    cairo_translate(cr, x, y);
    if (turned)
        cairo_rotate(cr, -1.5707963267948966); /* a quarter */
    cairo_move_to(cr, align == CLI_ALIGN_LEFT ? 0 : align == CLI_ALIGN_RIGHT ? -width : -width / 2, (font.ascent - font.descent) / 2);
    cairo_show_text(cr, text);
    cairo_restore(cr);
}
