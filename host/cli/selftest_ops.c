/* SPDX-License-Identifier: MIT */
/* selftest: the single ops. Bounds are first-order rounding bounds (Higham 2002, chapter 3), u = 2^-24. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/selftest.h"
#include "clformer/softmax.h"
#include "op/activation.h"
#include "op/embedding.h"
#include "op/gemm.h"
#include "op/layer_norm.h"
#include "op/linear.h"
#include "op/pooling.h"
#include "op/rms_norm.h"
#include "op/top_k.h"
#include "workload/reference_gemm.h"
#include "workload/reference_norm.h"
#include "workload/reference_softmax.h"

static const double u = 0x1p-24;

/* A reference's operands, widened; released together. */
enum { MOST_WIDE = 4 };

typedef struct wide_operands {
    double *value[MOST_WIDE], *want, *bound;
} wide_operands;

/* Widens the first `count` operands of a case; want and bound have room for the result, the last one. */
static clf_status widen(const selftest_operands *data, int count, wide_operands *out)
{
    const size_t results = data->operand[data->count - 1].count;
    *out = (wide_operands){.want = NULL};
    for (int i = 0; i < count; i++)
        CLF_TRY(clfi_operand_widen(&data->operand[i], &out->value[i]));
    CLF_TRY(clfi_alloc(results, sizeof *out->want, "selftest", &out->want));
    return clfi_alloc(results, sizeof *out->bound, "selftest", &out->bound);
}

static void wide_free(wide_operands *wide)
{
    for (int i = 0; i < MOST_WIDE; i++)
        free(wide->value[i]);
    free(wide->want);
    free(wide->bound);
}

static clf_status gemm_case(selftest *test, int64_t m, int64_t n, int64_t k, clf_activation activation)
{
    enum { X, W, B, R, Y };
    selftest_operands data = {.count = 0};
    wide_operands wide = {.want = NULL};
    clf_linear *linear = NULL;
    double *turned = NULL; /* W as [k,n] */
    clf_status st;
    CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){m, k}, -1, 1));
    CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){n, k}, -1, 1));
    CLF_GOTO(selftest_add(test, &data, 1, &n, -1, 1));
    CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){m, n}, -1, 1));
    CLF_GOTO(selftest_add_result(test, &data, 2, (int64_t[]){m, n}));
    CLF_GOTO(clfi_linear_create(test->context, 1, selftest_view(&data, W), selftest_view(&data, B), &linear));
    CLF_GOTO(clfi_linear_run(test->context, linear, selftest_view(&data, X), activation, selftest_view(&data, R),
                             selftest_view(&data, Y)));
    CLF_GOTO(clfi_operand_read(&data.operand[Y]));
    CLF_GOTO(widen(&data, Y, &wide));
    CLF_GOTO(clfi_alloc((size_t)(n * k), sizeof *turned, "selftest", &turned));
    for (int64_t j = 0; j < n; j++)
        for (int64_t p = 0; p < k; p++)
            turned[p * n + j] = wide.value[W][j * k + p];
    clfi_ref_gemm_run(&(clfi_ref_gemm){.m = m,
                                       .n = n,
                                       .k = k,
                                       .alpha = 1,
                                       .activation = activation,
                                       .a = wide.value[X],
                                       .b = turned,
                                       .bias = wide.value[B],
                                       .residual = wide.value[R]},
                      wide.want, wide.bound);
    selftest_check_all(test, &data.operand[Y], wide.want, wide.bound);
done:
    clfi_linear_destroy(linear);
    selftest_free(&data);
    wide_free(&wide);
    free(turned);
    return st;
}

clf_status selftest_gemm(selftest *test)
{
    CLF_TRY(gemm_case(test, 1, 7, 5, CLF_ACTIVATION_NONE));
    CLF_TRY(gemm_case(test, 3, 97, 384, CLF_ACTIVATION_SILU));
    CLF_TRY(gemm_case(test, 17, 33, 129, CLF_ACTIVATION_GELU));
    return gemm_case(test, 65, 48, 64, CLF_ACTIVATION_RELU);
}

