/* SPDX-License-Identifier: MIT */
/* Draws texts of heat maps with cairo, measures them, and chooses a font for each character. For an SVG it writes text elements instead. */
#include "cli/heatmap_text.h"

#include <cairo-ft.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

#include "base/utf8.h"

enum { MOST_CHARACTERS = 400, NO_FACE = -1 }; /* longer texts are truncated: they fit into no picture */

cli_pen cli_pen_open(cairo_t *cr, clfi_markup *svg)
{
    cli_pen pen = {.cr = cr, .svg = svg, .face_count = 1};
    pen.faces[0] = cairo_toy_font_face_create("sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cli_pen_set_size(&pen, 12);
    return pen;
}

void cli_pen_close(cli_pen *pen)
{
    while (pen->face_count > 0)
        cairo_font_face_destroy(pen->faces[--pen->face_count]);
}

static cairo_scaled_font_t *use_face(cli_pen *pen, int face)
{
    cairo_set_font_face(pen->cr, pen->faces[face < 0 ? 0 : face]);
    return cairo_get_scaled_font(pen->cr);
}

void cli_pen_set_size(cli_pen *pen, double size)
{
    pen->size = size;
    cairo_set_font_size(pen->cr, size);
    use_face(pen, 0);
}

/* Whether the face has a glyph for this character. cairo returns glyph 0 for a character that the face lacks. On a machine without fonts
 * cairo draws simple strokes, for ASCII only. */
static bool has_glyph(cli_pen *pen, int face, uint32_t code, const char *bytes, size_t size)
{
    cairo_glyph_t *glyphs = NULL;
    int count = 0;
    cairo_scaled_font_t *font = use_face(pen, face);
    if (cairo_scaled_font_get_type(font) == CAIRO_FONT_TYPE_USER)
        return code < 0x7f;
    const cairo_status_t status = cairo_scaled_font_text_to_glyphs(font, 0, 0, bytes, (int)size, &glyphs, &count, NULL, NULL, NULL);
    const bool found = status == CAIRO_STATUS_SUCCESS && count > 0 && glyphs[0].index != 0;
    cairo_glyph_free(glyphs);
    return found;
}

/* Returns the font that fontconfig finds for this character, or NULL. fontconfig returns the nearest match, which may still lack the
 * character. */
static cairo_font_face_t *ask_fontconfig(uint32_t code)
{
    cairo_font_face_t *face = NULL;
    FcResult result;
    FcPattern *wanted = FcPatternCreate(), *found = NULL;
    FcCharSet *characters = FcCharSetCreate();
    if (wanted && characters && FcCharSetAddChar(characters, code) && FcPatternAddCharSet(wanted, FC_CHARSET, characters) &&
        FcConfigSubstitute(NULL, wanted, FcMatchPattern)) {
        FcDefaultSubstitute(wanted);
        found = FcFontMatch(NULL, wanted, &result);
    }
    if (found)
        face = cairo_ft_font_face_create_for_pattern(found);
    if (found)
        FcPatternDestroy(found);
    if (characters)
        FcCharSetDestroy(characters);
    if (wanted)
        FcPatternDestroy(wanted);
    return face;
}

/* Index of the face that draws the character; NO_FACE: none does. */
static int find_face(cli_pen *pen, uint32_t code, const char *bytes, size_t size)
{
    if (code >= 0x20 && code < 0x7f)
        return 0;
    for (size_t i = 0; i < pen->lacking_count; i++)
        if (pen->lacking[i] == code)
            return NO_FACE;
    for (size_t i = 0; i < pen->face_count; i++)
        if (has_glyph(pen, (int)i, code, bytes, size))
            return (int)i;
    if (pen->lacking_count == CLI_PEN_LACKING)
        return NO_FACE;
    if (pen->face_count < CLI_PEN_FACES && !pen->svg) {
        cairo_font_face_t *face = ask_fontconfig(code);
        if (face) {
            const int index = (int)pen->face_count;
            pen->faces[pen->face_count++] = face;
            if (cairo_font_face_status(face) == CAIRO_STATUS_SUCCESS && has_glyph(pen, index, code, bytes, size))
                return index;
            pen->face_count--;
            use_face(pen, 0); /* cr drops its reference to the face */
            cairo_font_face_destroy(face);
        }
    }
    pen->lacking[pen->lacking_count++] = code;
    return NO_FACE;
}

/* Returns the Debian package of a font that has this character. */
static const char *package_of(uint32_t code)
{
    static const struct {
        uint32_t first, last;
        const char *package;
    } rows[] = {{0x1100, 0x11ff, "fonts-noto-cjk"},           {0x2600, 0x27bf, "fonts-noto-color-emoji"},
                {0x2e80, 0x9fff, "fonts-noto-cjk"},           {0xa960, 0xa97f, "fonts-noto-cjk"},
                {0xac00, 0xd7ff, "fonts-noto-cjk"},           {0xf900, 0xfaff, "fonts-noto-cjk"},
                {0xfe30, 0xfe4f, "fonts-noto-cjk"},           {0xff00, 0xffef, "fonts-noto-cjk"},
                {0x1f000, 0x1faff, "fonts-noto-color-emoji"}, {0x20000, 0x3ffff, "fonts-noto-cjk"}};
    for (size_t i = 0; i < COUNT(rows); i++)
        if (code >= rows[i].first && code <= rows[i].last)
            return rows[i].package;
    return "fonts-noto-core";
}

static void tell_package(const cli_pen *pen, const char *package)
{
    enum { NAMED = 5 };
    size_t count = 0;
    for (size_t i = 0; i < pen->lacking_count; i++) {
        unsigned char bytes[4];
        if (strcmp(package_of(pen->lacking[i]), package) != 0 || ++count > NAMED)
            continue;
        fputs(count == 1 ? "clformer: no font here has " : ", ", stderr);
        fwrite(bytes, 1, clfi_utf8_encode(pen->lacking[i], bytes), stderr);
        fprintf(stderr, " (U+%04X)", (unsigned)pen->lacking[i]);
    }
    if (count > NAMED)
        fprintf(stderr, " and %zu more", count - NAMED);
    if (count)
        fprintf(stderr, "; the picture shows numbers. Debian's package: %s\n", package);
}

void cli_pen_tell_lacking(const cli_pen *pen)
{
    static const char *const packages[] = {"fonts-noto-cjk", "fonts-noto-color-emoji", "fonts-noto-core"};
    if (pen->svg)
        return;
    cairo_set_font_face(pen->cr, pen->faces[0]);
    if (cairo_scaled_font_get_type(cairo_get_scaled_font(pen->cr)) == CAIRO_FONT_TYPE_USER) {
        fputs("clformer: no font found: texts are drawn in plain strokes, and only ASCII (install a font package, such as "
              "fonts-dejavu-core)\n",
              stderr);
        return;
    }
    for (size_t i = 0; i < COUNT(packages); i++)
        tell_package(pen, packages[i]);
}

/* Whether the character is a variation selector, which only changes the look of the character before it. */
static bool is_silent(uint32_t code)
{
    return code >= 0xfe00 && code <= 0xfe0f;
}

static clf_status replace_missing(cli_pen *pen, const char *text, clf_str *out)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t left = strlen(text);
    for (int i = 0; left && i < MOST_CHARACTERS; i++) {
        uint32_t code;
        const size_t size = clfi_utf8_decode(at, left, &code);
        if (code == CLFI_UTF8_INVALID)
            CLF_TRY(clfi_str_append_text(out, "?"));
        else if (!clfi_utf8_is_printable(code))
            CLF_TRY(clfi_str_appendf(out, "U+%04X", (unsigned)code));
        else if (pen->svg || find_face(pen, code, (const char *)at, size) != NO_FACE)
            CLF_TRY(clfi_str_append(out, at, size));
        else if (!is_silent(code))
            CLF_TRY(clfi_str_appendf(out, "U+%04X", (unsigned)code));
        at += size;
        left -= size;
    }
    return CLF_OK;
}

