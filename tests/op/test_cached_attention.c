/* SPDX-License-Identifier: MIT */
/* Attention of single queries to cached keys, on every engine: tables of rows and ranges, counts of 0 to more than a block, head sizes,
 * refusals. */
#include "support/check.h"
#include "support/device.h"
#include "support/engines.h"
#include "support/operand.h"
#include "workload/reference_attention.h"

#include <stdio.h>
#include <stdlib.h>

#include "op/cached_attention.h"

typedef struct cached_case {
    int64_t heads, queries, rows, size, keys;
    bool has_table, has_counts;
    int64_t reach;  /* of a bias by distance; 0: none */
    bool is_half;   /* keys and values are f16 */
    bool is_prompt; /* texts of `keys` queries, which see their text up to themselves; as many as make a CPU take tiles of queries */
} cached_case;

static const clf_view *view(const operand *o)
{
    return clfi_tensor_view(o->tensor);
}

/* On devices that end long loops an engine may leave a case alone. */
static void run_case(clf_context *context, const cached_case *c)
{
    enum { MOST_KEYS = 1024, MOST_SIZE = 256 };
    static double keys[MOST_KEYS * (MOST_SIZE + 1)], values[MOST_KEYS * MOST_SIZE], want[MOST_SIZE], bound[MOST_SIZE];
    double query[MOST_SIZE + 1];
    /* The reference adds a bias as one more element of the keys, times 1 / scale of the query. */
    const int64_t key_size = c->size + (c->reach ? 1 : 0);
    char id[128];
    rng r = {(uint64_t)(c->heads * 7 + c->queries * 31 + c->keys)};
    snprintf(id, sizeof id, "cached_attention[%lld heads %lld queries %lld rows d=%lld %lld keys%s%s%s%s]", (long long)c->heads,
             (long long)c->queries, (long long)c->rows, (long long)c->size, (long long)c->keys, c->has_table ? " table" : "",
             c->has_counts ? " counts" : "", c->is_half ? " f16" : "", c->is_prompt ? " prompt" : "");
    /* Heads and rows exchanged in memory: what a cache of rows and a projection look like. */
    operand q = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){c->heads, c->queries, c->size});
    const clf_dtype kv = c->is_half ? CLF_F16 : CLF_F32;
    operand k = operand_create(context, kv, LAYOUT_SWAPPED, 3, (int64_t[]){c->heads, c->rows, c->size});
    operand v = operand_create(context, kv, LAYOUT_SWAPPED, 3, (int64_t[]){c->heads, c->rows, c->size});
    operand out = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){c->queries, c->heads, c->size});
    operand table = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){c->queries, c->keys + 3});
    operand first = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, 1, &c->queries);
    operand counts = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, 1, &c->queries);
    operand bias = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){c->heads, 2 * c->reach + 1});
    int32_t *table_values = calloc(table.count, sizeof *table_values), *first_values = calloc(first.count, sizeof *first_values);
    int32_t *count_values = calloc(counts.count, sizeof *count_values);
    assert_true(table_values && first_values && count_values);
    for (size_t i = 0; i < table.count; i++)
        table_values[i] = (int32_t)rng_below(&r, c->rows);
    for (size_t n = 0; n < first.count; n++) {
        first_values[n] = (int32_t)rng_below(&r, c->rows - c->keys + 1);
        count_values[n] = n == 0 ? 0 : (int32_t)rng_below(&r, c->keys + 1);
    }
    for (int64_t n = 0; c->is_prompt && n < c->queries; n++) {
        const int64_t begin = n / c->keys * c->keys;
        count_values[n] = (int32_t)(n - begin + 1);
        memcpy(table_values + n * (c->keys + 3), table_values + begin * (c->keys + 3), (size_t)c->keys * sizeof *table_values);
    }
    operand_fill_uniform(&q, &r, -2, 2);
    operand_fill_uniform(&k, &r, -2, 2);
    operand_fill_uniform(&v, &r, -2, 2);
    operand_fill_uniform(&bias, &r, -2, 2);
    operand_fill_ids(&table, table_values);
    operand_fill_ids(&first, first_values);
    operand_fill_ids(&counts, count_values);
    const float scale = 0.3f;
    const clf_cached_attention_args args = {.q = view(&q),
                                            .k = view(&k),
                                            .v = view(&v),
                                            .rows = c->has_table ? view(&table) : NULL,
                                            .first = c->has_table ? NULL : view(&first),
                                            .counts = c->has_counts ? view(&counts) : NULL,
                                            .keys = c->keys,
                                            .out = view(&out),
                                            .scale = scale,
                                            .bias = c->reach ? view(&bias) : NULL};
    const clf_status status = clfi_cached_attention(context, &args);
    if (status == CLF_UNSUPPORTED && context->device.caps.short_loops)
        goto done;
    CHECK_OK(status);
    operand_read(&out, id);
    for (int64_t n = 0; n < c->queries; n++) {
        const int64_t count = c->has_counts ? count_values[n] : c->keys;
        for (int64_t h = 0; h < c->heads; h++) {
            for (int64_t j = 0; j < count; j++) {
                const int64_t row = c->has_table ? table_values[n * (c->keys + 3) + j] : first_values[n] + j;
                const int64_t distance = j - (count - 1) < -c->reach ? -c->reach : j - (count - 1);
                if (c->reach)
                    keys[j * key_size + c->size] = bias.value[h * (2 * c->reach + 1) + c->reach + distance];
                memcpy(keys + j * key_size, k.value + (h * c->rows + row) * c->size, (size_t)c->size * sizeof *keys);
                memcpy(values + j * c->size, v.value + (h * c->rows + row) * c->size, (size_t)c->size * sizeof *values);
            }
            memcpy(query, q.value + (h * c->queries + n) * c->size, (size_t)c->size * sizeof *query);
            if (c->reach)
                query[c->size] = 1 / (double)scale;
            CHECK_OK(clfi_ref_attention_row(query, keys, values, NULL, NULL, (size_t)count, (size_t)key_size, (size_t)c->size,
                                            (double)scale, CLF_EMPTY_ROWS_ZERO, want, bound));
            for (int64_t i = 0; i < c->size; i++) {
                const double got = out.value[(n * c->heads + h) * c->size + i];
                CHECK(within(got, count ? want[i] : 0.0, count ? bound[i] : 0.0),
                      "%s: query %lld head %lld element %lld: %.9g, want %.9g +- %g", id, (long long)n, (long long)h, (long long)i, got,
                      want[i], bound[i]);
            }
        }
    }
