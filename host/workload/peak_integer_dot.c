/* SPDX-License-Identifier: MIT */
/* Workload "arithmetic/int8-dot": dot products of bytes from registers, by the function of cl_khr_integer_dot_product and in plain
 * arithmetic. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "runtime/launch.h"
#include "workload/peak.h"
#include "workload/peak_run.h"

enum { SEED = 5, CHAINS = 8, STEPS = 1024, MASK = 63, GROUP = 64, OPERATIONS_OF_ITEM = CHAINS * STEPS * 8, OPERATIONS_UNIT = 1 << 22 };

static const uint32_t scale = 2654435761u; /* offset of a work-item: scale * (item & MASK) */

typedef struct integer_dot {
    clfi_peak_state peak;
    size_t items;
    bool is_built_in;
    uint32_t words[CHAINS + 1]; /* start values of the chains, then the factor */
} integer_dot;

static clf_status dot_engines(const clfi_workload *workload, clf_context *context, clfi_engine_list *out)
{
    if (!context->device.caps.has_integer_dot)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: the device has no cl_khr_integer_dot_product", workload->id);
    *out = (clfi_engine_list){.names = {"built-in", "plain"}, .count = 2};
    return CLF_OK;
}

static clf_status enqueue(void *state)
{
    integer_dot *d = state;
    clf_kernel_spec spec = clfi_peak_spec("peak_integer_dot.cl", "peak_integer_dot");
    clfi_spec_int(&spec, "WG", GROUP);
    clfi_spec_int(&spec, "IS_BUILT_IN", d->is_built_in);
    clf_launch launch = clfi_launch(d->peak.context, &spec);
    clfi_arg_buffer(&launch, d->peak.source);
    clfi_arg_uint(&launch, d->words[CHAINS]);
    clfi_arg_uint(&launch, scale);
    clfi_arg_int(&launch, MASK);
    clfi_arg_int(&launch, STEPS);
    clfi_arg_buffer(&launch, d->peak.out);
    clfi_launch_work(&launch, d->peak.work.multiply_adds, d->peak.work.bytes);
    return clfi_launch_1d(&launch, d->items / GROUP, GROUP);
}

static clf_status dot_prepare(const clfi_workload *workload, clf_context *context, const char *engine, void **state)
{
    integer_dot *d;
    if (strcmp(engine, "built-in") != 0 && strcmp(engine, "plain") != 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: no engine \"%s\"", workload->id, engine);
    CLF_TRY(clfi_peak_begin(workload, context, enqueue, sizeof *d, state));
    d = *state;
    d->is_built_in = engine[0] == 'b';
    d->items = (size_t)(*(const double *)workload->parameters / OPERATIONS_OF_ITEM);
    clfi_peak_random(d->words, COUNT(d->words), SEED);
    CLF_TRY(clfi_peak_upload(context, d->words, CHAINS * sizeof *d->words, &d->peak.source));
    return clfi_peak_upload_random(context, d->items, SEED + 1, &d->peak.out);
}

/* The signed dot product of the bytes of two words, modulo 2^32. */
static uint32_t dot_of_bytes(uint32_t a, uint32_t b)
{
    int32_t sum = 0;
    for (int shift = 0; shift < 32; shift += 8)
        sum += (int32_t)(int8_t)(uint8_t)(a >> shift) * (int32_t)(int8_t)(uint8_t)(b >> shift);
    return (uint32_t)sum;
}

static uint32_t expected(const integer_dot *d, uint32_t item)
{
    uint32_t sum = 0;
    for (int c = 0; c < CHAINS; c++) {
        uint32_t s = d->words[c] + scale * (item & MASK);
        for (int i = 0; i < STEPS; i++)
            s += dot_of_bytes(s, d->words[CHAINS]);
        sum ^= s;
    }
    return sum;
}

static clf_status dot_verify(void *state, clfi_verdict *out)
{
    integer_dot *d = state;
    uint32_t want[MASK + 1], *got;
    size_t wrong = 0;
    CLF_TRY(clfi_peak_results(d, d->items, sizeof *got, &got));
    for (uint32_t i = 0; i <= MASK; i++)
        want[i] = expected(d, i);
    for (size_t i = 0; i < d->items; i++)
        wrong += got[i] != want[i & MASK];
    free(got);
    *out = clfi_peak_exact(wrong);
    return CLF_OK;
}

static const clfi_workload_type dot_type = {
    .engines = dot_engines, .prepare = dot_prepare, .verify = dot_verify, .run = clfi_peak_run, .release = clfi_peak_release};

clf_status clfi_peak_integer_dot(clfi_workload_list *list, double operations)
{
    clfi_workload workload = {.id = "arithmetic/int8-dot", .op = "arithmetic", .type = &dot_type, .flops = operations};
    if (!(operations >= OPERATIONS_UNIT) || fmod(operations, OPERATIONS_UNIT) != 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "integer dot: expected a multiple of %d operations, found %g", OPERATIONS_UNIT, operations);
    workload.work = json_pack("{s:s, s:s, s:f, s:i, s:s}", "operation", "dot of 4 and add", "type", "int8", "operations", operations,
                              "seed", SEED, "measures", "int8_gops");
    return clfi_peak_add(list, &workload, &operations, sizeof operations);
}
