/* SPDX-License-Identifier: MIT */
/* Searches a corpus that is spread over ranks. All calls are collective. Without ranks (NULL) they leave everything as it is. */
#ifndef CLFI_JOBS_RANKS_SEARCH_H
#define CLFI_JOBS_RANKS_SEARCH_H

#include "jobs/ranks.h"

/* Copies rank 0's embeddings, without their texts, to all other ranks, whose collections are empty. UNSUPPORTED: 2^31 queries or more. */
clf_status cli_ranks_spread_queries(const cli_ranks *ranks, cli_collection *queries);

/* The sum of `own` over all ranks. */
size_t cli_ranks_sum(const cli_ranks *ranks, size_t own);

/* Merges the hits of all ranks on rank 0. values, indices: memory for [n, k]. Before, they hold this rank's best [n, own], own <= k, values
 * falling, indices in the whole corpus. After, rank 0 has the best [n, k] of all, equal values in the order of their indices. UNSUPPORTED:
 * 2^31 queries or more. */
clf_status cli_ranks_merge_hits(const cli_ranks *ranks, size_t n, size_t own, size_t k, float *values, int64_t *indices);

#endif
