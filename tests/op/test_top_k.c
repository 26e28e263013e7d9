/* SPDX-License-Identifier: MIT */
/* Top-k: every engine against a sort on the host; exact in values and indices, with ties, NaN, infinities, layouts and several rounds. */
#include <stdio.h>
#include <stdlib.h>

#include "op/top_k.h"
#include "support/check.h"
#include "support/engines.h"
#include "support/operand.h"

static const clf_view *view(const operand *o)
{
    return clfi_tensor_view(o->tensor);
}

static const double *sort_values; /* of the row being sorted; qsort has no argument for it */

/* Larger first, NaN last, equal ones by index. */
static int by_rank(const void *pa, const void *pb)
{
    const int32_t a = *(const int32_t *)pa, b = *(const int32_t *)pb;
    const double x = sort_values[a], y = sort_values[b];
    if (isnan(x) != isnan(y))
        return isnan(x) ? 1 : -1;
    if (!isnan(x) && x != y)
        return x > y ? -1 : 1;
    return a < b ? -1 : 1;
}

typedef enum content { UNIFORM, FEW_VALUES, RISING, FALLING, SPECIAL, CONTENT_COUNT } content;
static const char *const contents[CONTENT_COUNT] = {"uniform", "few-values", "rising", "falling", "special"};

static void fill(operand *scores, content what, int64_t columns)
{
    static const float special[] = {NAN, -NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 1e-42f, -1e-42f, 3.4e38f, -3.4e38f, 1.0f, -1.0f};
    rng r = {(uint64_t)columns + what};
    float *values = calloc(scores->count + 1, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < scores->count; i++) {
        const float column = (float)((int64_t)i % columns);
        values[i] = what == UNIFORM      ? rng_uniform(&r, -1, 1)
                    : what == FEW_VALUES ? (float)rng_below(&r, 3) - 1
                    : what == RISING     ? column
                    : what == FALLING    ? -column
                                         : special[rng_below(&r, COUNT(special))];
    }
    operand_fill(scores, values);
    free(values);
}

static void run_case(clf_context *context, const char *engine, int64_t rows, int64_t columns, int k, content what, layout l,
                     clf_dtype dtype)
{
    char id[160];
    snprintf(id, sizeof id, "%s [%s %lldx%lld k=%d %s layout=%s]", engine, clf_dtype_name(dtype), (long long)rows, (long long)columns, k,
             contents[what], layout_name(l));
    operand scores = operand_create(context, dtype, l, 2, (int64_t[]){rows, columns});
    operand values = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){rows, k});
    operand indices = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){rows, k});
    fill(&scores, what, columns);
    CHECK_OK(clfi_top_k(context, view(&scores), k, view(&values), view(&indices)));
    operand_read(&values, id);
    operand_read(&indices, id);
    int32_t *order = calloc((size_t)columns, sizeof *order);
    assert_non_null(order);
    for (int64_t row = 0; row < rows; row++) {
        sort_values = scores.value + row * columns;
        for (int32_t i = 0; i < columns; i++)
            order[i] = i;
        qsort(order, (size_t)columns, sizeof *order, by_rank);
        for (int j = 0; j < k; j++) {
            const double index = indices.value[row * k + j], value = values.value[row * k + j];
            CHECK(index == order[j], "%s row %lld place %d: index %g, want %d", id, (long long)row, j, index, order[j]);
            CHECK(within(value, sort_values[order[j]], 0), "%s row %lld place %d: %g, want %g", id, (long long)row, j, value,
                  sort_values[order[j]]);
        }
    }
    free(order);
    operand_destroy(&indices);
    operand_destroy(&values);
    operand_destroy(&scores);
}

static void test_sizes(void **state)
{
    (void)state;
    static const struct {
        int64_t rows, columns;
        int k;
    } sizes[] = {{1, 1, 1},   {3, 5, 5},     {2, 63, 1},   {2, 64, 7},      {5, 65, 64},   {1, 257, 256},   {0, 10, 3},
                 {1, 600, 7}, {2, 1021, 10}, {3, 5000, 5}, {1, 4097, 1024}, {2, 40000, 3}, {1, 40000, 1000}};
    for (const char *const *engine = engines_of(CLF_OP_TOP_K); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        for (size_t i = 0; i < COUNT(sizes); i++)
            for (content what = 0; what < CONTENT_COUNT; what++)
                if (!only_small_cases() || (sizes[i].columns <= 600 && sizes[i].k <= 64 && what != RISING))
                    run_case(context, *engine, sizes[i].rows, sizes[i].columns, sizes[i].k, what, LAYOUT_CONTIGUOUS, CLF_F32);
        clf_context_destroy(context);
    }
}

static void test_layouts_and_dtypes(void **state)
{
    (void)state;
    const int64_t columns = only_small_cases() ? 40 : 6007;
    for (const char *const *engine = engines_of(CLF_OP_TOP_K); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        for (layout l = 0; l < LAYOUT_COUNT; l++)
            run_case(context, *engine, 3, columns, 9, UNIFORM, l, CLF_F32);
        for (clf_dtype t = CLF_F16; t <= CLF_BF16; t++) {
            run_case(context, *engine, 2, columns, 9, UNIFORM, LAYOUT_SLICED, t);
            run_case(context, *engine, 2, columns, 9, RISING, LAYOUT_CONTIGUOUS, t); /* rounded: many ties */
        }
        clf_context_destroy(context);
    }
}

/* A million columns: several rounds with a large k. */
static void test_many_columns(void **state)
{
    (void)state;
    if (only_small_cases())
        return;
    for (const char *const *engine = engines_of(CLF_OP_TOP_K); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        run_case(context, *engine, 1, 1000003, 5, UNIFORM, LAYOUT_CONTIGUOUS, CLF_F32);
        run_case(context, *engine, 1, 300007, 1024, UNIFORM, LAYOUT_CONTIGUOUS, CLF_F32);
        run_case(context, *engine, 1, 300007, 1024, FEW_VALUES, LAYOUT_CONTIGUOUS, CLF_F32);
        clf_context_destroy(context);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    clf_context *context = engine_context(NULL);
    const clf_status bad = CLF_INVALID_ARGUMENT;
    operand scores = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){2, 2000});
    operand values = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){2, 4});
    operand indices = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){2, 4});
    operand gaps = operand_create(context, CLF_I32, LAYOUT_SLICED, 2, (int64_t[]){2, 4});
    CHECK_FAILS(clfi_top_k(context, view(&scores), 0, view(&values), view(&indices)), bad, "k is 0");
    CHECK_FAILS(clfi_top_k(context, view(&scores), 1025, view(&values), view(&indices)), bad, "k is 1025");
    CHECK_FAILS(clfi_top_k(context, view(&values), 5, view(&values), view(&indices)), bad, "the 4 columns");
    CHECK_FAILS(clfi_top_k(context, view(&scores), 5, view(&values), view(&indices)), bad, "values is [2,4], expected [2,5]");
    CHECK_FAILS(clfi_top_k(context, view(&scores), 4, view(&values), view(&gaps)), bad, "without gaps");
    CHECK_FAILS(clfi_top_k(context, view(&scores), 4, view(&values), view(&values)), bad, "expected int32");
    CHECK_FAILS(clfi_top_k(context, view(&indices), 4, view(&values), view(&indices)), bad, "scores is int32");
    operand_destroy(&gaps);
    operand_destroy(&indices);
    operand_destroy(&values);
    operand_destroy(&scores);
    clf_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_layouts_and_dtypes),
        cmocka_unit_test(test_many_columns),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
