/* SPDX-License-Identifier: MIT */
/* Finds the scales and offsets with which small integers come nearest to given weights. */
#ifndef CLFI_BASE_WEIGHT_FIT_H
#define CLFI_BASE_WEIGHT_FIT_H

#include <stdint.h>

#include "base/weight_type.h"

/* The offset m of weights d q - m: always 0, never below 0, or any number. */
typedef enum clf_weight_offset { CLF_OFFSET_ZERO, CLF_OFFSET_POSITIVE, CLF_OFFSET_FREE } clf_weight_offset;

/* The numbers that a block can hold: groups of `width` weights D s q - M t with an integer q from `lowest` to `highest`. D and M are halves
 * of the whole block. s (from least_scale to most_scale) and t (from 0 to most_offset) are integers of the group. Where most_scale is 0, a
 * block is one group with s = t = 1. */
typedef struct clf_weight_grid {
    int groups, width;
    int lowest, highest;
    clf_weight_offset offset;
    int least_scale, most_scale, most_offset;
} clf_weight_grid;

enum { CLFI_FIT_GROUPS_MOST = 16 };

/* A block's numbers, before they are packed. */
typedef struct clf_weight_fit {
    uint16_t scale, offset; /* D and M, bits of halves */
    int8_t scales[CLFI_FIT_GROUPS_MOST];
    uint8_t offsets[CLFI_FIT_GROUPS_MOST];
    int8_t q[CLFI_WEIGHT_BLOCK_MOST];
} clf_weight_fit;

/* Minimises sum_i (w_i - x_i)^2 over all numbers of a block. For given scales and offsets the best q is the nearest integer. For given q
 * the best scales and offsets solve the normal equations. The search alternates the two steps, from several starts, for each group
 * alone and then for the block. It finds a local minimum. |x_i| is below 65504. x has groups * width numbers, at most
 * CLFI_WEIGHT_BLOCK_MOST. */
void clfi_weight_fit(const clf_weight_grid *grid, const float *x, clf_weight_fit *out);

#endif
