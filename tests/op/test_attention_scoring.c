/* SPDX-License-Identifier: MIT */
/* clf_attention: four scores, every mask, fused and stepwise, weights, dropout, special values and refusals against double. */
#include <stdio.h>
#include <stdlib.h>

#include "base/status.h"
#include "clformer/attention.h"
#include "support/check.h"
#include "support/device.h"
#include "support/operand.h"
#include "workload/reference_dropout.h"
#include "workload/reference_softmax.h"

static const double U = 0x1p-24;

typedef enum mask_bits { LENGTHS_1 = 1, LENGTHS_2 = 2, MASK = 4, PADDING = 8, ATTENTION = 16, CAUSAL = 32, BIAS = 64 } mask_bits;

typedef struct scoring_case {
    clf_score score;
    int64_t batch, queries, keys, dq, dk, dv, h;
    int masks;
    clf_dtype dtype;
    layout layout;
    clf_empty_rows empty_rows;
    bool has_weights;
    float scale;
} scoring_case;

typedef struct scoring_data {
    operand q, k, v, out, w_q, w_k, w_v, m, weights, lengths, mask, padding, attention, bias;
    clf_attention_params params;
    clf_attention_masks masks; /* params' */
} scoring_data;

static void name_case(const scoring_case *c, char *id, size_t size)
{
    static const char *const scores[] = {"dot", "additive", "bilinear", "distance"};
    snprintf(id, size, "%s [%s B=%lld %lldx%lld dq=%lld dk=%lld dv=%lld layout=%s masks=%d empty=%d%s]", scores[c->score],
             clf_dtype_name(c->dtype), (long long)c->batch, (long long)c->queries, (long long)c->keys, (long long)c->dq, (long long)c->dk,
             (long long)c->dv, layout_name(c->layout), c->masks, (int)c->empty_rows, c->has_weights ? " weights" : "");
}

static operand make(clf_context *context, const scoring_case *c, rng *r, int rank, int64_t d0, int64_t d1, int64_t d2, float range)
{
    operand o = operand_create(context, c->dtype, rank == 3 ? c->layout : LAYOUT_CONTIGUOUS, rank, (int64_t[]){d0, d1, d2});
    operand_fill_uniform(&o, r, -range, range);
    return o;
}

static void make_data(clf_context *context, const scoring_case *c, scoring_data *a)
{
    *a = (scoring_data){.params = CLF_ATTENTION_PARAMS_INIT, .masks = CLF_ATTENTION_MASKS_INIT};
    rng r = {(uint64_t)(c->queries * 100 + c->keys + c->masks)};
    a->q = make(context, c, &r, 3, c->batch, c->queries, c->dq, 2);
    a->k = make(context, c, &r, 3, c->batch, c->keys, c->dk, 2);
    a->v = make(context, c, &r, 3, c->batch, c->keys, c->dv, 2);
    a->out = operand_create(context, CLF_F32, c->layout, 3, (int64_t[]){c->batch, c->queries, c->dv});
    if (c->score == CLF_SCORE_ADDITIVE) {
        a->w_q = make(context, c, &r, 2, c->h, c->dq, 0, 0.5f);
        a->w_k = make(context, c, &r, 2, c->h, c->dk, 0, 0.5f);
        const bool is_row = c->queries % 2 == 0; /* either shape */
        a->w_v = is_row ? make(context, c, &r, 2, 1, c->h, 0, 1) : make(context, c, &r, 1, c->h, 0, 0, 1);
    }
    if (c->score == CLF_SCORE_BILINEAR)
        a->m = make(context, c, &r, 2, c->dq, c->dk, 0, 0.5f);
    if (c->has_weights)
        a->weights = operand_create(context, CLF_F32, c->layout, 3, (int64_t[]){c->batch, c->queries, c->keys});
    if (c->masks & (LENGTHS_1 | LENGTHS_2)) {
        int32_t length[512];
        a->lengths = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, c->masks & LENGTHS_1 ? 1 : 2, (int64_t[]){c->batch, c->queries});
        for (size_t i = 0; i < a->lengths.count; i++)
            length[i] = (int32_t)(rng_bits(&r) % (uint64_t)(c->keys + 4)) - 2;
        operand_fill_ids(&a->lengths, length);
    }
    if (c->masks & MASK)
        a->mask = operand_random_mask(context, &r, LAYOUT_CONTIGUOUS, 3, (int64_t[]){c->batch, 1, c->keys}, 3);
    if (c->masks & PADDING)
        a->padding = operand_random_mask(context, &r, LAYOUT_CONTIGUOUS, 2, (int64_t[]){c->batch, c->keys}, 3);
    if (c->masks & ATTENTION)
        a->attention = operand_random_mask(context, &r, LAYOUT_CONTIGUOUS, 2, (int64_t[]){c->queries, c->keys}, 3);
    if (c->masks & BIAS) {
        a->bias = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){1, c->queries, c->keys});
        operand_fill_uniform(&a->bias, &r, -2, 2);
    }
    a->params.score = c->score;
    a->params.scale = c->scale;
    a->params.w_q = a->w_q.tensor;
    a->params.w_k = a->w_k.tensor;
    a->params.w_v = a->w_v.tensor;
    a->params.m = a->m.tensor;
    a->params.lengths = a->lengths.tensor;
    a->params.masks = &a->masks;
    a->masks.mask = a->mask.tensor;
    a->masks.padding_mask = a->padding.tensor;
    a->masks.attention_mask = a->attention.tensor;
    a->params.bias = a->bias.tensor;
    a->masks.is_causal = (c->masks & CAUSAL) != 0;
    a->masks.empty_rows = c->empty_rows;
    a->params.weights = a->weights.tensor;
}

