/* SPDX-License-Identifier: MIT */
/* Linear layers on every engine: parts side by side, storage types, row counts around the tiles, column blocks, lifetime of the weights. */
#include <stdio.h>
#include <stdlib.h>

#include "op/linear.h"
#include "runtime/context.h"
#include "support/check.h"
#include "support/device.h"
#include "support/engines.h"
#include "support/linear_check.h"
#include "support/operand.h"

enum { MAX_PARTS = 3 };

typedef struct linear_case {
    int64_t m, k;
    int parts;
    int64_t n[MAX_PARTS];
    bool has_bias[MAX_PARTS];
    clf_dtype type, y_type;
    bool is_mixed; /* parts of f16, f32 and bf16 in place of `type` */
    layout weights, x, y;
    clf_activation activation;
    bool has_residual;
    int64_t column_block; /* 0: y is [m, n] */
    bool is_small;
} linear_case;

#define ONE(rows, depth, columns) .m = rows, .k = depth, .parts = 1, .n = {columns}
#define QKV(rows, depth, q, k_, v) .m = rows, .k = depth, .parts = 3, .n = {q, k_, v}

static const linear_case cases[] = {
    {ONE(1, 40, 50), .has_bias = {true}, .is_small = true},
    {ONE(0, 4, 5), .has_bias = {true}, .is_small = true},
    {ONE(7, 9, 0), .is_small = true},
    {ONE(5, 0, 18), .has_bias = {true}, .activation = CLF_ACTIVATION_SILU, .is_small = true},
    {ONE(8, 64, 48), .has_residual = true},
    {ONE(17, 384, 130), .has_bias = {true}, .activation = CLF_ACTIVATION_GELU},
    {ONE(129, 100, 96), .has_bias = {true}, .has_residual = true},
    {ONE(12, 33, 31), .weights = LAYOUT_REVERSED, .has_bias = {true}, .is_small = true},
    {ONE(20, 33, 64), .weights = LAYOUT_SLICED, .x = LAYOUT_SLICED, .y = LAYOUT_SLICED, .has_residual = true},
    {ONE(20, 33, 64), .x = LAYOUT_REVERSED, .y = LAYOUT_REVERSED, .has_bias = {true}},
    {ONE(9, 50, 70), .type = CLF_F16, .has_bias = {true}},
    {ONE(9, 50, 70), .type = CLF_BF16, .has_bias = {true}, .activation = CLF_ACTIVATION_GELU, .is_small = true},
    {ONE(1, 300, 100), .type = CLF_BF16},
    {ONE(33, 50, 70), .type = CLF_F16, .y_type = CLF_F16, .has_bias = {true}, .has_residual = true},
    {QKV(10, 24, 24, 24, 24), .has_bias = {true, true, true}, .is_small = true},
    {QKV(10, 24, 17, 5, 40), .has_bias = {true, false, true}, .is_small = true},
    {QKV(40, 30, 64, 1, 33), .type = CLF_F16, .weights = LAYOUT_REVERSED},
    {QKV(10, 24, 17, 5, 40), .is_mixed = true, .has_bias = {true, false, true}, .is_small = true},
    {QKV(40, 30, 64, 32, 32), .is_mixed = true, .weights = LAYOUT_REVERSED},
    {QKV(33, 48, 48, 48, 48), .is_mixed = true, .column_block = 16},
    {QKV(10, 24, 96, 96, 96), .has_bias = {true, false, true}, .column_block = 32},
    {QKV(131, 64, 128, 128, 128), .has_bias = {true, true, true}, .column_block = 64},
    {QKV(11, 24, 36, 36, 36), .has_bias = {true, true, true}, .column_block = 12, .is_small = true},
    {QKV(11, 24, 48, 48, 48), .column_block = 16, .has_residual = true, .activation = CLF_ACTIVATION_RELU, .y = LAYOUT_SLICED},
    {QKV(9, 20, 48, 48, 48), .column_block = 48, .y_type = CLF_BF16, .y = LAYOUT_REVERSED},
};

static const clf_dtype mixed[MAX_PARTS] = {CLF_F16, CLF_F32, CLF_BF16};

