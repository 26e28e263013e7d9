/* SPDX-License-Identifier: MIT */
/* Self-test: gated feed-forward networks with quantised inner weights, and with the gates of the families of models. Engines that compute
 * both inner products as one do so up to a number of rows; the cases have fewer rows and more. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "nn/feed_forward.h"
#include "workload/random_blocks.h"
#include "workload/reference_gemm.h"
#include "workload/selftest.h"

enum { WIDTH = 512, HIDDEN = 45, MOST_ROWS = 5 };

static const double u = 0x1p-24;

/* [k,n] from a weight's [n,k]. */
static void transpose(const double *from, int64_t n, int64_t k, double *to)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t p = 0; p < k; p++)
            to[p * n + j] = from[j * k + p];
}

/* want = f(x w^T) and its bound, for blocks w [HIDDEN,WIDTH]. scratch: 2 HIDDEN WIDTH values. */
static void inner_product(const double *x, int64_t rows, const clfi_random_blocks *blocks, clf_activation activation, double *scratch,
                          double *want, double *bound)
{
    double *b = scratch, *b_terms = scratch + HIDDEN * WIDTH;
    transpose(blocks->value, HIDDEN, WIDTH, b);
    transpose(blocks->terms, HIDDEN, WIDTH, b_terms);
    clfi_ref_gemm_run(
        &(clfi_ref_gemm){.m = rows, .n = HIDDEN, .k = WIDTH, .alpha = 1, .activation = activation, .a = x, .b = b, .b_terms = b_terms},
        want, bound);
}

/* The result and its bound, from the hidden values and their errors. scratch: 2 HIDDEN WIDTH values. */
static void reference(const double *x, int64_t rows, const clfi_random_blocks *blocks, clf_activation activation, const double *out_weight,
                      double *scratch, double *want, double *bound)
{
    double hidden[MOST_ROWS * HIDDEN], gate[MOST_ROWS * HIDDEN], hidden_bound[MOST_ROWS * HIDDEN], gate_bound[MOST_ROWS * HIDDEN];
    inner_product(x, rows, &blocks[0], activation, scratch, hidden, hidden_bound);
    inner_product(x, rows, &blocks[1], CLF_ACTIVATION_NONE, scratch, gate, gate_bound);
    for (int64_t i = 0; i < rows * HIDDEN; i++) {
        hidden_bound[i] = fabs(hidden[i]) * gate_bound[i] + (fabs(gate[i]) + gate_bound[i]) * hidden_bound[i];
        hidden[i] *= gate[i];
        hidden_bound[i] += 4 * u * (fabs(hidden[i]) + hidden_bound[i]);
    }
    transpose(out_weight, WIDTH, HIDDEN, scratch);
    clfi_ref_gemm_run(&(clfi_ref_gemm){.m = rows, .n = WIDTH, .k = HIDDEN, .alpha = 1, .a = hidden, .b = scratch}, want, bound);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t p = 0; p < HIDDEN; p++)
            for (int64_t j = 0; j < WIDTH; j++)
                bound[i * WIDTH + j] += (1 + 0x1p-10) * fabs(scratch[p * WIDTH + j]) * hidden_bound[i * HIDDEN + p];
}

/* Draws an inner weight [HIDDEN,WIDTH] of any type. `out` has its numbers; a weight of floats is the next operand. */
static clf_status draw_inner(clfi_selftest *test, clf_weight_type type, clfi_selftest_operands *data, clfi_random_blocks *out)
{
    enum { COUNT_OF_WEIGHTS = HIDDEN * WIDTH };
    if (type != CLF_WEIGHT_F32)
        return clfi_random_blocks_create(test->context, &test->random, type, HIDDEN, WIDTH, out);
    CLF_TRY(clfi_selftest_add(test, data, 2, (int64_t[]){HIDDEN, WIDTH}, -0.2f, 0.2f));
    const clfi_operand *weight = &data->operand[data->count - 1];
    CLF_TRY(clfi_alloc(2 * COUNT_OF_WEIGHTS, sizeof *out->value, "selftest", &out->value));
    out->terms = out->value + COUNT_OF_WEIGHTS;
    out->view = *clfi_tensor_view(weight->tensor);
    for (size_t i = 0; i < COUNT_OF_WEIGHTS; i++) {
        out->value[i] = (double)weight->host[i];
        out->terms[i] = fabs(out->value[i]);
    }
    return CLF_OK;
}

