/* SPDX-License-Identifier: MIT */
/* Log-softmax of rows on every engine: widths around vectors and work-groups, shifts, extreme and special values, in place. */
#include "support/check.h"
#include "support/device.h"
#include "support/engines.h"
#include "support/operand.h"

#include <stdio.h>
#include <stdlib.h>

#include "op/log_softmax.h"
#include "workload/reference_softmax.h"

static void reference(const double *x, size_t columns, double shift, double *y, double *bound)
{
    const double log_sum = clfi_ref_log_sum_exp(x, columns);
    for (size_t i = 0; i < columns; i++) {
        y[i] = x[i] - log_sum + shift;
        bound[i] = clfi_ref_log_softmax_error(x[i] - log_sum, columns) + 0x1p-24 * (fabs(shift) + fabs(y[i]));
    }
}

static void run_case(clf_context *context, int64_t rows, int64_t columns, float low, float high, bool has_shift, bool in_place)
{
    char id[96];
    rng r = {(uint64_t)(rows * 1000 + columns)};
    snprintf(id, sizeof id, "log_softmax[%lldx%lld %g..%g%s%s]", (long long)rows, (long long)columns, (double)low, (double)high,
             has_shift ? " shift" : "", in_place ? " in place" : "");
    operand x = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){rows, columns});
    operand y = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){rows, columns});
    operand shift = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 1, &rows);
    operand_fill_uniform(&x, &r, low, high);
    operand_fill_uniform(&shift, &r, -5, 0);
    double *given = malloc((x.count + 1) * sizeof *given), *want = malloc((x.count + 1) * sizeof *want),
           *bound = malloc((x.count + 1) * sizeof *bound);
    assert_true(given && want && bound);
    memcpy(given, x.value, x.count * sizeof *given);
    operand *out = in_place ? &x : &y;
    CHECK_OK(clfi_log_softmax(context, clfi_tensor_view(x.tensor), has_shift ? clfi_tensor_view(shift.tensor) : NULL,
                              clfi_tensor_view(out->tensor)));
    operand_read(out, id);
    for (int64_t row = 0; row < rows; row++) {
        const size_t at = (size_t)(row * columns);
        reference(given + at, (size_t)columns, has_shift ? shift.value[row] : 0, want + at, bound + at);
        for (size_t i = at; i < at + (size_t)columns; i++)
            CHECK(within(out->value[i], want[i], bound[i]), "%s: element %zu: %.9g, want %.9g +- %g", id, i, out->value[i], want[i],
                  bound[i]);
    }
    free(given);
    free(want);
    free(bound);
    operand_destroy(&x);
    operand_destroy(&y);
    operand_destroy(&shift);
}

static void test_shapes(void **state)
{
    static const int64_t columns[] = {1, 3, 15, 16, 17, 58, 64, 65, 1000};
    (void)state;
    for (const char *const *engine = engines_of(CLF_OP_LOG_SOFTMAX); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        for (size_t i = 0; i < COUNT(columns); i += only_small_cases() ? 3 : 1)
            run_case(context, i % 2 ? 7 : 130, columns[i], -4, 4, i % 2, i % 3 == 0);
        run_case(context, 0, 5, -1, 1, false, false);
        run_case(context, 3, 33, -3e38f, 3e38f, false, false);
        run_case(context, 3, 33, -100, 100, true, false);
        clf_context_destroy(context);
    }
}

static void test_special_values(void **state)
{
    (void)state;
    for (const char *const *engine = engines_of(CLF_OP_LOG_SOFTMAX); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        clf_tensor *x, *y, *shift;
        const float given[4][3] = {{NAN, 0, 0}, {-INFINITY, 0, 0}, {0, 0, 0}, {INFINITY, 0, 0}};
        float got[4][3];
        CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){4, 3}, given, &x));
        CHECK_OK(clf_tensor_create_from(context, CLF_F32, 1, (int64_t[]){4}, (float[]){0, 0, -INFINITY, 0}, &shift));
        CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){4, 3}, &y));
        CHECK_OK(clfi_log_softmax(context, clfi_tensor_view(x), clfi_tensor_view(shift), clfi_tensor_view(y)));
        CHECK_OK(clf_tensor_read(y, got, sizeof got));
        for (int i = 0; i < 3; i++) {
            CHECK(isnan(got[0][i]), "%s: NaN row gives %g", *engine, (double)got[0][i]);
            CHECK(i == 0 ? got[1][i] == -INFINITY : within(got[1][i], -log(2), 1e-6), "%s: -inf row gives %g", *engine, (double)got[1][i]);
            CHECK(got[2][i] == -INFINITY, "%s: a shift of -inf gives %g", *engine, (double)got[2][i]);
            CHECK(isnan(got[3][i]), "%s: +inf row gives %g", *engine, (double)got[3][i]);
        }
        clf_tensor_destroy(x);
        clf_tensor_destroy(y);
        clf_tensor_destroy(shift);
        clf_context_destroy(context);
    }
}

static void test_refusals(void **state)
{
    clf_context *context = *state;
    clf_tensor *x, *y, *ids, *empty;
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){4, 3}, &x));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){4, 2}, &y));
    CHECK_OK(clf_tensor_create(context, CLF_I32, 2, (int64_t[]){4, 3}, &ids));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){4, 0}, &empty));
    const clf_view *xv = clfi_tensor_view(x);
    CHECK_FAILS(clfi_log_softmax(context, xv, NULL, clfi_tensor_view(y)), CLF_INVALID_ARGUMENT, "E_SHAPE: log-softmax: y");
    CHECK_FAILS(clfi_log_softmax(context, xv, xv, xv), CLF_INVALID_ARGUMENT, "E_SHAPE: log-softmax: shift");
    CHECK_FAILS(clfi_log_softmax(context, clfi_tensor_view(ids), NULL, xv), CLF_INVALID_ARGUMENT, "E_DTYPE: log-softmax: x");
    CHECK_FAILS(clfi_log_softmax(context, clfi_tensor_view(empty), NULL, clfi_tensor_view(empty)), CLF_INVALID_ARGUMENT, "rows are empty");
    clf_tensor_destroy(x);
    clf_tensor_destroy(y);
    clf_tensor_destroy(ids);
    clf_tensor_destroy(empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes), cmocka_unit_test(test_special_values),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests_name("op.log_softmax", tests, device_setup, device_teardown);
}
