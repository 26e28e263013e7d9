/* SPDX-License-Identifier: MIT */
/* Attention with windows and with biases by distance, each engine and every sort of mask, over ragged batches, against double; masked
 * rubbish outside a window; refusals. */
#include <stdio.h>
#include <stdlib.h>

#include "op/attention.h"
#include "support/check.h"
#include "support/device.h"
#include "support/engines.h"
#include "support/operand.h"
#include "workload/reference_attention.h"
#include "workload/reference_gemm.h"

enum { HEADS = 2, MOST_SEQUENCES = 3, MOST_KEYS = 300, MOST_COLUMNS = 256, HUGE_WINDOW = INT32_MAX };

typedef struct distance_case {
    int sequences;
    int queries[MOST_SEQUENCES], keys[MOST_SEQUENCES];
    int d, dv, key_heads;
    int32_t window, reach; /* reach 0: no bias */
    int32_t diagonal;
    bool is_causal, has_key_mask, has_lengths, has_keep;
    clf_empty_rows empty_rows;
} distance_case;

typedef struct distance_data {
    operand q, k, v, out, bias, mask, lengths, keep;
    int32_t q_begin[MOST_SEQUENCES + 1], k_begin[MOST_SEQUENCES + 1];
    clf_attention_batch *batch;
    clf_attention_args args;
} distance_data;

static void name_case(const char *engine, const distance_case *c, char *id, size_t size)
{
    int at = snprintf(id, size, "%s [d=%d/%d window=%d reach=%d diagonal=%d%s%s%s%s", engine, c->d, c->dv, c->window, c->reach, c->diagonal,
                      c->is_causal ? " causal" : "", c->has_key_mask ? " key mask" : "", c->has_lengths ? " lengths" : "",
                      c->has_keep ? " keep" : "");
    for (int s = 0; s < c->sequences; s++)
        at += snprintf(id + at, size - (size_t)at, " %dx%d", c->queries[s], c->keys[s]);
    snprintf(id + at, size - (size_t)at, "]");
}

/* A bit for each query and key of sequences alike in size. */
static operand random_keep(clf_context *context, const distance_case *c, rng *r)
{
    const int64_t dim[] = {c->sequences, HEADS, (c->queries[0] + 31) / 32, c->keys[0]};
    operand keep = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, 4, dim);
    int32_t *words = calloc(keep.count, sizeof *words);
    assert_non_null(words);
    for (size_t i = 0; i < keep.count; i++)
        words[i] = (int32_t)(rng_bits(r) | rng_bits(r));
    operand_fill_ids(&keep, words);
    free(words);
    return keep;
}

static void make_masks(clf_context *context, const distance_case *c, rng *r, distance_data *a)
{
    const int64_t keys = a->k_begin[c->sequences], sequences = c->sequences;
    if (c->has_key_mask)
        a->mask = operand_random_mask(context, r, LAYOUT_CONTIGUOUS, 1, &keys, 3);
    if (c->has_lengths) {
        int32_t length[MOST_SEQUENCES];
        a->lengths = operand_create(context, CLF_I32, LAYOUT_SLICED, 1, &sequences);
        for (int s = 0; s < c->sequences; s++)
            length[s] = s % 2 == 0 ? c->keys[s] * 2 / 3 : c->keys[s] + 5;
        operand_fill_ids(&a->lengths, length);
    }
    if (c->has_keep)
        a->keep = random_keep(context, c, r);
}

