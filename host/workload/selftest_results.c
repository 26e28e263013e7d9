/* SPDX-License-Identifier: MIT */
/* Self-test: kernels that process the results of a network: the soft cap of logits, the sums of their exponentials, and the check of
 * rows for values that are not finite. */
#include <math.h>

#include "kernel/combine.h"
#include "kernel/exp_sum.h"
#include "kernel/row_check.h"
#include "workload/selftest.h"

static const double u = 0x1p-24;

clf_status clfi_selftest_soft_cap(clfi_selftest *test)
{
    enum { ROWS = 3, WIDTH = 131 };
    const float cap = 7.5f;
    clfi_selftest_operands data = {.count = 0};
    double x[ROWS * WIDTH];
    clf_status st;
    CLF_GOTO(clfi_selftest_add(test, &data, 2, (int64_t[]){ROWS, WIDTH}, -30, 30));
    for (int i = 0; i < ROWS * WIDTH; i++)
        x[i] = (double)data.operand[0].host[i];
    CLF_GOTO(clfi_soft_cap_launch(test->context, cap, clfi_selftest_view(&data, 0)));
    CLF_GOTO(clfi_operand_read(&data.operand[0]));
    for (int i = 0; i < ROWS * WIDTH; i++) { /* OpenCL's tanh errs by at most 5 units in the last place, its quotient by 2.5 */
        const double want = (double)cap * tanh(x[i] / (double)cap);
        clfi_verdict_add(&test->verdict, (double)data.operand[0].host[i], want, 20 * u * fabs(want));
    }
done:
    clfi_selftest_free(&data);
    return st;
}

/* The rows: zeros, a single number, a NaN at the end, an infinity at the start, zeros. */
clf_status clfi_selftest_row_check(clfi_selftest *test)
{
    enum { ROWS = 5, WIDTH = 37 };
    static const int32_t want[ROWS] = {0, CLFI_ROW_NOT_ZERO, CLFI_ROW_NOT_FINITE | CLFI_ROW_NOT_ZERO,
                                       CLFI_ROW_NOT_FINITE | CLFI_ROW_NOT_ZERO, 0};
    float rows[ROWS * WIDTH] = {0};
    int32_t got[ROWS] = {-1, -1, -1, -1, -1};
    clf_tensor *x = NULL, *flags = NULL;
    clf_status st;
    rows[WIDTH + 20] = 1e-30f;
    rows[3 * WIDTH - 1] = NAN;
    rows[3 * WIDTH] = -INFINITY;
    CLF_GOTO(clf_tensor_create_from(test->context, CLF_F32, 2, (int64_t[]){ROWS, WIDTH}, rows, &x));
    CLF_GOTO(clf_tensor_create_from(test->context, CLF_I32, 1, (int64_t[]){ROWS}, got, &flags));
    CLF_GOTO(clfi_row_check_launch(test->context, clfi_tensor_view(x), clfi_tensor_view(flags)));
    CLF_GOTO(clf_tensor_read(flags, got, sizeof got));
    for (int i = 0; i < ROWS; i++)
        clfi_verdict_add(&test->verdict, got[i], want[i], 0);
done:
    clf_tensor_destroy(x);
    clf_tensor_destroy(flags);
    return st;
}

/* Rows are as long as a vocabulary, so that every work-item of the largest work-group has several elements. The last row ends in an
 * infinity. */
clf_status clfi_selftest_exp_sum(clfi_selftest *test)
{
    enum { ROWS = 3, WIDTH = 5003, X = 0, SCALE, Y };
    const int64_t dim[] = {ROWS, WIDTH};
    const float infinity = INFINITY;
    clfi_selftest_operands data = {.count = 0};
    clf_status st;
    CLF_GOTO(clfi_selftest_add(test, &data, 2, dim, -9, 9));
    CLF_GOTO(clfi_selftest_add(test, &data, 1, dim, 0.5f, 1.5f));
    CLF_GOTO(clfi_selftest_add_result(test, &data, 1, dim));
    const clf_view *x = clfi_selftest_view(&data, X);
    CLF_GOTO(clfi_buffer_write(x->buffer, ((size_t)x->offset + ROWS * WIDTH - 1) * sizeof infinity, &infinity, sizeof infinity));
    CLF_GOTO(clfi_exp_sum_launch(test->context, x, clfi_selftest_view(&data, SCALE), clfi_selftest_view(&data, Y)));
    CLF_GOTO(clfi_operand_read(&data.operand[Y]));
    for (int row = 0; row < ROWS - 1; row++) {
        const float *values = data.operand[X].host + row * WIDTH;
        double largest = -INFINITY, want = 0;
        for (int i = 0; i < WIDTH; i++)
            largest = fmax(largest, (double)values[i]);
        for (int i = 0; i < WIDTH; i++)
            want += exp((double)data.operand[SCALE].host[row] * ((double)values[i] - largest));
        clfi_verdict_add(&test->verdict, (double)data.operand[Y].host[row], want, 1e-5 * want);
    }
    clfi_verdict_add(&test->verdict, isnan(data.operand[Y].host[ROWS - 1]), 1, 0);
done:
    clfi_selftest_free(&data);
    return st;
}
