/* SPDX-License-Identifier: MIT */
/* The public ops: defaults of their parameter structs, checks of ids and offsets, refusals of NULL and foreign tensors, positional
 * encoding. */
#include <stdlib.h>

#include "base/alloc.h"
#include "clformer/attention.h"
#include "clformer/linear.h"
#include "clformer/ops.h"
#include "clformer/softmax.h"
#include "kernel/row_check.h"
#include "support/check.h"
#include "support/operand.h"

static void test_layer_norm(void **state)
{
    (void)state;
    clf_context *context = engine_context(NULL), *other = engine_context(NULL);
    const float values[] = {1, 2, 3, 4}, twos[] = {2, 2, 2, 2}, ones[] = {1, 1, 1, 1};
    const int64_t dim[] = {2, 2};
    float got[4];
    clf_tensor *x, *y, *gamma, *foreign;
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, dim, values, &x));
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, dim, twos, &gamma));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, dim, &y));
    CHECK_OK(clf_tensor_create_from(other, CLF_F32, 2, dim, ones, &foreign));
    CHECK_OK(clf_layer_norm(context, x, NULL, y)); /* rows (1,2), (3,4): deviation 1/2, eps 1e-5 */
    CHECK_OK(clf_tensor_read_f32(y, got, 4));
    for (int i = 0; i < 4; i++)
        CHECK(within(got[i], (i % 2 ? 0.5 : -0.5) / sqrt(0.25 + 1e-5), 1e-6), "element %d: %g", i, got[i]);
    clf_layer_norm_params params = CLF_LAYER_NORM_PARAMS_INIT;
    params.axes = 2;
    params.gamma = gamma;
    params.residual = x;
    CHECK_OK(clf_layer_norm(context, x, &params, y)); /* 2, 4, 6, 8 together */
    CHECK_OK(clf_tensor_read_f32(y, got, 4));
    for (int i = 0; i < 4; i++)
        CHECK(within(got[i], 2 * (2 * i - 3) / sqrt(5 + 1e-5), 2e-6), "element %d: %g", i, got[i]);
    CHECK_FAILS(clf_layer_norm(context, NULL, NULL, y), CLF_INVALID_ARGUMENT, "layer_norm: x is NULL");
    CHECK_FAILS(clf_layer_norm(context, x, NULL, NULL), CLF_INVALID_ARGUMENT, "layer_norm: y is NULL");
    CHECK_FAILS(clf_layer_norm(NULL, x, NULL, y), CLF_INVALID_ARGUMENT, "context is NULL");
    params.residual = foreign;
    CHECK_FAILS(clf_layer_norm(context, x, &params, y), CLF_INVALID_ARGUMENT, "layer_norm: residual belongs to another context");
    CHECK_OK(clf_rms_norm(context, x, NULL, y));
    CHECK_OK(clf_tensor_read_f32(y, got, 4));
    for (int i = 0; i < 4; i++)
        CHECK(within(got[i], values[i] / sqrt((i < 2 ? 2.5 : 12.5) + 1e-6), 1e-6), "element %d: %g", i, got[i]);
    CHECK_OK(clf_l2_normalize(context, x, 1e-12f, x));
    CHECK_OK(clf_tensor_read_f32(x, got, 4));
    for (int i = 0; i < 4; i++)
        CHECK(within(got[i], values[i] / sqrt(i < 2 ? 5.0 : 25.0), 1e-6), "element %d: %g", i, got[i]);
    CHECK_OK(clf_tensor_write_f32(x, (const float[]){1, INFINITY, 3, 4}, 4)); /* its row becomes 0 and NaN, by the formulas */
    for (int is_l2 = 0; is_l2 < 2; is_l2++) {
        CHECK_OK(is_l2 ? clf_l2_normalize(context, x, 1e-12f, y) : clf_rms_norm(context, x, NULL, y));
        CHECK_OK(clf_tensor_read_f32(y, got, 4));
        CHECK(got[0] == 0 && isnan(got[1]) && isfinite(got[2]) && isfinite(got[3]), "%g %g %g %g", got[0], got[1], got[2], got[3]);
    }
    clf_tensor_destroy(foreign);
    clf_tensor_destroy(y);
    clf_tensor_destroy(gamma);
    clf_tensor_destroy(x);
    clf_context_destroy(other);
    clf_context_destroy(context);
}

