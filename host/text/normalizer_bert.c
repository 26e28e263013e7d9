/* SPDX-License-Identifier: MIT */
/* BERT's text normalisation in one pass over the text; runs of ASCII take a short path. */
#include "text/normalizer_bert.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include "text/unicode.h"

/* Bytes that one input character can become: 4 decomposed ones of 2 lower-case characters each, between 2 spaces. */
enum { CHARACTER_ROOM = 4 * CLFI_LOWER_MAX * 4 + 2 };

static clf_status make_room(clf_str *out, size_t bytes)
{
    if (bytes > SIZE_MAX - out->length - 1)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "normalised text of %zu + %zu bytes", out->length, bytes);
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

/* Writes the waiting combining characters in canonical order: by class, those of one class as they came (Unicode 3.11, D109). */
static clf_status flush(const clf_normalizer_bert *normalizer, clf_combining_run *run, clf_str *out)
{
    if (run->count == 0)
        return CLF_OK;
    for (unsigned class = 0, next; class != 256; class = next) {
        next = 256;
        for (size_t i = 0; i < run->count; i++) {
            const unsigned own = clfi_char_properties(run->code[i]).combining;
            if (own == class) {
                CLF_TRY(make_room(out, CHARACTER_ROOM));
                put(normalizer, run->code[i], out);
            } else if (own > class && own < next) {
                next = own;
            }
        }
    }
    run->count = 0;
    return CLF_OK;
}

/* Decomposes, drops marks and holds combining characters back until their run ends. Dropping a mark before the ordering leaves the order
 * of the others as it would be, as long as marks of class 0 still end the run. */
static clf_status put_stripped(const clf_normalizer_bert *normalizer, uint32_t code, clf_combining_run *run, clf_str *out)
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
            CLF_TRY(clfi_grow(&run->code, &run->capacity, run->count + 1, sizeof *run->code, "combining characters"));
            run->code[run->count++] = parts[i];
        }
    }
    return CLF_OK;
}

static clf_status put_character(const clf_normalizer_bert *normalizer, uint32_t code, clf_combining_run *run, clf_str *out)
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

/* What each ASCII byte becomes; REMOVED for none. */
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

clf_status clfi_normalize_bert(const clf_normalizer_bert *normalizer, const char *text, size_t size, clf_combining_run *run, clf_str *out)
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
