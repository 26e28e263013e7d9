/* SPDX-License-Identifier: MIT */
/* Probes: what is right is used, what is wrong or cannot be built is a quiet no; either is asked once per device, driver and kernel. */
#include "runtime/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/device.h"
#include "support/temp.h"

static const char right[] = "__kernel void probe_row_sum(__global const float2 *x, __global float2 *y)\n"
                            "{ float2 sum = (float2)(0.0f, 0.0f);\n"
                            "  for (int i = 0; i < WG; i++) sum += x[get_group_id(0) * WG + i];\n"
                            "  y[get_global_id(0)] = 3.0f * sum; }\n";
static const char wrong[] = "__kernel void probe_row_sum(__global const float2 *x, __global float2 *y)\n"
                            "{ y[get_global_id(0)] = 3.0f * x[get_global_id(0)]; }\n";
static const char broken[] = "__kernel void probe_row_sum(__global const float2 *x) { no_such_function(x); }\n";

/* Asks with that kernel; `launches`: of its, 0 where the answer is remembered or cannot be built. */
static void ask(const char *kernel, const char *wanted, uint64_t launches)
{
    char kernels[TEMP_PATH_BYTES], cache[TEMP_PATH_BYTES];
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    clf_context_stats stats;
    clf_context *context;
    temp_file_below(temp_root, "kernels/gpu/probe_row_sum.cl", kernel, strlen(kernel));
    temp_path(temp_root, "kernels", kernels);
    params.kernel_dir = kernels;
    params.cache_dir = temp_path(temp_root, "cache", cache);
    CHECK_OK(clf_context_create(&params, &context));
    context->device.caps.has_subgroups = true; /* the kernels here need none */
    const char *text = clfi_probe_text(context, CLFI_PROBE_SUBGROUPS);
    CHECK(strncmp(text, wanted, strlen(wanted)) == 0, "%s, expected %s", text, wanted);
    assert_int_equal(clfi_probe(context, CLFI_PROBE_SUBGROUPS), strcmp(wanted, "yes") == 0);
    clf_context_get_stats(context, &stats);
    CHECK(stats.kernels_launched == launches, "%s: %d launches, expected %d", wanted, (int)stats.kernels_launched, (int)launches);
    clf_context_destroy(context);
}

static void test_answers(void **state)
{
    (void)state;
    for (int remembered = 0; remembered < 2; remembered++) {
        ask(right, "yes", !remembered);
        ask(wrong, "no: wrong numbers", !remembered);
        ask(broken, "no: ", 0);
    }
}

/* A file that was altered is no answer. */
static void test_damaged_file(void **state)
{
    char command[2 * TEMP_PATH_BYTES];
    (void)state;
    snprintf(command, sizeof command, "for f in '%s'/cache/programs/probe-*; do printf x >>\"$f\"; done", temp_root);
    assert_int_equal(system(command), 0);
    ask(right, "yes", 1);
    ask(wrong, "no: wrong numbers", 1);
}

/* Where the device has no sub-groups nothing runs. */
static void test_none(void **state)
{
    clf_context *context = *state;
    if (context->device.caps.has_subgroups)
        skip();
    assert_string_equal(clfi_probe_text(context, CLFI_PROBE_SUBGROUPS), "no: the device has none");
    assert_false(clfi_probe(context, CLFI_PROBE_SUBGROUPS));
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
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_damaged_file),
        cmocka_unit_test(test_none),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
