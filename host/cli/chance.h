/* SPDX-License-Identifier: MIT */
/* Estimates which scores of a search could arise by chance alone. */
#ifndef CLFI_CLI_CHANCE_H
#define CLFI_CLI_CHANCE_H

#include "jobs/embedding.h"
#include "model/similarity.h"

/* out[q]: the best score that query q would get in a corpus of n texts that are all unrelated to it: m_q + (m_q - l_q) sqrt(2 ln
 * n). m_q is the median of the query's scores. l_q is their 15.87 % quantile, one standard deviation below the median of a normal
 * distribution. sqrt(2 ln n) bounds the expected largest of n normal numbers. Scores above the median do not enter, so that good hits do
 * not raise it. Both come from at most 4096 evenly spaced rows. NaN if n or this process's number of rows is less than 10. queries:
 * [count, width]; rows: this process's part [count, width] of the n. */
clf_status cli_chance(clf_context *context, clf_similarity similarity, const cli_collection *queries, const cli_collection *rows, size_t n,
                      double *out);

#endif
