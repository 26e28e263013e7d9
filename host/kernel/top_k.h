/* SPDX-License-Identifier: MIT */
/* Launches the search for the k largest elements of each row (cl/cpu/top_k_vector.cl, cl/gpu/top_k_group.cl). */
#ifndef CLFI_KERNEL_TOP_K_H
#define CLFI_KERNEL_TOP_K_H

#include "tensor/view.h"

enum { CLFI_TOP_K_MAX = 1024 };

/* Checked by the op. */
typedef struct clf_top_k_args {
    const clf_view *scores; /* [Q,N], any strides */
    int k;                  /* 1 .. min(N, CLFI_TOP_K_MAX) */
    const clf_view *values, *indices; /* [Q,k] dense */
} clf_top_k_args;

/* args: a clf_top_k_args. */
bool clfi_top_k_vector_supports(const clf_context *context, const void *args);
bool clfi_top_k_group_supports(const clf_context *context, const void *args);
clf_status clfi_top_k_vector(clf_context *context, const void *args);
clf_status clfi_top_k_group(clf_context *context, const void *args);

#endif