clf_status selftest_activation(selftest *test)
{
    selftest_operands data = {.count = 0};
    const int64_t count = 1021;
    clf_status st;
    CLF_GOTO(selftest_add(test, &data, 1, &count, -20, 20));
    CLF_GOTO(selftest_add_result(test, &data, 1, &count));
    for (int kind = CLF_ACTIVATION_RELU; kind < CLF_ACTIVATION_COUNT; kind++) {
        CLF_GOTO(clfi_activation(test->context, (clf_activation)kind, selftest_view(&data, 0), selftest_view(&data, 1)));
        CLF_GOTO(clfi_operand_read(&data.operand[1]));
        for (int64_t i = 0; i < count; i++) {
            const double x = data.operand[0].host[i], want = clfi_ref_activation((clf_activation)kind, x);
            selftest_check(test, data.operand[1].host[i], want,
                           clfi_ref_activation_error((clf_activation)kind, x) + u * fabs(want) + 0x1p-126);
        }
    }
done:
    selftest_free(&data);
    return st;
}

static clf_status layer_norm_case(selftest *test, float mean)
{
    enum { X, GAMMA, BETA, Y };
    selftest_operands data = {.count = 0};
    wide_operands wide = {.want = NULL};
    const int64_t rows = 5, width = 385;
    clf_status st;
    CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){rows, width}, mean - 1, mean + 1));
    CLF_GOTO(selftest_add(test, &data, 1, &width, -1, 1));
    CLF_GOTO(selftest_add(test, &data, 1, &width, -1, 1));
    CLF_GOTO(selftest_add_result(test, &data, 2, (int64_t[]){rows, width}));
    CLF_GOTO(clfi_layer_norm(test->context, selftest_view(&data, X), NULL, selftest_view(&data, GAMMA), selftest_view(&data, BETA), 1,
                             1e-5f, selftest_view(&data, Y)));
    CLF_GOTO(clfi_operand_read(&data.operand[Y]));
    CLF_GOTO(widen(&data, Y, &wide));
    clfi_ref_layer_norm(wide.value[X], wide.value[GAMMA], wide.value[BETA], (size_t)rows, (size_t)width, (double)1e-5f, wide.want,
                        wide.bound);
    selftest_check_all(test, &data.operand[Y], wide.want, wide.bound);
done:
    selftest_free(&data);
    wide_free(&wide);
    return st;
}

clf_status selftest_layer_norm(selftest *test)
{
    CLF_TRY(layer_norm_case(test, 0));
    CLF_TRY(layer_norm_case(test, 1e4f));
    return layer_norm_case(test, 1e6f);
}

clf_status selftest_rms_norm(selftest *test)
{
    enum { X, GAMMA, Y };
    selftest_operands data = {.count = 0};
    wide_operands wide = {.want = NULL};
    const int64_t rows = 3, width = 129;
    clf_status st;
    CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){rows, width}, -3, 5));
    CLF_GOTO(selftest_add(test, &data, 1, &width, -1, 1));
    CLF_GOTO(selftest_add_result(test, &data, 2, (int64_t[]){rows, width}));
    CLF_GOTO(clfi_rms_norm(test->context, selftest_view(&data, X), NULL, selftest_view(&data, GAMMA), 1, 1e-6f, selftest_view(&data, Y)));
    CLF_GOTO(clfi_operand_read(&data.operand[Y]));
    CLF_GOTO(widen(&data, Y, &wide));
    clfi_ref_rms_norm(wide.value[X], wide.value[GAMMA], (size_t)rows, (size_t)width, (double)1e-6f, wide.want, wide.bound);
    selftest_check_all(test, &data.operand[Y], wide.want, wide.bound);
