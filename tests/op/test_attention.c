/* SPDX-License-Identifier: MIT */
/* Fused attention: every engine at the precision that it keeps, ragged batches, layouts, storage types, masks and policies against double;
 * masked rubbish, refusals. */
#include <stdio.h>
#include <stdlib.h>

#include "op/attention.h"
#include "support/check.h"
#include "support/device.h"
#include "support/engines.h"
#include "support/operand.h"
#include "workload/reference_attention.h"
#include "workload/reference_gemm.h"

enum { MAX_SEQUENCES = 8 };

typedef struct attention_case {
    int sequences;
    int32_t queries[MAX_SEQUENCES], keys[MAX_SEQUENCES];
    int32_t diagonal;
    int heads, key_heads, d, dv;
    clf_dtype dtype, out_dtype;
    layout layout;
    bool is_causal, has_key_mask, has_lengths;
    clf_empty_rows empty_rows;
} attention_case;

static void name_case(const char *engine, const attention_case *c, char *id, size_t size)
{
    static const char *const policies[] = {"zero", "nan", "uniform"};
    int at = snprintf(id, size, "%s [%s H=%d/%d d=%d/%d layout=%s%s%s%s empty=%s", engine, clf_dtype_name(c->dtype), c->heads, c->key_heads,
                      c->d, c->dv, layout_name(c->layout), c->is_causal ? " causal" : "", c->has_key_mask ? " key mask" : "",
                      c->has_lengths ? " lengths" : "", policies[c->empty_rows]);
    for (int s = 0; s < c->sequences; s++)
        at += snprintf(id + at, size - (size_t)at, " %dx%d", c->queries[s], c->keys[s]);
    snprintf(id + at, size - (size_t)at, "]");
}

/* Operands of a case; `mask` and `lengths` in host form too. */
typedef struct attention_data {
    operand q, k, v, out, mask, lengths;
    int32_t q_begin[MAX_SEQUENCES + 1], k_begin[MAX_SEQUENCES + 1];
    clf_attention_batch *batch;
} attention_data;

static attention_data make_data(clf_context *context, const attention_case *c)
{
    attention_data a = {0};
    clf_attention_span spans[MAX_SEQUENCES];
    rng r = {(uint64_t)(c->d * 131 + c->queries[0] * 17 + c->heads)};
    for (int s = 0; s < c->sequences; s++) {
        spans[s] = (clf_attention_span){a.q_begin[s], c->queries[s], a.k_begin[s], c->keys[s], c->diagonal};
        a.q_begin[s + 1] = a.q_begin[s] + c->queries[s];
        a.k_begin[s + 1] = a.k_begin[s] + c->keys[s];
    }
    const int64_t tq = a.q_begin[c->sequences], tk = a.k_begin[c->sequences];
    a.q = operand_create(context, c->dtype, c->layout, 3, (int64_t[]){c->heads, tq, c->d});
    a.k = operand_create(context, c->dtype, c->layout, 3, (int64_t[]){c->key_heads, tk, c->d});
    a.v = operand_create(context, c->dtype, c->layout, 3, (int64_t[]){c->key_heads, tk, c->dv});
    a.out = operand_create(context, c->out_dtype, c->layout, 3, (int64_t[]){tq, c->heads, c->dv});
    operand_fill_uniform(&a.q, &r, -3, 3);
    operand_fill_uniform(&a.k, &r, -1, 1);
    operand_fill_uniform(&a.v, &r, -2, 2);
    if (c->has_key_mask) {
        a.mask = operand_create(context, CLF_U8, LAYOUT_CONTIGUOUS, 1, &tk);
        unsigned char *keep = calloc((size_t)tk + 1, 1);
        assert_non_null(keep);
        for (int64_t j = 0; j < tk; j++)
            /* first sequence all masked */
            keep[j] = j < a.k_begin[1] && c->empty_rows != CLF_EMPTY_ROWS_ZERO ? 0 : rng_bits(&r) % 3 ? 7 : 0;
        operand_fill_bytes(&a.mask, keep);
        free(keep);
    }
    if (c->has_lengths) {
        const int64_t n = c->sequences;
        int32_t length[MAX_SEQUENCES];
        a.lengths = operand_create(context, CLF_I32, LAYOUT_SLICED, 1, &n);
        for (int s = 0; s < c->sequences; s++)
            length[s] = s % 4 == 0 ? c->keys[s] / 2 : s % 4 == 1 ? c->keys[s] + 5 : s % 4 == 2 ? 0 : -3;
        operand_fill_ids(&a.lengths, length);
    }
    CHECK_OK(clfi_attention_batch_create(context, &a.batch));
    CHECK_OK(clfi_attention_batch_set_spans(a.batch, c->sequences, spans));
    return a;
}

