/* SPDX-License-Identifier: MIT */
/* Runs linear layers and compares them with double precision. */
#include "support/linear_check.h"

#include <math.h>
#include <stdlib.h>

#include "op/linear.h"
#include "support/check.h"
#include "workload/reference_gemm.h"

/* The result in row i and column j, for either shape of y. */
static double result_at(const linear_check *c, const operand *y, int64_t i, int64_t j)
{
    if (!c->column_block)
        return y->value[i * c->n + j];
    return y->value[(j / c->column_block * c->m + i) * c->column_block + j % c->column_block];
}

/* Puts a NaN at index `first` and an infinity at index `last`. */
static void spoil(operand *o, size_t first, size_t last)
{
    float *values = malloc(o->count * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < o->count; i++)
        values[i] = (float)o->value[i];
    values[first] = NAN;
    values[last] = -INFINITY;
    operand_fill(o, values);
    free(values);
}

/* Whether a product of lower precision may have turned an infinity into NaN. */
static bool is_lost(const linear_check *c, const operand *x, int64_t row, double want, double got)
{
    bool has_infinity = false;
    for (int64_t i = 0; i < c->k && c->precision != CLF_PRECISION_HIGHEST; i++)
        has_infinity = has_infinity || isinf(x->value[row * c->k + i]);
    return has_infinity && isinf(want) && isnan(got);
}

void linear_check_run(clf_context *context, const clf_linear *linear, const linear_check *c, rng *r)
{
    operand x = operand_create(context, CLF_F32, c->x, 2, (int64_t[]){c->m, c->k}), residual = {0};
    operand y = c->column_block ? operand_create(context, c->y_type, c->y, 3, (int64_t[]){c->n / c->column_block, c->m, c->column_block})
                                : operand_create(context, c->y_type, c->y, 2, (int64_t[]){c->m, c->n});
    operand_fill_uniform(&x, r, -1, 1);
    if (c->is_spoiled)
        spoil(&x, (size_t)(c->m / 2 * c->k + 1), (size_t)(c->m * c->k - 1));
    if (c->has_residual) {
        residual = operand_create(context, c->y_type, LAYOUT_CONTIGUOUS, 2, (int64_t[]){c->m, c->n});
        operand_fill_uniform(&residual, r, -4, 4);
        if (c->is_spoiled)
            spoil(&residual, (size_t)c->n - 1, (size_t)c->n);
    }
    if (clfi_linear_run(context, linear, clfi_tensor_view(x.tensor), c->activation,
                        c->has_residual ? clfi_tensor_view(residual.tensor) : NULL, clfi_tensor_view(y.tensor)) != CLF_OK)
        fail_msg("%s: %s", c->id, clf_last_error());
    operand_read(&y, c->id);
    if (c->round)
        c->round(&x, c->most);
    const size_t count = (size_t)(c->m * c->n) + 1;
    double *want = calloc(count, sizeof *want), *bound = calloc(count, sizeof *bound);
    assert_true(want && bound);
    clfi_ref_gemm_run(&(clfi_ref_gemm){.m = c->m,
                                       .n = c->n,
                                       .k = c->k,
                                       .alpha = 1,
                                       .activation = c->activation,
                                       .a = x.value,
                                       .b = c->weight,
                                       .bias = c->bias,
                                       .residual = residual.value,
                                       .precision = c->precision},
                      want, bound);
    for (int64_t i = 0; i < c->m; i++)
        for (int64_t j = 0; j < c->n; j++) {
            const double got = result_at(c, &y, i, j), expected = want[i * c->n + j], error = c->slack * bound[i * c->n + j];
            CHECK(within(got, expected, error + operand_rounding(c->y_type, fabs(expected) + error)) || is_lost(c, &x, i, expected, got),
                  "%s: %lld,%lld: %.9g, want %.9g",
                  c->id, (long long)i, (long long)j, got, expected);
        }
    free(want);
    free(bound);
    operand_destroy(&x);
    operand_destroy(&y);
    operand_destroy(&residual);
}
