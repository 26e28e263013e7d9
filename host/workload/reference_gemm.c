/* SPDX-License-Identifier: MIT */
/* Computes matrix products and activations in float64, with error bounds that results of the engines are verified against. */
#include "workload/reference_gemm.h"

#include <math.h>
#include <stdbool.h>

#define U_F32 0x1p-24

double clfi_gamma_f32(double n)
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

static double relu6(double x)
{
    return x < 0 ? 0 : x > 6 ? 6 : x;
}

double clfi_ref_activation(clf_activation kind, double x)
{
    switch (kind) {
    case CLF_ACTIVATION_RELU: return x < 0 ? 0 : x;
    case CLF_ACTIVATION_GELU: return 0.5 * x * erfc(-x / sqrt(2));
    case CLF_ACTIVATION_GELU_TANH: return logistic(x, tanh_argument(x));
    case CLF_ACTIVATION_GELU_QUICK: return logistic(x, 1.702 * x);
    case CLF_ACTIVATION_SILU: return logistic(x, x);
    case CLF_ACTIVATION_SIGMOID: return logistic(1, x);
    case CLF_ACTIVATION_TANH: return tanh(x);
    case CLF_ACTIVATION_GELU_10: return fmin(clfi_ref_activation(CLF_ACTIVATION_GELU, x), 10);
    case CLF_ACTIVATION_MISH: return x * tanh(x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)));
    case CLF_ACTIVATION_RELU2: return x < 0 ? 0 : x * x;
    case CLF_ACTIVATION_RELU6: return relu6(x);
    case CLF_ACTIVATION_LEAKY_RELU: return x < 0 ? 0.01 * x : x;
    case CLF_ACTIVATION_HARDSWISH: return x * relu6(x + 3) / 6;
    default: return x;
    }
}

double clfi_ref_activation_error(clf_activation kind, double x)
{
    if (kind == CLF_ACTIVATION_NONE || kind == CLF_ACTIVATION_RELU)
        return 0;
    /* The bound counts units in the last place of float32 and results flushed to zero. For gelu_tanh it adds the rounding of an exponent
     * z < 0, which e^z magnifies by |z|. */
    const bool is_gelu = kind == CLF_ACTIVATION_GELU || kind == CLF_ACTIVATION_GELU_10;
    const double units = (is_gelu && x < 0) || kind == CLF_ACTIVATION_MISH ? 6 : 3;
    const double z = kind == CLF_ACTIVATION_GELU_TANH && x < 0 ? fabs(tanh_argument(x)) : 0;
    return (units + 2 * z) * 2 * U_F32 * fabs(clfi_ref_activation(kind, x)) + 0x1p-126 * (1 + fabs(x));
}

double clfi_ref_activation_slope(clf_activation kind, double reach)
{
    const bool is_one = kind == CLF_ACTIVATION_NONE || kind == CLF_ACTIVATION_RELU || kind == CLF_ACTIVATION_RELU6 ||
                        kind == CLF_ACTIVATION_LEAKY_RELU;
    return kind == CLF_ACTIVATION_RELU2 ? 2 * reach : kind == CLF_ACTIVATION_HARDSWISH ? 1.5 : is_one ? 1.0 : 1.14;
}

/* sum[j]: row i of a times column j of b. magnitude[j]: the same with absolute values, and with b_terms for b if they are given. Walks b
 * row by row, to read memory in order. */
static void sum_row(const clfi_ref_gemm *g, int64_t i, double *sum, double *magnitude)
{
    for (int64_t j = 0; j < g->n; j++)
        sum[j] = magnitude[j] = 0;
    for (int64_t p = 0; p < g->k; p++) {
        const double a = g->a[i * g->k + p], *b = g->b + p * g->n, *terms = g->b_terms ? g->b_terms + p * g->n : b;
        for (int64_t j = 0; j < g->n; j++) {
            sum[j] += a * b[j];
            magnitude[j] += fabs(a * terms[j]);
        }
    }
}

/* MEDIUM covers two kinds of engines. Matrix units (gemm_matrix.cl, gemm_bf16.cl) round both operands to bfloat16, with relative errors of
 * 2^-8 each. Half precision (gemm_tiled.cl) rounds both operands, four steps of a chain of multiply-adds and the sum of two chains: 7 x
 * 2^-11 = 3.4e-3. An operand below 2^-14 has an absolute error of up to 2^-25 instead, which the other operand multiplies.
 *
 * HIGH: matrix units split each operand into two bfloat16 parts, with a relative error of 2^-17 each, and omit the product of the second
 * parts, 2^-16. A CPU's unit takes parts below 2^-126 as 0. So an operand below 2^-117 has an absolute error of up to 2^-126 instead, which
 * the other operand multiplies. */
clfi_ref_loss clfi_ref_gemm_loss(clf_precision precision)
{
    static const clfi_ref_loss losses[] = {
        [CLF_PRECISION_HIGHEST] = {0, 0}, [CLF_PRECISION_HIGH] = {0x1.01p-15, 0}, [CLF_PRECISION_MEDIUM] = {0x1.01p-7, 3 * 0x1p-25}};
    return losses[precision];
}

void clfi_ref_gemm_run(const clfi_ref_gemm *g, double *y, double *bound)
{
    const clfi_ref_loss loss = clfi_ref_gemm_loss(g->precision);
    for (int64_t i = 0; i < g->m; i++) {
        sum_row(g, i, y + i * g->n, bound + i * g->n);
        for (int64_t j = 0; j < g->n; j++) {
            const int64_t at = i * g->n + j;
            const double sum = y[at], magnitude = bound[at];
            const double bias = g->bias ? g->bias[j] : 0, residual = g->residual ? g->residual[at] : 0;
            const double x = g->alpha * sum + bias, f = clfi_ref_activation(g->activation, x);
            const double error = clfi_gamma_f32((double)g->k + 2) * (fabs(g->alpha) * magnitude + fabs(bias)) +
                                 fabs(g->alpha) * (loss.relative * magnitude + loss.of_term * (double)g->k) +
                                 0x1p-126 * (double)(g->k + 1);
            y[at] = f + residual;
            bound[at] = clfi_ref_activation_slope(g->activation, fabs(x) + error) * error + clfi_ref_activation_error(g->activation, x) +
                        (g->residual ? U_F32 * (fabs(f) + fabs(residual)) * 1.001 : 0);
        }
    }
}
