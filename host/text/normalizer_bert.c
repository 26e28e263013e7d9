/* SPDX-License-Identifier: MIT */
/* BERT's text normalisation in one pass over the text; runs of ASCII take a short path. */
#include "text/normalizer_bert.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include "io/json.h"
#include "text/normalizer.h"
#include "text/unicode.h"
#include "text/unicode_form.h"

/* Most bytes that one input character becomes: 4 decomposed characters, each of 2 lower-case ones of 4 bytes, between 2 spaces. */
enum { CHARACTER_ROOM = 4 * CLFI_LOWER_MAX * 4 + 2 };

static clf_status make_room(clf_str *out, size_t bytes)
{
    if (bytes > SIZE_MAX - out->length - 1)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "normalised text of %zu + %zu bytes: not enough memory", out->length, bytes);
    return clfi_grow(&out->data, &out->capacity, out->length + bytes + 1, 1, "normalised text");
}

/* Writes one character, in lower case if asked; the room is there. */
static void put(const clf_normalizer_bert *normalizer, uint32_t code, clf_str *out)
{
    uint32_t lower[CLFI_LOWER_MAX] = {code};
    const size_t count = normalizer->lowercase ? clfi_char_lower(code, lower) : 1;
    for (size_t i = 0; i < count; i++)
        out->length += clfi_utf8_encode(lower[i], (unsigned char *)out->data + out->length);
}

/* Writes the waiting combining characters in canonical order: by class, and within a class as they came (Unicode 3.11, D109). */
static clf_status flush(const clf_normalizer_bert *normalizer, clf_code_list *run, clf_str *out)
{
    if (run->count == 0)
        return CLF_OK;
    for (unsigned class = 0, next; class != 256; class = next) {
        next = 256;
        for (size_t i = 0; i < run->count; i++) {
            const unsigned own = clfi_char_properties(run->codes[i].code).combining;
            if (own == class) {
                CLF_TRY(make_room(out, CHARACTER_ROOM));
                put(normalizer, run->codes[i].code, out);
            } else if (own > class && own < next) {
                next = own;
            }
        }
    }
    run->count = 0;
    return CLF_OK;
}

/* Decomposes, drops marks, and holds combining characters back until their run ends. Marks are dropped before the others are ordered, which
 * does not change the order of the others: marks of class 0 still end the run. */
static clf_status put_stripped(const clf_normalizer_bert *normalizer, uint32_t code, clf_code_list *run, clf_str *out)
{
    uint32_t parts[CLFI_DECOMPOSE_MAX];
    const size_t count = clfi_char_decompose(code, parts);
    for (size_t i = 0; i < count; i++) {
        const clf_char_properties properties = clfi_char_properties(parts[i]);
        if (properties.combining == 0) {
            CLF_TRY(flush(normalizer, run, out));
            CLF_TRY(make_room(out, CHARACTER_ROOM));
        }
        if (properties.flags & CLFI_CHAR_MARK)
            continue;
        if (properties.combining == 0) {
            put(normalizer, parts[i], out);
        } else {
            CLF_TRY(clfi_code_append(run, parts[i], 0));
        }
    }
    return CLF_OK;
}

static clf_status put_character(const clf_normalizer_bert *normalizer, uint32_t code, clf_code_list *run, clf_str *out)
{
    if (normalizer->clean_text) {
        const unsigned flags = clfi_char_properties(code).flags;
        if (flags & CLFI_CHAR_CONTROL)
            return CLF_OK;
        if (flags & CLFI_CHAR_WHITESPACE)
            code = ' ';
    }
    const bool apart = normalizer->handle_chinese_chars && clfi_char_is_chinese(code);
    if (apart || !normalizer->strip_accents) /* an ideograph follows a space, which ends the run */
        CLF_TRY(flush(normalizer, run, out));
    CLF_TRY(make_room(out, CHARACTER_ROOM));
    if (apart)
        out->data[out->length++] = ' ';
    if (normalizer->strip_accents)
        CLF_TRY(put_stripped(normalizer, code, run, out));
    else
        put(normalizer, code, out);
    if (apart)
        out->data[out->length++] = ' ';
    return CLF_OK;
}

/* Replacement of each ASCII byte; REMOVED: it is dropped. */
enum { REMOVED = 0x80 };

static void ascii_map(const clf_normalizer_bert *normalizer, unsigned char map[128])
{
    for (unsigned byte = 0; byte < 128; byte++) {
        const bool capital = byte >= 'A' && byte <= 'Z';
        map[byte] = (unsigned char)(capital && normalizer->lowercase ? byte + ('a' - 'A') : byte);
        if (!normalizer->clean_text)
            continue;
        if (byte == '\t' || byte == '\n' || byte == '\r')
            map[byte] = ' ';
        else if (byte < 0x20 || byte == 0x7f)
            map[byte] = REMOVED;
    }
}

