/* SPDX-License-Identifier: MIT */
/* A loader or driver that fails is not a machine without OpenCL: clGetPlatformIDs and clGetDeviceIDs fail in turn. */
#include <CL/cl.h>
#include <dlfcn.h>
#include <sys/resource.h>

#include "clformer/device.h"
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
    assert_non_null(strstr(clf_device_list_note(list, 0), "no platform is installed"));
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_failures), cmocka_unit_test(test_open_files)};
    return cmocka_run_group_tests_name("runtime.platforms", tests, NULL, NULL);
}
