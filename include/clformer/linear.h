/* SPDX-License-Identifier: MIT */
/* Matrix products with fused epilogues, linear layers, and activations. */
#ifndef CLFORMER_LINEAR_H
#define CLFORMER_LINEAR_H

#include "clformer/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Activations f(x), all computed in float32:
 *   relu        max(0, x)
 *   gelu        x Phi(x) = x erfc(-x/sqrt 2) / 2 (Hendrycks & Gimpel 2016), relative accuracy kept where Phi is tiny
 *   gelu_tanh   x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
 *   gelu_quick  x / (1 + exp(-1.702 x))
 *   silu        x / (1 + exp(-x))
 *   sigmoid     1 / (1 + exp(-x)): the gate of the plain gated linear unit (Dauphin et al. 2017)
 *   tanh        tanh x
 * NaN stays NaN. sigmoid and tanh take infinities to 0, -1 and 1; the others keep +inf, and -inf gives 0 for relu and NaN for gelu and silu
 * (the product -inf * 0, as PyTorch computes it). */
#define CLF_ACTIVATION_MAP(X)      \
    X(NONE, "none")                \
    X(RELU, "relu")                \
    X(GELU, "gelu")                \
    X(GELU_TANH, "gelu_tanh")      \
    X(GELU_QUICK, "gelu_quick")    \
    X(SILU, "silu")                \
    X(SIGMOID, "sigmoid")          \
    X(TANH, "tanh")

typedef enum clf_activation {
#define X(id, name) CLF_ACTIVATION_##id,
    CLF_ACTIVATION_MAP(X)
#undef X
        CLF_ACTIVATION_COUNT
} clf_activation;

/* "gelu_tanh"; "unknown" for another value. Never NULL. */
CLF_API const char *clf_activation_name(clf_activation activation);

/* The activation of that name. NOT_FOUND: there is none; the reason lists them. */
CLF_API CLF_NODISCARD clf_status clf_activation_parse(const char *name, clf_activation *out);

/* y = f(x), element by element; x and y of one shape, f32, f16 or bf16 each, any strides; y may be x. Enqueued.
 * Error: at most 3 units in the last place of f32 for results above 2^-126 (gelu_tanh: 3 + 4 sqrt(2/pi) |x + 0.044715 x^3| units for x < 0,
 * where the rounding of its argument grows with the exponential), then one rounding to y's type. INVALID_ARGUMENT: shapes differ or a dtype
 * is not a float. */
CLF_API CLF_NODISCARD clf_status clf_activation_apply(clf_context *context, clf_activation kind, const clf_tensor *x, clf_tensor *y);

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
 * a [..., M, K], b [..., K, N], c [..., M, N]: f32, f16 or bf16 each, any strides, at most 4 leading (batch) dimensions, equal in c and
 * equal or 1 in a and b. K = 0 sums nothing. c must overlap no input. Sums in f32; an engine's error is that of a float32 FMA product
 * (|error| <= gamma_(K+2) sum |a b|, Higham 2002, section 3.5). Enqueued. params NULL = defaults.
 * INVALID_ARGUMENT: ranks, shapes or dtypes. UNSUPPORTED: no engine for this case (a forced one). */
CLF_API CLF_NODISCARD clf_status clf_gemm(clf_context *context, const clf_tensor *a, const clf_tensor *b, const clf_gemm_params *params,
                                          clf_tensor *c);

/* A linear layer: weights packed once for the engine that will multiply with them. */
typedef struct clf_linear clf_linear;

/* weight [N, K] (torch.nn.Linear's layout), bias [N] or NULL: f32, f16 or bf16, any strides. The weight keeps its storage type. *out: the
 * caller destroys it; weight and bias may be destroyed before. */
CLF_API CLF_NODISCARD clf_status clf_linear_create(clf_context *context, const clf_tensor *weight, const clf_tensor *bias,
                                                   clf_linear **out);
CLF_API void clf_linear_destroy(clf_linear *linear);

/* y = f(x W^T + bias) + residual: x [..., K], y and residual [..., N], leading dimensions equal and each tensor's rows evenly spaced (those
 * of a dense tensor are). residual NULL: none; y must overlap no input. Enqueued. INVALID_ARGUMENT: shapes, dtypes, or rows not evenly
 * spaced. */
CLF_API CLF_NODISCARD clf_status clf_linear_apply(clf_context *context, const clf_linear *linear, const clf_tensor *x,
                                                  clf_activation activation, const clf_tensor *residual, clf_tensor *y);

#ifdef __cplusplus
}
#endif
#endif
