/* SPDX-License-Identifier: MIT */
/* Launchers of the softmax kernels: cl/cpu/softmax_overlapped.cl, softmax_vector.cl and softmax_lines.cl,
 * cl/gpu/softmax_group.cl, cl/any/softmax_generic.cl. */
#ifndef CLFI_KERNEL_SOFTMAX_H
#define CLFI_KERNEL_SOFTMAX_H

#include "clformer/softmax.h"
#include "tensor/view.h"

/* Checked arguments. Every view has the rank and the sizes of x; masks repeat through strides of 0. */
typedef struct clf_softmax_args {
    const clf_view *x, *y; /* f32, f16 or bf16 each */
    int axis;              /* of the keys, 0 <= axis < rank */
    int query_axis;        /* causal rows are counted along it; -1: not causal */
    int64_t causal_offset;
    float scale;
    clf_empty_rows empty_rows;
    const clf_view *mask, *padding, *attention; /* u8 or NULL */
    const clf_view *bias;                       /* f32 or NULL */
    const clf_view *lengths;                    /* i32, stride 0 on the key axis, or NULL */
} clf_softmax_args;

bool clfi_softmax_vector_supports(const clf_context *context, const void *args);
clf_status clfi_softmax_vector_run(clf_context *context, const void *args);
bool clfi_softmax_lines_supports(const clf_context *context, const void *args);
clf_status clfi_softmax_lines_run(clf_context *context, const void *args);
bool clfi_softmax_group_supports(const clf_context *context, const void *args);
clf_status clfi_softmax_group_run(clf_context *context, const void *args);
bool clfi_softmax_generic_supports(const clf_context *context, const void *args);
clf_status clfi_softmax_generic_run(clf_context *context, const void *args);

/* Keys of a row lie next to each other in x and y. */
bool clfi_softmax_is_unit(const clf_softmax_args *args);

int64_t clfi_softmax_rows(const clf_softmax_args *args);

#endif