static distance_data make_data(clf_context *context, const distance_case *c)
{
    distance_data a = {0};
    clf_attention_span spans[MOST_SEQUENCES];
    rng r = {(uint64_t)(c->d * 131 + c->window * 17 + c->reach)};
    for (int s = 0; s < c->sequences; s++) {
        spans[s] = (clf_attention_span){a.q_begin[s], c->queries[s], a.k_begin[s], c->keys[s], c->diagonal};
        a.q_begin[s + 1] = a.q_begin[s] + c->queries[s];
        a.k_begin[s + 1] = a.k_begin[s] + c->keys[s];
    }
    const int64_t tq = a.q_begin[c->sequences], tk = a.k_begin[c->sequences];
    a.q = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){HEADS, tq, c->d});
    a.k = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){c->key_heads, tk, c->d});
    a.v = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){c->key_heads, tk, c->dv});
    a.out = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){tq, HEADS, c->dv});
    operand_fill_uniform(&a.q, &r, -2, 2);
    operand_fill_uniform(&a.k, &r, -2, 2);
    operand_fill_uniform(&a.v, &r, -2, 2);
    if (c->reach > 0) {
        a.bias = operand_create(context, CLF_F32, LAYOUT_SLICED, 2, (int64_t[]){HEADS, 2 * c->reach + 1});
        operand_fill_uniform(&a.bias, &r, -3, 3);
    }
    make_masks(context, c, &r, &a);
    CHECK_OK(clfi_attention_batch_create(context, &a.batch));
    CHECK_OK(clfi_attention_batch_set_spans(a.batch, c->sequences, spans));
    a.args = (clf_attention_args){.batch = a.batch,
                                  .q = clfi_tensor_view(a.q.tensor),
                                  .k = clfi_tensor_view(a.k.tensor),
                                  .v = clfi_tensor_view(a.v.tensor),
                                  .out = clfi_tensor_view(a.out.tensor),
                                  .bias = a.bias.tensor ? clfi_tensor_view(a.bias.tensor) : NULL,
                                  .key_mask = a.mask.tensor ? clfi_tensor_view(a.mask.tensor) : NULL,
                                  .lengths = a.lengths.tensor ? clfi_tensor_view(a.lengths.tensor) : NULL,
                                  .keep = a.keep.tensor ? clfi_tensor_view(a.keep.tensor) : NULL,
                                  .window = c->window,
                                  .scale = 1 / sqrtf((float)c->d),
                                  .is_causal = c->is_causal,
                                  .empty_rows = c->empty_rows};
    return a;
}

static void free_data(distance_data *a)
{
    operand *const all[] = {&a->q, &a->k, &a->v, &a->out, &a->bias, &a->mask, &a->lengths, &a->keep};
    clfi_attention_batch_destroy(a->batch);
    for (size_t i = 0; i < COUNT(all); i++)
        operand_destroy(all[i]);
}

/* Which keys of sequence s its query i may use. */
static void fill_keep(const distance_case *c, const distance_data *a, int s, int h, int i, bool *keep)
{
    for (int j = 0; j < c->keys[s]; j++) {
        const int64_t distance = (int64_t)j - i - c->diagonal;
        keep[j] = (!c->is_causal || distance <= 0) && (c->window == 0 || llabs(distance) < c->window);
        if (c->has_key_mask)
            keep[j] = keep[j] && a->mask.value[a->k_begin[s] + j] != 0;
        if (c->has_lengths)
            keep[j] = keep[j] && j < (int)a->lengths.value[s];
        if (c->has_keep) {
            const int blocks = (c->queries[0] + 31) / 32;
            const int word = (int)a->keep.value[((s * HEADS + h) * blocks + i / 32) * c->keys[0] + j];
            keep[j] = keep[j] && ((uint32_t)word >> i % 32 & 1) != 0;
        }
    }
}

static void fill_bias(const distance_case *c, const distance_data *a, int s, int h, int i, double *bias)
{
    for (int j = 0; j < c->keys[s]; j++) {
        const int64_t distance = (int64_t)j - i - c->diagonal;
        const int64_t column = distance < -c->reach ? -c->reach : distance > c->reach ? c->reach : distance;
        bias[j] = a->bias.value[h * (2 * c->reach + 1) + c->reach + column];
    }
}

