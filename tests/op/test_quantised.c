/* SPDX-License-Identifier: MIT */
/* Quantised weights of every type on every engine that takes them: linear layers of few and many rows, parts of several types, column
 * blocks, rows of a table; against the same blocks decoded in double. Engines that round x are compared with products of the rounded x. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "op/embedding.h"
#include "op/engines.h"
#include "op/linear.h"
#include "runtime/context.h"
#include "support/check.h"
#include "support/device.h"
#include "support/linear_check.h"
#include "support/operand.h"
#include "workload/random_blocks.h"

static const clf_weight_type types[] = {CLF_WEIGHT_Q8_0, CLF_WEIGHT_Q4_0, CLF_WEIGHT_Q4_1, CLF_WEIGHT_Q5_0,
                                        CLF_WEIGHT_Q5_1, CLF_WEIGHT_Q4_K, CLF_WEIGHT_Q5_K, CLF_WEIGHT_Q6_K};

/* Integers that an engine of this precision rounds x to, up to so many in groups of 32; 0: it does not. */
static const float most_of[] = {[CLF_PRECISION_HIGHEST] = 0, [CLF_PRECISION_HIGH] = 256 * 127, [CLF_PRECISION_MEDIUM] = 127};

/* x as such an engine takes it. */
static void round_groups(operand *x, float most)
{
    enum { GROUP = 32 };
    for (size_t first = 0; most > 0 && first < x->count; first += GROUP) {
        float largest = 0;
        for (size_t i = first; i < first + GROUP; i++)
            largest = fmaxf(largest, fabsf((float)x->value[i]));
        for (size_t i = first; i < first + GROUP && largest > 0; i++)
            x->value[i] = (double)(largest / most) * (double)rintf((float)x->value[i] * (most / largest));
    }
}

/* A weight [rows, k] of random blocks, and what they are. */
typedef struct quantised {
    clf_buffer *buffer;
    clf_view view;
    double *value;
} quantised;

static quantised make(clf_context *context, clf_weight_type type, int64_t rows, int64_t k, size_t offset, rng *r)
{
    const clf_weight_type_info *info = clfi_weight_type_info(type);
    const size_t blocks = (size_t)(rows * k / info->block_weights), bytes = blocks * (size_t)info->block_bytes;
    unsigned char *data = malloc(bytes + offset + 1);
    quantised q = {.value = calloc((size_t)(rows * k) + 1, sizeof *q.value)};
    assert_true(data && q.value);
    memset(data, 0xff, offset);
    clfi_random_blocks_fill(r, type, blocks, data + offset);
    clfi_weight_decode_f64(type, data + offset, blocks, q.value);
    CHECK_OK(clfi_buffer_create(context, bytes + offset, &q.buffer));
    CHECK_OK(clfi_buffer_write(q.buffer, 0, data, bytes + offset));
    q.view = (clf_view){.buffer = q.buffer,
                        .dtype = CLF_U8,
                        .blocks = type,
                        .rank = 2,
                        .dim = {rows, k},
                        .stride = {rows ? (int64_t)bytes / rows : 0, 1},
                        .offset = (int64_t)offset};
    free(data);
    return q;
}

static void destroy(quantised *q)
{
    clfi_buffer_release(q->buffer);
    free(q->value);
}

typedef struct quantised_case {
    int64_t m, k;
    int parts;
    int64_t n[2];
    clf_weight_type type[2];
    bool has_bias, has_residual;
    bool is_spoiled; /* x, bias and residual hold NaN and infinity */
    int64_t column_block;
    clf_activation activation;
} quantised_case;

/* A NaN in the first column, an infinity in the second. */
static void spoil_bias(operand *bias)
{
    float *values = malloc(bias->count * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < bias->count; i++)
        values[i] = i == 0 ? NAN : i == 1 ? INFINITY : (float)bias->value[i];
    operand_fill(bias, values);
    free(values);
}

