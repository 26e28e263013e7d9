/* SPDX-License-Identifier: MIT */
/* Turns the files of transformers' older tokenizers, which have no tokenizer.json, into the parts of one, as transformers converts them. */
#ifndef CLFI_TEXT_TOKENIZER_SLOW_H
#define CLFI_TEXT_TOKENIZER_SLOW_H

#include <jansson.h>

#include "base/status.h"

/* Reads vocab.json with merges.txt, or sentencepiece.bpe.model. The class is that of clfi_tokenizer_class_name (config NULL: none). *out
 * NULL: the directory has neither; else the parts. *path, which the caller frees, is the file for messages. UNSUPPORTED: no class is named,
 * or one other than RobertaTokenizer, BartTokenizer, XLMRobertaTokenizer and CamembertTokenizer. NOT_FOUND: the class needs the other
 * files. Statuses also those of the functions below. */
clf_status clfi_tokenizer_make_slow(const char *directory, const json_t *config, json_t **out, char **path);

/* Makes byte-level BPE like RobertaConverter: ids of vocab.json, and a pair of tokens in each line of merges.txt. FORMAT: a line is no
 * pair, or cls_token or sep_token is not in the vocabulary. */
clf_status clfi_tokenizer_make_roberta(const char *directory, const json_t *config, json_t *root);

/* Make Unigram like XLMRobertaConverter and CamembertConverter, with fairseq's ids: its own tokens, the pieces of sentencepiece.bpe.model,
 * then <mask>. FORMAT: the pieces do not begin with <unk>, <s>, </s>. UNSUPPORTED: as clfi_make_check_pieces. */
clf_status clfi_tokenizer_make_xlm_roberta(const char *directory, const json_t *config, json_t *root);
clf_status clfi_tokenizer_make_camembert(const char *directory, const json_t *config, json_t *root);

#endif