static void free_data(scoring_data *a)
{
    operand *const all[] = {&a->q, &a->k,       &a->v,       &a->out,  &a->w_q,     &a->w_k,       &a->w_v,
                            &a->m, &a->weights, &a->lengths, &a->mask, &a->padding, &a->attention, &a->bias};
    for (size_t i = 0; i < COUNT(all); i++)
        operand_destroy(all[i]);
}

/* One unscaled score and the error that float32 may make in it. */
static double score_of(const scoring_case *c, const scoring_data *a, const double *q, const double *k, double *error)
{
    double score = 0, e = 0;
    if (c->score == CLF_SCORE_ADDITIVE) {
        for (int64_t h = 0; h < c->h; h++) {
            double x = 0, size = 0;
            for (int64_t i = 0; i < c->dq; i++) {
                x += a->w_q.value[h * c->dq + i] * q[i];
                size += fabs(a->w_q.value[h * c->dq + i] * q[i]);
            }
            for (int64_t i = 0; i < c->dk; i++) {
                x += a->w_k.value[h * c->dk + i] * k[i];
                size += fabs(a->w_k.value[h * c->dk + i] * k[i]);
            }
            score += a->w_v.value[h] * tanh(x);
            e += fabs(a->w_v.value[h]) * ((double)(c->dq + c->dk + 2) * size + 10 + (double)c->h + 2) * U;
        }
    } else if (c->score == CLF_SCORE_BILINEAR) {
        for (int64_t i = 0; i < c->dq; i++) {
            for (int64_t j = 0; j < c->dk; j++) {
                score += q[i] * a->m.value[i * c->dk + j] * k[j];
                e += fabs(q[i] * a->m.value[i * c->dk + j] * k[j]) * (double)(c->dq + c->dk + 4) * U;
            }
        }
    } else {
        for (int64_t i = 0; i < c->dq; i++) {
            const double term = c->score == CLF_SCORE_DOT ? q[i] * k[i] : -0.5 * (q[i] - k[i]) * (q[i] - k[i]);
            score += term;
            e += fabs(term) * (double)(c->dq + 6) * U;
        }
    }
    *error = e;
    return score;
}

static bool is_kept(const scoring_case *c, const scoring_data *a, int64_t b, int64_t i, int64_t j)
{
    return !((c->masks & MASK && a->mask.value[b * c->keys + j] == 0) || (c->masks & PADDING && a->padding.value[b * c->keys + j] == 0) ||
             (c->masks & ATTENTION && a->attention.value[i * c->keys + j] == 0) || (c->masks & CAUSAL && j > i) ||
             (c->masks & LENGTHS_1 && j >= (int64_t)a->lengths.value[b]) ||
             (c->masks & LENGTHS_2 && j >= (int64_t)a->lengths.value[b * c->queries + i]));
}

static double default_scale(const scoring_case *c)
{
    return c->scale != 0                    ? (double)c->scale
           : c->score == CLF_SCORE_DOT      ? 1 / sqrt((double)c->dq)
           : c->score == CLF_SCORE_BILINEAR ? 1 / sqrt((double)c->dk)
                                            : 1;
}

