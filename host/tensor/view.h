/* SPDX-License-Identifier: MIT */
/* View: the form in which ops take tensors. It is a typed, strided window into a buffer and owns nothing. */
#ifndef CLFI_TENSOR_VIEW_H
#define CLFI_TENSOR_VIEW_H

#include <stdbool.h>

#include "base/status.h"
#include "base/weight_type.h"
#include "clformer/tensor.h"
#include "runtime/arena.h"
#include "runtime/launch.h"

typedef struct clf_view {
    clf_buffer *buffer; /* borrowed */
    clf_dtype dtype;
    int rank;
    int64_t dim[CLF_MAX_RANK];
    int64_t stride[CLF_MAX_RANK]; /* elements */
    int64_t offset;               /* elements from the start of the buffer */
    clf_weight_type blocks; /* F32: numbers of dtype. Else rows of quantised blocks, [rows, columns] of weights with dtype u8: offset and
                               stride[0] are bytes; only functions that say so take such a view */
} clf_view;

/* Suffix of load_/store_ functions in cl/shared/types.cl ("f32"). */
const char *clfi_dtype_suffix(clf_dtype dtype);

bool clfi_dtype_is_float(clf_dtype dtype); /* f32, f16 or bf16 */

/* Product of dim[0..rank); INVALID_ARGUMENT for a negative dimension or overflow (of int64 or of size_t bytes). `what` names the
 * operand. */
clf_status clfi_shape_count(const char *what, clf_dtype dtype, int rank, const int64_t *dim, size_t *out);

/* Dense row-major view at an element offset. */
clf_view clfi_view_dense(clf_buffer *buffer, clf_dtype dtype, int64_t offset, int rank, const int64_t *dim);

int64_t clfi_view_count(const clf_view *view);     /* elements */
bool clfi_view_is_dense(const clf_view *view);     /* row-major without gaps (size-1 dimensions aside) */
int clfi_view_repeated_axis(const clf_view *view); /* the first axis of several elements with stride 0; -1: none */
bool clfi_view_same_shape(const clf_view *a, const clf_view *b);

/* "[2,3,4]" for messages. */
enum { CLFI_SHAPE_TEXT_BYTES = 224 };
const char *clfi_shape_text(int rank, const int64_t *dim, char out[CLFI_SHAPE_TEXT_BYTES]);

/* Temporary dense view from the context's arena. INVALID_ARGUMENT as clfi_shape_count, OUT_OF_MEMORY. */
clf_status clfi_view_temporary(clf_context *context, clf_dtype dtype, int rank, const int64_t *dim, clf_view *out);

/* Macros for an operand called `name` ("IN"): IN_T (storage type), LOAD_IN and STORE_IN (the functions of cl/shared/types.cl). */
void clfi_spec_dtype(clf_kernel_spec *spec, const char *name, clf_dtype dtype);

/* Kernel arguments of a view: its buffer and its offset (as long). */
void clfi_arg_view(clf_launch *launch, const clf_view *view);

/* The view of a tensor, borrowed until the tensor is destroyed. */
const clf_view *clfi_tensor_view(const clf_tensor *tensor);

/* A tensor of a view, whose buffer it retains. *out: the caller destroys it. OUT_OF_MEMORY. */
clf_status clfi_tensor_from_view(const clf_view *view, clf_tensor **out);

/* The context that the tensor's buffer belongs to; borrowed. */
clf_context *clfi_tensor_context(const clf_tensor *tensor);

/* Fails with INVALID_ARGUMENT when the context or a tensor is NULL, or the tensor belongs to another context. */
clf_status clfi_tensor_check(const clf_context *context, const char *what, const clf_tensor *tensor);

#endif
