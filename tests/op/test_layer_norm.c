/* SPDX-License-Identifier: MIT */
/* Layer norm: every engine, layout and storage type against double; large means, constant rows, NaN, refusals. */
#include <stdio.h>
#include <stdlib.h>

#include "op/layer_norm.h"
#include "support/check.h"
#include "support/engines.h"
#include "support/operand.h"
#include "support/worst.h"
#include "workload/reference_norm.h"

typedef struct norm_case {
    int64_t rows0, rows1, n; /* x is [rows0, rows1, n] */
    int axes;
    clf_dtype dtype, out_dtype;
    layout layout;
    bool has_residual, has_affine, is_in_place;
    float mean;
} norm_case;

static const clf_view *view(const operand *o)
{
    return o->tensor ? clfi_tensor_view(o->tensor) : NULL;
}

static void run_case(clf_context *context, const char *engine, const norm_case *c)
{
    char id[200];
    rng r = {(uint64_t)(c->n * 31 + c->rows0 * 7 + c->layout)};
    const int64_t dim[] = {c->rows0, c->rows1, c->n};
    const int64_t *inner = dim + 3 - c->axes;
    snprintf(id, sizeof id, "%s [%s>%s %lldx%lldx%lld axes=%d layout=%s%s%s%s mean=%g]", engine, clf_dtype_name(c->dtype),
             clf_dtype_name(c->out_dtype), (long long)dim[0], (long long)dim[1], (long long)dim[2], c->axes, layout_name(c->layout),
             c->has_residual ? " residual" : "", c->has_affine ? " affine" : "", c->is_in_place ? " in-place" : "", (double)c->mean);
    operand x = operand_create(context, c->dtype, c->layout, 3, dim), residual = {0}, gamma = {0}, beta = {0}, y = {0};
    operand_fill_uniform(&x, &r, c->mean - 1, c->mean + 1);
    if (c->has_residual) {
        residual = operand_create(context, CLF_F32, c->layout == LAYOUT_CONTIGUOUS ? LAYOUT_SLICED : LAYOUT_CONTIGUOUS, 3, dim);
        operand_fill_uniform(&residual, &r, -2, 2);
    }
    if (c->has_affine) {
        gamma = operand_create(context, c->dtype, c->layout, c->axes, inner);
        beta = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, c->axes, inner);
        operand_fill_uniform(&gamma, &r, -2, 2);
        operand_fill_uniform(&beta, &r, -1, 1);
    }
    if (!c->is_in_place)
        y = operand_create(context, c->out_dtype, c->layout, 3, dim);
    operand *out = c->is_in_place ? &x : &y;

    const size_t count = x.count;
    size_t n = 1;
    for (int i = 0; i < c->axes; i++)
        n *= (size_t)inner[i];
    double *s = calloc(3 * count + 1, sizeof *s), *want = s + count, *bound = want + count;
    assert_non_null(s);
    for (size_t i = 0; i < count; i++)
        s[i] = c->has_residual ? (double)((float)x.value[i] + (float)residual.value[i]) : x.value[i];
    clfi_ref_layer_norm(s, gamma.value, beta.value, count / n, n, 1e-5f, want, bound);
    CHECK_OK(clfi_layer_norm(context, view(&x), view(&residual), view(&gamma), view(&beta), c->axes, 1e-5f, view(out)));
    operand_read(out, id);
    operand_check(out, 0, count, want, bound, id);
    free(s);
    operand_destroy(&y);
    operand_destroy(&beta);
    operand_destroy(&gamma);
    operand_destroy(&residual);
    operand_destroy(&x);
}

static void test_shapes(void **state)
{
    (void)state;
    static const int64_t lengths[] = {1, 2, 7, 15, 16, 17, 63, 64, 65, 127, 384, 1024, 5000};
    for (const char *const *engine = engines_of(CLF_OP_LAYER_NORM); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        for (size_t i = 0; i < COUNT(lengths); i++) {
            if (!takes_case(i, only_small_cases() && lengths[i] <= 65))
                continue;
            norm_case c = {3, 7, lengths[i], 1, CLF_F32, CLF_F32, LAYOUT_CONTIGUOUS, false, true, false, 0};
            run_case(context, *engine, &c);
            c.has_residual = true;
            run_case(context, *engine, &c);
            c.has_residual = false;
            c.is_in_place = true;
            run_case(context, *engine, &c);
        }
        norm_case none = {0, 7, 64, 1, CLF_F32, CLF_F32, LAYOUT_CONTIGUOUS, false, true, false, 0};
        run_case(context, *engine, &none);
        norm_case many = {41, 29, 24, 1, CLF_F32, CLF_F32, LAYOUT_CONTIGUOUS, false, false, false, 0};
        if (!only_small_cases())
            run_case(context, *engine, &many);
        clf_context_destroy(context);
    }
}

