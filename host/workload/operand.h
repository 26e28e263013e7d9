/* SPDX-License-Identifier: MIT */
/* Operands of op workloads: a tensor and the values that were put into it. */
#ifndef CLFI_WORKLOAD_OPERAND_H
#define CLFI_WORKLOAD_OPERAND_H

#include "base/status.h"
#include "clformer/tensor.h"
#include "base/random.h"

typedef struct clfi_operand {
    clf_tensor *tensor; /* owned */
    float *host;        /* owned: what was uploaded, or what clfi_operand_read found; C order */
    size_t count;
} clfi_operand;

/* Uniform random values in [low, high), stored as f32, or rounded to `dtype`, a float type: then `host` has the rounded values. */
clf_status clfi_operand_random_as(clf_context *context, clfi_random *random, clf_dtype dtype, int rank, const int64_t *dim, float low,
                                  float high, clfi_operand *out);
clf_status clfi_operand_random(clf_context *context, clfi_random *random, int rank, const int64_t *dim, float low, float high,
                               clfi_operand *out);

/* A result, NaN until it is written. */
clf_status clfi_operand_result(clf_context *context, int rank, const int64_t *dim, clfi_operand *out);

/* NaN again, so that an element that no run writes shows; then the result of a run into `host`. */
clf_status clfi_operand_clear(clfi_operand *operand);
clf_status clfi_operand_read(clfi_operand *operand);

/* The host's values as doubles; the caller frees. */
clf_status clfi_operand_widen(const clfi_operand *operand, double **out);

/* On the device; 0 for zeros. */
size_t clfi_operand_bytes(const clfi_operand *operand);

void clfi_operand_free(clfi_operand *operand); /* zeros are accepted */

#endif