static void free_data(attention_data *a)
{
    clfi_attention_batch_destroy(a->batch);
    operand_destroy(&a->lengths);
    operand_destroy(&a->mask);
    operand_destroy(&a->out);
    operand_destroy(&a->v);
    operand_destroy(&a->k);
    operand_destroy(&a->q);
}

static clf_attention_args arguments(const attention_case *c, const attention_data *a)
{
    return (clf_attention_args){
        .batch = a->batch,
        .q = clfi_tensor_view(a->q.tensor),
        .k = clfi_tensor_view(a->k.tensor),
        .v = clfi_tensor_view(a->v.tensor),
        .out = clfi_tensor_view(a->out.tensor),
        .key_mask = a->mask.tensor ? clfi_tensor_view(a->mask.tensor) : NULL,
        .lengths = a->lengths.tensor ? clfi_tensor_view(a->lengths.tensor) : NULL,
        .scale = 1.0f / sqrtf((float)c->d),
        .is_causal = c->is_causal,
        .empty_rows = c->empty_rows,
    };
}

/* Which keys of sequence s its query i may use. */
static void fill_keep(const attention_case *c, const attention_data *a, int s, int i, bool *keep)
{
    for (int j = 0; j < c->keys[s]; j++) {
        keep[j] = !c->is_causal || j <= i + c->diagonal;
        if (c->has_key_mask)
            keep[j] = keep[j] && a->mask.value[a->k_begin[s] + j] != 0;
        if (c->has_lengths)
            keep[j] = keep[j] && j < (int)a->lengths.value[s];
    }
}

static void compare(const char *id, const attention_case *c, const attention_data *a, clf_precision precision)
{
    const size_t d = (size_t)c->d, dv = (size_t)c->dv;
    const float scale = 1.0f / sqrtf((float)c->d);
    for (int s = 0; s < c->sequences; s++) {
        const size_t keys = (size_t)c->keys[s];
        bool *keep = calloc(keys + 1, sizeof *keep);
        double *want = calloc(2 * dv, sizeof *want), *bound = want + dv;
        assert_true(keep && want);
        for (int i = 0; i < c->queries[s]; i++) {
            fill_keep(c, a, s, i, keep);
            for (int h = 0; h < c->heads; h++) {
                const size_t group = (size_t)(h / (c->heads / c->key_heads));
                const size_t row = (size_t)(a->q_begin[s] + i), key = group * (size_t)a->k_begin[c->sequences] + (size_t)a->k_begin[s];
                const double *q = a->q.value + ((size_t)h * (size_t)a->q_begin[c->sequences] + row) * d;
                const clfi_ref_attention one = {.q = q,
                                                .k = a->k.value + key * d,
                                                .v = a->v.value + key * dv,
                                                .keys = keys,
                                                .d = d,
                                                .dv = dv,
                                                .scale = (double)scale,
                                                .keep = keep,
                                                .empty_rows = c->empty_rows,
                                                .precision = precision};
                CHECK_OK(clfi_ref_attention_row(&one, want, bound));
                for (size_t e = 0; e < dv; e++) {
                    const double got = a->out.value[(row * (size_t)c->heads + (size_t)h) * dv + e];
                    const double limit = bound[e] + operand_rounding(c->out_dtype, fabs(want[e]) + bound[e]);
                    CHECK(within(got, want[e], limit), "%s: sequence %d query %d head %d column %zu: %.9g, want %.9g, bound %.3g", id, s, i,
                          h, e, got, want[e], limit);
                }
            }
        }
        free(want);
        free(keep);
    }
}

