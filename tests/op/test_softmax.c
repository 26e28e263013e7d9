/* SPDX-License-Identifier: MIT */
/* Softmax: every engine, axis, mask, layout, storage type and policy against double; masked rubbish, NaN rows, in place, refusals. */
#include <stdio.h>
#include <stdlib.h>

#include "base/status.h"
#include "clformer/softmax.h"
#include "support/check.h"
#include "support/device.h"
#include "support/engines.h"
#include "support/operand.h"
#include "workload/reference_softmax.h"

typedef enum mask_bits {
    LENGTHS_1 = 1,
    LENGTHS_2 = 2,
    MASK = 4,
    PADDING = 8,
    ATTENTION = 16,
    CAUSAL = 32,
    BIAS = 64,
    MASK_ONE_KEY = 128, /* mask and bias have size 1 on the key axis */
    ONE_ROW = 256       /* and on axis 0 */
} mask_bits;

typedef struct softmax_case {
    int rank;
    int64_t dim[4];
    int axis;
    int masks;
    clf_dtype dtype, out_dtype;
    layout layout;
    clf_empty_rows empty_rows;
    bool is_in_place;
    int query_axis; /* 0: the default */
    float special;  /* planted in some scores; 0: none */
} softmax_case;

typedef struct softmax_data {
    operand x, y, mask, padding, attention, bias, lengths;
    clf_softmax_params params;
    clf_attention_masks masks;
    int key, query;
} softmax_data;

static void name_case(const char *engine, const softmax_case *c, char *id, size_t size)
{
    static const char *const names[] = {"lengths1", "lengths2", "mask", "padding", "attention", "causal", "bias", "one-key", "one-row"};
    int at = snprintf(id, size, "%s [%s>%s", engine, clf_dtype_name(c->dtype), clf_dtype_name(c->out_dtype));
    for (int i = 0; i < c->rank; i++)
        at += snprintf(id + at, size - (size_t)at, "%c%lld", i ? 'x' : ' ', (long long)c->dim[i]);
    at += snprintf(id + at, size - (size_t)at, " axis=%d layout=%s empty=%d special=%g", c->axis, layout_name(c->layout),
                   (int)c->empty_rows, (double)c->special);
    for (size_t i = 0; i < COUNT(names); i++)
        if (c->masks >> i & 1)
            at += snprintf(id + at, size - (size_t)at, " %s", names[i]);
    snprintf(id + at, size - (size_t)at, "%s]", c->is_in_place ? " in-place" : "");
}

static softmax_data make_data(clf_context *context, const softmax_case *c)
{
    softmax_data a = {.params = CLF_SOFTMAX_PARAMS_INIT, .masks = CLF_ATTENTION_MASKS_INIT};
    rng r = {(uint64_t)(c->dim[0] * 1000 + c->dim[c->rank - 1] * 10 + c->masks)};
    a.key = c->axis < 0 ? c->axis + c->rank : c->axis;
    a.query = c->query_axis ? c->query_axis : a.key == c->rank - 1 ? c->rank - 2 : c->rank - 1;
    const int64_t keys = c->dim[a.key], batch = c->dim[0], queries = c->rank > 1 ? c->dim[a.query] : 1;
    a.x = operand_create(context, c->dtype, c->layout, c->rank, c->dim);
    operand_fill_uniform(&a.x, &r, -6, 6);
    if (c->special != 0) {
        float *values = malloc((a.x.count + 1) * sizeof *values);
        assert_non_null(values);
        for (size_t i = 0; i < a.x.count; i++)
            values[i] = rng_bits(&r) % 11 == 0 ? c->special : (float)a.x.value[i];
        operand_fill(&a.x, values);
        free(values);
    }
    if (!c->is_in_place)
        a.y = operand_create(context, c->out_dtype, c->layout, c->rank, c->dim);
    int64_t part[4];
    for (int i = 0; i < c->rank; i++)
        part[i] = (i == a.key && c->masks & MASK_ONE_KEY) || (i == 0 && c->masks & ONE_ROW) ? 1 : c->dim[i];
    if (c->masks & MASK)
        a.mask = operand_random_mask(context, &r, c->layout, c->rank, part, 3);
    if (c->masks & BIAS) {
        a.bias = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, c->rank, part);
        operand_fill_uniform(&a.bias, &r, -3, 3);
    }
    if (c->masks & PADDING)
        a.padding = operand_random_mask(context, &r, LAYOUT_CONTIGUOUS, 2, (int64_t[]){batch, keys}, 4);
    if (c->masks & ATTENTION)
        a.attention = operand_random_mask(context, &r, LAYOUT_SLICED, 2, (int64_t[]){queries, keys}, 3);
    if (c->masks & (LENGTHS_1 | LENGTHS_2)) {
        a.lengths = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, c->masks & LENGTHS_1 ? 1 : 2, (int64_t[]){batch, queries});
        int32_t *length = malloc((a.lengths.count + 1) * sizeof *length);
        assert_non_null(length);
        for (size_t i = 0; i < a.lengths.count; i++)
            length[i] = (int32_t)(rng_bits(&r) % (uint64_t)(keys + 6)) - 3;
        operand_fill_ids(&a.lengths, length);
        free(length);
    }
    a.params.axis = c->axis;
    a.params.query_axis = c->query_axis ? c->query_axis : CLF_AXIS_NONE;
    a.params.scale = c->special == 0 ? 0.75f : 1.0f;
    a.masks.empty_rows = c->empty_rows;
    a.masks.is_causal = (c->masks & CAUSAL) != 0;
    a.params.causal_offset = c->masks & CAUSAL && queries > 4 ? -2 : 0;
    a.params.lengths = a.lengths.tensor;
    a.masks.mask = a.mask.tensor;
    a.params.bias = a.bias.tensor;
    a.masks.padding_mask = a.padding.tensor;
    a.masks.attention_mask = a.attention.tensor;
    return a;
}

