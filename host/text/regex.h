/* SPDX-License-Identifier: MIT */
/* Regular expressions of tokenizer files. They are written in Oniguruma's dialect, which the reference tokenizers use, and run by PCRE2,
 * compiled to machine code where PCRE2 can do that. A pattern that takes too long on a text ends with an error. */
#ifndef CLFI_TEXT_REGEX_H
#define CLFI_TEXT_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/str.h"
#include "text/piece.h"

typedef struct clf_regex clf_regex;
typedef struct clf_regex_memory clf_regex_memory;

/* The pattern by which GPT-2 splits texts into words. */
extern const char clfi_regex_gpt2[];

/* FORMAT: not a regular expression, or longer than 64 KiB. UNSUPPORTED: a construct that means something else to PCRE2 and is not
 * translated; the message names it. OUT_OF_MEMORY. */
clf_status clfi_regex_create(const char *pattern, const char *where, clf_regex **out);
void clfi_regex_destroy(clf_regex *regex);

/* Whether a text may be split between an ASCII letter or digit and a space without a change of the pattern's matches. For this, matches
 * must not cross such a place, and the pattern must look at no character before its match. It must also match the same before such a place
 * whether the text goes on or not. */
bool clfi_regex_cuts_words(const clf_regex *regex);

/* Appends to `out` the PCRE2 pattern that means the same as Oniguruma's `pattern`. Errors as above. */
clf_status clfi_regex_translate(const char *pattern, const char *where, clf_str *out);

/* Splits UTF-8 text[0..size) from the left into matches (id 1) and the text between them (id 0), and appends them to `pieces`. An empty
 * match right after another match does not count. *memory: NULL at first, then created here; release it with clfi_regex_memory_free.
 * UNSUPPORTED: the pattern goes back and forth too much: more than 2^26 steps and 512 for each byte searched since clfi_regex_memory_begin,
 * or beyond PCRE2's memory. OUT_OF_MEMORY. */
clf_status clfi_regex_find(const clf_regex *regex, const char *text, size_t size, clf_regex_memory **memory, clf_piece_list *pieces);

/* Begins a new text: steps and bytes are counted from here. memory NULL: nothing to do. */
void clfi_regex_memory_begin(clf_regex_memory *memory);

void clfi_regex_memory_free(clf_regex_memory *memory);

#endif
