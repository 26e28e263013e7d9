/* SPDX-License-Identifier: MIT */
/* Tokenizers of Marian's directories as they are downloaded: source.spm divides a text into pieces, vocab.json has their ids. */
#ifndef CLFI_TEXT_TOKENIZER_MARIAN_H
#define CLFI_TEXT_TOKENIZER_MARIAN_H

#include "clformer/tokenizer.h"

/* The paths of source.spm and vocab.json. Pieces of source.spm that vocab.json lacks are never chosen; tokens of
 * vocab.json alone (of the target's side) have texts. </s> ends each text, a ">>xxx<<" of vocab.json is one token.
 * FORMAT: ids are not 0 to n-1, </s> or <unk> is missing, a file is broken. UNSUPPORTED: a model other than Unigram, pieces defined by the
 * user or of bytes, no prefix or no marks for spaces. */
clf_status clfi_tokenizer_open_marian(const char *spm, const char *vocab, clf_tokenizer **out);

#endif
