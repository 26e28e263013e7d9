/* SPDX-License-Identifier: MIT */
/* Quantised weights of random blocks, of any type, with what a product of them may err by. */
#ifndef CLFI_WORKLOAD_RANDOM_BLOCKS_H
#define CLFI_WORKLOAD_RANDOM_BLOCKS_H

#include "base/random.h"
#include "tensor/view.h"

/* `blocks` blocks of random integers whose halves (d, m) are uniform within 0.02, into blocks * block_bytes bytes. */
void clfi_random_blocks_fill(clfi_random *random, clf_weight_type type, size_t blocks, void *data);

/* A weight [rows, columns] on a device, and what it is. */
typedef struct clfi_random_blocks {
    clf_buffer *buffer; /* owned */
    clf_view view;
    size_t bytes;
    double *value; /* [rows, columns], exact; owned */
    double *terms; /* as large: |d q| + |z| of a weight d q + z. Kernels sum the two apart, so that rounding errors grow with these */
} clfi_random_blocks;

/* columns: whole blocks. OUT_OF_MEMORY. */
clf_status clfi_random_blocks_create(clf_context *context, clfi_random *random, clf_weight_type type, int64_t rows, int64_t columns,
                                     clfi_random_blocks *out);
void clfi_random_blocks_free(clfi_random_blocks *blocks); /* zeros are accepted */

#endif
