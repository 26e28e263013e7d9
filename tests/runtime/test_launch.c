/* SPDX-License-Identifier: MIT */
/* Launches: arguments counted and measured, numbers of work-groups, errors that stick, kernels that do not build. */
#include "runtime/launch.h"

#include "base/alloc.h"
#include "runtime/context.h"
#include "support/check.h"
#include "support/device.h"

enum { GROUPS = 6, LOCAL = 4 };

#define FILE_OF(path, text)         \
    {                               \
        path, text, sizeof text - 1 \
    }

/* x[place] = number of this work-item by its three dimensions, plus what the scalars say. */
static const clf_kernel_file files[] = {
    FILE_OF("any/number.cl",
            "typedef struct pair { int a, b; } pair;\n"
            "__kernel void number(__global int *x, int i, long l, uint u, float f, pair p)\n"
            "{\n"
            "    const size_t at = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);\n"
            "    x[at] = (int)at + i + (int)(l >> 32) + (int)(u >> 31) + (int)f + p.a - p.b;\n"
            "}\n"),
    FILE_OF("any/broken.cl", "__kernel void broken(__global int *x)\n{\n    x[0] = no_such_thing;\n}\n"),
};
static const clf_kernel_set own = {files, COUNT(files)};

static clf_kernel_spec spec_of(const char *file, const char *kernel)
{
    clf_kernel_spec spec = clfi_kernel_spec(file, kernel);
    spec.own = &own;
    return spec;
}

static const struct {
    cl_int a, b;
} pair = {1000, 7};

static clf_launch begin(clf_context *context, const clf_buffer *x, int64_t i)
{
    const clf_kernel_spec spec = spec_of("number.cl", "number");
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_buffer(&launch, x);
    clfi_arg_int(&launch, i);
    clfi_arg_long(&launch, INT64_C(20) << 32);
    clfi_arg_uint(&launch, UINT32_C(1) << 31);
    clfi_arg_float(&launch, 300.5f);
    clfi_arg_bytes(&launch, &pair, sizeof pair);
    return launch;
}

static void check_numbers(clf_context *context, const clf_buffer *x, size_t count, int more)
{
    cl_int got[GROUPS * LOCAL];
    assert_true(count <= COUNT(got));
    assert_int_equal(clEnqueueReadBuffer(context->queue, x->memory, CL_TRUE, 0, count * sizeof *got, got, 0, NULL, NULL), CL_SUCCESS);
    for (size_t i = 0; i < count; i++)
        CHECK(got[i] == (int)i + more + 20 + 1 + 300 + 993, "item %zu: %d", i, got[i]);
}

/* Every kind of argument arrives whole, in one, two and three dimensions. */
static void test_dimensions(void **state)
{
    clf_context *context = *state;
    clf_buffer *x;
    CHECK_OK(clfi_buffer_create(context, GROUPS * LOCAL * sizeof(cl_int), &x));
    clf_launch launch = begin(context, x, -5);
    CHECK_OK(clfi_launch_1d(&launch, GROUPS, LOCAL));
    check_numbers(context, x, GROUPS * LOCAL, -5);
    launch = begin(context, x, INT32_MIN / 2);
    CHECK_OK(clfi_launch_2d(&launch, 3, 2, 2, 2));
    check_numbers(context, x, GROUPS * LOCAL, INT32_MIN / 2);
    launch = begin(context, x, 9);
    CHECK_OK(clfi_launch_3d(&launch, (size_t[3]){3, 1, 2}, (size_t[3]){2, 2, 1}));
    check_numbers(context, x, GROUPS * LOCAL, 9);
    clfi_buffer_release(x);
}

static void test_no_groups(void **state)
{
    clf_context *context = *state;
    clf_context_stats before, after;
    clf_context_get_stats(context, &before);
    clf_launch launch = begin(context, NULL, 0);
    CHECK_OK(clfi_launch_1d(&launch, 0, LOCAL));
    launch = begin(context, NULL, 0);
    CHECK_OK(clfi_launch_2d(&launch, 3, 0, 2, 2));
    launch = begin(context, NULL, 0);
    CHECK_OK(clfi_launch_3d(&launch, (size_t[3]){1, 1, 0}, (size_t[3]){1, 1, 1}));
    clf_context_get_stats(context, &after);
    assert_int_equal(before.kernels_launched, after.kernels_launched);
}

