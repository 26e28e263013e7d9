/* SPDX-License-Identifier: MIT */
/* Regular expressions of tokenizer files: Oniguruma's dialect, which the reference tokenizers use, run by PCRE2 with its compiler where the
 * machine has one. A pattern or text that takes too long ends with an error. */
#ifndef CLFI_TEXT_REGEX_H
#define CLFI_TEXT_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/str.h"
#include "text/piece.h"

typedef struct clf_regex clf_regex;
typedef struct clf_regex_memory clf_regex_memory;

/* GPT-2's cuts into words. */
extern const char clfi_regex_gpt2[];

/* FORMAT: not a regular expression, or longer than 64 KiB. UNSUPPORTED: a construct that means something else to PCRE2 and is not
 * translated, named. */
clf_status clfi_regex_create(const char *pattern, const char *where, clf_regex **out);
void clfi_regex_destroy(clf_regex *regex);

/* Whether a text may be cut between an ASCII letter or digit and a space without a change of the pattern's matches. This is known for
 * patterns that match across no such place, look at no character before their match, and match the same before such a place whether the
 * text goes on or not. */
bool clfi_regex_cuts_words(const clf_regex *regex);

/* The pattern for PCRE2 that stands for Oniguruma's `pattern`, appended to `out`. Errors as above. */
clf_status clfi_regex_translate(const char *pattern, const char *where, clf_str *out);

/* Cuts UTF-8 text[0..size) into matches (id 1) and what lies between them (id 0), from the left, and appends them to `pieces`. An empty
 * match right behind another match does not count. *memory is made when it is needed. UNSUPPORTED: the pattern goes
 * back and forth out of proportion to the text (2^26 characters and 256 more for each byte of it). */
clf_status clfi_regex_find(const clf_regex *regex, const char *text, size_t size, clf_regex_memory **memory, clf_piece_list *pieces);

/* A new text begins: work is counted from here. memory NULL: nothing to do. */
void clfi_regex_memory_begin(clf_regex_memory *memory);

void clfi_regex_memory_free(clf_regex_memory *memory);

#endif