static void compare_row(const char *id, const distance_case *c, const distance_data *a, clf_precision precision, int s, int i, int h)
{
    bool keep[MOST_KEYS];
    double bias[MOST_KEYS], want[MOST_COLUMNS], bound[MOST_COLUMNS];
    const int g = h / (HEADS / c->key_heads), row = a->q_begin[s] + i, key = g * a->k_begin[c->sequences] + a->k_begin[s];
    fill_keep(c, a, s, h, i, keep);
    if (c->reach > 0)
        fill_bias(c, a, s, h, i, bias);
    const clfi_ref_attention one = {.q = a->q.value + (h * a->q_begin[c->sequences] + row) * c->d,
                                    .k = a->k.value + key * c->d,
                                    .v = a->v.value + key * c->dv,
                                    .keys = (size_t)c->keys[s],
                                    .d = (size_t)c->d,
                                    .dv = (size_t)c->dv,
                                    .scale = (double)a->args.scale,
                                    .keep = keep,
                                    .bias = c->reach > 0 ? bias : NULL,
                                    .empty_rows = c->empty_rows,
                                    .precision = precision};
    CHECK_OK(clfi_ref_attention_row(&one, want, bound));
    for (int e = 0; e < c->dv; e++) {
        const double got = a->out.value[(row * HEADS + h) * c->dv + e];
        CHECK(within(got, want[e], bound[e]), "%s: sequence %d query %d head %d column %d: %.9g, want %.9g, bound %.3g", id, s, i, h, e,
              got, want[e], bound[e]);
    }
}

static void compare(const char *id, const distance_case *c, distance_data *a, clf_precision precision)
{
    operand_read(&a->out, id);
    for (int s = 0; s < c->sequences; s++)
        for (int i = 0; i < c->queries[s]; i++)
            for (int h = 0; h < HEADS; h++)
                compare_row(id, c, a, precision, s, i, h);
}

/* False when the forced engine leaves the case or the device alone. */
static bool run_case(clf_context *context, const char *engine, const distance_case *c)
{
    char id[256];
    name_case(engine, c, id, sizeof id);
    distance_data a = make_data(context, c);
    const clf_status status = clfi_attention(context, &a.args);
    if (status != CLF_OK && status != CLF_UNSUPPORTED)
        fail_msg("%s: %s", id, clf_last_error());
    if (status == CLF_OK)
        compare(id, c, &a, context->precision);
    free_data(&a);
    return status == CLF_OK;
}

#define SMALL .sequences = 3, .queries = {1, 19, 37}, .keys = {1, 19, 37}, .d = 16, .dv = 16, .key_heads = 1
#define LARGE .sequences = 2, .queries = {45, 170}, .keys = {45, 170}, .d = 32, .dv = 32, .key_heads = 2
static const distance_case small_cases[] = {
    {SMALL, .window = 5, .is_causal = true},
    {SMALL, .window = 9, .reach = 4, .has_key_mask = true},
};
/* Kernels are built for each mixture of masks and head size: sizes vary within few mixtures. */
static const distance_case cases[] = {
    {SMALL, .window = 1},
    {LARGE, .window = 2},
    {LARGE, .window = 31},
    {LARGE, .window = 65},
    {LARGE, .window = HUGE_WINDOW},
    {.sequences = 2, .queries = {20, 40}, .keys = {3, 70}, .d = 32, .dv = 32, .key_heads = 2, .window = 17, .diagonal = -9},
    {.sequences = 2, .queries = {5, 40}, .keys = {9, 300}, .d = 32, .dv = 32, .key_heads = 1, .window = 100, .diagonal = 120},
    {LARGE, .window = 65, .is_causal = true, .has_lengths = true, .empty_rows = CLF_EMPTY_ROWS_NAN},
    {LARGE, .reach = 128, .has_key_mask = true, .empty_rows = CLF_EMPTY_ROWS_UNIFORM},
    {LARGE, .reach = 7, .window = 20},
    {.sequences = 2, .queries = {20, 40}, .keys = {0, 70}, .d = 32, .dv = 32, .key_heads = 2, .window = 6, .reach = 2, .diagonal = 60},
    {.sequences = 1,
     .queries = {40},
     .keys = {70},
     .d = 32,
     .dv = 32,
     .key_heads = 2,
     .window = HUGE_WINDOW,
     .reach = 5,
     .diagonal = INT32_MAX - 104},
    {.sequences = 1,
     .queries = {40},
     .keys = {70},
     .d = 32,
     .dv = 32,
     .key_heads = 2,
     .window = HUGE_WINDOW,
     .reach = 5,
     .diagonal = INT32_MIN},
    {.sequences = 2,
     .queries = {33, 33},
     .keys = {90, 90},
     .d = 32,
     .dv = 48,
     .key_heads = 1,
     .window = 12,
     .reach = 12,
     .diagonal = 30,
     .has_keep = true,
     .is_causal = true},
    {.sequences = 2, .queries = {33, 70}, .keys = {33, 70}, .d = 64, .dv = 64, .key_heads = 1, .window = 30},
    {.sequences = 2, .queries = {33, 70}, .keys = {33, 70}, .d = 128, .dv = 128, .key_heads = 1, .window = 13, .reach = 20},
    {.sequences = 2, .queries = {33, 20}, .keys = {33, 20}, .d = 13, .dv = 7, .key_heads = 1, .window = 8, .reach = 3},
};