static void free_data(softmax_data *a)
{
    operand_destroy(&a->lengths);
    operand_destroy(&a->attention);
    operand_destroy(&a->padding);
    operand_destroy(&a->bias);
    operand_destroy(&a->mask);
    operand_destroy(&a->y);
    operand_destroy(&a->x);
}

/* Position of an index within a full-rank mask with sizes of 1. */
static size_t mask_at(const softmax_case *c, const softmax_data *a, const int64_t *index)
{
    size_t at = 0;
    for (int i = 0; i < c->rank; i++) {
        const bool is_one = (i == a->key && c->masks & MASK_ONE_KEY) || (i == 0 && c->masks & ONE_ROW);
        at = is_one ? at : at * (size_t)c->dim[i] + (size_t)index[i];
    }
    return at;
}

/* Scores, masks and places of the row through `index` (its key component is overwritten). */
static void take_row(const softmax_case *c, const softmax_data *a, const double *x, int64_t *index, double *score, bool *keep,
                     size_t *place)
{
    const int64_t keys = c->dim[a->key];
    for (int64_t j = 0; j < keys; j++) {
        index[a->key] = j;
        size_t at = 0;
        for (int i = 0; i < c->rank; i++)
            at = at * (size_t)c->dim[i] + (size_t)index[i];
        place[j] = at;
        score[j] = (double)a->params.scale * x[at] + (c->masks & BIAS ? a->bias.value[mask_at(c, a, index)] : 0);
        keep[j] = true;
        if (c->masks & MASK)
            keep[j] = a->mask.value[mask_at(c, a, index)] != 0;
        if (c->masks & PADDING)
            keep[j] = keep[j] && a->padding.value[index[0] * keys + j] != 0;
        if (c->masks & ATTENTION)
            keep[j] = keep[j] && a->attention.value[index[a->query] * keys + j] != 0;
        if (c->masks & CAUSAL)
            keep[j] = keep[j] && j <= index[a->query] + a->params.causal_offset;
        if (c->masks & LENGTHS_1)
            keep[j] = keep[j] && j < (int64_t)a->lengths.value[index[0]];
        if (c->masks & LENGTHS_2)
            keep[j] = keep[j] && j < (int64_t)a->lengths.value[index[0] * c->dim[a->query] + index[a->query]];
    }
}

static double weight_bound(const double *score, const bool *keep, int64_t keys, double weight)
{
    double largest = 0;
    for (int64_t j = 0; j < keys; j++)
        if (keep[j] && isfinite(score[j]) && fabs(score[j]) > largest)
            largest = fabs(score[j]);
    if (largest > 1e4) /* huge scores here are equal or far apart: they are exact in float32 */
        largest = 8;
    return clfi_ref_softmax_error(largest, (size_t)keys) * weight;
}

