/* SPDX-License-Identifier: MIT */
/* Attention with windows and with biases by distance over ragged batches, against double; which keys a window reads; refusals. */
#include "support/check.h"
#include "support/device.h"
#include "support/operand.h"

#include <stdio.h>
#include <stdlib.h>

#include "op/attention.h"
#include "workload/reference_gemm.h"

enum { HEADS = 4, KEY_HEADS = 2, D = 16, SEQUENCES = 3, TOKENS = 61, REACH = 9, COLUMNS = 2 * REACH + 1 };

static const int32_t begin[SEQUENCES + 1] = {0, 1, 24, TOKENS};

typedef struct distance_case {
    int32_t window;
    bool is_causal, has_bias;
} distance_case;

static bool is_used(const distance_case *c, int i, int j)
{
    return (!c->is_causal || j <= i) && (c->window == 0 || abs(i - j) < c->window);
}

/* One row in double: want[D] and the sum of the weights' magnitudes times values. */
static void reference_row(const distance_case *c, const double *q, const double *k, const double *v, const double *bias, int keys, int i,
                          double *want)
{
    double scores[TOKENS], largest = -INFINITY, sum = 0;
    for (int j = 0; j < keys; j++) {
        const int e = j - i < -REACH ? -REACH : j - i > REACH ? REACH : j - i;
        double dot = 0;
        for (int x = 0; x < D; x++)
            dot += q[x] * k[j * D + x];
        scores[j] = is_used(c, i, j) ? (double)0.25f * dot + (c->has_bias ? bias[REACH + e] : 0) : -INFINITY;
        largest = fmax(largest, scores[j]);
    }
    for (int x = 0; x < D; x++)
        want[x] = 0;
    for (int j = 0; j < keys; j++) {
        const double weight = exp(scores[j] - largest);
        sum += weight;
        for (int x = 0; x < D && weight > 0; x++)
            want[x] += weight * v[j * D + x];
    }
    for (int x = 0; x < D; x++)
        want[x] /= sum;
}

static void run_case(clf_context *context, const distance_case *c)
{
    char id[64];
    rng r = {(uint64_t)(c->window + 7 * c->is_causal)};
    clf_attention_batch *batch;
    operand q = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){HEADS, TOKENS, D});
    operand k = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){KEY_HEADS, TOKENS, D});
    operand v = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){KEY_HEADS, TOKENS, D});
    operand out = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){TOKENS, HEADS, D});
    operand bias = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){HEADS, COLUMNS});
    operand *const filled[] = {&q, &k, &v, &bias};
    snprintf(id, sizeof id, "attention[window=%d%s%s]", c->window, c->is_causal ? " causal" : "", c->has_bias ? " bias" : "");
    for (size_t i = 0; i < COUNT(filled); i++)
        operand_fill_uniform(filled[i], &r, -2, 2);
    CHECK_OK(clfi_attention_batch_create(context, &batch));
    CHECK_OK(clfi_attention_batch_set(batch, SEQUENCES, begin, NULL));
    clf_attention_args args = {.batch = batch,
                               .q = clfi_tensor_view(q.tensor),
                               .k = clfi_tensor_view(k.tensor),
                               .v = clfi_tensor_view(v.tensor),
                               .out = clfi_tensor_view(out.tensor),
                               .bias = c->has_bias ? clfi_tensor_view(bias.tensor) : NULL,
                               .window = c->window,
                               .scale = 0.25f,
                               .is_causal = c->is_causal};
    CHECK_OK(clfi_attention(context, &args));
    operand_read(&out, id);
    for (int s = 0; s < SEQUENCES; s++) {
        for (int i = 0; i < begin[s + 1] - begin[s]; i++) {
            for (int h = 0; h < HEADS; h++) {
                const int g = h / (HEADS / KEY_HEADS), row = begin[s] + i;
                double want[D];
                reference_row(c, q.value + (h * TOKENS + row) * D, k.value + (g * TOKENS + begin[s]) * D,
                              v.value + (g * TOKENS + begin[s]) * D, bias.value + h * COLUMNS, begin[s + 1] - begin[s], i, want);
                for (int x = 0; x < D;
                     x++) { /* scores of at most 18: their error times 2 goes into weights; then sums of at most 37 values below 2 */
                    const double got = out.value[(row * HEADS + h) * D + x],
                                 bound = 2 * (2 * clfi_gamma_f32(D + 3) * 18 + clfi_gamma_f32(TOKENS + 8));
                    CHECK(within(got, want[x], bound), "%s: sequence %d query %d head %d column %d: %.9g, want %.9g", id, s, i, h, x, got,
                          want[x]);
                }
            }
        }
    }
    args.window = -1;
    CHECK_FAILS(clfi_attention(context, &args), CLF_INVALID_ARGUMENT, "window -1");
    clfi_attention_batch_destroy(batch);
    operand_destroy(&out);
    for (size_t i = 0; i < COUNT(filled); i++)
        operand_destroy(filled[i]);
}

static void test_cases(void **state)
{
    static const distance_case cases[] = {{5, false, false}, {5, true, false}, {1, false, true},
                                          {0, false, true},  {0, true, true},  {200, false, true}};
    for (size_t i = 0; i < COUNT(cases); i++)
        run_case(*state, &cases[i]);
}

/* A bias must have a row for each query head and an odd number of columns. */
static void test_refusals(void **state)
{
    clf_context *context = *state;
    clf_attention_batch *batch;
    operand q = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){2, 3, 4});
    operand out = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 3, (int64_t[]){3, 2, 4});
    operand bias = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){2, 6});
    CHECK_OK(clfi_attention_batch_create(context, &batch));
    CHECK_OK(clfi_attention_batch_set(batch, 1, (int32_t[]){0, 3}, NULL));
    const clf_view *view = clfi_tensor_view(q.tensor);
    const clf_attention_args args = {
        .batch = batch, .q = view, .k = view, .v = view, .out = clfi_tensor_view(out.tensor), .bias = clfi_tensor_view(bias.tensor)};
    CHECK_FAILS(clfi_attention(context, &args), CLF_INVALID_ARGUMENT,
                "attention bias: expected float32 [2, an odd number], found float32 [2,6]");
    clfi_attention_batch_destroy(batch);
    operand_destroy(&bias);
    operand_destroy(&out);
    operand_destroy(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests_name("op.attention_distance", tests, device_setup, device_teardown);
}
