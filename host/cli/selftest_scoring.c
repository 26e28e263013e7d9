/* SPDX-License-Identifier: MIT */
/* selftest: the scoring functions of attention, attention to cached keys, and log-softmax. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "clformer/attention.h"
#include "cli/selftest.h"
#include "op/cached_attention.h"
#include "op/log_softmax.h"
#include "workload/reference_softmax.h"

static const double u = 0x1p-24;

/* |q|, |k|, |v| <= 1 and |weights| <= 1/2, so that no score exceeds MOST_SCORE in size. */
enum { B = 2, Q = 5, K = 37, DQ = 12, DK = 20, DV = 24, H = 11, MOST_WIDTH = DK, MOST_SCORE = DQ * DK / 2 };

/* The operands of clf_attention and their places. */
enum { AT_Q, AT_K, AT_V, AT_WQ, AT_WK, AT_WV, AT_OUT, AT_WEIGHTS };

static double reference_score(clf_score kind, const float *q, const float *k, int width, const selftest_operands *data)
{
    double sum = 0;
    switch (kind) {
    case CLF_SCORE_DOT:
        for (int i = 0; i < width; i++)
            sum += (double)q[i] * k[i];
        return sum / sqrt(width);
    case CLF_SCORE_DISTANCE:
        for (int i = 0; i < width; i++)
            sum -= ((double)q[i] - k[i]) * ((double)q[i] - k[i]) / 2;
        return sum;
    case CLF_SCORE_BILINEAR:
        for (int i = 0; i < DQ; i++)
            for (int j = 0; j < DK; j++)
                sum += (double)q[i] * data->host[AT_WQ][i * DK + j] * k[j];
        return sum / sqrt(DK);
    case CLF_SCORE_ADDITIVE:
        for (int h = 0; h < H; h++) {
            double hidden = 0;
            for (int i = 0; i < DQ; i++)
                hidden += (double)data->host[AT_WQ][h * DQ + i] * q[i];
            for (int j = 0; j < DK; j++)
                hidden += (double)data->host[AT_WK][h * DK + j] * k[j];
            sum += data->host[AT_WV][h] * tanh(hidden);
        }
        return sum;
    }
    return NAN;
}

static clf_status scoring_case(selftest *test, clf_score kind)
{
    static const int32_t lengths[B] = {K, 5};
    const bool has_one_width = kind == CLF_SCORE_DOT || kind == CLF_SCORE_DISTANCE, is_bilinear = kind == CLF_SCORE_BILINEAR;
    const int64_t dq = has_one_width ? DK : DQ, dk = DK;
    selftest_operands data = {.count = 0};
    clf_tensor *device_lengths = NULL;
    clf_attention_params params = CLF_ATTENTION_PARAMS_INIT;
    clf_status st;
    CLF_GOTO(selftest_add(test, &data, 3, (int64_t[]){B, Q, dq}, -1, 1));
    CLF_GOTO(selftest_add(test, &data, 3, (int64_t[]){B, K, dk}, -1, 1));
    CLF_GOTO(selftest_add(test, &data, 3, (int64_t[]){B, K, DV}, -1, 1));
    CLF_GOTO(selftest_add(test, &data, 2, is_bilinear ? (int64_t[]){DQ, DK} : (int64_t[]){H, DQ}, -0.5f, 0.5f));
    CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){H, DK}, -0.5f, 0.5f));
    CLF_GOTO(selftest_add(test, &data, 1, (int64_t[]){H}, -0.5f, 0.5f));
    CLF_GOTO(selftest_add(test, &data, 3, (int64_t[]){B, Q, DV}, NAN, NAN));
    CLF_GOTO(selftest_add(test, &data, 3, (int64_t[]){B, Q, K}, NAN, NAN));
    CLF_GOTO(clf_tensor_create_from(test->context, CLF_I32, 1, (int64_t[]){B}, lengths, &device_lengths));
    params.score = kind;
    params.lengths = device_lengths;
    params.weights = data.tensor[AT_WEIGHTS];
    if (is_bilinear)
        params.m = data.tensor[AT_WQ];
    if (kind == CLF_SCORE_ADDITIVE) {
        params.w_q = data.tensor[AT_WQ];
        params.w_k = data.tensor[AT_WK];
        params.w_v = data.tensor[AT_WV];
    }
    CLF_GOTO(clf_attention(test->context, data.tensor[AT_Q], data.tensor[AT_K], data.tensor[AT_V], &params, data.tensor[AT_OUT]));
    CLF_GOTO(selftest_read(&data, AT_OUT));
    CLF_GOTO(selftest_read(&data, AT_WEIGHTS));
    /* A score is a sum of at most H (DQ + DK) rounded products; a weight errs by twice a score's error, and the sums over keys. */
    const double relative = u * (2 * (H + DQ + DK + 4) * (has_one_width ? 2.0 * DK : MOST_SCORE) / 8 + 2 * K + 32);
    for (int row = 0; row < B * Q; row++) {
        double scores[K], weights[K];
        bool keep[K];
        for (int j = 0; j < K; j++) {
            scores[j] = reference_score(kind, data.host[AT_Q] + row * dq, data.host[AT_K] + (row / Q * K + j) * dk, (int)dq, &data);
            keep[j] = j < lengths[row / Q];
        }
        clfi_ref_softmax_row(scores, keep, K, CLF_EMPTY_ROWS_ZERO, weights);
        for (int j = 0; j < K; j++)
            selftest_check(test, data.host[AT_WEIGHTS][row * K + j], weights[j], relative * weights[j]);
        for (int c = 0; c < DV; c++) {
            double want = 0;
            for (int j = 0; j < K; j++)
                want += weights[j] * data.host[AT_V][(row / Q * K + j) * DV + c];
            selftest_check(test, data.host[AT_OUT][row * DV + c], want, relative);
        }
    }
