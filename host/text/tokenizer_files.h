/* SPDX-License-Identifier: MIT */
/* The files of a model's directory that belong to its tokenizer. */
#ifndef CLFI_TEXT_TOKENIZER_FILES_H
#define CLFI_TEXT_TOKENIZER_FILES_H

#include <stdbool.h>

#include "base/status.h"

/* One row per file: id, name. Two files of the model also say something about its tokenizer, and are not listed: config.json (its class)
 * and sentence_bert_config.json (clfi_tokenizer_lowers). */
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

/* The directory with a model's tokenizer: clfi_network_directory's, or that of the adapted model if this one holds an adapter without a
 * tokenizer. *out: newly allocated. Statuses as clfi_network_directory and clfi_adapter_place. */
clf_status clfi_tokenizer_place(const char *directory, char **out);

#endif
