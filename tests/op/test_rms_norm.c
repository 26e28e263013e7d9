/* SPDX-License-Identifier: MIT */
/* RMS norm and L2 normalisation: every engine, layout and storage type against double; zero rows, NaN, refusals. */
#include <stdio.h>
#include <stdlib.h>

#include "op/pooling.h"
#include "op/rms_norm.h"
#include "support/check.h"
#include "support/engines.h"
#include "support/operand.h"
#include "workload/reference_norm.h"

static const clf_view *view(const operand *o)
{
    return o->tensor ? clfi_tensor_view(o->tensor) : NULL;
}

typedef struct norm_case {
    int64_t rows, n;
    bool is_l2;
    clf_dtype dtype, out_dtype;
    layout layout;
    bool has_residual, has_gamma; /* RMS norm only */
} norm_case;

static void run_case(clf_context *context, const char *engine, const norm_case *c)
{
    char id[160];
    rng r = {(uint64_t)(c->n * 31 + c->rows)};
    const int64_t dim[] = {c->rows, c->n};
    const size_t n = (size_t)c->n;
    snprintf(id, sizeof id, "%s %s [%s>%s %lldx%lld layout=%s%s%s]", engine, c->is_l2 ? "l2_normalize" : "rms_norm",
             clf_dtype_name(c->dtype), clf_dtype_name(c->out_dtype), (long long)c->rows, (long long)c->n, layout_name(c->layout),
             c->has_residual ? " residual" : "", c->has_gamma ? " gamma" : "");
    operand x = operand_create(context, c->dtype, c->layout, 2, dim), y = operand_create(context, c->out_dtype, c->layout, 2, dim);
    operand residual = {0}, gamma = {0};
    operand_fill_uniform(&x, &r, -3, 5);
    if (c->has_residual) {
        residual = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, dim);
        operand_fill_uniform(&residual, &r, -1, 1);
    }
    if (c->has_gamma) {
        gamma = operand_create(context, CLF_BF16, LAYOUT_CONTIGUOUS, 1, dim + 1);
        operand_fill_uniform(&gamma, &r, -2, 2);
    }
    const size_t count = x.count;
    double *s = calloc(3 * count + 1, sizeof *s), *want = s + count, *bound = want + count;
    assert_non_null(s);
    for (size_t i = 0; i < count; i++)
        s[i] = c->has_residual ? (double)((float)x.value[i] + (float)residual.value[i]) : x.value[i];
    if (c->is_l2) {
        clfi_ref_l2_normalize(s, count / n, n, 1e-12f, want, bound);
        CHECK_OK(clfi_l2_normalize(context, view(&x), 1e-12f, view(&y)));
    } else {
        clfi_ref_rms_norm(s, gamma.value, count / n, n, 1e-6f, want, bound);
        CHECK_OK(clfi_rms_norm(context, view(&x), view(&residual), view(&gamma), 1, 1e-6f, view(&y)));
    }
    operand_read(&y, id);
    operand_check(&y, 0, count, want, bound, id);
    free(s);
    operand_destroy(&gamma);
    operand_destroy(&residual);
    operand_destroy(&y);
    operand_destroy(&x);
}

static void test_shapes(void **state)
{
    (void)state;
    static const int64_t lengths[] = {1, 3, 16, 61, 65, 384, 1024, 4999};
    for (const char *const *engine = engines_of_both(CLF_OP_RMS_NORM, CLF_OP_L2_NORMALIZE); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        for (size_t i = 0; i < COUNT(lengths); i++) {
            if (!takes_case(i, only_small_cases() && lengths[i] <= 65))
                continue;
            run_case(context, *engine, &(norm_case){13, lengths[i], false, CLF_F32, CLF_F32, LAYOUT_CONTIGUOUS, false, true});
            run_case(context, *engine, &(norm_case){13, lengths[i], false, CLF_F32, CLF_F32, LAYOUT_SLICED, true, false});
            run_case(context, *engine, &(norm_case){13, lengths[i], true, CLF_F32, CLF_F32, LAYOUT_CONTIGUOUS, false, false});
        }
        run_case(context, *engine, &(norm_case){0, 8, true, CLF_F32, CLF_F32, LAYOUT_CONTIGUOUS, false, false});
        clf_context_destroy(context);
    }
}

