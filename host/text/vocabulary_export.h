/* SPDX-License-Identifier: MIT */
/* Tokenizers of directories as vocabularies: the way back from clf_tokenizer_from_vocabulary. */
#ifndef CLFI_TEXT_VOCABULARY_EXPORT_H
#define CLFI_TEXT_VOCABULARY_EXPORT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/str.h"
#include "clformer/tokenizer.h"

typedef struct clf_vocabulary_export {
    clf_vocabulary_spec spec; /* points to what follows */
    clf_text *tokens, *merges;
    float *scores;
    int32_t *types;
    clf_str texts; /* of tokens that fill holes, and of merges */
    json_t *root;
    clf_tokenizer *tokenizer;
    bool leaves_nfc; /* the tokenizer composes texts first (NFC), which a vocabulary does not */
} clf_vocabulary_export;

#define CLF_VOCABULARY_EXPORT_INIT       \
    {                                    \
        .spec = CLF_VOCABULARY_SPEC_INIT \
    }

/* directory/tokenizer.json as a vocabulary of `rows` tokens: ids without a token, and those behind the last, are unused ones. Byte-level
 * BPE is "gpt2" where it cuts text as one of the named pre-tokenizers does, BPE with byte fallback is "llama". The tokens of a text that
 * has a bit of everything come out the same, or it is refused. *out, which is CLF_VOCABULARY_EXPORT_INIT, is to be freed in any case.
 * NOT_FOUND: no such file. UNSUPPORTED: a tokenizer that has no such form, by its part; more than `rows` tokens. */
clf_status clfi_vocabulary_export(const char *directory, size_t rows, clf_vocabulary_export *out);
void clfi_vocabulary_export_free(clf_vocabulary_export *export);

#endif
