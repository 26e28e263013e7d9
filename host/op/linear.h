/* SPDX-License-Identifier: MIT */
/* Linear layers inside the library: weights packed once, several of them side by side, column blocks out. */
#ifndef CLFI_OP_LINEAR_H
#define CLFI_OP_LINEAR_H

#include "clformer/linear.h"
#include "kernel/gemm.h"
#include "tensor/row_blocks.h"

/* Concatenates `parts` weights [N_i, K] (torch layout) along N and packs them into the form of the engine that this context uses. They are
 * f32, f16 or bf16 of one dtype with any strides, or each of quantised blocks. biases[i]: [N_i], or a view with buffer NULL; biases may be
 * NULL. An engine that packs keeps no reference to the weights: after clf_context_finish the caller may drop their memory. What one
 * allocation does not hold, and each run of parts of one type, is packed and multiplied piece by piece. Enqueued. */
clf_status clfi_linear_create(clf_context *context, int parts, const clf_view *weights, const clf_view *biases, clf_linear **out);

/* The same where weights and biases may come in blocks of rows; biases[i].count 0: none. */
clf_status clfi_linear_create_blocks(clf_context *context, int parts, const clf_row_blocks *weights, const clf_row_blocks *biases,
                                     clf_linear **out);
void clfi_linear_destroy(clf_linear *linear);

/* Whether a caller's tensors are a weight and, where it is not NULL, the bias of its rows; `op` and the weight's name open messages.
 * INVALID_ARGUMENT ("E_SHAPE: ..."). */
clf_status clfi_linear_check_tensors(const clf_context *context, const char *op, const char *name, const clf_tensor *weight,
                                     const clf_tensor *bias);

/* y = f(x W^T + b) + residual. x [M,K]; residual NULL or [M,N], not y; y [M,N], or rank 3 [N/c, M, c]: column blocks of c, for example
 * head-major [3H, M, D]. y overlaps no input. x, y, residual: f32, f16 or bf16, any strides. Enqueued. UNSUPPORTED: the pieces of a weight
 * larger than one allocation do not end where column blocks do. */
clf_status clfi_linear_run(clf_context *context, const clf_linear *linear, const clf_view *x, clf_activation activation,
                           const clf_view *residual, const clf_view *y);

/* The same for one of several layers that read the same x: *input, zeroed before the first, keeps what an engine makes of x. The caller
 * releases the arena behind the last. */
clf_status clfi_linear_run_shared(clf_context *context, const clf_linear *linear, const clf_view *x, clf_activation activation,
                                  const clf_view *residual, const clf_view *y, clf_gemm_input *input);

/* Whether quantised weights [n, k] of that type can be given; else they have to become floats. */
bool clfi_linear_takes_blocks(const clf_context *context, clf_weight_type type, int64_t n, int64_t k);

/* Whether clfi_linear_run_gated takes the two for so many rows. */
bool clfi_linear_takes_gate(const clf_context *context, const clf_linear *linear, const clf_linear *gate, int64_t rows);

/* y = f(x W^T + b) * (x G^T) in one launch: x [M,K], y [M,N]; y overlaps no input. Enqueued. */
clf_status clfi_linear_run_gated(clf_context *context, const clf_linear *linear, const clf_linear *gate, const clf_view *x,
                                 clf_activation activation, const clf_view *y);

int64_t clfi_linear_in_features(const clf_linear *linear);
int64_t clfi_linear_out_features(const clf_linear *linear);

/* The engine that a run with `rows` rows uses; "?" when none does. */
const char *clfi_linear_engine(const clf_context *context, const clf_linear *linear, int64_t rows);

/* True when the weights were copied into the engine's form, so that the raw ones are not referenced. */
bool clfi_linear_is_packed(const clf_linear *linear);

#endif