static clf_status gated_case(clfi_selftest *test, int64_t rows, clf_weight_type type, clf_activation activation)
{
    enum { X, OUT_WEIGHT, Y, DOUBLES = 2 * HIDDEN * WIDTH + 2 * MOST_ROWS * WIDTH };
    clf_context *context = test->context;
    clfi_selftest_operands data = {.count = 0};
    clfi_random_blocks blocks[2] = {{0}, {0}};
    clf_linear *inner[2] = {NULL, NULL}, *out = NULL;
    double *x = NULL, *out_weight = NULL, *scratch = NULL;
    clf_status st;
    CLF_GOTO(clfi_selftest_add(test, &data, 2, (int64_t[]){rows, WIDTH}, -1, 1));
    CLF_GOTO(clfi_selftest_add(test, &data, 2, (int64_t[]){WIDTH, HIDDEN}, -0.2f, 0.2f));
    CLF_GOTO(clfi_selftest_add_result(test, &data, 2, (int64_t[]){rows, WIDTH}));
    for (int i = 0; i < 2; i++) {
        CLF_GOTO(draw_inner(test, type, &data, &blocks[i]));
        CLF_GOTO(clfi_linear_create(context, 1, &blocks[i].view, NULL, &inner[i]));
    }
    CLF_GOTO(clfi_linear_create(context, 1, clfi_selftest_view(&data, OUT_WEIGHT), NULL, &out));
    const clf_feed_forward network = {.in = inner[0], .gate = inner[1], .out = out, .activation = activation};
    CLF_GOTO(clfi_feed_forward_run(context, &network, clfi_selftest_view(&data, X), NULL, clfi_selftest_view(&data, Y)));
    CLF_GOTO(clfi_operand_read(&data.operand[Y]));
    CLF_GOTO(clfi_operand_widen(&data.operand[X], &x));
    CLF_GOTO(clfi_operand_widen(&data.operand[OUT_WEIGHT], &out_weight));
    CLF_GOTO(clfi_alloc(DOUBLES, sizeof *scratch, "selftest", &scratch));
    double *want = scratch + 2 * HIDDEN * WIDTH, *bound = want + rows * WIDTH;
    reference(x, rows, blocks, activation, out_weight, scratch, want, bound);
    clfi_selftest_all(test, &data.operand[Y], want, bound);
done:
    clfi_context_drain(context);
    for (int i = 0; i < 2; i++) {
        clf_linear_destroy(inner[i]);
        clfi_random_blocks_free(&blocks[i]);
    }
    clf_linear_destroy(out);
    clfi_selftest_free(&data);
    free(x);
    free(out_weight);
    free(scratch);
    return st;
}

clf_status clfi_selftest_feed_forward(clfi_selftest *test)
{
    static const clf_weight_type types[] = {CLF_WEIGHT_Q8_0, CLF_WEIGHT_Q4_1, CLF_WEIGHT_Q5_0, CLF_WEIGHT_Q5_1,
                                            CLF_WEIGHT_Q4_K, CLF_WEIGHT_Q5_K, CLF_WEIGHT_Q6_K};
    static const clf_activation activations[] = {CLF_ACTIVATION_GELU_TANH /* Gemma, T5 1.1 */, CLF_ACTIVATION_GELU /* ModernBERT */};
    for (int64_t rows = 1; rows <= MOST_ROWS; rows = rows == 2 ? MOST_ROWS : rows + 1)
        CLF_TRY(gated_case(test, rows, CLF_WEIGHT_Q4_0, CLF_ACTIVATION_SILU));
    for (size_t i = 0; i < COUNT(types); i++)
        CLF_TRY(gated_case(test, 1, types[i], CLF_ACTIVATION_SILU));
    for (size_t i = 0; i < COUNT(activations); i++)
        for (int64_t rows = 1; rows <= MOST_ROWS; rows += MOST_ROWS - 1)
            CLF_TRY(gated_case(test, rows, CLF_WEIGHT_F32, activations[i]));
    return CLF_OK;
}