static void test_sizes(void **state)
{
    clf_context *context = *state;
    clf_launch launch = begin(context, NULL, 0);
    CHECK_FAILS(clfi_launch_2d(&launch, SIZE_MAX / 2, 1, 4, 1), CLF_UNSUPPORTED, "kernel number: ");
    launch = begin(context, NULL, 0); /* more items in a group than any device has */
    CHECK_FAILS(clfi_launch_1d(&launch, 1, (size_t)1 << 30), CLF_DEVICE, "kernel number: clEnqueueNDRangeKernel: CL_INVALID_");
}

static void test_arguments(void **state)
{
    clf_context *context = *state;
    const clf_kernel_spec spec = spec_of("number.cl", "number");
    clf_launch launch = clfi_launch(context, &spec);
    CHECK_FAILS(clfi_launch_1d(&launch, 1, 1), CLF_INTERNAL, "kernel number: expected 6 arguments, found 0");
    launch = begin(context, NULL, 0);
    clfi_arg_int(&launch, 0);
    CHECK_FAILS(clfi_launch_1d(&launch, 1, 1), CLF_INTERNAL, "kernel number: argument 6 of 4 bytes: clSetKernelArg: CL_INVALID_ARG_INDEX");
    launch = begin(context, NULL, INT64_C(1) << 31);
    CHECK_FAILS(clfi_launch_1d(&launch, 1, 1), CLF_UNSUPPORTED,
                "kernel number: argument 1: expected an integer of 32 bits, found 2147483648");
    launch = begin(context, NULL, -(INT64_C(1) << 31) - 1);
    CHECK_FAILS(clfi_launch_1d(&launch, 1, 1), CLF_UNSUPPORTED, "argument 1: expected an integer of 32 bits, found -2147483649");
    launch = begin(context, NULL, INT32_MAX);
    CHECK_OK(clfi_launch_1d(&launch, 0, 1));
}

/* A launch reports its first error, whatever follows. The next launch of the kernel is not affected. */
static void test_first_error(void **state)
{
    clf_context *context = *state;
    clf_buffer *x;
    CHECK_OK(clfi_buffer_create(context, GROUPS * LOCAL * sizeof(cl_int), &x));
    clf_launch launch = begin(context, x, INT64_C(1) << 40);
    clfi_arg_int(&launch, INT64_C(1) << 50);
    CHECK_FAILS(clfi_launch_1d(&launch, SIZE_MAX, SIZE_MAX), CLF_UNSUPPORTED,
                "argument 1: expected an integer of 32 bits, found 1099511627776");
    launch = begin(context, x, 3);
    CHECK_OK(clfi_launch_1d(&launch, GROUPS, LOCAL));
    check_numbers(context, x, GROUPS * LOCAL, 3);
    clfi_buffer_release(x);
}

static void test_builds(void **state)
{
    clf_context *context = *state;
    clf_kernel_spec spec = spec_of("broken.cl", "broken");
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_buffer(&launch, NULL); /* does nothing */
    CHECK_FAILS(clfi_launch_1d(&launch, 1, 1), CLF_BUILD, "no_such_thing");
    spec = spec_of("number.cl", "digit");
    launch = clfi_launch(context, &spec);
    CHECK_FAILS(clfi_launch_1d(&launch, 1, 1), CLF_BUILD, "kernel digit of number.cl: clCreateKernel: CL_INVALID_KERNEL_NAME");
    spec = spec_of("nowhere.cl", "lost");
    launch = clfi_launch(context, &spec);
    CHECK_FAILS(clfi_launch_1d(&launch, 1, 1), CLF_NOT_FOUND, "kernel file \"nowhere.cl\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dimensions), cmocka_unit_test(test_no_groups),   cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_arguments),  cmocka_unit_test(test_first_error), cmocka_unit_test(test_builds),
    };
    return cmocka_run_group_tests_name("runtime.launch", tests, device_setup, device_teardown);
}