static void compare(const char *id, const softmax_case *c, const softmax_data *a, const double *x, const double *y)
{
    const size_t keys = (size_t)c->dim[a->key];
    double *score = calloc(2 * keys + 1, sizeof *score), *want = score + keys;
    bool *keep = calloc(keys + 1, sizeof *keep);
    size_t *place = calloc(keys + 1, sizeof *place);
    assert_true(score && keep && place);
    int64_t index[4] = {0};
    for (bool is_done = a->x.count == 0; !is_done;) {
        take_row(c, a, x, index, score, keep, place);
        clfi_ref_softmax_row(score, keep, keys, c->empty_rows, want);
        for (size_t j = 0; j < keys; j++) {
            const double limit = weight_bound(score, keep, (int64_t)keys, want[j]);
            const double bound = limit + operand_rounding(c->is_in_place ? c->dtype : c->out_dtype, want[j] + limit);
            CHECK(within(y[place[j]], want[j], bound), "%s at %zu key %zu: %.9g, want %.9g, bound %.3g", id, place[j], j, y[place[j]],
                  want[j], bound);
            if (want[j] == 0 && !keep[j])
                CHECK(y[place[j]] == 0, "%s at %zu: masked key %zu has weight %g", id, place[j], j, y[place[j]]);
        }
        is_done = true;
        for (int i = c->rank - 1; i >= 0 && is_done; i--) { /* next row */
            if (i == a->key)
                continue;
            is_done = ++index[i] == c->dim[i];
            index[i] = is_done ? 0 : index[i];
        }
    }
    free(place);
    free(keep);
    free(score);
}

static bool run_case(clf_context *context, const char *engine, const softmax_case *c)
{
    char id[320];
    name_case(engine, c, id, sizeof id);
    softmax_data a = make_data(context, c);
    operand *out = c->is_in_place ? &a.x : &a.y;
    double *x = malloc((a.x.count + 1) * sizeof *x);
    assert_non_null(x);
    memcpy(x, a.x.value, a.x.count * sizeof *x);
    a.params.masks = &a.masks;
    const clf_status st = clf_softmax(context, a.x.tensor, &a.params, out->tensor);
    if (st != CLF_OK && st != CLF_UNSUPPORTED)
        fail_msg("%s: %s", id, clf_last_error());
    if (st == CLF_OK) {
        operand_read(out, id);
        compare(id, c, &a, x, out->value);
        if (!c->is_in_place) { /* the input is as it was */
            operand_read(&a.x, id);
            for (size_t i = 0; i < a.x.count; i++)
                CHECK(within(a.x.value[i], x[i], 0), "%s: x changed at %zu", id, i);
        }
    }
    free(x);
    free_data(&a);
    return st == CLF_OK;
}

