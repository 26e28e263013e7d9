/* SPDX-License-Identifier: MIT */
/* Computes attention in double precision. */
#include "workload/reference_attention.h"

#include <math.h>

#include "base/alloc.h"
#include "workload/reference_gemm.h"

static const double U = 0x1p-24;

/* Writes the score of key j, and returns the sum of the magnitudes of its terms. *out_loss: how much the score may change by the
 * precision. Engines scale either the query before the product, or the product. */
static double score_key(const clfi_ref_attention *row, clfi_ref_loss loss, size_t j, double *out, double *out_loss)
{
    const double scale = fabs(row->scale), *k = row->k + j * row->d;
    double sum = 0, magnitude = 0, sizes = 0;
    for (size_t c = 0; c < row->d; c++) {
        sum += row->q[c] * k[c];
        magnitude += fabs(row->q[c] * k[c]);
        sizes += scale * fabs(row->q[c]) + fmax(1, scale) * (fabs(k[c]) + 1);
    }
    *out = sum * row->scale + (row->bias ? row->bias[j] : 0);
    *out_loss = loss.relative * scale * magnitude + loss.of_term / 3 * sizes;
    return magnitude * scale + (row->bias ? fabs(row->bias[j]) : 0);
}

static bool is_kept(const clfi_ref_attention *row, size_t j)
{
    return !row->keep || row->keep[j];
}

/* In float32, a score is a sum of d products of scaled queries: its error is (d+3)u times the sum of magnitudes A. The exponent of a weight
 * errs by twice that plus the rounding of the subtraction (2A u), its exponential by 6 u, and sums over K weights (each rescaled once per
 * block) by (K+8) u. The quotient doubles the error of the sum.
 *
 * At a lower precision every score also errs by `lost`, which changes a weight by the factor exp(2 lost), and the second product errs by
 * loss.relative. Engines may sum rounded weights, which costs loss.relative once more. */
clf_status clfi_ref_attention_row(const clfi_ref_attention *row, double *out, double *bound)
{
    const clfi_ref_loss loss = clfi_ref_gemm_loss(row->precision);
    const size_t keys = row->keys, dv = row->dv;
    double *scores, magnitude = 0, lost = 0, largest = 0;
    CLF_TRY(clfi_alloc(2 * keys, sizeof *scores, "reference attention", &scores));
    double *weights = scores + keys;
    for (size_t j = 0; j < keys; j++) {
        double loss_here;
        const double size = score_key(row, loss, j, &scores[j], &loss_here);
        if (is_kept(row, j) && size > magnitude)
            magnitude = size;
        if (is_kept(row, j) && loss_here > lost)
            lost = loss_here;
    }
    const bool is_usable = clfi_ref_softmax_row(scores, row->keep, keys, row->empty_rows, weights);
    for (size_t j = 0; j < keys; j++)
        largest = weights[j] > largest ? weights[j] : largest;
    const double relative = (2 * (double)(row->d + 4) * magnitude + 2 * ((double)keys + 16)) * U,
                 lower = exp(2 * lost) * (1 + 2 * loss.relative) - 1;
    for (size_t c = 0; c < dv; c++) {
        double sum = 0, size = 0, terms = 0;
        for (size_t j = 0; j < keys; j++) {
            if (is_usable && !is_kept(row, j)) /* a masked key does not take part, whatever v holds there */
                continue;
            const double value = row->v[j * dv + c];
            sum += weights[j] * value;
            size += fabs(weights[j] * value);
            terms += fabs(value) + 2;
        }
        if (!is_usable && row->empty_rows == CLF_EMPTY_ROWS_ZERO)
            sum = size = 0;
        if (!is_usable && row->empty_rows == CLF_EMPTY_ROWS_NAN && keys > 0)
            sum = NAN;
        out[c] = sum;
        bound[c] = (relative + lower) * size + 0x1p-120;
        if (loss.of_term > 0) /* 0 times infinity is NaN */
            bound[c] += loss.of_term / 3 * largest * terms;
    }
    free(scores);
    return CLF_OK;
}
