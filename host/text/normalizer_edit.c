/* SPDX-License-Identifier: MIT */
/* Normalizers that edit a text: Strip, Replace, Prepend, ByteLevel. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "io/json.h"
#include "text/byte_level.h"
#include "text/normalizer.h"
#include "text/pattern.h"
#include "text/unicode.h"

/* --- Strip --- */

typedef struct clf_strip {
    bool left, right;
} clf_strip;

static clf_status read_strip(const json_t *json, const char *where, void **out)
{
    clf_strip strip, *copy;
    CLF_TRY(clfi_json_get_bool(json, where, "strip_left", &strip.left));
    CLF_TRY(clfi_json_get_bool(json, where, "strip_right", &strip.right));
    CLF_TRY(clfi_alloc(1, sizeof *copy, "normalizer", &copy));
    *copy = strip;
    *out = copy;
    return CLF_OK;
}

static clf_status run_strip(const void *settings, const clf_aligned_text *from, clf_aligned_text *to, clf_text_workspace *work)
{
    const clf_strip *strip = settings;
    const unsigned char *bytes = (const unsigned char *)from->text.data;
    const size_t size = from->text.length;
    size_t first = size, last = 0; /* of the text without white space at its ends */
    (void)work;
    for (size_t i = 0; i < size;) {
        uint32_t code;
        const size_t step = clfi_utf8_decode(bytes + i, size - i, &code);
        if (!clfi_char_is_whitespace(code)) {
            first = first < i ? first : i;
            last = i + step;
        }
        i += step;
    }
    const size_t start = strip->left ? first : 0, end = strip->right ? last : size;
    return start < end ? clfi_aligned_append_slice(to, from, start, end) : CLF_OK;
}

const clf_normalizer_kind clfi_normalizer_strip = {{"Strip", read_strip, NULL}, .run = run_strip};

/* --- Replace --- */

typedef struct clf_replace {
    clf_pattern pattern;
    char *content;
    size_t size;
} clf_replace;

static void destroy_replace(void *settings)
{
    clf_replace *replace = settings;
    if (!replace)
        return;
    clfi_pattern_free(&replace->pattern);
    free(replace->content);
    free(replace);
}

static clf_status read_replace(const json_t *json, const char *where, void **out)
{
    clf_replace *replace;
    const char *content;
    CLF_TRY(clfi_json_get_string(json, where, "content", &content));
    CLF_TRY(clfi_alloc(1, sizeof *replace, "normalizer", &replace));
    clf_status st = clfi_pattern_read(json, where, &replace->pattern);
    if (st == CLF_OK)
        st = clfi_strdup(content, &replace->content);
    if (st != CLF_OK) {
        destroy_replace(replace);
        return st;
    }
    replace->size = strlen(content);
    *out = replace;
    return CLF_OK;
}

/* All of the new text has the span of the last character that was replaced. */
static clf_status run_replace(const void *settings, const clf_aligned_text *from, clf_aligned_text *to, clf_text_workspace *work)
{
    const clf_replace *replace = settings;
    CLF_TRY(clfi_pattern_find(&replace->pattern, clfi_str_text(&from->text), from->text.length, work));
    for (size_t i = 0; i < work->matches.count; i++) {
        const clf_piece *piece = &work->matches.pieces[i];
        if (!piece->id) {
            CLF_TRY(clfi_aligned_append_slice(to, from, piece->start, piece->end));
            continue;
        }
        clf_rewrite rewrite = {.from = from, .to = to, .end = from->text.length, .at = piece->end};
        for (size_t k = 0; k < replace->size;) {
            uint32_t code;
            k += clfi_utf8_decode((const unsigned char *)replace->content + k, replace->size - k, &code);
            CLF_TRY(clfi_rewrite_put(&rewrite, code, 1));
        }
    }
    return CLF_OK;
}

const clf_normalizer_kind clfi_normalizer_replace = {{"Replace", read_replace, destroy_replace}, .run = run_replace};

/* --- Prepend --- */

static clf_status read_prepend(const json_t *json, const char *where, void **out)
{
    const char *text;
    char *copy;
    CLF_TRY(clfi_json_get_string(json, where, "prepend", &text));
    CLF_TRY(clfi_strdup(text, &copy));
    *out = copy;
    return CLF_OK;
}

clf_status clfi_prepend(const char *text, const clf_aligned_text *from, size_t start, size_t end, clf_aligned_text *to)
{
    if (start == end)
        return CLF_OK;
    const clf_char_span span = from->is_aligned ? from->spans[start] : (clf_char_span){0, 0};
    for (size_t i = 0, size = strlen(text); i < size;) {
        uint32_t code;
        i += clfi_utf8_decode((const unsigned char *)text + i, size - i, &code);
        CLF_TRY(clfi_aligned_append(to, code, span));
    }
    return clfi_aligned_append_slice(to, from, start, end);
}

static clf_status run_prepend(const void *settings, const clf_aligned_text *from, clf_aligned_text *to, clf_text_workspace *work)
{
    (void)work;
    return clfi_prepend(settings, from, 0, from->text.length, to);
}

const clf_normalizer_kind clfi_normalizer_prepend = {{"Prepend", read_prepend, NULL}, .run = run_prepend};

/* --- ByteLevel --- */

static clf_status run_byte_level(const void *settings, const clf_aligned_text *from, clf_aligned_text *to, clf_text_workspace *work)
{
    (void)settings;
    (void)work;
    return clfi_byte_level_append(to, from, 0, from->text.length);
}

const clf_normalizer_kind clfi_normalizer_byte_level = {{"ByteLevel", NULL, NULL}, .run = run_byte_level};