/* An engine that takes a case without windows and biases takes it with them too. */
static void check_taken(clf_context *context, const char *engine, const distance_case *c, bool was_taken)
{
    distance_case plain = *c;
    plain.window = plain.reach = 0;
    distance_data a = make_data(context, &plain);
    const clf_status status = clfi_attention(context, &a.args);
    CHECK((status == CLF_OK) == was_taken, "%s: d=%d window=%d reach=%d taken %d, without them %d", engine, c->d, c->window, c->reach,
          was_taken, status == CLF_OK);
    free_data(&a);
}

static void test_cases(void **state)
{
    (void)state;
    for (const char *const *engine = engines_of(CLF_OP_ATTENTION); *engine; engine++) {
        clf_context *context = attention_context(*engine);
        size_t run = 0;
        for (size_t i = 0; i < COUNT(small_cases); i++) {
            const bool is_run = run_case(context, *engine, &small_cases[i]);
            check_taken(context, *engine, &small_cases[i], is_run);
            run += is_run;
        }
        for (size_t i = 0; i < COUNT(cases); i++)
            if (takes_case(i, false))
                run += run_case(context, *engine, &cases[i]);
        check_attention_ran(context, *engine, run);
        clf_context_destroy(context);
    }
}

/* A key and a value that a window hides from most queries hold `value`, which must have no effect there; who sees a NaN becomes NaN. The
 * last keys of a sequence are scored in steps that begin earlier, here with that key. */
enum { HIDING_KEYS = 100, HIDING_HEAD = 32 };
static const distance_case hiding[] = {
    {.sequences = 1, .queries = {HIDING_KEYS}, .keys = {HIDING_KEYS}, .d = HIDING_HEAD, .dv = HIDING_HEAD, .key_heads = 2, .window = 7},
    {.sequences = 1,
     .queries = {HIDING_KEYS},
     .keys = {HIDING_KEYS},
     .d = HIDING_HEAD,
     .dv = HIDING_HEAD,
     .key_heads = 2,
     .window = 40,
     .reach = 9},
};

