/* SPDX-License-Identifier: MIT */
/* Scores between sets of embeddings, computed and selected on the device in blocks of bounded size. */
#ifndef CLFI_JOBS_SCORES_H
#define CLFI_JOBS_SCORES_H

#include <stdint.h>

#include "clformer/context.h"
#include "model/similarity.h"

/* out[i*m + j] = a_i . b_j, for cosines divided by |a_i| |b_j|, with a [n, width] and b [m, width]. A zero vector scores 0. */
clf_status cli_score_matrix(clf_context *context, clf_similarity similarity, const float *a, size_t n, const float *b, size_t m,
                            size_t width, float *out);

/* Finds for each of n queries the k best of m rows (clformer/search.h): values and indices [n, k]. m < 2^31. INVALID_ARGUMENT: k > m. */
clf_status cli_score_top(clf_context *context, clf_similarity similarity, const float *queries, size_t n, const float *rows, size_t m,
                         size_t width, size_t k, float *values, int64_t *indices);

#endif
