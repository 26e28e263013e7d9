/* SPDX-License-Identifier: MIT */
/* References of selftest in double precision. */
#include "cli/selftest_reference.h"

#include <math.h>

void reference_linear(const double *x, const float *w, const float *bias, size_t m, size_t n, size_t k, double *y, double *magnitude)
{
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) {
            double sum = bias ? bias[j] : 0, absolute = fabs(sum);
            for (size_t p = 0; p < k; p++) {
                const double product = x[i * k + p] * w[j * k + p];
                sum += product;
                absolute += fabs(product);
            }
            y[i * n + j] = sum;
            if (magnitude)
                magnitude[i * n + j] = absolute;
        }
    }
}

void reference_layer_norm(const double *x, const float *gamma, const float *beta, size_t rows, size_t width, double eps, double *y)
{
    for (size_t i = 0; i < rows; i++, x += width, y += width) {
        double mean = 0, variance = 0;
        for (size_t j = 0; j < width; j++)
            mean += x[j] / (double)width;
        for (size_t j = 0; j < width; j++)
            variance += (x[j] - mean) * (x[j] - mean) / (double)width;
        for (size_t j = 0; j < width; j++)
            y[j] = (x[j] - mean) / sqrt(variance + eps) * (gamma ? gamma[j] : 1) + (beta ? beta[j] : 0);
    }
}

void reference_attention(const double *qkv, const int32_t *offsets, size_t sequences, size_t heads, size_t size, double *out)
{
    const size_t width = heads * size;
    for (size_t s = 0; s < sequences; s++) {
        const size_t begin = (size_t)offsets[s], end = (size_t)offsets[s + 1];
        for (size_t i = begin; i < end; i++) {
            for (size_t h = 0; h < heads; h++) {
                double largest = -INFINITY, total = 0;
                double *row = out + i * width + h * size;
                for (size_t d = 0; d < size; d++)
                    row[d] = 0;
                for (int pass = 0; pass < 2; pass++) {
                    for (size_t j = begin; j < end; j++) {
                        double score = 0;
                        for (size_t d = 0; d < size; d++)
                            score += qkv[i * 3 * width + h * size + d] * qkv[j * 3 * width + width + h * size + d];
                        score /= sqrt((double)size);
                        if (pass == 0) {
                            largest = score > largest ? score : largest;
                            continue;
                        }
                        const double weight = exp(score - largest);
                        total += weight;
                        for (size_t d = 0; d < size; d++)
                            row[d] += weight * qkv[j * 3 * width + 2 * width + h * size + d];
                    }
                }
                for (size_t d = 0; d < size; d++)
                    row[d] /= total;
            }
        }
    }
}
