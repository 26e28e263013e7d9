/* SPDX-License-Identifier: MIT */
/* Matrix products whose batches lie element by element: the engines made for them, against double, with guards around the result. */
#include <stdio.h>
#include <stdlib.h>

#include "clformer/linear.h"
#include "runtime/context.h"
#include "support/check.h"
#include "support/device.h"
#include "support/operand.h"

/* Place of the batch: innermost, or before the last index of the matrix (heads before head features). */
typedef enum place { INNERMOST, MIDDLE } place;

typedef struct interleaved_case {
    int64_t outer, lanes, m, n, k;
    place a, b, c;
    clf_dtype a_type, c_type;
    bool is_small;
} interleaved_case;

static const interleaved_case cases[] = {
    {1, 16, 6, 4, 8, INNERMOST, MIDDLE, MIDDLE, CLF_F32, CLF_F32, true},
    {1, 16, 6, 4, 8, MIDDLE, MIDDLE, INNERMOST, CLF_F32, CLF_F32, true},
    {2, 12, 7, 5, 9, INNERMOST, MIDDLE, MIDDLE, CLF_F32, CLF_F32, true},
    {2, 12, 7, 5, 9, MIDDLE, MIDDLE, INNERMOST, CLF_F32, CLF_F32, true},
    {3, 8, 13, 33, 35, MIDDLE, INNERMOST, INNERMOST, CLF_F32, CLF_F32, false},
    {1, 33, 11, 37, 65, INNERMOST, INNERMOST, INNERMOST, CLF_F32, CLF_F32, false},
    {1, 48, 25, 67, 71, INNERMOST, MIDDLE, MIDDLE, CLF_F32, CLF_F32, false},
    {1, 7, 3, 2, 100, INNERMOST, MIDDLE, INNERMOST, CLF_F32, CLF_F32, false},
    {2, 5, 1, 1, 17, INNERMOST, MIDDLE, INNERMOST, CLF_F32, CLF_F32, false},
    {2, 3, 2, 3, 4, INNERMOST, MIDDLE, INNERMOST, CLF_F32, CLF_F32, true},
    {4, 19, 5, 31, 1, MIDDLE, MIDDLE, INNERMOST, CLF_F32, CLF_F32, false},
    {1, 16, 18, 20, 40, INNERMOST, MIDDLE, MIDDLE, CLF_F16, CLF_F32, false},
    {1, 20, 18, 20, 40, MIDDLE, MIDDLE, INNERMOST, CLF_BF16, CLF_F16, false},
    {1, 20, 18, 20, 40, INNERMOST, MIDDLE, MIDDLE, CLF_F32, CLF_BF16, false},
    {2, 8, 2, 5, 3, INNERMOST, MIDDLE, MIDDLE, CLF_F32, CLF_F32, true},
    {2, 8, 13, 4, 9, MIDDLE, MIDDLE, INNERMOST, CLF_F32, CLF_F32, true},
    {3, 8, 27, 37, 35, INNERMOST, INNERMOST, MIDDLE, CLF_F32, CLF_F32, false},
    {1, 8, 30, 18, 70, INNERMOST, MIDDLE, INNERMOST, CLF_F16, CLF_F16, false},
    {2, 24, 9, 10, 33, INNERMOST, MIDDLE, INNERMOST, CLF_F32, CLF_F32, false}, /* three halves of 16 lanes */
    {1, 24, 14, 7, 35, MIDDLE, MIDDLE, INNERMOST, CLF_F16, CLF_F32, false},
    {1, 12, 5, 6, 19, INNERMOST, INNERMOST, MIDDLE, CLF_F32, CLF_F32, true}, /* of 8 lanes */
    {1, 16, 197, 70, 130, MIDDLE, MIDDLE, INNERMOST, CLF_F32, CLF_F32, false}, /* several row tiles in a work-item, fewer in the last */
    {1, 24, 110, 66, 130, INNERMOST, MIDDLE, INNERMOST, CLF_F32, CLF_F32, false},
    {2, 4, 7, 9, 33, INNERMOST, MIDDLE, MIDDLE, CLF_F32, CLF_F32, false},
    {2, 2, 7, 9, 6, MIDDLE, MIDDLE, INNERMOST, CLF_F32, CLF_F32, true},
    {1, 64, 64, 64, 512, INNERMOST, INNERMOST, INNERMOST, CLF_F32, CLF_F32, false},
    /* many batches in turn, several tiles of rows over a long k, odd ends of both */
    {1, 40, 19, 32, 21, INNERMOST, MIDDLE, MIDDLE, CLF_F32, CLF_F32, false},
    {1, 16, 77, 35, 403, INNERMOST, MIDDLE, MIDDLE, CLF_F32, CLF_F32, false},
    {2, 11, 33, 64, 530, INNERMOST, MIDDLE, INNERMOST, CLF_F32, CLF_F16, false},
    {3, 13, 17, 47, 33, MIDDLE, MIDDLE, INNERMOST, CLF_F32, CLF_F32, false},
    /* columns that fill wide panels: fewer rows than a tile, a tile and some, several tiles over a long k */
    {1, 5, 4, 64, 20, INNERMOST, MIDDLE, INNERMOST, CLF_F32, CLF_F32, true},
    {2, 9, 8, 64, 37, INNERMOST, MIDDLE, MIDDLE, CLF_F32, CLF_F32, true},
    {1, 16, 77, 128, 403, INNERMOST, MIDDLE, MIDDLE, CLF_F32, CLF_F32, false},
};

