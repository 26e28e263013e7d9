/* SPDX-License-Identifier: MIT */
/* Matrix product: every engine on every case against double, with guards around the result; broken calls. */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/context.h"
#include "support/cases_gemm.h"
#include "support/check.h"
#include "support/device.h"
#include "support/engines.h"
#include "workload/reference_gemm.h"

static int64_t product(const int64_t *dim, int rank)
{
    int64_t count = 1;
    for (int i = 0; i < rank; i++)
        count *= dim[i];
    return count;
}

static operand create(clf_context *context, const gemm_case *one, clf_dtype dtype, layout l, int64_t rows, int64_t columns, bool repeats)
{
    int64_t dim[6];
    for (int i = 0; i < one->batch_rank; i++)
        dim[i] = repeats ? 1 : one->batch[i];
    dim[one->batch_rank] = rows;
    dim[one->batch_rank + 1] = columns;
    return operand_create(context, dtype, l, one->batch_rank + 2, dim);
}

static void describe(const gemm_case *one, char id[160])
{
    snprintf(id, 160, "gemm[%lldx%lldx%lld batch=%lld %s,%s->%s %s,%s->%s act=%s bias=%d residual=%d alpha=%g]", (long long)one->m,
             (long long)one->n, (long long)one->k, (long long)product(one->batch, one->batch_rank), clf_dtype_name(one->a_type),
             clf_dtype_name(one->b_type), clf_dtype_name(one->c_type), layout_name(one->a), layout_name(one->b), layout_name(one->c),
             clf_activation_name(one->activation), one->has_bias, one->has_residual, (double)one->alpha);
}

static void check_result(const gemm_case *one, const operand *a, const operand *b, operand *c, const operand *residual, const operand *bias,
                         double alpha, clf_precision precision, const char *id)
{
    operand_read(c, id);
    const int64_t matrix = one->m * one->n;
    double *want = calloc((size_t)matrix + 1, sizeof *want), *bound = calloc((size_t)matrix + 1, sizeof *bound);
    assert_true(want && bound);
    for (int64_t i = 0; i < product(one->batch, one->batch_rank); i++) {
        clfi_ref_gemm_run(&(clfi_ref_gemm){.m = one->m, .n = one->n, .k = one->k, .alpha = alpha, .activation = one->activation,
                                 .a = a->value + (one->a_repeats ? 0 : i * one->m * one->k),
                                 .b = b->value + (one->b_repeats ? 0 : i * one->k * one->n), .bias = one->has_bias ? bias->value : NULL,
                                 .residual = one->has_residual ? residual->value + i * matrix : NULL, .precision = precision},
                     want, bound);
        operand_check(c, (size_t)(i * matrix), (size_t)matrix, want, bound, id);
    }
    free(bound);
    free(want);
}

/* False: the engine forced is one for special cases and refuses this one. */
static bool check_case(clf_context *context, const gemm_case *one)
{
    char id[160];
    rng r = {(uint64_t)(one->m * 131071 + one->n * 257 + one->k + one->batch_rank)};
    clf_gemm_params params = CLF_GEMM_PARAMS_INIT;
    describe(one, id);
    operand a = create(context, one, one->a_type, one->a, one->m, one->k, one->a_repeats);
    operand b = create(context, one, one->b_type, one->b, one->k, one->n, one->b_repeats);
    operand c = create(context, one, one->c_type, one->c, one->m, one->n, false);
    operand residual = {0}, bias = {0};
    operand_fill_uniform(&a, &r, -1, 1);
    operand_fill_uniform(&b, &r, -1, 1);
    params.alpha = one->alpha == 0 ? 1 : one->alpha;
    params.activation = one->activation;
    if (one->has_bias) {
        bias = operand_create(context, one->b_type, LAYOUT_CONTIGUOUS, 1, &one->n);
        operand_fill_uniform(&bias, &r, -2, 2);
        params.bias = bias.tensor;
    }
    if (one->has_residual) {
        residual = create(context, one, one->a_type, one->c, one->m, one->n, false);
        operand_fill_uniform(&residual, &r, -4, 4);
        params.residual = residual.tensor;
    }
    const clf_status st = clf_gemm(context, a.tensor, b.tensor, &params, c.tensor);
    const bool is_refused = st == CLF_UNSUPPORTED && gemm_engine_is_special(context);
    if (st != CLF_OK && !is_refused)
        fail_msg("%s: %s", id, clf_last_error());
    if (!is_refused)
        check_result(one, &a, &b, &c, &residual, &bias, (double)params.alpha, context->precision, id);
    operand_destroy(&a);
    operand_destroy(&b);
    operand_destroy(&c);
    operand_destroy(&residual);
    operand_destroy(&bias);
    return !is_refused;
}

