/* SPDX-License-Identifier: MIT */
/* Matrix products with fused epilogues, and linear layers. */
#ifndef CLFORMER_LINEAR_H
#define CLFORMER_LINEAR_H

#include "clformer/activation.h"
#include "clformer/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clf_gemm_params {
    size_t size;                /* sizeof(clf_gemm_params) */
    float alpha;
    clf_activation activation;
    const clf_tensor *bias;     /* [N]; NULL: none */
    const clf_tensor *residual; /* c's shape; not c itself; NULL: none */
} clf_gemm_params;

#define CLF_GEMM_PARAMS_INIT {.size = sizeof(clf_gemm_params), .alpha = 1.0f}
CLF_API CLF_NODISCARD clf_status clf_gemm_params_default(clf_gemm_params *out, size_t size); /* clformer.h: options */

/* c[..., m, n] = f(alpha sum_k a[..., m, k] b[..., k, n] + bias[n]) + residual[..., m, n].
 * a [..., M, K], b [..., K, N], c [..., M, N]: f32, f16 or bf16 each, any strides. There are at most 4 leading (batch) dimensions; those
 * of a and b are 1 or c's. K = 0 sums nothing. c must overlap no input. Sums in f32; the error of sum_k is that of the context's
 * precision (clf_precision). Enqueued. params NULL = defaults.
 * INVALID_ARGUMENT: ranks, shapes or dtypes. UNSUPPORTED: a size or a number of batches near 2^31 or above, or a forced engine that cannot
 * run this case. */
CLF_API CLF_NODISCARD clf_status clf_gemm(clf_context *context, const clf_tensor *a, const clf_tensor *b, const clf_gemm_params *params,
                                          clf_tensor *c);

/* A linear layer: weights packed once for the engine that will multiply with them. */
typedef struct clf_linear clf_linear;

/* weight [N, K] (torch.nn.Linear's layout), bias [N] or NULL: f32, f16 or bf16, any strides. The weight keeps its storage type. Both are
 * copied: they may be changed and destroyed afterwards. *out: the caller destroys it. INVALID_ARGUMENT ("E_SHAPE", "E_DTYPE"). UNSUPPORTED:
 * N of 2^31 and more. */
CLF_API CLF_NODISCARD clf_status clf_linear_create(clf_context *context, const clf_tensor *weight, const clf_tensor *bias,
                                                   clf_linear **out);
CLF_API void clf_linear_destroy(clf_linear *linear);

/* y = f(x W^T + bias) + residual: x [..., K], y and residual [..., N], leading dimensions equal and each tensor's rows evenly spaced (those
 * of a dense tensor are). residual NULL: none; y must overlap no input. context: the layer's, or one that shares its cl_context. Enqueued.
 * INVALID_ARGUMENT: shapes, dtypes, rows not evenly spaced, another context. */
CLF_API CLF_NODISCARD clf_status clf_linear_apply(clf_context *context, const clf_linear *linear, const clf_tensor *x,
                                                  clf_activation activation, const clf_tensor *residual, clf_tensor *y);

#ifdef __cplusplus
}
#endif
#endif