/* An operand of logical shape [outer, lanes, rows, columns] in its place in memory; *view is what the product takes. */
static operand create(clf_context *context, const interleaved_case *one, clf_dtype dtype, place where, int64_t rows, int64_t columns,
                      clf_tensor **view)
{
    const int64_t inner[] = {one->outer, rows, columns, one->lanes}, middle[] = {one->outer, rows, one->lanes, columns};
    operand o = operand_create(context, dtype, LAYOUT_CONTIGUOUS, 4, where == INNERMOST ? inner : middle);
    CHECK_OK(clf_tensor_permute(o.tensor, where == INNERMOST ? (int[]){0, 3, 1, 2} : (int[]){0, 2, 1, 3}, view));
    return o;
}

static size_t place_of(const interleaved_case *one, place where, int64_t rows, int64_t columns, int64_t outer, int64_t lane, int64_t row,
                       int64_t column)
{
    const int64_t start = (outer * rows + row) * columns * one->lanes;
    return (size_t)(start + (where == INNERMOST ? column * one->lanes + lane : lane * columns + column));
}

static void check_case(clf_context *context, const interleaved_case *one)
{
    char id[128];
    rng r = {(uint64_t)(one->m * 131 + one->n * 17 + one->lanes)};
    clf_tensor *a_view, *b_view, *c_view;
    snprintf(id, sizeof id, "interleaved[%lldx%lldx%lld outer=%lld lanes=%lld %d%d%d %s>%s]", (long long)one->m, (long long)one->n,
             (long long)one->k, (long long)one->outer, (long long)one->lanes, one->a, one->b, one->c, clf_dtype_name(one->a_type),
             clf_dtype_name(one->c_type));
    operand a = create(context, one, one->a_type, one->a, one->m, one->k, &a_view);
    operand b = create(context, one, CLF_F32, one->b, one->k, one->n, &b_view);
    operand c = create(context, one, one->c_type, one->c, one->m, one->n, &c_view);
    operand_fill_uniform(&a, &r, -1, 1);
    operand_fill_uniform(&b, &r, -1, 1);
    clf_gemm_params params = CLF_GEMM_PARAMS_INIT;
    params.alpha = 0.5f;
    const clf_status st = clf_gemm(context, a_view, b_view, &params, c_view);
    CHECK(st == CLF_OK, "%s: %s", id, clf_last_error());
    operand_read(&c, id);
    for (int64_t o = 0; o < one->outer; o++)
        for (int64_t l = 0; l < one->lanes; l++)
            for (int64_t i = 0; i < one->m; i++)
                for (int64_t j = 0; j < one->n; j++) {
                    double want = 0, magnitude = 0;
                    for (int64_t p = 0; p < one->k; p++) {
                        const double product = 0.5 * a.value[place_of(one, one->a, one->m, one->k, o, l, i, p)] *
                                               b.value[place_of(one, one->b, one->k, one->n, o, l, p, j)];
                        want += product;
                        magnitude += fabs(product);
                    }
                    const double bound = (double)(one->k + 2) * 0x1p-24 * magnitude;
                    const double got = c.value[place_of(one, one->c, one->m, one->n, o, l, i, j)];
                    CHECK(within(got, want, bound + operand_rounding(one->c_type, fabs(want) + bound)),
                          "%s: outer %lld lane %lld element %lld,%lld: %.9g, want %.9g", id, (long long)o, (long long)l, (long long)i,
                          (long long)j, got, want);
                }
    clf_tensor_destroy(c_view);
    clf_tensor_destroy(b_view);
    clf_tensor_destroy(a_view);
    operand_destroy(&c);
    operand_destroy(&b);
    operand_destroy(&a);
}