/* False when the forced engine does not do the case. */
static bool run_case(clf_context *context, const char *engine, const attention_case *c)
{
    char id[320];
    name_case(engine, c, id, sizeof id);
    attention_data a = make_data(context, c);
    const clf_attention_args args = arguments(c, &a);
    const clf_status st = clfi_attention(context, &args);
    if (st != CLF_OK && st != CLF_UNSUPPORTED)
        fail_msg("%s: %s", id, clf_last_error());
    if (st == CLF_OK) {
        operand_read(&a.out, id);
        compare(id, c, &a, context->precision);
    }
    free_data(&a);
    return st == CLF_OK;
}

#define BASE .heads = 2, .key_heads = 2, .d = 32, .dv = 32, .dtype = CLF_F32, .out_dtype = CLF_F32
static const attention_case small_cases[] = {
    {.sequences = 3, .queries = {5, 1, 19}, .keys = {5, 1, 19}, BASE},
    {.sequences = 2, .queries = {17, 3}, .keys = {17, 3}, BASE, .is_causal = true},
    {.sequences = 2, .queries = {4, 3}, .keys = {9, 2}, BASE, .has_key_mask = true, .empty_rows = CLF_EMPTY_ROWS_UNIFORM},
    {.sequences = 4, .queries = {2, 2, 2, 2}, .keys = {9, 4, 5, 3}, BASE, .has_lengths = true, .empty_rows = CLF_EMPTY_ROWS_NAN},
    {.sequences = 1,
     .queries = {3},
     .keys = {11},
     .heads = 2,
     .key_heads = 1,
     .d = 20,
     .dv = 12,
     .is_causal = true,
     .layout = LAYOUT_SLICED},
    {.sequences = 2,
     .queries = {4, 2},
     .keys = {18, 3},
     .heads = 1,
     .key_heads = 1,
     .d = 40,
     .dv = 16,
     .has_key_mask = true,
     .empty_rows = CLF_EMPTY_ROWS_UNIFORM},
    {.sequences = 1, .queries = {2}, .keys = {17}, .heads = 1, .key_heads = 1, .d = 80, .dv = 112, .is_causal = true},
    {.sequences = 1, .queries = {35}, .keys = {40}, .heads = 1, .key_heads = 1, .d = 32, .dv = 32, .is_causal = true},
};
static const attention_case cases[] = {
    {.sequences = 1, .queries = {128}, .keys = {128}, BASE},
    {.sequences = 3, .queries = {33, 8, 100}, .keys = {33, 8, 100}, BASE, .layout = LAYOUT_SWAPPED},
    {.sequences = 3, .queries = {7, 0, 65}, .keys = {70, 5, 129}, BASE, .layout = LAYOUT_SLICED},
    {.sequences = 2, .queries = {5, 40}, .keys = {0, 3}, BASE},
    {.sequences = 2, .queries = {5, 40}, .keys = {0, 3}, BASE, .empty_rows = CLF_EMPTY_ROWS_NAN},
    {.sequences = 2, .queries = {5, 40}, .keys = {0, 3}, BASE, .empty_rows = CLF_EMPTY_ROWS_UNIFORM},
    {.sequences = 3, .queries = {130, 16, 31}, .keys = {130, 16, 31}, BASE, .is_causal = true},
    {.sequences = 2, .queries = {40, 20}, .keys = {17, 90}, BASE, .is_causal = true},
    {.sequences = 2, .queries = {40, 20}, .keys = {60, 90}, BASE, .is_causal = true, .diagonal = 20},
    {.sequences = 2, .queries = {40, 20}, .keys = {60, 90}, BASE, .is_causal = true, .diagonal = -7, .empty_rows = CLF_EMPTY_ROWS_UNIFORM},
    {.sequences = 2, .queries = {40, 20}, .keys = {60, 90}, BASE, .is_causal = true, .diagonal = -7, .empty_rows = CLF_EMPTY_ROWS_NAN},
    {.sequences = 4, .queries = {1, 1, 1, 1}, .keys = {1, 9, 77, 200}, BASE, .layout = LAYOUT_SWAPPED},
    {.sequences = 2, .queries = {50, 12}, .keys = {50, 12}, BASE, .has_key_mask = true},
    {.sequences = 2, .queries = {50, 12}, .keys = {50, 12}, BASE, .has_key_mask = true, .is_causal = true},
    {.sequences = 2,
     .queries = {50, 12},
     .keys = {50, 12},
     BASE,
     .has_key_mask = true,
     .is_causal = true,
     .empty_rows = CLF_EMPTY_ROWS_UNIFORM},
    {.sequences = 4, .queries = {36, 20, 9, 4}, .keys = {80, 20, 33, 8}, BASE, .has_lengths = true},
    {.sequences = 4,
     .queries = {36, 20, 9, 4},
     .keys = {80, 20, 33, 8},
     BASE,
     .has_lengths = true,
     .is_causal = true,
     .has_key_mask = true,
     .empty_rows = CLF_EMPTY_ROWS_NAN},
    {.sequences = 2, .queries = {45, 60}, .keys = {45, 60}, .heads = 3, .key_heads = 1, .d = 64, .dv = 64, .is_causal = true},
    {.sequences = 2, .queries = {45, 60}, .keys = {45, 61}, .heads = 4, .key_heads = 2, .d = 64, .dv = 32},
    {.sequences = 2, .queries = {20, 33}, .keys = {45, 61}, .heads = 2, .key_heads = 2, .d = 16, .dv = 48, .is_causal = true},
    {.sequences = 2, .queries = {20, 33}, .keys = {45, 61}, .heads = 1, .key_heads = 1, .d = 80, .dv = 80, .has_key_mask = true},
    {.sequences = 2,
     .queries = {20, 33},
     .keys = {0, 61},
     .heads = 2,
     .key_heads = 1,
     .d = 128,
     .dv = 128,
     .has_lengths = true,
     .empty_rows = CLF_EMPTY_ROWS_UNIFORM},
    {.sequences = 2, .queries = {20, 33}, .keys = {45, 61}, .heads = 2, .key_heads = 1, .d = 36, .dv = 64, .is_causal = true},
    {.sequences = 2, .queries = {20, 33}, .keys = {45, 61}, .heads = 2, .key_heads = 1, .d = 13, .dv = 7, .has_lengths = true},
    {.sequences = 1, .queries = {20}, .keys = {45}, .heads = 2, .key_heads = 1, .d = 1, .dv = 1},
    {.sequences = 1, .queries = {9}, .keys = {45}, .heads = 2, .key_heads = 2, .d = 130, .dv = 100},
    {.sequences = 2,
     .queries = {20, 33},
     .keys = {20, 33},
     .heads = 2,
     .key_heads = 2,
     .d = 32,
     .dv = 32,
     .dtype = CLF_F16,
     .out_dtype = CLF_F32},
    {.sequences = 2,
     .queries = {20, 33},
     .keys = {20, 33},
     .heads = 2,
     .key_heads = 2,
     .d = 32,
     .dv = 32,
     .dtype = CLF_F16,
     .out_dtype = CLF_F16},
    {.sequences = 2,
     .queries = {20, 33},
     .keys = {20, 33},
     .heads = 2,
     .key_heads = 2,
     .d = 32,
     .dv = 32,
     .dtype = CLF_BF16,
     .out_dtype = CLF_BF16,
     .is_causal = true},
    {.sequences = 1, .queries = {70}, .keys = {512}, BASE},
    {.sequences = 1, .queries = {40}, .keys = {512}, .heads = 1, .key_heads = 1, .d = 64, .dv = 64, .is_causal = true, .diagonal = 472},
};

