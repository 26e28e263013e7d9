/* SPDX-License-Identifier: MIT */
/* Pooling of ragged sequences: every mode and engine against double, tokens skipped, empty sequences, NaN, offsets that leave
 * the tokens. */
#include <stdio.h>
#include <stdlib.h>

#include "op/pooling.h"
#include "support/check.h"
#include "support/engines.h"
#include "support/operand.h"

static const char *const modes[CLF_POOLING_COUNT] = {"mean", "cls", "max", "mean_sqrt_len", "last", "weighted_mean"};

static const clf_view *view(const operand *o)
{
    return clfi_tensor_view(o->tensor);
}

/* Column c of the sequence first .. end - 1 without its first `skipped` tokens, and its error bound: two-level sums over blocks of 32, then
 * a square root and a quotient. */
static double reference(clf_pooling mode, const operand *x, int64_t columns, int64_t c, int64_t first, int64_t end, int64_t skipped,
                        double *bound)
{
    const int64_t length = end - first - skipped;
    double sum = 0, magnitude = 0, weights = 0, largest = -INFINITY;
    *bound = 0;
    if (length <= 0)
        return 0;
    for (int64_t t = first + skipped; t < end; t++) {
        const double v = x->value[t * columns + c];
        const double weight = mode == CLF_POOLING_WEIGHTED_MEAN ? (double)(t - first + 1) : 1;
        sum += weight * v;
        magnitude += weight * fabs(v);
        weights += weight;
        largest = isnan(largest) || isnan(v) ? NAN : fmax(largest, v);
    }
    if (mode == CLF_POOLING_CLS)
        return x->value[(first + skipped) * columns + c];
    if (mode == CLF_POOLING_LAST)
        return x->value[(end - 1) * columns + c];
    if (mode == CLF_POOLING_MAX)
        return largest;
    const double divisor = mode == CLF_POOLING_MEAN_SQRT_LEN ? sqrt((double)length) : weights;
    *bound = (32 + (double)length / 32 + 12) * 0x1p-24 * magnitude / divisor;
    return sum / divisor;
}

typedef struct pool_case {
    int64_t columns;
    clf_dtype dtype, out_dtype;
    layout layout; /* contiguous or sliced */
} pool_case;

static void run_case(clf_context *context, const char *engine, clf_pooling mode, const pool_case *c)
{
    static const int64_t lengths[] = {1, 5, 0, 31, 32, 33, 64, 0, 77, 512, 0};
    static const int32_t skipped[] = {0, 1, 3};
    char id[160];
    rng r = {(uint64_t)c->columns};
    int32_t ends[COUNT(lengths) + 1] = {0};
    const int64_t sequences = only_small_cases() ? 7 : COUNT(lengths), offsets_count = sequences + 1;
    for (int64_t i = 0; i < sequences; i++)
        ends[i + 1] = ends[i] + (int32_t)lengths[i];
    snprintf(id, sizeof id, "%s %s [%s>%s %dx%lld layout=%s]", engine, modes[mode], clf_dtype_name(c->dtype), clf_dtype_name(c->out_dtype),
             (int)ends[sequences], (long long)c->columns, layout_name(c->layout));
    operand x = operand_create(context, c->dtype, c->layout, 2, (int64_t[]){ends[sequences], c->columns});
    operand offsets = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, 1, &offsets_count);
    operand y = operand_create(context, c->out_dtype, c->layout, 2, (int64_t[]){sequences, c->columns});
    operand_fill_uniform(&x, &r, -1, 2);
    operand_fill_ids(&offsets, ends);
    for (size_t s = 0; s < COUNT(skipped); s++) {
        CHECK_OK(clfi_pool_behind(context, mode, view(&x), view(&offsets), skipped[s], view(&y)));
        operand_read(&y, id);
        for (size_t i = 0; i < y.count; i++) {
            const int64_t sequence = (int64_t)i / c->columns, column = (int64_t)i % c->columns;
            double error;
            const double want = reference(mode, &x, c->columns, column, ends[sequence], ends[sequence + 1], skipped[s], &error);
            const double limit = error + (c->dtype == c->out_dtype && error == 0 ? 0 : operand_rounding(c->out_dtype, fabs(want) + error));
            CHECK(within(y.value[i], want, limit), "%s skipped=%d at %zu: %.9g, want %.9g, bound %.3g", id, skipped[s], i, y.value[i], want,
                  limit);
        }
    }
    operand_destroy(&y);
    operand_destroy(&offsets);
    operand_destroy(&x);
}

