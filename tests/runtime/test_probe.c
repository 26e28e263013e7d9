/* SPDX-License-Identifier: MIT */
/* Probes: what is right is used, what is wrong or cannot be built is a quiet no; either is asked once per device, driver and kernel. */
#include "runtime/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "op/gemm.h"
#include "op/tuned.h"
#include "support/check.h"
#include "support/device.h"
#include "support/temp.h"

/* A probe, its kernel's file, and kernels in its place. The device is taken to claim what is probed; these need nothing of it. */
typedef struct stand_in {
    clf_probe probe;
    const char *file, *right, *wrong, *broken;
} stand_in;

static const stand_in stand_ins[] = {
    {CLFI_PROBE_ROW_SUMS, "gpu/probe_row_sum.cl",
     "__kernel void probe_row_sum(__global const float2 *x, __global float2 *y)\n"
     "{ float2 sum = (float2)(0.0f, 0.0f);\n"
     "  for (int i = 0; i < WG; i++) sum += x[get_group_id(0) * WG + i];\n"
     "  y[get_global_id(0)] = 3.0f * sum; }\n",
     "__kernel void probe_row_sum(__global const float2 *x, __global float2 *y)\n"
     "{ y[get_global_id(0)] = 3.0f * x[get_global_id(0)]; }\n",
     "__kernel void probe_row_sum(__global const float2 *x) { no_such_function(x); }\n"},
    {CLFI_PROBE_BYTE_DOT, "cpu/probe_byte_dot.cl",
     "__kernel void probe_byte_dot(__global const int *x, __global int *y)\n"
     "{ const int item = (int)get_global_id(0), at = item * (2 * WIDTH + 1);\n"
     "  for (int i = 0; i < WIDTH; i++) {\n"
     "    int sum = x[at + i];\n"
     "    for (int byte = 0; byte < 32; byte += 8)\n"
     "      sum += ((x[at + WIDTH + i] >> byte) & 255) * ((x[at + 2 * WIDTH] << (24 - byte)) >> 24);\n"
     "    y[item * WIDTH + i] = sum; } }\n",
     "__kernel void probe_byte_dot(__global const int *x, __global int *y)\n" /* both bytes with sign */
     "{ const int item = (int)get_global_id(0), at = item * (2 * WIDTH + 1);\n"
     "  for (int i = 0; i < WIDTH; i++) {\n"
     "    int sum = x[at + i];\n"
     "    for (int byte = 0; byte < 32; byte += 8)\n"
     "      sum += ((x[at + WIDTH + i] << (24 - byte)) >> 24) * ((x[at + 2 * WIDTH] << (24 - byte)) >> 24);\n"
     "    y[item * WIDTH + i] = sum; } }\n",
     "__kernel void probe_byte_dot(__global const int *x) { no_such_function(x); }\n"},
    {CLFI_PROBE_NATIVE_EXP2, "gpu/probe_native_exp2.cl",
     "__kernel void probe_native_exp2(__global const float4 *x, __global float4 *y)\n"
     "{ y[get_global_id(0)] = exp2(x[get_global_id(0)]); }\n",
     "__kernel void probe_native_exp2(__global const float4 *x, __global float4 *y)\n" /* eight units in the last place */
     "{ y[get_global_id(0)] = exp2(x[get_global_id(0)]) * 1.000001f; }\n",
     "__kernel void probe_native_exp2(__global const float4 *x) { no_such_function(x); }\n"},
#define ROUNDED                                        \
    "float rounded(float v) { ushort bits;\n"          \
    "  vstore_half_rte(v, 0, (half *)&bits);\n"        \
    "  return vload_half(0, (const half *)&bits); }\n" \
    "__kernel void probe_half(__global const float *x, __global float *y)\n"
#define OPERAND(n) "rounded(x[(i / 4 * 3 + " #n ") * 4 + i % 4])"
#define MULTIPLY_ADD "rounded(fma(" OPERAND(0) ", " OPERAND(1) ", " OPERAND(2) "))"
    {CLFI_PROBE_HALF, "gpu/probe_half.cl",
     ROUNDED "{ for (size_t i = 4 * get_global_id(0), last = i + 4; i < last; i++) y[i] = " MULTIPLY_ADD "; }\n",
     ROUNDED "{ for (size_t i = 4 * get_global_id(0), last = i + 4; i < last; i++) {\n" /* numbers below the normal range are lost */
             "    const float sum = " MULTIPLY_ADD "; y[i] = fabs(sum) < 0x1p-14f ? 0.0f : sum; } }\n",
     "__kernel void probe_half(__global const float *x) { no_such_function(x); }\n"},
};

