/* SPDX-License-Identifier: MIT */
/* Embedding lookup, alone and with layer norm: one to three tables of every storage type, against double. */
#include <stdio.h>
#include <stdlib.h>

#include "op/embedding.h"
#include "support/check.h"
#include "support/engines.h"
#include "support/operand.h"
#include "workload/reference_norm.h"

static const double u = 0x1p-24;

typedef struct embedding_case {
    int tables;
    int64_t tokens, columns;
    clf_dtype dtype, out_dtype;
    layout layout; /* of tables and result: contiguous or sliced */
    float scale;
    bool has_norm;
} embedding_case;

static const clf_view *view(const operand *o)
{
    return clfi_tensor_view(o->tensor);
}

/* The float32 sums that the kernel may form (each product and sum rounded once), and how far they may be off. */
static void reference(const embedding_case *c, const operand *table, const operand *ids, double *sum, double *bound)
{
    for (int64_t t = 0; t < c->tokens; t++) {
        for (int64_t j = 0; j < c->columns; j++) {
            double total = 0, magnitude = 0;
            for (int k = 0; k < c->tables; k++) {
                const int64_t row = ids[k].tensor ? (int64_t)ids[k].value[t] : 0;
                const double term = table[k].value[row * c->columns + j] * (k == 0 ? (double)c->scale : 1);
                total += term;
                magnitude += fabs(term);
            }
            sum[t * c->columns + j] = total;
            bound[t * c->columns + j] = 3 * u * magnitude;
        }
    }
}

static void run_case(clf_context *context, const char *engine, const embedding_case *c)
{
    static const int64_t vocabulary[] = {97, 40, 2};
    char id[160];
    rng r = {(uint64_t)(c->tokens * 131 + c->columns)};
    operand table[3] = {{0}}, ids[3] = {{0}};
    clf_embedding_term terms[3];
    snprintf(id, sizeof id, "%s [%s>%s tables=%d %lldx%lld layout=%s scale=%g%s]", engine, clf_dtype_name(c->dtype),
             clf_dtype_name(c->out_dtype), c->tables, (long long)c->tokens, (long long)c->columns, layout_name(c->layout), (double)c->scale,
             c->has_norm ? " norm" : "");
    for (int k = 0; k < c->tables; k++) {
        table[k] = operand_create(context, k == 1 ? CLF_F32 : c->dtype, c->layout, 2, (int64_t[]){vocabulary[k], c->columns});
        operand_fill_uniform(&table[k], &r, -1, 1);
        if (k != 2 || c->tokens % 2) { /* even cases: the third table has no ids */
            int32_t *values = calloc((size_t)c->tokens + 1, sizeof *values);
            assert_non_null(values);
            for (int64_t t = 0; t < c->tokens; t++)
                values[t] = (int32_t)(t == 0 ? vocabulary[k] - 1 : rng_below(&r, vocabulary[k]));
            ids[k] = operand_create(context, CLF_I32, c->layout, 1, &c->tokens);
            operand_fill_ids(&ids[k], values);
            free(values);
        }
        terms[k] = (clf_embedding_term){view(&table[k]), ids[k].tensor ? view(&ids[k]) : NULL, 1};
    }
    operand y = operand_create(context, c->out_dtype, c->layout, 2, (int64_t[]){c->tokens, c->columns});
    double *want = calloc(4 * y.count + 1, sizeof *want), *bound = want + y.count, *sum = bound + y.count, *spread = sum + y.count;
    assert_non_null(want);
    reference(c, table, ids, sum, spread);
    if (c->has_norm) {
        clfi_ref_layer_norm(sum, NULL, NULL, (size_t)c->tokens, (size_t)c->columns, 1e-12f, want, bound);
        CHECK_OK(clfi_embedding_layer_norm(context, terms, c->tables, c->scale, NULL, NULL, 1e-12f, view(&y)));
    } else {
        CHECK_OK(clfi_embedding_sum(context, terms, c->tables, c->scale, view(&y)));
    }
    operand_read(&y, id);
    for (size_t i = 0; i < y.count; i++) {
        /* Sums in [-3, 3] with deviation above 0.4: their error grows less than threefold in the norm, in each of c, mean and deviation. */
        const double exact = c->has_norm ? want[i] : sum[i],
                     error = c->has_norm ? bound[i] + 3 * 3 * 3 * 3 * u * (1 + fabs(want[i])) : spread[i];
        const double limit = error + operand_rounding(c->out_dtype, fabs(exact) + error);
        CHECK(within(y.value[i], exact, limit), "%s at %zu: %.9g, want %.9g, bound %.3g", id, i, y.value[i], exact, limit);
    }
    free(want);
    operand_destroy(&y);
    for (int k = 0; k < 3; k++) {
        operand_destroy(&table[k]);
        operand_destroy(&ids[k]);
    }
}

