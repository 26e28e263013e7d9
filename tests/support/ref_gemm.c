/* SPDX-License-Identifier: MIT */
/* Matrix products and activations in double. */
#include "support/ref_gemm.h"

#include <math.h>

#define U_F32 0x1p-24

double gamma_f32(double n)
{
    return n * U_F32 / (1 - n * U_F32);
}

static double logistic(double x, double z)
{
    return z < 0 ? x * exp(z) / (1 + exp(z)) : x / (1 + exp(-z));
}

static double tanh_argument(double x)
{
    return 2 * sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
}

double ref_activation(clf_activation kind, double x)
{
    switch (kind) {
    case CLF_ACTIVATION_RELU: return x < 0 ? 0 : x;
    case CLF_ACTIVATION_GELU: return 0.5 * x * erfc(-x / sqrt(2));
    case CLF_ACTIVATION_GELU_TANH: return logistic(x, tanh_argument(x));
    case CLF_ACTIVATION_GELU_QUICK: return logistic(x, 1.702 * x);
    case CLF_ACTIVATION_SILU: return logistic(x, x);
    default: return x;
    }
}

double ref_activation_error(clf_activation kind, double x)
{
    if (kind == CLF_ACTIVATION_NONE || kind == CLF_ACTIVATION_RELU)
        return 0;
    /* 3 units of float32, flushed results, and for gelu_tanh the rounding of an exponent z < 0, which e^z magnifies by |z|. */
    const double z = kind == CLF_ACTIVATION_GELU_TANH && x < 0 ? fabs(tanh_argument(x)) : 0;
    return (3 + 2 * z) * 2 * U_F32 * fabs(ref_activation(kind, x)) + 0x1p-126 * (1 + fabs(x));
}

double ref_activation_slope(clf_activation kind)
{
    return kind == CLF_ACTIVATION_NONE || kind == CLF_ACTIVATION_RELU ? 1.0 : 1.14;
}

void ref_gemm_run(const ref_gemm *g, double *y, double *bound)
{
    for (int64_t i = 0; i < g->m; i++) {
        for (int64_t j = 0; j < g->n; j++) {
            double sum = 0, magnitude = 0;
            for (int64_t p = 0; p < g->k; p++) {
                const double product = g->a[i * g->k + p] * g->b[p * g->n + j];
                sum += product;
                magnitude += fabs(product);
            }
            const int64_t at = i * g->n + j;
            const double bias = g->bias ? g->bias[j] : 0, residual = g->residual ? g->residual[at] : 0;
            const double x = g->alpha * sum + bias, f = ref_activation(g->activation, x);
            const double error = gamma_f32((double)g->k + 2) * (fabs(g->alpha) * magnitude + fabs(bias)) + 0x1p-126 * (double)(g->k + 1);
            y[at] = f + residual;
            bound[at] = ref_activation_slope(g->activation) * error + ref_activation_error(g->activation, x) +
                        (g->residual ? U_F32 * (fabs(f) + fabs(residual)) * 1.001 : 0);
        }
    }
}
