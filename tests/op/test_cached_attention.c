/* SPDX-License-Identifier: MIT */
/* Attention of single queries to cached keys, on every engine: tables of any rows and of ranges, counts of 0 to more than a block, head
 * sizes, refusals. */
#include "support/check.h"
#include "support/device.h"
#include "support/engines.h"
#include "support/operand.h"
#include "workload/reference_attention.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/half.h"
#include "kernel/kv_cache.h"
#include "op/cached_attention.h"
#include "runtime/arena.h"

typedef struct cached_case {
    int64_t heads, queries, rows, size, keys;
    bool is_range;    /* a query's rows follow each other; else any rows */
    bool is_full;     /* every query has `keys` keys; else 0 to `keys` */
    int64_t reach;    /* of a bias by distance; 0: none */
    clf_dtype stored; /* of keys and values */
    bool is_prompt;   /* texts of `keys` queries, which see their text up to themselves; as many as make a CPU take tiles of queries */
    int32_t window;   /* of the last keys; 0: all */
    int64_t group;    /* heads that share keys; 0: none do */
} cached_case;

static const clf_view *view(const operand *o)
{
    return clfi_tensor_view(o->tensor);
}

/* Keys or values of rows that are chosen at random; `value` becomes what they stand for. */
static void fill_stored(operand *o, rng *r, int64_t size)
{
    const int64_t row = clfi_kv_row(CLF_U8, size);
    if (clf_tensor_dtype(o->tensor) != CLF_U8) {
        operand_fill_uniform(o, r, -2, 2);
        return;
    }
    unsigned char *bytes = malloc(o->count + 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < o->count; i++)
        bytes[i] = (unsigned char)rng_below(r, 256);
    for (size_t at = 0; at < o->count; at += (size_t)row)
        for (int64_t b = 0; b < size / CLFI_KV_BLOCK; b++) {
            const uint16_t scale = (uint16_t)(0x2000 + rng_below(r, 0x400)); /* 2^-7 to 2^-6 */
            memcpy(bytes + at + (size_t)(size + 2 * b), &scale, sizeof scale);
        }
    operand_fill_bytes(o, bytes);
    for (size_t i = 0; i < o->count / (size_t)row * (size_t)size; i++) {
        const unsigned char *from = bytes + i / (size_t)size * (size_t)row;
        const size_t c = i % (size_t)size;
        uint16_t scale;
        memcpy(&scale, from + (size_t)size + 2 * (c / CLFI_KV_BLOCK), sizeof scale);
        o->value[i] = (double)(signed char)from[c] * (double)clfi_f32_from_f16(scale);
    }
    free(bytes);
}

/* The queries from n on, few enough that each is alone in its item. */
static clf_view part(const clf_view *view, int axis, int64_t n, int64_t count)
{
    clf_view some = *view;
    some.offset += n * view->stride[axis];
    some.dim[axis] = count;
    return some;
}

/* A query's numbers are the same to the bit, whichever others share what it reads. */
static void check_alone(clf_context *context, const clf_cached_attention_args *args, operand *out, int64_t step, const char *id)
{
    double *together = malloc(out->count * sizeof *together);
    assert_non_null(together);
    memcpy(together, out->value, out->count * sizeof *together);
    for (int64_t n = 0; n < args->q->dim[1]; n += step) {
        const int64_t count = n + step < args->q->dim[1] ? step : args->q->dim[1] - n;
        const clf_view q = part(args->q, 1, n, count), rows = part(args->rows, 0, n, count), counts = part(args->counts, 0, n, count),
                       to = part(args->out, 0, n, count);
        clf_cached_attention_args some = *args;
        some.q = &q;
        some.rows = &rows;
        some.counts = &counts;
        some.out = &to;
        CHECK_OK(clfi_cached_attention(context, &some));
    }
    operand_read(out, id);
    for (size_t i = 0; i < out->count; i++)
        CHECK(together[i] == out->value[i], "%s: element %zu: %.9g, with the query alone %.9g", id, i, together[i], out->value[i]);
    free(together);
}