static void check_engine(const char *engines)
{
    clf_context *context = engine_context(engines);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (takes_case(i, cases[i].is_small))
            check_case(context, &cases[i]);
    clf_context_destroy(context);
}

static void interleaved(void **state)
{
    (void)state;
    check_engine("gemm=interleaved");
}

/* Needs A in float32, and leaves devices alone whose compiler is not made for it. */
static void staged(void **state)
{
    (void)state;
    clf_context *context = engine_context("gemm=staged");
    if (context->device.caps.slow_compiler) {
        clf_context_destroy(context);
        skip();
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (cases[i].a_type == CLF_F32 && takes_case(i, cases[i].is_small))
            check_case(context, &cases[i]);
    clf_context_destroy(context);
}

/* Whatever the table chooses gives the same. */
static void chosen(void **state)
{
    (void)state;
    check_engine(NULL);
}

/* Batches outside the matrices are another engine's. */
static void declines(void **state)
{
    (void)state;
    clf_context *context = engine_context("gemm=interleaved");
    operand a = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){2, 3, 4});
    operand b = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){2, 4, 5});
    operand c = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){2, 3, 5});
    CHECK_FAILS(clf_gemm(context, a.tensor, b.tensor, NULL, c.tensor), CLF_UNSUPPORTED, "interleaved");
    operand_destroy(&c);
    operand_destroy(&b);
    operand_destroy(&a);
    clf_context_destroy(context);
}

/* A device that ends loops early gets no more iterations than it runs. */
static void counts_loops(void **state)
{
    enum { M = 2, K = 32, LANES = 16, FEW = 64, MANY = 4096 };
    static const int to_batch[] = {2, 0, 1};
    (void)state;
    clf_context *context = engine_context("gemm=interleaved");
    context->device.caps.short_loops = true;
    for (int n = FEW; n <= MANY; n += MANY - FEW) {
        operand a = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){M, K, LANES});
        operand b = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){K, n, LANES});
        operand c = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){M, n, LANES});
        clf_tensor *x, *y, *z;
        CHECK_OK(clf_tensor_permute(a.tensor, to_batch, &x));
        CHECK_OK(clf_tensor_permute(b.tensor, to_batch, &y));
        CHECK_OK(clf_tensor_permute(c.tensor, to_batch, &z));
        if (n == FEW)
            CHECK_OK(clf_gemm(context, x, y, NULL, z));
        else
            CHECK_FAILS(clf_gemm(context, x, y, NULL, z), CLF_UNSUPPORTED, "interleaved");
        clf_tensor_destroy(x);
        clf_tensor_destroy(y);
        clf_tensor_destroy(z);
        operand_destroy(&c);
        operand_destroy(&b);
        operand_destroy(&a);
    }
    clf_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interleaved),
        cmocka_unit_test(staged),
        cmocka_unit_test(chosen),
        cmocka_unit_test(declines),
        cmocka_unit_test(counts_loops),
    };
    return cmocka_run_group_tests(tests, device_setup, device_teardown);
}
