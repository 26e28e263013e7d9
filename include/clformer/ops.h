/* SPDX-License-Identifier: MIT */
/* Ops on tensors. All are enqueued on the context's queue and return at once; reading a tensor waits. Inputs are never modified, except where a
 * docstring allows the output to be the input. */
#ifndef CLFORMER_OPS_H
#define CLFORMER_OPS_H

#include "clformer/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the vectors of a sequence's tokens become one. */
typedef enum clf_pooling {
    CLF_POOLING_MEAN,          /* sum / length */
    CLF_POOLING_CLS,           /* the first token's vector */
    CLF_POOLING_MAX,           /* largest of each column */
    CLF_POOLING_MEAN_SQRT_LEN, /* sum / sqrt(length) */
    CLF_POOLING_COUNT
} clf_pooling;

#ifdef __cplusplus
}
#endif
#endif
