/* SPDX-License-Identifier: MIT */
/* References of selftest in double precision: the plainest loops that state each formula. Arrays are dense and row-major. */
#ifndef CLFI_CLI_SELFTEST_REFERENCE_H
#define CLFI_CLI_SELFTEST_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

#include "clformer/linear.h"

/* y [m,n] = x [m,k] w^T [n,k] + bias [n] (NULL: none); magnitude, if given, gets sum |x w| + |bias|. */
void reference_linear(const double *x, const float *w, const float *bias, size_t m, size_t n, size_t k, double *y, double *magnitude);

/* y = (x - mean) / sqrt(var + eps) * gamma + beta, row by row; gamma NULL: 1, beta NULL: 0. */
void reference_layer_norm(const double *x, const float *gamma, const float *beta, size_t rows, size_t width, double eps, double *y);

/* out [T, H*D] = softmax(q k^T / sqrt(D)) v inside each sequence; qkv [T, 3*H*D]. */
void reference_attention(const double *qkv, const int32_t *offsets, size_t sequences, size_t heads, size_t size, double *out);

#endif