static const softmax_case small_cases[] = {
    {.rank = 2, .dim = {3, 19}, .axis = -1},
    {.rank = 3, .dim = {2, 3, 18}, .axis = -1, .masks = LENGTHS_1},
    {.rank = 3, .dim = {2, 3, 18}, .axis = -1, .masks = MASK | CAUSAL | BIAS, .empty_rows = CLF_EMPTY_ROWS_UNIFORM, .is_in_place = true},
    {.rank = 4, .dim = {3, 5, 2, 2}, .axis = 1, .masks = MASK, .query_axis = 0, .layout = LAYOUT_REVERSED},
    {.rank = 3, .dim = {2, 60, 41}, .axis = -1, .masks = LENGTHS_1 | CAUSAL},
    {.rank = 2, .dim = {2, 1030}, .axis = -1, .is_in_place = true},
    {.rank = 2, .dim = {2, 2055}, .axis = -1, .is_in_place = true},
    {.rank = 2, .dim = {40, 65}, .axis = 0},
};
static const softmax_case cases[] = {
    {.rank = 1, .dim = {1}, .axis = 0},
    {.rank = 1, .dim = {1000}, .axis = 0},
    {.rank = 2, .dim = {5, 131}, .axis = -1},
    {.rank = 2, .dim = {70, 64}, .axis = -1, .is_in_place = true},
    {.rank = 2, .dim = {300, 16}, .axis = 1},
    {.rank = 2, .dim = {9, 5000}, .axis = 1},
    {.rank = 2, .dim = {5, 1500}, .axis = 1, .is_in_place = true},
    {.rank = 2, .dim = {5, 3001}, .axis = 1, .is_in_place = true}, /* exponentials wait in y, of which the last vector repeats some */
    {.rank = 3, .dim = {2, 3, 3001}, .axis = -1, .masks = LENGTHS_2, .dtype = CLF_F16, .out_dtype = CLF_F16, .is_in_place = true},
    {.rank = 3, .dim = {3, 200, 83}, .axis = -1, .masks = LENGTHS_1 | CAUSAL}, /* several rows per work-item, shorter and longer by turns */
    {.rank = 3, .dim = {2, 190, 100}, .axis = -1, .masks = LENGTHS_2 | BIAS, .is_in_place = true, .empty_rows = CLF_EMPTY_ROWS_UNIFORM},
    /* rows side by side: blocks of them, a last vector */
    {.rank = 3, .dim = {3, 45, 290}, .axis = 1, .masks = MASK | PADDING, .is_in_place = true},
    {.rank = 3, .dim = {2, 19, 600}, .axis = 1, .masks = BIAS | LENGTHS_1, .empty_rows = CLF_EMPTY_ROWS_UNIFORM},
    {.rank = 4, .dim = {20, 33, 2, 9}, .axis = 1, .masks = MASK | CAUSAL, .query_axis = 0, .empty_rows = CLF_EMPTY_ROWS_NAN},
    {.rank = 4, .dim = {2, 9, 33, 40}, .axis = 2, .masks = MASK | CAUSAL | ATTENTION, .query_axis = 1, .empty_rows = CLF_EMPTY_ROWS_NAN},
    {.rank = 3, .dim = {3, 30, 40}, .axis = 1, .masks = MASK, .special = NAN, .is_in_place = true},
    {.rank = 2, .dim = {21, 70}, .axis = 0, .dtype = CLF_F16, .out_dtype = CLF_BF16},
    {.rank = 2, .dim = {777, 1}, .axis = 1},
    {.rank = 3, .dim = {0, 4, 5}, .axis = -1},
    {.rank = 3, .dim = {3, 4, 0}, .axis = -1},
    {.rank = 3, .dim = {4, 7, 37}, .axis = -1, .masks = LENGTHS_1, .empty_rows = CLF_EMPTY_ROWS_UNIFORM},
    {.rank = 3, .dim = {4, 7, 37}, .axis = -1, .masks = LENGTHS_2, .empty_rows = CLF_EMPTY_ROWS_NAN},
    {.rank = 3, .dim = {4, 7, 37}, .axis = -1, .masks = LENGTHS_2},
    {.rank = 3, .dim = {37, 7, 37}, .axis = -1, .masks = PADDING, .layout = LAYOUT_SLICED},
    {.rank = 3, .dim = {4, 37, 37}, .axis = -1, .masks = ATTENTION | CAUSAL},
    {.rank = 3,
     .dim = {4, 37, 40},
     .axis = -1,
     .masks = ATTENTION | CAUSAL | PADDING | MASK | BIAS | LENGTHS_2,
     .empty_rows = CLF_EMPTY_ROWS_UNIFORM},
    {.rank = 4, .dim = {2, 3, 9, 33}, .axis = -1, .masks = MASK | ONE_ROW, .empty_rows = CLF_EMPTY_ROWS_NAN},
    {.rank = 4, .dim = {2, 3, 9, 33}, .axis = -1, .masks = MASK | BIAS | MASK_ONE_KEY},
    {.rank = 4, .dim = {2, 3, 9, 33}, .axis = -1, .masks = MASK | CAUSAL | PADDING, .is_in_place = true},
    {.rank = 4, .dim = {2, 9, 33, 5}, .axis = 2, .masks = PADDING | ATTENTION | CAUSAL, .query_axis = 1},
    {.rank = 4, .dim = {2, 9, 33, 5}, .axis = 2, .masks = MASK | BIAS, .layout = LAYOUT_SWAPPED, .empty_rows = CLF_EMPTY_ROWS_UNIFORM},
    {.rank = 4, .dim = {9, 33, 2, 5}, .axis = 1, .masks = MASK | ONE_ROW, .layout = LAYOUT_REVERSED},
    {.rank = 2, .dim = {33, 70}, .axis = -1, .dtype = CLF_F16, .out_dtype = CLF_F16, .is_in_place = true},
    {.rank = 2, .dim = {33, 70}, .axis = -1, .dtype = CLF_F16, .out_dtype = CLF_F32},
    {.rank = 2, .dim = {33, 70}, .axis = -1, .dtype = CLF_BF16, .out_dtype = CLF_BF16, .layout = LAYOUT_SLICED},
    {.rank = 2, .dim = {33, 70}, .axis = -1, .out_dtype = CLF_F16},
    {.rank = 3, .dim = {5, 7, 43}, .axis = -1, .masks = LENGTHS_1, .out_dtype = CLF_F16}, /* rows on odd addresses, whole vectors masked */
    {.rank = 3, .dim = {5, 7, 43}, .axis = -1, .masks = LENGTHS_2, .dtype = CLF_F16, .out_dtype = CLF_F16},
    {.rank = 3, .dim = {3, 30, 40}, .axis = -1, .masks = MASK | LENGTHS_2, .special = NAN},
    {.rank = 3, .dim = {3, 30, 40}, .axis = -1, .masks = MASK | LENGTHS_2, .special = INFINITY, .empty_rows = CLF_EMPTY_ROWS_UNIFORM},
    {.rank = 3, .dim = {3, 30, 40}, .axis = -1, .masks = MASK | LENGTHS_2, .special = -INFINITY, .empty_rows = CLF_EMPTY_ROWS_NAN},
    {.rank = 3, .dim = {3, 30, 40}, .axis = -1, .masks = MASK | LENGTHS_2, .special = 3e38f},
    {.rank = 3, .dim = {3, 30, 40}, .axis = -1, .masks = MASK | LENGTHS_2, .special = -3e38f},
    {.rank = 3, .dim = {3, 30, 40}, .axis = 1, .special = NAN},
    {.rank = 3, .dim = {3, 30, 40}, .axis = 1, .special = 3e38f, .is_in_place = true},
};

