/* SPDX-License-Identifier: MIT */
/* Measures the peak rate of a device's matrix unit, which the choice of engines uses. */
#include "runtime/matrix_rate.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "runtime/aside.h"
#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "runtime/launch_rates.h"
#include "runtime/probe.h"
#include "runtime/slot.h"

enum { SIDE = 16, MOST_LINES = 6 * SIDE, MASK = 63, GROUPS_PER_UNIT = 8, FIRST_ROUNDS = 16, MOST_ROUNDS = 1 << 20, TRIES = 3 };
static const double WANTED_NS = 2e6;

typedef struct unit_loop {
    clf_context *context;
    const char *kernel;
    int m, n, lanes, rounds;
    size_t groups;
    clf_buffer *x, *out;
} unit_loop;

static clf_kernel_spec rate_spec(const clf_context *context, const char *kernel, int m, int n)
{
    const clf_device_caps *caps = &context->device.caps;
    clf_kernel_spec spec = clfi_kernel_spec(clfi_matrix_unit_is_cpu(caps->matrix_unit) ? "bf16_rate.cl" : "matrix_rate.cl", kernel);
    clfi_spec_matrix_unit(&spec, caps->matrix_unit, caps->emulates_matrix_unit);
    clfi_spec_int(&spec, "WAVES", CLFI_MATRIX_RATE_WAVES);
    clfi_spec_int(&spec, "BLOCKS_M", m);
    clfi_spec_int(&spec, "BLOCKS_N", n);
    return spec;
}

clf_kernel_spec clfi_matrix_rate_spec(const clf_context *context, int m, int n)
{
    return rate_spec(context, "matrix_rate", m, n);
}

/* Chooses how many blocks of results (m x n) a wave keeps in registers. With few lanes, a block takes many registers of each lane. An
 * emulated unit takes long to compile. Both get fewer blocks. The kernel of a CPU's unit has 2 x 2. */
static unit_loop loop_on(const clf_context *context)
{
    const clf_device_caps *caps = &context->device.caps;
    const bool is_cpu = clfi_matrix_unit_is_cpu(caps->matrix_unit);
    const int lanes = clfi_matrix_unit_info(caps->matrix_unit)->lanes, many = caps->emulates_matrix_unit && !is_cpu ? 1 : 2;
    return (unit_loop){.context = (clf_context *)context, /* clfi_slot_get says why this cast is safe */
                       .kernel = "matrix_rate",
                       .m = lanes < 32 || many == 1 ? many : 4,
                       .n = lanes < 32 && !is_cpu ? 1 : many,
                       .lanes = lanes,
                       .groups = (size_t)GROUPS_PER_UNIT * caps->compute_units};
}

static clf_status launch_once(const unit_loop *m, double *out_ns)
{
    const clf_kernel_spec spec = rate_spec(m->context, m->kernel, m->m, m->n);
    clf_launch launch = clfi_launch(m->context, &spec);
    clfi_arg_buffer(&launch, m->x);
    clfi_arg_int(&launch, MASK);
    clfi_arg_int(&launch, m->rounds);
    clfi_arg_buffer(&launch, m->out);
    const uint64_t begun_ns = clfi_now_ns();
    CLF_TRY(clfi_launch_1d(&launch, m->groups, (size_t)(CLFI_MATRIX_RATE_WAVES * m->lanes)));
    CLF_TRY(clfi_context_wait(m->context));
    *out_ns = (double)(clfi_now_ns() - begun_ns);
    return CLF_OK;
}

/* Doubles the rounds until a launch takes WANTED_NS, so that its start-up time hardly counts. Then the shortest of several launches is
 * the result. */
static clf_status run(unit_loop *m, double *out_gflops)
{
    float values[MOST_LINES * SIDE];
    double ns, least = 0;
    for (int i = 0; i < MOST_LINES * SIDE; i++)
        values[i] = (float)(i * 37 % 15 - 7);
    CLF_TRY(clfi_buffer_write(m->x, 0, values, sizeof values));
    m->rounds = FIRST_ROUNDS;
    CLF_TRY(launch_once(m, &ns)); /* not counted: builds the kernel */
    for (;; m->rounds *= 2) {
        CLF_TRY(launch_once(m, &least));
        if (least >= WANTED_NS || m->rounds >= MOST_ROUNDS)
            break;
    }
    for (int i = 0; i < TRIES; i++) {
        CLF_TRY(launch_once(m, &ns));
        least = ns < least ? ns : least;
    }
    *out_gflops = 2.0 * SIDE * SIDE * SIDE * m->m * m->n * m->rounds * CLFI_MATRIX_RATE_WAVES * (double)m->groups / least;
    return CLF_OK;
}