static void test_embedding(void **state)
{
    (void)state;
    clf_context *context = engine_context(NULL);
    const float words[] = {1, 2, 3, 4, 5, 6}, kinds[] = {10, 20};
    const int32_t good[] = {2, 0}, high[] = {2, 3}, low[] = {-1, 0};
    float got[4];
    clf_tensor *table, *kind, *ids, *y;
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){3, 2}, words, &table));
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){1, 2}, kinds, &kind));
    CHECK_OK(clf_tensor_create_from(context, CLF_I32, 1, (int64_t[]){2}, good, &ids));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){2, 2}, &y));
    const clf_embedding_table tables[] = {{table, ids}, {kind, NULL}};
    CHECK_OK(clf_embedding(context, tables, 2, 3, y));
    CHECK_OK(clf_tensor_read_f32(y, got, 4));
    const float want[] = {25, 38, 13, 26};
    for (int i = 0; i < 4; i++)
        CHECK(got[i] == want[i], "element %d: %g, want %g", i, got[i], want[i]);
    CHECK_OK(clf_tensor_write(ids, high, sizeof high));
    CHECK_FAILS(clf_embedding(context, tables, 2, 3, y), CLF_INVALID_ARGUMENT, "id 3 of token 1, table 0 has 3 rows");
    CHECK_OK(clf_tensor_write(ids, low, sizeof low));
    CHECK_FAILS(clf_embedding(context, tables, 2, 3, y), CLF_INVALID_ARGUMENT, "id -1 of token 0");
    CHECK_FAILS(clf_embedding(context, NULL, 1, 1, y), CLF_INVALID_ARGUMENT, "0 tables");
    CHECK_FAILS(clf_embedding(context, &(clf_embedding_table){NULL, ids}, 1, 1, y), CLF_INVALID_ARGUMENT, "table is NULL");
    clf_tensor_destroy(y);
    clf_tensor_destroy(ids);
    clf_tensor_destroy(kind);
    clf_tensor_destroy(table);
    clf_context_destroy(context);
}

static void test_pool_and_top_k(void **state)
{
    (void)state;
    clf_context *context = engine_context(NULL);
    const float values[] = {1, 8, 3, 4, 5, 6};
    const int32_t good[] = {0, 2, 3}, falling[] = {2, 0, 3}, beyond[] = {0, 2, 4};
    float got[4];
    int32_t places[2];
    clf_tensor *x, *offsets, *y, *best, *at;
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){3, 2}, values, &x));
    CHECK_OK(clf_tensor_create_from(context, CLF_I32, 1, (int64_t[]){3}, good, &offsets));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){2, 2}, &y));
    CHECK_OK(clf_pool(context, CLF_POOLING_MEAN, x, offsets, y));
    CHECK_OK(clf_tensor_read_f32(y, got, 4));
    assert_true(got[0] == 2 && got[1] == 6 && got[2] == 5 && got[3] == 6);
    CHECK_OK(clf_pool(context, CLF_POOLING_MAX, x, offsets, y));
    CHECK_OK(clf_tensor_read_f32(y, got, 4));
    assert_true(got[0] == 3 && got[1] == 8 && got[2] == 5 && got[3] == 6);
    CHECK_OK(clf_tensor_write(offsets, falling, sizeof falling));
    CHECK_FAILS(clf_pool(context, CLF_POOLING_MEAN, x, offsets, y), CLF_INVALID_ARGUMENT, "offsets[1] is 0, expected 2 to 3");
    CHECK_OK(clf_tensor_write(offsets, beyond, sizeof beyond));
    CHECK_FAILS(clf_pool(context, CLF_POOLING_MEAN, x, offsets, y), CLF_INVALID_ARGUMENT, "offsets[2] is 4, expected 2 to 3");
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){3, 1}, &best));
    CHECK_OK(clf_tensor_create(context, CLF_I32, 2, (int64_t[]){3, 1}, &at));
    CHECK_FAILS(clf_top_k(context, x, 2, best, at), CLF_INVALID_ARGUMENT, "expected [3,2]");
    CHECK_OK(clf_top_k(context, x, 1, best, at));
    CHECK_OK(clf_tensor_read_f32(best, got, 3));
    assert_true(got[0] == 8 && got[1] == 4 && got[2] == 6);
    clf_tensor *second;
    CHECK_OK(clf_tensor_slice(at, 0, 1, 2, 1, &second));
    CHECK_OK(clf_tensor_read(second, places, sizeof places));
    assert_true(places[0] == 1 && places[1] == 1);
    CHECK_FAILS(clf_top_k(context, x, 1, NULL, at), CLF_INVALID_ARGUMENT, "values is NULL");
    clf_tensor_destroy(second);
    clf_tensor_destroy(at);
    clf_tensor_destroy(best);
    clf_tensor_destroy(y);
    clf_tensor_destroy(offsets);
    clf_tensor_destroy(x);
    clf_context_destroy(context);
}

