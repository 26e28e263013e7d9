/* SPDX-License-Identifier: MIT */
/* Measured choices in use: the engine that a rule names runs, a forced one is stronger, numbers stay right; CLBlast with other
 * parameters. */
#include <stdio.h>
#include <unistd.h>
#include <stdlib.h>

#include "op/linear.h"
#include "op/tuned.h"
#include "op/tuned_file.h"
#include "support/check.h"
#include "support/device.h"
#include "support/temp.h"
#include "tune/tune_case.h"
#include "tune/tune_search.h"

static const clfi_tune_product product = {CLF_GEMM_LINEAR, 1, 33, 48, 40};

static clf_context *open_context(const char *tuned_file, const char *engines)
{
    clf_context *context;
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    params.tuned_file = tuned_file;
    params.engines = engines;
    CHECK_OK(clf_context_create(&params, &context));
    return context;
}

/* The engine that runs the product on such a context, whose numbers are checked. */
static void check_engine(const char *tuned_file, const char *engines, const char *want)
{
    clf_context *context = open_context(tuned_file, engines);
    clfi_tune_case one;
    clfi_verdict verdict;
    CHECK_OK(clfi_tune_case_create(context, &product, &one));
    CHECK(strcmp(one.engine, want) == 0, "file \"%s\", engines \"%s\": %s runs, want %s", tuned_file, engines, one.engine, want);
    CHECK_OK(clfi_tune_case_verify(&one, &verdict));
    CHECK(verdict.passed, "%s: error %g, bound %g", want, verdict.error, verdict.bound);
    clfi_tune_case_free(&one);
    clf_context_destroy(context);
}

static void store(const char *path, const clf_device_info *device, const clf_tuning *tuning)
{
    json_t *entry;
    CHECK_OK(clfi_tuning_entry(device, tuning, &entry));
    CHECK_OK(clfi_tuned_file_store(path, device, entry));
    json_decref(entry);
}

/* Every engine in turn is the measured choice. */
static void test_rules(void **state)
{
    const clf_device_info *device = clf_context_device(*state);
    char directory[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
    size_t used = 0;
    clf_context *plain = open_context("", "");
    assert_false(clfi_context_is_tuned(plain));
    temp_directory_make(directory);
    temp_path(directory, "tuned.json", path);
    const clf_engine_table *table = &clfi_engine_tables[CLF_OP_GEMM];
    for (size_t e = 0; e < table->count; e++) {
        const clf_engine *engine = &table->engines[e];
        clf_gemm_args args = CLFI_GEMM_ARGS_INIT;
        const clf_gemm_weight weight = {.form = engine->gemm->form, .dtype = CLF_F32, .n = product.n, .k = product.k};
        args.m = product.m;
        args.n = product.n;
        args.k = product.k;
        args.weight = &weight;
        args.a.dtype = args.c.dtype = CLF_F32;
        if (!clfi_engine_is_able(plain, engine, &args))
            continue;
        clf_gemm_rule rules[] = {{CLF_GEMM_LINEAR, CLF_PRECISION_HIGHEST, 1, 33, 48, 40, engine, {{0}}, false},
                                 {CLF_GEMM_LINEAR, CLF_PRECISION_HIGHEST, 1, 128, 48, 40, engine, {{0}}, false}};
        store(path, device, &(clf_tuning){.rules = rules, .count = COUNT(rules)});
        check_engine(path, "", engine->name);
        check_engine(path, "gemm=tiled", "tiled");
        check_engine("", "gemm=tiled", "tiled");
        used++;
    }
    CHECK(used >= 3, "only %zu engines ran", used);
    clf_context *tuned = open_context(path, "");
    assert_true(clfi_context_is_tuned(tuned));
    clf_context_destroy(tuned);

    /* The same device with another driver alone. */
    clf_device_info other = *device;
    other.driver_version = "another";
    assert_int_equal(unlink(path), 0);
    store(path, &other, &(clf_tuning){.count = 0});
    tuned = open_context(path, "");
    assert_false(clfi_context_is_tuned(tuned));
    clf_context_destroy(tuned);
    clf_context_destroy(plain);
    temp_directory_remove(directory);
}

/* Contexts with and without tuned parameters take turns in one process. */
static void test_clblast(void **state)
{
    const clf_device_info *device = clf_context_device(*state);
    char directory[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
    clf_tuning tuning = {.count = 0};
    size_t used = 0;
    temp_directory_make(directory);
    temp_path(directory, "tuned.json", path);
    for (size_t i = 0; used < 2 && clfi_tune_clblast_set(i, &tuning.clblast); i += 4) {
        if (clfi_clblast_check(*state, &tuning.clblast) != CLF_OK)
            continue;
        store(path, device, &tuning);
        check_engine(path, "gemm=clblast", "clblast");
        check_engine("", "gemm=clblast", "clblast");
        used++;
    }
    CHECK(used > 0, "no set of parameters fits");
    temp_directory_remove(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rules), cmocka_unit_test(test_clblast)};
    return cmocka_run_group_tests(tests, device_setup, device_teardown);
}
