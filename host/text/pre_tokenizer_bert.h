/* SPDX-License-Identifier: MIT */
/* BERT's pre-tokenization: words are separated by white space, and each punctuation character is a word. */
#ifndef CLFI_TEXT_PRE_TOKENIZER_BERT_H
#define CLFI_TEXT_PRE_TOKENIZER_BERT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct clf_word {
    size_t start, size; /* bytes */
} clf_word;

/* Finds the next word of UTF-8 text[0..size) at or after *position and moves *position past it; false at the end. */
bool clfi_pre_tokenize_bert(const char *text, size_t size, size_t *position, clf_word *word);

#endif
