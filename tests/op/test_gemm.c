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
        clfi_ref_gemm_run(&(clfi_ref_gemm){.m = one->m,
                                           .n = one->n,
                                           .k = one->k,
                                           .alpha = alpha,
                                           .activation = one->activation,
                                           .a = a->value + (one->a_repeats ? 0 : i * one->m * one->k),
                                           .b = b->value + (one->b_repeats ? 0 : i * one->k * one->n),
                                           .bias = one->has_bias ? bias->value : NULL,
                                           .residual = one->has_residual ? residual->value + i * matrix : NULL,
                                           .precision = precision},
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

/* Products that CLBlast computes some batches, rows or columns at a time, because the whole would exceed the budget of a launch. */
static void test_pieces(void **state)
{
    (void)state;
    clf_context *context = clblast_pieces_context();
    for (size_t i = 0; i < sizeof gemm_cases / sizeof gemm_cases[0]; i++)
        if (takes_case(i, gemm_cases[i].is_small))
            check_case(context, &gemm_cases[i]);
    const gemm_case large = {SHAPE(70, 200, 33), EPILOGUE(GELU, true, true)};
    const uint64_t before = context->stats.kernels_launched;
    check_case(context, &large);
    CHECK(context->stats.kernels_launched - before >= 2 * 4, "a product of 70 x 200 takes %d launches",
          (int)(context->stats.kernels_launched - before)); /* two pieces of rows, each of four pieces of columns */
    clf_context_destroy(context);
}

/* Elements that are not finite, and their places. */
typedef enum spoiled_operand { OF_A, OF_B, OF_BIAS, OF_RESIDUAL, SPOILED_COUNT } spoiled_operand;
static const struct spoiled_element {
    spoiled_operand of;
    int row, column;
    float value;
} spoiled[] = {
    {OF_A, 2, 1, NAN},    {OF_A, 8, 5, INFINITY},    {OF_B, 3, 7, NAN},        {OF_B, 4, 17, -INFINITY},
    {OF_BIAS, 0, 4, NAN}, {OF_BIAS, 0, 9, INFINITY}, {OF_RESIDUAL, 1, 2, NAN}, {OF_RESIDUAL, 6, 13, -INFINITY},
};

/* Small integers, whose product is exact in any order and at any precision: an element in a wrong place shows. Column 3 of B is 0. */
static float integer_at(spoiled_operand of, int row, int column)
{
    const int number = (row * 5 + column * 3 + row * column + (int)of) % 7;
    return of == OF_A ? (float)(1 + number) : of == OF_B && column == 3 ? 0.0f : (float)(number - 3);
}

/* Product, bias and residual of sizes that fill no tile. A NaN and an infinity of each operand reach the results that they belong to, also
 * through zeros (0 * NaN is NaN), and no other: these are exact. A product of a lower precision, where infinite may only mean too large,
 * makes NaN of an infinity. */
static void check_spoiled(clf_context *context, const char *engine, int m, int n, int k)
{
    const int rows[SPOILED_COUNT] = {m, k, 1, m}, columns[SPOILED_COUNT] = {k, n, n, n};
    float *values[SPOILED_COUNT], *got = malloc((size_t)(m * n) * sizeof *got);
    clf_tensor *tensors[SPOILED_COUNT], *c;
    clf_gemm_params params = CLF_GEMM_PARAMS_INIT;
    assert_non_null(got);
    for (int of = 0; of < SPOILED_COUNT; of++) {
        values[of] = malloc((size_t)(rows[of] * columns[of]) * sizeof *got);
        assert_non_null(values[of]);
        for (int i = 0; i < rows[of] * columns[of]; i++)
            values[of][i] = integer_at((spoiled_operand)of, i / columns[of], i % columns[of]);
    }
    for (size_t i = 0; i < sizeof spoiled / sizeof spoiled[0]; i++)
        values[spoiled[i].of][spoiled[i].row * columns[spoiled[i].of] + spoiled[i].column] = spoiled[i].value;
    for (int of = 0; of < SPOILED_COUNT; of++)
        CHECK_OK(clf_tensor_create_from(context, CLF_F32, of == OF_BIAS ? 1 : 2,
                                        of == OF_BIAS ? (int64_t[]){n} : (int64_t[]){rows[of], columns[of]}, values[of], &tensors[of]));
    params.bias = tensors[OF_BIAS];
    params.residual = tensors[OF_RESIDUAL];
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){m, n}, &c));
    CHECK_OK(clf_gemm(context, tensors[OF_A], tensors[OF_B], &params, c));
    CHECK_OK(clf_tensor_read_f32(c, got, (size_t)(m * n)));
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double product_here = 0;
            for (int p = 0; p < k; p++)
                product_here += (double)values[OF_A][i * k + p] * (double)values[OF_B][p * n + j];
            if (isinf(product_here) && context->precision != CLF_PRECISION_HIGHEST)
                product_here = NAN;
            const double want = product_here + (double)values[OF_BIAS][j] + (double)values[OF_RESIDUAL][i * n + j];
            CHECK(within((double)got[i * n + j], want, 0), "%s, %dx%dx%d: element %d,%d is %g, want %g", engine, m, n, k, i, j,
                  (double)got[i * n + j], want);
        }
    for (int of = 0; of < SPOILED_COUNT; of++) {
        clf_tensor_destroy(tensors[of]);
        free(values[of]);
    }
    clf_tensor_destroy(c);
    free(got);
}

static void test_not_a_number(void **state)
{
    (void)state;
    for (const char *const *engine = engines_of(CLF_OP_GEMM); *engine; engine++) {
        clf_context *context = gemm_context(*engine);
        if (!gemm_engine_is_special(context)) {
            check_spoiled(context, *engine, 10, 20, 6);
            check_spoiled(context, *engine, 37, 53, 35);
        }
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
    CHECK_FAILS(clf_gemm(other, here, here, NULL, here), CLF_UNSUPPORTED, "its precision is lower than requested");
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
    const struct CMUnitTest others[] = {cmocka_unit_test(test_pieces), cmocka_unit_test(test_not_a_number), cmocka_unit_test(test_sums),
                                        cmocka_unit_test(test_broken_calls)};
    cmocka_set_test_filter(getenv("CLF_TEST_ONLY")); /* emulated matrix units need one of them at times */
    return run_gemm_engine_tests("engines", test_engine) + cmocka_run_group_tests(others, device_setup, device_teardown);
}