static void test_engine(void **state)
{
    clf_context *context = gemm_engine_context(*state);
    size_t run = 0;
    for (size_t i = 0; i < sizeof gemm_cases / sizeof gemm_cases[0]; i++)
        if (takes_case(i, gemm_cases[i].is_small))
            run += check_case(context, &gemm_cases[i]);
    clf_context_destroy(context);
    if (run == 0)
        skip();
}

/* A NaN and an infinity of A reach their own rows and no other, also through columns of zeros (0 * NaN is NaN). An engine of a lower
 * precision, where infinite may only mean too large, makes either NaN. */
static void test_not_a_number(void **state)
{
    (void)state;
    for (const char *const *engine = engines_of(CLF_OP_GEMM); *engine; engine++) {
        clf_context *context = gemm_context(*engine);
        if (gemm_engine_is_special(context)) {
            clf_context_destroy(context);
            continue;
        }
        float av[10 * 6], bv[6 * 20], cv[10 * 20];
        clf_tensor *a, *b, *c;
        for (int i = 0; i < 60; i++)
            av[i] = 1 + (float)(i % 7);
        for (int i = 0; i < 120; i++)
            bv[i] = i % 20 == 3 ? 0 : 1;
        av[2 * 6 + 1] = NAN;
        av[8 * 6 + 5] = INFINITY;
        CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){10, 6}, av, &a));
        CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){6, 20}, bv, &b));
        CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){10, 20}, &c));
        CHECK_OK(clf_gemm(context, a, b, NULL, c));
        CHECK_OK(clf_tensor_read_f32(c, cv, 200));
        for (int i = 0; i < 10; i++)
            for (int j = 0; j < 20; j++) {
                const float got = cv[i * 20 + j];
                const bool is_nan = i == 2 || (i == 8 && (j == 3 || context->precision != CLF_PRECISION_HIGHEST));
                const bool ok = is_nan ? isnan(got) : i == 8 ? isinf(got) && got > 0 : isfinite(got);
                CHECK(ok, "%s: element %d,%d is %g", *engine, i, j, (double)got);
            }
        clf_tensor_destroy(a);
        clf_tensor_destroy(b);
        clf_tensor_destroy(c);
        clf_context_destroy(context);
    }
}

/* One row with A's elements `first` up to k = 8, `then` behind; B full of `by`. */
static float product_of(clf_context *context, float first, float then, float by, int64_t k, clf_activation activation)
{
    float *values = malloc((size_t)k * sizeof *values), y;
    clf_gemm_params params = CLF_GEMM_PARAMS_INIT;
    clf_tensor *a, *b, *c;
    assert_non_null(values);
    params.activation = activation;
    for (int64_t i = 0; i < k; i++)
        values[i] = i < 8 ? first : then;
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){1, k}, values, &a));
    for (int64_t i = 0; i < k; i++)
        values[i] = by;
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){k, 1}, values, &b));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){1, 1}, &c));
    CHECK_OK(clf_gemm(context, a, b, &params, c));
    CHECK_OK(clf_tensor_read_f32(c, &y, 1));
    clf_tensor_destroy(a);
    clf_tensor_destroy(b);
    clf_tensor_destroy(c);
    free(values);
    return y;
}

/* Long sums are of float32: of numbers that have few bits they are exact. What does not fit a narrower type on the way is right or NaN,
 * also where an activation would make a number of an infinity, and in sums of both signs. */
