/* SPDX-License-Identifier: MIT */
/* Keeps sequences of ended requests, so that a prompt which begins with the same tokens reuses their keys and values. The cache rows they
 * use are limited; the least recently used sequences are dropped first. */
#ifndef CLFI_MODEL_KEPT_PREFIXES_H
#define CLFI_MODEL_KEPT_PREFIXES_H

#include "model/decode_batch.h"

enum { CLFI_MOST_PREFIXES = 256, CLFI_LEAST_PREFIX = 8 /* fewest tokens to keep or share */ };

typedef struct clf_kept_prefix {
    int32_t sequence; /* number in the decode batch */
    int32_t *tokens;  /* [count]; owned */
    size_t count;
    uint64_t used; /* value of clf_kept_prefixes.clock at its last use */
} clf_kept_prefix;

typedef struct clf_kept_prefixes {
    clf_decode_batch *batch; /* borrowed */
    size_t most_rows;        /* 0: nothing is kept */
    size_t rows;             /* sum of all counts; a cache row that two sequences share counts twice */
    clf_kept_prefix *at;     /* [count] */
    size_t count, capacity;
    uint64_t clock;
} clf_kept_prefixes;

/* Drops all sequences. A zeroed struct is accepted. */
void clfi_prefixes_clear(clf_kept_prefixes *prefixes);

/* Takes over a sequence with these tokens, and drops kept sequences that are beginnings of it. Drops the new sequence instead if it is too
 * short or too long, if a kept one begins with all of it, or if memory is lacking. */
void clfi_prefixes_keep(clf_kept_prefixes *prefixes, int32_t sequence, const int32_t *tokens, size_t count);

/* Finds the kept sequence that shares the longest beginning with these tokens, and opens a new sequence with that beginning. *out_shared:
 * number of shared tokens; 0: too few are shared, and no sequence was opened. OUT_OF_MEMORY. */
clf_status clfi_prefixes_fork(clf_kept_prefixes *prefixes, const int32_t *tokens, size_t count, int32_t *out_sequence, size_t *out_shared);

/* Drops the least recently used sequence. Returns false if there is none. */
bool clfi_prefixes_drop_oldest(clf_kept_prefixes *prefixes);

#endif