static void compare(const char *id, const scoring_case *c, const scoring_data *a)
{
    const double scale = default_scale(c);
    double *score = calloc((size_t)(2 * c->keys + 1), sizeof *score), *want = score + c->keys;
    bool *keep = calloc((size_t)c->keys + 1, sizeof *keep);
    assert_true(score && keep);
    for (int64_t b = 0; b < c->batch; b++) {
        for (int64_t i = 0; i < c->queries; i++) {
            double worst = 0, largest = 0;
            for (int64_t j = 0; j < c->keys; j++) {
                double error;
                score[j] =
                    scale * score_of(c, a, a->q.value + (b * c->queries + i) * c->dq, a->k.value + (b * c->keys + j) * c->dk, &error);
                score[j] += c->masks & BIAS ? a->bias.value[i * c->keys + j] : 0;
                keep[j] = is_kept(c, a, b, i, j);
                worst = keep[j] && error * fabs(scale) > worst ? error * fabs(scale) : worst;
                largest = keep[j] && fabs(score[j]) > largest ? fabs(score[j]) : largest;
            }
            clfi_ref_softmax_row(score, keep, (size_t)c->keys, c->empty_rows, want);
            const double relative = 2 * worst + (6 * largest + 2 * (double)c->keys + 40) * U;
            for (int64_t j = 0; j < c->keys && c->has_weights; j++) {
                const double got = a->weights.value[(b * c->queries + i) * c->keys + j];
                CHECK(within(got, want[j], relative * want[j] + 0x1p-126), "%s: weight %lld,%lld,%lld: %.9g, want %.9g", id, (long long)b,
                      (long long)i, (long long)j, got, want[j]);
            }
            for (int64_t e = 0; e < c->dv; e++) {
                double sum = 0, size = 0;
                for (int64_t j = 0; j < c->keys; j++) {
                    const double value = a->v.value[(b * c->keys + j) * c->dv + e];
                    sum += want[j] == 0 ? 0 : want[j] * value;
                    size += want[j] == 0 ? 0 : fabs(want[j] * value);
                }
                const double got = a->out.value[(b * c->queries + i) * c->dv + e];
                CHECK(within(got, sum, relative * size + 0x1p-120), "%s: out %lld,%lld,%lld: %.9g, want %.9g, bound %.3g", id, (long long)b,
                      (long long)i, (long long)e, got, sum, relative * size);
            }
        }
    }
    free(keep);
    free(score);
}

static void run_case(clf_context *context, const scoring_case *c)
{
    char id[320];
    name_case(c, id, sizeof id);
    scoring_data a;
    make_data(context, c, &a);
    const clf_status st = clf_attention(context, a.q.tensor, a.k.tensor, a.v.tensor, &a.params, a.out.tensor);
    if (st != CLF_OK)
        fail_msg("%s: %s", id, clf_last_error());
    operand_read(&a.out, id);
    if (c->has_weights)
        operand_read(&a.weights, id);
    compare(id, c, &a);
    free_data(&a);
}