/* On devices that end long loops an engine may leave a case alone. */
static void run_case(clf_context *context, const cached_case *c, bool is_alone_alike)
{
    enum { MOST_KEYS = 1024, MOST_SIZE = 256 };
    static double keys[MOST_KEYS * (MOST_SIZE + 1)], values[MOST_KEYS * MOST_SIZE], want[MOST_SIZE], bound[MOST_SIZE];
    double query[MOST_SIZE + 1];
    /* The reference adds a bias as one more element of the keys, times 1 / scale of the query. */
    const int64_t key_size = c->size + (c->reach ? 1 : 0), group = c->group ? c->group : 1;
    char id[160];
    rng r = {(uint64_t)(c->heads * 7 + c->queries * 31 + c->keys)};
    snprintf(id, sizeof id, "cached_attention[%lld heads %lld queries %lld rows d=%lld %lld keys%s%s%s%s window %d group %lld]",
             (long long)c->heads, (long long)c->queries, (long long)c->rows, (long long)c->size, (long long)c->keys,
             c->is_range ? " range" : "", c->is_full ? " full" : "", c->stored ? clf_dtype_name(c->stored) : "",
             c->is_prompt ? " prompt" : "", (int)c->window, (long long)group);
    /* Heads and rows exchanged in memory: what a cache of rows and a projection look like. */
    operand q = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){c->heads, c->queries, c->size});
    const int64_t cache[] = {c->heads / group, c->rows, clfi_kv_row(c->stored, c->size)};
    operand k = operand_create(context, c->stored, LAYOUT_SWAPPED, 3, cache);
    operand v = operand_create(context, c->stored, LAYOUT_SWAPPED, 3, cache);
    operand out = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){c->queries, c->heads, c->size});
    operand table = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){c->queries, c->keys + 3});
    operand counts = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, 1, &c->queries);
    operand bias = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){c->heads, 2 * c->reach + 1});
    int32_t *table_values = calloc(table.count, sizeof *table_values), *count_values = calloc(counts.count, sizeof *count_values);
    assert_true(table_values && count_values);
    for (size_t i = 0; i < table.count; i++)
        table_values[i] = (int32_t)rng_below(&r, c->rows);
    for (int64_t n = 0; n < c->queries; n++) {
        const int32_t first = (int32_t)rng_below(&r, c->rows - c->keys + 1);
        for (int64_t j = 0; c->is_range && j < c->keys; j++)
            table_values[n * (c->keys + 3) + j] = first + (int32_t)j;
        count_values[n] = c->is_full ? (int32_t)c->keys : n == 0 ? 0 : (int32_t)rng_below(&r, c->keys + 1);
    }
    for (int64_t n = 0; c->is_prompt && n < c->queries; n++) {
        const int64_t begin = n / c->keys * c->keys;
        count_values[n] = (int32_t)(n - begin + 1);
        memcpy(table_values + n * (c->keys + 3), table_values + begin * (c->keys + 3), (size_t)c->keys * sizeof *table_values);
    }
    operand_fill_uniform(&q, &r, -2, 2);
    fill_stored(&k, &r, c->size);
    fill_stored(&v, &r, c->size);
    operand_fill_uniform(&bias, &r, -2, 2);
    operand_fill_ids(&table, table_values);
    operand_fill_ids(&counts, count_values);
    const float scale = 0.3f;
    const clf_cached_attention_args args = {.q = view(&q),
                                            .k = view(&k),
                                            .v = view(&v),
                                            .rows = view(&table),
                                            .counts = view(&counts),
                                            .keys = c->keys,
                                            .out = view(&out),
                                            .scale = scale,
                                            .window = c->window,
                                            .bias = c->reach ? view(&bias) : NULL};
    /* The earlier contents of the context's temporary memory stay as they are. */
    static float before[2048], after[COUNT(before)];
    const clf_arena_mark mark = clfi_arena_top(context);
    clf_view held;
    clf_tensor *held_tensor;
    CHECK_OK(clfi_view_temporary(context, CLF_F32, 1, (int64_t[]){COUNT(before)}, &held));
    CHECK_OK(clfi_tensor_from_view(&held, &held_tensor));
    for (size_t i = 0; i < COUNT(before); i++)
        before[i] = (float)i;
    CHECK_OK(clf_tensor_write_f32(held_tensor, before, COUNT(before)));
    const clf_status status = clfi_cached_attention(context, &args);
    const bool is_left_alone = status == CLF_UNSUPPORTED && context->device.caps.short_loops;
    if (!is_left_alone) {
        CHECK_OK(status);
        CHECK_OK(clf_tensor_read_f32(held_tensor, after, COUNT(after)));
        CHECK(memcmp(before, after, sizeof before) == 0, "%s: writes over temporary memory of others", id);
    }
    clf_tensor_destroy(held_tensor);
    clfi_arena_release(context, mark);
    if (is_left_alone)
        goto done;
    operand_read(&out, id);
    for (int64_t n = 0; n < c->queries; n++) {
        const int64_t count = count_values[n];
        const int64_t begin = c->window && c->window < count ? count - c->window : 0;
        for (int64_t h = 0; h < c->heads; h++) {
            for (int64_t j = begin; j < count; j++) {
                const int64_t row = table_values[n * (c->keys + 3) + j];
                const int64_t distance = j - (count - 1) < -c->reach ? -c->reach : j - (count - 1);
                if (c->reach)
                    keys[(j - begin) * key_size + c->size] = bias.value[h * (2 * c->reach + 1) + c->reach + distance];
                memcpy(keys + (j - begin) * key_size, k.value + (h / group * c->rows + row) * c->size, (size_t)c->size * sizeof *keys);
                memcpy(values + (j - begin) * c->size, v.value + (h / group * c->rows + row) * c->size, (size_t)c->size * sizeof *values);
            }
            memcpy(query, q.value + (h * c->queries + n) * c->size, (size_t)c->size * sizeof *query);
            if (c->reach)
                query[c->size] = 1 / (double)scale;
            const clfi_ref_attention row = {.q = query,
                                            .k = keys,
                                            .v = values,
                                            .keys = (size_t)(count - begin),
                                            .d = (size_t)key_size,
                                            .dv = (size_t)c->size,
                                            .scale = (double)scale,
                                            .empty_rows = CLF_EMPTY_ROWS_ZERO};
            CHECK_OK(clfi_ref_attention_row(&row, want, bound));
            for (int64_t i = 0; i < c->size; i++) {
                const double got = out.value[(n * c->heads + h) * c->size + i];
                CHECK(within(got, count ? want[i] : 0.0, count ? bound[i] : 0.0),
                      "%s: query %lld head %lld element %lld: %.9g, want %.9g +- %g", id, (long long)n, (long long)h, (long long)i, got,
                      want[i], bound[i]);
            }
        }
    }
    if (c->is_prompt && is_alone_alike)
        check_alone(context, &args, &out, 16, id);
