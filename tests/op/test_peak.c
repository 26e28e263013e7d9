/* SPDX-License-Identifier: MIT */
/* Every kind of peak workload on the device under test: prepared, verified on each engine, run, and refused with a reason where the device
 * cannot; the catalogue's own rules. */
#include "workload/peak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/device.h"
#include "support/operand.h"
#include "support/temp.h"
#include "workload/peak_run.h"

enum { KIB = 1 << 10, MIB = 1 << 20 };

static void check_verdict(const clfi_workload *workload, const char *engine, void *prepared)
{
    clfi_verdict verdict = {0};
    const clf_status st = workload->type->verify(prepared, &verdict);
    CHECK(st == CLF_OK, "%s %s: %s", workload->id, engine, clf_last_error());
    CHECK(verdict.passed && verdict.error <= verdict.bound, "%s %s: error %g, bound %g", workload->id, engine, verdict.error,
          verdict.bound);
}

static void check_engine(clf_context *context, const clfi_workload *workload, const char *engine)
{
    const clfi_workload_type *type = workload->type;
    void *prepared = NULL;
    clfi_sample sample = {-1, -1};
    clf_status st = type->prepare(workload, context, engine, &prepared);
    CHECK(st == CLF_OK, "%s %s: %s", workload->id, engine, clf_last_error());
    check_verdict(workload, engine, prepared);
    st = type->run(prepared, &sample);
    CHECK(st == CLF_OK && sample.wall_ns > 0 && sample.device_ns < 0, "%s %s: %s, %g ns", workload->id, engine, clf_last_error(),
          sample.wall_ns);
    check_verdict(workload, engine, prepared); /* after runs as before */
    type->release(prepared);
}

/* Takes the list's workloads through their lives. */
static void check_all(clf_context *context, clfi_workload_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const clfi_workload *workload = &list->items[i];
        clfi_engine_list engines;
        const clf_status st = workload->type->engines(workload, context, &engines);
        if (st == CLF_UNSUPPORTED) {
            CHECK(strstr(clf_last_error(), workload->id), "%s: reason \"%s\"", workload->id, clf_last_error());
            print_message("%s\n", clf_last_error());
            continue;
        }
        CHECK(st == CLF_OK && engines.count > 0, "%s: %s", workload->id, clf_last_error());
        for (size_t e = 0; e < engines.count; e++)
            check_engine(context, workload, engines.names[e]);
    }
    clfi_workload_list_free(list);
}

static void bandwidth(void **state)
{
    clfi_workload_list list = {0};
    const bool is_small = only_small_cases();
    for (int access = CLFI_PEAK_READ; access <= CLFI_PEAK_COPY; access++) {
        CHECK_OK(clfi_peak_bandwidth(&list, (clfi_peak_access)access, 4 * KIB, 12 * KIB, NULL));
        CHECK_OK(clfi_peak_bandwidth(&list, (clfi_peak_access)access, 20 * KIB, 20 * KIB, NULL)); /* parts of different sizes */
        CHECK_OK(clfi_peak_bandwidth(&list, (clfi_peak_access)access, is_small ? 68 * KIB : 9 * MIB, is_small ? 68 * KIB : 9 * MIB, NULL));
        if (!is_small)
            CHECK_OK(clfi_peak_bandwidth(&list, (clfi_peak_access)access, 32 * KIB, 4 * MIB, NULL));
    }
    check_all(*state, &list);
}

static void arithmetic(void **state)
{
    clfi_workload_list list = {0};
    const double operations = only_small_cases() ? 0x1p22 : 3 * 0x1p22;
    CHECK_OK(clfi_peak_arithmetic(&list, CLFI_PEAK_FP32, operations));
    CHECK_OK(clfi_peak_arithmetic(&list, CLFI_PEAK_FP16, operations));
    CHECK_OK(clfi_peak_matrix(&list, false, 0x1p20));
    CHECK_OK(clfi_peak_matrix(&list, true, 0x1p20));
    CHECK_OK(clfi_peak_integer_dot(&list, operations));
    check_all(*state, &list);
}

static void local_memory(void **state)
{
    clfi_workload_list list = {0};
    CHECK_OK(clfi_peak_local(&list, only_small_cases() ? 0x1p22 : 5 * 0x1p22));
    check_all(*state, &list);
}

static void launches(void **state)
{
    clfi_workload_list list = {0};
    CHECK_OK(clfi_peak_launch(&list, 1));
    CHECK_OK(clfi_peak_launch(&list, 7));
    check_all(*state, &list);
}

