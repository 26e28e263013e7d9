/* SPDX-License-Identifier: MIT */
/* A loader or driver that fails is not a machine without OpenCL: clGetPlatformIDs and clGetDeviceIDs fail in turn. */
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "runtime/context.h"
#include "support/check.h"

static int calls, failing, code;

static bool fails(void)
{
    return ++calls == failing;
}

/* In place of the loader's, for the library's objects as well. */
cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *out, cl_uint *count)
{
    cl_int (*real)(cl_uint, cl_platform_id *, cl_uint *) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "clGetPlatformIDs");
    return fails() ? code : real(room, out, count);
}

static cl_platform_id silent; /* the platform whose devices are not told */

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *out, cl_uint *count)
{
    cl_int (*real)(cl_platform_id, cl_device_type, cl_uint, cl_device_id *, cl_uint *) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "clGetDeviceIDs");
    return platform && platform == silent ? CL_OUT_OF_RESOURCES : real(platform, type, room, out, count);
}

/* With each platform silent in turn: what an index means is told by the platforms before it alone, and another default is said. */
static void test_silent_platform(void **state)
{
    (void)state;
    clf_device_list *all, *some;
    clf_context *context;
    size_t index;
    calls = failing = 0;
    unsetenv("CLF_DEVICE");
    CHECK_OK(clf_device_list_create(&all));
    for (size_t i = 0; i < clf_device_list_count(all); i++) {
        const size_t platform = all->devices[i].info.platform_index;
        silent = all->devices[i].platform;
        CHECK_OK(clf_device_list_create(&some));
        for (size_t k = 0; k < clf_device_list_count(some); k++) {
            char text[24];
            snprintf(text, sizeof text, "%zu", k);
            if (some->devices[k].info.platform_index > platform)
                CHECK_FAILS(clf_device_list_select(some, text, &index), CLF_DEVICE, "clGetDeviceIDs: CL_OUT_OF_RESOURCES (-5)");
            else if (some->devices[k].info.usable)
                CHECK_OK(clf_device_list_select(some, text, &index));
        }
        const clf_status st = clf_context_create(NULL, &context);
        if (st == CLF_OK) {
            CHECK(context->device_doubt && strstr(context->device_doubt, "clGetDeviceIDs: CL_OUT_OF_RESOURCES (-5)"), "no doubt");
            clf_context_destroy(context);
        } else {
            assert_int_equal(st, CLF_NOT_FOUND);
            assert_non_null(strstr(clf_last_error(), "clGetDeviceIDs: CL_OUT_OF_RESOURCES (-5)"));
        }
        clf_device_list_destroy(some);
    }
    silent = NULL;
    clf_device_list_destroy(all);
    if (clf_context_create(NULL, &context) == CLF_OK) {
        assert_null(context->device_doubt);
        clf_context_destroy(context);
    }
}

static void check(int call, int with, clf_status status, const char *part)
{
    clf_device_list *list = NULL;
    calls = 0;
    failing = call;
    code = with;
    CHECK_FAILS(clf_device_list_create(&list), status, part);
    assert_null(list);
}

static void test_failures(void **state)
{
    (void)state;
    clf_device_list *list;
    calls = failing = 0;
    CHECK_OK(clf_device_list_create(&list));
    const bool has_platforms = clf_device_list_count(list) > 0;
    clf_device_list_destroy(list);
    check(1, CL_OUT_OF_HOST_MEMORY, CLF_DEVICE, "clGetPlatformIDs: CL_OUT_OF_HOST_MEMORY (-6)");
    if (has_platforms)
        check(2, CL_OUT_OF_RESOURCES, CLF_DEVICE, "clGetPlatformIDs: CL_OUT_OF_RESOURCES (-5)");
    calls = 0;
    failing = 1;
    code = -1001; /* CL_PLATFORM_NOT_FOUND_KHR */
    CHECK_OK(clf_device_list_create(&list));
    assert_int_equal(clf_device_list_count(list), 0);
    assert_non_null(strstr(clf_device_list_note(list, 0), "no OpenCL platform is installed"));
    clf_device_list_destroy(list);
}

/* Too few files: told as that, not as a machine without drivers. */
static void test_open_files(void **state)
{
    (void)state;
    struct rlimit was;
    calls = failing = 0;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    const struct rlimit few = {.rlim_cur = 5, .rlim_max = was.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    clf_device_list *list = NULL;
    const clf_status st = clf_device_list_create(&list);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
    CHECK_FAILS(st, CLF_IO, "Too many open files");
    assert_null(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_failures), cmocka_unit_test(test_open_files),
                                       cmocka_unit_test(test_silent_platform)};
    return cmocka_run_group_tests_name("runtime.platforms", tests, NULL, NULL);
}
