/* SPDX-License-Identifier: MIT */
/* Tokenizers of Marian's directories as they are downloaded: source.spm divides a text into pieces, vocab.json has their ids. */
#ifndef CLFI_TEXT_TOKENIZER_MARIAN_H
#define CLFI_TEXT_TOKENIZER_MARIAN_H

#include "clformer/tokenizer.h"

/* spm, vocab: the paths of source.spm and vocab.json, or of target.spm and target_vocab.json. Pieces that the vocabulary lacks are never
 * chosen. Tokens that only the vocabulary has (of the target's side) are decoded, but no text is divided into them. </s> ends each text. A
 * language at the start of a text, such as ">>fra<<", is one token. FORMAT: ids are not 0 to n-1, </s> or <unk> is missing, or a file is
 * broken. UNSUPPORTED: as clfi_make_check_pieces. NOT_FOUND, IO. */
clf_status clfi_tokenizer_open_marian(const char *spm, const char *vocab, clf_tokenizer **out);

#endif