static void test_cases(void **state)
{
    (void)state;
    for (const char *const *engine = engines_of(CLF_OP_ATTENTION); *engine; engine++) {
        clf_context *context = attention_context(*engine);
        size_t run = 0, wanted = COUNT(small_cases);
        for (size_t i = 0; i < COUNT(small_cases); i++)
            run += run_case(context, *engine, &small_cases[i]);
        for (size_t i = 0; i < COUNT(cases); i++)
            if (takes_case(i, false)) {
                run += run_case(context, *engine, &cases[i]);
                wanted++;
            }
        if (strcmp(*engine, "attention=generic") == 0)
            CHECK(run == wanted, "the generic engine ran %zu of %zu cases", run, wanted);
        check_attention_ran(context, *engine, run);
        clf_context_destroy(context);
    }
}

/* Without a forced engine every case runs, the small ones at each precision, within its bound. No product was less precise than that. */
static void test_default_engine(void **state)
{
    (void)state;
    for (int precision = CLF_PRECISION_HIGHEST; precision <= CLF_PRECISION_MEDIUM; precision++) {
        clf_context *context = precise_context("", (clf_precision)precision);
        clf_context_stats stats;
        char id[32];
        snprintf(id, sizeof id, "default, %s", clf_precision_name((clf_precision)precision));
        for (size_t i = 0; i < COUNT(small_cases); i++)
            assert_true(run_case(context, id, &small_cases[i]));
        for (size_t i = 0; i < COUNT(cases) && precision == CLF_PRECISION_HIGHEST; i++)
            if (takes_case(i, false))
                assert_true(run_case(context, id, &cases[i]));
        clf_context_get_stats(context, &stats);
        CHECK(stats.product_precisions && !(stats.product_precisions >> (precision + 1)), "%s: products kept %#x", id,
              stats.product_precisions);
        clf_context_destroy(context);
    }
}

