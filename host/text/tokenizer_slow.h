/* SPDX-License-Identifier: MIT */
/* Files of transformers' older tokenizers, which have no tokenizer.json: made into the parts of one as transformers converts them. */
#ifndef CLFI_TEXT_TOKENIZER_SLOW_H
#define CLFI_TEXT_TOKENIZER_SLOW_H

#include <jansson.h>

#include "base/status.h"

/* vocab.json with merges.txt, or sentencepiece.bpe.model. The class is tokenizer_config.json's (`config`; NULL: none), else config.json's
 * tokenizer_class or model_type. *out NULL: the directory has neither; else the parts, and *path, which the caller frees, is the file for
 * messages. UNSUPPORTED: another class than RobertaTokenizer, BartTokenizer, XLMRobertaTokenizer and CamembertTokenizer; what the makers
 * below refuse. NOT_FOUND: nothing names a class, or the class has other files. */
clf_status clfi_tokenizer_make_slow(const char *directory, const json_t *config, json_t **out, char **path);

/* Byte-level BPE as RobertaConverter has it: ids of vocab.json, merges.txt a pair of tokens a line. FORMAT: a line that is no pair, or
 * cls_token or sep_token is not in the vocabulary. */
clf_status clfi_tokenizer_make_roberta(const char *directory, const json_t *config, json_t *root);

/* Unigram as XLMRobertaConverter and CamembertConverter have it: fairseq's ids, which are those of sentencepiece.bpe.model moved behind
 * fairseq's own tokens, <mask> last. FORMAT: the pieces do not begin with <unk>, <s>, </s>. UNSUPPORTED: as clfi_make_check_pieces. */
clf_status clfi_tokenizer_make_xlm_roberta(const char *directory, const json_t *config, json_t *root);
clf_status clfi_tokenizer_make_camembert(const char *directory, const json_t *config, json_t *root);

#endif
