/* SPDX-License-Identifier: MIT */
/* The models of the benchmark's catalogue: the built-in encoder-decoder, and the real encoder where the machine has it, verified against
 * float64. */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/context.h"
#include "support/check.h"
#include "support/device.h"
#include "support/model.h"
#include "support/operand.h"
#include "workload/model_workloads.h"
#include "workload/reference_encoder.h"
#include "workload/workload.h"

static void check_workload(const clfi_workload *workload, clf_context *context)
{
    clfi_engine_list engines = {.count = 0};
    clfi_verdict verdict = {0};
    clfi_sample sample = {0};
    void *state = NULL;
    CHECK_OK(workload->type->engines(workload, context, &engines));
    CHECK(engines.count == 1, "%s: %zu engines", workload->id, engines.count);
    const clf_status st = workload->type->prepare(workload, context, engines.names[0], &state);
    CHECK(st == CLF_OK, "%s: %s", workload->id, clf_last_error());
    CHECK(workload->type->verify(state, &verdict) == CLF_OK, "%s: %s", workload->id, clf_last_error());
    CHECK(verdict.passed && verdict.error <= verdict.bound && verdict.bound > 0, "%s: error %.3g, bound %.3g", workload->id, verdict.error,
          verdict.bound);
    if (strcmp(workload->op, "encoder") == 0)
        CHECK(verdict.cosine > 1 - 1e-9 && verdict.cosine < 1 + 1e-9, "%s: cosine %.12g", workload->id, verdict.cosine);
    CHECK(workload->type->run(state, &sample) == CLF_OK && sample.wall_ns > 0, "%s: %s", workload->id, clf_last_error());
    workload->type->release(state);
}

static void check_list(clfi_workload_list *list, clf_context *context)
{
    assert_true(list->count > 0);
    for (size_t i = 0; i < list->count; i++) {
        const clfi_workload *one = &list->items[i];
        CHECK(json_is_object(json_object_get(one->work, "model")) && strcmp(one->suite, "models") == 0, "%s", one->id);
        CHECK(one->off_device && one->off_device[0], "%s: what the host does", one->id);
        check_workload(one, context);
        if (only_small_cases())
            break;
    }
    clfi_workload_list_free(list);
}

static void test_built_in(void **state)
{
    clfi_workload_list list = {0};
    CHECK_OK(clfi_model_workloads(&list, NULL, true));
    check_list(&list, *state);
}

static void test_encoder(void **state)
{
    clfi_workload_list list = {0};
    const char *directory = test_model_directory();
    CHECK_OK(clfi_model_workloads(&list, directory, true));
    check_list(&list, *state);
}

/* Positions that begin after the padding's id, MPNet's scores by distance, and names of DistilBERT's own. */
static void test_relatives(void **state)
{
    static const char *const names[] = {"mpnet", "roberta", "camembert", "distilbert"};
    for (size_t i = 0; i < COUNT(names); i++) {
        char directory[512];
        clfi_workload_list list = {0};
        clfi_bench_model model;
        snprintf(directory, sizeof directory, CLF_TEST_DATA "/families/%s", names[i]);
        CHECK_OK(clfi_bench_model_read(directory, &model));
        CHECK_OK(clfi_encoder_add_ids(&list, &model, 3, 35));
        check_workload(&list.items[0], *state);
        clfi_workload_list_free(&list);
        clfi_bench_model_free(&model);
    }
}

static void test_unknown(void **state)
{
    static const char *const names[] = {"modernbert", "nomic_bert"};
    const clf_model_info info = {.poolings = 1};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        char directory[512];
        clfi_ref_encoder *reference;
        snprintf(directory, sizeof directory, CLF_TEST_DATA "/families/%s", names[i]);
        CHECK_FAILS(clfi_ref_encoder_open(directory, &info, &reference), CLF_UNSUPPORTED, names[i]);
    }
}

static void test_refusals(void **state)
{
    clfi_workload_list list = {0};
    (void)state;
    CHECK_FAILS(clfi_model_workloads(&list, "/nonexistent/model", true), CLF_NOT_FOUND,
                "model directory /nonexistent/model: no such directory");
    clfi_workload_list_free(&list);
}

int main(void)
{
    const struct CMUnitTest built_in[] = {cmocka_unit_test(test_built_in), cmocka_unit_test(test_relatives), cmocka_unit_test(test_unknown),
                                          cmocka_unit_test(test_refusals)};
    const struct CMUnitTest directory[] = {cmocka_unit_test(test_encoder)}; /* leaves the program where there is no model */
    const int failed = cmocka_run_group_tests_name("built-in", built_in, device_setup_cached, device_teardown);
    return failed ? failed : cmocka_run_group_tests_name("directory", directory, device_setup_cached, device_teardown);
}
