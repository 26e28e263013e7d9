/* SPDX-License-Identifier: MIT */
/* Multi-head attention: layouts, widths, biases, the masks of both layouts, captured weights and refusals against double. */
#include <stdio.h>
#include <stdlib.h>

#include "base/status.h"
#include "clformer/attention.h"
#include "support/check.h"
#include "support/device.h"
#include "support/operand.h"
#include "workload/reference_softmax.h"

static const double U = 0x1p-24;

typedef enum mask_bits { MASK = 1, MASK_SEQUENCE = 2, PADDING = 4, ATTENTION = 8, CAUSAL = 16 } mask_bits;

typedef struct mha_case {
    clf_layout layout;
    int64_t batch, queries, keys, heads, d, dv, width_q, width_k, width_v, width_o; /* width_o 0: no output projection */
    int masks;
    bool is_self, has_bias, has_weights, has_permuted_weights;
    clf_empty_rows empty_rows;
    clf_dtype dtype;
} mha_case;

enum { Q, K, V, O };

typedef struct mha_data {
    operand x[4]; /* q, k, v inputs and the output */
    operand weight[4], bias[4], mask, padding, attention, captured;
    clf_attention_masks masks;
    clf_multi_head_attention_params params;
    clf_multi_head_attention *mha;
} mha_data;

static void name_case(const mha_case *c, char *id, size_t size)
{
    snprintf(id, size, "mha [%s %s N=%lld Q=%lld K=%lld H=%lld d=%lld dv=%lld masks=%d%s%s%s empty=%d]",
             c->layout == CLF_LAYOUT_NLD ? "nld" : "lnd", clf_dtype_name(c->dtype), (long long)c->batch, (long long)c->queries,
             (long long)c->keys, (long long)c->heads, (long long)c->d, (long long)c->dv, c->masks, c->is_self ? " self" : "",
             c->has_bias ? " bias" : "", c->has_weights ? " weights" : "", (int)c->empty_rows);
}

static operand make(clf_context *context, clf_dtype dtype, rng *r, int rank, int64_t d0, int64_t d1, int64_t d2, float range)
{
    operand o = operand_create(context, dtype, LAYOUT_CONTIGUOUS, rank, (int64_t[]){d0, d1, d2});
    operand_fill_uniform(&o, r, -range, range);
    return o;
}

static operand make_io(clf_context *context, const mha_case *c, rng *r, int64_t length, int64_t width)
{
    const bool nld = c->layout == CLF_LAYOUT_NLD;
    return make(context, c->dtype, r, 3, nld ? c->batch : length, nld ? length : c->batch, width, 1);
}

