/* SPDX-License-Identifier: MIT */
/* Workloads "arithmetic/fp32" and "arithmetic/fp16": multiply-adds from registers.
 *
 * A chain maps s to s x1 + y1, that to (...) x2 + y2, and repeats this pair of steps m = `pairs` times. A pair is the map s -> X s + Y with
 * X = x1 x2 and Y = x2 y1 + y2. So the chain ends at X^m s + Y (X^m - 1) / (X - 1), or at s + m Y for X = 1.
 *
 * float32: x1 = -1.37, x2 = -(1 - 2^-9) / 1.37, y1 = 0.3, Y nearly 0, s in (-1, 1) plus an offset of the item below 1/4. So |s| <= 1.3
 * before a pair and |s'| <= 2.1 within it. The rounding error of a pair, fused or not, is at most u (|x2| (|x1 s| + |s'|) + |x2 s'| +
 * |s''|) <= 6 u, u = 2^-24. The next pairs shrink it by X, so a chain errs by at most e = 6 u (1 - X^m) / (1 - X). A sum of C chains errs
 * by at most C e, and its additions by C^2 1.3 u more.
 *
 * float16: x1 = x2 = -1 and whole numbers with |s| <= 2048 throughout, so every step is exact. The chains are summed in float32. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/half.h"
#include "runtime/launch.h"
#include "workload/peak.h"
#include "workload/peak_run.h"

enum { SEED = 3, PAIRS = 512, MASK = 255, GPU_GROUP = 64, MOST_CHAINS = 16, MOST_WIDTH = 16, FLOPS_UNIT = 1 << 22 };

typedef struct engine {
    const char *name;
    int width, chains;
    bool is_cpu;
} engine;

/* CPUs get the width of the hardware's vectors, and twice that width. On other devices compilers split vectors, and some devices execute
 * pairs at once. */
static const engine engines[] = {
    {"w4-chains8", 4, 8, true},   {"w4-chains16", 4, 16, true},   {"w8-chains8", 8, 8, true},  {"w8-chains16", 8, 16, true},
    {"w16-chains8", 16, 8, true}, {"w16-chains16", 16, 16, true}, {"w1-chains8", 1, 8, false}, {"w1-chains16", 1, 16, false},
    {"w2-chains8", 2, 8, false},  {"w4-chains8", 4, 8, false},
};

typedef struct formula {
    const char *name, *measures;
    double x1, y1, x2, y2;
    double scale;     /* offset of a work-item: scale * (item & MASK) */
    double magnitude; /* of the chains' start values */
} formula;

static const formula formulas[] = {
    [CLFI_PEAK_FP32] = {"fp32", "fp32_gflops", (double)-1.37f, (double)0.3f, (double)-0.7285014f, (double)0.21855043f, 0x1p-10, 1},
    [CLFI_PEAK_FP16] = {"fp16", "fp16_gflops", -1, 300, -1, 301, 1, 256},
};

typedef struct arithmetic_parameters {
    clfi_peak_real real;
    double flops;
} arithmetic_parameters;

typedef struct arithmetic {
    clfi_peak_state peak;
    arithmetic_parameters p;
    const engine *engine;
    size_t items, local;
    double starts[MOST_CHAINS * MOST_WIDTH];
} arithmetic;

static bool suits(const clf_device_caps *caps, const engine *e)
{
    if (!caps->is_cpu)
        return !caps->slow_compiler || e->width * e->chains <= 16;
    return e->width == caps->vector_width || (e->width == 2 * caps->vector_width && e->chains == 8);
}

static clf_status arithmetic_engines(const clfi_workload *workload, clf_context *context, clfi_engine_list *out)
{
    const arithmetic_parameters *p = workload->parameters;
    const clf_device_caps *caps = &context->device.caps;
    if (p->real == CLFI_PEAK_FP16 && !caps->has_fp16)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: the device has no cl_khr_fp16", workload->id);
    out->count = 0;
    for (size_t i = 0; i < COUNT(engines); i++)
        if (engines[i].is_cpu == caps->is_cpu && suits(caps, &engines[i]))
            out->names[out->count++] = engines[i].name;
    return CLF_OK;
}

static const engine *find_engine(const clf_context *context, const char *name)
{
    for (size_t i = 0; i < COUNT(engines); i++)
        if (engines[i].is_cpu == context->device.caps.is_cpu && strcmp(engines[i].name, name) == 0)
            return &engines[i];
    return NULL;
}

/* Uploads random start values in the type of the chains; whole numbers for float16. */
static clf_status upload_starts(arithmetic *a)
{
    const formula *f = &formulas[a->p.real];
    const size_t count = (size_t)(a->engine->width * a->engine->chains);
    uint32_t random[COUNT(a->starts)];
    float singles[COUNT(a->starts)];
    uint16_t halves[COUNT(a->starts)];
    clfi_peak_random(random, count, SEED);
    for (size_t i = 0; i < count; i++) {
        const double unit = (double)(random[i] >> 8) * 0x1p-23 - 1;
        singles[i] = (float)(a->p.real == CLFI_PEAK_FP32 ? unit * f->magnitude : rint(unit * f->magnitude));
        halves[i] = clfi_f16_from_f32(singles[i]);
        a->starts[i] = (double)singles[i];
    }
    if (a->p.real == CLFI_PEAK_FP32)
        return clfi_peak_upload(a->peak.context, singles, count * sizeof *singles, &a->peak.source);
    return clfi_peak_upload(a->peak.context, halves, count * sizeof *halves, &a->peak.source);
}