#define SIZES(B, Q, K, DQ, DK, DV) .batch = B, .queries = Q, .keys = K, .dq = DQ, .dk = DK, .dv = DV, .h = 7
static const scoring_case small_cases[] = {
    {CLF_SCORE_DOT, SIZES(2, 3, 5, 4, 4, 6), .masks = LENGTHS_1},
    {CLF_SCORE_ADDITIVE, SIZES(2, 3, 5, 4, 2, 6), .masks = LENGTHS_2, .has_weights = true},
    {CLF_SCORE_BILINEAR, SIZES(2, 3, 5, 4, 3, 6), .masks = MASK},
    {CLF_SCORE_DISTANCE, SIZES(1, 3, 5, 4, 4, 2), .masks = CAUSAL, .has_weights = true},
};
static const scoring_case cases[] = {
    {CLF_SCORE_DOT, SIZES(3, 20, 33, 32, 32, 32)},
    {CLF_SCORE_DOT, SIZES(3, 20, 33, 32, 32, 32), .has_weights = true},
    {CLF_SCORE_DOT, SIZES(3, 20, 33, 32, 32, 32), .layout = LAYOUT_SWAPPED, .masks = CAUSAL},
    {CLF_SCORE_DOT, SIZES(3, 20, 33, 32, 32, 32), .layout = LAYOUT_SLICED, .masks = LENGTHS_1},
    {CLF_SCORE_DOT, SIZES(3, 20, 33, 32, 32, 32), .masks = LENGTHS_1 | CAUSAL, .empty_rows = CLF_EMPTY_ROWS_NAN},
    {CLF_SCORE_DOT, SIZES(3, 20, 33, 32, 32, 32), .masks = PADDING, .empty_rows = CLF_EMPTY_ROWS_UNIFORM},
    {CLF_SCORE_DOT, SIZES(20, 20, 20, 32, 32, 32), .masks = PADDING | ATTENTION, .empty_rows = CLF_EMPTY_ROWS_UNIFORM},
    {CLF_SCORE_DOT, SIZES(3, 20, 33, 5, 5, 9), .masks = PADDING | ATTENTION | MASK | BIAS | LENGTHS_2 | CAUSAL, .has_weights = true,
     .empty_rows = CLF_EMPTY_ROWS_UNIFORM},
    {CLF_SCORE_DOT, SIZES(3, 20, 33, 5, 5, 9), .masks = PADDING | ATTENTION | LENGTHS_2, .has_weights = true,
     .empty_rows = CLF_EMPTY_ROWS_NAN, .layout = LAYOUT_REVERSED, .scale = 0.3f},
    {CLF_SCORE_DOT, SIZES(3, 50, 70, 32, 32, 32), .masks = PADDING | ATTENTION | MASK | LENGTHS_2 | CAUSAL,
     .empty_rows = CLF_EMPTY_ROWS_UNIFORM},
    {CLF_SCORE_DOT, SIZES(2, 50, 70, 16, 16, 16), .masks = MASK | LENGTHS_1, .layout = LAYOUT_SWAPPED, .empty_rows = CLF_EMPTY_ROWS_NAN},
    {CLF_SCORE_DOT, SIZES(2, 7, 0, 5, 5, 9)},
    {CLF_SCORE_DOT, SIZES(2, 7, 0, 5, 5, 9), .has_weights = true, .empty_rows = CLF_EMPTY_ROWS_NAN},
    {CLF_SCORE_DOT, SIZES(0, 7, 4, 5, 5, 9)},
    {CLF_SCORE_DOT, SIZES(2, 0, 4, 5, 5, 9), .has_weights = true},
    {CLF_SCORE_DOT, SIZES(2, 1, 1, 1, 1, 1)},
    {CLF_SCORE_DOT, SIZES(2, 9, 21, 16, 16, 16), .dtype = CLF_F16},
    {CLF_SCORE_DOT, SIZES(2, 9, 21, 16, 16, 16), .dtype = CLF_BF16, .has_weights = true},
    {CLF_SCORE_ADDITIVE, SIZES(3, 20, 70, 20, 2, 4), .masks = LENGTHS_1},
    {CLF_SCORE_ADDITIVE, SIZES(3, 20, 70, 20, 2, 4), .layout = LAYOUT_SWAPPED, .masks = BIAS | PADDING, .scale = 2, .has_weights = true},
    {CLF_SCORE_ADDITIVE, SIZES(2, 9, 7, 5, 5, 4), .dtype = CLF_F16},
    {CLF_SCORE_BILINEAR, SIZES(3, 20, 33, 24, 32, 32), .masks = LENGTHS_1},
    {CLF_SCORE_BILINEAR, SIZES(3, 20, 33, 24, 10, 7), .layout = LAYOUT_REVERSED, .masks = CAUSAL, .has_weights = true},
    {CLF_SCORE_BILINEAR, SIZES(3, 20, 33, 8, 16, 16), .dtype = CLF_BF16},
    {CLF_SCORE_DISTANCE, SIZES(3, 20, 70, 6, 6, 4), .masks = LENGTHS_2},
    {CLF_SCORE_DISTANCE, SIZES(3, 20, 70, 6, 6, 4), .layout = LAYOUT_SLICED, .scale = 0.4f, .has_weights = true},
};

static void test_cases(void **state)
{
    for (size_t i = 0; i < COUNT(small_cases); i++)
        run_case(*state, &small_cases[i]);
    for (size_t i = 0; i < COUNT(cases); i++)
        if (takes_case(i, false))
            run_case(*state, &cases[i]);
}

/* Queries and keys a thousand times larger than their distances: the expanded square would lose everything. */
static void test_distant_origin(void **state)
{
    clf_context *context = *state;
    const scoring_case c = {CLF_SCORE_DISTANCE, SIZES(1, 4, 6, 3, 3, 2), .has_weights = true};
    scoring_data a;
    make_data(context, &c, &a);
    float q[12], k[18];
    for (int i = 0; i < 12; i++)
        q[i] = 4096 + 0.25f * (float)(i % 5);
    for (int i = 0; i < 18; i++)
        k[i] = 4096 + 0.125f * (float)(i % 7);
    operand_fill(&a.q, q);
    operand_fill(&a.k, k);
    CHECK_OK(clf_attention(context, a.q.tensor, a.k.tensor, a.v.tensor, &a.params, a.out.tensor));
    operand_read(&a.out, "distance");
    operand_read(&a.weights, "distance");
    compare("distance far from the origin", &c, &a);
    free_data(&a);
}