done:
    selftest_free(&data);
    wide_free(&wide);
    return st;
}

clf_status selftest_l2_normalize(selftest *test)
{
    enum { X, Y };
    selftest_operands data = {.count = 0};
    wide_operands wide = {.want = NULL};
    const int64_t rows = 3, width = 387;
    clf_status st;
    CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){rows, width}, -3, 5));
    CLF_GOTO(selftest_add_result(test, &data, 2, (int64_t[]){rows, width}));
    CLF_GOTO(clfi_l2_normalize(test->context, selftest_view(&data, X), 1e-12f, selftest_view(&data, Y)));
    CLF_GOTO(clfi_operand_read(&data.operand[Y]));
    CLF_GOTO(widen(&data, Y, &wide));
    clfi_ref_l2_normalize(wide.value[X], (size_t)rows, (size_t)width, (double)1e-12f, wide.want, wide.bound);
    selftest_check_all(test, &data.operand[Y], wide.want, wide.bound);
done:
    selftest_free(&data);
    wide_free(&wide);
    return st;
}

clf_status selftest_softmax(selftest *test)
{
    enum { B = 4, T = 3, K = 131, LARGEST = 30 };
    static const int32_t lengths[B] = {K, 70, 1, 0};
    selftest_operands data = {.count = 0};
    wide_operands wide = {.want = NULL};
    clf_tensor *device_lengths = NULL;
    clf_status st;
    CLF_GOTO(selftest_add(test, &data, 3, (int64_t[]){B, T, K}, -LARGEST, LARGEST));
    CLF_GOTO(selftest_add_result(test, &data, 3, (int64_t[]){B, T, K}));
    CLF_GOTO(clf_tensor_create_from(test->context, CLF_I32, 1, (int64_t[]){B}, lengths, &device_lengths));
    CLF_GOTO(clf_masked_softmax(test->context, data.operand[0].tensor, device_lengths, CLF_EMPTY_ROWS_ZERO, data.operand[1].tensor));
    CLF_GOTO(clfi_operand_read(&data.operand[1]));
    CLF_GOTO(widen(&data, 1, &wide));
    for (int row = 0; row < B * T; row++) {
        double *want = wide.want + row * K; /* masked keys stay 0 */
        clfi_ref_softmax_row(wide.value[0] + row * K, NULL, (size_t)lengths[row / T], CLF_EMPTY_ROWS_ZERO, want);
        for (int j = 0; j < K; j++)
            wide.bound[row * K + j] = clfi_ref_softmax_error(LARGEST, K) * want[j] + (want[j] > 0 ? 0x1p-126 : 0);
    }
    selftest_check_all(test, &data.operand[1], wide.want, wide.bound);
done:
    clf_tensor_destroy(device_lengths);
    selftest_free(&data);
    wide_free(&wide);
    return st;
}

clf_status selftest_embedding(selftest *test)
{
    enum { V = 19, C = 37, T = 6 };
    static const int32_t ids[2][T] = {{0, V - 1, 7, 7, 3, 11}, {5, 4, 3, 2, 1, 0}};
    selftest_operands data = {.count = 0};
    clf_tensor *device_ids[2] = {NULL, NULL};
    clf_status st;
    CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){V, C}, -1, 1));
    CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){T, C}, -1, 1));
    CLF_GOTO(selftest_add_result(test, &data, 2, (int64_t[]){T, C}));
    for (int i = 0; i < 2; i++)
        CLF_GOTO(clf_tensor_create_from(test->context, CLF_I32, 1, (int64_t[]){T}, ids[i], &device_ids[i]));
    const clf_embedding_term terms[] = {{selftest_view(&data, 0), clfi_tensor_view(device_ids[0]), 1},
                                        {selftest_view(&data, 1), clfi_tensor_view(device_ids[1]), 1}};
    CLF_GOTO(clfi_embedding_sum(test->context, terms, 2, 1.5f, selftest_view(&data, 2)));
    CLF_GOTO(clfi_operand_read(&data.operand[2]));
    for (int t = 0; t < T; t++) {
        for (int c = 0; c < C; c++) {
            const double want = 1.5 * data.operand[0].host[ids[0][t] * C + c] + data.operand[1].host[ids[1][t] * C + c];
            selftest_check(test, data.operand[2].host[t * C + c], want, 4 * u);
        }
    }
