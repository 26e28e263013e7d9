/* SPDX-License-Identifier: MIT */
/* Aligned text: a string and, beside it, an array of spans that is kept only if the caller asks for offsets. */
#include "text/aligned_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"

void clfi_aligned_free(clf_aligned_text *text)
{
    clfi_str_free(&text->text);
    free(text->spans);
    *text = (clf_aligned_text){.text = CLF_STR_INIT};
}

void clfi_aligned_clear(clf_aligned_text *text, bool is_aligned)
{
    clfi_str_clear(&text->text);
    text->is_aligned = is_aligned;
}

size_t clfi_utf8_length(const char *text, size_t size)
{
    size_t characters = 0;
    for (size_t i = 0; i < size; i++)
        characters += ((unsigned char)text[i] & 0xc0) != 0x80;
    return characters;
}

size_t clfi_text_limit(size_t size)
{
    return size > (SIZE_MAX - CLFI_TEXT_GROWTH_BYTES) / CLFI_TEXT_GROWTH ? SIZE_MAX : size * CLFI_TEXT_GROWTH + CLFI_TEXT_GROWTH_BYTES;
}

clf_status clfi_text_too_long(size_t limit)
{
    CLF_FAIL(CLF_UNSUPPORTED,
             "normalizers, pre-tokenizers or decoders of the tokenizer make more than %zu bytes of a text: expected at most %d times the "
             "text and 1 MiB (do they replace a text by a longer one again and again?)",
             limit, CLFI_TEXT_GROWTH);
}

/* Makes room for `more` bytes and their spans. */
static clf_status make_room(clf_aligned_text *text, size_t more)
{
    if (text->limit && more > text->limit - text->text.length)
        return clfi_text_too_long(text->limit);
    if (!text->is_aligned)
        return CLF_OK;
    return clfi_grow(&text->spans, &text->span_capacity, text->text.length + more, sizeof *text->spans, "text alignment");
}

clf_status clfi_aligned_append_given(clf_aligned_text *text, const char *bytes, size_t size, size_t first_character)
{
    CLF_TRY(make_room(text, size));
    if (text->is_aligned) {
        clf_char_span *spans = text->spans + text->text.length;
        uint32_t next = (uint32_t)first_character;
        for (size_t i = 0; i < size; i++) {
            next += ((unsigned char)bytes[i] & 0xc0) != 0x80;
            spans[i] = (clf_char_span){next - 1, next};
        }
    }
    return clfi_str_append(&text->text, bytes, size);
}

clf_status clfi_aligned_append_slice(clf_aligned_text *text, const clf_aligned_text *from, size_t start, size_t end)
{
    if (start == end)
        return CLF_OK;
    CLF_TRY(make_room(text, end - start));
    if (text->is_aligned) {
        memcpy(text->spans + text->text.length, from->spans + start, (end - start) * sizeof *text->spans);
    }
    return clfi_str_append(&text->text, from->text.data + start, end - start);
}

clf_status clfi_aligned_append(clf_aligned_text *text, uint32_t code, clf_char_span span)
{
    unsigned char bytes[4];
    const size_t size = clfi_utf8_encode(code, bytes);
    CLF_TRY(make_room(text, size));
    if (text->is_aligned) {
        for (size_t i = 0; i < size; i++)
            text->spans[text->text.length + i] = span;
    }
    return clfi_str_append(&text->text, bytes, size);
}

void clfi_rewrite_skip(clf_rewrite *rewrite, size_t characters)
{
    const clf_str *text = &rewrite->from->text;
    for (; characters > 0 && rewrite->at < rewrite->end; characters--) {
        rewrite->at++;
        while (rewrite->at < rewrite->end && ((unsigned char)text->data[rewrite->at] & 0xc0) == 0x80)
            rewrite->at++;
    }
}

clf_status clfi_rewrite_put(clf_rewrite *rewrite, uint32_t code, int change)
{
    clf_char_span span = {0, 0};
    if (rewrite->to->is_aligned && rewrite->end > rewrite->start) {
        const clf_char_span *spans = rewrite->from->spans;
        if (change <= 0)
            span = spans[rewrite->at < rewrite->end ? rewrite->at : rewrite->end - 1];
        else if (rewrite->at > rewrite->start)
            span = spans[rewrite->at - 1];
        else
            span = (clf_char_span){spans[rewrite->start].start, spans[rewrite->start].start};
        if (change <= 0)
            clfi_rewrite_skip(rewrite, 1 + (size_t)-change);
    }
    return clfi_aligned_append(rewrite->to, code, span);
}
