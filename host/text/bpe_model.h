/* SPDX-License-Identifier: MIT */
/* A BPE model as bpe.c makes it and bpe_encode.c uses it. */
#ifndef CLFI_TEXT_BPE_MODEL_H
#define CLFI_TEXT_BPE_MODEL_H

#include "text/bpe.h"
#include "text/text_workspace.h"

typedef struct clf_merge {
    uint64_t pair; /* ids of left and right; CLF_NO_PAIR: free */
    uint32_t rank;
    int32_t id;
} clf_merge;

#define CLF_NO_PAIR UINT64_MAX

struct clf_bpe {
    clf_vocabulary vocabulary;
    char *continuation_prefix, *end_suffix;
    size_t prefix_size, suffix_size;
    size_t longest;  /* bytes of the longest token, at least 1 */
    int32_t unknown; /* -1: none */
    bool fuse_unknown, byte_fallback, ignore_merges, keeps_unknown, first_merge_counts;
    bool parts_at_spaces; /* a long word may be divided before U+2581, SentencePiece's space (do_words_end) */
    bool merges_bytes;    /* a merge takes one of the tokens of bytes */
    int32_t byte_id[256]; /* with byte_fallback; -1: none */
    clf_merge *merges;    /* open addressing, at most half full */
    size_t merge_count, slot_count;
    uint64_t made_ns;
};

/* The merge of the two tokens; NULL: there is none. */
const clf_merge *clfi_bpe_find_merge(const clf_bpe *bpe, int32_t left, int32_t right);

/* U+2581, SentencePiece's space, as UTF-8. Position, from `from` on, of the first one that follows another character; size: none. */
size_t clfi_bpe_find_word(const char *text, size_t size, size_t from);

/* The model's `encode` (token_model.h). */
clf_status clfi_bpe_encode(const void *model, const char *word, size_t size, clf_text_workspace *work, clf_token_list *tokens);

#endif