static void test_layouts(void **state)
{
    (void)state;
    for (const char *const *engine = engines_of(CLF_OP_LAYER_NORM); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        for (layout l = 0; l < LAYOUT_COUNT; l++) {
            for (int axes = 1; axes <= 3; axes++) {
                norm_case c = {5, 3, 37, axes, CLF_F32, CLF_F32, l, axes == 2, axes != 3, false, 1};
                run_case(context, *engine, &c);
                c.is_in_place = true;
                run_case(context, *engine, &c);
            }
        }
        clf_context_destroy(context);
    }
}

static void test_dtypes(void **state)
{
    (void)state;
    for (const char *const *engine = engines_of(CLF_OP_LAYER_NORM); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        for (clf_dtype in = CLF_F32; in <= CLF_BF16; in++) {
            for (clf_dtype out = CLF_F32; out <= CLF_BF16; out++) {
                norm_case c = {2, 2, 69, 1, in, out, LAYOUT_SLICED, true, true, false, 0.5f};
                run_case(context, *engine, &c);
            }
        }
        clf_context_destroy(context);
    }
}

/* Rows mean + U(-1,1): the corrected variance keeps 1e-6 where two plain passes lose 1e-5 at mean 100 and everything at 1e6. */
static void test_large_mean(void **state)
{
    (void)state;
    static const float means[] = {1e2f, 1e4f, 1e6f, -1e6f};
    enum { ROWS = 50, N = 64 };
    for (const char *const *engine = engines_of(CLF_OP_LAYER_NORM); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        const int64_t dim[] = {only_small_cases() ? 5 : ROWS, N};
        double want[ROWS * N], bound[ROWS * N];
        for (size_t m = 0; m < COUNT(means); m++) {
            rng r = {m};
            operand x = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, dim);
            operand y = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, dim);
            operand_fill_uniform(&x, &r, means[m] - 1, means[m] + 1);
            clfi_ref_layer_norm(x.value, NULL, NULL, (size_t)dim[0], N, 1e-5f, want, bound);
            CHECK_OK(clfi_layer_norm(context, view(&x), NULL, NULL, NULL, 1, 1e-5f, view(&y)));
            operand_read(&y, *engine);
            for (size_t i = 0; i < y.count; i++)
                CHECK(within(y.value[i], want[i], 1e-6), "%s mean %g at %zu: %.9g, want %.9g", *engine, (double)means[m], i, y.value[i],
                      want[i]);
            operand_destroy(&y);
            operand_destroy(&x);
        }
        clf_context_destroy(context);
    }
}

/* Constant rows give beta exactly, with and without eps; NaN and infinity spoil their own row only; tiny and large rows. */
static void test_special_rows(void **state)
{
    (void)state;
    enum { ROWS = 8, N = 67 };
    const int64_t dim[] = {ROWS, N};
    float x_values[ROWS * N], beta_values[N];
    rng r = {5};
    for (int i = 0; i < N; i++) {
        beta_values[i] = i % 3 ? rng_uniform(&r, -1, 1) : 0;
        x_values[0 * N + i] = 0.1f;
        x_values[1 * N + i] = rng_uniform(&r, -1, 1);
        x_values[2 * N + i] = rng_uniform(&r, -1, 1);
        x_values[3 * N + i] = -16777213.0f;
        x_values[4 * N + i] = rng_uniform(&r, -1e-18f, 1e-18f);
        x_values[5 * N + i] = rng_uniform(&r, -1e15f, 1e15f);
        x_values[6 * N + i] = rng_uniform(&r, -1, 1);
        x_values[7 * N + i] = 3e38f; /* the sum of two is infinite */
    }
    x_values[1 * N + 5] = NAN;
    x_values[2 * N + 66] = INFINITY;
    for (const char *const *engine = engines_of(CLF_OP_LAYER_NORM); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        operand x = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, dim),
                y = operand_create(context, CLF_F32, LAYOUT_SLICED, 2, dim);
        operand beta = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 1, dim + 1);
        double want[ROWS * N], bound[ROWS * N];
        operand_fill(&x, x_values);
        operand_fill(&beta, beta_values);
        for (int pass = 0; pass < 2; pass++) {
            const float eps = pass ? 0.0f : 1e-5f;
            clfi_ref_layer_norm(x.value, NULL, beta.value, ROWS, N, (double)eps, want, bound);
            CHECK_OK(clfi_layer_norm(context, view(&x), NULL, NULL, view(&beta), 1, eps, view(&y)));
            operand_read(&y, *engine);
            for (size_t i = 0; i < y.count; i++) {
                const size_t row = i / N;
                if (row == 0 || row == 3 || row == 7)
                    CHECK(y.value[i] == beta.value[i % N], "%s constant row %zu: %.9g, want %.9g", *engine, row, y.value[i],
                          beta.value[i % N]);
                else if (row == 1 || row == 2)
                    CHECK(isnan(y.value[i]), "%s row %zu with a NaN or infinity: %g", *engine, row, y.value[i]);
                else if (row != 4 || eps > 0) /* without eps, squares of 1e-18 leave the normal range */
                    CHECK(within(y.value[i], want[i], bound[i] + 1e-12), "%s row %zu at %zu: %.9g, want %.9g", *engine, row, i % N,
                          y.value[i], want[i]);
            }
        }
        operand_destroy(&beta);
        operand_destroy(&y);
        operand_destroy(&x);
        clf_context_destroy(context);
    }
}