done:
    free(table_values);
    free(count_values);
    operand *const all[] = {&q, &k, &v, &out, &table, &counts, &bias};
    for (size_t i = 0; i < COUNT(all); i++)
        operand_destroy(all[i]);
}

static const cached_case cases[] = {
    /* The first: tests/gpu/test_gpu.py counts its work-groups. */
    {.heads = 12, .queries = 1, .rows = 1030, .size = 16, .keys = 1024, .is_range = true, .is_full = true},
    {.heads = 1, .queries = 1, .rows = 1, .size = 16, .keys = 1, .is_full = true},
    {.heads = 4, .queries = 5, .rows = 40, .size = 64, .keys = 9, .is_full = true},
    {.heads = 4, .queries = 5, .rows = 40, .size = 64, .keys = 33, .is_range = true},
    {.heads = 2, .queries = 3, .rows = 150, .size = 32, .keys = 130},
    {.heads = 3, .queries = 2, .rows = 70, .size = 48, .keys = 64, .is_range = true},
    {.heads = 2, .queries = 33, .rows = 20, .size = 16, .keys = 17, .is_full = true},
    {.heads = 1, .queries = 4, .rows = 90, .size = 128, .keys = 65, .is_range = true, .is_full = true},
    {.heads = 1, .queries = 1, .rows = 600, .size = 32, .keys = 520, .is_range = true, .is_full = true},
    {.heads = 1, .queries = 2, .rows = 300, .size = 20, .keys = 260}, /* keys in parts, on GPUs */
    {.heads = 4, .queries = 5, .rows = 40, .size = 64, .keys = 33, .reach = 7},
    {.heads = 2, .queries = 2, .rows = 300, .size = 20, .keys = 260, .is_full = true, .reach = 128},
    {.heads = 3, .queries = 4, .rows = 60, .size = 16, .keys = 21, .is_range = true, .reach = 40},
    {.heads = 4, .queries = 5, .rows = 40, .size = 64, .keys = 33, .stored = CLF_F16},
    {.heads = 1, .queries = 2, .rows = 300, .size = 20, .keys = 260, .stored = CLF_F16},
    {.heads = 2, .rows = 90, .size = 32, .keys = 41, .is_prompt = true},
    {.heads = 2, .queries = 3, .rows = 40, .size = 32, .keys = 9, .is_full = true, .stored = CLF_F16},
    {.heads = 1, .rows = 90, .size = 48, .keys = 41, .is_prompt = true, .reach = 9, .stored = CLF_F16},
    /* Windows of less and more keys than an item has queries and than a block has keys, of whole blocks, and of all keys and more. */
    {.heads = 2, .rows = 90, .size = 32, .keys = 41, .is_prompt = true, .window = 5},
    {.heads = 2, .rows = 90, .size = 32, .keys = 64, .is_prompt = true, .window = 1},
    {.heads = 1, .rows = 90, .size = 32, .keys = 70, .is_prompt = true, .window = 16},
    {.heads = 2, .rows = 90, .size = 32, .keys = 70, .is_prompt = true, .window = 39},
    {.heads = 1, .rows = 90, .size = 32, .keys = 70, .is_prompt = true, .window = 32, .stored = CLF_F16},
    {.heads = 1, .rows = 90, .size = 32, .keys = 41, .is_prompt = true, .window = 33, .reach = 9},
    {.heads = 1, .rows = 90, .size = 32, .keys = 41, .is_prompt = true, .window = 41},
    {.heads = 1, .rows = 90, .size = 32, .keys = 41, .is_prompt = true, .window = 90},
    {.heads = 1, .queries = 4, .rows = 300, .size = 32, .keys = 260, .window = 200},
    {.heads = 2, .queries = 3, .rows = 150, .size = 32, .keys = 130, .window = 70},
    /* Heads that share keys: few queries, whose keys lie in parts, of one block and of many; more queries than that; prompts. */
    {.heads = 9, .queries = 2, .rows = 700, .size = 64, .keys = 601, .group = 3},
    {.heads = 9, .queries = 1, .rows = 700, .size = 64, .keys = 601, .is_full = true, .group = 3, .stored = CLF_F16},
    {.heads = 6, .queries = 1, .rows = 300, .size = 32, .keys = 257, .is_range = true, .is_full = true, .group = 6},
    {.heads = 4, .queries = 3, .rows = 300, .size = 32, .keys = 260, .group = 2, .window = 133},
    {.heads = 12, .queries = 2, .rows = 40, .size = 16, .keys = 33, .is_full = true, .group = 12, .reach = 9},
    {.heads = 4, .queries = 8, .rows = 300, .size = 48, .keys = 200, .is_range = true, .group = 4, .reach = 70, .window = 3},
    {.heads = 6, .queries = 13, .rows = 60, .size = 32, .keys = 41, .group = 3},
    {.heads = 4, .rows = 90, .size = 32, .keys = 41, .is_prompt = true, .group = 2},
    /* Queries in lanes, of one vector and of two, and among them queries with rows of their own, whose heads share keys. */
    {.heads = 6, .rows = 90, .size = 128, .keys = 70, .is_prompt = true, .group = 3},
    {.heads = 2, .rows = 90, .size = 96, .keys = 41, .is_prompt = true, .window = 20, .stored = CLF_F16},
    {.heads = 6, .queries = 90, .rows = 60, .size = 64, .keys = 41, .group = 3},
    {.heads = 2, .queries = 90, .rows = 60, .size = 256, .keys = 41, .is_range = true},
    /* Blocks: one of a head and several, rows at multiples of two and of four bytes, few and many queries. */
    {.heads = 2, .queries = 3, .rows = 40, .size = 32, .keys = 9, .is_full = true, .stored = CLF_U8},
    {.heads = 9, .queries = 1, .rows = 700, .size = 64, .keys = 601, .is_full = true, .group = 3, .stored = CLF_U8},
    {.heads = 4, .queries = 2, .rows = 300, .size = 128, .keys = 260, .group = 4, .stored = CLF_U8, .reach = 7},
    {.heads = 2, .rows = 90, .size = 96, .keys = 41, .is_prompt = true, .stored = CLF_U8, .window = 33},
    {.heads = 4, .queries = 13, .rows = 60, .size = 64, .keys = 41, .group = 2, .stored = CLF_U8},
};

