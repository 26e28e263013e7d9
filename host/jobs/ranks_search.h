/* SPDX-License-Identifier: MIT */
/* Searching a corpus that is spread over ranks. All calls are collective; without ranks (NULL) one process has all: nothing is to be
 * done. */
#ifndef CLFI_JOBS_RANKS_SEARCH_H
#define CLFI_JOBS_RANKS_SEARCH_H

#include "jobs/ranks.h"

/* Rank 0's embeddings, without their texts, to all the others, whose collections are empty. */
clf_status cli_ranks_spread_queries(const cli_ranks *ranks, cli_collection *queries);

/* The sum of what each has. */
size_t cli_ranks_sum(const cli_ranks *ranks, size_t own);

/* values, indices: room for [n, k]; they come as this rank's best [n, own], falling, own <= k, with indices in the whole corpus. On rank 0
 * they leave as the best [n, k] of all; equal values in the order of their indices. */
clf_status cli_ranks_merge_hits(const cli_ranks *ranks, size_t n, size_t own, size_t k, float *values, int64_t *indices);

#endif
