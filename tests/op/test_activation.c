/* SPDX-License-Identifier: MIT */
/* Activations: accuracy over the whole float range, special values, layouts and storage types. */
#include <stdio.h>
#include <stdlib.h>

#include "support/check.h"
#include "support/device.h"
#include "support/operand.h"
#include "workload/reference_gemm.h"

/* Magnitudes from 2^-149 to 2^127, several per octave and dense where functions bend, both signs, and every special value. */
static size_t sweep(float *out, size_t capacity, rng *r)
{
    static const float special[] = {0.0f,     -0.0f, 1.0f,   -1.0f,  1e-45f, -1e-45f, 3.4e38f,
                                    -3.4e38f, 14.0f, -14.0f, -13.3f, 88.0f,  -88.0f,  -87.4f};
    size_t count = 0;
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
        out[count++] = special[i];
    while (count + 4 <= capacity) {
        const float mantissa = rng_uniform(r, 1, 2);
        const int exponent = (int)rng_below(r, 277) - 149;
        out[count++] = ldexpf(mantissa, exponent);
        out[count++] = -ldexpf(mantissa, exponent);
        out[count++] = rng_uniform(r, -16, 16);
        out[count++] = rng_uniform(r, -100, 1);
    }
    return count;
}

static double at_minus_infinity(clf_activation kind)
{
    switch (kind) {
    case CLF_ACTIVATION_NONE:
    case CLF_ACTIVATION_LEAKY_RELU: return -INFINITY;
    case CLF_ACTIVATION_RELU:
    case CLF_ACTIVATION_RELU2:
    case CLF_ACTIVATION_RELU6:
    case CLF_ACTIVATION_SIGMOID: return 0;
    case CLF_ACTIVATION_TANH: return -1;
    default: return NAN;
    }
}

static double at_infinity(clf_activation kind)
{
    switch (kind) {
    case CLF_ACTIVATION_SIGMOID:
    case CLF_ACTIVATION_TANH: return 1;
    case CLF_ACTIVATION_GELU_10: return 10;
    case CLF_ACTIVATION_RELU6: return 6;
    default: return INFINITY;
    }
}

static void check_values(clf_activation kind, clf_dtype x_type, clf_dtype y_type, operand *x, operand *y)
{
    char id[80];
    snprintf(id, sizeof id, "activation[%s %s->%s]", clf_activation_name(kind), clf_dtype_name(x_type), clf_dtype_name(y_type));
    operand_read(y, id);
    for (size_t i = 0; i < x->count; i++) {
        double want = clfi_ref_activation(kind, x->value[i]);
        const double bound = clfi_ref_activation_error(kind, x->value[i]);
        if (isinf(x->value[i]) && x->value[i] < 0)
            want = at_minus_infinity(kind);
        if (fabs(want) > (y_type == CLF_F16 ? 65504.0 : 3.38e38)) /* overflows to infinity or just not */
            continue;
        CHECK(within(y->value[i], want, bound + operand_rounding(y_type, fabs(want) + bound)), "%s: f(%.9g) = %.9g, want %.9g, bound %.3g",
              id, x->value[i], y->value[i], want, bound);
    }
}

static void test_accuracy(void **state)
{
    clf_context *context = *state;
    const int64_t capacity = only_small_cases() ? 203 : 100003; /* no multiple of any vector */
    float *values = calloc((size_t)capacity, sizeof *values);
    assert_non_null(values);
    for (clf_activation kind = 0; kind < CLF_ACTIVATION_COUNT; kind++) {
        rng r = {kind + 1u};
        operand x = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 1, &capacity);
        operand y = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 1, &capacity);
        sweep(values, (size_t)capacity, &r);
        operand_fill(&x, values);
        CHECK_OK(clf_activation_apply(context, kind, x.tensor, y.tensor));
        check_values(kind, CLF_F32, CLF_F32, &x, &y);
        operand_destroy(&x);
        operand_destroy(&y);
    }
    free(values);
}