/* Returns the end of the longest run of characters with the same face. A character without a face is a run of its own; only texts of an SVG
 * have such characters. */
static const char *next_run(cli_pen *pen, const char *text, int *face)
{
    const char *at = text;
    uint32_t code;
    *face = NO_FACE;
    while (*at) {
        const size_t size = clfi_utf8_decode((const unsigned char *)at, strlen(at), &code);
        const int its = find_face(pen, code, at, size);
        if (at > text && its != *face)
            break;
        *face = its;
        at += size;
        if (its == NO_FACE)
            break;
    }
    return at;
}

/* Guesses the width of a character without a font: half the font size for each column that it takes in a terminal. */
static double guess_width(const cli_pen *pen, const char *bytes, size_t size)
{
    uint32_t code;
    clfi_utf8_decode((const unsigned char *)bytes, size, &code);
    return pen->size * 0.5 * utf8proc_charwidth((utf8proc_int32_t)code);
}

/* Space for a copy of a run, ended by the NUL that cairo expects. A longer run is truncated. 8 bytes: "U+10FFFF". */
typedef struct run_text {
    char bytes[MOST_CHARACTERS * 8 + 1];
} run_text;

static const char *copy_run(run_text *run, const char *text, size_t size)
{
    const size_t kept = size < sizeof run->bytes ? size : sizeof run->bytes - 1;
    memcpy(run->bytes, text, kept);
    run->bytes[kept] = '\0';
    return run->bytes;
}

