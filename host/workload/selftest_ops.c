/* SPDX-License-Identifier: MIT */
/* Self-test of single ops. Error bounds are first-order rounding bounds (Higham 2002, chapter 3), u = 2^-24. */
#include <math.h>
#include <stdlib.h>

#include "clformer/attention.h"
#include "op/activation.h"
#include "op/embedding.h"
#include "op/layer_norm.h"
#include "op/pooling.h"
#include "op/top_k.h"
#include "workload/random_blocks.h"
#include "workload/selftest.h"
#include "workload/reference_dropout.h"
#include "workload/reference_gemm.h"
#include "workload/reference_norm.h"

static const double u = 0x1p-24;

/* Tests y [ROWS,COLUMNS] = f(x). x is row-major; y is column-major if is_exchanged, so that no order of elements suits both. */
static clf_status activation_case(clfi_selftest *test, clf_activation kind, bool is_exchanged)
{
    enum { ROWS = 13, COLUMNS = 79 };
    clfi_selftest_operands data = {.count = 0};
    clf_status st;
    CLF_GOTO(clfi_selftest_add(test, &data, 2, (int64_t[]){ROWS, COLUMNS}, -20, 20));
    CLF_GOTO(clfi_selftest_add_result(test, &data, 2, (int64_t[]){ROWS, COLUMNS}));
    clf_view y = *clfi_selftest_view(&data, 1);
    if (is_exchanged) {
        y.stride[0] = 1;
        y.stride[1] = ROWS;
    }
    CLF_GOTO(clfi_activation(test->context, kind, clfi_selftest_view(&data, 0), &y));
    CLF_GOTO(clfi_operand_read(&data.operand[1]));
    for (int64_t row = 0; row < ROWS; row++) {
        for (int64_t column = 0; column < COLUMNS; column++) {
            const double x = data.operand[0].host[row * COLUMNS + column], want = clfi_ref_activation(kind, x);
            clfi_verdict_add(&test->verdict, data.operand[1].host[row * y.stride[0] + column * y.stride[1]], want,
                             clfi_ref_activation_error(kind, x) + u * fabs(want) + 0x1p-126);
        }
    }
done:
    clfi_selftest_free(&data);
    return st;
}

clf_status clfi_selftest_activation(clfi_selftest *test)
{
    for (int kind = CLF_ACTIVATION_RELU; kind < CLF_ACTIVATION_COUNT; kind++)
        CLF_TRY(activation_case(test, (clf_activation)kind, false));
    return activation_case(test, CLF_ACTIVATION_GELU, true);
}

static clf_status l2_normalize_case(clfi_selftest *test, int64_t width)
{
    enum { ROWS = 3, WIDEST = 1030 };
    const int64_t dim[] = {ROWS, width};
    clfi_selftest_operands data = {.count = 0};
    double *x = NULL, want[ROWS * WIDEST], bound[ROWS * WIDEST];
    clf_status st;
    CLF_GOTO(clfi_selftest_add(test, &data, 2, dim, -3, 5));
    CLF_GOTO(clfi_selftest_add_result(test, &data, 2, dim));
    CLF_GOTO(clfi_l2_normalize(test->context, clfi_selftest_view(&data, 0), 1e-12f, clfi_selftest_view(&data, 1)));
    CLF_GOTO(clfi_operand_read(&data.operand[1]));
    CLF_GOTO(clfi_operand_widen(&data.operand[0], &x));
    clfi_ref_l2_normalize(x, ROWS, (size_t)width, (double)1e-12f, want, bound);
    clfi_selftest_all(test, &data.operand[1], want, bound);
done:
    clfi_selftest_free(&data);
    free(x);
    return st;
}

/* Tests two widths, because they run with different work-group sizes. */
clf_status clfi_selftest_l2_normalize(clfi_selftest *test)
{
    CLF_TRY(l2_normalize_case(test, 387));
    return l2_normalize_case(test, 1030);
}