/* A masked key changes nothing, whatever its key and value hold, on the fused and on the stepwise path. */
static void test_masked_rubbish(void **state)
{
    clf_context *context = *state;
    static const float rubbish[] = {NAN, INFINITY, -INFINITY, 3e38f};
    for (int weights = 0; weights < 2; weights++) {
        for (size_t x = 0; x < COUNT(rubbish); x++) {
            const scoring_case c = {CLF_SCORE_DOT, SIZES(1, 4, 6, 16, 16, 16), .masks = LENGTHS_1, .has_weights = weights != 0};
            scoring_data a;
            make_data(context, &c, &a);
            float k[96], v[96];
            operand_fill_ids(&a.lengths, (int32_t[]){4});
            for (int i = 0; i < 96; i++) {
                k[i] = i < 64 ? (float)a.k.value[i] : rubbish[x];
                v[i] = i < 64 ? (float)a.v.value[i] : rubbish[x];
            }
            operand_fill(&a.k, k);
            operand_fill(&a.v, v);
            CHECK_OK(clf_attention(context, a.q.tensor, a.k.tensor, a.v.tensor, &a.params, a.out.tensor));
            operand_read(&a.out, "rubbish");
            if (weights)
                operand_read(&a.weights, "rubbish");
            compare("masked rubbish", &c, &a);
            free_data(&a);
        }
    }
}

/* The same behind the first 32 queries, whose masks stand in another word: key BAD is masked for the later ones alone. */
static void test_rubbish_behind_first_queries(void **state)
{
    clf_context *context = *state;
    enum { QUERIES = 40, KEYS = 40, SIZE = 4, FIRST = 32, BAD = 5 };
    static const int masks[] = {CAUSAL, ATTENTION};
    for (size_t run = 0; run < 2 * COUNT(masks); run++) {
        const scoring_case c = {CLF_SCORE_DOT, SIZES(1, QUERIES, KEYS, SIZE, SIZE, SIZE), .masks = masks[run / 2],
                                .has_weights = run % 2 == 0};
        scoring_data a;
        make_data(context, &c, &a);
        float v[KEYS * SIZE];
        uint8_t keep[QUERIES * KEYS];
        const int last = masks[run / 2] == CAUSAL ? KEYS - 1 : BAD; /* causal: the last query alone sees the last key */
        for (int i = 0; i < QUERIES * KEYS; i++)
            keep[i] = i % KEYS != BAD || i / KEYS < FIRST;
        for (int i = 0; i < KEYS * SIZE; i++)
            v[i] = i / SIZE == last ? NAN : (float)a.v.value[i];
        operand_fill(&a.v, v);
        if (masks[run / 2] == ATTENTION)
            operand_fill_bytes(&a.attention, keep);
        CHECK_OK(clf_attention(context, a.q.tensor, a.k.tensor, a.v.tensor, &a.params, a.out.tensor));
        operand_read(&a.out, "rubbish");
        if (c.has_weights)
            operand_read(&a.weights, "rubbish");
        compare("rubbish behind the first queries", &c, &a);
        free_data(&a);
    }
}

/* The vector of the additive score as a column of a matrix: its elements lie apart. */
static void test_strided_vector(void **state)
{
    clf_context *context = *state;
    const scoring_case c = {CLF_SCORE_ADDITIVE, SIZES(1, 3, 5, 4, 2, 6), .has_weights = true};
    scoring_data a;
    make_data(context, &c, &a);
    clf_tensor *pairs, *vector;
    float values[14];
    for (size_t i = 0; i < COUNT(values); i++)
        values[i] = i % 2 ? NAN : (float)a.w_v.value[i / 2];
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){7, 2}, values, &pairs));
    CHECK_OK(clf_tensor_view(pairs, 1, (int64_t[]){7}, (int64_t[]){2}, 0, &vector));
    a.params.w_v = vector;
    CHECK_OK(clf_attention(context, a.q.tensor, a.k.tensor, a.v.tensor, &a.params, a.out.tensor));
    operand_read(&a.out, "strided vector");
    operand_read(&a.weights, "strided vector");
    compare("additive score with a strided vector", &c, &a);
    clf_tensor_destroy(vector);
    clf_tensor_destroy(pairs);
    free_data(&a);
}

/* Only masked keys are left out. Key 3 is kept for queries 2 and 3 alone. Its weight underflows to 0, and its value is NaN or infinite in
 * column 0. Every engine gives these two queries NaN there, and no other, with and without the weights. */
