/* SPDX-License-Identifier: MIT */
/* Candidates of top-k selection, as keys (score_key.cl).
 *
 * A round cuts each row of `count` candidates into blocks of block_size. Candidates are scores if IS_FIRST, otherwise keys of the round
 * before. Each block writes its k best keys in falling order or, if IS_LAST, their scores and indices. */
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