/* A context with that kernel in the probe's place. */
static clf_context *context_with(const stand_in *of, const char *kernel, clf_precision precision)
{
    char kernels[TEMP_PATH_BYTES], cache[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES], tuned[TEMP_PATH_BYTES];
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    clf_context *context;
    temp_file_below(temp_root, temp_path("kernels", of->file, path), kernel, strlen(kernel));
    temp_path(temp_root, "kernels", kernels);
    params.kernel_dir = kernels;
    params.cache_dir = temp_path(temp_root, "cache", cache);
    params.precision = precision;
    params.engines = "";
    params.tuned_file = temp_path(temp_root, "tuned.json", tuned);
    remove(tuned);
    CHECK_OK(clf_context_create(&params, &context));
    context->device.caps.has_byte_dot = context->device.caps.has_fp16 = true;
    context->device.caps.subgroup_size = 1;
    context->device.caps.is_cpu = context->device.caps.is_cpu && of->probe != CLFI_PROBE_NATIVE_EXP2;
    return context;
}

/* Asks with that kernel; `launches`: of its, 0 where the answer is remembered or cannot be built. */
static void ask(const stand_in *of, const char *kernel, const char *wanted, uint64_t launches)
{
    clf_context *context = context_with(of, kernel, CLF_PRECISION_HIGHEST);
    clf_context_stats stats;
    const char *text = clfi_probe_text(context, of->probe);
    CHECK(strncmp(text, wanted, strlen(wanted)) == 0, "%s: %s, expected %s", of->file, text, wanted);
    assert_int_equal(clfi_probe(context, of->probe), strcmp(wanted, "yes") == 0);
    clf_context_get_stats(context, &stats);
    CHECK(stats.kernels_launched == launches, "%s, %s: %d launches, expected %d", of->file, wanted, (int)stats.kernels_launched,
          (int)launches);
    clf_context_destroy(context);
}

static void test_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(stand_ins); i++) {
        for (int remembered = 0; remembered < 2; remembered++) {
            ask(&stand_ins[i], stand_ins[i].right, "yes", !remembered);
            ask(&stand_ins[i], stand_ins[i].wrong, "no: wrong numbers", !remembered);
            ask(&stand_ins[i], stand_ins[i].broken, "no: ", 0);
        }
    }
}

/* A file that was altered is no answer. */
static void test_damaged_file(void **state)
{
    char command[2 * TEMP_PATH_BYTES];
    (void)state;
    snprintf(command, sizeof command, "for f in '%s'/cache/programs/probe-*; do printf x >>\"$f\"; done", temp_root);
    assert_int_equal(system(command), 0);
    ask(&stand_ins[0], stand_ins[0].right, "yes", 1);
    ask(&stand_ins[0], stand_ins[0].wrong, "no: wrong numbers", 1);
}

/* A compiler that errs in one family of kernels, or at one work-group size, loses its sub-groups there alone. */
static void test_subgroups(void **state)
{
    const char *wrong_at_128 = "__kernel void probe_row_sum(__global const float2 *x, __global float2 *y)\n"
                               "{ float2 sum = (float2)(0.0f, 0.0f);\n"
                               "  for (int i = 0; i < WG; i++) sum += x[get_group_id(0) * WG + i];\n"
                               "  y[get_global_id(0)] = (WG == 128 ? 2.0f : 3.0f) * sum; }\n";
    char path[TEMP_PATH_BYTES];
    (void)state;
    temp_file_below(temp_root, temp_path("kernels", "gpu/probe_group_sums.cl", path), "broken", 6);
    clf_context *context = context_with(&stand_ins[0], wrong_at_128, CLF_PRECISION_HIGHEST);
    context->device.caps.subgroup_size = 16;
    for (int group = 16; group <= 256; group *= 2) {
        const bool is_there = group >= 64 && group != 128 && (size_t)group <= context->device.caps.max_work_group_size;
        const int size = clfi_probe_subgroups(context, CLFI_PROBE_ROW_SUMS, group);
        CHECK(size == (is_there ? 16 : 0), "row sums, %d items: sub-groups of %d", group, size);
        assert_int_equal(clfi_probe_subgroups(context, CLFI_PROBE_GROUP_SUMS, group), 0);
    }
    clf_context_destroy(context);
}

/* Rows that require what a device gets wrong are left out, and those that don't are not; without need nothing is asked. */
static void test_engines(void **state)
{
    const stand_in *of = &stand_ins[1];
    clf_gemm_weight weight = {.form = CLFI_GEMM_BUNDLES, .dtype = CLF_U8, .blocks = CLF_WEIGHT_Q4_0, .n = 32, .k = 32};
    clf_gemm_args args = CLFI_GEMM_ARGS_INIT;
    (void)state;
    args.weight = &weight;
    args.m = 1;
    args.n = args.k = 32;
    args.a = args.c = (clf_gemm_operand){.dtype = CLF_F32, .row_stride = 32, .column_stride = 1};
    for (int is_right = 0; is_right < 2; is_right++) {
        clf_context *context = context_with(of, is_right ? of->right : of->wrong, CLF_PRECISION_MEDIUM);
        const clf_engine *engine = clfi_engine_find(CLF_OP_GEMM, "bytes");
        clf_context_stats stats;
        assert_non_null(engine);
        assert_int_equal(engine->probe, of->probe);
        context->precision = CLF_PRECISION_HIGHEST;
        assert_non_null(strstr(clfi_engine_obstacle(context, engine), "precision"));
        clf_context_get_stats(context, &stats);
        CHECK(stats.kernels_launched == 0, "a row of a lower precision is probed");
        context->precision = CLF_PRECISION_MEDIUM;
        const char *obstacle = clfi_engine_obstacle(context, engine);
        CHECK(is_right ? !obstacle : obstacle && strstr(obstacle, "probe"), "%s", obstacle ? obstacle : "no obstacle");
        CHECK(clfi_engine_is_able(context, engine, &args) == (is_right && engine->supports(context, &args)), "of a probe that is %s",
              is_right ? "right" : "wrong");
        clf_context_destroy(context);
    }
}

