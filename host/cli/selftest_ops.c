/* SPDX-License-Identifier: MIT */
/* selftest: the single ops. Bounds are first-order rounding bounds (Higham 2002, chapter 3), u = 2^-24. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/selftest.h"
#include "cli/selftest_reference.h"
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

static const double u = 0x1p-24;

static void widen(const float *in, size_t count, double *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = in[i];
}

static clf_status gemm_case(selftest *test, int64_t m, int64_t n, int64_t k, clf_activation activation)
{
    enum { X, W, B, R, Y };
    selftest_operands data = {.count = 0};
    clf_linear *linear = NULL;
    double *x = NULL, *y = NULL, *magnitude = NULL;
    clf_status st;
    CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){m, k}, -1, 1));
    CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){n, k}, -1, 1));
    CLF_GOTO(selftest_add(test, &data, 1, &n, -1, 1));
    CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){m, n}, -1, 1));
    CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){m, n}, NAN, NAN));
    CLF_GOTO(clfi_alloc((size_t)(m * k), sizeof *x, "selftest", &x));
    CLF_GOTO(clfi_alloc((size_t)(m * n), sizeof *y, "selftest", &y));
    CLF_GOTO(clfi_alloc((size_t)(m * n), sizeof *magnitude, "selftest", &magnitude));
    CLF_GOTO(clfi_linear_create(test->context, 1, selftest_view(&data, W), selftest_view(&data, B), &linear));
    CLF_GOTO(clfi_linear_run(test->context, linear, selftest_view(&data, X), activation, selftest_view(&data, R),
                             selftest_view(&data, Y)));
    CLF_GOTO(selftest_read(&data, Y));
    widen(data.host[X], (size_t)(m * k), x);
    reference_linear(x, data.host[W], data.host[B], (size_t)m, (size_t)n, (size_t)k, y, magnitude);
    for (int64_t i = 0; i < m * n; i++) {
        const double product = clfi_ref_activation(activation, y[i]), want = product + data.host[R][i];
        /* the slope of every activation is below 1.13 */
        selftest_check(test, data.host[Y][i], want, u * (1.13 * ((double)k + 4) * magnitude[i] + 4 * fabs(product) + fabs(want)));
    }
done:
    clfi_linear_destroy(linear);
    selftest_free(&data);
    free(x);
    free(y);
    free(magnitude);
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
    CLF_GOTO(selftest_add(test, &data, 1, &count, NAN, NAN));
    for (int kind = CLF_ACTIVATION_RELU; kind < CLF_ACTIVATION_COUNT; kind++) {
        CLF_GOTO(clfi_activation(test->context, (clf_activation)kind, selftest_view(&data, 0), selftest_view(&data, 1)));
        CLF_GOTO(selftest_read(&data, 1));
        for (int64_t i = 0; i < count; i++) {
            const double x = data.host[0][i], want = clfi_ref_activation((clf_activation)kind, x);
            /* gelu_tanh cancels in 1 + tanh; the others are accurate to a few units in the last place */
            const double scale = kind == CLF_ACTIVATION_GELU_TANH ? fabs(x) : fabs(want);
            selftest_check(test, data.host[1][i], want, 8 * u * scale + 0x1p-126);
        }
    }
done:
    selftest_free(&data);
    return st;
}

clf_status selftest_layer_norm(selftest *test)
{
    static const float means[] = {0, 1e4f, 1e6f};
    clf_status st = CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < COUNT(means); i++) {
        selftest_operands data = {.count = 0};
        const int64_t rows = 5, width = 385;
        double *x = NULL, *y = NULL;
        CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){rows, width}, means[i] - 1, means[i] + 1));
        CLF_GOTO(selftest_add(test, &data, 1, &width, -1, 1));
        CLF_GOTO(selftest_add(test, &data, 1, &width, -1, 1));
        CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){rows, width}, NAN, NAN));
        CLF_GOTO(clfi_alloc((size_t)(rows * width), sizeof *x, "selftest", &x));
        CLF_GOTO(clfi_alloc((size_t)(rows * width), sizeof *y, "selftest", &y));
        CLF_GOTO(clfi_layer_norm(test->context, selftest_view(&data, 0), NULL, selftest_view(&data, 1), selftest_view(&data, 2), 1,
                                 1e-5f, selftest_view(&data, 3)));
        CLF_GOTO(selftest_read(&data, 3));
        widen(data.host[0], (size_t)(rows * width), x);
        reference_layer_norm(x, data.host[1], data.host[2], (size_t)rows, (size_t)width, 1e-5, y);
        for (int64_t j = 0; j < rows * width; j++)
            selftest_check(test, data.host[3][j], y[j], 1e-6);
done:
        selftest_free(&data);
        free(x);
        free(y);
    }
    return st;
}

clf_status selftest_rms_norm(selftest *test)
{
    selftest_operands data = {.count = 0};
    const int64_t rows = 3, width = 129;
    clf_status st;
    CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){rows, width}, -3, 5));
    CLF_GOTO(selftest_add(test, &data, 1, &width, -1, 1));
    CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){rows, width}, NAN, NAN));
    CLF_GOTO(clfi_rms_norm(test->context, selftest_view(&data, 0), NULL, selftest_view(&data, 1), 1, 1e-6f, selftest_view(&data, 2)));
    CLF_GOTO(selftest_read(&data, 2));
    for (int64_t i = 0; i < rows; i++) {
        const float *x = data.host[0] + i * width;
        double square = 0;
        for (int64_t j = 0; j < width; j++)
            square += (double)x[j] * x[j] / (double)width;
        for (int64_t j = 0; j < width; j++) {
            const double want = x[j] / sqrt(square + 1e-6) * data.host[1][j];
            selftest_check(test, data.host[2][i * width + j], want, u * ((double)width + 8) * fabs(want) + 1e-30);
        }
    }
