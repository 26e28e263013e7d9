/* SPDX-License-Identifier: MIT */
/* Escapes texts for HTML, SVG and Markdown, and formats numbers. */
#include "report/markup.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static const uint32_t replacement = 0xFFFD, ellipsis = 0x2026;

void clfi_markup_raw(clfi_markup *m, const char *text)
{
    if (m->status == CLF_OK)
        m->status = clfi_str_append_text(&m->text, text);
}

void clfi_markup_format(clfi_markup *m, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    const int size = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (m->status == CLF_OK && (size < 0 || (size_t)size >= sizeof line))
        m->status = clfi_fail(CLF_INTERNAL, "a line of markup has %d bytes", size);
    clfi_markup_raw(m, line);
}

/* XML forbids control characters; embeddings, overrides and isolates would let a name reorder the text around it (Unicode Annex 9). */
static bool is_printable(uint32_t code)
{
    return code != CLFI_UTF8_INVALID && code >= 0x20 && !(code >= 0x7F && code < 0xA0) && !(code >= 0x202A && code <= 0x202E) &&
           !(code >= 0x2066 && code <= 0x2069) && (code & 0xFFFE) != 0xFFFE;
}

static void escape_code(clfi_markup *m, uint32_t code)
{
    static const struct {
        uint32_t code;
        const char *text;
    } references[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    for (size_t i = 0; i < COUNT(references); i++)
        if (code == references[i].code) {
            clfi_markup_raw(m, references[i].text);
            return;
        }
    if (m->status == CLF_OK)
        m->status = clfi_str_append_code_point(&m->text, is_printable(code) ? code : replacement);
}

static size_t count_characters(const char *text)
{
    size_t count = 0, left = strlen(text);
    uint32_t code;
    for (; left > 0; count++) {
        const size_t size = clfi_utf8_decode((const unsigned char *)text, left, &code);
        text += size;
        left -= size;
    }
    return count;
}

/* Appends the first `head` and the last `tail` characters of `text`, with "…" between them if something is left out. */
static void escape_parts(clfi_markup *m, const char *text, size_t head, size_t tail)
{
    const size_t count = count_characters(text);
    size_t left = strlen(text);
    uint32_t code;
    for (size_t i = 0; i < count; i++) {
        const size_t size = clfi_utf8_decode((const unsigned char *)text, left, &code);
        if (i < head || i + tail >= count)
            escape_code(m, code);
        else if (i == head)
            escape_code(m, ellipsis);
        text += size;
        left -= size;
    }
}

void clfi_markup_escape(clfi_markup *m, const char *text, size_t most)
{
    const bool is_whole = most == 0 || count_characters(text) <= most;
    escape_parts(m, text, is_whole ? SIZE_MAX : most - 1, 0);
}

void clfi_markup_escape_middle(clfi_markup *m, const char *text, size_t most)
{
    if (count_characters(text) <= most)
        escape_parts(m, text, SIZE_MAX, 0);
    else
        escape_parts(m, text, most / 2, most - most / 2 - 1);
}

void clfi_markup_escape_markdown(clfi_markup *m, const char *text)
{
    size_t left = strlen(text);
    uint32_t code;
    while (left > 0) {
        const size_t size = clfi_utf8_decode((const unsigned char *)text, left, &code);
        if (code < 0x80 && strchr("\\`*_|<>[]#&~", (int)code) && code)
            clfi_markup_raw(m, "\\");
        if (m->status == CLF_OK)
            m->status = clfi_str_append_code_point(&m->text, is_printable(code) ? code : replacement);
        text += size;
        left -= size;
    }
}

const char *clfi_figure(double value, char text[CLFI_FIGURE_BYTES])
{
    char digits[CLFI_FIGURE_BYTES];
    if (!isfinite(value)) {
        snprintf(text, CLFI_FIGURE_BYTES, CLFI_NO_FIGURE);
        return text;
    }
    const double size = fabs(value);
    const int exponent = size > 0 ? (int)floor(log10(size) + 1e-9) : 0;
    const int decimals = exponent >= 2 ? 0 : exponent < -9 ? 11 : 2 - exponent;
    snprintf(digits, sizeof digits, "%.*f", decimals, size < 1e15 ? value : copysign(1e15, value));
    const size_t length = strcspn(digits, "."), start = digits[0] == '-';
    size_t out = 0;
    for (size_t i = 0; digits[i] && out + 2 < CLFI_FIGURE_BYTES; i++) {
        if (i > start && i < length && (length - i) % 3 == 0)
            text[out++] = ',';
        text[out++] = digits[i];
    }
    text[out] = '\0';
    return text;
}

/* Writes `value`, given in units[0], in the first unit in which it is below 999.5. Each unit is `step` times the one before it. */
static const char *with_unit(double value, double step, const char *const *units, size_t count, char text[CLFI_FIGURE_BYTES])
{
    size_t i = 0;
    char number[CLFI_FIGURE_BYTES];
    while (i + 1 < count && value >= 999.5) {
        value /= step;
        i++;
    }
    snprintf(text, CLFI_FIGURE_BYTES, isfinite(value) ? "%.20s %s" : CLFI_NO_FIGURE, clfi_figure(value, number), units[i]);
    return text;
}

const char *clfi_figure_time(double ms, char text[CLFI_FIGURE_BYTES])
{
    static const char *const units[] = {"ns", "\u00b5s", "ms", "s"};
    return with_unit(ms * 1e6, 1000, units, COUNT(units), text);
}

const char *clfi_figure_bytes(double bytes, char text[CLFI_FIGURE_BYTES])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    if (bytes < 999.5)
        snprintf(text, CLFI_FIGURE_BYTES, "%.0f B", bytes);
    return bytes < 999.5 ? text : with_unit(bytes, 1024, units, COUNT(units), text);
}