static clf_status check_hidden(clf_context *context, const char *engine, const distance_case *c, float value)
{
    enum { HIDDEN = 92 };
    const double error = 1e-6 + 2 * clfi_ref_gemm_loss(context->precision).relative;
    char id[256];
    float all[HEADS * HIDING_KEYS * HIDING_HEAD];
    distance_data a = make_data(context, c);
    for (size_t i = 0; i < a.v.count; i++)
        all[i] = i / HIDING_HEAD % HIDING_KEYS == HIDDEN ? value : (float)a.v.value[i];
    operand_fill(&a.v, all);
    for (size_t i = 0; i < a.k.count; i++)
        all[i] = i % (HIDING_KEYS * HIDING_HEAD) == HIDDEN * HIDING_HEAD ? value : (float)a.k.value[i];
    operand_fill(&a.k, all);
    const clf_status status = clfi_attention(context, &a.args);
    name_case(engine, c, id, sizeof id);
    if (status == CLF_OK)
        operand_read(&a.out, id);
    for (int i = 0; i < HIDING_KEYS && status == CLF_OK; i++) {
        const bool sees = abs(i - HIDDEN) < c->window && (!c->is_causal || HIDDEN <= i);
        if (!sees)
            for (int h = 0; h < HEADS; h++)
                compare_row(id, c, &a, context->precision, 0, i, h);
        else if (isfinite(value)) /* takes all of the weight or none, or its score is too large for a float */
            for (int e = 0; e < HEADS * HIDING_HEAD; e++) {
                const double got = a.out.value[i * HEADS * HIDING_HEAD + e];
                const double q = a.q.value[(e / HIDING_HEAD * HIDING_KEYS + i) * HIDING_HEAD];
                const bool may_be_nan = fabs(q) > 0.75 || context->precision != CLF_PRECISION_HIGHEST;
                CHECK(fabs(got) < 10 || within(got, (double)value, error * (double)value) || (isnan(got) && may_be_nan),
                      "%s: query %d column %d: %g", id, i, e, got);
            }
        else /* a score of NaN or infinity, or a weight of 0 times such a value */
            CHECK(isnan(a.out.value[i * HEADS * HIDING_HEAD]), "%s: query %d sees %g and holds %g", id, i, (double)value,
                  a.out.value[i * HEADS * HIDING_HEAD]);
    }
    free_data(&a);
    return status;
}

static void test_hidden_values(void **state)
{
    (void)state;
    static const float values[] = {NAN, INFINITY, -INFINITY, 3e38f};
    for (const char *const *engine = engines_of(CLF_OP_ATTENTION); *engine && !only_small_cases(); engine++) {
        clf_context *context = attention_context(*engine);
        size_t run = 0;
        for (size_t x = 0; x < COUNT(hiding) * COUNT(values); x++) {
            const clf_status status = check_hidden(context, *engine, &hiding[x % COUNT(hiding)], values[x / COUNT(hiding)]);
            assert_true(status == CLF_OK || status == CLF_UNSUPPORTED);
            run += status == CLF_OK;
        }
        check_attention_ran(context, *engine, run);
        clf_context_destroy(context);
    }
}

/* The form for GPUs with many registers, which a CPU has only where it is taken for one: each sort of mask over 64 queries of a group. */
static void test_many_registers(void **state)
{
    static const distance_case many[] = {
        {.sequences = 1, .queries = {70}, .keys = {90}, .d = 32, .dv = 32, .key_heads = 2},
        {.sequences = 1, .queries = {70}, .keys = {70}, .d = 32, .dv = 32, .key_heads = 1, .reach = 7},
        {.sequences = 2,
         .queries = {70, 70},
         .keys = {70, 70},
         .d = 64,
         .dv = 64,
         .key_heads = 1,
         .window = 30,
         .is_causal = true,
         .has_key_mask = true,
         .has_lengths = true,
         .has_keep = true},
    };
    (void)state;
    clf_context *context = engine_context("attention=group");
    context->device.caps.is_cpu = false;
    context->device.caps.many_registers = true;
    if (!clfi_probe(context, CLFI_PROBE_NATIVE_EXP2)) {
        clf_context_destroy(context);
        skip();
    }
    for (size_t i = 0; i < COUNT(many); i++) {
        const bool is_run = run_case(context, "attention=group, many registers", &many[i]);
        CHECK(is_run || context->device.caps.short_loops, "many registers: the engine leaves case %zu alone", i);
    }
    static const float hidden[] = {NAN, INFINITY, 3e38f};
    for (size_t i = 0; i < COUNT(hidden); i++) {
        const clf_status status = check_hidden(context, "attention=group, many registers", &hiding[0], hidden[i]);
        assert_true(status == CLF_OK || context->device.caps.short_loops);
    }
    clf_context_destroy(context);
}

/* Engines of a matrix unit, each sort of mask with another size of heads. One unit runs every case. The others differ from it in a block's
 * layout and in the shares of waves, and share the cases: compilers take long for these kernels, longest for large heads on 8 lanes. */