/* `later`: the engine that runs the product, where it is another one than that which the weight is packed for; NULL: the same. */
static void check_case(clf_context *context, const quantised_case *one, const char *engine, const char *later, float most)
{
    char id[128];
    rng r = {(uint64_t)(one->m * 8191 + one->k + one->type[0])};
    quantised weight[2];
    clf_view weights[2], biases[2] = {{0}};
    clf_linear *linear = NULL;
    int64_t n = 0, first = 0;
    for (int p = 0; p < one->parts; p++)
        n += one->n[p];
    snprintf(id, sizeof id, "%s %s %lldx%lldx%lld block %lld", engine, clfi_weight_type_info(one->type[0])->name, (long long)one->m,
             (long long)n, (long long)one->k, (long long)one->column_block);
    double *b = calloc((size_t)(n * one->k) + 1, sizeof *b), *bias_value = calloc((size_t)n + 1, sizeof *bias_value);
    operand bias[2] = {{0}};
    assert_true(b && bias_value);
    for (int p = 0; p < one->parts; first += one->n[p++]) {
        weight[p] = make(context, one->type[p], one->n[p], one->k, 2 * (size_t)p, &r);
        weights[p] = weight[p].view;
        for (int64_t j = 0; j < one->n[p]; j++)
            for (int64_t i = 0; i < one->k; i++)
                b[i * n + first + j] = weight[p].value[j * one->k + i];
        if (!one->has_bias)
            continue;
        bias[p] = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 1, &one->n[p]);
        operand_fill_uniform(&bias[p], &r, -2, 2);
        if (one->is_spoiled)
            spoil_bias(&bias[p]);
        biases[p] = *clfi_tensor_view(bias[p].tensor);
        memcpy(bias_value + first, bias[p].value, (size_t)one->n[p] * sizeof *bias_value);
    }
    if (clfi_linear_create(context, one->parts, weights, one->has_bias ? biases : NULL, &linear) != CLF_OK)
        fail_msg("%s: %s", id, clf_last_error());
    CHECK_OK(clf_context_finish(context));
    char *const packing = context->engines;
    if (later)
        CHECK_OK(clfi_strdup(later, &context->engines));
    linear_check_run(context, linear,
                     &(linear_check){.id = id,
                                     .m = one->m,
                                     .n = n,
                                     .k = one->k,
                                     .weight = b,
                                     .bias = bias_value,
                                     .y = one->column_block ? LAYOUT_CONTIGUOUS : LAYOUT_SLICED,
                                     .activation = one->activation,
                                     .has_residual = one->has_residual,
                                     .is_spoiled = one->is_spoiled,
                                     .column_block = one->column_block,
                                     /* Sums of integers times x, up to some 20 times the weights' own where a zero or a minimum is
                                      * taken from them. */
                                     .slack = later ? 2 : 40, /* beside the bound of a lower precision they are small */
                                     .precision = later ? context->precision : CLF_PRECISION_HIGHEST,
                                     .round = round_groups,
                                     .most = most},
                     &r);
    if (later)
        free(context->engines);
    context->engines = packing;
    for (int p = 0; p < one->parts; p++) {
        destroy(&weight[p]);
        operand_destroy(&bias[p]);
    }
    clfi_linear_destroy(linear);
    free(b);
    free(bias_value);
}

/* Every type on one engine. Returns whether it takes any. */
static bool check_engine(const clf_engine *engine)
{
    const float most = most_of[engine->precision];
    char forced[64];
    bool takes_any = false;
    snprintf(forced, sizeof forced, "gemm=%s", engine->name);
    clf_context *context = precise_context(forced, engine->precision);
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        const clf_weight_type type = types[t];
        const quantised_case cases[] = {
            {3, 512, 2, {17, 40}, {type, type}, .has_residual = true},
            {33, 256, 2, {24, 12}, {type, type}, .column_block = 12, .has_bias = true},
            {19, 256, 1, {24}, {type}, .has_residual = true},
            {1, 256, 1, {50}, {type}, .has_bias = true}, /* from here on where types have different kinds of groups */
            {41, 256, 1, {70}, {type}, .activation = CLF_ACTIVATION_SILU},
            {7, 256, 1, {40}, {type}, .has_bias = true, .has_residual = true},
            {9, 256, 2, {48, 16}, {type, CLF_WEIGHT_Q8_0}, .column_block = 16, .has_bias = true},
        };
        const bool is_thorough = type == CLF_WEIGHT_Q4_1 || type == CLF_WEIGHT_Q6_K;
        const bool is_rounding = most > 0; /* kernels that differ little: fewer of them */
        const size_t count = only_small_cases() ? 1 : is_thorough && most < 256 ? sizeof cases / sizeof cases[0] : is_rounding ? 1 : 3;
        if (engine->precision == CLF_PRECISION_HIGH && !is_thorough)
            continue;
        if (!clfi_linear_takes_blocks(context, type, 64, 256))
            continue; /* not an engine for this device */
        takes_any = true;
        for (size_t i = 0; i < count; i++)
            check_case(context, &cases[i], forced, NULL, most);
    }
    clf_context_destroy(context);
    return takes_any;
}

