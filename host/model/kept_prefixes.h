/* SPDX-License-Identifier: MIT */
/* Sequences of ended requests that are kept, so that a prompt which begins with the same tokens reuses their keys and values. The cache
 * rows they use are limited; the sequences that were unused for longest go first. */
#ifndef CLFI_MODEL_KEPT_PREFIXES_H
#define CLFI_MODEL_KEPT_PREFIXES_H

#include "model/decode_batch.h"

enum { CLFI_MOST_PREFIXES = 256, CLFI_LEAST_PREFIX = 8 /* tokens that are worth keeping or sharing */ };

typedef struct clf_kept_prefix {
    int32_t sequence; /* of the decoding batch */
    int32_t *tokens;  /* [count]; owned */
    size_t count;
    uint64_t used; /* value of clf_kept_prefixes.clock at its last use */
} clf_kept_prefix;

typedef struct clf_kept_prefixes {
    clf_decode_batch *batch; /* borrowed */
    size_t most_rows;        /* 0: nothing is kept */
    size_t rows;             /* tokens of all; rows that two of them share count twice */
    clf_kept_prefix *at;     /* [count] */
    size_t count, capacity;
    uint64_t clock;
} clf_kept_prefixes;

/* Drops all sequences. A zeroed struct is accepted. */
void clfi_prefixes_clear(clf_kept_prefixes *prefixes);

/* Takes over a sequence with these tokens, and drops those that it makes superfluous. Drops it instead if it is too short or too long, if a
 * kept one begins with all of it, or if there is no memory. */
void clfi_prefixes_keep(clf_kept_prefixes *prefixes, int32_t sequence, const int32_t *tokens, size_t count);

/* Opens a sequence with the longest beginning of these tokens that a kept sequence has. *out_shared: its number of tokens; 0: nothing
 * suitable is kept, and no sequence was opened. OUT_OF_MEMORY. */
clf_status clfi_prefixes_fork(clf_kept_prefixes *prefixes, const int32_t *tokens, size_t count, int32_t *out_sequence, size_t *out_shared);

/* Drops the sequence that was unused for longest. False: there is none. */
bool clfi_prefixes_drop_oldest(clf_kept_prefixes *prefixes);

#endif