done:
    free(table_values);
    free(first_values);
    free(count_values);
    operand *const all[] = {&q, &k, &v, &out, &table, &first, &counts, &bias};
    for (size_t i = 0; i < COUNT(all); i++)
        operand_destroy(all[i]);
}

static const cached_case cases[] = {
    {12, 1, 1030, 16, 1024, false, false, 0, false, false}, /* the first: tests/gpu/test_gpu.py counts its work-groups */
    {1, 1, 1, 16, 1, true, false, 0, false, false},
    {4, 5, 40, 64, 9, true, false, 0, false, false},
    {4, 5, 40, 64, 33, false, true, 0, false, false},
    {2, 3, 150, 32, 130, true, true, 0, false, false},
    {3, 2, 70, 48, 64, false, true, 0, false, false},
    {2, 33, 20, 16, 17, true, false, 0, false, false},
    {1, 4, 90, 128, 65, false, false, 0, false, false},
    {1, 1, 600, 32, 520, false, false, 0, false, false},
    {1, 2, 300, 20, 260, true, true, 0, false, false}, /* keys in parts, on GPUs */
    {4, 5, 40, 64, 33, true, true, 7, false, false},
    {2, 2, 300, 20, 260, true, false, 128, false, false},
    {3, 4, 60, 16, 21, false, true, 40, false, false},
    {4, 5, 40, 64, 33, true, true, 0, true, false},
    {1, 2, 300, 20, 260, true, true, 0, true, false},
    {.heads = 2, .rows = 90, .size = 32, .keys = 41, .has_table = true, .has_counts = true, .is_prompt = true},
    {2, 3, 40, 32, 9, true, false, 0, true, false},
    {.heads = 1, .rows = 90, .size = 48, .keys = 41, .has_table = true, .has_counts = true, .is_prompt = true, .reach = 9, .is_half = true},
};