double cli_text_width(cli_pen *pen, const char *text)
{
    double width = 0, over = 0;
    run_text run;
    int face;
    for (const char *end; *text; text = end) {
        cairo_text_extents_t extents;
        end = next_run(pen, text, &face);
        if (face == NO_FACE) {
            width += guess_width(pen, text, (size_t)(end - text));
            continue;
        }
        use_face(pen, face);
        cairo_text_extents(pen->cr, copy_run(&run, text, (size_t)(end - text)), &extents);
        over = fmax(0, extents.x_bearing + extents.width - extents.x_advance);
        width += extents.x_advance;
    }
    return width + over;
}

clf_status cli_text_fit(cli_pen *pen, const char *text, double limit, clf_str *out)
{
    static const char dots[] = "\xe2\x80\xa6";
    const char *ellipsis = pen->svg || has_glyph(pen, 0, 0x2026, dots, 3) ? dots : "..";
    clfi_str_clear(out);
    CLF_TRY(replace_missing(pen, text, out));
    if (cli_text_width(pen, clfi_str_text(out)) <= limit)
        return CLF_OK;
    double used = cli_text_width(pen, ellipsis);
    size_t keep = 0;
    for (size_t next = 0; next < out->length; keep = next) { /* keeps the characters that fit beside the ellipsis */
        run_text one;
        uint32_t code;
        const size_t size = clfi_utf8_decode((const unsigned char *)out->data + next, out->length - next, &code);
        used += cli_text_width(pen, copy_run(&one, out->data + next, size));
        if (used > limit)
            break;
        next += size;
    }
    out->length = keep;
    return clfi_str_append_text(out, ellipsis);
}

/* Distance of the baseline below the middle of the letters. */
static double baseline(cli_pen *pen)
{
    cairo_font_extents_t font;
    use_face(pen, 0);
    cairo_font_extents(pen->cr, &font);
    return (font.ascent - font.descent) / 2;
}

static void append_element(cli_pen *pen, const char *text, double x, double y, cli_align align, bool turned)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    char place[96];
    if (turned)
        snprintf(place, sizeof place, "transform=\"translate(%.2f %.2f) rotate(-90)\" y=\"%.2f\"", x, y, baseline(pen));
    else
        snprintf(place, sizeof place, "x=\"%.2f\" y=\"%.2f\"", x, y + baseline(pen));
    clfi_markup_format(pen->svg, "<text %s font-size=\"%g\" text-anchor=\"%s\">", place, pen->size, anchors[align]);
    clfi_markup_escape(pen->svg, text, 0);
    clfi_markup_raw(pen->svg, "</text>\n");
}

void cli_text_draw(cli_pen *pen, const char *text, double x, double y, cli_align align, bool turned)
{
    run_text run;
    int face;
    if (pen->svg) {
        append_element(pen, text, x, y, align, turned);
        return;
    }
    const double width = cli_text_width(pen, text);
    cairo_save(pen->cr);
    cairo_translate(pen->cr, x, y);
    if (turned)
        cairo_rotate(pen->cr, -1.5707963267948966); /* a quarter turn */
    cairo_move_to(pen->cr, align == CLI_ALIGN_LEFT ? 0 : align == CLI_ALIGN_RIGHT ? -width : -width / 2, baseline(pen));
    for (const char *end; *text; text = end) {
        end = next_run(pen, text, &face);
        use_face(pen, face);
        cairo_show_text(pen->cr, copy_run(&run, text, (size_t)(end - text)));
    }
    cairo_restore(pen->cr);
}