/* Rows of a quantised table. */
static clf_status weight_rows_case(clfi_selftest *test, clf_weight_type type)
{
    enum { V = 19, C = 512, T = 6 };
    static const int32_t ids[T] = {0, V - 1, 7, 7, 3, 11};
    clfi_selftest_operands data = {.count = 0};
    clfi_random_blocks blocks = {0};
    clf_tensor *device_ids = NULL;
    clf_status st;
    CLF_GOTO(clfi_random_blocks_create(test->context, &test->random, type, V, C, &blocks));
    CLF_GOTO(clfi_selftest_add_result(test, &data, 2, (int64_t[]){T, C}));
    CLF_GOTO(clf_tensor_create_from(test->context, CLF_I32, 1, (int64_t[]){T}, ids, &device_ids));
    const clf_embedding_term term = {&blocks.view, clfi_tensor_view(device_ids), 1};
    CLF_GOTO(clfi_embedding_sum(test->context, &term, 1, 1.5f, clfi_selftest_view(&data, 0)));
    CLF_GOTO(clfi_operand_read(&data.operand[0]));
    for (int t = 0; t < T; t++)
        for (int c = 0; c < C; c++)
            clfi_verdict_add(&test->verdict, data.operand[0].host[t * C + c], 1.5 * blocks.value[ids[t] * C + c],
                             8 * u * blocks.terms[ids[t] * C + c]);
done:
    clfi_context_drain(test->context);
    clf_tensor_destroy(device_ids);
    clfi_random_blocks_free(&blocks);
    clfi_selftest_free(&data);
    return st;
}

static clf_status float_rows_case(clfi_selftest *test)
{
    enum { V = 19, C = 37, T = 6 };
    static const int32_t ids[2][T] = {{0, V - 1, 7, 7, 3, 11}, {5, 4, 3, 2, 1, 0}};
    clfi_selftest_operands data = {.count = 0};
    clf_tensor *device_ids[2] = {NULL, NULL};
    clf_status st;
    CLF_GOTO(clfi_selftest_add(test, &data, 2, (int64_t[]){V, C}, -1, 1));
    CLF_GOTO(clfi_selftest_add(test, &data, 2, (int64_t[]){T, C}, -1, 1));
    CLF_GOTO(clfi_selftest_add_result(test, &data, 2, (int64_t[]){T, C}));
    for (int i = 0; i < 2; i++)
        CLF_GOTO(clf_tensor_create_from(test->context, CLF_I32, 1, (int64_t[]){T}, ids[i], &device_ids[i]));
    const clf_embedding_term terms[] = {{clfi_selftest_view(&data, 0), clfi_tensor_view(device_ids[0]), 1},
                                        {clfi_selftest_view(&data, 1), clfi_tensor_view(device_ids[1]), 1}};
    CLF_GOTO(clfi_embedding_sum(test->context, terms, 2, 1.5f, clfi_selftest_view(&data, 2)));
    CLF_GOTO(clfi_operand_read(&data.operand[2]));
    for (int t = 0; t < T; t++) {
        for (int c = 0; c < C; c++) {
            const double want = 1.5 * data.operand[0].host[ids[0][t] * C + c] + data.operand[1].host[ids[1][t] * C + c];
            clfi_verdict_add(&test->verdict, data.operand[2].host[t * C + c], want, 4 * u);
        }
    }
done:
    clf_tensor_destroy(device_ids[0]);
    clf_tensor_destroy(device_ids[1]);
    clfi_selftest_free(&data);
    return st;
}

clf_status clfi_selftest_embedding(clfi_selftest *test)
{
    CLF_TRY(float_rows_case(test));
    for (int type = 0; type < CLF_WEIGHT_TYPE_COUNT; type++)
        if (clfi_weight_type_info((clf_weight_type)type)->block_weights > 1)
            CLF_TRY(weight_rows_case(test, (clf_weight_type)type));
    return CLF_OK;
}

static double pooled(clf_pooling mode, const float *x, int begin, int end, int width, int c)
{
    double sum = 0, largest = -INFINITY;
    for (int t = begin; t < end; t++) {
        sum += (mode == CLF_POOLING_WEIGHTED_MEAN ? t - begin + 1 : 1) * (double)x[t * width + c];
        largest = fmax(largest, x[t * width + c]);
    }
    const int count = end - begin;
    if (count == 0)
        return 0;
    return mode == CLF_POOLING_MEAN            ? sum / count
           : mode == CLF_POOLING_CLS           ? x[begin * width + c]
           : mode == CLF_POOLING_LAST          ? x[(end - 1) * width + c]
           : mode == CLF_POOLING_MAX           ? largest
           : mode == CLF_POOLING_WEIGHTED_MEAN ? sum / (0.5 * count * (count + 1))
                                               : sum / sqrt(count);
}

