/* SPDX-License-Identifier: MIT */
/* Quantised weights as they are stored: the macro of their kernels, and the lookup of their rows as floats. */
#ifndef CLFI_KERNEL_WEIGHT_ROWS_H
#define CLFI_KERNEL_WEIGHT_ROWS_H

#include "kernel/embedding.h"

/* Sets the macro BLOCKS of weight_blocks.cl. */
void clfi_spec_blocks(clf_kernel_spec *spec, clf_weight_type type);

/* Looks up rows of one table of quantised blocks, on any device. Enqueued. */
clf_status clfi_weight_rows_run(clf_context *context, const clf_embedding_args *args);

#endif
