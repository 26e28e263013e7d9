/* SPDX-License-Identifier: MIT */
/* Self-test: the scoring functions of attention, and log-softmax. */
#include <math.h>
#include <stdlib.h>

#include "clformer/attention.h"
#include "workload/selftest.h"
#include "op/log_softmax.h"
#include "workload/reference_softmax.h"

static const double u = 0x1p-24;

/* |q|, |k|, |v| <= 1 and |weights| <= 1/2, so that no score exceeds MOST_SCORE in magnitude. */
enum { B = 2, Q = 5, K = 37, DQ = 12, DK = 20, DV = 24, H = 11, MOST_WIDTH = DK, MOST_SCORE = DQ * DK / 2 };

/* The operands of clf_attention and their places. */
enum { AT_Q, AT_K, AT_V, AT_WQ, AT_WK, AT_WV, AT_OUT, AT_WEIGHTS };

static double reference_score(clf_score kind, const float *q, const float *k, int width, const clfi_selftest_operands *data)
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
                sum += (double)q[i] * data->operand[AT_WQ].host[i * DK + j] * k[j];
        return sum / sqrt(DK);
    case CLF_SCORE_ADDITIVE:
        for (int h = 0; h < H; h++) {
            double hidden = 0;
            for (int i = 0; i < DQ; i++)
                hidden += (double)data->operand[AT_WQ].host[h * DQ + i] * q[i];
            for (int j = 0; j < DK; j++)
                hidden += (double)data->operand[AT_WK].host[h * DK + j] * k[j];
            sum += data->operand[AT_WV].host[h] * tanh(hidden);
        }
        return sum;
    }
    return NAN;
}

static clf_status scoring_case(clfi_selftest *test, clf_score kind)
{
    static const int32_t lengths[B] = {K, 5};
    const bool has_one_width = kind == CLF_SCORE_DOT || kind == CLF_SCORE_DISTANCE, is_bilinear = kind == CLF_SCORE_BILINEAR;
    const int64_t dq = has_one_width ? DK : DQ, dk = DK;
    clfi_selftest_operands data = {.count = 0};
    clf_tensor *device_lengths = NULL;
    clf_attention_params params = CLF_ATTENTION_PARAMS_INIT;
    clf_status st;
    CLF_GOTO(clfi_selftest_add(test, &data, 3, (int64_t[]){B, Q, dq}, -1, 1));
    CLF_GOTO(clfi_selftest_add(test, &data, 3, (int64_t[]){B, K, dk}, -1, 1));
    CLF_GOTO(clfi_selftest_add(test, &data, 3, (int64_t[]){B, K, DV}, -1, 1));
    CLF_GOTO(clfi_selftest_add(test, &data, 2, is_bilinear ? (int64_t[]){DQ, DK} : (int64_t[]){H, DQ}, -0.5f, 0.5f));
    CLF_GOTO(clfi_selftest_add(test, &data, 2, (int64_t[]){H, DK}, -0.5f, 0.5f));
    CLF_GOTO(clfi_selftest_add(test, &data, 1, (int64_t[]){H}, -0.5f, 0.5f));
    CLF_GOTO(clfi_selftest_add_result(test, &data, 3, (int64_t[]){B, Q, DV}));
    CLF_GOTO(clfi_selftest_add_result(test, &data, 3, (int64_t[]){B, Q, K}));
    CLF_GOTO(clf_tensor_create_from(test->context, CLF_I32, 1, (int64_t[]){B}, lengths, &device_lengths));
    params.score = kind;
    params.lengths = device_lengths;
    params.weights = data.operand[AT_WEIGHTS].tensor;
    if (is_bilinear)
        params.m = data.operand[AT_WQ].tensor;
    if (kind == CLF_SCORE_ADDITIVE) {
        params.w_q = data.operand[AT_WQ].tensor;
        params.w_k = data.operand[AT_WK].tensor;
        params.w_v = data.operand[AT_WV].tensor;
    }
    CLF_GOTO(clf_attention(test->context, data.operand[AT_Q].tensor, data.operand[AT_K].tensor, data.operand[AT_V].tensor, &params,
                           data.operand[AT_OUT].tensor));
    CLF_GOTO(clfi_operand_read(&data.operand[AT_OUT]));
    CLF_GOTO(clfi_operand_read(&data.operand[AT_WEIGHTS]));
    /* A score is a sum of at most H (DQ + DK) rounded products. A weight errs by twice the error of a score, plus the sums over keys. */
    const double relative = u * (2 * (H + DQ + DK + 4) * (has_one_width ? 2.0 * DK : MOST_SCORE) / 8 + 2 * K + 32);
    for (int row = 0; row < B * Q; row++) {
        double scores[K], weights[K];
        bool keep[K];
        for (int j = 0; j < K; j++) {
            scores[j] =
                reference_score(kind, data.operand[AT_Q].host + row * dq, data.operand[AT_K].host + (row / Q * K + j) * dk, (int)dq, &data);
            keep[j] = j < lengths[row / Q];
        }
        clfi_ref_softmax_row(scores, keep, K, CLF_EMPTY_ROWS_ZERO, weights);
        for (int j = 0; j < K; j++)
            clfi_verdict_add(&test->verdict, data.operand[AT_WEIGHTS].host[row * K + j], weights[j], relative * weights[j]);
        for (int c = 0; c < DV; c++) {
            double want = 0;
            for (int j = 0; j < K; j++)
                want += weights[j] * data.operand[AT_V].host[(row / Q * K + j) * DV + c];
            clfi_verdict_add(&test->verdict, data.operand[AT_OUT].host[row * DV + c], want, relative);
        }
    }
done:
    clf_tensor_destroy(device_lengths);
    clfi_selftest_free(&data);
    return st;
}

clf_status clfi_selftest_scoring(clfi_selftest *test)
{
    for (int kind = CLF_SCORE_DOT; kind <= CLF_SCORE_DISTANCE; kind++)
        CLF_TRY(scoring_case(test, (clf_score)kind));
    return CLF_OK;
}

clf_status clfi_selftest_log_softmax(clfi_selftest *test)
{
    const int64_t rows = 7, width = 131;
    clfi_selftest_operands data = {.count = 0};
    double *x = NULL;
    clf_status st;
    CLF_GOTO(clfi_selftest_add(test, &data, 2, (int64_t[]){rows, width}, -30, 30));
    CLF_GOTO(clfi_selftest_add_result(test, &data, 2, (int64_t[]){rows, width}));
    CLF_GOTO(clfi_log_softmax(test->context, clfi_selftest_view(&data, 0), NULL, clfi_selftest_view(&data, 1)));
    CLF_GOTO(clfi_operand_read(&data.operand[1]));
    CLF_GOTO(clfi_operand_widen(&data.operand[0], &x));
    for (int64_t row = 0; row < rows; row++) {
        const double log_sum = clfi_ref_log_sum_exp(x + row * width, (size_t)width);
        for (int64_t at = row * width; at < (row + 1) * width; at++)
            clfi_verdict_add(&test->verdict, data.operand[1].host[at], x[at] - log_sum,
                             clfi_ref_log_softmax_error(x[at] - log_sum, (size_t)width));
    }
done:
    clfi_selftest_free(&data);
    free(x);
    return st;
}
