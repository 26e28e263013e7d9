/* SPDX-License-Identifier: MIT */
/* Matrix products and activations in double, with the error bound of every element of a float32 result. */
#ifndef CLFI_WORKLOAD_REFERENCE_GEMM_H
#define CLFI_WORKLOAD_REFERENCE_GEMM_H

#include <stddef.h>
#include <stdint.h>

#include "clformer/context.h"
#include "clformer/activation.h"

/* f(x) in double; exact gelu through erfc. */
double clfi_ref_activation(clf_activation kind, double x);

/* Bound of the error of the library's f(x) in float32, for an exact x. */
double clfi_ref_activation_error(clf_activation kind, double x);

/* Bound of the slope |f'(x)| for |x| <= reach. */
double clfi_ref_activation_slope(clf_activation kind, double reach);

/* gamma_n = n u / (1 - n u) for float32 (Higham 2002, section 3.1). */
double clfi_gamma_f32(double n);

/* Error that a precision (clformer/context.h) allows a matrix product, in addition to float32 rounding. relative: in units of the sum of
 * the terms' magnitudes. of_term: absolute, for each term, with operands up to 1. */
typedef struct clfi_ref_loss {
    double relative, of_term;
} clfi_ref_loss;

clfi_ref_loss clfi_ref_gemm_loss(clf_precision precision);

/* One product of dense matrices: y [m,n] = f(alpha a b + bias) + residual with a [m,k], b [k,n]. bias [n] and residual [m,n] may be
 * NULL. */
typedef struct clfi_ref_gemm {
    int64_t m, n, k;
    double alpha;
    clf_activation activation;
    const double *a, *b, *bias, *residual;
    const double *b_terms;   /* [k,n]: |d q| + |z| of quantised weights d q + z, whose parts kernels sum separately; NULL: |b| */
    clf_precision precision; /* adds clfi_ref_gemm_loss to the bound */
} clfi_ref_gemm;

/* Computes y [m,n] and bound [m,n], which bounds the error of a kernel's result before it is rounded to the type of y. */
void clfi_ref_gemm_run(const clfi_ref_gemm *g, double *y, double *bound);

#endif
