/* SPDX-License-Identifier: MIT */
/* Row normalisations in double.
 *
 * Bounds, u = 2^-24. A float32 sum of n terms in at least four independent chains is assumed to err by at most k u sum |terms|, k = 8 +
 * sqrt(n). This is the probabilistic bound of Higham & Mary 2019 with lambda = 2 and chains of n/4. OpenCL allows 2.5 units (5 u) for a
 * quotient and 3 (6 u) for a square root, so a scale 1 / sqrt(mean + eps) adds (5 + 6) u. The product with 1/n adds another 5 u, halved
 * by the root. */
#include "workload/reference_norm.h"

#include <math.h>

static const double u = 0x1p-24;

static double chain_error(size_t n)
{
    return (8 + sqrt((double)n)) * u;
}

void clfi_ref_layer_norm(const double *s, const double *gamma, const double *beta, size_t rows, size_t n, double eps, double *y,
                         double *bound)
{
    const double k = chain_error(n);
    for (size_t r = 0; r < rows; r++, s += n, y += n, bound += n) {
        double mean = 0, square = 0, from_first = 0;
        for (size_t i = 0; i < n; i++)
            mean += (s[i] - s[0]) / (double)n;
        mean += s[0];
        for (size_t i = 0; i < n; i++) {
            square += (s[i] - mean) * (s[i] - mean) / (double)n;
            from_first += fabs(s[i] - s[0]) / (double)n;
        }
        const double scale = square + eps == 0 ? 0 : 1 / sqrt(square + eps);
        /* The first float32 mean errs by at most d. Subtracting it from s rounds once, and the mean of the differences corrects it. */
        const double d = 2 * u * fabs(mean) + (k + 5 * u) * from_first;
        const double center = u * (sqrt(square) + d) + (k + 5 * u) * (sqrt(square) + d);
        /* The variance errs by its own sum (the d^2 term adds at most a sixteenth) and by twice the error of the centred values. */
        const double variance = square == 0 ? 0 : (k + 8 * u) * 17 / 16 + 2 * (center + u * d) / sqrt(square);
        for (size_t i = 0; i < n; i++) {
            const double c = s[i] - mean, g = gamma ? gamma[i] : 1, b = beta ? beta[i] : 0;
            y[i] = c * scale * g + b;
            bound[i] = fabs(g) * scale *
                       (center + u * (2 * fabs(c) + d) + fabs(c) * (variance * square / (square + eps + (square == 0)) / 2 + 16 * u));
            bound[i] += u * (2 * fabs(c * scale * g) + fabs(y[i]));
        }
    }
}

/* y = s * scale * gamma, the scale with relative error `relative`. */
static void scale_row(const double *s, const double *gamma, size_t n, double scale, double relative, double *y, double *bound)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = s[i] * scale * (gamma ? gamma[i] : 1);
        bound[i] = fabs(y[i]) * (relative + 2 * u);
    }
}

void clfi_ref_rms_norm(const double *s, const double *gamma, size_t rows, size_t n, double eps, double *y, double *bound)
{
    for (size_t r = 0; r < rows; r++, s += n, y += n, bound += n) {
        double square = 0;
        for (size_t i = 0; i < n; i++)
            square += s[i] * s[i] / (double)n;
        scale_row(s, gamma, n, 1 / sqrt(square + eps), (chain_error(n) + 8 * u) / 2 + 11 * u, y, bound);
    }
}

void clfi_ref_l2_normalize(const double *s, size_t rows, size_t n, double eps, double *y, double *bound)
{
    for (size_t r = 0; r < rows; r++, s += n, y += n, bound += n) {
        double square = 0;
        for (size_t i = 0; i < n; i++)
            square += s[i] * s[i];
        const double norm = sqrt(square);
        scale_row(s, NULL, n, 1 / (norm < eps ? eps : norm), chain_error(n) / 2 + 11 * u, y, bound);
    }
}