/* Operands that repeat one element along the row, as clf_tensor_view makes them. */
static void test_repeated(void **state)
{
    (void)state;
    enum { ROWS = 3, N = 100, REPEATED_X = 0, REPEATED_RESIDUAL, REPEATED_GAMMA, REPEATED_BETA, CASES };
    const int64_t dim[] = {ROWS, N};
    for (const char *const *engine = engines_of(CLF_OP_LAYER_NORM); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        rng r = {9};
        operand rows[3], columns[2]; /* x, residual, y; gamma, beta */
        for (size_t i = 0; i < COUNT(rows); i++) {
            rows[i] = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, dim);
            operand_fill_uniform(&rows[i], &r, -1, 1);
        }
        for (size_t i = 0; i < COUNT(columns); i++) {
            columns[i] = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 1, dim + 1);
            operand_fill_uniform(&columns[i], &r, -1, 1);
        }
        for (int repeated = 0; repeated < CASES; repeated++) {
            clf_view views[4] = {*view(&rows[0]), *view(&rows[1]), *view(&columns[0]), *view(&columns[1])};
            double sum[ROWS * N], gamma[N], beta[N], want[ROWS * N], bound[ROWS * N];
            views[repeated].stride[views[repeated].rank - 1] = 0;
            for (size_t i = 0; i < ROWS * N; i++)
                sum[i] =
                    rows[0].value[repeated == REPEATED_X ? i / N * N : i] + rows[1].value[repeated == REPEATED_RESIDUAL ? i / N * N : i];
            for (size_t i = 0; i < N; i++) {
                gamma[i] = columns[0].value[repeated == REPEATED_GAMMA ? 0 : i];
                beta[i] = columns[1].value[repeated == REPEATED_BETA ? 0 : i];
            }
            clfi_ref_layer_norm(sum, gamma, beta, ROWS, N, 1e-5, want, bound);
            CHECK_OK(clfi_layer_norm(context, &views[0], &views[1], &views[2], &views[3], 1, 1e-5f, view(&rows[2])));
            operand_read(&rows[2], *engine);
            for (size_t i = 0; i < ROWS * N; i++)
                CHECK(within(rows[2].value[i], want[i], 4 * bound[i] + 1e-6), "%s operand %d repeats, element %zu: %.9g, want %.9g",
                      *engine, repeated, i, rows[2].value[i], want[i]);
        }
        for (size_t i = 0; i < COUNT(rows); i++)
            operand_destroy(&rows[i]);
        for (size_t i = 0; i < COUNT(columns); i++)
            operand_destroy(&columns[i]);
        clf_context_destroy(context);
    }
}

/* Rows on which a first guess of the mean fails: a head unlike the rest, a deviation as small as the rounding of the mean, an outlier
 * first. */
