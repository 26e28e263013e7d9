/* SPDX-License-Identifier: MIT */
/* Self-test: keys and values are stored in a cache, in each of its types, and single queries attend to them. The cases reach each way in
 * which engines divide the work: queries one by one, many queries together, and keys in parts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/half.h"
#include "kernel/kv_cache.h"
#include "nn/kv_cache.h"
#include "op/cached_attention.h"
#include "workload/reference_attention.h"
#include "workload/selftest.h"

enum { MOST_SIZE = 256 };

static const double u = 0x1p-24;

typedef struct cached_case {
    int heads, key_heads, size, queries, keys; /* size: of a head, at most MOST_SIZE */
    clf_dtype dtype;                           /* of the cache; u8: q8_0 */
    int32_t window;                            /* 0: none */
    float soft_cap;                            /* 0: none */
    int reach;                                 /* largest distance that the bias distinguishes; 0: no bias */
} cached_case;

/* The operands and their places. */
enum { Q, K, V, BIAS, OUT };

static size_t cache_rows(const cached_case *one)
{
    return (size_t)one->keys + 20;
}

/* The cache row of a key. Rows are permuted, so that an engine has to read the table. */
static int32_t row_of(const cached_case *one, int query, int key)
{
    return (int32_t)((((size_t)query * (size_t)one->keys + (size_t)key) * 37) % cache_rows(one));
}

/* Keys of a query: all of them, one, none and about half, in turn. */
static int32_t count_of(const cached_case *one, int query)
{
    const int32_t counts[] = {one->keys, 1, 0, one->keys / 2 - 2};
    return counts[query % 4];
}

/* cap(q.k + bias) - q.k, which the reference adds to the score as a bias. */
static double correction(const cached_case *one, const clfi_selftest_operands *data, int head, int distance, const double *q,
                         const double *k)
{
    double score = 0, changed;
    for (int c = 0; c < one->size; c++)
        score += q[c] * k[c];
    changed = score;
    if (one->reach > 0)
        changed += (double)data->operand[BIAS].host[head * (2 * one->reach + 1) + (distance > one->reach ? 0 : one->reach - distance)];
    if (one->soft_cap > 0)
        changed = (double)one->soft_cap * tanh(changed / (double)one->soft_cap);
    return changed - score;
}

/* Number c of a row of the cache. */
static double stored(const cached_case *one, const unsigned char *row, size_t c)
{
    uint16_t bits;
    float number;
    if (one->dtype == CLF_F32) {
        memcpy(&number, row + c * sizeof number, sizeof number);
        return (double)number;
    }
    const size_t half = one->dtype == CLF_F16 ? c * sizeof bits : (size_t)one->size + c / CLFI_KV_BLOCK * sizeof bits;
    memcpy(&bits, row + half, sizeof bits);
    return (double)clfi_f32_from_f16(bits) * (one->dtype == CLF_F16 ? 1 : (double)(signed char)row[c]);
}

/* Bound of the rounding of a number of magnitude 1 at most. */
static double rounding(clf_dtype dtype)
{
    return dtype == CLF_F32 ? 0 : dtype == CLF_F16 ? 0x1p-12 : (1 + 0x1p-9) / 254 + 0x1p-24;
}

/* Replaces the keys' and values' numbers on the host by those in the cache. */
static void take_stored(clfi_selftest *test, const cached_case *one, const unsigned char *memory, clfi_selftest_operands *data)
{
    const size_t row = (size_t)clfi_kv_row(one->dtype, one->size) * clf_dtype_bytes(one->dtype);
    for (int part = 0; part < 2; part++) {
        float *numbers = data->operand[K + part].host;
        for (size_t at = 0; at < data->operand[K + part].count; at++) {
            const size_t n = at / (size_t)one->size;
            const double found = stored(one, memory + (2 * n + (size_t)part) * row, at % (size_t)one->size);
            clfi_verdict_add(&test->verdict, found, (double)numbers[at], rounding(one->dtype));
            numbers[at] = (float)found;
        }
    }
}