static void test_cases(void **state)
{
    (void)state;
    for (const char *const *engine = engines_of(CLF_OP_CACHED_ATTENTION); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        for (size_t i = 0; i < COUNT(cases); i++)
            if (takes_case(i, i % 3 == 0)) {
                cached_case c = cases[i];
                if (c.is_prompt)
                    c.queries = 32 * (int64_t)context->device.caps.compute_units + 6;
                run_case(context, &c);
            }
        clf_context_destroy(context);
    }
    /* Head sizes that no vector divides: whichever engine can. */
    run_case(*state, &(cached_case){2, 3, 20, 5, 7, true, false, 3, true, false});
    run_case(*state, &(cached_case){2, 3, 20, 20, 7, false, true, 0, false, false});
}

static void test_refusals(void **state)
{
    clf_context *context = *state;
    clf_tensor *q, *k, *wrong, *half, *table, *out;
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){2, 3, 16}, &q));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){2, 9, 16}, &k));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){2, 9, 17}, &wrong));
    CHECK_OK(clf_tensor_create(context, CLF_F16, 3, (int64_t[]){2, 9, 16}, &half));
    CHECK_OK(clf_tensor_create(context, CLF_I32, 2, (int64_t[]){3, 4}, &table));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){3, 2, 16}, &out));
    const clf_view *tv = clfi_tensor_view(table), *kv = clfi_tensor_view(k);
    clf_cached_attention_args args = {
        .q = clfi_tensor_view(q), .k = kv, .v = kv, .rows = tv, .keys = 5, .out = clfi_tensor_view(out), .scale = 1};
    CHECK_FAILS(clfi_cached_attention(context, &args), CLF_INVALID_ARGUMENT, "E_SHAPE: cached attention rows"); /* 4 columns for 5 keys */
    args.keys = 4;
    args.k = clfi_tensor_view(wrong);
    CHECK_FAILS(clfi_cached_attention(context, &args), CLF_INVALID_ARGUMENT, "E_SHAPE: cached attention k");
    args.k = clfi_tensor_view(half);
    CHECK_FAILS(clfi_cached_attention(context, &args), CLF_INVALID_ARGUMENT, "E_DTYPE: cached attention v is float32, expected float16");
    args.k = tv;
    CHECK_FAILS(clfi_cached_attention(context, &args), CLF_INVALID_ARGUMENT, "E_DTYPE: cached attention k");
    args.k = kv;
    args.out = clfi_tensor_view(q);
    CHECK_FAILS(clfi_cached_attention(context, &args), CLF_INVALID_ARGUMENT, "E_SHAPE: cached attention out");
    args.out = clfi_tensor_view(out);
    args.bias = kv;
    CHECK_FAILS(clfi_cached_attention(context, &args), CLF_INVALID_ARGUMENT, "E_SHAPE: cached attention bias");
    args.bias = NULL;
    args.rows = NULL;
    CHECK_FAILS(clfi_cached_attention(context, &args), CLF_INVALID_ARGUMENT, "either rows or first");
    clf_tensor *const all[] = {q, k, wrong, half, table, out};
    for (size_t i = 0; i < COUNT(all); i++)
        clf_tensor_destroy(all[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests_name("op.cached_attention", tests, device_setup, device_teardown);
}