static mha_data make_data(clf_context *context, const mha_case *c)
{
    mha_data a = {.masks = CLF_ATTENTION_MASKS_INIT, .params = CLF_MULTI_HEAD_ATTENTION_PARAMS_INIT};
    rng r = {(uint64_t)(c->queries * 100 + c->keys + c->masks)};
    const int64_t inner[3] = {c->heads * c->d, c->heads * c->d, c->heads * c->dv}, width[3] = {c->width_q, c->width_k, c->width_v};
    const bool nld = c->layout == CLF_LAYOUT_NLD;
    for (int i = 0; i < 3; i++) {
        if (i == Q || !c->is_self)
            a.x[i] = make_io(context, c, &r, i == Q ? c->queries : c->keys, width[i]);
        a.weight[i] = make(context, c->dtype, &r, 2, inner[i], width[i], 0, 0.7f);
        if (c->has_bias)
            a.bias[i] = make(context, c->dtype, &r, 1, inner[i], 0, 0, 0.5f);
    }
    const int64_t out = c->width_o ? c->width_o : inner[V];
    a.x[O] = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3,
                            nld ? (int64_t[]){c->batch, c->queries, out} : (int64_t[]){c->queries, c->batch, out});
    if (c->width_o) {
        a.weight[O] = make(context, c->dtype, &r, 2, out, inner[V], 0, 0.7f);
        if (c->has_bias)
            a.bias[O] = make(context, c->dtype, &r, 1, out, 0, 0, 0.5f);
    }
    if (c->masks & MASK)
        a.mask = operand_random_mask(context, &r, LAYOUT_CONTIGUOUS, 4, (int64_t[]){c->batch, 1, c->queries, c->keys}, 3);
    if (c->masks & MASK_SEQUENCE)
        a.mask = operand_random_mask(context, &r, LAYOUT_CONTIGUOUS, 3, (int64_t[]){c->queries, c->keys, c->batch}, 3);
    if (c->masks & PADDING)
        a.padding = operand_random_mask(context, &r, LAYOUT_CONTIGUOUS, 2, (int64_t[]){c->batch, c->keys}, 3);
    if (c->masks & ATTENTION)
        a.attention = operand_random_mask(context, &r, LAYOUT_CONTIGUOUS, 2, (int64_t[]){c->queries, c->keys}, 3);
    if (c->has_weights)
        a.captured = operand_create(context, CLF_F32, c->has_permuted_weights ? LAYOUT_REVERSED : LAYOUT_CONTIGUOUS, 4,
                                    (int64_t[]){c->batch, c->heads, c->queries, c->keys});
    a.params.layout = c->layout;
    a.masks.mask = a.mask.tensor;
    a.masks.padding_mask = a.padding.tensor;
    a.masks.attention_mask = a.attention.tensor;
    a.masks.is_causal = (c->masks & CAUSAL) != 0;
    a.masks.empty_rows = c->empty_rows;
    a.params.weights = a.captured.tensor;
    const clf_multi_head_attention_weights weights = {.size = sizeof weights,
                                                      .w_q = a.weight[Q].tensor,
                                                      .w_k = a.weight[K].tensor,
                                                      .w_v = a.weight[V].tensor,
                                                      .w_o = a.weight[O].tensor,
                                                      .b_q = a.bias[Q].tensor,
                                                      .b_k = a.bias[K].tensor,
                                                      .b_v = a.bias[V].tensor,
                                                      .b_o = a.bias[O].tensor};
    CHECK_OK(clf_multi_head_attention_create(context, c->heads, &weights, &a.mha));
    return a;
}

static void free_data(mha_data *a)
{
    clf_multi_head_attention_destroy(a->mha);
    for (int i = 0; i < 4; i++) {
        operand_destroy(&a->x[i]);
        operand_destroy(&a->weight[i]);
        operand_destroy(&a->bias[i]);
    }
    operand_destroy(&a->mask);
    operand_destroy(&a->padding);
    operand_destroy(&a->attention);
    operand_destroy(&a->captured);
}

static size_t row_of(const mha_case *c, int64_t n, int64_t l, int64_t length)
{
    return (size_t)(c->layout == CLF_LAYOUT_NLD ? n * length + l : l * c->batch + n);
}

/* y = row W^T + b and its error; `error` holds the error of the row on entry (NULL: exact). */
static void linear(const operand *w, const operand *b, const double *row, const double *row_error, int64_t n, int64_t k, double *y,
                   double *error)
{
    for (int64_t i = 0; i < n; i++) {
        double sum = b->value ? b->value[i] : 0, size = fabs(sum), e = 0;
        for (int64_t j = 0; j < k; j++) {
            sum += row[j] * w->value[i * k + j];
            size += fabs(row[j] * w->value[i * k + j]);
            e += row_error ? row_error[j] * fabs(w->value[i * k + j]) : 0;
        }
        y[i] = sum;
        error[i] = e + (double)(k + 3) * U * size;
    }
}

static bool is_kept(const mha_case *c, const mha_data *a, int64_t n, int64_t i, int64_t j)
{
    return !((c->masks & MASK && a->mask.value[(n * c->queries + i) * c->keys + j] == 0) ||
             (c->masks & MASK_SEQUENCE && a->mask.value[(i * c->keys + j) * c->batch + n] == 0) ||
             (c->masks & PADDING && a->padding.value[n * c->keys + j] == 0) ||
             (c->masks & ATTENTION && a->attention.value[i * c->keys + j] == 0) || (c->masks & CAUSAL && j > i));
}

