/* SPDX-License-Identifier: MIT */
/* Workloads "arithmetic/matrix" and "arithmetic/bf16": products of 16-bit numbers on a matrix unit, from a GPU's registers or a CPU's
 * first-level cache. All numbers
 * are whole and below 2^24, so the check is exact. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "runtime/launch.h"
#include "runtime/matrix_rate.h"
#include "runtime/probe.h"
#include "workload/peak.h"
#include "workload/peak_run.h"

enum {
    SEED = 17,
    SIDE = 16, /* of a block */
    WAVES = CLFI_MATRIX_RATE_WAVES,
    MASK = 63,
    MOST_ROUNDS = 512,
    MOST_LINES = 6 * SIDE,
    FLOPS_OF_PRODUCT = 2 * SIDE * SIDE * SIDE,
    FLOPS_UNIT = 1 << 20
};

static const char gpu_id[] = "arithmetic/matrix", cpu_id[] = "arithmetic/bf16";

/* An emulated unit is for tests of small sizes: its speed says nothing about the device. */
static const double most_emulated = 0x1p24;

/* Shapes of a wave's results, in blocks, and the lanes of units that have them. Intel's waves have few lanes, so a block takes many
 * registers of each lane. A CPU's unit has one shape. */
static const struct shape {
    const char *name;
    int m, n, least_lanes, most_lanes;
} shapes[] = {{"4x2-blocks", 4, 2, 32, 64},
              {"2x2-blocks", 2, 2, 32, 64},
              {"2x1-blocks", 2, 1, 8, 16},
              {"1x1-blocks", 1, 1, 8, 16},
              {"2x2-tiles", 2, 2, 1, 1}};

typedef struct matrix_peak {
    clf_context *context;
    const struct shape *shape;
    clf_buffer *x, *out;
    size_t waves;
    int rounds;
    float values[MOST_LINES * SIDE];
} matrix_peak;

static clf_status matrix_engines(const clfi_workload *workload, clf_context *context, clfi_engine_list *out)
{
    const clf_device_caps *caps = &context->device.caps;
    if (caps->matrix_unit == CLFI_MATRIX_NONE || clfi_matrix_unit_is_cpu(caps->matrix_unit) != (strcmp(workload->id, cpu_id) == 0))
        CLF_FAIL(CLF_UNSUPPORTED, "%s: the device has no such unit that OpenCL programs can reach", workload->id);
    if (caps->emulates_matrix_unit && workload->flops > most_emulated)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: the matrix unit is emulated", workload->id);
    if (!clfi_probe(context, CLFI_PROBE_MATRIX))
        CLF_FAIL(CLF_UNSUPPORTED, "%s: probe of the matrix unit: %s", workload->id, clfi_probe_text(context, CLFI_PROBE_MATRIX));
    const int lanes = clfi_matrix_unit_info(caps->matrix_unit)->lanes;
    out->count = 0;
    for (size_t i = 0; i < COUNT(shapes); i++)
        if (lanes >= shapes[i].least_lanes && lanes <= shapes[i].most_lanes)
            out->names[out->count++] = shapes[i].name;
    return CLF_OK;
}

static void matrix_release(void *state)
{
    matrix_peak *p = state;
    if (!p)
        return;
    clfi_buffer_release(p->x);
    clfi_buffer_release(p->out);
    free(p);
}

static clf_status matrix_prepare(const clfi_workload *workload, clf_context *context, const char *engine, void **state)
{
    matrix_peak *p;
    size_t at = 0;
    uint32_t random[MOST_LINES * SIDE];
    while (at < COUNT(shapes) && strcmp(shapes[at].name, engine) != 0)
        at++;
    if (at == COUNT(shapes))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: no engine \"%s\"", workload->id, engine);
    CLF_TRY(clfi_alloc(1, sizeof *p, "matrix unit", &p));
    *state = p;
    p->context = context;
    p->shape = &shapes[at];
    const double products = workload->flops / (FLOPS_OF_PRODUCT * p->shape->m * p->shape->n); /* sum of the rounds over all waves */
    p->rounds = products > MOST_ROUNDS * WAVES ? MOST_ROUNDS : (int)(products / WAVES);
    p->waves = (size_t)(products / p->rounds);
    clfi_peak_random(random, COUNT(random), SEED);
    for (size_t i = 0; i < COUNT(random); i++)
        p->values[i] = (float)((int)(random[i] >> 28) - 8); /* from -8 to 7 */
    CLF_TRY(clfi_peak_upload(context, p->values, sizeof p->values, &p->x));
    return clfi_peak_upload_random(context, p->waves * SIDE * SIDE, SEED + 1, &p->out);
}