static void test_sums(void **state)
{
    (void)state;
    static const int64_t columns[] = {1, 16, 63, 64, 65, 384, 1031}, tokens[] = {1, 5, 66, 700};
    for (const char *const *engine = engines_of(CLF_OP_EMBEDDING); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        for (size_t i = 0; i < COUNT(columns); i++)
            for (int tables = 1; tables <= 3; tables++)
                if (!only_small_cases() || columns[i] <= 65)
                    run_case(context, *engine,
                             &(embedding_case){tables, tables == 2 ? 6 : 5, columns[i], CLF_F32, CLF_F32, LAYOUT_SLICED, 1, false});
        for (size_t i = 0; i < COUNT(tokens); i++)
            if (!only_small_cases() || tokens[i] <= 66)
                run_case(context, *engine, &(embedding_case){3, tokens[i], 64, CLF_F32, CLF_F32, LAYOUT_CONTIGUOUS, 8, false});
        run_case(context, *engine, &(embedding_case){3, 0, 64, CLF_F32, CLF_F32, LAYOUT_CONTIGUOUS, 1, false});
        for (clf_dtype t = CLF_F16; t <= CLF_BF16; t++) {
            run_case(context, *engine, &(embedding_case){3, 6, 50, t, CLF_F32, LAYOUT_CONTIGUOUS, 3, false});
            run_case(context, *engine, &(embedding_case){3, 7, 50, CLF_F32, t, LAYOUT_CONTIGUOUS, 3, false});
        }
        clf_context_destroy(context);
    }
}

static void test_with_layer_norm(void **state)
{
    (void)state;
    for (const char *const *engine = engines_of(CLF_OP_EMBEDDING); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        run_case(context, *engine, &(embedding_case){3, 19, 64, CLF_F32, CLF_F32, LAYOUT_CONTIGUOUS, 1, true});
        run_case(context, *engine, &(embedding_case){3, 20, 96, CLF_F16, CLF_F32, LAYOUT_SLICED, 1, true});
        clf_context_destroy(context);
    }
}

/* Ids outside their table give its first or last row and read nothing else. */
static void test_wild_ids(void **state)
{
    (void)state;
    const int64_t tokens = 4, dim[] = {3, 20};
    const int32_t wild[] = {-1, INT32_MIN, 3, INT32_MAX};
    for (const char *const *engine = engines_of(CLF_OP_EMBEDDING); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        rng r = {1};
        operand table = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, dim);
        operand ids = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, 1, &tokens);
        operand y = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){tokens, 20});
        operand_fill_uniform(&table, &r, -1, 1);
        operand_fill_ids(&ids, wild);
        const clf_embedding_term term = {view(&table), view(&ids), 1};
        CHECK_OK(clfi_embedding_sum(context, &term, 1, 1, view(&y)));
        operand_read(&y, *engine);
        for (size_t i = 0; i < y.count; i++)
            CHECK(y.value[i] == table.value[(i < 40 ? 0 : 40) + i % 20], "%s at %zu: %g", *engine, i, y.value[i]);
        operand_destroy(&y);
        operand_destroy(&ids);
        operand_destroy(&table);
        clf_context_destroy(context);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    clf_context *context = engine_context(NULL);
    const clf_status bad = CLF_INVALID_ARGUMENT;
    const int64_t tokens = 4;
    operand table = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){5, 8});
    operand hollow = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){0, 8});
    operand turned = operand_create(context, CLF_F32, LAYOUT_REVERSED, 2, (int64_t[]){5, 8});
    operand ids = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, 1, &tokens);
    operand y = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){3, 8});
    const clf_embedding_term good = {view(&table), NULL, 1};
    CHECK_FAILS(clfi_embedding_sum(context, &good, 0, 1, view(&y)), bad, "0 tables");
    CHECK_FAILS(clfi_embedding_sum(context, &good, 4, 1, view(&y)), bad, "4 tables");
    CHECK_FAILS(clfi_embedding_sum(context, &(clf_embedding_term){view(&table), view(&ids), 1}, 1, 1, view(&y)), bad, "ids 0 has 4 tokens");
    CHECK_FAILS(clfi_embedding_sum(context, &(clf_embedding_term){view(&table), view(&table), 1}, 1, 1, view(&y)), bad, "expected int32");
    CHECK_FAILS(clfi_embedding_sum(context, &(clf_embedding_term){view(&hollow), NULL, 1}, 1, 1, view(&y)), bad, "[0,8]");
    CHECK_FAILS(clfi_embedding_sum(context, &(clf_embedding_term){view(&turned), NULL, 1}, 1, 1, view(&y)), bad, "stride of 5");
    operand_destroy(&y);
    operand_destroy(&ids);
    operand_destroy(&turned);
    operand_destroy(&hollow);
    operand_destroy(&table);
    clf_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_with_layer_norm),
        cmocka_unit_test(test_wild_ids),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