done:
    selftest_free(&data);
    return st;
}

clf_status selftest_l2_normalize(selftest *test)
{
    selftest_operands data = {.count = 0};
    const int64_t rows = 3, width = 387;
    clf_status st;
    CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){rows, width}, -3, 5));
    CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){rows, width}, NAN, NAN));
    CLF_GOTO(clfi_l2_normalize(test->context, selftest_view(&data, 0), 1e-12f, selftest_view(&data, 1)));
    CLF_GOTO(selftest_read(&data, 1));
    for (int64_t i = 0; i < rows; i++) {
        const float *x = data.host[0] + i * width;
        double square = 0;
        for (int64_t j = 0; j < width; j++)
            square += (double)x[j] * x[j];
        for (int64_t j = 0; j < width; j++) {
            const double want = x[j] / sqrt(square);
            selftest_check(test, data.host[1][i * width + j], want, u * ((double)width / 2 + 8) * fabs(want) + 1e-30);
        }
    }
done:
    selftest_free(&data);
    return st;
}

clf_status selftest_softmax(selftest *test)
{
    enum { B = 4, T = 3, K = 131 };
    static const int32_t lengths[B] = {K, 70, 1, 0};
    selftest_operands data = {.count = 0};
    clf_tensor *device_lengths = NULL;
    clf_status st;
    CLF_GOTO(selftest_add(test, &data, 3, (int64_t[]){B, T, K}, -30, 30));
    CLF_GOTO(selftest_add(test, &data, 3, (int64_t[]){B, T, K}, NAN, NAN));
    CLF_GOTO(clf_tensor_create_from(test->context, CLF_I32, 1, (int64_t[]){B}, lengths, &device_lengths));
    CLF_GOTO(clf_masked_softmax(test->context, data.tensor[0], device_lengths, CLF_EMPTY_ROWS_ZERO, data.tensor[1]));
    CLF_GOTO(selftest_read(&data, 1));
    for (int row = 0; row < B * T; row++) {
        const float *x = data.host[0] + row * K;
        const int length = lengths[row / T];
        double largest = -INFINITY, total = 0;
        for (int j = 0; j < length; j++)
            largest = fmax(largest, x[j]);
        for (int j = 0; j < length; j++)
            total += exp(x[j] - largest);
        for (int j = 0; j < K; j++) {
            const double want = j < length ? exp(x[j] - largest) / total : 0;
            selftest_check(test, data.host[1][row * K + j], want, (4 * 30 + K / 16.0 + 16) * u * want + 0x1p-126);
        }
    }
done:
    clf_tensor_destroy(device_lengths);
    selftest_free(&data);
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
    CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){T, C}, NAN, NAN));
    for (int i = 0; i < 2; i++)
        CLF_GOTO(clf_tensor_create_from(test->context, CLF_I32, 1, (int64_t[]){T}, ids[i], &device_ids[i]));
    const clf_embedding_term terms[] = {{selftest_view(&data, 0), clfi_tensor_view(device_ids[0]), 1},
                                        {selftest_view(&data, 1), clfi_tensor_view(device_ids[1]), 1}};
    CLF_GOTO(clfi_embedding_sum(test->context, terms, 2, 1.5f, selftest_view(&data, 2)));
    CLF_GOTO(selftest_read(&data, 2));
    for (int t = 0; t < T; t++) {
        for (int c = 0; c < C; c++) {
            const double want = 1.5 * data.host[0][ids[0][t] * C + c] + data.host[1][ids[1][t] * C + c];
            selftest_check(test, data.host[2][t * C + c], want, 4 * u);
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
    CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){N, C}, NAN, NAN));
    CLF_GOTO(clf_tensor_create_from(test->context, CLF_I32, 1, (int64_t[]){N + 1}, offsets, &device_offsets));
    for (int mode = 0; mode < CLF_POOLING_COUNT; mode++) {
        CLF_GOTO(clfi_pool(test->context, (clf_pooling)mode, selftest_view(&data, 0), clfi_tensor_view(device_offsets),
                           selftest_view(&data, 1)));
        CLF_GOTO(selftest_read(&data, 1));
        for (int i = 0; i < N; i++)
            for (int c = 0; c < C; c++)
                selftest_check(test, data.host[1][i * C + c],
                               pooled((clf_pooling)mode, data.host[0], offsets[i], offsets[i + 1], C, c), 70 * u * 2 * sqrt(T));
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
    CLF_GOTO(selftest_add(test, &data, 2, (int64_t[]){Q, K}, NAN, NAN));
    CLF_GOTO(clf_tensor_create(test->context, CLF_I32, 2, (int64_t[]){Q, K}, &places));
    CLF_GOTO(clfi_top_k(test->context, selftest_view(&data, 0), K, selftest_view(&data, 1), clfi_tensor_view(places)));
    CLF_GOTO(selftest_read(&data, 1));
    CLF_GOTO(clf_tensor_read(places, got, sizeof got));
    for (int q = 0; q < Q; q++) {
        float *row = data.host[0] + q * N;
        for (int k = 0; k < K; k++) {
            int best = 0;
            for (int j = 1; j < N; j++)
                if (row[j] > row[best])
                    best = j;
            selftest_check(test, data.host[1][q * K + k], row[best], 0);
            selftest_check(test, got[q * K + k], best, 0);
            row[best] = -INFINITY;
        }
    }
done:
    clf_tensor_destroy(places);
    selftest_free(&data);
    return st;
}
