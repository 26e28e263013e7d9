/* SPDX-License-Identifier: MIT */
/* Operands of op workloads: a tensor on the device and its values on the host. */
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

/* Makes an operand of uniform random values in [low, high). clfi_operand_random stores f32; clfi_operand_random_as rounds to `dtype`, a
 * float type, and `host` has the rounded values. The caller frees *out, also after a failure. */
clf_status clfi_operand_random_as(clf_context *context, clfi_random *random, clf_dtype dtype, int rank, const int64_t *dim, float low,
                                  float high, clfi_operand *out);
clf_status clfi_operand_random(clf_context *context, clfi_random *random, int rank, const int64_t *dim, float low, float high,
                               clfi_operand *out);

/* Makes a result in f32, NaN until it is written. The caller frees *out, also after a failure. */
clf_status clfi_operand_result(clf_context *context, int rank, const int64_t *dim, clfi_operand *out);

/* clear fills the result with NaN, so that an element that no run writes is noticed. read copies the result of a run into `host`. */
clf_status clfi_operand_clear(clfi_operand *operand);
clf_status clfi_operand_read(clfi_operand *operand);

/* The host's values as doubles; the caller frees *out. OUT_OF_MEMORY. */
clf_status clfi_operand_widen(const clfi_operand *operand, double **out);

/* Bytes on the device; 0 for a zeroed operand. */
size_t clfi_operand_bytes(const clfi_operand *operand);

void clfi_operand_free(clfi_operand *operand); /* zeros are accepted */

#endif
