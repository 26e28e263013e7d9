/* SPDX-License-Identifier: MIT */
/* The feed-forward network, plain and gated, with every activation, against float64; refusals. */
#include "support/check.h"
#include "support/device.h"
#include "support/operand.h"
#include "workload/reference_gemm.h"

#include <stdio.h>

#include "base/alloc.h"
#include "clformer/transformer.h"

enum { ROWS = 6, IN = 19, HIDDEN = 37, OUT = 23 };

/* h = f(W x + b) for one row. */
static void linear(const operand *w, const operand *b, const double *x, int64_t in, int64_t out, clf_activation activation, double *y)
{
    for (int64_t o = 0; o < out; o++) {
        double sum = b ? b->value[o] : 0;
        for (int64_t i = 0; i < in; i++)
            sum += w->value[o * in + i] * x[i];
        y[o] = clfi_ref_activation(activation, sum);
    }
}

static void run_case(clf_context *context, clf_activation activation, bool is_gated, bool has_bias)
{
    char id[96];
    rng r = {(uint64_t)activation + 10 * is_gated};
    double hidden[HIDDEN], gate[HIDDEN], want[OUT];
    clf_feed_forward_network *network;
    snprintf(id, sizeof id, "feed_forward[%s%s%s]", clf_activation_name(activation), is_gated ? " gated" : "", has_bias ? " bias" : "");
    operand w1 = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){HIDDEN, IN}),
            b1 = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 1, (int64_t[]){HIDDEN});
    operand wg = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){HIDDEN, IN}),
            bg = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 1, (int64_t[]){HIDDEN});
    operand w2 = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){OUT, HIDDEN}),
            b2 = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 1, (int64_t[]){OUT});
    operand x = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){2, ROWS / 2, IN}),
            y = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){2, ROWS / 2, OUT});
    operand *const filled[] = {&w1, &b1, &wg, &bg, &w2, &b2, &x};
    for (size_t i = 0; i < COUNT(filled); i++)
        operand_fill_uniform(filled[i], &r, -0.7f, 0.7f);
    CHECK_OK(clf_feed_forward_create(context, activation, w1.tensor, has_bias ? b1.tensor : NULL, is_gated ? wg.tensor : NULL,
                                     is_gated && has_bias ? bg.tensor : NULL, w2.tensor, has_bias ? b2.tensor : NULL, &network));
    CHECK_OK(clf_feed_forward_apply(context, network, x.tensor, y.tensor));
    operand_read(&y, id);
    for (int64_t row = 0; row < ROWS; row++) {
        linear(&w1, has_bias ? &b1 : NULL, x.value + row * IN, IN, HIDDEN, activation, hidden);
        linear(&wg, has_bias ? &bg : NULL, x.value + row * IN, IN, HIDDEN, CLF_ACTIVATION_NONE, gate);
        const double slope = fmax(1, clfi_ref_activation_slope(activation, 6));
        double magnitude = 1;
        for (int i = 0; i < HIDDEN; i++) {
            hidden[i] *= is_gated ? gate[i] : 1;
            magnitude += fabs(hidden[i]);
        }
        linear(&w2, has_bias ? &b2 : NULL, hidden, HIDDEN, OUT, CLF_ACTIVATION_NONE, want);
        for (int i = 0; i < OUT; i++) /* sums of 19 and 37 products of numbers below 6, an activation between them */
            CHECK(within(y.value[row * OUT + i], want[i], clfi_gamma_f32(IN + HIDDEN + 12) * 6 * slope * magnitude),
                  "%s: row %lld column %d: %.9g, want %.9g", id, (long long)row, i, y.value[row * OUT + i], want[i]);
    }
    clf_feed_forward_destroy(network);
    for (size_t i = 0; i < COUNT(filled); i++)
        operand_destroy(filled[i]);
    operand_destroy(&y);
}

static void test_cases(void **state)
{
    for (int activation = 0; activation < CLF_ACTIVATION_COUNT; activation++) /* each plain and gated, one of them with biases */
        for (int is_gated = 0; is_gated < 2; is_gated++)
            run_case(*state, (clf_activation)activation, is_gated, (activation + is_gated) % 2);
}

static void test_refusals(void **state)
{
    clf_context *context = *state;
    clf_feed_forward_network *network = NULL;
    clf_tensor *w1, *w2, *bad;
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){HIDDEN, IN}, &w1));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){OUT, HIDDEN}, &w2));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){HIDDEN, IN + 1}, &bad));
    CHECK_FAILS(clf_feed_forward_create(context, CLF_ACTIVATION_RELU, w1, NULL, NULL, NULL, bad, NULL, &network), CLF_INVALID_ARGUMENT,
                "w2");
    CHECK_FAILS(clf_feed_forward_create(context, CLF_ACTIVATION_RELU, w1, NULL, bad, NULL, w2, NULL, &network), CLF_INVALID_ARGUMENT, "wg");
    CHECK_FAILS(clf_feed_forward_create(context, CLF_ACTIVATION_RELU, w1, NULL, NULL, w1, w2, NULL, &network), CLF_INVALID_ARGUMENT,
                "bg needs wg");
    CHECK_FAILS(clf_feed_forward_create(context, CLF_ACTIVATION_RELU, NULL, NULL, NULL, NULL, w2, NULL, &network), CLF_INVALID_ARGUMENT,
                "feed-forward: w1 is NULL");
    clf_tensor *long_bias;
    CHECK_OK(clf_tensor_create(context, CLF_F32, 1, (int64_t[]){OUT + HIDDEN}, &long_bias));
    CHECK_FAILS(clf_feed_forward_create(context, CLF_ACTIVATION_RELU, w1, long_bias, NULL, NULL, w2, NULL, &network), CLF_INVALID_ARGUMENT,
                "E_SHAPE: feed-forward: bias of w1 is [");
    CHECK_FAILS(clf_feed_forward_create(context, CLF_ACTIVATION_RELU, w1, NULL, NULL, NULL, w2, long_bias, &network), CLF_INVALID_ARGUMENT,
                "E_SHAPE: feed-forward: bias of w2 is [");
    clf_tensor_destroy(long_bias);
    assert_null(network);
    CHECK_OK(clf_feed_forward_create(context, CLF_ACTIVATION_RELU, w1, NULL, NULL, NULL, w2, NULL, &network));
    CHECK_FAILS(clf_feed_forward_apply(context, network, bad, w2), CLF_INVALID_ARGUMENT, "x is");
    CHECK_FAILS(clf_feed_forward_apply(context, NULL, w1, w2), CLF_INVALID_ARGUMENT, "NULL");
    clf_feed_forward_destroy(network);
    clf_tensor_destroy(w1);
    clf_tensor_destroy(w2);
    clf_tensor_destroy(bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests_name("nn.feed_forward", tests, device_setup, device_teardown);
}