/* Projected rows of all batches: [batch][length][inner] with their errors. */
static void project(const mha_case *c, const mha_data *a, int which, double **values, double **errors)
{
    const operand *x = &a->x[c->is_self ? Q : which];
    const int64_t length = which == Q ? c->queries : c->keys, width = which == Q ? c->width_q : which == K ? c->width_k : c->width_v;
    const int64_t inner = c->heads * (which == V ? c->dv : c->d);
    *values = calloc((size_t)(c->batch * length * inner) + 1, sizeof **values);
    *errors = calloc((size_t)(c->batch * length * inner) + 1, sizeof **errors);
    assert_true(*values && *errors);
    for (int64_t n = 0; n < c->batch; n++)
        for (int64_t l = 0; l < length; l++)
            linear(&a->weight[which], &a->bias[which], x->value + row_of(c, n, l, length) * (size_t)width, NULL, inner, width,
                   *values + (n * length + l) * inner, *errors + (n * length + l) * inner);
}

/* Context of one head and query, and the captured weights. */
static void attend(const char *id, const mha_case *c, const mha_data *a, double *const value[3], double *const error[3], int64_t n,
                   int64_t h, int64_t i, double *context, double *context_error)
{
    double score[256], want[256], worst = 0, largest = 0;
    bool keep[256];
    const int64_t q = ((n * c->queries + i) * c->heads + h) * c->d;
    for (int64_t j = 0; j < c->keys; j++) {
        const int64_t k = ((n * c->keys + j) * c->heads + h) * c->d;
        double sum = 0, e = 0;
        for (int64_t t = 0; t < c->d; t++) {
            sum += value[Q][q + t] * value[K][k + t];
            e += fabs(value[Q][q + t]) * error[K][k + t] + error[Q][q + t] * fabs(value[K][k + t]) +
                 (double)(c->d + 4) * U * fabs(value[Q][q + t] * value[K][k + t]);
        }
        keep[j] = is_kept(c, a, n, i, j);
        score[j] = sum / sqrt((double)c->d);
        worst = keep[j] && e / sqrt((double)c->d) > worst ? e / sqrt((double)c->d) : worst;
        largest = keep[j] && fabs(score[j]) > largest ? fabs(score[j]) : largest;
    }
    clfi_ref_softmax_row(score, keep, (size_t)c->keys, c->empty_rows, want);
    const double relative = 2 * worst + (6 * largest + 2 * (double)c->keys + 40) * U;
    for (int64_t j = 0; j < c->keys && c->has_weights; j++) {
        const double got = a->captured.value[((n * c->heads + h) * c->queries + i) * c->keys + j];
        CHECK(within(got, want[j], relative * want[j] + 0x1p-126), "%s: weight n=%lld h=%lld %lld,%lld: %.9g, want %.9g", id, (long long)n,
              (long long)h, (long long)i, (long long)j, got, want[j]);
    }
    for (int64_t e = 0; e < c->dv; e++) {
        context[e] = context_error[e] = 0;
        for (int64_t j = 0; j < c->keys; j++) {
            const int64_t v = ((n * c->keys + j) * c->heads + h) * c->dv + e;
            context[e] += want[j] == 0 ? 0 : want[j] * value[V][v];
            context_error[e] += want[j] == 0 ? 0 : fabs(want[j]) * (error[V][v] + relative * fabs(value[V][v]));
        }
    }
}

static void compare(const char *id, const mha_case *c, const mha_data *a)
{
    double *value[3], *error[3];
    const int64_t inner = c->heads * c->dv, out = c->width_o ? c->width_o : inner;
    for (int i = 0; i < 3; i++)
        project(c, a, i, &value[i], &error[i]);
    double *context = calloc((size_t)(2 * inner + 2 * out) + 1, sizeof *context), *context_error = context + inner;
    double *want = context_error + inner, *bound = want + out;
    assert_non_null(context);
    for (int64_t n = 0; n < c->batch; n++) {
        for (int64_t i = 0; i < c->queries; i++) {
            for (int64_t h = 0; h < c->heads; h++)
                attend(id, c, a, value, error, n, h, i, context + h * c->dv, context_error + h * c->dv);
            if (c->width_o)
                linear(&a->weight[O], &a->bias[O], context, context_error, out, inner, want, bound);
            for (int64_t e = 0; e < out; e++) {
                const double got = a->x[O].value[row_of(c, n, i, c->queries) * (size_t)out + (size_t)e];
                const double wanted = c->width_o ? want[e] : context[e], limit = (c->width_o ? bound[e] : context_error[e]) + 0x1p-120;
                CHECK(within(got, wanted, limit), "%s: out n=%lld l=%lld %lld: %.9g, want %.9g, bound %.3g", id, (long long)n, (long long)i,
                      (long long)e, got, wanted, limit);
            }
        }
    }
    free(context);
    for (int i = 0; i < 3; i++) {
        free(value[i]);
        free(error[i]);
    }
}