static clf_status measure_kernel(clf_context *context, const char *kernel, double *out_gflops)
{
    unit_loop m = loop_on(context);
    m.kernel = kernel;
    clf_status st = clfi_buffer_create(context, MOST_LINES * SIDE * sizeof(float), &m.x);
    if (st == CLF_OK)
        st = clfi_buffer_create(context, m.groups * CLFI_MATRIX_RATE_WAVES * SIDE * SIDE * sizeof(float), &m.out);
    if (st == CLF_OK)
        st = run(&m, out_gflops);
    clfi_buffer_release(m.x);
    clfi_buffer_release(m.out);
    return st;
}

/* The launch budget's rate of float32 is not that of a register tile, which a CPU reaches. */
static clf_status measure_floats(clf_context *context, double *out_gflops)
{
    return clfi_matrix_unit_is_cpu(context->device.caps.matrix_unit) ? measure_kernel(context, "float_rate", out_gflops)
                                                                     : clfi_float_gflops(context, out_gflops);
}

static clf_status measure_aside(clf_context *context, clf_matrix_rates *out)
{
    const clf_aside aside = clfi_aside_begin_undumped(context);
    clf_status st = measure_floats(context, &out->floats);
    if (st == CLF_OK)
        st = measure_kernel(context, "matrix_rate", &out->unit);
    clfi_aside_end(context, aside);
    return st;
}

clf_status clfi_matrix_rates_key(const clf_context *context, clf_kept_key *out)
{
    const unit_loop m = loop_on(context);
    const clf_kernel_spec spec = clfi_matrix_rate_spec(context, m.m, m.n);
    return clfi_kept_find(context, "matrix-rates", &spec, out);
}

static bool read_kept(const clf_context *context, const clf_kept_key *key, clf_matrix_rates *out)
{
    char text[CLFI_KEPT_BYTES];
    return clfi_kept_read(context, key, text) && sscanf(text, "%lg %lg", &out->unit, &out->floats) == 2 && out->unit > 0 && out->floats > 0;
}

clf_matrix_rates clfi_matrix_rates_kept(const clf_context *context)
{
    clf_kept_key key;
    clf_matrix_rates rates = {0};
    const bool is_there = context->device.caps.matrix_unit != CLFI_MATRIX_NONE && clfi_matrix_rates_key(context, &key) == CLF_OK &&
                          read_kept(context, &key, &rates);
    return is_there ? rates : (clf_matrix_rates){0};
}

static clf_status measure(clf_context *context, clf_matrix_rates *out)
{
    clf_kept_key key;
    char text[CLFI_KEPT_BYTES];
    CLF_TRY(clfi_matrix_rates_key(context, &key));
    CLF_TRY(measure_aside(context, out));
    snprintf(text, sizeof text, "%.6g %.6g", out->unit, out->floats);
    clfi_kept_write(context, &key, text);
    return CLF_OK;
}

typedef struct rates_state {
    bool is_found;
    clf_matrix_rates rates;
    char failure[CLFI_REASON_BYTES];
} rates_state;

clf_matrix_rates clfi_matrix_rates(const clf_context *context)
{
    static const clf_slot_type rates_slot = {"rates of the matrix unit", sizeof(rates_state), NULL};
    rates_state *state;
    char reason[CLFI_REASON_BYTES];
    if (!clfi_probe(context, CLFI_PROBE_MATRIX) || clfi_slot_get(context, &rates_slot, &state) != CLF_OK)
        return (clf_matrix_rates){0};
    if (state->is_found)
        return state->rates;
    state->is_found = true;
    state->rates = clfi_matrix_rates_kept(context);
    clfi_reason_keep(reason);
    if (state->rates.unit == 0 && measure((clf_context *)context, &state->rates) != CLF_OK) {
        clfi_reason_keep(state->failure);
        clfi_log(context, CLF_LOG_INFO, "rates of the matrix unit: %s", state->failure);
        state->rates = (clf_matrix_rates){.failure = state->failure};
    }
    clfi_reason_restore(reason);
    return state->rates;
}