static void test_modes(void **state)
{
    (void)state;
    static const int64_t columns[] = {1, 4, 16, 24, 37, 63, 65, 384, 1024};
    for (const char *const *engine = engines_of(CLF_OP_POOL); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        for (clf_pooling mode = 0; mode < CLF_POOLING_COUNT; mode++) {
            for (size_t i = 0; i < COUNT(columns); i++)
                if (!only_small_cases() || columns[i] <= 24)
                    run_case(context, *engine, mode, &(pool_case){columns[i], CLF_F32, CLF_F32, i % 2 ? LAYOUT_SLICED : LAYOUT_CONTIGUOUS});
            for (clf_dtype t = CLF_F16; t <= CLF_BF16; t++) {
                run_case(context, *engine, mode, &(pool_case){16, t, t, LAYOUT_CONTIGUOUS});
                run_case(context, *engine, mode, &(pool_case){20, CLF_F32, t, LAYOUT_SLICED});
            }
        }
        clf_context_destroy(context);
    }
}

/* A NaN shows in its column and sequence, for max too; -infinity is an ordinary value for max; offsets beyond the tokens are clamped. */
static void test_special_values(void **state)
{
    (void)state;
    enum { T = 6, C = 16 };
    float values[T * C];
    const int64_t count = 4;
    const int32_t ends[] = {-4, 3, 6, 9}; /* the first sequence begins before the tokens, the third lies behind them */
    for (int i = 0; i < T * C; i++)
        values[i] = i % C == 3 ? -INFINITY : (float)i;
    values[1 * C + 5] = NAN;
    for (const char *const *engine = engines_of(CLF_OP_POOL); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        operand x = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){T, C});
        operand offsets = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, 1, &count);
        operand y = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){3, C});
        operand_fill(&x, values);
        operand_fill_ids(&offsets, ends);
        for (clf_pooling mode = 0; mode < CLF_POOLING_COUNT; mode++) {
            CHECK_OK(clfi_pool(context, mode, view(&x), view(&offsets), view(&y)));
            operand_read(&y, *engine);
            for (size_t i = 0; i < y.count; i++) {
                const int64_t sequence = (int64_t)i / C;
                double error;
                const double want =
                    reference(mode, &x, C, (int64_t)i % C, sequence == 1 ? 3 : 0, sequence < 2 ? ends[sequence + 1] : 0, 0, &error);
                CHECK(within(y.value[i], want, 1e-4), "%s %s at %zu: %g, want %g", *engine, modes[mode], i, y.value[i], want);
            }
        }
        operand_destroy(&y);
        operand_destroy(&offsets);
        operand_destroy(&x);
        clf_context_destroy(context);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    clf_context *context = engine_context(NULL);
    const clf_status bad = CLF_INVALID_ARGUMENT;
    const int64_t count = 4;
    operand x = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){6, 8});
    operand y = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){3, 8});
    operand narrow = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){3, 7});
    operand offsets = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, 1, &count);
    CHECK_FAILS(clfi_pool(context, (clf_pooling)9, view(&x), view(&offsets), view(&y)), bad, "mode 9");
    CHECK_FAILS(clfi_pool(context, CLF_POOLING_MEAN, view(&x), view(&offsets), view(&narrow)), bad, "8 columns, y has 7");
    CHECK_FAILS(clfi_pool(context, CLF_POOLING_MEAN, view(&x), view(&offsets), view(&x)), bad, "4 offsets for 6");
    CHECK_FAILS(clfi_pool(context, CLF_POOLING_MEAN, view(&x), view(&y), view(&y)), bad, "expected int32");
    operand_destroy(&offsets);
    operand_destroy(&narrow);
    operand_destroy(&y);
    operand_destroy(&x);
    clf_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