static void run_case(clf_context *context, const mha_case *c)
{
    char id[320];
    name_case(c, id, sizeof id);
    mha_data a = make_data(context, c);
    a.params.masks = &a.masks;
    const clf_tensor *k = c->is_self ? a.x[Q].tensor : a.x[K].tensor, *v = c->is_self ? a.x[Q].tensor : a.x[V].tensor;
    const clf_status st = clf_multi_head_attention_apply(context, a.mha, a.x[Q].tensor, k, v, &a.params, a.x[O].tensor);
    if (st != CLF_OK)
        fail_msg("%s: %s", id, clf_last_error());
    operand_read(&a.x[O], id);
    if (c->has_weights)
        operand_read(&a.captured, id);
    compare(id, c, &a);
    free_data(&a);
}

#define SELF(N, L, H, D)                                                                                                                \
    .batch = N, .queries = L, .keys = L, .heads = H, .d = D, .dv = D, .width_q = (H) * (D), .width_k = (H) * (D), .width_v = (H) * (D), \
    .width_o = (H) * (D), .is_self = true
#define CROSS(N, LQ, LK, H, D, DV, WQ, WK, WV, WO) \
    .batch = N, .queries = LQ, .keys = LK, .heads = H, .d = D, .dv = DV, .width_q = WQ, .width_k = WK, .width_v = WV, .width_o = WO
static const mha_case small_cases[] = {
    {CLF_LAYOUT_NLD, SELF(2, 3, 2, 4), .has_bias = true},
    {CLF_LAYOUT_LND, CROSS(2, 3, 4, 2, 4, 3, 5, 6, 7, 4), .masks = MASK_SEQUENCE, .has_weights = true},
};
static const mha_case cases[] = {
    {CLF_LAYOUT_NLD, SELF(3, 20, 4, 32), .has_bias = true},
    {CLF_LAYOUT_NLD, SELF(3, 20, 4, 32), .has_bias = true, .has_weights = true},
    {CLF_LAYOUT_LND, SELF(3, 20, 4, 32), .has_bias = true},
    {CLF_LAYOUT_LND, SELF(3, 20, 4, 32), .masks = CAUSAL},
    {CLF_LAYOUT_LND, SELF(3, 20, 4, 32), .masks = CAUSAL | PADDING, .has_weights = true, .has_permuted_weights = true},
    {CLF_LAYOUT_NLD, SELF(3, 20, 4, 32), .masks = CAUSAL | PADDING, .empty_rows = CLF_EMPTY_ROWS_NAN},
    {CLF_LAYOUT_NLD, SELF(3, 20, 4, 32), .masks = PADDING, .empty_rows = CLF_EMPTY_ROWS_UNIFORM},
    {CLF_LAYOUT_NLD, SELF(12, 12, 2, 16), .masks = PADDING},
    {CLF_LAYOUT_NLD, SELF(12, 12, 2, 16), .masks = PADDING | ATTENTION, .empty_rows = CLF_EMPTY_ROWS_NAN},
    {CLF_LAYOUT_NLD, SELF(3, 20, 3, 5), .masks = MASK | PADDING | ATTENTION | CAUSAL, .empty_rows = CLF_EMPTY_ROWS_UNIFORM,
     .has_weights = true},
    {CLF_LAYOUT_LND, SELF(3, 20, 3, 5), .masks = MASK, .has_bias = true},
    {CLF_LAYOUT_LND, SELF(3, 20, 3, 5), .masks = MASK_SEQUENCE, .has_bias = true, .empty_rows = CLF_EMPTY_ROWS_NAN},
    {CLF_LAYOUT_LND, SELF(3, 50, 2, 16), .masks = MASK_SEQUENCE | PADDING | CAUSAL, .empty_rows = CLF_EMPTY_ROWS_UNIFORM},
    {CLF_LAYOUT_NLD, SELF(3, 50, 2, 16), .masks = MASK | ATTENTION},
    {CLF_LAYOUT_NLD, CROSS(2, 9, 33, 2, 16, 8, 10, 20, 30, 12), .has_bias = true},
    {CLF_LAYOUT_NLD, CROSS(2, 33, 9, 2, 16, 8, 10, 20, 30, 12), .masks = CAUSAL, .has_bias = true, .has_weights = true},
    {CLF_LAYOUT_NLD, CROSS(2, 9, 33, 2, 16, 16, 10, 20, 30, 0), .masks = PADDING},
    {CLF_LAYOUT_LND, CROSS(2, 9, 33, 2, 16, 16, 10, 20, 30, 0), .has_weights = true},
    {CLF_LAYOUT_LND, CROSS(2, 9, 33, 2, 16, 16, 10, 20, 30, 0)},
    {CLF_LAYOUT_NLD, CROSS(2, 9, 0, 2, 16, 16, 10, 20, 30, 7), .has_bias = true},
    {CLF_LAYOUT_NLD, CROSS(0, 9, 4, 2, 16, 16, 10, 20, 30, 7), .has_bias = true},
    {CLF_LAYOUT_NLD, CROSS(1, 1, 1, 1, 1, 1, 1, 1, 1, 1), .has_bias = true, .has_weights = true},
    {CLF_LAYOUT_NLD, SELF(2, 17, 2, 16), .dtype = CLF_F16, .has_bias = true},
    {CLF_LAYOUT_LND, SELF(2, 17, 2, 16), .dtype = CLF_BF16, .masks = PADDING},
};

