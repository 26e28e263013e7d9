/* SPDX-License-Identifier: MIT */
/* The measured rates of a matrix unit decide whether its engines may be chosen, whether the tuner measures them, and whether the program
 * hints at `high`. The unit is emulated; its rates are measured, or lie in the cache. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "jobs/precision_hint.h"
#include "op/gemm.h"
#include "runtime/matrix_rate.h"
#include "support/check.h"
#include "support/device.h"
#include "support/temp.h"
#include "tune/tune_child.h"

static char folder[TEMP_PATH_BYTES];

/* With an emulated unit and a cache of its own; seen as the kind of device that has such a unit. */
static clf_context *open_context(clf_precision precision, const char *engines)
{
    clf_context *context;
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    params.cache_dir = folder;
    params.tuned_file = "";
    params.precision = precision;
    params.engines = engines;
    CHECK_OK(clf_context_create(&params, &context));
    context->device.caps.is_cpu = clfi_matrix_unit_is_cpu(context->device.caps.matrix_unit);
    return context;
}

static void keep_rates(const char *text)
{
    clf_kept_key key;
    clf_context *context = open_context(CLF_PRECISION_HIGHEST, "");
    CHECK_OK(clfi_matrix_rates_key(context, &key));
    clfi_kept_write(context, &key, text);
    clf_context_destroy(context);
}

/* The engine for a product that fills tiles of the unit, at the precision of `name`; "measured": the tuner named that one for it. */
static const char *chosen(const char *name, const char *engines, bool is_measured)
{
    const clf_engine_choice measured = {.engine = clfi_engine_find(CLF_OP_GEMM, name)};
    clf_context *context = open_context(measured.engine->precision, engines);
    clf_gemm_args args = CLFI_GEMM_ARGS_INIT;
    clf_engine_choice choice;
    args.m = args.n = 128;
    args.k = 64;
    args.a = args.b = args.c = (clf_gemm_operand){.dtype = CLF_F32, .row_stride = 128, .column_stride = 1};
    CHECK_OK(clfi_engine_choose(context, CLF_OP_GEMM, &args, is_measured ? &measured : NULL, &choice));
    clf_context_destroy(context);
    return choice.engine->name;
}

/* The status with which a process of the tuner answers for matrix_split. */
static clf_status tuned_status(void)
{
    const char *device = getenv("CLF_DEVICE");
    json_t *reply = json_object(),
           *request = json_pack("{s:s, s:s*, s:s, s:s, s:i, s:s, s:[[i, i, i, i, i]], s:f}", "do", "measure", "device", device, "engines",
                                "gemm=matrix_split", "tuned", "", "precision", CLF_PRECISION_HIGH, "reference", "gemm=tiled", "products",
                                CLF_GEMM_LINEAR, 1, 16, 32, 32, "product_ns", 1e6);
    assert_non_null(request);
    const clf_status st = clfi_tune_serve(request, reply);
    json_decref(request);
    json_decref(reply);
    return st;
}

/* One product is worth it from a ratio of 1.5 on, two parts of each number from 4 on. */
static void test_choice(void **state)
{
    static const struct {
        const char *unit, *engine, *rates;
        bool is_strong, is_default;
    } cases[] = {{"NVIDIA_BF16", "matrix_split", "3990 1000", false, false},
                 {"NVIDIA_BF16", "matrix_split", "4010 1000", true, true},
                 {"AMD_CDNA", "matrix_split", "3990 1000", false, false},
                 {"AMD_CDNA", "matrix_split", "4010 1000", true, false}, /* nobody saw it multiply */
                 {"X86_BF16", "bf16", "1490 1000", false, false},
                 {"X86_BF16", "bf16", "1510 1000", true, true},
                 {"X86_BF16", "bf16_pairs", "3990 1000", false, false},
                 {"X86_BF16", "bf16_pairs", "4010 1000", true, true},
                 {"X86_AMX", "bf16_pairs", "3990 1000", false, false},
                 {"X86_AMX", "bf16_pairs", "4010 1000", true, true}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        setenv("CLF_MATRIX_UNIT", cases[i].unit, 1);
        keep_rates(cases[i].rates);
        const char *engine = cases[i].engine;
        char forced[64];
        const bool by_table = strcmp(chosen(engine, "", false), engine) == 0, by_rule = strcmp(chosen(engine, "", true), engine) == 0;
        CHECK(by_table == cases[i].is_default, "%s, %s: by the table %d", cases[i].unit, cases[i].rates, by_table);
        CHECK(by_rule == cases[i].is_strong, "%s, %s: by a measured choice %d", cases[i].unit, cases[i].rates, by_rule);
        snprintf(forced, sizeof forced, "gemm=%s", engine);
        assert_string_equal(chosen(engine, forced, false), engine);
    }
}

