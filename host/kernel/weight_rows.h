/* SPDX-License-Identifier: MIT */
/* Quantised weights as they are stored: what their kernels are built with, and their rows as numbers. */
#ifndef CLFI_KERNEL_WEIGHT_ROWS_H
#define CLFI_KERNEL_WEIGHT_ROWS_H

#include "kernel/embedding.h"

/* Macro BLOCKS of weight_blocks.cl. */
void clfi_spec_blocks(clf_kernel_spec *spec, clf_weight_type type);

/* Engine of CLF_OP_EMBEDDING for one table of blocks. args: a clf_embedding_args. */
bool clfi_weight_rows_supports(const clf_context *context, const void *args);
clf_status clfi_weight_rows_run(clf_context *context, const void *args);

#endif
