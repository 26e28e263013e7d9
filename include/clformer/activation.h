/* SPDX-License-Identifier: MIT */
/* Activation functions, by themselves and as part of other ops. */
#ifndef CLFORMER_ACTIVATION_H
#define CLFORMER_ACTIVATION_H

#include "clformer/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Activations f(x), all computed in float32:
 *   none        x
 *   relu        max(0, x)
 *   gelu        x Phi(x) = x erfc(-x/sqrt 2) / 2 (Hendrycks & Gimpel 2016), relative accuracy kept where Phi is tiny
 *   gelu_tanh   x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
 *   gelu_quick  x / (1 + exp(-1.702 x))
 *   silu        x / (1 + exp(-x))
 *   sigmoid     1 / (1 + exp(-x)): the gate of the plain gated linear unit (Dauphin et al. 2017)
 *   tanh        tanh x
 *   gelu_10     min(gelu(x), 10)
 *   mish        x tanh(log(1 + exp(x))) (Misra 2019)
 *   relu2       max(0, x)^2 (So et al. 2021)
 *   relu6       min(max(0, x), 6)
 *   leaky_relu  x for x >= 0, else 0.01 x
 *   hardswish   x min(max(0, x + 3), 6) / 6 (Howard et al. 2019)
 * NaN stays NaN. sigmoid and tanh take infinities to 0, -1 and 1. +inf gives 10 for gelu_10 and 6 for relu6; the others keep it. -inf gives
 * 0 for relu, relu2 and relu6, -inf for leaky_relu, and NaN for the others (the product -inf * 0, as PyTorch computes it). */
#define CLF_ACTIVATION_MAP(X)      \
    X(NONE, "none")                \
    X(RELU, "relu")                \
    X(GELU, "gelu")                \
    X(GELU_TANH, "gelu_tanh")      \
    X(GELU_QUICK, "gelu_quick")    \
    X(SILU, "silu")                \
    X(SIGMOID, "sigmoid")          \
    X(TANH, "tanh")                \
    X(GELU_10, "gelu_10")          \
    X(MISH, "mish")                \
    X(RELU2, "relu2")              \
    X(RELU6, "relu6")              \
    X(LEAKY_RELU, "leaky_relu")    \
    X(HARDSWISH, "hardswish")

typedef enum clf_activation {
#define CLF_ENUM_ROW(id, name) CLF_ACTIVATION_##id,
    CLF_ACTIVATION_MAP(CLF_ENUM_ROW)
#undef CLF_ENUM_ROW
        CLF_ACTIVATION_COUNT
} clf_activation;

/* The activation's name, for example "gelu_tanh"; "unknown" for another value. Never NULL. */
CLF_API const char *clf_activation_name(clf_activation activation);

/* The activation of that name. INVALID_ARGUMENT: a NULL. NOT_FOUND: unknown name; the reason lists the known ones. */
CLF_API CLF_NODISCARD clf_status clf_activation_parse(const char *name, clf_activation *out);

/* y = f(x), element by element; x and y of one shape, f32, f16 or bf16 each, any strides; y may be x. Enqueued. Error: at most 3 units in
 * the last place of f32, then one rounding to y's type. gelu and gelu_10 have 6 units for x < 0, and mish has 6. gelu_tanh has 3 + 4
 * sqrt(2/pi) |x + 0.044715 x^3| for x < 0, where the rounding of its argument grows with the exponential. Results below 2^-119, of x far
 * below 0, may be 0. INVALID_ARGUMENT: shapes differ or a dtype is not a float. */
CLF_API CLF_NODISCARD clf_status clf_activation_apply(clf_context *context, clf_activation kind, const clf_tensor *x, clf_tensor *y);

#ifdef __cplusplus
}
#endif
#endif