static void test_cases(void **state)
{
    (void)state;
    for (const char *const *engine = engines_of(CLF_OP_CACHED_ATTENTION); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        const bool has_tiles = strcmp(*engine, "cached_attention=vector") == 0;
        for (size_t i = 0; i < COUNT(cases); i++)
            if (takes_case(i, i % 3 == 0)) {
                cached_case c = cases[i];
                if (c.is_prompt)
                    c.queries = has_tiles ? 32 * (int64_t)context->device.caps.compute_units + 6 : 6;
                run_case(context, &c, has_tiles);
            }
        clf_context_destroy(context);
    }
    /* Head sizes that no vector divides: whichever engine can. */
    run_case(*state, &(cached_case){2, 3, 20, 5, 7, true, false, 3, CLF_F16, false, 0, 0}, false);
    run_case(*state, &(cached_case){2, 3, 20, 20, 7, false, true, 0, CLF_F32, false, 0, 0}, false);
}

static uint64_t programs(const clf_context *context)
{
    clf_context_stats stats;
    clf_context_get_stats(context, &stats);
    return stats.programs_built + stats.programs_from_cache;
}

/* Queries of a prompt are computed in lanes, with a window and without: another kernel runs than where a query is alone, except where
 * compilers are slow. */
static void test_tiles(void **state)
{
    (void)state;
    for (const char *const *engine = engines_of(CLF_OP_CACHED_ATTENTION); *engine; engine++)
        for (int32_t window = 0; window < 40 && strcmp(*engine, "cached_attention=vector") == 0; window += 18) {
            clf_context *context = engine_context(*engine);
            cached_case c = {.heads = 1, .rows = 40, .size = 16, .keys = 20, .is_prompt = true, .window = window};
            c.queries = 64 * (int64_t)context->device.caps.compute_units;
            run_case(context, &c, true);
            const uint64_t want = context->device.caps.slow_compiler ? 1 : 2;
            CHECK(programs(context) == want, "window %d: %llu programs", (int)window, (unsigned long long)programs(context));
            clf_context_destroy(context);
        }
}