static void test_cases(void **state)
{
    (void)state;
    for (const char *const *engine = engines_of(CLF_OP_SOFTMAX); *engine; engine++) {
        clf_context *context = engine_context(*engine);
        int run = 0, wanted = 0;
        for (size_t i = 0; i < COUNT(small_cases); i++, wanted++)
            run += run_case(context, *engine, &small_cases[i]);
        for (size_t i = 0; i < COUNT(cases); i++)
            if (takes_case(i, false)) {
                run += run_case(context, *engine, &cases[i]);
                wanted++;
            }
        if (strcmp(*engine, "softmax=vector") != 0 && strcmp(*engine, "softmax=lines") != 0)
            CHECK(run == wanted, "%s ran %d of %d cases", *engine, run, wanted);
        CHECK(run > 0 || !context->device.caps.is_cpu, "%s ran no case", *engine);
        clf_context_destroy(context);
    }
}

static void test_default_engine(void **state)
{
    for (size_t i = 0; i < COUNT(small_cases); i++)
        assert_true(run_case(*state, "default", &small_cases[i]));
    for (size_t i = 0; i < COUNT(cases); i++)
        if (takes_case(i, false))
            assert_true(run_case(*state, "default", &cases[i]));
}

/* Rows whose scores all lie below a common fill value keep their weights: masking goes by position. */
static void test_scores_below_fill_values(void **state)
{
    clf_context *context = *state;
    clf_tensor *x, *lengths, *y;
    float got[4];
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 3, (int64_t[]){1, 1, 4}, (float[]){-2e6f, -2e6f, 0, 0}, &x));
    CHECK_OK(clf_tensor_create_from(context, CLF_I32, 1, (int64_t[]){1}, (int32_t[]){2}, &lengths));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){1, 1, 4}, &y));
    CHECK_OK(clf_masked_softmax(context, x, lengths, CLF_EMPTY_ROWS_UNIFORM, y));
    CHECK_OK(clf_tensor_read(y, got, sizeof got));
    CHECK(got[0] == 0.5f && got[1] == 0.5f && got[2] == 0 && got[3] == 0, "%g %g %g %g", got[0], got[1], got[2], got[3]);
    CHECK_OK(clf_masked_softmax(context, x, NULL, CLF_EMPTY_ROWS_ZERO, y));
    CHECK_OK(clf_tensor_read(y, got, sizeof got));
    CHECK(got[0] == 0 && got[2] == 0.5f, "%g %g", got[0], got[2]);
    clf_tensor_destroy(y);
    clf_tensor_destroy(lengths);
    clf_tensor_destroy(x);
}