static void check_case(clf_context *context, const linear_case *one, const char *engine)
{
    char id[128];
    rng r = {(uint64_t)(one->m * 8191 + one->k * 31 + one->parts)};
    int64_t n = 0;
    for (int p = 0; p < one->parts; p++)
        n += one->n[p];
    snprintf(id, sizeof id, "linear[%s %lldx%lldx%lld parts=%d %s block=%lld]", engine, (long long)one->m, (long long)n, (long long)one->k,
             one->parts, clf_dtype_name(one->type), (long long)one->column_block);
    double *w = calloc((size_t)(n * one->k) + 1, sizeof *w), *b = calloc((size_t)n + 1, sizeof *b); /* w as [k, n] */
    operand weight[MAX_PARTS] = {{0}}, bias[MAX_PARTS] = {{0}};
    clf_view weights[MAX_PARTS] = {{0}}, biases[MAX_PARTS] = {{0}};
    clf_linear *linear = NULL;
    assert_true(w && b);
    for (int p = 0, first = 0; p < one->parts; first += (int)one->n[p++]) {
        const clf_dtype type = one->is_mixed ? mixed[p] : one->type;
        weight[p] = operand_create(context, type, one->weights, 2, (int64_t[]){one->n[p], one->k});
        operand_fill_uniform(&weight[p], &r, -1, 1);
        weights[p] = *clfi_tensor_view(weight[p].tensor);
        for (int64_t j = 0; j < one->n[p]; j++)
            for (int64_t i = 0; i < one->k; i++)
                w[i * n + first + j] = weight[p].value[j * one->k + i];
        if (!one->has_bias[p])
            continue;
        bias[p] = operand_create(context, type, one->weights, 1, &one->n[p]);
        operand_fill_uniform(&bias[p], &r, -2, 2);
        biases[p] = *clfi_tensor_view(bias[p].tensor);
        memcpy(b + first, bias[p].value, (size_t)one->n[p] * sizeof *b);
    }
    CHECK_OK(clfi_linear_create(context, one->parts, weights, biases, &linear));
    assert_int_equal(clfi_linear_in_features(linear), one->k);
    assert_int_equal(clfi_linear_out_features(linear), n);
    CHECK_OK(clf_context_finish(context));
    for (int p = 0; p < one->parts; p++) { /* a packed layer does not read the raw weights any more */
        if (clfi_linear_is_packed(linear) && weight[p].count)
            operand_fill_uniform(&weight[p], &r, 100, 200);
        operand_destroy(&bias[p]);
    }
    linear_check_run(context, linear,
                     &(linear_check){.id = id,
                                     .m = one->m,
                                     .n = n,
                                     .k = one->k,
                                     .weight = w,
                                     .bias = b,
                                     .x = one->x,
                                     .y = one->y,
                                     .y_type = one->y_type,
                                     .activation = one->activation,
                                     .has_residual = one->has_residual,
                                     .column_block = one->column_block,
                                     .precision = context->precision,
                                     .slack = 1},
                     &r);
    for (int p = 0; p < one->parts; p++)
        operand_destroy(&weight[p]);
    clfi_linear_destroy(linear);
    free(w);
    free(b);
}

/* A layer keeps its numbers when the tensors that it was made from change. */
static void check_copies(clf_context *context, const char *engine)
{
    static const float zeros[20 * 12];
    rng r = {7};
    operand w = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){20, 12});
    operand b = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 1, (int64_t[]){20});
    operand x = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){3, 12});
    operand y = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){3, 20});
    float before[3 * 20], after[3 * 20];
    clf_linear *linear;
    operand_fill_uniform(&w, &r, -1, 1);
    operand_fill_uniform(&b, &r, -1, 1);
    operand_fill_uniform(&x, &r, -1, 1);
    CHECK_OK(clf_linear_create(context, w.tensor, b.tensor, &linear));
    CHECK_OK(clf_linear_apply(context, linear, x.tensor, CLF_ACTIVATION_NONE, NULL, y.tensor));
    CHECK_OK(clf_tensor_read_f32(y.tensor, before, COUNT(before)));
    CHECK_OK(clf_tensor_write_f32(w.tensor, zeros, 20 * 12));
    CHECK_OK(clf_tensor_write_f32(b.tensor, zeros, 20));
    CHECK_OK(clf_linear_apply(context, linear, x.tensor, CLF_ACTIVATION_NONE, NULL, y.tensor));
    CHECK_OK(clf_tensor_read_f32(y.tensor, after, COUNT(after)));
    CHECK(memcmp(before, after, sizeof before) == 0, "%s: a layer changed with its tensors", engine);
    clf_linear_destroy(linear);
    operand *const all[] = {&w, &b, &x, &y};
    for (size_t i = 0; i < COUNT(all); i++)
        operand_destroy(all[i]);
}

