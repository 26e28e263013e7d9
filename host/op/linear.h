/* SPDX-License-Identifier: MIT */
/* Linear layers for the library's models. Weights are packed once, several may be concatenated, and results may be in column blocks. */
#ifndef CLFI_OP_LINEAR_H
#define CLFI_OP_LINEAR_H

#include "clformer/linear.h"
#include "kernel/gemm.h"
#include "tensor/row_blocks.h"

/* Concatenates `parts` weights [N_i, K] (torch layout) along N and packs them into the form of the engine that this context uses. Each is
 * f32, f16 or bf16 with any strides, or of quantised blocks. biases[i]: [N_i], or a view with buffer NULL; biases may be NULL. If
 * clfi_linear_is_packed, the layer keeps no reference to the weights: after clf_context_finish the caller may free their memory.
 * Neighbouring parts of one type make one piece, or several if one allocation cannot hold them; pieces are packed and multiplied one by
 * one. Enqueued. INVALID_ARGUMENT: shapes or dtypes do not fit. UNSUPPORTED: 2^31 rows or more, or no engine. OUT_OF_MEMORY, DEVICE. */
clf_status clfi_linear_create(clf_context *context, int parts, const clf_view *weights, const clf_view *biases, clf_linear **out);

/* clfi_linear_create for weights that may be split into blocks of rows, each in a buffer of its own. biases[i].count 0: none. */
clf_status clfi_linear_create_blocks(clf_context *context, int parts, const clf_row_blocks *weights, const clf_row_blocks *biases,
                                     clf_linear **out);
void clfi_linear_destroy(clf_linear *linear);

/* Checks that a caller's tensors are a weight and the bias of its rows (NULL: none). Messages begin with `op` and the weight's name.
 * INVALID_ARGUMENT ("E_SHAPE: ...", "E_DTYPE: ..."). */
clf_status clfi_linear_check_tensors(const clf_context *context, const char *op, const char *name, const clf_tensor *weight,
                                     const clf_tensor *bias);

/* y = f(x W^T + b) + residual. x [M,K]; residual NULL or [M,N], not y; y [M,N], or rank 3 [N/c, M, c]: column blocks of c, for example
 * head-major [3H, M, D]. y overlaps no input. x, y, residual: f32, f16 or bf16, any strides. Enqueued. UNSUPPORTED: y has column blocks,
 * and a piece of the weights (clfi_linear_create) starts or ends inside one. */
clf_status clfi_linear_run(clf_context *context, const clf_linear *linear, const clf_view *x, clf_activation activation,
                           const clf_view *residual, const clf_view *y);

/* clfi_linear_run for one of several layers that read the same x. If an engine converts x, *input keeps the result for the next layer. The
 * caller zeroes *input before the first layer and releases the arena after the last. */
clf_status clfi_linear_run_shared(clf_context *context, const clf_linear *linear, const clf_view *x, clf_activation activation,
                                  const clf_view *residual, const clf_view *y, clf_gemm_input *input);

/* Whether an engine multiplies quantised weights [n, k] of this type. If not, the caller must convert them to floats. */
bool clfi_linear_takes_blocks(const clf_context *context, clf_weight_type type, int64_t n, int64_t k);

/* Whether clfi_linear_run_gated supports the two layers with this number of rows. */
bool clfi_linear_takes_gate(const clf_context *context, const clf_linear *linear, const clf_linear *gate, int64_t rows);

/* y = f(x W^T + b) * (x G^T) in one launch: x [M,K], y [M,N]; y overlaps no input. Enqueued. */
clf_status clfi_linear_run_gated(clf_context *context, const clf_linear *linear, const clf_linear *gate, const clf_view *x,
                                 clf_activation activation, const clf_view *y);

int64_t clfi_linear_in_features(const clf_linear *linear);
int64_t clfi_linear_out_features(const clf_linear *linear);

/* Name of the engine that multiplies `rows` rows with the layer's first piece; "?" if there is none. */
const char *clfi_linear_engine(const clf_context *context, const clf_linear *linear, int64_t rows);

/* Whether the layer holds its own packed copy of every piece, so that the memory of the caller's weights is not used. */
bool clfi_linear_is_packed(const clf_linear *linear);

#endif
