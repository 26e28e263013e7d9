/* SPDX-License-Identifier: MIT */
/* English texts and words that model workloads read. */
#ifndef CLFI_BENCH_MODEL_TEXTS_H
#define CLFI_BENCH_MODEL_TEXTS_H

#include <stddef.h>

/* Sentences of different lengths; a text of the benchmark is some of them in a row. */
extern const char *const clfi_sentences[];
extern const size_t clfi_sentence_count;

/* Common words of 2 to 13 letters. */
extern const char *const clfi_words[];
extern const size_t clfi_word_count;

#endif