static void test_engine(void **state)
{
    clf_context *context = gemm_engine_context(*state);
    if (gemm_engine_is_special(context)) {
        clf_context_destroy(context);
        skip();
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (takes_case(i, cases[i].is_small))
            check_case(context, &cases[i], *state);
    check_copies(context, *state);
    clf_context_destroy(context);
}

/* Layers whose products CLBlast computes in pieces, because the whole would exceed the budget of a launch. */
static void test_pieces(void **state)
{
    (void)state;
    clf_context *context = clblast_pieces_context();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (takes_case(i, cases[i].is_small))
            check_case(context, &cases[i], "clblast in pieces");
    clf_context_destroy(context);
}

/* The public calls: leading dimensions as one, the same result for a row alone and in a batch. */
static void test_public(void **state)
{
    clf_context *context = *state;
    rng r = {5};
    operand w = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){20, 12});
    operand b = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 1, (int64_t[]){20});
    operand x = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){2, 3, 12});
    operand y = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){2, 3, 20});
    operand row = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 1, (int64_t[]){12});
    operand out = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 1, (int64_t[]){20});
    clf_linear *linear;
    clf_tensor *turned;
    float values[12];
    operand_fill_uniform(&w, &r, -1, 1);
    operand_fill_uniform(&b, &r, -1, 1);
    operand_fill_uniform(&x, &r, -1, 1);
    CHECK_OK(clf_linear_create(context, w.tensor, b.tensor, &linear));
    CHECK_OK(clf_linear_apply(context, linear, x.tensor, CLF_ACTIVATION_GELU, NULL, y.tensor));
    operand_read(&y, "linear batch");
    for (int i = 0; i < 6; i++) {
        for (int p = 0; p < 12; p++)
            values[p] = (float)x.value[i * 12 + p];
        operand_fill(&row, values);
        CHECK_OK(clf_linear_apply(context, linear, row.tensor, CLF_ACTIVATION_GELU, NULL, out.tensor));
        operand_read(&out, "linear row");
        for (int j = 0; j < 20; j++)
            CHECK(within(out.value[j], y.value[i * 20 + j], 1e-6), "row %d column %d: %.9g alone, %.9g in the batch", i, j, out.value[j],
                  y.value[i * 20 + j]);
    }
    CHECK_OK(clf_tensor_permute(x.tensor, (int[]){1, 0, 2}, &turned));
    CHECK_FAILS(clf_linear_apply(context, linear, turned, CLF_ACTIVATION_NONE, NULL, y.tensor), CLF_INVALID_ARGUMENT, "leading sizes");
    CHECK_FAILS(clf_linear_apply(context, linear, y.tensor, CLF_ACTIVATION_NONE, NULL, y.tensor), CLF_INVALID_ARGUMENT, "x is [2,3,20]");
    CHECK_FAILS(clf_linear_apply(context, linear, x.tensor, CLF_ACTIVATION_NONE, x.tensor, y.tensor), CLF_INVALID_ARGUMENT, "residual");
    clf_tensor_destroy(turned);
    clf_linear_destroy(linear);
    clf_linear_destroy(NULL);
    CHECK_FAILS(clf_linear_create(context, b.tensor, NULL, &linear), CLF_INVALID_ARGUMENT, "rank 2");
    CHECK_FAILS(clf_linear_create(context, w.tensor, row.tensor, &linear), CLF_INVALID_ARGUMENT,
                "E_SHAPE: linear: bias of weight is [12], expected [20]");
    operand_destroy(&w);
    operand_destroy(&b);
    operand_destroy(&x);
    operand_destroy(&y);
    operand_destroy(&row);
    operand_destroy(&out);
}

int main(void)
{
    const struct CMUnitTest others[] = {cmocka_unit_test(test_pieces), cmocka_unit_test(test_public)};
    return run_gemm_engine_tests("engines", test_engine) + cmocka_run_group_tests(others, device_setup, device_teardown);
}