clf_status clfi_normalize_bert(const clf_normalizer_bert *normalizer, const char *text, size_t size, clf_code_list *run, clf_str *out)
{
    const unsigned char *bytes = (const unsigned char *)text;
    unsigned char map[128];
    ascii_map(normalizer, map);
    CLF_TRY(make_room(out, size));
    for (size_t i = 0; i < size;) {
        if (bytes[i] < 0x80) {
            if (run->count && map[bytes[i]] != REMOVED) /* a removed character does not end a run */
                CLF_TRY(flush(normalizer, run, out));
            CLF_TRY(make_room(out, size - i));
            while (i < size && bytes[i] < 0x80 && (run->count == 0 || map[bytes[i]] == REMOVED)) {
                const unsigned char mapped = map[bytes[i++]];
                out->data[out->length] = (char)mapped;
                out->length += mapped != REMOVED;
            }
            continue;
        }
        uint32_t code;
        i += clfi_utf8_decode(bytes + i, size - i, &code);
        CLF_TRY(put_character(normalizer, code == CLFI_UTF8_INVALID ? 0xfffd : code, run, out));
    }
    CLF_TRY(flush(normalizer, run, out));
    CLF_TRY(make_room(out, 0));
    out->data[out->length] = '\0';
    return CLF_OK;
}

/* --- with offsets: one step after the other, because the spans depend on the order of the steps --- */

typedef clf_status (*clf_bert_step)(clf_rewrite *rewrite, uint32_t code);

static clf_status clean_step(clf_rewrite *rewrite, uint32_t code)
{
    const unsigned flags = clfi_char_properties(code).flags;
    if (flags & CLFI_CHAR_CONTROL) {
        clfi_rewrite_skip(rewrite, 1);
        return CLF_OK;
    }
    return clfi_rewrite_put(rewrite, flags & CLFI_CHAR_WHITESPACE ? ' ' : code, 0);
}

static clf_status chinese_step(clf_rewrite *rewrite, uint32_t code)
{
    if (!clfi_char_is_chinese(code))
        return clfi_rewrite_put(rewrite, code, 0);
    CLF_TRY(clfi_rewrite_put(rewrite, ' ', 0));
    CLF_TRY(clfi_rewrite_put(rewrite, code, 1));
    return clfi_rewrite_put(rewrite, ' ', 1);
}

static clf_status mark_step(clf_rewrite *rewrite, uint32_t code)
{
    if (!(clfi_char_properties(code).flags & CLFI_CHAR_MARK))
        return clfi_rewrite_put(rewrite, code, 0);
    clfi_rewrite_skip(rewrite, 1);
    return CLF_OK;
}

static clf_status run_step(clf_bert_step step, const clf_aligned_text *from, clf_aligned_text *to)
{
    clf_rewrite rewrite = {.from = from, .to = to, .end = from->text.length};
    const unsigned char *bytes = (const unsigned char *)from->text.data;
    clfi_aligned_clear(to, true);
    for (size_t i = 0; i < from->text.length;) {
        uint32_t code;
        i += clfi_utf8_decode(bytes + i, from->text.length - i, &code);
        CLF_TRY(step(&rewrite, code));
    }
    return CLF_OK;
}

/* Alternates between `to` and the workspace's spare text as the target of each step. */
static clf_status run_aligned(const clf_normalizer_bert *normalizer, const clf_aligned_text *from, clf_aligned_text *to,
                              clf_text_workspace *work)
{
    clf_aligned_text *const place[2] = {to, &work->part};
    const clf_aligned_text *now = from;
    size_t next = 0;
    if (normalizer->clean_text) {
        CLF_TRY(run_step(clean_step, now, place[next]));
        now = place[next];
        next ^= 1;
    }
    if (normalizer->handle_chinese_chars) {
        CLF_TRY(run_step(chinese_step, now, place[next]));
        now = place[next];
        next ^= 1;
    }
    if (normalizer->strip_accents) {
        clfi_aligned_clear(place[next], true);
        CLF_TRY(clfi_unicode_form_run((clf_unicode_form){false, false}, now, place[next], work));
        now = place[next];
        next ^= 1;
        CLF_TRY(run_step(mark_step, now, place[next]));
        now = place[next];
        next ^= 1;
    }
    if (normalizer->lowercase) {
        clfi_aligned_clear(place[next], true);
        CLF_TRY(clfi_lowercase(now, place[next]));
        now = place[next];
    }
    if (now == to)
        return CLF_OK;
    clfi_aligned_clear(to, true);
    return clfi_aligned_append_slice(to, now, 0, now->text.length);
}

static clf_status run(const void *settings, const clf_aligned_text *from, clf_aligned_text *to, clf_text_workspace *work)
{
    if (from->is_aligned)
        return run_aligned(settings, from, to, work);
    return clfi_normalize_bert(settings, from->text.data, from->text.length, &work->marks, &to->text);
}

static clf_status read(const json_t *json, const char *where, void **out)
{
    clf_normalizer_bert normalizer = {0}, *copy;
    CLF_TRY(clfi_json_get_bool(json, where, "clean_text", &normalizer.clean_text));
    CLF_TRY(clfi_json_get_bool(json, where, "handle_chinese_chars", &normalizer.handle_chinese_chars));
    CLF_TRY(clfi_json_get_bool(json, where, "lowercase", &normalizer.lowercase));
    CLF_TRY(clfi_json_opt_bool(json, where, "strip_accents", normalizer.lowercase, &normalizer.strip_accents));
    CLF_TRY(clfi_alloc(1, sizeof *copy, "normalizer", &copy));
    *copy = normalizer;
    *out = copy;
    return CLF_OK;
}

const clf_normalizer_kind clfi_normalizer_bert = {{"BertNormalizer", read, NULL}, run, .is_local = true};
