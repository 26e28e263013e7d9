/* SPDX-License-Identifier: MIT */
/* The list of devices and its selectors, and what a profiling context tells of its kernels. */
#include "clformer/context.h"
#include "clformer/softmax.h"
#include "clformer/tensor.h"
#include "io/json.h"
#include "support/check.h"
#include "support/device.h"
#include "support/temp.h"

#include <stdio.h>

static void test_devices(void **state)
{
    (void)state;
    clf_device_list *list;
    size_t defaults = 0, index = 0;
    CHECK_OK(clf_device_list_create(&list));
    const size_t count = clf_device_list_count(list);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        const clf_device_info *info = clf_device_list_get(list, i);
        char place[64];
        assert_int_equal(info->index, i);
        assert_true(info->same_hardware_as < (int)i);
        assert_true(info->is_default == (info->default_reason[0] != '\0'));
        assert_true(info->usable == (info->reason[0] == '\0'));
        defaults += info->is_default != 0;
        if (!info->usable)
            continue;
        snprintf(place, sizeof place, "%zu", i);
        CHECK_OK(clf_device_list_select(list, place, &index));
        assert_int_equal(index, i);
        snprintf(place, sizeof place, "%zu:%zu", info->platform_index, info->platform_device_index);
        CHECK_OK(clf_device_list_select(list, place, &index));
        assert_int_equal(index, i);
        CHECK_OK(clf_device_list_select(list, info->name, &index)); /* may be a part of another device's name */
        assert_non_null(strstr(clf_device_list_get(list, index)->name, info->name));
        CHECK_OK(clf_device_list_select(list, info->type == CLF_DEVICE_TYPE_CPU ? "cPu" : info->platform_name, &index));
        assert_int_equal(clf_device_list_get(list, index)->type, info->type);
    }
    assert_int_equal(defaults, 1);
    CHECK_OK(clf_device_list_select(list, NULL, &index));
    assert_true(clf_device_list_get(list, index)->is_default);
    CHECK_OK(clf_device_list_select(list, "", &index));
    assert_true(clf_device_list_get(list, index)->is_default);
    assert_null(clf_device_list_get(list, count));
    assert_null(clf_device_list_note(list, 1000));
    CHECK_FAILS(clf_device_list_select(list, "no such device", &index), CLF_NOT_FOUND, clf_device_list_get(list, 0)->name);
    CHECK_FAILS(clf_device_list_select(list, "999", &index), CLF_NOT_FOUND, "999");
    CHECK_FAILS(clf_device_list_select(list, NULL, NULL), CLF_INVALID_ARGUMENT, "NULL");
    clf_device_list_destroy(list);
    clf_device_list_destroy(NULL);
}

static void run_softmax(clf_context *context)
{
    clf_tensor *x;
    float values[64] = {0};
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){4, 16}, values, &x));
    CHECK_OK(clf_softmax(context, x, NULL, x));
    CHECK_OK(clf_tensor_read_f32(x, values, 64));
    clf_tensor_destroy(x);
}

static void test_profile(void **state)
{
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    clf_context *context;
    clf_kernel_stats kernel = {0};
    clf_context_stats stats;
    char directory[TEMP_PATH_BYTES], trace[TEMP_PATH_BYTES];
    json_t *json;
    temp_directory_make(directory);
    temp_path(directory, "trace.json", trace);
    params.profile = 1;
    CHECK_OK(clf_context_create(&params, &context));
    assert_int_equal(clf_context_kernel_count(context), 0);
    run_softmax(context);
    run_softmax(context);
    assert_int_equal(clf_context_kernel_count(context), 1);
    CHECK_OK(clf_context_kernel_get(context, 0, &kernel));
    assert_int_equal(strncmp(kernel.kernel, "softmax_", strlen("softmax_")), 0);
    assert_int_equal(kernel.launches, 2);
    clf_context_get_stats(context, &stats);
    assert_int_equal(stats.kernels_launched, 2);
    assert_int_equal(stats.kernel_ns, kernel.total_ns);
    CHECK_FAILS(clf_context_kernel_get(context, 1, &kernel), CLF_INVALID_ARGUMENT, "1");
    CHECK_OK(clf_context_write_trace(context, trace));
    CHECK_OK(clfi_json_read(trace, 1 << 20, &json));
    size_t launches = 0, i;
    const json_t *event;
    json_array_foreach(json_object_get(json, "traceEvents"), i, event)
        launches += strncmp(json_string_value(json_object_get(event, "name")), "softmax_", strlen("softmax_")) == 0;
    assert_int_equal(launches, 2);
    json_decref(json);
    CHECK_FAILS(clf_context_write_trace(context, "/no/such/folder/trace.json"), CLF_NOT_FOUND, "/no/such/folder");
    clf_context_destroy(context);

    CHECK_FAILS(clf_context_write_trace(*state, trace), CLF_INVALID_ARGUMENT, "profil");
    assert_int_equal(clf_context_kernel_count(*state), 0);
    CHECK_FAILS(clf_context_kernel_get(*state, 0, &kernel), CLF_INVALID_ARGUMENT, "0");
    temp_directory_remove(directory);
}

static void test_refusals(void **state)
{
    (void)state;
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    clf_context *context = NULL;
    CHECK_FAILS(clf_context_create(NULL, NULL), CLF_INVALID_ARGUMENT, "NULL");
    params.precision = (clf_precision)7;
    CHECK_FAILS(clf_context_create(&params, &context), CLF_INVALID_ARGUMENT, "precision 7");
    params.precision = CLF_PRECISION_HIGHEST;
    params.device = "no such device";
    CHECK_FAILS(clf_context_create(&params, &context), CLF_NOT_FOUND, "no such device");
    params = (clf_context_params)CLF_CONTEXT_PARAMS_INIT;
    params.kernel_dir = "/no/such/folder";
    CHECK_FAILS(clf_context_create(&params, &context), CLF_NOT_FOUND, "kernel directory /no/such/folder: no such directory");
    assert_null(context);
    clf_context_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("context", tests, device_setup, device_teardown);
}
