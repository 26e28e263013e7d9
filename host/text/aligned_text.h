/* SPDX-License-Identifier: MIT */
/* Text on its way through a tokenizer. If asked, it remembers which characters of the given text each of its bytes came from. */
#ifndef CLFI_TEXT_ALIGNED_TEXT_H
#define CLFI_TEXT_ALIGNED_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"

/* Bytes that normalizers, pre-tokenizers and decoders may make of a text: 64 times its bytes plus 1 MiB. Unicode's forms need less: they
 * make at most 18 characters of one (U+FDFA). */
enum { CLFI_TEXT_GROWTH = 64, CLFI_TEXT_GROWTH_BYTES = 1 << 20 };

/* Characters [start, end) of the given text, counted as code points. */
typedef struct clf_char_span {
    uint32_t start, end;
} clf_char_span;

typedef struct clf_aligned_text {
    clf_str text;
    clf_char_span *spans; /* one for each byte of the text; meaningful only where is_aligned */
    size_t span_capacity;
    bool is_aligned;
    size_t limit; /* bytes that it may grow to; 0: any */
} clf_aligned_text;

void clfi_aligned_free(clf_aligned_text *text);

/* Empties the text, keeps the memory. */
void clfi_aligned_clear(clf_aligned_text *text, bool is_aligned);

/* Bytes that `size` bytes of text may grow to. */
size_t clfi_text_limit(size_t size);

/* Fails with UNSUPPORTED: a text would be longer than `limit` bytes. */
clf_status clfi_text_too_long(size_t limit);

/* Appends UTF-8 as it was given; its first character is number first_character of the given text. */
clf_status clfi_aligned_append_given(clf_aligned_text *text, const char *bytes, size_t size, size_t first_character);

/* Appends bytes [start, end) of another text, with their spans. */
clf_status clfi_aligned_append_slice(clf_aligned_text *text, const clf_aligned_text *from, size_t start, size_t end);

/* Appends one character that came from `span`. */
clf_status clfi_aligned_append(clf_aligned_text *text, uint32_t code, clf_char_span span);

/* State of writing a new text from bytes [start, end) of another one. */
typedef struct clf_rewrite {
    const clf_aligned_text *from;
    clf_aligned_text *to;
    size_t start, end, at; /* byte offsets in `from`; characters before `at` are used up (if `to` is aligned) */
} clf_rewrite;

/* Appends `code` to `to`. `change` says where it came from, by the rule of Hugging Face's NormalizedString::transform. 0: from the next
 * character of `from`. -n: from the next one, and n more are dropped. Positive: it is new, and belongs to the last character that was used
 * up. */
clf_status clfi_rewrite_put(clf_rewrite *rewrite, uint32_t code, int change);

/* Drops the next `characters` characters of `from`. */
void clfi_rewrite_skip(clf_rewrite *rewrite, size_t characters);

/* Characters in UTF-8 text[0..size). */
size_t clfi_utf8_length(const char *text, size_t size);

#endif
