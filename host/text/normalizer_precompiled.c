/* SPDX-License-Identifier: MIT */
/* Normalizer Precompiled: SentencePiece's table of normal forms. It is a double-array trie (Darts) from UTF-8 sequences to offsets in a
 * string of NUL-ended forms. As in the reference, a character cluster becomes the form of its shortest beginning that has one.
 * SentencePiece itself replaces the longest beginning of the text; clformer's own key "longest" asks for that. */
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "io/json.h"
#include "text/normalizer.h"

typedef struct clf_precompiled {
    uint32_t *units; /* of the trie */
    size_t unit_count;
    char *forms;
    size_t forms_size;
    bool takes_longest;
} clf_precompiled;

static void destroy(void *settings)
{
    clf_precompiled *precompiled = settings;
    if (!precompiled)
        return;
    free(precompiled->units);
    free(precompiled->forms);
    free(precompiled);
}

static int base64_digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Decodes into `bytes`, which have room for 3/4 of the text. *size: bytes written. */
static clf_status decode_base64(const char *text, const char *where, unsigned char *bytes, size_t *size)
{
    uint32_t bits = 0;
    int count = 0;
    size_t written = 0;
    for (const char *at = text; *at && *at != '='; at++) {
        const int digit = base64_digit(*at);
        if (digit < 0)
            CLF_FAIL(CLF_FORMAT, "%s: precompiled_charsmap: byte %zu is not base64", where, (size_t)(at - text));
        bits = bits << 6 | (uint32_t)digit;
        count += 6;
        if (count < 8)
            continue;
        count -= 8;
        bytes[written++] = (unsigned char)(bits >> count);
        bits &= (1u << count) - 1;
    }
    *size = written;
    return CLF_OK;
}