/* Products in half precision are chosen on a GPU whose halves are fast and passed the probe, at medium precision, for more than a few rows;
 * also where engines that keep more were measured. */
static void test_half_choice(void **state)
{
    static const struct {
        bool is_right, is_cpu, claims, slow_halves;
        clf_precision precision;
        int64_t m;
        bool is_half;
    } cases[] = {
        {true, false, true, false, CLF_PRECISION_MEDIUM, 64, true},   {false, false, true, false, CLF_PRECISION_MEDIUM, 64, false},
        {true, true, true, false, CLF_PRECISION_MEDIUM, 64, false},   {true, false, false, false, CLF_PRECISION_MEDIUM, 64, false},
        {true, false, true, true, CLF_PRECISION_MEDIUM, 64, false},   {true, false, true, false, CLF_PRECISION_HIGH, 64, false},
        {true, false, true, false, CLF_PRECISION_HIGHEST, 64, false}, {true, false, true, false, CLF_PRECISION_MEDIUM, 1, false},
    };
    const stand_in *of = &stand_ins[COUNT(stand_ins) - 1];
    (void)state;
    assert_int_equal(of->probe, CLFI_PROBE_HALF);
    for (size_t i = 0; i < 2 * COUNT(cases); i++) {
        const int64_t m = cases[i / 2].m, n = 64, k = 64;
        clf_context *context = context_with(of, cases[i / 2].is_right ? of->right : of->wrong, cases[i / 2].precision);
        context->device.caps.is_cpu = cases[i / 2].is_cpu;
        context->device.caps.has_fp16 = cases[i / 2].claims;
        context->device.caps.slow_halves = cases[i / 2].slow_halves;
        clf_gemm_args args = CLFI_GEMM_ARGS_INIT;
        clf_gemm_rule rule = {
            .precision = CLF_PRECISION_HIGHEST, .batch = 1, .m = m, .n = n, .k = k, .engine = clfi_engine_find(CLF_OP_GEMM, "tiled")};
        clf_engine_choice choice;
        args.m = m;
        args.n = n;
        args.k = k;
        args.a = (clf_gemm_operand){.dtype = CLF_F32, .row_stride = k, .column_stride = 1};
        args.b = args.c = (clf_gemm_operand){.dtype = CLF_F32, .row_stride = n, .column_stride = 1};
        rule.kind = clfi_gemm_kind_of(&args);
        if (i % 2)
            CHECK_OK(clfi_tuning_add(context, &rule));
        CHECK_OK(clfi_gemm_choose(context, &args, &choice));
        const bool is_half = strcmp(choice.engine->name, "tiled_half") == 0;
        CHECK(is_half == cases[i / 2].is_half && (is_half || !(i % 2) || choice.engine == rule.engine), "case %zu, %s: %s is chosen", i / 2,
              i % 2 ? "with a rule" : "without rules", choice.engine->name);
        clf_context_destroy(context);
    }
}

/* A device that claims nothing is not probed. */
static void test_none(void **state)
{
    clf_context *context = *state;
    for (int probe = CLFI_PROBE_NONE + 1; probe < CLFI_PROBE_COUNT; probe++) {
        const bool is_claimed = clfi_probe_is_claimed(&context->device.caps, (clf_probe)probe);
        const char *text = clfi_probe_text(context, (clf_probe)probe);
        CHECK(is_claimed == (strcmp(text, "no: the device does not support it") != 0), "%s: %s", clfi_probe_name((clf_probe)probe), text);
        CHECK(!is_claimed || strcmp(text, "no: wrong numbers") != 0, "%s: %s", clfi_probe_name((clf_probe)probe), text);
    }
    assert_true(clfi_probe(context, CLFI_PROBE_NONE));
}

static int setup(void **state)
{
    return temp_setup(state) || device_setup_cached(state);
}

static int teardown(void **state)
{
    device_teardown(state);
    return temp_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),     cmocka_unit_test(test_damaged_file), cmocka_unit_test(test_engines),
        cmocka_unit_test(test_half_choice), cmocka_unit_test(test_subgroups),    cmocka_unit_test(test_none),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