static void test_linear(void **state)
{
    const clf_engine_table *table = &clfi_engine_tables[CLF_OP_GEMM];
    int ran = 0;
    (void)state;
    for (size_t e = 0; e < table->count; e++)
        if (clfi_gemm_form_info(table->engines[e].gemm->form)->is_quantised)
            ran += check_engine(&table->engines[e]);
    CHECK(ran > 0, "no engine of this device takes blocks");
}

/* Engines of a matrix unit, which multiply weights that another engine packed. One GPU's and one CPU's unit multiply every type at both
 * precisions. The others differ from them in the order of a block alone, and share the types: compilers take long for these kernels. */
static void test_matrix(void **state)
{
    static const char *const gpu_names[] = {"gemm=matrix", "gemm=matrix_split"}, *const cpu_names[] = {"gemm=bf16", "gemm=bf16_pairs"};
    static const clf_precision precisions[] = {CLF_PRECISION_MEDIUM, CLF_PRECISION_HIGH};
    clf_context *same = precise_context("", CLF_PRECISION_HIGHEST);
    const clf_matrix_unit unit = same->device.caps.matrix_unit;
    const bool is_cpu = clfi_matrix_unit_is_cpu(unit);
    const char *const *names = is_cpu ? cpu_names : gpu_names;
    clf_context_destroy(same);
    (void)state;
    for (int e = 0; e < 2; e++) {
        clf_context *context = precise_context(is_cpu ? "gemm=bundles" : "gemm=blocks", precisions[e]);
        for (size_t t = 0; unit != CLFI_MATRIX_NONE && t < COUNT(types); t++) {
            if (unit != CLFI_MATRIX_NVIDIA_BF16 && unit != CLFI_MATRIX_X86_AMX && (t != (size_t)unit % COUNT(types) || e != (int)unit % 2))
                continue;
            const quantised_case one = {.m = is_cpu ? 70 : 41,
                                        .k = 512,
                                        .parts = 2,
                                        .n = {35, 24},
                                        .type = {types[t], types[t]},
                                        .has_bias = true,
                                        .has_residual = true};
            quantised_case spoiled = one;
            spoiled.is_spoiled = true;
            check_case(context, &one, names[e], names[e], 0);
            check_case(context, &spoiled, names[e], names[e], 0);
        }
        clf_context_destroy(context);
    }
}

/* Bound on a sum of some hundred products, relative to the sum of their magnitudes: several times the roundings to nearest. */
static const double rounding = 16 * 0x1p-24;

/* Two weights at once, where an engine does that: f(x W) * (x G). */
static void check_gated(const char *engine, clf_precision precision, int m)
{
    enum { N = 35, K = 256 };
    clf_context *context = precise_context(engine, precision);
    /* Only devices with engines for them round x. */
    const float most = context->device.caps.has_byte_dot ? most_of[precision] : 0;
    const bool has_some_types = most > 0 || (engine[0] && m > 1 && !only_small_cases());
    rng r = {9};
    for (size_t t = 0; t < (only_small_cases() ? 1 : sizeof types / sizeof types[0]); t++) {
        if (has_some_types && types[t] != CLF_WEIGHT_Q4_1 && types[t] != CLF_WEIGHT_Q6_K)
            continue;
        quantised w = make(context, types[t], N, K, 0, &r), g = make(context, types[t], N, K, 2, &r);
        clf_linear *linear, *gate;
        CHECK_OK(clfi_linear_create(context, 1, &w.view, NULL, &linear));
        CHECK_OK(clfi_linear_create(context, 1, &g.view, NULL, &gate));
        operand x = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){m, K});
        operand y = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){m, N});
        operand_fill_uniform(&x, &r, -1, 1);
        CHECK(most > 0 || !clfi_linear_takes_gate(context, linear, gate, 500), "500 rows");
        const bool takes = clfi_linear_takes_gate(context, linear, gate, m);
        CHECK(!engine[0] || takes, "%s: a gate of %d rows is declined", engine, m);
        if (takes) {
            CHECK_OK(
                clfi_linear_run_gated(context, linear, gate, clfi_tensor_view(x.tensor), CLF_ACTIVATION_RELU, clfi_tensor_view(y.tensor)));
            operand_read(&y, "gated");
            round_groups(&x, most);
            for (int i = 0; i < m; i++)
                for (int j = 0; j < N; j++) {
                    double a = 0, b = 0, a_terms = 0, b_terms = 0;
                    for (int p = 0; p < K; p++) {
                        const double to_a = x.value[i * K + p] * w.value[j * K + p], to_b = x.value[i * K + p] * g.value[j * K + p];
                        a += to_a;
                        b += to_b;
                        a_terms += fabs(to_a);
                        b_terms += fabs(to_b);
                    }
                    const double want = (a > 0 ? a : 0) * b, a_error = rounding * a_terms, b_error = rounding * b_terms;
                    const double bound = a_error * (fabs(b) + b_error) + b_error * fabs(a);
                    CHECK(within(y.value[i * N + j], want, bound), "gated %s: %d rows, %d,%d: %.9g, want %.9g within %.3g",
                          clfi_weight_type_info(types[t])->name, m, i, j, y.value[i * N + j], want, bound);
                }
        }
        clfi_linear_destroy(linear);
        clfi_linear_destroy(gate);
        destroy(&w);
        destroy(&g);
        operand_destroy(&x);
        operand_destroy(&y);
    }
    clf_context_destroy(context);
}

