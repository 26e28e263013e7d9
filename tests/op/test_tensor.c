/* SPDX-License-Identifier: MIT */
/* Tensors on the device: dense and strided transfers, views and their bounds. */
#include "support/check.h"
#include "support/device.h"

#include "clformer/tensor.h"

static void test_round_trip_dense(void **state)
{
    clf_context *context = *state;
    const int64_t dim[] = {3, 5, 7};
    float in[105], out[105];
    clf_tensor *t;
    for (int i = 0; i < 105; i++)
        in[i] = (float)i * 0.5f - 20;
    for (clf_dtype dtype = CLF_F32; dtype <= CLF_BF16; dtype++) {
        CHECK_OK(clf_tensor_create(context, dtype, 3, dim, &t));
        CHECK_OK(clf_tensor_write_f32(t, in, 105));
        memset(out, 0xff, sizeof out);
        CHECK_OK(clf_tensor_read_f32(t, out, 105));
        for (int i = 0; i < 105; i++)
            CHECK(out[i] == in[i], "%s element %d: %g, want %g", clf_dtype_name(dtype), i, out[i], in[i]); /* all exact in bf16 */
        clf_tensor_destroy(t);
    }
}

static void test_permuted_and_sliced(void **state)
{
    clf_context *context = *state;
    const int64_t dim[] = {4, 6};
    int32_t data[24], got[24];
    clf_tensor *t, *turned, *part;
    for (int i = 0; i < 24; i++)
        data[i] = i;
    CHECK_OK(clf_tensor_create_from(context, CLF_I32, 2, dim, data, &t));
    CHECK_OK(clf_tensor_permute(t, (int[]){1, 0}, &turned));
    CHECK_OK(clf_tensor_read(turned, got, sizeof got));
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 4; j++)
            assert_int_equal(got[i * 4 + j], j * 6 + i);
    CHECK_OK(clf_tensor_slice(turned, 0, 1, 3, 2, &part)); /* columns 1, 3, 5 */
    CHECK_OK(clf_tensor_read(part, got, 12 * sizeof *got));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            assert_int_equal(got[i * 4 + j], j * 6 + 1 + 2 * i);
    const int32_t minus[12] = {-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12};
    CHECK_OK(clf_tensor_write(part, minus, sizeof minus));
    CHECK_OK(clf_tensor_read(t, got, sizeof got));
    for (int i = 0; i < 24; i++) {
        const int row = i / 6, column = i % 6;
        assert_int_equal(got[i], column % 2 ? minus[column / 2 * 4 + row] : i);
    }
    clf_tensor_destroy(part);
    clf_tensor_destroy(turned);
    clf_tensor_destroy(t);
}

static void test_reshape(void **state)
{
    clf_context *context = *state;
    int32_t data[24], got[24];
    clf_tensor *t, *turned, *flat, *split;
    for (int i = 0; i < 24; i++)
        data[i] = i;
    CHECK_OK(clf_tensor_create_from(context, CLF_I32, 3, (int64_t[]){2, 3, 4}, data, &t));
    CHECK_OK(clf_tensor_permute(t, (int[]){2, 0, 1}, &turned));              /* [4,2,3], last two still evenly strided */
    CHECK_OK(clf_tensor_reshape(turned, 2, (int64_t[]){4, 6}, &flat));
    CHECK_OK(clf_tensor_read(flat, got, sizeof got));
    for (int i = 0; i < 24; i++)
        assert_int_equal(got[i], i % 6 * 4 + i / 6);
    CHECK_OK(clf_tensor_reshape(flat, 4, (int64_t[]){2, 2, 1, 6}, &split));
    CHECK_OK(clf_tensor_read(split, got, sizeof got));
    for (int i = 0; i < 24; i++)
        assert_int_equal(got[i], i % 6 * 4 + i / 6);
    clf_tensor *bad = NULL;
    CHECK_FAILS(clf_tensor_reshape(turned, 1, (int64_t[]){24}, &bad), CLF_INVALID_ARGUMENT, "without a copy");
    CHECK_FAILS(clf_tensor_reshape(turned, 1, (int64_t[]){23}, &bad), CLF_INVALID_ARGUMENT, "23");
    assert_null(bad);
    clf_tensor_destroy(split);
    clf_tensor_destroy(flat);
    clf_tensor_destroy(turned);
    clf_tensor_destroy(t);
}

static void test_bounds(void **state)
{
    clf_context *context = *state;
    clf_tensor *t, *bad = NULL;
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){16, 16}, &t));
    CHECK_FAILS(clf_tensor_view(t, 1, (int64_t[]){257}, (int64_t[]){1}, 0, &bad), CLF_INVALID_ARGUMENT, "leaves");
    CHECK_FAILS(clf_tensor_view(t, 1, (int64_t[]){2}, (int64_t[]){INT64_MAX}, 1, &bad), CLF_INVALID_ARGUMENT, "leaves");
    CHECK_FAILS(clf_tensor_view(t, 1, (int64_t[]){2}, (int64_t[]){-1}, 1, &bad), CLF_INVALID_ARGUMENT, "negative");
    CHECK_FAILS(clf_tensor_slice(t, 0, 15, 2, 1, &bad), CLF_INVALID_ARGUMENT, "slice");
    CHECK_FAILS(clf_tensor_slice(t, 2, 0, 1, 1, &bad), CLF_INVALID_ARGUMENT, "axis 2");
    CHECK_FAILS(clf_tensor_permute(t, (int[]){0, 0}, &bad), CLF_INVALID_ARGUMENT, "repeats");
    CHECK_FAILS(clf_tensor_create(context, CLF_F32, 17, (int64_t[17]){1}, &bad), CLF_INVALID_ARGUMENT, "rank 17");
    CHECK_FAILS(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){1, -1}, &bad), CLF_INVALID_ARGUMENT, "negative");
    CHECK_FAILS(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){INT64_MAX, 8}, &bad), CLF_INVALID_ARGUMENT, "does not fit");
    CHECK_FAILS(clf_tensor_create(context, (clf_dtype)99, 1, (int64_t[]){1}, &bad), CLF_INVALID_ARGUMENT, "dtype 99");
    CHECK_FAILS(clf_tensor_read(t, (float[1]){0}, 4), CLF_INVALID_ARGUMENT, "the tensor has 1024");
    assert_null(bad);
    clf_tensor_destroy(t);
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){0, 16}, &t)); /* empty is ordinary */
    assert_int_equal(clf_tensor_count(t), 0);
    CHECK_OK(clf_tensor_read(t, NULL, 0));
    clf_tensor_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip_dense),
        cmocka_unit_test(test_permuted_and_sliced),
        cmocka_unit_test(test_reshape),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, device_setup, device_teardown);
}
