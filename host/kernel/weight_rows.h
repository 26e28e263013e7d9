/* SPDX-License-Identifier: MIT */
/* Quantised weights as they are stored: what their kernels are built with, and their rows as numbers. */
#ifndef CLFI_KERNEL_WEIGHT_ROWS_H
#define CLFI_KERNEL_WEIGHT_ROWS_H

#include "kernel/embedding.h"

/* Macro BLOCKS of weight_blocks.cl. */
void clfi_spec_blocks(clf_kernel_spec *spec, clf_weight_type type);

/* The lookup of one table of blocks, on any device. Enqueued. */
clf_status clfi_weight_rows_run(clf_context *context, const clf_embedding_args *args);

#endif