static void test_cases(void **state)
{
    for (size_t i = 0; i < COUNT(small_cases); i++)
        run_case(*state, &small_cases[i]);
    for (size_t i = 0; i < COUNT(cases) && !only_small_cases(); i++)
        run_case(*state, &cases[i]);
}

/* The rows of an input may lie apart when they are evenly spaced: one position of each sequence. Two of five positions are not. */
static void test_slices(void **state)
{
    enum { BATCH = 2, LENGTH = 5, WIDTH = 5 };
    clf_context *context = *state;
    const mha_case c = {CLF_LAYOUT_NLD, CROSS(BATCH, 1, 4, 2, 4, 3, WIDTH, 6, 7, 4)};
    mha_data a = make_data(context, &c);
    rng r = {5};
    operand whole = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){BATCH, LENGTH, WIDTH});
    clf_tensor *one, *two, *out;
    float values[BATCH * WIDTH], want[BATCH * 4], got[BATCH * 4];
    operand_fill_uniform(&whole, &r, -1, 1);
    CHECK_OK(clf_tensor_slice(whole.tensor, 1, 2, 1, 1, &one));
    CHECK_OK(clf_tensor_slice(whole.tensor, 1, 2, 2, 1, &two));
    CHECK_OK(clf_tensor_read_f32(one, values, COUNT(values)));
    operand_fill(&a.x[Q], values);
    CHECK_OK(clf_multi_head_attention_apply(context, a.mha, a.x[Q].tensor, a.x[K].tensor, a.x[V].tensor, &a.params, a.x[O].tensor));
    CHECK_OK(clf_tensor_read_f32(a.x[O].tensor, want, COUNT(want)));
    operand_spoil(&a.x[O]);
    CHECK_OK(clf_multi_head_attention_apply(context, a.mha, one, a.x[K].tensor, a.x[V].tensor, &a.params, a.x[O].tensor));
    CHECK_OK(clf_tensor_read_f32(a.x[O].tensor, got, COUNT(got)));
    for (size_t i = 0; i < COUNT(want); i++)
        CHECK(within(got[i], want[i], 1e-6), "a slice at %zu: %.9g, want %.9g", i, (double)got[i], (double)want[i]);
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){BATCH, 2, 4}, &out));
    CHECK_FAILS(clf_multi_head_attention_apply(context, a.mha, two, a.x[K].tensor, a.x[V].tensor, &a.params, out), CLF_INVALID_ARGUMENT,
                "E_SHAPE: multi-head attention q: its rows are not evenly spaced");
    clf_tensor_destroy(out);
    clf_tensor_destroy(two);
    clf_tensor_destroy(one);
    operand_destroy(&whole);
    free_data(&a);
}