/* Overwrites row `row` of head 0 of an operand [heads, rows, columns]. */
static void put_row(operand *o, size_t row, size_t columns, float value)
{
    float *all = malloc(o->count * sizeof *all);
    assert_non_null(all);
    for (size_t i = 0; i < o->count; i++)
        all[i] = (float)o->value[i];
    for (size_t c = 0; c < columns; c++)
        all[row * columns + c] = value;
    operand_fill(o, all);
    free(all);
}

/* Masked keys and values hold NaN, infinity and 3e38; used ones make a row NaN or drop out; huge scores are ordinary. */
static void test_special_values(void **state)
{
    (void)state;
    static const attention_case causal = {
        .sequences = 1, .queries = {40}, .keys = {40}, .heads = 1, .key_heads = 1, .d = 32, .dv = 32, .is_causal = true};
    static const attention_case masked = {
        .sequences = 1, .queries = {5}, .keys = {40}, .heads = 1, .key_heads = 1, .d = 32, .dv = 32, .has_key_mask = true};
    static const attention_case limited = {
        .sequences = 1, .queries = {5}, .keys = {40}, .heads = 1, .key_heads = 1, .d = 32, .dv = 32, .has_lengths = true};
    static const attention_case plain = {.sequences = 1, .queries = {5}, .keys = {40}, .heads = 1, .key_heads = 1, .d = 32, .dv = 32};
    static const attention_case *const all[] = {&causal, &masked, &limited, &plain};
    static const float values[] = {NAN, INFINITY, 3e38f, -3e38f, -INFINITY};
    for (const char *const *engine = engines_of(CLF_OP_ATTENTION); *engine; engine++) {
        clf_context *context = attention_context(*engine);
        const double huge_error = 1e-4 + 4 * clfi_ref_gemm_loss(context->precision).relative;
        size_t run = 0;
        for (size_t i = 0; i < COUNT(all); i++) {
            for (size_t x = 0; x < COUNT(values); x++) {
                char id[320];
                attention_data a = make_data(context, all[i]);
                const clf_attention_args args = arguments(all[i], &a);
                const size_t row = i == 1 ? 0 : 30;
                if (i == 1) { /* its first key is masked */
                    unsigned char keep[40];
                    for (int j = 0; j < 40; j++)
                        keep[j] = j % 3 != 0;
                    operand_fill_bytes(&a.mask, keep);
                }
                put_row(&a.q, 3, 32, 1.0f); /* scores of row 3: sums of k, so a k of +-3e38/32 stays finite */
                put_row(&a.k, row, 32, isfinite(values[x]) ? values[x] / 32 : values[x]);
                if (!isfinite(values[x]) && i != 3)
                    put_row(&a.v, row, 32, values[x]);
                const clf_status st = clfi_attention(context, &args);
                if (st == CLF_UNSUPPORTED) {
                    free_data(&a);
                    continue;
                }
                assert_int_equal(st, CLF_OK);
                run++;
                name_case(*engine, all[i], id, sizeof id);
                operand_read(&a.out, id);
                for (int t = 0; t < all[i]->queries[0]; t++) {
                    bool keep[40];
                    fill_keep(all[i], &a, 0, t, keep);
                    double want[32], bound[32];
                    const clfi_ref_attention one = {.q = a.q.value + t * 32,
                                                    .k = a.k.value,
                                                    .v = a.v.value,
                                                    .keys = 40,
                                                    .d = 32,
                                                    .dv = 32,
                                                    .scale = (double)args.scale,
                                                    .keep = keep,
                                                    .empty_rows = CLF_EMPTY_ROWS_ZERO,
                                                    .precision = context->precision};
                    CHECK_OK(clfi_ref_attention_row(&one, want, bound));
                    for (int c = 0; c < 32; c++) {
                        const double got = a.out.value[t * 32 + c];
                        /* a huge used score, whose size makes the bound void, decides alone, unless it is too large for a float */
                        CHECK(isnan(want[c])                                ? isnan(got)
                              : keep[row] && fabs((double)values[x]) > 1e38 ? isnan(got) || within(got, want[c], huge_error)
                                                                            : within(got, want[c], bound[c] + 1e-30),
                              "%s with %g in key %zu: query %d column %d: %.9g, want %.9g", id, (double)values[x], row, t, c, got, want[c]);
                    }
                    /* 3e38/32 * 32 * scale: the key takes all, or nothing; products of lower precision may not hold it */
                    if (t == 3 && i == 3 && fabsf(values[x]) == 3e38f && context->precision == CLF_PRECISION_HIGHEST)
                        for (int c = 0; c < 32; c++)
                            CHECK(within(a.out.value[t * 32 + c], want[c], 1e-4), "%s with %g: query 3 column %d: %.9g, want %.9g", id,
                                  (double)values[x], c, a.out.value[t * 32 + c], want[c]);
                }
                free_data(&a);
            }
        }
        check_attention_ran(context, *engine, run);
        clf_context_destroy(context);
    }
}

