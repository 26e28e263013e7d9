/* SPDX-License-Identifier: MIT */
/* Row normalisations in double, with the error bound of every element of the float32 result. */
#ifndef CLFI_WORKLOAD_REFERENCE_NORM_H
#define CLFI_WORKLOAD_REFERENCE_NORM_H

#include <stddef.h>

/* Rows of n elements, dense. s: the float32 sums x + residual. gamma, beta: n elements or NULL. bound: without the rounding to the
 * storage type of y. */
void clfi_ref_layer_norm(const double *s, const double *gamma, const double *beta, size_t rows, size_t n, double eps, double *y,
                         double *bound);
void clfi_ref_rms_norm(const double *s, const double *gamma, size_t rows, size_t n, double eps, double *y, double *bound);
void clfi_ref_l2_normalize(const double *s, size_t rows, size_t n, double eps, double *y, double *bound);

#endif