/* The last element of a row, alone or behind zeros, decides the row's flag. */
static void test_row_check(void **state)
{
    (void)state;
    enum { COLUMNS = 37, ROWS = 6 };
    static const float values[ROWS] = {1, 0, NAN, INFINITY, -INFINITY, -0.0f};
    static const int want[ROWS] = {CLFI_ROW_NOT_ZERO,
                                   0,
                                   CLFI_ROW_NOT_FINITE | CLFI_ROW_NOT_ZERO,
                                   CLFI_ROW_NOT_FINITE | CLFI_ROW_NOT_ZERO,
                                   CLFI_ROW_NOT_FINITE | CLFI_ROW_NOT_ZERO,
                                   0};
    static const int64_t columns[] = {1, COLUMNS};
    clf_context *context = engine_context(NULL);
    const int64_t rows = ROWS;
    for (size_t s = 0; s < COUNT(columns); s++) {
        float x_values[ROWS * COLUMNS] = {0};
        for (int64_t row = 0; row < ROWS; row++)
            x_values[(row + 1) * columns[s] - 1] = values[row];
        operand x = operand_create(context, CLF_F32, LAYOUT_CONTIGUOUS, 2, (int64_t[]){ROWS, columns[s]});
        operand flags = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, 1, &rows);
        operand_fill(&x, x_values);
        CHECK_OK(clfi_row_check_launch(context, clfi_tensor_view(x.tensor), clfi_tensor_view(flags.tensor)));
        operand_read(&flags, "row_check");
        for (int row = 0; row < ROWS; row++)
            CHECK(flags.value[row] == want[row], "%g last of %lld columns: %g, want %d", (double)values[row], (long long)columns[s],
                  flags.value[row], want[row]);
        operand_destroy(&flags);
        operand_destroy(&x);
    }
    clf_context_destroy(context);
}

static void test_positional_encoding(void **state)
{
    (void)state;
    clf_context *context = engine_context(NULL);
    static const int64_t sizes[][2] = {{0, 4}, {1, 1}, {7, 5}, {50, 64}, {5000, 6}};
    for (size_t s = 0; s < 5; s++) {
        const int64_t length = sizes[s][0], d = sizes[s][1];
        operand y = operand_create(context, CLF_F32, s % 2 ? LAYOUT_SLICED : LAYOUT_REVERSED, 2, sizes[s]);
        CHECK_OK(clf_positional_encoding(context, y.tensor));
        operand_read(&y, "positional_encoding");
        for (int64_t p = 0; p < length; p++)
            for (int64_t c = 0; c < d; c++) {
                const double angle = (double)p / pow(10000.0, (double)(c / 2 * 2) / (double)d), want = c % 2 ? cos(angle) : sin(angle);
                CHECK(within(y.value[p * d + c], want, 0x1p-25 + 1e-11), "[%lld,%lld] of %lldx%lld: %.9g, want %.9g", (long long)p,
                      (long long)c, (long long)length, (long long)d, y.value[p * d + c], want);
            }
        operand_destroy(&y);
    }
    clf_tensor *flat, *ids;
    CHECK_OK(clf_tensor_create(context, CLF_F32, 1, (int64_t[]){4}, &flat));
    CHECK_OK(clf_tensor_create(context, CLF_I32, 2, (int64_t[]){4, 4}, &ids));
    CHECK_FAILS(clf_positional_encoding(context, flat), CLF_INVALID_ARGUMENT, "rank 2");
    CHECK_FAILS(clf_positional_encoding(context, ids), CLF_INVALID_ARGUMENT, "int32");
    CHECK_FAILS(clf_positional_encoding(context, NULL), CLF_INVALID_ARGUMENT, "NULL");
    clf_tensor_destroy(ids);
    clf_tensor_destroy(flat);
    clf_context_destroy(context);
}