static void test_batch(void **state)
{
    clf_context *context = *state;
    clf_attention_batch *batch;
    CHECK_OK(clfi_attention_batch_create(context, &batch));
    CHECK_FAILS(clfi_attention_batch_set(batch, 2, (int32_t[]){0, 5, 4}, NULL), CLF_INVALID_ARGUMENT, "sequence 1");
    CHECK_FAILS(clfi_attention_batch_set(batch, 1, (int32_t[]){-1, 5}, NULL), CLF_INVALID_ARGUMENT, "rising");
    CHECK_FAILS(clfi_attention_batch_set(batch, -1, (int32_t[]){0}, NULL), CLF_INVALID_ARGUMENT, "-1 sequences");
    CHECK_FAILS(clfi_attention_batch_set_spans(batch, 1, &(clf_attention_span){INT32_MAX, 5, 0, 1, 0}), CLF_INVALID_ARGUMENT, "sequence 0");
    CHECK_FAILS(clfi_attention_batch_set_spans(batch, 1, &(clf_attention_span){0, 5, 0, 1, INT32_MAX}), CLF_INVALID_ARGUMENT, "diagonal");
    /* Filled again with no more than before: nothing is allocated. */
    CHECK_OK(clfi_attention_batch_set(batch, 2, (int32_t[]){0, 300, 400}, NULL));
    clf_context_stats before, after;
    clf_context_get_stats(context, &before);
    CHECK_OK(clfi_attention_batch_set(batch, 2, (int32_t[]){0, 3, 200}, NULL));
    clf_context_get_stats(context, &after);
    assert_int_equal(before.device_bytes, after.device_bytes);
    CHECK_OK(clfi_attention_batch_set(batch, 0, (int32_t[]){0}, NULL));
    clfi_attention_batch_destroy(batch);
    clfi_attention_batch_destroy(NULL);
}