static void test_gated(void **state)
{
    static const int rows[] = {1, 8, 9, 16};
    (void)state;
    check_gated("", CLF_PRECISION_HIGHEST, 2); /* some processors take two rows at once, but no more */
    check_gated("", CLF_PRECISION_HIGHEST, 3);
    check_gated("", CLF_PRECISION_MEDIUM, 3);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_gated("gemm=blocks", CLF_PRECISION_HIGHEST, rows[i]);
}

static uint64_t launches_of(clf_context *context, const clf_linear *linear, const operand *x, const operand *y, clf_gemm_input *input)
{
    clf_context_stats before, after;
    clf_context_get_stats(context, &before);
    CHECK_OK(clfi_linear_run_shared(context, linear, clfi_tensor_view(x->tensor), CLF_ACTIVATION_NONE, NULL, clfi_tensor_view(y->tensor),
                                    input));
    clf_context_get_stats(context, &after);
    return after.kernels_launched - before.kernels_launched;
}

/* An engine converts x once for layers that read the same x, and again for a layer whose integers need another form. */
static void test_shared_input(void **state)
{
    enum { M = 12, N = 35, K = 256 };
    static const clf_weight_type followed[] = {CLF_WEIGHT_Q5_1, CLF_WEIGHT_Q6_K};
    const clf_engine_table *table = &clfi_engine_tables[CLF_OP_GEMM];
    (void)state;
    for (size_t e = 0; e < table->count; e++) {
        const clf_engine *engine = &table->engines[e];
        char forced[64];
        snprintf(forced, sizeof forced, "gemm=%s", engine->name);
        clf_context *context = precise_context(forced, engine->precision);
        rng r = {13};
        if (!clfi_gemm_form_info(engine->gemm->form)->is_quantised || !clfi_linear_takes_blocks(context, CLF_WEIGHT_Q4_1, N, K)) {
            clf_context_destroy(context);
            continue;
        }
        operand x = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){M, K});
        operand y = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){M, N});
        operand want = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){M, N});
        operand_fill_uniform(&x, &r, -1, 1);
        quantised w = make(context, CLF_WEIGHT_Q4_1, N, K, 0, &r);
        clf_linear *first, *second;
        CHECK_OK(clfi_linear_create(context, 1, &w.view, NULL, &first));
        for (size_t i = 0; i < sizeof followed / sizeof followed[0]; i++) {
            quantised v = make(context, followed[i], N, K, 0, &r);
            const clf_arena_mark mark = clfi_arena_top(context);
            clf_gemm_input none = {0}, shared = {0};
            CHECK_OK(clfi_linear_create(context, 1, &v.view, NULL, &second));
            const uint64_t alone = launches_of(context, second, &x, &want, &none);
            launches_of(context, first, &x, &y, &shared);
            const bool is_made = shared.form != 0;
            const uint64_t behind = launches_of(context, second, &x, &y, &shared);
            const bool is_of_type = strncmp(engine->name, "byte", 4) == 0;
            CHECK(is_made || !is_of_type, "%s: nothing is made of x", engine->name);
            CHECK(behind == alone - (is_made && (i == 0 || !is_of_type)), "%s: %d launches behind a layer with the same x, %d alone",
                  engine->name, (int)behind, (int)alone);
            operand_read(&want, "alone");
            operand_read(&y, "behind another");
            for (int j = 0; j < M * N; j++)
                CHECK(y.value[j] == want.value[j], "%s: %d: %.9g, alone %.9g", engine->name, j, y.value[j], want.value[j]);
            clfi_arena_release(context, mark);
            clfi_linear_destroy(second);
            destroy(&v);
        }
        clfi_linear_destroy(first);
        destroy(&w);
        operand_destroy(&x);
        operand_destroy(&y);
        operand_destroy(&want);
        clf_context_destroy(context);
    }
}