/* An output of which several elements lie at one place. */
static void test_repeated_outputs(void **state)
{
    (void)state;
    clf_context *context = engine_context(NULL);
    const float values[] = {1, 2, 3, 4};
    const int32_t counts[] = {0, 1, 2};
    clf_tensor *x, *x3, *bad, *bad3, *ids, *bounds, *y3;
    clf_linear *linear;
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){2, 2}, values, &x));
    CHECK_OK(clf_tensor_reshape(x, 3, (int64_t[]){1, 2, 2}, &x3));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){1, 2, 2}, &y3));
    CHECK_OK(clf_tensor_view(y3, 2, (int64_t[]){2, 2}, (int64_t[]){0, 1}, 0, &bad));
    CHECK_OK(clf_tensor_view(y3, 3, (int64_t[]){1, 2, 2}, (int64_t[]){0, 0, 1}, 0, &bad3));
    CHECK_OK(clf_tensor_create_from(context, CLF_I32, 1, (int64_t[]){2}, counts, &ids));
    CHECK_OK(clf_tensor_create_from(context, CLF_I32, 1, (int64_t[]){3}, counts, &bounds));
    CHECK_OK(clf_linear_create(context, x, NULL, &linear));
    clf_attention_params attention = CLF_ATTENTION_PARAMS_INIT;
    attention.weights = bad3;
#define REFUSED(call, what) CHECK_FAILS(call, CLF_INVALID_ARGUMENT, "E_SHAPE: " what " has a stride of 0 along axis ")
    REFUSED(clf_layer_norm(context, x, NULL, bad), "layer_norm: y");
    REFUSED(clf_rms_norm(context, x, NULL, bad), "rms_norm: y");
    REFUSED(clf_l2_normalize(context, x, 0, bad), "l2_normalize: y");
    REFUSED(clf_softmax(context, x, NULL, bad), "softmax: y");
    REFUSED(clf_activation_apply(context, CLF_ACTIVATION_RELU, x, bad), "activation: y");
    REFUSED(clf_dropout(context, x, 0.5f, 1, bad), "dropout: y");
    REFUSED(clf_gemm(context, x, x, NULL, bad), "gemm: c");
    REFUSED(clf_linear_apply(context, linear, x, CLF_ACTIVATION_NONE, NULL, bad), "linear: y");
    REFUSED(clf_positional_encoding(context, bad), "positional_encoding: y");
    REFUSED(clf_embedding(context, &(clf_embedding_table){x, ids}, 1, 1, bad), "embedding: y");
    REFUSED(clf_pool(context, CLF_POOLING_MEAN, x, bounds, bad), "pool: y");
    REFUSED(clf_attention_scores(context, x, x, 1, bad), "attention scores: scores");
    REFUSED(clf_attention_context(context, x, x, NULL, bad), "attention context: out");
    REFUSED(clf_attention(context, x3, x3, x3, NULL, bad3), "attention: out");
    REFUSED(clf_attention(context, x3, x3, x3, &attention, y3), "attention: weights");
#undef REFUSED
    clf_linear_destroy(linear);
    clf_tensor *const all[] = {x, x3, bad, bad3, ids, bounds, y3};
    for (size_t i = 0; i < COUNT(all); i++)
        clf_tensor_destroy(all[i]);
    clf_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layer_norm),          cmocka_unit_test(test_embedding),        cmocka_unit_test(test_pool_and_top_k),
        cmocka_unit_test(test_positional_encoding), cmocka_unit_test(test_repeated_outputs),
        cmocka_unit_test(test_row_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