/* Stores the keys and values, row n in row n of the cache. */
static clf_status fill_cache(clfi_selftest *test, const cached_case *one, clfi_selftest_operands *data, clf_kv_cache *cache)
{
    const clf_stack stack = {.config.attention = {.key_heads = one->key_heads, .head_size = one->size}, .layer_count = 1};
    const int64_t count = (int64_t)cache_rows(one);
    clf_tensor *places = NULL;
    int32_t *numbers = NULL;
    unsigned char *memory = NULL;
    clf_status st;
    CLF_GOTO(clfi_alloc((size_t)count, sizeof *numbers, "selftest", &numbers));
    for (int64_t n = 0; n < count; n++)
        numbers[n] = (int32_t)n;
    CLF_GOTO(clf_tensor_create_from(test->context, CLF_I32, 1, &count, numbers, &places));
    CLF_GOTO(clfi_kv_cache_init(test->context, &stack, one->dtype, count, cache));
    CLF_GOTO(clfi_kv_cache_add(cache, count));
    CLF_GOTO(clfi_kv_cache_store(cache, 0, clfi_selftest_view(data, K), clfi_selftest_view(data, V), clfi_tensor_view(places)));
    clf_buffer *const buffer = cache->layers[0].buffer;
    CLF_GOTO(clfi_alloc(buffer->size_bytes, 1, "selftest", &memory));
    CLF_GOTO(clfi_buffer_read(buffer, 0, memory, buffer->size_bytes));
    take_stored(test, one, memory, data);
done:
    clf_tensor_destroy(places);
    free(numbers);
    free(memory);
    return st;
}

/* One query and head; scratch: (2 size + 1) values for each key. */
static clf_status check_query(clfi_selftest *test, const cached_case *one, const clfi_selftest_operands *data, int query, int head,
                              double *scratch)
{
    const int count = count_of(one, query), first = one->window > 0 && count > one->window ? count - one->window : 0;
    const size_t used = (size_t)(count - first), cache = (size_t)(head / (one->heads / one->key_heads)) * cache_rows(one);
    const size_t size = (size_t)one->size;
    double q[MOST_SIZE], want[MOST_SIZE], bound[MOST_SIZE], *k = scratch, *v = k + used * size, *bias = v + used * size;
    for (size_t c = 0; c < size; c++)
        q[c] = (double)data->operand[Q].host[(size_t)(head * one->queries + query) * size + c];
    for (size_t j = 0; j < used; j++) {
        const size_t row = (cache + (size_t)row_of(one, query, first + (int)j)) * size;
        for (size_t c = 0; c < size; c++) {
            k[j * size + c] = (double)data->operand[K].host[row + c];
            v[j * size + c] = (double)data->operand[V].host[row + c];
        }
        bias[j] = correction(one, data, head, (int)(used - 1 - j), q, k + j * size);
    }
    const clfi_ref_attention row = {.q = q,
                                    .k = k,
                                    .v = v,
                                    .keys = used,
                                    .d = size,
                                    .dv = size,
                                    .scale = 1,
                                    .bias = bias,
                                    .empty_rows = CLF_EMPTY_ROWS_ZERO,
                                    .precision = test->context->precision};
    CLF_TRY(clfi_ref_attention_row(&row, want, bound));
    const float *got = data->operand[OUT].host + (size_t)(query * one->heads + head) * size;
    for (size_t c = 0; c < size; c++)
        clfi_verdict_add(&test->verdict, (double)got[c], want[c], used ? bound[c] + u * (fabs(want[c]) + bound[c]) : 0);
    return CLF_OK;
}

/* rows [queries,keys] and counts [queries]. */
static clf_status make_tables(clf_context *context, const cached_case *one, clf_tensor **rows, clf_tensor **counts)
{
    const int64_t dim[] = {one->queries, one->keys};
    int32_t *values;
    CLF_TRY(clfi_alloc((size_t)(dim[0] * dim[1]), sizeof *values, "selftest", &values));
    for (int n = 0; n < one->queries; n++)
        for (int j = 0; j < one->keys; j++)
            values[n * one->keys + j] = row_of(one, n, j);
    clf_status st = clf_tensor_create_from(context, CLF_I32, 2, dim, values, rows);
    for (int n = 0; n < one->queries; n++)
        values[n] = count_of(one, n);
    if (st == CLF_OK)
        st = clf_tensor_create_from(context, CLF_I32, 1, dim, values, counts);
    free(values);
    return st;
}