/* Makes the last of each head's rows infinite and NaN. */
static void spoil_last_row(operand *o, size_t rows, size_t size)
{
    float *values = malloc(o->count * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < o->count; i++)
        values[i] = i / size % rows < rows - 1 ? (float)o->value[i] : i % 2 ? NAN : INFINITY;
    operand_fill(o, values);
    free(values);
}

/* A prompt whose last key and value are not numbers: only the query that sees them is not a number. */
static void test_unseen(void **state)
{
    enum { HEADS = 2, QUERIES = 70, SIZE = 64, SOUND = (QUERIES - 1) * HEADS * SIZE };
    (void)state;
    for (const char *const *engine = engines_of(CLF_OP_CACHED_ATTENTION); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        rng r = {11};
        operand q = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){HEADS, QUERIES, SIZE});
        operand k = operand_create(context, CLF_F32, LAYOUT_SWAPPED, 3, (int64_t[]){HEADS, QUERIES, SIZE});
        operand v = operand_create(context, CLF_F32, LAYOUT_SWAPPED, 3, (int64_t[]){HEADS, QUERIES, SIZE});
        operand out = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){QUERIES, HEADS, SIZE});
        operand table = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){QUERIES, QUERIES});
        operand counts = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, 1, (int64_t[]){QUERIES});
        int32_t rows[QUERIES * QUERIES], count[QUERIES];
        static double want[SOUND];
        for (int n = 0; n < QUERIES; n++) {
            count[n] = n + 1;
            for (int j = 0; j < QUERIES; j++)
                rows[n * QUERIES + j] = j;
        }
        operand_fill_uniform(&q, &r, -2, 2);
        operand_fill_uniform(&k, &r, -2, 2);
        operand_fill_uniform(&v, &r, -2, 2);
        operand_fill_ids(&table, rows);
        operand_fill_ids(&counts, count);
        const clf_cached_attention_args args = {.q = view(&q),
                                                .k = view(&k),
                                                .v = view(&v),
                                                .rows = view(&table),
                                                .counts = view(&counts),
                                                .keys = QUERIES,
                                                .out = view(&out),
                                                .scale = 0.3f};
        for (int is_spoiled = 0; is_spoiled < 2; is_spoiled++) {
            CHECK_OK(clfi_cached_attention(context, &args));
            operand_read(&out, "unseen keys");
            for (int i = 0; i < SOUND; i++)
                if (is_spoiled)
                    CHECK(out.value[i] == want[i], "%s: element %d: %.9g, %.9g beside numbers", *engine, i, out.value[i], want[i]);
                else
                    want[i] = out.value[i];
            for (size_t i = SOUND; i < out.count; i++)
                CHECK(isnan(out.value[i]) == (is_spoiled != 0), "%s: element %zu: %g", *engine, i, out.value[i]);
            spoil_last_row(&k, QUERIES, SIZE);
            spoil_last_row(&v, QUERIES, SIZE);
        }
        operand *const all[] = {&q, &k, &v, &out, &table, &counts};
        for (size_t i = 0; i < COUNT(all); i++)
            operand_destroy(all[i]);
        clf_context_destroy(context);
    }
}