static void test_refusals(void **state)
{
    clf_context *context = *state;
    static const attention_case c = {.sequences = 1, .queries = {4}, .keys = {6}, BASE, .has_key_mask = true, .has_lengths = true};
    attention_data a = make_data(context, &c);
    const clf_attention_args good = arguments(&c, &a);
    clf_view view;
#define REFUSED(member, change, part)                                           \
    do {                                                                        \
        clf_attention_args bad = good;                                          \
        view = *good.member;                                                    \
        change;                                                                 \
        bad.member = &view;                                                     \
        CHECK_FAILS(clfi_attention(context, &bad), CLF_INVALID_ARGUMENT, part); \
    } while (0)
    REFUSED(q, view.rank = 2, "E_SHAPE: attention q: expected rank 3");
    REFUSED(q, view.dim[1] = 3, "attention q [2,3,32]: the sequences need 4 rows");
    REFUSED(k, view.dim[1] = 5, "attention k [2,5,32]: the sequences need 6 rows");
    REFUSED(k, view.dim[2] = 16, "equal last axes");
    REFUSED(k, view.dim[0] = 1, "equal heads");
    REFUSED(k, view.dtype = CLF_F16, "E_DTYPE: attention k");
    REFUSED(q, view.dim[0] = 3, "not a multiple");
    REFUSED(v, view.stride[2] = 2, "stride 2 on the last axis");
    REFUSED(out, view.dim[1] = 1, "expected [rows,2,32]");
    REFUSED(out, view.dtype = CLF_F16, "E_DTYPE: attention out");
    REFUSED(key_mask, view.dim[0] = 5, "attention key mask: expected uint8 [6]");
    REFUSED(lengths, view.dtype = CLF_F32, "attention lengths: expected int32 [1]");
    clf_attention_args bad = good;
    bad.empty_rows = (clf_empty_rows)7;
    CHECK_FAILS(clfi_attention(context, &bad), CLF_INVALID_ARGUMENT, "policy 7");
    CHECK_OK(clfi_attention(context, &good));
    const clf_engine_table *table = &clfi_engine_tables[CLF_OP_ATTENTION];
    for (size_t i = 0; i < table->count; i++) {
        char text[64];
        if (table->engines[i].precision == CLF_PRECISION_HIGHEST)
            continue;
        snprintf(text, sizeof text, "attention=%s", table->engines[i].name);
        clf_context *other = engine_context(text);
        CHECK_FAILS(clfi_attention(other, &good), CLF_UNSUPPORTED, "its precision is lower than requested");
        clf_context_destroy(other);
    }
    free_data(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases), cmocka_unit_test(test_default_engine), cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_batch), cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, device_setup, device_teardown);
}
