/* SPDX-License-Identifier: MIT */
/* Turns a directory's tokenizer into a vocabulary for GGUF files: the inverse of clf_tokenizer_from_vocabulary. */
#ifndef CLFI_TEXT_VOCABULARY_EXPORT_H
#define CLFI_TEXT_VOCABULARY_EXPORT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/str.h"
#include "clformer/tokenizer.h"

typedef struct clf_vocabulary_export {
    clf_vocabulary_spec spec; /* points to the members below */
    clf_text *tokens, *merges;
    float *scores;
    int32_t *types;
    clf_str texts; /* of tokens that fill holes in the ids */
    json_t *root;
    clf_tokenizer *tokenizer;
    bool leaves_nfc; /* the tokenizer composes texts first (NFC), which a vocabulary does not */
} clf_vocabulary_export;

#define CLF_VOCABULARY_EXPORT_INIT       \
    {                                    \
        .spec = CLF_VOCABULARY_SPEC_INIT \
    }

/* Makes a vocabulary of `rows` tokens from directory/tokenizer.json; ids without a token, and those after the last, become unused ones.
 * Byte-level BPE becomes "gpt2" if it splits texts as one of the named pre-tokenizers does, BPE with byte fallback becomes "llama". A test
 * text must then give the same tokens as before. *out is CLF_VOCABULARY_EXPORT_INIT before; the caller frees it in any case. NOT_FOUND: no
 * such file. UNSUPPORTED: GGUF has no form for a part of the tokenizer, the test text gives other tokens, or there are more than `rows`
 * tokens. Other errors as clf_tokenizer_open. */
clf_status clfi_vocabulary_export(const char *directory, size_t rows, clf_vocabulary_export *out);
void clfi_vocabulary_export_free(clf_vocabulary_export *export);

#endif
