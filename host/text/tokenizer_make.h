/* SPDX-License-Identifier: MIT */
/* Parts of a tokenizer.json that is made in memory from files of other formats. */
#ifndef CLFI_TEXT_TOKENIZER_MAKE_H
#define CLFI_TEXT_TOKENIZER_MAKE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"
#include "io/sentencepiece.h"

/* `value`, a new reference, goes into the object or to the end of the array. OUT_OF_MEMORY: it is NULL, or has no place there. */
clf_status clfi_make_set(json_t *object, const char *key, json_t *value);
clf_status clfi_make_append(json_t *array, json_t *value);

/* An entry of "added_tokens". lstrip: it takes the spaces before it. */
clf_status clfi_make_added(json_t *list, const char *token, json_int_t id, bool is_special, bool lstrip);

/* UNSUPPORTED: a model other than Unigram, pieces defined by the user or of bytes, no prefix or no marks for spaces. */
clf_status clfi_make_check_pieces(const clf_sentencepiece *spm, const char *name);

/* "normalizer", "pre_tokenizer" and "decoder" of such a model: its normal forms, no spaces at the end, several made one, words that begin
 * with U+2581. is_own: normal forms and ends of texts as SentencePiece itself has them; else as transformers' converters of such files to
 * tokenizer.json, which differ in rare texts (a letter with several marks). */
clf_status clfi_make_piece_chains(const clf_sentencepiece *spm, bool is_own, json_t *root);

#endif