static clf_status enqueue(void *state)
{
    matrix_peak *p = state;
    const int lanes = clfi_matrix_unit_info(p->context->device.caps.matrix_unit)->lanes;
    const clf_kernel_spec spec = clfi_matrix_rate_spec(p->context, p->shape->m, p->shape->n);
    clf_launch launch = clfi_launch(p->context, &spec);
    clfi_arg_buffer(&launch, p->x);
    clfi_arg_int(&launch, MASK);
    clfi_arg_int(&launch, p->rounds);
    clfi_arg_buffer(&launch, p->out);
    clfi_launch_work(&launch, (double)p->waves * p->rounds * FLOPS_OF_PRODUCT / 2 * p->shape->m * p->shape->n, 0);
    return clfi_launch_1d(&launch, p->waves / WAVES, (size_t)(WAVES * lanes));
}

/* The expected sum without the start value of the wave: at most 8 x 512 x 16 x 64 = 2^22. */
static double expected(const matrix_peak *p, int row, int column)
{
    double sum = 0;
    for (int i = 0; i < p->shape->m; i++)
        for (int j = 0; j < p->shape->n; j++)
            for (int k = 0; k < SIDE; k++)
                sum += (double)p->values[(i * SIDE + row) * SIDE + k] * (double)p->values[((p->shape->m + j) * SIDE + column) * SIDE + k];
    return sum * p->rounds;
}

static clf_status matrix_verify(void *state, clfi_verdict *out)
{
    matrix_peak *p = state;
    const size_t count = p->waves * SIDE * SIDE;
    const int blocks = p->shape->m * p->shape->n;
    float *got;
    size_t wrong = 0;
    CLF_TRY(clfi_peak_once(p->context, enqueue, p));
    CLF_TRY(clfi_alloc(count, sizeof *got, "results", &got));
    const clf_status st = clfi_buffer_read(p->out, 0, got, count * sizeof *got);
    for (int at = 0; at < SIDE * SIDE; at++) {
        const double sum = expected(p, at / SIDE, at % SIDE);
        for (size_t w = 0; w < p->waves; w++)
            wrong += !((double)got[w * SIDE * SIDE + (size_t)at] == sum + (double)(blocks * (int)(w & MASK)));
    }
    free(got);
    *out = clfi_peak_exact(wrong);
    return st;
}

static clf_status matrix_run(void *state, clfi_sample *out)
{
    matrix_peak *p = state;
    return clfi_peak_time(p->context, enqueue, p, out);
}

static const clfi_workload_type matrix_type = {
    .engines = matrix_engines, .prepare = matrix_prepare, .verify = matrix_verify, .run = matrix_run, .release = matrix_release};

clf_status clfi_peak_matrix(clfi_workload_list *list, bool is_cpu, double flops)
{
    clfi_workload workload = {.op = "arithmetic", .type = &matrix_type, .flops = flops};
    if (!(flops >= FLOPS_UNIT) || log2(flops) != floor(log2(flops)))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "matrix unit: %g operations are no power of two from %d on", flops, FLOPS_UNIT);
    snprintf(workload.id, sizeof workload.id, "%s", is_cpu ? cpu_id : gpu_id);
    workload.work = json_pack("{s:s, s:s, s:f, s:i, s:s}", "operation", "multiply-add of blocks", "type", "16 bits into fp32", "flops",
                              flops, "seed", SEED, "measures", CLFI_MATRIX_LIMIT);
    return clfi_peak_add(list, &workload, &flops, sizeof flops);
}