static clf_status enqueue(void *state)
{
    arithmetic *a = state;
    const formula *f = &formulas[a->p.real];
    clf_kernel_spec spec = clfi_peak_spec("peak_multiply_add.cl", "peak_multiply_add");
    clfi_spec_int(&spec, "IS_HALF", a->p.real == CLFI_PEAK_FP16);
    clfi_spec_int(&spec, "WIDTH", a->engine->width);
    clfi_spec_int(&spec, "CHAINS", a->engine->chains);
    clfi_spec_int(&spec, "WG", (long long)a->local);
    clf_launch launch = clfi_launch(a->peak.context, &spec);
    clfi_arg_buffer(&launch, a->peak.source);
    clfi_arg_float(&launch, (float)f->x1);
    clfi_arg_float(&launch, (float)f->y1);
    clfi_arg_float(&launch, (float)f->x2);
    clfi_arg_float(&launch, (float)f->y2);
    clfi_arg_float(&launch, (float)f->scale);
    clfi_arg_int(&launch, MASK);
    clfi_arg_int(&launch, PAIRS);
    clfi_arg_buffer(&launch, a->peak.out);
    clfi_launch_work(&launch, a->peak.work.multiply_adds, a->peak.work.bytes);
    return clfi_launch_1d(&launch, a->items / a->local, a->local);
}

static clf_status arithmetic_prepare(const clfi_workload *workload, clf_context *context, const char *name, void **state)
{
    arithmetic *a;
    const engine *chosen = find_engine(context, name);
    if (!chosen)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: no engine \"%s\"", workload->id, name);
    CLF_TRY(clfi_peak_begin(workload, context, enqueue, sizeof *a, state));
    a = *state;
    a->p = *(const arithmetic_parameters *)workload->parameters;
    a->engine = chosen;
    a->local = context->device.caps.is_cpu ? 1 : GPU_GROUP;
    a->items = (size_t)(a->p.flops / (4.0 * PAIRS * chosen->width * chosen->chains));
    CLF_TRY(upload_starts(a));
    return clfi_peak_upload_random(context, a->items * (size_t)chosen->width, SEED + 1, &a->peak.out);
}

/* The expected result of one lane of a work-item, and the bound on its error. */
static double expected(const arithmetic *a, size_t item, int lane, double *bound)
{
    const formula *f = &formulas[a->p.real];
    const double x = f->x1 * f->x2, y = f->x2 * f->y1 + f->y2, power = pow(x, PAIRS), u = 0x1p-24, chains = a->engine->chains;
    const float offset = (float)(f->scale * (double)(item & MASK));
    double sum = 0;
    for (int c = 0; c < a->engine->chains; c++) {
        const double start = (double)((float)a->starts[c * a->engine->width + lane] + offset);
        sum += x == 1 ? start + PAIRS * y : power * start + y * (power - 1) / (x - 1);
    }
    *bound = a->p.real == CLFI_PEAK_FP32 ? chains * (6 * u * (1 - power) / (1 - x) + chains * 1.3 * u) : 0;
    return sum;
}

/* Keeps the largest error over all items. Results depend on the item only through item & MASK. */
static void compare(const arithmetic *a, const float *got, clfi_verdict *out)
{
    const int width = a->engine->width;
    *out = (clfi_verdict){.passed = true};
    for (size_t first = 0; first <= MASK && first < a->items; first++)
        for (int lane = 0; lane < width; lane++) {
            const double want = expected(a, first, lane, &out->bound);
            for (size_t item = first; item < a->items; item += MASK + 1) {
                const double error = fabs((double)got[item * (size_t)width + (size_t)lane] - want);
                out->passed = out->passed && error <= out->bound;
                if (!(error <= out->error) && !isnan(out->error)) /* a NaN stays */
                    out->error = error;
            }
        }
}

static clf_status arithmetic_verify(void *state, clfi_verdict *out)
{
    arithmetic *a = state;
    const size_t count = a->items * (size_t)a->engine->width;
    float *got;
    CLF_TRY(clfi_peak_results(a, count, sizeof *got, &got));
    compare(a, got, out);
    free(got);
    return CLF_OK;
}

static const clfi_workload_type arithmetic_type = {.engines = arithmetic_engines,
                                                   .prepare = arithmetic_prepare,
                                                   .verify = arithmetic_verify,
                                                   .run = clfi_peak_run,
                                                   .release = clfi_peak_release};

clf_status clfi_peak_arithmetic(clfi_workload_list *list, clfi_peak_real real, double flops)
{
    const arithmetic_parameters p = {real, flops};
    const formula *f = &formulas[real];
    clfi_workload workload = {.op = "arithmetic", .type = &arithmetic_type, .flops = flops};
    if (!(flops >= FLOPS_UNIT) || fmod(flops, FLOPS_UNIT) != 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "arithmetic: expected a multiple of %d operations, found %g", FLOPS_UNIT, flops);
    snprintf(workload.id, sizeof workload.id, "arithmetic/%s", f->name);
    workload.work = json_pack("{s:s, s:s, s:f, s:i, s:s*}", "operation", "multiply-add", "type", f->name, "flops", flops, "seed", SEED,
                              "measures", f->measures);
    return clfi_peak_add(list, &workload, &p, sizeof p);
}