done:
    clf_tensor_destroy(device_lengths);
    selftest_free(&data);
    return st;
}

clf_status selftest_scoring(selftest *test)
{
    for (int kind = CLF_SCORE_DOT; kind <= CLF_SCORE_DISTANCE; kind++)
        CLF_TRY(scoring_case(test, (clf_score)kind));
    return CLF_OK;
}

clf_status selftest_cached_attention(selftest *test)
{
    enum { HEADS = 3, QUERIES = 4, ROWS = 90, KEYS = 70, SIZE = 32 };
    static const int32_t counts[QUERIES] = {KEYS, 1, 0, 33};
    int32_t rows[QUERIES * KEYS];
    selftest_operands data = {.count = 0};
    clf_tensor *device_rows = NULL, *device_counts = NULL;
    clf_status st;
    for (int i = 0; i < QUERIES * KEYS; i++)
        rows[i] = i * 37 % ROWS;
    CLF_GOTO(selftest_add(test, &data, 3, (int64_t[]){HEADS, QUERIES, SIZE}, -1, 1));
    CLF_GOTO(selftest_add(test, &data, 3, (int64_t[]){HEADS, ROWS, SIZE}, -1, 1));
    CLF_GOTO(selftest_add(test, &data, 3, (int64_t[]){HEADS, ROWS, SIZE}, -1, 1));
    CLF_GOTO(selftest_add(test, &data, 3, (int64_t[]){QUERIES, HEADS, SIZE}, NAN, NAN));
    CLF_GOTO(clf_tensor_create_from(test->context, CLF_I32, 2, (int64_t[]){QUERIES, KEYS}, rows, &device_rows));
    CLF_GOTO(clf_tensor_create_from(test->context, CLF_I32, 1, (int64_t[]){QUERIES}, counts, &device_counts));
    const clf_cached_attention_args args = {.q = selftest_view(&data, 0), .k = selftest_view(&data, 1), .v = selftest_view(&data, 2),
                                            .rows = clfi_tensor_view(device_rows), .counts = clfi_tensor_view(device_counts), .keys = KEYS,
                                            .out = selftest_view(&data, 3), .scale = 1};
    CLF_GOTO(clfi_cached_attention(test->context, &args));
    CLF_GOTO(selftest_read(&data, 3));
    for (int n = 0; n < QUERIES; n++) {
        for (int h = 0; h < HEADS; h++) {
            const float *q = data.host[0] + (h * QUERIES + n) * SIZE;
            double scores[KEYS], weights[KEYS];
            for (int j = 0; j < counts[n]; j++) {
                scores[j] = 0;
                for (int c = 0; c < SIZE; c++)
                    scores[j] += (double)q[c] * data.host[1][(h * ROWS + rows[n * KEYS + j]) * SIZE + c];
            }
            clfi_ref_softmax_row(scores, NULL, (size_t)counts[n], CLF_EMPTY_ROWS_ZERO, weights);
            for (int c = 0; c < SIZE; c++) {
                double want = 0;
                for (int j = 0; j < counts[n]; j++)
                    want += weights[j] * data.host[2][(h * ROWS + rows[n * KEYS + j]) * SIZE + c];
                /* scores of SIZE rounded products below SIZE in sum, weights and their sum over KEYS, products with |v| <= 1 */
                selftest_check(test, data.host[3][(n * HEADS + h) * SIZE + c], want, counts[n] ? u * (2 * (SIZE + 4) * SIZE + 2 * KEYS + 32) : 0);
            }
        }
    }
done:
    clf_tensor_destroy(device_rows);
    clf_tensor_destroy(device_counts);
    selftest_free(&data);
    return st;
}

clf_status selftest_log_softmax(selftest *test)
{
    const int64_t rows = 7, width = 131;
    selftest_operands data = {.count = 0};
    clf_status st;
    CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){rows, width}, -30, 30));
    CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){rows, width}, NAN, NAN));
    CLF_GOTO(clfi_log_softmax(test->context, selftest_view(&data, 0), NULL, selftest_view(&data, 1)));
    CLF_GOTO(selftest_read(&data, 1));
    for (int64_t row = 0; row < rows; row++) {
        const float *x = data.host[0] + row * width;
        double largest = -INFINITY, sum = 0;
        for (int64_t j = 0; j < width; j++)
            largest = fmax(largest, x[j]);
        for (int64_t j = 0; j < width; j++)
            sum += exp(x[j] - largest);
        for (int64_t j = 0; j < width; j++) {
            const double want = x[j] - largest - log(sum);
            selftest_check(test, data.host[1][row * width + j], want, u * (2 * fabs(x[j] - largest) + (double)width / 8 + 12 + fabs(want)));
        }
    }
done:
    selftest_free(&data);
    return st;
}