static void test_refusals(void **state)
{
    clf_context *context = *state;
    clf_tensor *x, *y, *flat, *i32, *u8, *f32, *scalar;
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){2, 3, 4}, &x));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){2, 3, 4}, &y));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){6, 4}, &flat));
    CHECK_OK(clf_tensor_create(context, CLF_I32, 1, (int64_t[]){3}, &i32));
    CHECK_OK(clf_tensor_create(context, CLF_U8, 2, (int64_t[]){3, 3}, &u8));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){3, 4}, &f32));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 0, NULL, &scalar));
#define REFUSED(change, part)                                                    \
    do {                                                                         \
        clf_softmax_params p = CLF_SOFTMAX_PARAMS_INIT;                          \
        clf_attention_masks masks = CLF_ATTENTION_MASKS_INIT;                    \
        p.masks = &masks;                                                        \
        change;                                                                  \
        CHECK_FAILS(clf_softmax(context, x, &p, y), CLF_INVALID_ARGUMENT, part); \
    } while (0)
    REFUSED(p.axis = 3, "E_AXIS: softmax axis 3: x has rank 3");
    REFUSED(p.axis = -4, "E_AXIS");
    REFUSED(p.lengths = i32, "E_SHAPE: softmax lengths is [3], expected [2]");
    REFUSED(p.lengths = u8, "E_DTYPE: softmax lengths is uint8, expected int32");
    REFUSED(masks.padding_mask = u8, "E_SHAPE: softmax padding mask is [3,3], expected [2,4]");
    REFUSED(masks.attention_mask = u8, "E_SHAPE: softmax attention mask is [3,3], expected [3,4]");
    REFUSED(masks.attention_mask = i32, "E_DTYPE: softmax attention mask");
    for (int i = 0; i < 3; i++) { /* of these two, no size is repeated */
        static const int64_t size[3][2][2] = {{{2, 1}, {1, 4}}, {{1, 4}, {3, 1}}, {{1, 1}, {1, 1}}};
        clf_tensor *padding, *attention;
        CHECK_OK(clf_tensor_create(context, CLF_U8, 2, size[i][0], &padding));
        CHECK_OK(clf_tensor_create(context, CLF_U8, 2, size[i][1], &attention));
        REFUSED(masks.padding_mask = padding, "E_SHAPE: softmax padding mask");
        REFUSED(masks.attention_mask = attention, "E_SHAPE: softmax attention mask");
        clf_tensor_destroy(padding);
        clf_tensor_destroy(attention);
    }
    REFUSED(masks.mask = u8, "E_SHAPE: softmax mask is [3,3], expected [2 or 1,3 or 1,4 or 1]");
    REFUSED(p.bias = f32, "E_SHAPE: softmax bias is [3,4], expected [2 or 1,3 or 1,4 or 1]");
    REFUSED(masks.is_causal = 1; p.query_axis = 2, "E_AXIS");
    REFUSED(masks.empty_rows = (clf_empty_rows)9, "E_VALUE: softmax: policy 9");
    clf_softmax_params p = CLF_SOFTMAX_PARAMS_INIT;
    CHECK_FAILS(clf_softmax(context, x, &p, flat), CLF_INVALID_ARGUMENT, "E_SHAPE: softmax y is [6,4], x is [2,3,4]");
    CHECK_FAILS(clf_softmax(context, scalar, &p, scalar), CLF_INVALID_ARGUMENT, "E_AXIS");
    CHECK_FAILS(clf_softmax(context, i32, &p, i32), CLF_INVALID_ARGUMENT, "E_DTYPE: softmax: x is int32");
    p.lengths = i32;
    CHECK_FAILS(clf_softmax(context, flat, &p, flat), CLF_INVALID_ARGUMENT, "expected 3");
    CHECK_FAILS(clf_softmax(context, NULL, NULL, y), CLF_INVALID_ARGUMENT, "softmax x");
    clf_tensor_destroy(scalar);
    clf_tensor_destroy(f32);
    clf_tensor_destroy(u8);
    clf_tensor_destroy(i32);
    clf_tensor_destroy(flat);
    clf_tensor_destroy(y);
    clf_tensor_destroy(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_default_engine),
        cmocka_unit_test(test_scores_below_fill_values),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, device_setup, device_teardown);
}