static void transfers(void **state)
{
    clfi_workload_list list = {0};
    for (int kind = CLFI_PEAK_UPLOAD_COPY; kind <= CLFI_PEAK_DOWNLOAD_MAP; kind++) {
        CHECK_OK(clfi_peak_transfer(&list, (clfi_peak_transfer_kind)kind, KIB));
        CHECK_OK(clfi_peak_transfer(&list, (clfi_peak_transfer_kind)kind, 3 * MIB));
    }
    for (size_t i = 0; i < list.count; i++) /* mapped memory is copied by the host */
        CHECK(!list.items[i].off_device == !strstr(list.items[i].id, "-map/"), "%s: what the host does", list.items[i].id);
    check_all(*state, &list);
}

static void builds(void **state)
{
    clfi_workload_list list = {0};
    CHECK_OK(clfi_peak_build(&list, false));
    CHECK_OK(clfi_peak_build(&list, true));
    assert_string_equal(list.items[0].off_device[0], "compiling the kernel");
    assert_string_equal(list.items[1].off_device[0], "loading the compiled kernel");
    check_all(*state, &list);
}

/* Writes a kernel file with one change into the directory. */
static void put_changed(const char *directory, const char *file, const char *from, const char *to)
{
    const clf_kernel_file *kernels = clfi_kernel_find(&clfi_peak_kernels, file);
    assert_non_null(kernels);
    const char *place = strstr(kernels->text, from);
    CHECK(place, "%s has no \"%s\"", file, from);
    const size_t size = kernels->size - strlen(from) + strlen(to);
    char *text = malloc(size + 1);
    assert_non_null(text);
    snprintf(text, size + 1, "%.*s%s%s", (int)(place - kernels->text), kernels->text, to, place + strlen(from));
    temp_file_below(directory, kernels->path, text, size);
    free(text);
}

/* A context on the same device that takes its kernels from a directory first; none of them is kept or shown to other compilers. */
static clf_context *context_with_kernels(const clf_context *same, const char *directory)
{
    clf_context *context;
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    char selector[32];
    const clf_device_info *device = clf_context_device(same);
    const char *dump = getenv("CLF_KERNEL_DUMP");
    char *dump_before = dump ? strdup(dump) : NULL;
    snprintf(selector, sizeof selector, "%zu:%zu", device->platform_index, device->platform_device_index);
    params.device = selector;
    params.cache_dir = "";
    params.kernel_dir = directory;
    unsetenv("CLF_KERNEL_DUMP");
    CHECK_OK(clf_context_create(&params, &context));
    if (dump_before)
        setenv("CLF_KERNEL_DUMP", dump_before, 1);
    free(dump_before);
    return context;
}

/* The first workload whose name starts with `id`, prepared on its first engine, must not pass. */
static void check_found(clf_context *context, const clfi_workload_list *list, const char *id, const char *change)
{
    size_t i = 0;
    clfi_engine_list engines;
    void *prepared = NULL;
    clfi_verdict verdict = {.passed = true};
    while (i < list->count && strncmp(list->items[i].id, id, strlen(id)) != 0)
        i++;
    assert_true(i < list->count);
    const clfi_workload *workload = &list->items[i];
    if (workload->type->engines(workload, context, &engines) != CLF_OK)
        return; /* the device cannot do this at all */
    CHECK_OK(workload->type->prepare(workload, context, engines.names[0], &prepared));
    CHECK_OK(workload->type->verify(prepared, &verdict));
    CHECK(!verdict.passed && verdict.error > verdict.bound, "%s with \"%s\" passes", workload->id, change);
    workload->type->release(prepared);
}

/* Kernels that do less than they should, or something else, are found by the verification: nothing of them would be timed. */
static void wrong_kernels(void **state)
{
    static const struct {
        const char *id, *file, *from, *to;
    } changes[] = {
        {"bandwidth/read", "peak_bandwidth.cl", "d += from[i + 3 * WG];", ""},
        {"bandwidth/read", "peak_bandwidth.cl", "pass < passes", "pass < passes - 1"},
        {"bandwidth/write", "peak_bandwidth.cl", "to[i + 3 * WG] = start", "to[i + 2 * WG] = start"},
        {"bandwidth/copy", "peak_bandwidth.cl", "to[i + WG] = b;", "to[i + WG] = a;"},
        {"arithmetic/fp32", "peak_multiply_add.cl", "i < pairs", "i < pairs - 8"},
        {"arithmetic/fp32", "peak_multiply_add.cl", "PAIR PAIR PAIR PAIR PAIR PAIR PAIR PAIR", "PAIR PAIR PAIR PAIR PAIR PAIR PAIR"},
        {"arithmetic/matrix", "matrix_rate.cl", "round < rounds", "round < rounds - 1"},
        {"arithmetic/bf16", "bf16_rate.cl", "rounds / 2", "rounds / 2 - 1"},
        {"arithmetic/int8-dot", "peak_integer_dot.cl", "i < steps", "i < steps - 4"},
        {"local/read", "peak_local.cl", "d += AT(7);", "d += AT(6);"},
        {"launch/round-trip", "peak_launch.cl", "counter[0] += step", "counter[0] = step"},
    };
    clfi_workload_list list = {0};
    for (int access = CLFI_PEAK_READ; access <= CLFI_PEAK_COPY; access++)
        CHECK_OK(clfi_peak_bandwidth(&list, (clfi_peak_access)access, 20 * KIB, 40 * KIB, NULL));
    CHECK_OK(clfi_peak_arithmetic(&list, CLFI_PEAK_FP32, 0x1p22));
    CHECK_OK(clfi_peak_matrix(&list, false, 0x1p20));
    CHECK_OK(clfi_peak_matrix(&list, true, 0x1p20));
    CHECK_OK(clfi_peak_integer_dot(&list, 0x1p22));
    CHECK_OK(clfi_peak_local(&list, 0x1p22));
    CHECK_OK(clfi_peak_launch(&list, 1));
    for (size_t c = 0; c < sizeof changes / sizeof changes[0]; c++) {
        char directory[TEMP_PATH_BYTES];
        temp_directory_make(directory);
        put_changed(directory, changes[c].file, changes[c].from, changes[c].to);
        clf_context *context = context_with_kernels(*state, directory);
        check_found(context, &list, changes[c].id, changes[c].to);
        clf_context_destroy(context);
        temp_directory_remove(directory);
    }
    clfi_workload_list_free(&list);
}