clf_status clfi_selftest_pool(clfi_selftest *test)
{
    enum { N = 4, T = 75, C = 33 };
    static const int32_t offsets[N + 1] = {0, 1, 1, 30, T};
    clfi_selftest_operands data = {.count = 0};
    clf_tensor *device_offsets = NULL;
    clf_status st;
    CLF_GOTO(clfi_selftest_add(test, &data, 2, (int64_t[]){T, C}, -2, 2));
    CLF_GOTO(clfi_selftest_add_result(test, &data, 2, (int64_t[]){N, C}));
    CLF_GOTO(clf_tensor_create_from(test->context, CLF_I32, 1, (int64_t[]){N + 1}, offsets, &device_offsets));
    for (int mode = 0; mode < CLF_POOLING_COUNT; mode++) {
        CLF_GOTO(clfi_pool(test->context, (clf_pooling)mode, clfi_selftest_view(&data, 0), clfi_tensor_view(device_offsets),
                           clfi_selftest_view(&data, 1)));
        CLF_GOTO(clfi_operand_read(&data.operand[1]));
        for (int i = 0; i < N; i++)
            for (int c = 0; c < C; c++)
                clfi_verdict_add(&test->verdict, data.operand[1].host[i * C + c],
                                 pooled((clf_pooling)mode, data.operand[0].host, offsets[i], offsets[i + 1], C, c), 70 * u * 2 * sqrt(T));
    }
done:
    clf_tensor_destroy(device_offsets);
    clfi_selftest_free(&data);
    return st;
}

clf_status clfi_selftest_top_k(clfi_selftest *test)
{
    enum { Q = 3, N = 5003, K = 9 };
    clfi_selftest_operands data = {.count = 0};
    clf_tensor *places = NULL;
    int32_t got[Q * K];
    clf_status st;
    CLF_GOTO(clfi_selftest_add(test, &data, 2, (int64_t[]){Q, N}, -1, 1));
    CLF_GOTO(clfi_selftest_add_result(test, &data, 2, (int64_t[]){Q, K}));
    CLF_GOTO(clf_tensor_create(test->context, CLF_I32, 2, (int64_t[]){Q, K}, &places));
    CLF_GOTO(clfi_top_k(test->context, clfi_selftest_view(&data, 0), K, clfi_selftest_view(&data, 1), clfi_tensor_view(places)));
    CLF_GOTO(clfi_operand_read(&data.operand[1]));
    CLF_GOTO(clf_tensor_read(places, got, sizeof got));
    for (int q = 0; q < Q; q++) {
        float *row = data.operand[0].host + q * N;
        for (int k = 0; k < K; k++) {
            int best = 0;
            for (int j = 1; j < N; j++)
                if (row[j] > row[best])
                    best = j;
            clfi_verdict_add(&test->verdict, data.operand[1].host[q * K + k], row[best], 0);
            clfi_verdict_add(&test->verdict, got[q * K + k], best, 0);
            row[best] = -INFINITY;
        }
    }
done:
    clf_tensor_destroy(places);
    clfi_selftest_free(&data);
    return st;
}

clf_status clfi_selftest_dropout(clfi_selftest *test)
{
    const int64_t count = 1021;
    const uint64_t seed = 0xfedcba9876543210u;
    const float probability = 0.3f;
    clfi_selftest_operands data = {.count = 0};
    clf_status st;
    CLF_GOTO(clfi_selftest_add(test, &data, 1, &count, 1, 2));
    CLF_GOTO(clfi_selftest_add_result(test, &data, 1, &count));
    CLF_GOTO(clf_dropout(test->context, data.operand[0].tensor, probability, seed, data.operand[1].tensor));
    CLF_GOTO(clfi_operand_read(&data.operand[1]));
    for (int64_t i = 0; i < count; i++) {
        const bool is_kept = clfi_ref_dropout_keeps((uint64_t)i, probability, seed);
        const double want = is_kept ? data.operand[0].host[i] / (1 - (double)probability) : 0;
        clfi_verdict_add(&test->verdict, data.operand[1].host[i], want, 8 * u * want);
    }
done:
    clfi_selftest_free(&data);
    return st;
}
