/* SPDX-License-Identifier: MIT */
/* Quantised weights of random blocks, of any type, with values that bound the error of their products. */
#ifndef CLFI_WORKLOAD_RANDOM_BLOCKS_H
#define CLFI_WORKLOAD_RANDOM_BLOCKS_H

#include "base/random.h"
#include "tensor/view.h"

/* Fills data with `blocks` blocks (blocks * block_bytes bytes). Integers are random; the halves (d, m) are uniform in +-0.02. */
void clfi_random_blocks_fill(clfi_random *random, clf_weight_type type, size_t blocks, void *data);

/* A weight [rows, columns] on a device, and its exact values on the host. */
typedef struct clfi_random_blocks {
    clf_buffer *buffer; /* owned */
    clf_view view;
    size_t bytes;
    double *value; /* [rows, columns], exact; owned */
    double *terms; /* [rows, columns]: |d q| + |z| of a weight d q + z; in the memory of `value`. Kernels sum d q and z apart, so
                      rounding errors grow with this */
} clfi_random_blocks;

/* columns: whole blocks. The caller frees *out. OUT_OF_MEMORY, and failures of making the buffer. */
clf_status clfi_random_blocks_create(clf_context *context, clfi_random *random, clf_weight_type type, int64_t rows, int64_t columns,
                                     clfi_random_blocks *out);
void clfi_random_blocks_free(clfi_random_blocks *blocks); /* zeros are accepted */

#endif