static uint32_t little_endian(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* The table: four bytes with the trie's size in bytes, the trie, the forms. */
static clf_status unpack(const unsigned char *bytes, size_t size, const char *where, clf_precompiled *precompiled)
{
    const size_t trie = size < 4 ? 0 : little_endian(bytes);
    if (size < 4 || trie > size - 4 || trie % 4 != 0 || trie == 0)
        CLF_FAIL(CLF_FORMAT, "%s: precompiled_charsmap: a trie of %zu bytes, of %zu bytes in all", where, trie, size);
    precompiled->unit_count = trie / 4;
    CLF_TRY(clfi_alloc(precompiled->unit_count, sizeof *precompiled->units, "normal forms", &precompiled->units));
    for (size_t i = 0; i < precompiled->unit_count; i++)
        precompiled->units[i] = little_endian(bytes + 4 + 4 * i);
    precompiled->forms_size = size - 4 - trie;
    if (clfi_utf8_check(bytes + 4 + trie, precompiled->forms_size) != precompiled->forms_size)
        CLF_FAIL(CLF_FORMAT, "%s: precompiled_charsmap: the forms are not UTF-8", where);
    return clfi_strndup((const char *)bytes + 4 + trie, precompiled->forms_size, &precompiled->forms);
}

static clf_status read(const json_t *json, const char *where, void **out)
{
    clf_status st;
    const char *text;
    unsigned char *bytes = NULL;
    clf_precompiled *precompiled = NULL;
    size_t size = 0;
    CLF_TRY(clfi_json_get_string(json, where, "precompiled_charsmap", &text));
    CLF_GOTO(clfi_alloc(strlen(text) / 4 * 3 + 3, 1, "normal forms", &bytes));
    CLF_GOTO(clfi_alloc(1, sizeof *precompiled, "normalizer", &precompiled));
    CLF_GOTO(clfi_json_opt_bool(json, where, "longest", false, &precompiled->takes_longest));
    CLF_GOTO(decode_base64(text, where, bytes, &size));
    CLF_GOTO(unpack(bytes, size, where, precompiled));
    *out = precompiled;
    precompiled = NULL;
done:
    destroy(precompiled);
    free(bytes);
    return st;
}

/* The form of the shortest (or longest) beginning of key[0..size) that has one. *length: this beginning's bytes. NULL: there is none. */
static const char *find_form(const clf_precompiled *precompiled, const char *key, size_t size, size_t *length)
{
    size_t at = 0;
    const char *found = NULL;
    uint32_t unit = precompiled->units[0];
    at ^= (size_t)(unit >> 10) << ((unit & (1u << 9)) >> 6);
    for (size_t i = 0; i < size && key[i]; i++) {
        const uint32_t byte = (unsigned char)key[i];
        at ^= byte;
        if (at >= precompiled->unit_count)
            break;
        unit = precompiled->units[at];
        if ((unit & (1u << 31 | 0xff)) != byte)
            break;
        at ^= (size_t)(unit >> 10) << ((unit & (1u << 9)) >> 6);
        if (at >= precompiled->unit_count)
            break;
        if (unit >> 8 & 1) {
            const size_t form = precompiled->units[at] & 0x7fffffffu;
            if (form >= precompiled->forms_size)
                break;
            found = precompiled->forms + form;
            *length = i + 1;
            if (!precompiled->takes_longest)
                break;
        }
    }
    return found;
}

/* Appends a form that stands for `characters` characters of the text. In a longer form, the further characters are new; the last character
 * of a shorter one drops the rest. */
static clf_status append_form(const char *form, size_t characters, clf_code_list *codes)
{
    const size_t size = strlen(form), count = clfi_utf8_length(form, size);
    size_t index = 0;
    for (size_t i = 0; i < size; index++) {
        uint32_t code;
        i += clfi_utf8_decode((const unsigned char *)form + i, size - i, &code);
        CLF_TRY(clfi_code_append(codes, code, index >= characters ? 1 : 0));
    }
    if (count < characters && codes->count > 0) /* as in the reference, nothing is dropped if nothing was written before */
        codes->codes[codes->count - 1].change -= (int)(characters - count);
    return CLF_OK;
}

static clf_status append_cluster(const clf_precompiled *precompiled, const char *cluster, size_t size, clf_code_list *codes)
{
    enum { SHORT_CLUSTER = 6 }; /* bytes; clusters from this size on are not looked up as a whole */
    size_t length;
    const char *form = size < SHORT_CLUSTER ? find_form(precompiled, cluster, size, &length) : NULL;
    if (form)
        return append_form(form, clfi_utf8_length(cluster, size), codes);
    for (size_t i = 0; i < size;) {
        uint32_t code;
        const size_t step = clfi_utf8_decode((const unsigned char *)cluster + i, size - i, &code);
        form = find_form(precompiled, cluster + i, step, &length);
        CLF_TRY(form ? append_form(form, 1, codes) : clfi_code_append(codes, code, 0));
        i += step;
    }
    return CLF_OK;
}

/* Appends the replacement of the longest beginning of text[0..size) that has a form. *out_step: the bytes that it replaces. */
static clf_status append_longest(const clf_precompiled *precompiled, const char *text, size_t size, clf_code_list *codes, size_t *out_step)
{
    uint32_t code;
    const char *form = find_form(precompiled, text, size, out_step);
    if (form)
        return append_form(form, clfi_utf8_length(text, *out_step), codes);
    *out_step = clfi_utf8_decode((const unsigned char *)text, size, &code);
    return clfi_code_append(codes, code, 0);
}

/* Bytes of the extended grapheme cluster at the start of text (UAX 29). */
static size_t cluster_size(const char *text, size_t size)
{
    uint32_t code, next;
    utf8proc_int32_t state = 0;
    size_t end = clfi_utf8_decode((const unsigned char *)text, size, &code);
    while (end < size) {
        const size_t step = clfi_utf8_decode((const unsigned char *)text + end, size - end, &next);
        const bool both_ascii = code < 0x80 && next < 0x80 && code != '\r'; /* the common case; only CR LF hold together */
        if (both_ascii || utf8proc_grapheme_break_stateful((utf8proc_int32_t)code, (utf8proc_int32_t)next, &state))
            break;
        end += step;
        code = next;
    }
    return end;
}

static clf_status run(const void *settings, const clf_aligned_text *from, clf_aligned_text *to, clf_text_workspace *work)
{
    const clf_precompiled *precompiled = settings;
    const char *text = clfi_str_text(&from->text);
    const size_t size = from->text.length;
    work->codes.count = 0;
    for (size_t i = 0, step; i < size; i += step) {
        if (precompiled->takes_longest) {
            CLF_TRY(append_longest(precompiled, text + i, size - i, &work->codes, &step));
        } else {
            step = cluster_size(text + i, size - i);
            CLF_TRY(append_cluster(precompiled, text + i, step, &work->codes));
        }
    }
    clf_rewrite rewrite = {.from = from, .to = to, .end = size};
    for (size_t i = 0; i < work->codes.count; i++)
        CLF_TRY(clfi_rewrite_put(&rewrite, work->codes.codes[i].code, work->codes.codes[i].change));
    return CLF_OK;
}

const clf_normalizer_kind clfi_normalizer_precompiled = {{"Precompiled", read, destroy}, .run = run};
