/* SPDX-License-Identifier: MIT */
/* Workload "arithmetic/bf16": multiply-adds of bfloat16 into float32, on x86 processors with AVX512_BF16 whose OpenCL compiler accepts
 * the instruction. All numbers are whole and below 2^24, so the check is exact. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/half.h"
#include "runtime/launch.h"
#include "workload/peak.h"
#include "workload/peak_run.h"

enum {
    SEED = 15,
    WIDTH = 16,
    CHAINS = 16,
    PAIRS = 512,
    MASK = 63,
    FACTORS = 4,
    FLOPS_OF_ITEM = 2 * PAIRS * CHAINS * WIDTH * 4, /* two products and two sums in each of the two steps of a pair */
    FLOPS_UNIT = 1 << 22
};

typedef struct bf16 {
    clfi_peak_state peak;
    size_t items;
    float starts[CHAINS * WIDTH], factors[FACTORS * WIDTH * 2]; /* factors: in pairs, as the instruction takes them */
} bf16;

static bool processor_has_bf16(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    return __builtin_cpu_supports("avx512bf16");
#else
    return false;
#endif
}

static clf_kernel_spec spec_of(const char *kernel)
{
    clf_kernel_spec spec = clfi_peak_spec("peak_bf16_dot.cl", kernel);
    clfi_spec_int(&spec, "WIDTH", WIDTH);
    clfi_spec_int(&spec, "CHAINS", CHAINS);
    return spec;
}

/* Asks a compiled program whether it has the instruction. A compiler that refuses the program has not. */
static clf_status compiler_has_bf16(clf_context *context, bool *out)
{
    uint32_t answer = 2;
    clf_buffer *buffer = NULL;
    const clf_kernel_spec spec = spec_of("peak_bf16_probe");
    clf_status st = clfi_peak_upload(context, &answer, sizeof answer, &buffer);
    if (st == CLF_OK) {
        clf_launch launch = clfi_launch(context, &spec);
        clfi_arg_buffer(&launch, buffer);
        st = clfi_launch_1d(&launch, 1, 1);
    }
    if (st == CLF_OK)
        st = clfi_buffer_read(buffer, 0, &answer, sizeof answer);
    clfi_buffer_release(buffer);
    *out = answer == 1;
    return st == CLF_BUILD ? CLF_OK : st;
}

static clf_status bf16_engines(const clfi_workload *workload, clf_context *context, clfi_engine_list *out)
{
    const clf_device_caps *caps = &context->device.caps;
    bool has = false;
    if (!caps->is_cpu)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: OpenCL C has no bfloat16 arithmetic, whatever the device has", workload->id);
    if (caps->vector_width != WIDTH || !processor_has_bf16())
        CLF_FAIL(CLF_UNSUPPORTED, "%s: the processor has no AVX512_BF16", workload->id);
    if (caps->has_assembly)
        CLF_TRY(compiler_has_bf16(context, &has));
    if (!has)
        CLF_FAIL(CLF_UNSUPPORTED,
                 "%s: OpenCL C has no bfloat16 arithmetic, and the device's compiler takes no instruction of the processor", workload->id);
    return clfi_workload_one_engine(workload, context, out);
}

static clf_status enqueue(void *state)
{
    bf16 *b = state;
    const clf_kernel_spec spec = spec_of("peak_bf16_dot");
    clf_launch launch = clfi_launch(b->peak.context, &spec);
    clfi_arg_buffer(&launch, b->peak.source);
    clfi_arg_buffer(&launch, b->peak.factor);
    clfi_arg_int(&launch, MASK);
    clfi_arg_int(&launch, PAIRS);
    clfi_arg_buffer(&launch, b->peak.out);
    clfi_launch_work(&launch, b->peak.work.multiply_adds, b->peak.work.bytes);
    return clfi_launch_1d(&launch, b->items, 1);
}

static clf_status bf16_prepare(const clfi_workload *workload, clf_context *context, const char *engine, void **state)
{
    bf16 *b;
    uint32_t random[COUNT(b->starts)];
    uint16_t bits[COUNT(b->factors)];
    (void)engine;
    CLF_TRY(clfi_peak_begin(workload, context, enqueue, sizeof *b, state));
    b = *state;
    b->items = (size_t)(*(const double *)workload->parameters / FLOPS_OF_ITEM);
    clfi_peak_random(random, COUNT(random), SEED);
    for (size_t i = 0; i < COUNT(b->starts); i++)
        b->starts[i] = (float)(random[i] >> 16); /* below 2^16 */
    clfi_peak_random(random, COUNT(b->factors), SEED + 1);
    for (size_t i = 0; i < COUNT(b->factors); i++) {
        b->factors[i] = (float)((int)(random[i] >> 27) - 16); /* from -16 to 15 */
        bits[i] = clfi_bf16_from_f32(b->factors[i]);
    }
    CLF_TRY(clfi_peak_upload(context, b->starts, sizeof b->starts, &b->peak.source));
    CLF_TRY(clfi_peak_upload(context, bits, sizeof bits, &b->peak.factor));
    return clfi_peak_upload_random(context, b->items * WIDTH, SEED + 2, &b->peak.out);
}

/* The expected sum of a lane: |sum| <= 16 (2^16 + 64 + 512 * 4 * 256) < 2^24. */
static float expected(const bf16 *b, size_t item, int lane)
{
    const float *f = b->factors;
    double gain = 0, sum = 0;
    for (int pair = 0; pair < FACTORS; pair += 2)
        for (int half = 0; half < 2; half++)
            gain += (double)f[(pair * WIDTH + lane) * 2 + half] * (double)f[((pair + 1) * WIDTH + lane) * 2 + half];
    for (int c = 0; c < CHAINS; c++)
        sum += (double)b->starts[c * WIDTH + lane] + (double)(item & MASK) + PAIRS * gain;
    return (float)sum;
}

static clf_status bf16_verify(void *state, clfi_verdict *out)
{
    bf16 *b = state;
    float want[MASK + 1][WIDTH], *got;
    size_t wrong = 0;
    CLF_TRY(clfi_peak_results(b, b->items * WIDTH, sizeof *got, &got));
    for (size_t i = 0; i <= MASK; i++)
        for (int lane = 0; lane < WIDTH; lane++)
            want[i][lane] = expected(b, i, lane);
    for (size_t i = 0; i < b->items * WIDTH; i++)
        wrong += !(got[i] == want[i / WIDTH & MASK][i % WIDTH]);
    free(got);
    *out = clfi_peak_exact(wrong);
    return CLF_OK;
}

static const clfi_workload_type bf16_type = {
    .engines = bf16_engines, .prepare = bf16_prepare, .verify = bf16_verify, .run = clfi_peak_run, .release = clfi_peak_release};

clf_status clfi_peak_bf16(clfi_workload_list *list, double flops)
{
    clfi_workload workload = {.id = "arithmetic/bf16", .op = "arithmetic", .type = &bf16_type, .flops = flops};
    if (!(flops >= FLOPS_UNIT) || fmod(flops, FLOPS_UNIT) != 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "bfloat16: expected a multiple of %d operations, found %g", FLOPS_UNIT, flops);
    workload.work = json_pack("{s:s, s:s, s:f, s:i, s:s}", "operation", "multiply-add", "type", "bf16 into fp32", "flops", flops, "seed",
                              SEED, "measures", "bf16_gflops");
    return clfi_peak_add(list, &workload, &flops, sizeof flops);
}
