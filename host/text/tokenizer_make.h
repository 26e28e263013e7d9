/* SPDX-License-Identifier: MIT */
/* Parts of a tokenizer.json that is made in memory from files of other formats. */
#ifndef CLFI_TEXT_TOKENIZER_MAKE_H
#define CLFI_TEXT_TOKENIZER_MAKE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"
#include "io/sentencepiece.h"

/* Put `value`, a new reference that they take over, into the object or at the end of the array. OUT_OF_MEMORY: value is NULL, or cannot be
 * stored. */
clf_status clfi_make_set(json_t *object, const char *key, json_t *value);
clf_status clfi_make_append(json_t *array, json_t *value);

/* Appends an entry of "added_tokens". lstrip: the token takes the white space before it. */
clf_status clfi_make_added(json_t *list, const char *token, json_int_t id, bool is_special, bool lstrip);

/* UNSUPPORTED: a model other than Unigram, pieces defined by the user or of bytes, or a file in which add_dummy_prefix,
 * remove_extra_whitespaces or escape_whitespaces is false. */
clf_status clfi_make_check_pieces(const clf_sentencepiece *spm, const char *name);

/* Adds "normalizer", "pre_tokenizer" and "decoder" of such a model to `root`. They apply its normal forms, drop spaces at the end of a
 * text, make several spaces one, and let words begin with U+2581. is_own: normal forms and ends of texts are those of SentencePiece itself.
 * Otherwise they are those of transformers' converters to tokenizer.json, which differ in rare texts (a letter with several marks).
 * OUT_OF_MEMORY. */
clf_status clfi_make_piece_chains(const clf_sentencepiece *spm, bool is_own, json_t *root);

#endif