/* Quantised weights are not expanded for AVX512-BF16. */
static void test_quantised(void **state)
{
    static const clf_gemm_weight weight = {
        .form = CLFI_GEMM_BUNDLES, .dtype = CLF_U8, .blocks = CLF_WEIGHT_Q8_0, .n = 128, .k = 64, .panel = 16};
    clf_engine_choice choice;
    (void)state;
    setenv("CLF_MATRIX_UNIT", "X86_BF16", 1);
    keep_rates("10000 1000");
    clf_context *context = open_context(CLF_PRECISION_MEDIUM, "");
    clf_gemm_args args = CLFI_GEMM_ARGS_INIT;
    args.weight = &weight;
    args.m = args.n = 128;
    args.k = 64;
    args.a = args.c = (clf_gemm_operand){.dtype = CLF_F32, .row_stride = 128, .column_stride = 1};
    assert_true(clfi_engine_is_able(context, clfi_engine_find(CLF_OP_GEMM, "bf16"), &args));
    CHECK_OK(clfi_engine_choose(context, CLF_OP_GEMM, &args, NULL, &choice));
    assert_string_not_equal(choice.engine->name, "bf16");
    clf_context_destroy(context);
}

static void test_tuner(void **state)
{
    (void)state;
    setenv("CLF_MATRIX_UNIT", "NVIDIA_BF16", 1);
    keep_rates("3990 1000");
    assert_int_equal(tuned_status(), CLF_UNSUPPORTED);
    keep_rates("4010 1000");
    CHECK_OK(tuned_status());
}

/* The rates stay in the cache and decide there, whatever they are: an emulation has its own. */
static void check_measured(const char *unit, const char *engine)
{
    setenv("CLF_MATRIX_UNIT", unit, 1);
    clf_context *context = open_context(CLF_PRECISION_HIGH, "");
    const clf_matrix_rates none = clfi_matrix_rates_kept(context), found = clfi_matrix_rates(context),
                           kept = clfi_matrix_rates_kept(context);
    assert_true(none.unit == 0 && none.floats == 0);
    CHECK(found.unit > 0 && found.floats > 0, "%g and %g GFLOP/s", found.unit, found.floats);
    CHECK(within(kept.unit, found.unit, 1e-5 * found.unit) && within(kept.floats, found.floats, 1e-5 * found.floats), "kept %g and %g",
          kept.unit, kept.floats);
    clf_context_destroy(context);
    const bool is_strong = kept.unit >= 4 * kept.floats;
    assert_int_equal(strcmp(chosen(engine, "", true), engine) == 0, is_strong);
}

static void test_measured(void **state)
{
    (void)state;
    check_measured("INTEL_8", "matrix_split");
    check_measured("X86_AMX", "bf16_pairs");
}

/* The text that the hint prints on a new context; valid until the next call. */
static const char *hint(clf_precision precision, const char *engines)
{
    static char text[512];
    char path[TEMP_PATH_BYTES];
    clf_context *context = open_context(precision, engines);
    temp_path(folder, "stderr", path);
    fflush(stderr);
    const int kept = dup(STDERR_FILENO), file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(kept >= 0 && file >= 0);
    dup2(file, STDERR_FILENO);
    cli_precision_hint(context);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    const ssize_t length = pread(file, text, sizeof text - 1, 0);
    close(file);
    text[length > 0 ? length : 0] = '\0';
    clf_context_destroy(context);
    return text;
}

static void test_hint(void **state)
{
    (void)state;
    setenv("CLF_MATRIX_UNIT", "AMD_GFX12", 1);
    keep_rates("20000 1000");
    assert_string_equal(hint(CLF_PRECISION_HIGHEST, ""), ""); /* nobody saw it multiply */
    setenv("CLF_MATRIX_UNIT", "NVIDIA_F16", 1);
    assert_string_equal(hint(CLF_PRECISION_HIGHEST, ""), ""); /* nothing is kept, and nothing was measured */
    keep_rates("9700 1000");
    assert_string_equal(hint(CLF_PRECISION_HIGHEST, ""), "");
    keep_rates("16000 1000");
    assert_string_equal(hint(CLF_PRECISION_HIGH, ""), "");
    assert_string_equal(hint(CLF_PRECISION_HIGHEST, "gemm=tiled"), "");
    const char *said = hint(CLF_PRECISION_HIGHEST, "");
    const char *end = strchr(said, '\n');
    CHECK(strncmp(said, "clformer: ", 10) == 0 && strstr(said, "--precision high") && strstr(said, "2.2 times") && end && !end[1], "\"%s\"",
          said);
    assert_string_equal(hint(CLF_PRECISION_HIGHEST, ""), ""); /* once */
}

static int setup(void **state)
{
    const int st = device_setup(state);
    temp_directory_make(folder);
    setenv("CLF_CACHE_DIR", folder, 1); /* of the tuner's contexts */
    return st;
}

static int teardown(void **state)
{
    temp_directory_remove(folder);
    return device_teardown(state);
}

int main(void)
{
    /* test_measured comes first: the others keep rates of their own. */
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_measured), cmocka_unit_test(test_choice), cmocka_unit_test(test_quantised),
                                       cmocka_unit_test(test_tuner), cmocka_unit_test(test_hint)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
