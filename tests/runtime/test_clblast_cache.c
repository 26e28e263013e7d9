/* SPDX-License-Identifier: MIT */
/* CLBlast's cache of programs is the process's: it is cleared when the last context goes that used it, never below one that still does. */
#include <clblast_c.h>
#include <dlfcn.h>

#include "clformer/linear.h"
#include "clformer/tensor.h"
#include "support/check.h"
#include "support/device.h"

CLBlastStatusCode CLBlastClearCache(void); /* the header has no prototype */

static int cleared;

/* In place of CLBlast's, for the library's objects as well. */
CLBlastStatusCode CLBlastClearCache(void)
{
    CLBlastStatusCode (*real)(void) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "CLBlastClearCache");
    cleared++;
    return real();
}

static clf_context *multiply(void)
{
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    clf_context *context;
    clf_tensor *x, *w, *y;
    clf_linear *linear;
    float ones[16], got[16];
    params.engines = "gemm=clblast";
    for (int i = 0; i < 16; i++)
        ones[i] = 1;
    CHECK_OK(clf_context_create(&params, &context));
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){4, 4}, ones, &x));
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){4, 4}, ones, &w));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){4, 4}, &y));
    CHECK_OK(clf_linear_create(context, w, NULL, &linear));
    CHECK_OK(clf_linear_apply(context, linear, x, CLF_ACTIVATION_NONE, NULL, y));
    CHECK_OK(clf_tensor_read_f32(y, got, 16));
    for (int i = 0; i < 16; i++)
        CHECK(within(got[i], 4, 1e-6), "%g", got[i]);
    clf_linear_destroy(linear);
    clf_tensor_destroy(x);
    clf_tensor_destroy(w);
    clf_tensor_destroy(y);
    return context;
}

static void test_contexts(void **state)
{
    (void)state;
    clf_context *first = multiply(), *second = multiply(), *unrelated;
    CHECK_OK(clf_context_create(NULL, &unrelated));
    clf_context_destroy(unrelated); /* never used CLBlast */
    assert_int_equal(cleared, 0);
    clf_context_destroy(first);
    assert_int_equal(cleared, 0);
    clf_context_destroy(second);
    assert_int_equal(cleared, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_contexts)};
    return cmocka_run_group_tests_name("runtime.clblast_cache", tests, device_setup, device_teardown);
}
