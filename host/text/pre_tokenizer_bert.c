/* SPDX-License-Identifier: MIT */
/* BERT's pre-tokenization. */
#include "text/pre_tokenizer_bert.h"

#include "base/utf8.h"
#include "text/pre_tokenizer.h"
#include "text/unicode.h"

/* WHITESPACE, PUNCTUATION or 0 for the character at text[0..size); *bytes is its length. */
static unsigned char_class(const unsigned char *text, size_t size, size_t *bytes)
{
    enum { S = CLFI_CHAR_WHITESPACE, P = CLFI_CHAR_PUNCTUATION };
    static const unsigned char ascii[128] = {
        0, 0, 0, 0, 0, 0, 0, 0, 0, S, S, S, S, S, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* 0x00 */
        S, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, P, P, P, P, P, P, /* 0x20 */
        P, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, P, P, P, P, P, /* 0x40 */
        P, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, P, P, P, P, 0, /* 0x60 */
    };
    if (text[0] < 0x80) {
        *bytes = 1;
        return ascii[text[0]];
    }
    uint32_t code;
    *bytes = clfi_utf8_decode(text, size, &code);
    return clfi_char_properties(code).flags & (S | P);
}

bool clfi_pre_tokenize_bert(const char *text, size_t size, size_t *position, clf_word *word)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t at = *position, step = 0;
    unsigned class = CLFI_CHAR_WHITESPACE;
    while (at < size && (class = char_class(bytes + at, size - at, &step)) & CLFI_CHAR_WHITESPACE)
        at += step;
    if (at >= size) {
        *position = size;
        return false;
    }
    word->start = at;
    at += step;
    while (class == 0 && at < size && char_class(bytes + at, size - at, &step) == 0)
        at += step;
    word->size = at - word->start;
    *position = at;
    return true;
}

static clf_status divide(const void *settings, const clf_str *text, size_t start, size_t end, clf_piece_list *out, clf_text_workspace *work)
{
    clf_word word;
    (void)settings;
    (void)work;
    for (size_t at = 0; clfi_pre_tokenize_bert(text->data + start, end - start, &at, &word);)
        CLF_TRY(clfi_piece_append(out, start + word.start, start + word.start + word.size, -1));
    return CLF_OK;
}

const clf_pre_tokenizer_kind clfi_pre_tokenizer_bert = {{"BertPreTokenizer", NULL, NULL}, .divide = divide, .is_local = true};