/* A row with what is not finite, or with next to nothing, beside an ordinary one: neither changes the other. */
static void test_extremes(void **state)
{
    enum { M = 4, N = 32, K = 64 };
    (void)state;
    for (clf_precision precision = CLF_PRECISION_HIGHEST; precision <= CLF_PRECISION_MEDIUM; precision++) {
        clf_context *context = precise_context("", precision);
        rng r = {11};
        quantised w = make(context, CLF_WEIGHT_Q4_1, N, K, 0, &r);
        clf_linear *linear;
        float *values = calloc(M * K, sizeof *values);
        assert_non_null(values);
        CHECK_OK(clfi_linear_create(context, 1, &w.view, NULL, &linear));
        operand x = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){M, K});
        operand y = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){M, N});
        for (int i = 0; i < K; i++) {
            values[i] = 1;
            values[2 * K + i] = 1e-38f;
        }
        values[K + 40] = INFINITY;
        values[3 * K + 3] = NAN;
        CHECK_OK(clf_tensor_write(x.tensor, values, M * K * sizeof *values));
        CHECK_OK(clfi_linear_run(context, linear, clfi_tensor_view(x.tensor), CLF_ACTIVATION_NONE, NULL, clfi_tensor_view(y.tensor)));
        operand_read(&y, "extremes");
        for (int j = 0; j < N; j++) {
            double want = 0;
            for (int p = 0; p < K; p++)
                want += w.value[j * K + p];
            CHECK(within(y.value[j], want, 1e-5 * K), "%d: %.9g, want %.9g", j, y.value[j], want);
            CHECK(!isfinite(y.value[N + j]) && !isfinite(y.value[3 * N + j]), "%d: infinity and NaN became numbers", j);
            CHECK(fabs(y.value[2 * N + j]) < 1e-30, "%d: %.9g of next to nothing", j, y.value[2 * N + j]);
        }
        free(values);
        clfi_linear_destroy(linear);
        destroy(&w);
        operand_destroy(&x);
        operand_destroy(&y);
        clf_context_destroy(context);
    }
}

/* Place of a block's integers, and the byte that makes the largest of them. */
static const struct {
    clf_weight_type type;
    int at, count;
    unsigned char largest;
} integers[] = {
    {CLF_WEIGHT_Q8_0, 2, 32, 0x80}, {CLF_WEIGHT_Q4_0, 2, 16, 0xff},   {CLF_WEIGHT_Q4_1, 4, 16, 0xff},   {CLF_WEIGHT_Q5_0, 2, 20, 0xff},
    {CLF_WEIGHT_Q5_1, 4, 20, 0xff}, {CLF_WEIGHT_Q4_K, 16, 128, 0xff}, {CLF_WEIGHT_Q5_K, 16, 160, 0xff}, {CLF_WEIGHT_Q6_K, 0, 192, 0xff},
};