/* Ids are unique, every workload says what its work is, and each limit is measured by somebody in the short list as in the long one. */
static void catalogue(void **state)
{
    static const char *const limits[] = {"read_gbps",  "write_gbps",  "copy_gbps",     "fp32_gflops",   "fp16_gflops",    "int8_gops",
                                         "local_gbps", "upload_gbps", "download_gbps", "round_trip_us", CLFI_MATRIX_LIMIT};
    (void)state;
    for (int quick = 0; quick <= 1; quick++) {
        clfi_workload_list list = {0};
        CHECK_OK(clfi_peak_workloads(&list, quick != 0));
        for (size_t i = 0; i < list.count; i++) {
            assert_string_equal(list.items[i].suite, "peak");
            assert_true(json_object_size(list.items[i].work) > 0);
            for (size_t k = 0; k < i; k++)
                assert_string_not_equal(list.items[i].id, list.items[k].id);
        }
        for (size_t l = 0; l < sizeof limits / sizeof limits[0]; l++) {
            size_t measured = 0;
            for (size_t i = 0; i < list.count; i++) {
                const char *key = json_string_value(json_object_get(list.items[i].work, "measures"));
                measured += key && strcmp(key, limits[l]) == 0;
            }
            CHECK(measured > 0, "nothing measures %s", limits[l]);
        }
        clfi_workload_list_free(&list);
    }
}

static void bad_sizes(void **state)
{
    clfi_workload_list list = {0};
    (void)state;
    CHECK_FAILS(clfi_peak_bandwidth(&list, CLFI_PEAK_READ, 0, 0, NULL), CLF_INVALID_ARGUMENT, "0 bytes");
    CHECK_FAILS(clfi_peak_bandwidth(&list, CLFI_PEAK_READ, 4096, 4100, NULL), CLF_INVALID_ARGUMENT, "4100");
    CHECK_FAILS(clfi_peak_arithmetic(&list, CLFI_PEAK_FP32, 0x1p22 + 1), CLF_INVALID_ARGUMENT, "multiple");
    CHECK_FAILS(clfi_peak_matrix(&list, false, 3 * 0x1p20), CLF_INVALID_ARGUMENT, "power of two");
    CHECK_FAILS(clfi_peak_integer_dot(&list, 0), CLF_INVALID_ARGUMENT, "multiple");
    CHECK_FAILS(clfi_peak_local(&list, 4096), CLF_INVALID_ARGUMENT, "multiple");
    CHECK_FAILS(clfi_peak_launch(&list, 0), CLF_INVALID_ARGUMENT, "launches");
    CHECK_FAILS(clfi_peak_transfer(&list, CLFI_PEAK_UPLOAD_COPY, 3), CLF_INVALID_ARGUMENT, "expected a multiple of 1024 bytes, found 3");
    assert_int_equal(list.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bandwidth),     cmocka_unit_test(arithmetic), cmocka_unit_test(local_memory),
        cmocka_unit_test(launches),      cmocka_unit_test(transfers),  cmocka_unit_test(builds),
        cmocka_unit_test(wrong_kernels), cmocka_unit_test(catalogue),  cmocka_unit_test(bad_sizes),
    };
    cmocka_set_test_filter(getenv("CLF_TEST_ONLY")); /* emulated matrix units need the arithmetic alone */
    return cmocka_run_group_tests(tests, device_setup, device_teardown);
}