/* Special values as the header promises, also beside ordinary neighbours in a vector. */
static void test_special_values(void **state)
{
    clf_context *context = *state;
    const float in[7] = {-INFINITY, 1, NAN, INFINITY, -2, 0, -0.0f};
    float out[7];
    clf_tensor *x, *y;
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 1, (int64_t[]){7}, in, &x));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 1, (int64_t[]){7}, &y));
    for (clf_activation kind = CLF_ACTIVATION_RELU; kind < CLF_ACTIVATION_COUNT; kind++) {
        CHECK_OK(clf_activation_apply(context, kind, x, y));
        CHECK_OK(clf_tensor_read_f32(y, out, 7));
        const char *name = clf_activation_name(kind);
        const double lowest = at_minus_infinity(kind), at_zero = kind == CLF_ACTIVATION_SIGMOID ? 0.5 : 0;
        CHECK(isnan(lowest) ? isnan(out[0]) : (double)out[0] == lowest, "%s(-inf) = %g", name, (double)out[0]);
        CHECK(isnan(out[2]), "%s(nan) = %g", name, (double)out[2]);
        CHECK((double)out[3] == at_infinity(kind), "%s(inf) = %g", name, (double)out[3]);
        CHECK(isfinite(out[1]) && isfinite(out[4]) && (double)out[5] == at_zero && (double)out[6] == at_zero, "%s: finite values", name);
    }
    clf_tensor_destroy(x);
    clf_tensor_destroy(y);
}

/* Every pair of types at every layout, and every kind at some of them: a kind and a pair of types are a kernel to compile. */
static void test_layouts_and_types(void **state)
{
    clf_context *context = *state;
    const int64_t dim[] = {3, 5, 7};
    static const clf_dtype types[] = {CLF_F32, CLF_F16, CLF_BF16};
    rng r = {7};
    for (int x_type = 0; x_type < 3; x_type++)
        for (int y_type = 0; y_type < 3; y_type++)
            for (layout l = 0; l < LAYOUT_COUNT; l++) {
                if (only_small_cases() && (x_type + y_type + (int)l) % 4)
                    continue;
                const int pair = x_type + 3 * y_type + (l == LAYOUT_CONTIGUOUS ? 9 : 0);
                const clf_activation kind = (clf_activation)(1 + pair % (CLF_ACTIVATION_COUNT - 1));
                operand x = operand_create(context, types[x_type], l, 3, dim);
                operand y = operand_create(context, types[y_type], (layout)((l + 1) % LAYOUT_COUNT), 3, dim);
                operand_fill_uniform(&x, &r, -6, 6);
                CHECK_OK(clf_activation_apply(context, kind, x.tensor, y.tensor));
                check_values(kind, types[x_type], types[y_type], &x, &y);
                operand_destroy(&x);
                operand_destroy(&y);
            }
}

static void test_in_place_and_empty(void **state)
{
    clf_context *context = *state;
    const float in[5] = {-3, -1, 0, 1, 3};
    float out[5];
    clf_tensor *x, *empty, *ids;
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 1, (int64_t[]){5}, in, &x));
    CHECK_OK(clf_activation_apply(context, CLF_ACTIVATION_SILU, x, x));
    CHECK_OK(clf_tensor_read_f32(x, out, 5));
    for (int i = 0; i < 5; i++)
        CHECK(within((double)out[i], clfi_ref_activation(CLF_ACTIVATION_SILU, (double)in[i]), 1e-6), "silu(%g) = %g", (double)in[i],
              (double)out[i]);
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){0, 4}, &empty));
    CHECK_OK(clf_activation_apply(context, CLF_ACTIVATION_GELU, empty, empty));
    CHECK_OK(clf_tensor_create(context, CLF_I32, 1, (int64_t[]){5}, &ids));
    CHECK_FAILS(clf_activation_apply(context, CLF_ACTIVATION_GELU, ids, x), CLF_INVALID_ARGUMENT, "x is int32");
    CHECK_FAILS(clf_activation_apply(context, CLF_ACTIVATION_GELU, empty, x), CLF_INVALID_ARGUMENT, "y is [5]");
    CHECK_FAILS(clf_activation_apply(context, (clf_activation)99, x, x), CLF_INVALID_ARGUMENT, "99");
    CHECK_FAILS(clf_activation_apply(context, CLF_ACTIVATION_GELU, NULL, x), CLF_INVALID_ARGUMENT, "x is NULL");
    clf_tensor_destroy(x);
    clf_tensor_destroy(empty);
    clf_tensor_destroy(ids);
}

static void test_names(void **state)
{
    clf_activation kind = CLF_ACTIVATION_COUNT;
    (void)state;
    for (clf_activation i = 0; i < CLF_ACTIVATION_COUNT; i++) {
        CHECK_OK(clf_activation_parse(clf_activation_name(i), &kind));
        assert_int_equal(kind, i);
    }
    CHECK_FAILS(clf_activation_parse("swish", &kind), CLF_NOT_FOUND, "gelu_tanh");
    assert_string_equal(clf_activation_name((clf_activation)99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accuracy),           cmocka_unit_test(test_special_values), cmocka_unit_test(test_layouts_and_types),
        cmocka_unit_test(test_in_place_and_empty), cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, device_setup, device_teardown);
}