static void test_kept_underflow(void **state)
{
    static const char *const engines[] = {"", "attention=vector", "attention=group", "attention=generic"};
    static const float rubbish[] = {NAN, INFINITY};
    enum { QUERIES = 4, KEYS = 201, SIZE = 16, BAD = 3, BEST = 200 };
    (void)state;
    for (size_t run = 0; run < COUNT(engines) * 4; run++) {
        clf_context *context = engine_context(engines[run / 4]);
        const scoring_case c = {CLF_SCORE_DOT, SIZES(1, QUERIES, KEYS, SIZE, SIZE, SIZE), .masks = ATTENTION, .has_weights = run % 2 != 0};
        scoring_data a;
        make_data(context, &c, &a);
        float q[QUERIES * SIZE], k[KEYS * SIZE] = {0}, v[KEYS * SIZE];
        uint8_t keep[QUERIES * KEYS];
        memset(keep, 1, sizeof keep);
        keep[BAD] = keep[KEYS + BAD] = 0;
        for (int i = 0; i < QUERIES * SIZE; i++)
            q[i] = 4;
        for (int i = 0; i < KEYS * SIZE; i++)
            v[i] = (float)a.v.value[i];
        for (int i = 0; i < SIZE; i++) { /* scores -64, 0 for most, and 64 at the end: the weight underflows in two steps */
            k[BEST * SIZE + i] = 4;
            k[BAD * SIZE + i] = -4;
        }
        v[BAD * SIZE] = rubbish[run / 2 % 2];
        operand_fill(&a.q, q);
        operand_fill(&a.k, k);
        operand_fill(&a.v, v);
        operand_fill_bytes(&a.attention, keep);
        const clf_status st = clf_attention(context, a.q.tensor, a.k.tensor, a.v.tensor, &a.params, a.out.tensor);
        CHECK(st == CLF_OK || (st == CLF_UNSUPPORTED && run >= 4 && run < 12), "%s: %s", engines[run / 4], clf_last_error());
        if (st == CLF_OK)
            operand_read(&a.out, "underflow");
        for (int i = 0; st == CLF_OK && i < QUERIES; i++)
            for (int e = 0; e < SIZE; e++) {
                const double got = a.out.value[i * SIZE + e], want = a.v.value[BEST * SIZE + e];
                CHECK(i >= 2 && e == 0 ? isnan(got) : within(got, want, 1e-6), "%s weights=%d: query %d column %d: %g", engines[run / 4],
                      c.has_weights, i, e, got);
            }
        free_data(&a);
        clf_context_destroy(context);
    }
}

static void test_dropout(void **state)
{
    clf_context *context = *state;
    uint32_t known[4];
    clfi_ref_philox(0, 0, known); /* published test vector for counter 0, key 0 */
    assert_true(known[0] == 0x6627e8d5u && known[1] == 0xe169c58du && known[2] == 0xbc57ac4cu && known[3] == 0x9b00dbd8u);
    const int64_t dim[] = {7, 13, 11};
    const uint64_t seed = 0x123456789abcdef0u;
    operand x = operand_create(context, CLF_F32, LAYOUT_SLICED, 3, dim), y = operand_create(context, CLF_F32, LAYOUT_SWAPPED, 3, dim);
    rng r = {5};
    operand_fill_uniform(&x, &r, 1, 2);
    CHECK_OK(clf_dropout(context, x.tensor, 0.3f, seed, y.tensor));
    operand_read(&y, "dropout");
    size_t zeros = 0;
    for (size_t i = 0; i < x.count; i++) {
        const bool keep = clfi_ref_dropout_keeps(i, 0.3f, seed);
        zeros += !keep;
        CHECK(within(y.value[i], keep ? x.value[i] / (1 - (double)0.3f) : 0, 4e-7), "dropout at %zu: %g of %g", i, y.value[i], x.value[i]);
    }
    assert_true(zeros > 200 && zeros < 400);
    CHECK_OK(clf_dropout(context, x.tensor, 0, seed, y.tensor));
    operand_read(&y, "dropout");
    for (size_t i = 0; i < x.count; i++)
        assert_true(y.value[i] == x.value[i]);
    CHECK_FAILS(clf_dropout(context, x.tensor, 1, seed, y.tensor), CLF_INVALID_ARGUMENT, "E_VALUE: dropout: dropout 1");
    CHECK_FAILS(clf_dropout(context, x.tensor, NAN, seed, y.tensor), CLF_INVALID_ARGUMENT, "E_VALUE");
    operand_destroy(&y);
    operand_destroy(&x);

    /* In attention: the weights come out before dropout, the output after it. */
    const scoring_case c = {CLF_SCORE_DOT, SIZES(2, 3, 5, 4, 4, 6), .has_weights = true};
    scoring_data a;
    make_data(context, &c, &a);
    a.params.dropout = 0.4f;
    a.params.seed = 99;
    CHECK_OK(clf_attention(context, a.q.tensor, a.k.tensor, a.v.tensor, &a.params, a.out.tensor));
    operand_read(&a.out, "dropout");
    operand_read(&a.weights, "dropout");
    for (int i = 0; i < 6; i++) {
        double sum = 0;
        for (int e = 0; e < 6; e++) {
            double want = 0;
            for (int j = 0; j < 5; j++) {
                const size_t n = (size_t)(i * 5 + j);
                if (clfi_ref_dropout_keeps(n, 0.4f, 99))
                    want += a.weights.value[n] / (1 - (double)0.4f) * a.v.value[(i / 3 * 5 + j) * 6 + e];
            }
            CHECK(within(a.out.value[i * 6 + e], want, 1e-5), "dropped context %d,%d: %g, want %g", i, e, a.out.value[i * 6 + e], want);
        }
        for (int j = 0; j < 5; j++)
            sum += a.weights.value[i * 5 + j];
        CHECK(within(sum, 1, 1e-6), "weights of row %d sum to %g", i, sum);
    }
    free_data(&a);
}