done:
    clf_tensor_destroy(device_ids[0]);
    clf_tensor_destroy(device_ids[1]);
    selftest_free(&data);
    return st;
}

static double pooled(clf_pooling mode, const float *x, int begin, int end, int width, int c)
{
    double sum = 0, largest = -INFINITY;
    for (int t = begin; t < end; t++) {
        sum += x[t * width + c];
        largest = fmax(largest, x[t * width + c]);
    }
    const int count = end - begin;
    if (count == 0)
        return 0;
    return mode == CLF_POOLING_MEAN  ? sum / count
           : mode == CLF_POOLING_CLS ? x[begin * width + c]
           : mode == CLF_POOLING_MAX ? largest
                                     : sum / sqrt(count);
}

clf_status selftest_pool(selftest *test)
{
    enum { N = 4, T = 75, C = 33 };
    static const int32_t offsets[N + 1] = {0, 1, 1, 30, T};
    selftest_operands data = {.count = 0};
    clf_tensor *device_offsets = NULL;
    clf_status st;
    CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){T, C}, -2, 2));
    CLF_GOTO(selftest_add_result(test, &data, 2, (int64_t[]){N, C}));
    CLF_GOTO(clf_tensor_create_from(test->context, CLF_I32, 1, (int64_t[]){N + 1}, offsets, &device_offsets));
    for (int mode = 0; mode < CLF_POOLING_COUNT; mode++) {
        CLF_GOTO(clfi_pool(test->context, (clf_pooling)mode, selftest_view(&data, 0), clfi_tensor_view(device_offsets),
                           selftest_view(&data, 1)));
        CLF_GOTO(clfi_operand_read(&data.operand[1]));
        for (int i = 0; i < N; i++)
            for (int c = 0; c < C; c++)
                selftest_check(test, data.operand[1].host[i * C + c],
                               pooled((clf_pooling)mode, data.operand[0].host, offsets[i], offsets[i + 1], C, c), 70 * u * 2 * sqrt(T));
    }
done:
    clf_tensor_destroy(device_offsets);
    selftest_free(&data);
    return st;
}

clf_status selftest_top_k(selftest *test)
{
    enum { Q = 3, N = 5003, K = 9 };
    selftest_operands data = {.count = 0};
    clf_tensor *places = NULL;
    int32_t got[Q * K];
    clf_status st;
    CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){Q, N}, -1, 1));
    CLF_GOTO(selftest_add_result(test, &data, 2, (int64_t[]){Q, K}));
    CLF_GOTO(clf_tensor_create(test->context, CLF_I32, 2, (int64_t[]){Q, K}, &places));
    CLF_GOTO(clfi_top_k(test->context, selftest_view(&data, 0), K, selftest_view(&data, 1), clfi_tensor_view(places)));
    CLF_GOTO(clfi_operand_read(&data.operand[1]));
    CLF_GOTO(clf_tensor_read(places, got, sizeof got));
    for (int q = 0; q < Q; q++) {
        float *row = data.operand[0].host + q * N;
        for (int k = 0; k < K; k++) {
            int best = 0;
            for (int j = 1; j < N; j++)
                if (row[j] > row[best])
                    best = j;
            selftest_check(test, data.operand[1].host[q * K + k], row[best], 0);
            selftest_check(test, got[q * K + k], best, 0);
            row[best] = -INFINITY;
        }
    }
done:
    clf_tensor_destroy(places);
    selftest_free(&data);
    return st;
}