static void test_refusals(void **state)
{
    clf_context *context = *state;
    clf_tensor *q, *k, *wrong, *half, *bytes, *table, *out;
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){2, 3, 16}, &q));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){2, 9, 16}, &k));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){2, 9, 17}, &wrong));
    CHECK_OK(clf_tensor_create(context, CLF_F16, 3, (int64_t[]){2, 9, 16}, &half));
    CHECK_OK(clf_tensor_create(context, CLF_U8, 3, (int64_t[]){2, 9, 17}, &bytes));
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
    args.k = clfi_tensor_view(bytes); /* a head of 16 is no whole block */
    CHECK_FAILS(clfi_cached_attention(context, &args), CLF_INVALID_ARGUMENT, "16 elements of a head, expected a multiple of 32");
    args.k = tv;
    CHECK_FAILS(clfi_cached_attention(context, &args), CLF_INVALID_ARGUMENT, "E_DTYPE: cached attention k");
    args.k = kv;
    args.out = clfi_tensor_view(q);
    CHECK_FAILS(clfi_cached_attention(context, &args), CLF_INVALID_ARGUMENT, "E_SHAPE: cached attention out");
    args.out = clfi_tensor_view(out);
    args.bias = kv;
    CHECK_FAILS(clfi_cached_attention(context, &args), CLF_INVALID_ARGUMENT, "E_SHAPE: cached attention bias");
    args.bias = NULL;
    args.counts = tv;
    CHECK_FAILS(clfi_cached_attention(context, &args), CLF_INVALID_ARGUMENT, "E_SHAPE: cached attention counts");
    clf_tensor *const all[] = {q, k, wrong, half, bytes, table, out};
    for (size_t i = 0; i < COUNT(all); i++)
        clf_tensor_destroy(all[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_tiles), cmocka_unit_test(test_unseen),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests_name("op.cached_attention", tests, device_setup, device_teardown);
}