static void test_matrix(void **state)
{
    static const distance_case all[] = {
        {.sequences = 2,
         .queries = {21, 3},
         .keys = {37, 50},
         .d = 64,
         .dv = 64,
         .key_heads = 1,
         .diagonal = -4,
         .is_causal = true,
         .has_key_mask = true,
         .empty_rows = CLF_EMPTY_ROWS_UNIFORM},
        {.sequences = 1, .queries = {19}, .keys = {70}, .d = 96, .dv = 96, .key_heads = 2, .window = 9, .reach = 4},
        {.sequences = 2, .queries = {34, 34}, .keys = {41, 41}, .d = 128, .dv = 128, .key_heads = 1, .has_keep = true},
        {.sequences = 2,
         .queries = {17, 1},
         .keys = {35, 0},
         .d = 256,
         .dv = 256,
         .key_heads = 1,
         .has_lengths = true,
         .empty_rows = CLF_EMPTY_ROWS_NAN},
        {.sequences = 1, .queries = {5}, .keys = {18}, .d = 13, .dv = 7, .key_heads = 2},
    };
    static const char *const names[] = {"attention=matrix", "attention=matrix_split"};
    static const float values[] = {NAN, INFINITY, 3e38f};
    (void)state;
    for (size_t e = 0; e < COUNT(names); e++) {
        clf_context *context = attention_context(names[e]);
        const clf_matrix_unit unit = context->device.caps.matrix_unit;
        const bool has_all = unit == CLFI_MATRIX_NVIDIA_BF16;
        const bool is_own = unit != CLFI_MATRIX_NONE && !clfi_matrix_unit_is_cpu(unit) && (has_all || e == (size_t)unit % 2);
        const size_t one = (size_t)unit % COUNT(all), other = unit == CLFI_MATRIX_INTEL_8 ? one : (size_t)(unit + 2) % COUNT(all);
        for (size_t i = 0; is_own && i < COUNT(all); i++)
            if (has_all ? i == 0 || i % 2 == e : i == one || i == other)
                CHECK(run_case(context, names[e], &all[i]), "%s leaves case %zu alone: %s", names[e], i, clf_last_error());
        for (size_t x = 0; is_own && (has_all || unit == CLFI_MATRIX_NVIDIA_F16) && x < COUNT(values); x++)
            CHECK_OK(check_hidden(context, names[e], &hiding[0], values[x]));
        clf_context_destroy(context);
    }
}

/* Without a forced engine every case runs. */
static void test_default_engine(void **state)
{
    for (size_t i = 0; i < COUNT(small_cases); i++)
        assert_true(run_case(*state, "default", &small_cases[i]));
    for (size_t i = 0; i < COUNT(cases); i++)
        if (takes_case(i, false))
            assert_true(run_case(*state, "default", &cases[i]));
}

/* A bias must have a row for each query head and an odd number of columns; a window is not negative. */
static void test_refusals(void **state)
{
    clf_context *context = *state;
    static const distance_case c = {.sequences = 1, .queries = {3}, .keys = {3}, .d = 4, .dv = 4, .key_heads = 1, .reach = 2};
    distance_data a = make_data(context, &c);
    clf_attention_args bad = a.args;
    clf_view view = *a.args.bias;
    view.dim[1] = 4;
    bad.bias = &view;
    CHECK_FAILS(clfi_attention(context, &bad), CLF_INVALID_ARGUMENT,
                "attention bias: expected float32 [2, an odd number], found float32 [2,4]");
    bad.bias = NULL;
    bad.window = -1;
    CHECK_FAILS(clfi_attention(context, &bad), CLF_INVALID_ARGUMENT, "window is -1");
    free_data(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),         cmocka_unit_test(test_many_registers), cmocka_unit_test(test_default_engine),
        cmocka_unit_test(test_hidden_values), cmocka_unit_test(test_matrix),         cmocka_unit_test(test_refusals),
    };
    cmocka_set_test_filter(getenv("CLF_TEST_ONLY")); /* emulated matrix units need one of them */
    return cmocka_run_group_tests_name("op.attention_distance", tests, device_setup, device_teardown);
}
