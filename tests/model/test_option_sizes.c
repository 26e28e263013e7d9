/* SPDX-License-Identifier: MIT */
/* The rule of clformer.h for structs of parameters of another size: one of an earlier version is shorter, one of a later version longer. */
#include "clformer/clformer.h"
#include "support/check.h"
#include "support/device.h"

static void test_option_sizes(void **state)
{
    clf_context *context = *state;
    static const int64_t dim[2] = {2, 3};
    static const float numbers[6] = {1, 2, 3, 4, 5, 6};
    clf_tensor *x;
    struct {
        clf_softmax_params known;
        int64_t later;
    } longer = {.known = CLF_SOFTMAX_PARAMS_INIT};
    clf_softmax_params params;
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, dim, numbers, &x));
    memset(&params, 0, sizeof params);
    CHECK_FAILS(clf_softmax(context, x, &params, x), CLF_INVALID_ARGUMENT, "clf_softmax_params: its member size is 0, expected sizeof");
    memset(&params, 0xa5, sizeof params);
    CHECK_FAILS(clf_softmax(context, x, &params, x), CLF_INVALID_ARGUMENT, "clf_softmax_params: its member size is");
    params.size = offsetof(clf_softmax_params, scale); /* what follows is not read: the defaults */
    params.axis = 0;
    params.batch_axis = 0;
    params.query_axis = CLF_AXIS_NONE;
    CHECK_OK(clf_softmax(context, x, &params, x));
    float got[6];
    CHECK_OK(clf_tensor_read_f32(x, got, 6));
    for (int i = 0; i < 3; i++)
        CHECK(within(got[i], 1 / (1 + exp(3.0)), 1e-6) && within(got[3 + i], 1 / (1 + exp(-3.0)), 1e-6), "column %d: %g %g", i,
              (double)got[i], (double)got[3 + i]);
    longer.known.size = sizeof longer;
    CHECK_OK(clf_softmax(context, x, &longer.known, x));
    longer.later = 1;
    CHECK_FAILS(clf_softmax(context, x, &longer.known, x), CLF_UNSUPPORTED, "does not have");
    longer.known = (clf_softmax_params){0};
    CHECK_OK(clf_softmax_params_default(&longer.known, sizeof longer));
    assert_true(longer.known.size == sizeof longer && longer.known.axis == -1 && longer.known.scale == 1.0f && longer.later == 0);
    memset(&params, 0xa5, sizeof params);
    CHECK_OK(clf_softmax_params_default(&params, offsetof(clf_softmax_params, scale))); /* writes no more than the caller has */
    assert_true(params.axis == -1 && params.causal_offset == (int64_t)0xa5a5a5a5a5a5a5a5);
    CHECK_FAILS(clf_softmax_params_default(&params, 0), CLF_INVALID_ARGUMENT, "its member size is 0");
    clf_tensor_destroy(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_option_sizes)};
    return cmocka_run_group_tests_name("model.option_sizes", tests, device_setup, device_teardown);
}