static void test_misleading_rows(void **state)
{
    (void)state;
    enum { ROWS = 6, N = 300 };
    const int64_t dim[] = {ROWS, N};
    static float x_values[ROWS * N];
    static double want[ROWS * N], unused[ROWS * N];
    rng r = {9};
    for (int i = 0; i < N; i++) {
        x_values[0 * N + i] = i < 64 ? 0 : 1000 + rng_uniform(&r, -1, 1);
        x_values[1 * N + i] = i < 64 ? 1e6f : rng_uniform(&r, -1, 1);
        x_values[2 * N + i] = 1e6f + (float)rng_below(&r, 2) * 0.0625f; /* two neighbours in float32 */
        x_values[3 * N + i] = 16777215 - (float)(i == 150);             /* all equal but one */
        x_values[4 * N + i] = i == 0 ? 1e7f : 3 + rng_uniform(&r, -1, 1);
        x_values[5 * N + i] = -3e5f + 0.03125f * (float)(i % 4 == 0);
    }
    for (const char *const *engine = engines_of(CLF_OP_LAYER_NORM); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        operand x = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, dim),
                y = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, dim);
        operand_fill(&x, x_values);
        clfi_ref_layer_norm(x.value, NULL, NULL, ROWS, N, 1e-5f, want, unused);
        CHECK_OK(clfi_layer_norm(context, view(&x), NULL, NULL, NULL, 1, 1e-5f, view(&y)));
        operand_read(&y, *engine);
        for (size_t row = 0; row < ROWS; row++) {
            worst w = {0};
            double largest = 0;
            for (size_t i = row * N; i < (row + 1) * N; i++) {
                largest = fmax(largest, fabs(want[i]));
                worst_add(&w, y.value[i], want[i], i);
            }
            /* A mean rounded to float32 would put rows 2 and 5 off by more than a tenth. */
            CHECK(w.error <= 2e-6 * largest, "%s row %zu: off by %.3g, largest element %.3g", *engine, row, w.error, largest);
        }
        operand_destroy(&y);
        operand_destroy(&x);
        clf_context_destroy(context);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    clf_context *context = engine_context(NULL);
    const int64_t dim[] = {4, 6}, empty[] = {4, 0};
    operand x = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, dim),
            y = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, dim);
    operand turned = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){6, 4});
    operand ids = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, 2, dim),
            gamma = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 1, dim);
    operand hollow = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, empty);
    const clf_status bad = CLF_INVALID_ARGUMENT;
    CHECK_FAILS(clfi_layer_norm(context, view(&x), NULL, NULL, NULL, 1, 1e-5f, view(&turned)), bad, "y is [6,4]");
    CHECK_FAILS(clfi_layer_norm(context, view(&x), view(&turned), NULL, NULL, 1, 1e-5f, view(&y)), bad, "residual is [6,4]");
    CHECK_FAILS(clfi_layer_norm(context, view(&x), NULL, view(&gamma), NULL, 1, 1e-5f, view(&y)), bad, "gamma is [4]");
    CHECK_FAILS(clfi_layer_norm(context, view(&x), NULL, NULL, view(&gamma), 2, 1e-5f, view(&y)), bad, "beta is [4]");
    CHECK_FAILS(clfi_layer_norm(context, view(&ids), NULL, NULL, NULL, 1, 1e-5f, view(&y)), bad, "int32");
    CHECK_FAILS(clfi_layer_norm(context, view(&x), NULL, NULL, NULL, 0, 1e-5f, view(&y)), bad, "0 axes");
    CHECK_FAILS(clfi_layer_norm(context, view(&x), NULL, NULL, NULL, 3, 1e-5f, view(&y)), bad, "3 axes");
    CHECK_FAILS(clfi_layer_norm(context, view(&x), NULL, NULL, NULL, 1, -1.0f, view(&y)), bad, "eps");
    CHECK_FAILS(clfi_layer_norm(context, view(&x), NULL, NULL, NULL, 1, NAN, view(&y)), bad, "eps");
    CHECK_FAILS(clfi_layer_norm(context, view(&hollow), NULL, NULL, NULL, 1, 1e-5f, view(&hollow)), bad, "axes of x are empty");
    operand_destroy(&hollow);
    operand_destroy(&gamma);
    operand_destroy(&ids);
    operand_destroy(&turned);
    operand_destroy(&y);
    operand_destroy(&x);
    clf_context_destroy(context);
    context = engine_context("layer_norm=fastest");
    x = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, dim);
    CHECK_FAILS(clfi_layer_norm(context, view(&x), NULL, NULL, NULL, 1, 1e-5f, view(&x)), bad, "fastest");
    operand_destroy(&x);
    clf_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),          cmocka_unit_test(test_layouts),  cmocka_unit_test(test_dtypes),
        cmocka_unit_test(test_large_mean),      cmocka_unit_test(test_repeated), cmocka_unit_test(test_special_rows),
        cmocka_unit_test(test_misleading_rows), cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