static clf_status check_case(clfi_selftest *test, const cached_case *one)
{
    clf_context *context = test->context;
    const int64_t cache[] = {one->key_heads, (int64_t)cache_rows(one), one->size};
    clfi_selftest_operands data = {.count = 0};
    clf_kv_cache filled = {0};
    clf_tensor *rows = NULL, *counts = NULL;
    double *scratch = NULL;
    clf_status st;
    CLF_GOTO(clfi_selftest_add(test, &data, 3, (int64_t[]){one->heads, one->queries, one->size}, -1, 1));
    for (int i = K; i <= V; i++)
        CLF_GOTO(clfi_selftest_add(test, &data, 3, cache, -1, 1));
    CLF_GOTO(clfi_selftest_add(test, &data, 2, (int64_t[]){one->heads, 2 * one->reach + 1}, -1, 1));
    CLF_GOTO(clfi_selftest_add_result(test, &data, 3, (int64_t[]){one->queries, one->heads, one->size}));
    CLF_GOTO(make_tables(context, one, &rows, &counts));
    CLF_GOTO(fill_cache(test, one, &data, &filled));
    const clf_view k = clfi_kv_cache_view(&filled, 0, 0), v = clfi_kv_cache_view(&filled, 0, 1);
    const clf_cached_attention_args args = {.q = clfi_selftest_view(&data, Q),
                                            .k = &k,
                                            .v = &v,
                                            .rows = clfi_tensor_view(rows),
                                            .counts = clfi_tensor_view(counts),
                                            .keys = one->keys,
                                            .out = clfi_selftest_view(&data, OUT),
                                            .scale = 1,
                                            .window = one->window,
                                            .soft_cap = one->soft_cap,
                                            .bias = one->reach > 0 ? clfi_selftest_view(&data, BIAS) : NULL};
    CLF_GOTO(clfi_cached_attention(context, &args));
    CLF_GOTO(clfi_operand_read(&data.operand[OUT]));
    CLF_GOTO(clfi_alloc((size_t)one->keys * (2 * (size_t)one->size + 1), sizeof *scratch, "selftest", &scratch));
    for (int n = 0; n < one->queries; n++)
        for (int h = 0; h < one->heads; h++)
            CLF_GOTO(check_query(test, one, &data, n, h, scratch));
done:
    clfi_context_drain(context);
    clf_tensor_destroy(rows);
    clf_tensor_destroy(counts);
    clfi_kv_cache_clear(&filled);
    clfi_selftest_free(&data);
    free(scratch);
    return st;
}

clf_status clfi_selftest_cached_attention(clfi_selftest *test)
{
    const int many = 32 * (int)test->context->device.caps.compute_units + 3; /* enough that a work-item of a CPU takes several queries */
    const cached_case cases[] = {
        {.heads = 3, .key_heads = 3, .size = 32, .queries = 4, .keys = 70, .dtype = CLF_F32},
        {.heads = 3, .key_heads = 1, .size = 64, .queries = 4, .keys = 70, .dtype = CLF_F32},
        {.heads = 2, .key_heads = 1, .size = 128, .queries = 1, .keys = 300, .dtype = CLF_F32},
        {.heads = 2, .key_heads = 1, .size = 128, .queries = 4, .keys = 70, .dtype = CLF_F16},
        {.heads = 3, .key_heads = 1, .size = 32, .queries = 4, .keys = 70, .dtype = CLF_F16},
        {.heads = 3, .key_heads = 3, .size = 32, .queries = 4, .keys = 70, .dtype = CLF_F32, .window = 19, .soft_cap = 1.5f, .reach = 11},
        {.heads = 2,
         .key_heads = 1,
         .size = 32,
         .queries = 1,
         .keys = 300,
         .dtype = CLF_F32,
         .window = 280,
         .soft_cap = 1.5f,
         .reach = 200},
        {.heads = 2, .key_heads = 1, .size = 32, .queries = many, .keys = 25, .dtype = CLF_F32, .window = 9, .soft_cap = 1.5f, .reach = 5},
        {.heads = 8, .key_heads = 8, .size = 64, .queries = 4, .keys = 70, .dtype = CLF_F32, .reach = 33},    /* T5 */
        {.heads = 2, .key_heads = 2, .size = 96, .queries = 4, .keys = 300, .dtype = CLF_F32, .window = 260}, /* Phi-3 */
        {.heads = 8, .key_heads = 1, .size = 128, .queries = 2, .keys = 300, .dtype = CLF_F32},               /* Llama, Mistral, Qwen */
        {.heads = 4, .key_heads = 2, .size = 64, .queries = 1, .keys = 300, .dtype = CLF_U8},                 /* --cache q8_0 */
        {.heads = 4, .key_heads = 1, .size = 128, .queries = 4, .keys = 70, .dtype = CLF_U8},
        {.heads = 2, .key_heads = 1, .size = 256, .queries = 1, .keys = 300, .dtype = CLF_F32},                /* Gemma */
        {.heads = 2, .key_heads = 1, .size = 256, .queries = 4, .keys = 70, .dtype = CLF_F16, .window = 40},   /* Gemma 3 */
        {.heads = 2, .key_heads = 1, .size = 256, .queries = 4, .keys = 300, .dtype = CLF_F32, .soft_cap = 5}, /* Gemma 2 */
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        CLF_TRY(check_case(test, &cases[i]));
    return CLF_OK;
}
