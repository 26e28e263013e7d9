/* SPDX-License-Identifier: MIT */
/* Launches the pooling of each sequence's token vectors into one vector (cl/any/pooling.cl). */
#ifndef CLFI_KERNEL_POOLING_H
#define CLFI_KERNEL_POOLING_H

#include "clformer/ops.h"
#include "tensor/view.h"

/* Checked by the op. */
typedef struct clf_pool_args {
    clf_pooling mode;
    const clf_view *x, *offsets, *y; /* [T,C], i32 [n+1] dense, [n,C]; columns adjacent */
    int32_t skipped;                 /* number of tokens left out at the beginning of each sequence */
} clf_pool_args;

/* CPU family: vectors of columns, work-group size 1. GPU family: a column per work-item. args: a clf_pool_args. */
bool clfi_pool_supports(const clf_context *context, const void *args);
clf_status clfi_pool_vector(clf_context *context, const void *args);
clf_status clfi_pool_group(clf_context *context, const void *args);

#endif
