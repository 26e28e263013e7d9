/* SPDX-License-Identifier: MIT */
/* Compares embeddings with the expected ones. */
#include "workload/embedding_check.h"

#include <math.h>

#include "workload/verdict.h"

/* Whether the square of a norm is 1 within rounding. clf_l2_normalize has a relative error of at most ((8 + sqrt C) / 2 + 11) u
 * (reference_norm.c). The square doubles it, and each element is rounded once more. */
static bool has_norm_1(double square, double width)
{
    return fabs(square - 1) <= (sqrt(width) + 8 + 22 + 2) * 0x1p-24;
}

void clfi_embedding_check(size_t width, bool is_normal, const float *row, const double *want, double bound, clfi_verdict *out)
{
    double square = 0, wanted_square = 0, product = 0;
    for (size_t c = 0; c < width; c++) {
        square += (double)row[c] * (double)row[c];
        wanted_square += want[c] * want[c];
        product += (double)row[c] * want[c];
    }
    const double wanted_norm = sqrt(wanted_square), norm = is_normal ? sqrt(square) : wanted_norm;
    for (size_t c = 0; c < width; c++)
        clfi_verdict_add(out, (double)row[c] / norm, want[c] / wanted_norm, bound / wanted_norm);
    if (is_normal && !has_norm_1(square, (double)width))
        out->passed = false;
    const double cosine = product / sqrt(square * wanted_square);
    if (out->cosine == 0 || !(cosine >= out->cosine))
        out->cosine = cosine;
}
