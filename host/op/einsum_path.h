/* SPDX-License-Identifier: MIT */
/* Finds the contraction order of an einsum: which terms are multiplied together, and in which sequence. Needs no device. */
#ifndef CLFI_OP_EINSUM_PATH_H
#define CLFI_OP_EINSUM_PATH_H

#include "base/status.h"
#include "op/einsum_labels.h"

enum { CLFI_EINSUM_EXACT_TERMS = 12 }; /* up to this many terms the order is the cheapest one; 3^12 splits take some milliseconds */

typedef struct clf_einsum_merge {
    int count; /* 2, or more for the last merge when the memory limit leaves no pair */
    uint8_t input[CLF_EINSUM_MAX_OPERANDS];
} clf_einsum_merge;

typedef struct clf_einsum_path {
    int count;
    clf_einsum_merge merge[CLF_EINSUM_MAX_OPERANDS - 1];
    double cost;
} clf_einsum_path;

/* Cost of one step whose terms hold the labels `all` and leave `kept`: multiplications and additions,
 * size(all) * (max(terms - 1, 1) + (1 if a label is summed)), the model of opt_einsum. */
double clfi_einsum_step_cost(clf_label_set all, clf_label_set kept, int terms, const int64_t *size);

/* Finds an order for `count` >= 1 terms given by their label sets (no size-0 or size-1 label in them). Inputs of a merge are term numbers,
 * or count + i for the result of merge i. Up to CLFI_EINSUM_EXACT_TERMS terms the total cost is the least over all pairwise trees that keep
 * every intermediate at `limit` elements or less (INFINITY: no limit), ties going to smaller intermediates. With more terms, or where no
 * such tree exists, the order is greedy. All terms that are left when no pair fits the limit are then merged at once. OUT_OF_MEMORY. */
clf_status clfi_einsum_path_find(const clf_label_set *term, int count, clf_label_set output, const int64_t *size, double limit,
                                 clf_einsum_path *out);

#endif