static void test_refusals(void **state)
{
    clf_context *context = *state;
    const mha_case c = {CLF_LAYOUT_NLD, CROSS(2, 3, 4, 2, 4, 3, 5, 6, 7, 4), .masks = MASK | PADDING | ATTENTION, .has_weights = true,
                        .has_bias = true};
    mha_data a = make_data(context, &c);
    clf_multi_head_attention *bad = NULL;
    clf_tensor *q_lnd, *k_lnd, *v_lnd, *out_lnd;
    clf_multi_head_attention_weights w = {
        .size = sizeof w, .w_q = a.weight[Q].tensor, .w_k = a.weight[K].tensor, .w_v = a.weight[V].tensor, .w_o = a.weight[O].tensor};
    CHECK_FAILS(clf_multi_head_attention_create(context, 0, &w, &bad), CLF_INVALID_ARGUMENT, "E_VALUE: multi-head attention: 0 heads");
    CHECK_FAILS(clf_multi_head_attention_create(context, 3, &w, &bad), CLF_INVALID_ARGUMENT,
                "E_VALUE: multi-head attention w_q has 8 rows, which 3 heads");
    w.w_k = a.weight[V].tensor;
    CHECK_FAILS(clf_multi_head_attention_create(context, 2, &w, &bad), CLF_INVALID_ARGUMENT,
                "E_SHAPE: multi-head attention w_k is [6,7], expected [8,7]");
    w.w_k = a.weight[K].tensor;
    w.w_o = a.weight[Q].tensor;
    CHECK_FAILS(clf_multi_head_attention_create(context, 2, &w, &bad), CLF_INVALID_ARGUMENT,
                "E_SHAPE: multi-head attention w_o is [8,5], expected [8,6]");
    w.w_o = a.weight[O].tensor;
    w.b_q = a.bias[V].tensor;
    CHECK_FAILS(clf_multi_head_attention_create(context, 2, &w, &bad), CLF_INVALID_ARGUMENT,
                "E_SHAPE: multi-head attention: bias of w_q is [6], expected [8]");
    w.b_q = NULL;
    clf_context *foreign_context = engine_context(NULL);
    clf_tensor *foreign;
    CHECK_OK(clf_tensor_create(foreign_context, CLF_F32, 1, (int64_t[]){8}, &foreign));
    w.b_k = foreign;
    CHECK_FAILS(clf_multi_head_attention_create(context, 2, &w, &bad), CLF_INVALID_ARGUMENT,
                "multi-head attention: bias of w_k belongs to another context");
    clf_tensor_destroy(foreign);
    clf_context_destroy(foreign_context);
    w.b_k = NULL;
    w.w_v = NULL;
    CHECK_FAILS(clf_multi_head_attention_create(context, 2, &w, &bad), CLF_INVALID_ARGUMENT, "w_v");
    assert_null(bad);
#define REFUSED(change, part)                                                                                      \
    do {                                                                                                           \
        clf_attention_masks m = a.masks;                                                                           \
        clf_multi_head_attention_params p = a.params;                                                              \
        p.masks = &m;                                                                                              \
        clf_tensor *q = a.x[Q].tensor, *k = a.x[K].tensor, *v = a.x[V].tensor, *out = a.x[O].tensor;               \
        change;                                                                                                    \
        CHECK_FAILS(clf_multi_head_attention_apply(context, a.mha, q, k, v, &p, out), CLF_INVALID_ARGUMENT, part); \
    } while (0)
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){3, 2, 5}, &q_lnd));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){4, 2, 6}, &k_lnd));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){4, 2, 7}, &v_lnd));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){3, 2, 4}, &out_lnd));
    REFUSED(q = k, "E_SHAPE: multi-head attention q is [2,4,6], expected [2,4,5]");
    REFUSED(k = v, "E_SHAPE: multi-head attention k is [2,4,7], expected [2,4,6]");
    REFUSED(out = q, "E_SHAPE: multi-head attention out is [2,3,5], expected [2,3,4]");
    REFUSED(q = a.weight[Q].tensor, "expected rank 3");
    REFUSED(q = a.mask.tensor, "E_DTYPE: multi-head attention q is uint8");
    REFUSED(m.mask = a.padding.tensor, "E_SHAPE: multi-head attention mask is [2,4], expected [2 or 1,2 or 1,3 or 1,4 or 1]");
    REFUSED(m.mask = a.padding.tensor; p.layout = CLF_LAYOUT_LND; q = q_lnd; k = k_lnd; v = v_lnd;
            out = out_lnd, "E_SHAPE: multi-head attention mask is [2,4], expected [3 or 1,4,2 or 1]");
    REFUSED(memset(&m, 0xaa, sizeof m); m.size = 0; p.layout = CLF_LAYOUT_LND; q = q_lnd; k = k_lnd; v = v_lnd;
            out = out_lnd, "clf_attention_masks: its member size is 0");
    REFUSED(m.padding_mask = a.attention.tensor, "E_SHAPE: multi-head attention padding mask is [3,4], expected [2,4]");
    REFUSED(m.attention_mask = a.padding.tensor, "E_SHAPE: multi-head attention attention mask is [2,4], expected [3,4]");
    for (int i = 0; i < 3; i++) { /* of these two, no size is repeated */
        static const int64_t size[3][2][2] = {{{2, 1}, {1, 4}}, {{1, 4}, {3, 1}}, {{1, 1}, {1, 1}}};
        clf_tensor *padding, *attention;
        CHECK_OK(clf_tensor_create(context, CLF_U8, 2, size[i][0], &padding));
        CHECK_OK(clf_tensor_create(context, CLF_U8, 2, size[i][1], &attention));
        REFUSED(m.padding_mask = padding, "E_SHAPE: multi-head attention padding mask");
        REFUSED(m.attention_mask = attention, "E_SHAPE: multi-head attention attention mask");
        clf_tensor_destroy(padding);
        clf_tensor_destroy(attention);
    }
    REFUSED(m.attention_mask = a.x[Q].tensor, "E_DTYPE: multi-head attention attention mask is float32");
    clf_tensor *half, *numbers, *repeated;
    CHECK_OK(clf_tensor_create(context, CLF_F16, 4, (int64_t[]){2, 2, 3, 4}, &half));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 1, (int64_t[]){48}, &numbers));
    REFUSED(p.weights = a.x[O].tensor, "E_SHAPE: multi-head attention: weights is [2,3,4], expected the shape of the scores, [2,2,3,4]");
    REFUSED(p.weights = half, "E_DTYPE: multi-head attention: weights is float16, expected float32");
    CHECK_OK(clf_tensor_view(numbers, 4, (int64_t[]){2, 2, 3, 4}, (int64_t[]){24, 12, 0, 1}, 0, &repeated));
    REFUSED(p.weights = repeated, "E_SHAPE: multi-head attention: weights has a stride of 0 along axis 2 of 3 elements");
    clf_tensor_destroy(repeated);
    CHECK_OK(clf_tensor_view(numbers, 3, (int64_t[]){2, 3, 4}, (int64_t[]){0, 0, 1}, 0, &repeated));
    REFUSED(out = repeated, "E_SHAPE: multi-head attention: out has a stride of 0 along axis 0");
    clf_tensor *const others[] = {half, numbers, repeated};
    for (size_t i = 0; i < COUNT(others); i++)
        clf_tensor_destroy(others[i]);
    REFUSED(p.dropout = 1.5f, "E_VALUE");
    REFUSED(p.layout = (clf_layout)3, "E_VALUE: multi-head attention: layout 3");
    REFUSED(m.empty_rows = (clf_empty_rows)3, "E_VALUE");
    clf_tensor *const sequence_first[] = {q_lnd, k_lnd, v_lnd, out_lnd};
    for (size_t i = 0; i < COUNT(sequence_first); i++)
        clf_tensor_destroy(sequence_first[i]);
    free_data(&a);
    clf_multi_head_attention_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, device_setup, device_teardown);
}