/* The separate steps give what the one call gives. */
static void test_steps(void **state)
{
    clf_context *context = *state;
    const scoring_case c = {CLF_SCORE_DOT, SIZES(2, 9, 11, 16, 16, 5), .has_weights = true, .masks = LENGTHS_1};
    scoring_data a;
    make_data(context, &c, &a);
    operand scores = operand_create(context, CLF_F32, LAYOUT_SLICED, 3, (int64_t[]){2, 9, 11});
    CHECK_OK(clf_attention_scores(context, a.q.tensor, a.k.tensor, 0.25f, scores.tensor));
    CHECK_OK(clf_masked_softmax(context, scores.tensor, a.lengths.tensor, CLF_EMPTY_ROWS_ZERO, a.weights.tensor));
    CHECK_OK(clf_attention_context(context, a.weights.tensor, a.v.tensor, NULL, a.out.tensor));
    operand_read(&a.weights, "steps");
    operand_read(&a.out, "steps");
    compare("steps", &c, &a);
    CHECK_FAILS(clf_attention_scores(context, a.q.tensor, a.v.tensor, 1, scores.tensor), CLF_INVALID_ARGUMENT,
                "E_SHAPE: attention scores: k");
    CHECK_FAILS(clf_attention_scores(context, a.q.tensor, a.k.tensor, 1, a.out.tensor), CLF_INVALID_ARGUMENT,
                "E_SHAPE: attention scores: scores");
    /* Weights of 0 before values of which some are NaN: only masked ones stay without effect. */
    operand keep = operand_random_mask(context, &(rng){3}, LAYOUT_CONTIGUOUS, 3, (int64_t[]){2, 1, 11}, 3);
    float *v = calloc(a.v.count + a.weights.count, sizeof *v), *zero = v + a.v.count;
    assert_non_null(v);
    for (size_t i = 0; i < a.v.count; i++)
        v[i] = keep.value[i / 5] == 0 ? NAN : (float)a.v.value[i];
    operand_fill(&a.v, v);
    operand_fill(&a.weights, zero);
    CHECK_OK(clf_attention_context(context, a.weights.tensor, a.v.tensor, keep.tensor, a.out.tensor));
    operand_read(&a.out, "masked context");
    for (size_t i = 0; i < a.out.count; i++)
        CHECK(a.out.value[i] == 0, "masked context %zu: %g", i, a.out.value[i]);
    CHECK_OK(clf_attention_context(context, a.weights.tensor, a.v.tensor, NULL, a.out.tensor));
    operand_read(&a.out, "context");
    for (size_t i = 0; i < a.out.count; i++)
        CHECK(isnan(a.out.value[i]), "context without mask %zu: %g", i, a.out.value[i]);
    free(v);
    CHECK_FAILS(clf_attention_context(context, a.weights.tensor, a.v.tensor, a.lengths.tensor, a.out.tensor), CLF_INVALID_ARGUMENT,
                "E_DTYPE: attention context: mask");
    operand_destroy(&keep);
    CHECK_FAILS(clf_attention_context(context, a.weights.tensor, a.q.tensor, NULL, a.out.tensor), CLF_INVALID_ARGUMENT,
                "E_SHAPE: attention context: v");
    CHECK_FAILS(clf_attention_context(context, a.weights.tensor, a.v.tensor, NULL, scores.tensor), CLF_INVALID_ARGUMENT,
                "E_SHAPE: attention context: out");
    operand_destroy(&scores);
    free_data(&a);
}