/* Integers as large as they can be times numbers that round to the largest: sums of products in few bits must hold them. */
static void test_largest(void **state)
{
    enum { M = 3, N = 32, K = 256 };
    (void)state;
    for (clf_precision precision = CLF_PRECISION_HIGHEST; precision <= CLF_PRECISION_MEDIUM; precision += 2) {
        clf_context *context = precise_context("", precision);
        for (size_t t = 0; t < (only_small_cases() ? 1 : COUNT(integers)); t++) {
            const clf_weight_type_info *info = clfi_weight_type_info(integers[t].type);
            const size_t blocks = (size_t)(N * K / info->block_weights), bytes = blocks * (size_t)info->block_bytes;
            rng r = {13};
            quantised w = make(context, integers[t].type, N, K, 0, &r);
            unsigned char *data = malloc(bytes);
            clf_linear *linear;
            float x_values[M * K];
            assert_non_null(data);
            CHECK_OK(clfi_buffer_read(w.buffer, 0, data, bytes));
            for (size_t i = 0; i < blocks; i++)
                memset(data + i * (size_t)info->block_bytes + integers[t].at, integers[t].largest, (size_t)integers[t].count);
            CHECK_OK(clfi_buffer_write(w.buffer, 0, data, bytes));
            clfi_weight_decode_f64(integers[t].type, data, blocks, w.value);
            for (int i = 0; i < M * K; i++)
                x_values[i] = i < K || (i >= 2 * K && i % 2) ? 1.0f : -1.0f;
            CHECK_OK(clfi_linear_create(context, 1, &w.view, NULL, &linear));
            operand x = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){M, K});
            operand y = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){M, N});
            CHECK_OK(clf_tensor_write(x.tensor, x_values, sizeof x_values));
            CHECK_OK(clfi_linear_run(context, linear, clfi_tensor_view(x.tensor), CLF_ACTIVATION_NONE, NULL, clfi_tensor_view(y.tensor)));
            operand_read(&y, "largest");
            for (int i = 0; i < M * N; i++) {
                double want = 0, terms = 0;
                for (int p = 0; p < K; p++) {
                    want += (double)x_values[i / N * K + p] * w.value[i % N * K + p];
                    terms += fabs(w.value[i % N * K + p]);
                }
                CHECK(within(y.value[i], want, 40 * rounding * terms), "largest %s: %d: %.9g, want %.9g", info->name, i, y.value[i], want);
            }
            clfi_linear_destroy(linear);
            destroy(&w);
            operand_destroy(&x);
            operand_destroy(&y);
            free(data);
        }
        clf_context_destroy(context);
    }
}

/* Every device has one engine that takes every type. */
static void test_some_engine(void **state)
{
    (void)state;
    clf_context *context = engine_context("");
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
        CHECK(clfi_linear_takes_blocks(context, types[t], 64, 512), "%s", clfi_weight_type_info(types[t])->name);
    CHECK(!clfi_linear_takes_blocks(context, CLF_WEIGHT_F32, 64, 512), "float32 is no type of blocks");
    clf_context_destroy(context);
}

static void test_rows(void **state)
{
    enum { ROWS = 7, COLUMNS = 256, TOKENS = 5 };
    static const int32_t ids[TOKENS] = {6, 0, 3, 3, 1};
    (void)state;
    clf_context *context = engine_context("");
    rng r = {5};
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        quantised table = make(context, types[t], ROWS, COLUMNS, 4, &r);
        operand id = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, 1, (int64_t[]){TOKENS});
        operand y = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){TOKENS, COLUMNS});
        operand added = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){1, COLUMNS});
        operand_fill_ids(&id, ids);
        operand_fill_uniform(&added, &r, -1, 1);
        const clf_embedding_term terms[] = {{&table.view, clfi_tensor_view(id.tensor), 1}, {clfi_tensor_view(added.tensor), NULL, 1}};
        for (int count = 1; count <= 2; count++) {
            CHECK_OK(clfi_embedding_sum(context, terms, count, 3.0f, clfi_tensor_view(y.tensor)));
            operand_read(&y, clfi_weight_type_info(types[t])->name);
            for (int i = 0; i < TOKENS; i++)
                for (int c = 0; c < COLUMNS; c++) {
                    const double want = 3 * table.value[ids[i] * COLUMNS + c] + (count > 1 ? added.value[c] : 0);
                    CHECK(within(y.value[i * COLUMNS + c], want, 1e-5), "%s: %d,%d: %.9g, want %.9g", clfi_weight_type_info(types[t])->name,
                          i, c, y.value[i * COLUMNS + c], want);
                }
        }
        destroy(&table);
        operand_destroy(&id);
        operand_destroy(&y);
        operand_destroy(&added);
    }
    clf_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_some_engine),  cmocka_unit_test(test_linear), cmocka_unit_test(test_gated),
        cmocka_unit_test(test_shared_input), cmocka_unit_test(test_matrix), cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_largest),      cmocka_unit_test(test_rows),
    };
    cmocka_set_test_filter(getenv("CLF_TEST_ONLY")); /* emulated matrix units need one of them */
    return cmocka_run_group_tests(tests, device_setup_cached, device_teardown);
}