static void test_layouts_and_dtypes(void **state)
{
    (void)state;
    for (const char *const *engine = engines_of_both(CLF_OP_RMS_NORM, CLF_OP_L2_NORMALIZE); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        for (layout l = 0; l < LAYOUT_COUNT; l++) {
            run_case(context, *engine, &(norm_case){5, 37, false, CLF_F32, CLF_F32, l, true, true});
            run_case(context, *engine, &(norm_case){5, 37, true, CLF_F32, CLF_F32, l, false, false});
        }
        for (clf_dtype t = CLF_F32; t <= CLF_BF16; t++) {
            run_case(context, *engine, &(norm_case){3, 50, false, t, CLF_F32, LAYOUT_CONTIGUOUS, true, true});
            run_case(context, *engine, &(norm_case){3, 50, true, CLF_F32, t, LAYOUT_CONTIGUOUS, false, false});
        }
        clf_context_destroy(context);
    }
}

/* Zero rows stay zero under eps; a NaN spoils its own row only; a row shorter than eps is divided by eps. */
static void test_special_rows(void **state)
{
    (void)state;
    enum { COLUMNS = 20, COUNT_ALL = 4 * COLUMNS };
    const int64_t dim[] = {4, COLUMNS};
    float values[COUNT_ALL];
    for (int i = 0; i < COUNT_ALL; i++)
        values[i] = i < 20 ? 0.0f : i < 60 ? 1.0f : 1e-14f;
    values[33] = NAN;
    for (const char *const *engine = engines_of_both(CLF_OP_RMS_NORM, CLF_OP_L2_NORMALIZE); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        operand x = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, dim),
                y = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, dim);
        operand_fill(&x, values);
        for (int is_l2 = 0; is_l2 < 2; is_l2++) {
            CHECK_OK(is_l2 ? clfi_l2_normalize(context, view(&x), 1e-12f, view(&y))
                           : clfi_rms_norm(context, view(&x), NULL, NULL, 1, 1e-12f, view(&y)));
            operand_read(&y, *engine);
            for (int i = 0; i < COUNT_ALL; i++) {
                const double tiny = is_l2 ? (double)1e-14f / (double)1e-12f : (double)1e-14f / sqrt(1e-12);
                const double want = i < 20 ? 0 : i < 40 ? NAN : i >= 60 ? tiny : is_l2 ? 1 / sqrt(20.0) : 1;
                CHECK(within(y.value[i], want, 1e-6), "%s l2=%d at %d: %g, want %g", *engine, is_l2, i, y.value[i], want);
            }
        }
        operand_destroy(&y);
        operand_destroy(&x);
        clf_context_destroy(context);
    }
}

/* A norm of 0 is divided by nothing, whatever eps is. */
static void test_zero_without_eps(void **state)
{
    (void)state;
    for (const char *const *engine = engines_of(CLF_OP_L2_NORMALIZE); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        operand x = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){2, 3});
        operand y = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){2, 3});
        operand_fill(&x, (const float[]){0, 0, 0, 0, -2, 0});
        CHECK_OK(clfi_l2_normalize(context, view(&x), 0, view(&y)));
        operand_read(&y, *engine);
        for (int i = 0; i < 6; i++)
            CHECK(y.value[i] == (i == 4 ? -1 : 0), "%s at %d: %g", *engine, i, y.value[i]);
        operand_destroy(&x);
        operand_destroy(&y);
        clf_context_destroy(context);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    clf_context *context = engine_context(NULL);
    const int64_t dim[] = {4, 6};
    operand x = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, dim),
            gamma = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, dim);
    CHECK_FAILS(clfi_rms_norm(context, view(&x), NULL, view(&gamma), 1, 1e-6f, view(&x)), CLF_INVALID_ARGUMENT, "gamma is [4,6]");
    CHECK_FAILS(clfi_rms_norm(context, view(&x), NULL, NULL, 1, -1e-6f, view(&x)), CLF_INVALID_ARGUMENT, "rms_norm: eps");
    CHECK_FAILS(clfi_l2_normalize(context, view(&x), NAN, view(&x)), CLF_INVALID_ARGUMENT, "l2_normalize: eps");
    operand_destroy(&gamma);
    operand_destroy(&x);
    clf_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),           cmocka_unit_test(test_layouts_and_dtypes), cmocka_unit_test(test_special_rows),
        cmocka_unit_test(test_zero_without_eps), cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
