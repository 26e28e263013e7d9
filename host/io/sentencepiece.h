/* SPDX-License-Identifier: MIT */
/* Models of SentencePiece (source.spm, spiece.model): pieces with scores, and how texts are normalised, in protocol buffers' encoding. */
#ifndef CLFI_IO_SENTENCEPIECE_H
#define CLFI_IO_SENTENCEPIECE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Types of pieces, by the format's numbers. */
typedef enum clf_piece_type {
    CLF_PIECE_NORMAL = 1,
    CLF_PIECE_UNKNOWN = 2,
    CLF_PIECE_CONTROL = 3,
    CLF_PIECE_USER_DEFINED = 4,
    CLF_PIECE_UNUSED = 5,
    CLF_PIECE_BYTE = 6
} clf_piece_type;
enum { CLFI_SENTENCEPIECE_UNIGRAM = 1, CLFI_SENTENCEPIECE_MOST = 1 << 24 };

typedef struct clf_sentencepiece_piece {
    const char *text;
    size_t size;
    float score;
    int64_t type; /* clf_piece_type */
} clf_sentencepiece_piece;

/* Texts are borrowed from the bytes that were parsed. */
typedef struct clf_sentencepiece {
    clf_sentencepiece_piece *pieces; /* [count], by id */
    size_t count, capacity;
    int64_t model; /* CLFI_SENTENCEPIECE_UNIGRAM or another kind */
    bool has_byte_fallback, adds_prefix, drops_spaces, escapes_spaces;
    const char *charsmap; /* SentencePiece's table of normal forms; NULL: none */
    size_t charsmap_size;
} clf_sentencepiece;

/* Reads a whole file's bytes; `name` is the file's name for messages. FORMAT, which names the place: a field that is cut short or of
 * another kind, a piece without text or with a score that is not finite, no pieces, more than CLFI_SENTENCEPIECE_MOST. Release with
 * clfi_sentencepiece_free. */
clf_status clfi_sentencepiece_parse(const char *bytes, size_t size, const char *name, clf_sentencepiece *out);
void clfi_sentencepiece_free(clf_sentencepiece *model);

#endif