static void test_refusals(void **state)
{
    clf_context *context = *state;
    const scoring_case c = {CLF_SCORE_ADDITIVE, SIZES(2, 3, 5, 4, 2, 6), .masks = LENGTHS_1 | MASK | PADDING | ATTENTION,
                            .has_weights = true};
    scoring_data a;
    make_data(context, &c, &a);
#define REFUSED(change, part)                                                              \
    do {                                                                                   \
        clf_attention_params p = a.params;                                                 \
        clf_attention_masks masks = a.masks;                                               \
        p.masks = &masks;                                                                  \
        clf_tensor *q = a.q.tensor, *k = a.k.tensor, *v = a.v.tensor, *out = a.out.tensor; \
        change;                                                                            \
        CHECK_FAILS(clf_attention(context, q, k, v, &p, out), CLF_INVALID_ARGUMENT, part); \
    } while (0)
    REFUSED(q = a.w_q.tensor, "E_SHAPE: attention: q is [7,4], expected rank 3");
    REFUSED(v = a.q.tensor, "E_SHAPE: attention: v is [2,3,4], expected [2,5,4]");
    REFUSED(out = a.v.tensor, "E_SHAPE: attention: out is [2,5,6], expected [2,3,6]");
    REFUSED(q = a.mask.tensor, "E_DTYPE: attention: q is uint8");
    REFUSED(p.w_q = NULL, "E_VALUE: attention: w_q, w_k and w_v belong to the additive score: one is missing");
    REFUSED(p.m = a.w_q.tensor, "E_VALUE: attention: m belongs to the bilinear score");
    REFUSED(p.w_q = a.w_k.tensor, "E_SHAPE: attention: w_q is [7,2], expected [7,4]");
    for (int i = 0; i < 4; i++) {
        static const struct {
            int rank;
            int64_t dim[2];
            const char *found;
        } w_v[] = {{1, {6}, "[6]"}, {2, {1, 6}, "[1,6]"}, {2, {7, 1}, "[7,1]"}, {0, {0}, "[]"}};
        char expected[96];
        clf_tensor *other;
        CHECK_OK(clf_tensor_create(context, CLF_F32, w_v[i].rank, w_v[i].dim, &other));
        snprintf(expected, sizeof expected, "E_SHAPE: attention: w_v is %s, expected [7] or [1,7]", w_v[i].found);
        REFUSED(p.w_v = other, expected);
        clf_tensor_destroy(other);
    }
    for (int i = 0; i < 3; i++) { /* of these two, no size is repeated */
        static const int64_t size[3][2][2] = {{{2, 1}, {1, 5}}, {{1, 5}, {3, 1}}, {{1, 1}, {1, 1}}};
        clf_tensor *padding, *attention;
        CHECK_OK(clf_tensor_create(context, CLF_U8, 2, size[i][0], &padding));
        CHECK_OK(clf_tensor_create(context, CLF_U8, 2, size[i][1], &attention));
        REFUSED(masks.padding_mask = padding, "E_SHAPE: attention padding mask");
        REFUSED(masks.attention_mask = attention, "E_SHAPE: attention attention mask");
        clf_tensor_destroy(padding);
        clf_tensor_destroy(attention);
    }
    REFUSED(p.score = CLF_SCORE_BILINEAR, "E_VALUE");
    REFUSED(p.score = (clf_score)9, "E_VALUE: attention: score 9");
    REFUSED(p.score = CLF_SCORE_DOT; p.w_q = p.w_k = p.w_v = NULL, "needs equal widths");
    REFUSED(p.lengths = a.mask.tensor, "E_DTYPE: attention lengths is uint8, expected int32");
    REFUSED(masks.mask = a.padding.tensor, "E_SHAPE: attention mask is [2,5], expected [2 or 1,3 or 1,5 or 1]");
    REFUSED(masks.padding_mask = a.attention.tensor, "E_SHAPE: attention padding mask is [3,5], expected [2,5]");
    REFUSED(masks.attention_mask = a.padding.tensor, "E_SHAPE: attention attention mask is [2,5], expected [3,5]");
    REFUSED(p.weights = a.out.tensor, "E_SHAPE: attention: weights is [2,3,6], expected [2,3,5]");
    REFUSED(p.dropout = -1, "E_VALUE: attention: dropout -1");
    REFUSED(masks.empty_rows = (clf_empty_rows)5, "E_VALUE");
    free_data(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),          cmocka_unit_test(test_distant_origin),
        cmocka_unit_test(test_masked_rubbish), cmocka_unit_test(test_rubbish_behind_first_queries),
        cmocka_unit_test(test_strided_vector), cmocka_unit_test(test_kept_underflow),
        cmocka_unit_test(test_dropout),        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, device_setup, device_teardown);
}