static void test_sums(void **state)
{
    (void)state;
    for (const char *const *engine = engines_of(CLF_OP_GEMM); *engine; engine++) {
        clf_context *context = gemm_context(*engine);
        if (!gemm_engine_is_special(context)) {
            const float sum = product_of(context, 1, 1, 0.75f, 4099, CLF_ACTIVATION_NONE);
            CHECK(sum == 4099 * 0.75f, "%s: %g, expected %g", *engine, (double)sum, 4099 * 0.75);
            const float large = product_of(context, 100000, 0, 1e-5f, 8, CLF_ACTIVATION_NONE);
            const float both = product_of(context, -300, 300, 300, 24, CLF_ACTIVATION_RELU);
            const bool may_be_nan = context->precision != CLF_PRECISION_HIGHEST;
            const double error = 1e-5 + 8 * clfi_ref_gemm_loss(context->precision).relative;
            CHECK(isnan(large) ? may_be_nan : fabs((double)large - 8) < error, "%s: %g, expected 8", *engine, (double)large);
            CHECK(isnan(both) ? may_be_nan : both == 720000, "%s: %g, expected 720000", *engine, (double)both);
        }
        clf_context_destroy(context);
    }
}

static void test_broken_calls(void **state)
{
    clf_context *context = *state;
    clf_tensor *a, *b, *c, *ids, *bias;
    clf_gemm_params params = CLF_GEMM_PARAMS_INIT;
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){2, 3}, &a));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){3, 4}, &b));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){2, 4}, &c));
    CHECK_OK(clf_tensor_create(context, CLF_I32, 2, (int64_t[]){2, 3}, &ids));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 1, (int64_t[]){3}, &bias));
    CHECK_FAILS(clf_gemm(context, b, a, NULL, c), CLF_INVALID_ARGUMENT, "a is [3,4]");
    CHECK_FAILS(clf_gemm(context, a, a, NULL, c), CLF_INVALID_ARGUMENT, "b is [2,3], expected [..., 3, 4]");
    CHECK_FAILS(clf_gemm(context, ids, b, NULL, c), CLF_INVALID_ARGUMENT, "a is int32");
    CHECK_FAILS(clf_gemm(context, NULL, b, NULL, c), CLF_INVALID_ARGUMENT, "a is NULL");
    CHECK_FAILS(clf_gemm(context, bias, b, NULL, c), CLF_INVALID_ARGUMENT, "rank");
    params.bias = bias;
    CHECK_FAILS(clf_gemm(context, a, b, &params, c), CLF_INVALID_ARGUMENT, "bias");
    params.bias = NULL;
    params.residual = a;
    CHECK_FAILS(clf_gemm(context, a, b, &params, c), CLF_INVALID_ARGUMENT, "residual is [2,3]");
    params.residual = NULL;
    params.activation = CLF_ACTIVATION_COUNT;
    CHECK_FAILS(clf_gemm(context, a, b, &params, c), CLF_INVALID_ARGUMENT, "activation");
    clf_context *other = engine_context("gemm=nothing");
    clf_tensor *here;
    CHECK_OK(clf_tensor_create(other, CLF_F32, 2, (int64_t[]){2, 2}, &here));
    CHECK_FAILS(clf_gemm(other, here, here, NULL, here), CLF_INVALID_ARGUMENT, "packed, gemv, tiled_half, clblast, tiled");
    CHECK_FAILS(clf_gemm(context, here, b, NULL, c), CLF_INVALID_ARGUMENT, "another context");
    clf_tensor_destroy(here);
    clf_context_destroy(other);
    other = engine_context("gemm=tiled_half");
    CHECK_OK(clf_tensor_create(other, CLF_F32, 2, (int64_t[]){2, 2}, &here));
    CHECK_FAILS(clf_gemm(other, here, here, NULL, here), CLF_UNSUPPORTED, "keeps less precision than is asked for");
    clf_tensor_destroy(here);
    clf_context_destroy(other);
    clf_tensor_destroy(a);
    clf_tensor_destroy(b);
    clf_tensor_destroy(c);
    clf_tensor_destroy(ids);
    clf_tensor_destroy(bias);
}

int main(void)
{
    const struct CMUnitTest others[] = {cmocka_unit_test(test_not_a_number), cmocka_unit_test(test_sums),
                                        cmocka_unit_test(test_broken_calls)};
    return run_gemm_engine_tests("engines", test_engine) + cmocka_run_group_tests(others, device_setup, device_teardown);
}
