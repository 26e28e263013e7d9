/* SPDX-License-Identifier: MIT */
/* The files of a model's directory that are its tokenizer. */
#ifndef CLFI_TEXT_TOKENIZER_FILES_H
#define CLFI_TEXT_TOKENIZER_FILES_H

#include <stdbool.h>

#include "base/status.h"

/* One row per file: id, name. What config.json and sentence_bert_config.json say of a tokenizer (its class, clfi_tokenizer_lowers) stands
 * among what they say of the model. */
#define CLFI_TOKENIZER_FILES(X)                 \
    X(JSON, "tokenizer.json")                   \
    X(CONFIG, "tokenizer_config.json")          \
    X(SPECIALS, "special_tokens_map.json")      \
    X(ADDED, "added_tokens.json")               \
    X(VOCAB_TXT, "vocab.txt")                   \
    X(VOCAB_JSON, "vocab.json")                 \
    X(MERGES, "merges.txt")                     \
    X(SENTENCEPIECE, "sentencepiece.bpe.model") \
    X(SOURCE_SPM, "source.spm")                 \
    X(TARGET_SPM, "target.spm")                 \
    X(TARGET_VOCAB, "target_vocab.json")

typedef enum clf_tokenizer_file {
#define X(id, name) CLF_TOKENIZER_FILE_##id,
    CLFI_TOKENIZER_FILES(X)
#undef X
        CLF_TOKENIZER_FILE_COUNT
} clf_tokenizer_file;

extern const char *const clfi_tokenizer_files[CLF_TOKENIZER_FILE_COUNT];

bool clfi_is_tokenizer_file(const char *name);

/* The directory of a model's tokenizer: clfi_network_directory's, or another one where that is an adapter's without tokenizer. *out: newly
 * allocated. Statuses as those of clfi_network_directory and clfi_adapter_place. */
clf_status clfi_tokenizer_place(const char *directory, char **out);

#endif
