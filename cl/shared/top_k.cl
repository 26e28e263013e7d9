/* SPDX-License-Identifier: MIT */
/* Candidates of top-k selection, as keys (score_key.cl).
 *
 * One round: the row of `count` candidates (scores if IS_FIRST, keys of the round before otherwise) is cut into blocks of block_size. Each
 * block leaves its k best keys in falling order, or, if IS_LAST, their scores and indices. */
#include "score_key.cl"
#include "vector.cl"

#if !defined(IS_FIRST) || !defined(IS_LAST)
#error "IS_FIRST: candidates are scores; IS_LAST: the results are wanted"
#endif

/* Key of candidate i of a row. */
#if IS_FIRST
#define CANDIDATE_T X_T
#define CANDIDATE(row, i) key_of(LOAD_X(row, (i) * column_stride), i)
#else
#define CANDIDATE_T ulong
#define CANDIDATE(row, i) ((row)[i])
#endif
