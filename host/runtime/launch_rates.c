/* SPDX-License-Identifier: MIT */
/* Measures how fast a device computes and copies, for the estimates of launches. */
#include "runtime/launch_rates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "runtime/aside.h"
#include "runtime/buffer.h"
#include "runtime/kept_text.h"
#include "runtime/launch.h"

enum {
    TRIES = 3,
    GROUP = 64,
    VECTOR = 16, /* bytes of a float4 */
    COPY_BYTES = 16 << 20,
    ITEMS_PER_LANE = 32,
    ROUND_MULTIPLY_ADDS = 16,
    WANTED_NS = 2000000 /* time of the multiply-adds by the guessed rate */
};

/* Kernels are assumed to reach a quarter of the multiply-adds of plain loops, and half of the bandwidth of a copy. A rate this many times
 * faster than the guess means that the kernels did not run at all, and the guess stays. A rate this many times slower was not measured on
 * an idle device, and the guess is divided by SLOWER instead. */
#define KEPT_ARITHMETIC 0.25
#define KEPT_BANDWIDTH 0.5
#define FASTER_ARITHMETIC 8.0
#define FASTER_BANDWIDTH 64.0
#define SLOWER 16.0

typedef struct measurement {
    clf_buffer *x, *y;
    size_t items; /* work-items of the arithmetic */
    int rounds;
} measurement;

static clf_status launch_multiply_adds(clf_context *context, const measurement *m)
{
    const clf_kernel_spec spec = clfi_kernel_spec("launch_rates.cl", "rate_multiply_add");
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_buffer(&launch, m->x);
    clfi_arg_int(&launch, m->rounds);
    return clfi_launch_1d(&launch, m->items / GROUP, GROUP);
}

static clf_status launch_copy(clf_context *context, const measurement *m)
{
    const clf_kernel_spec spec = clfi_kernel_spec("launch_rates.cl", "rate_copy");
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_buffer(&launch, m->x);
    clfi_arg_buffer(&launch, m->y);
    return clfi_launch_1d(&launch, COPY_BYTES / VECTOR / GROUP, GROUP);
}

/* Time of the shortest of TRIES launches. A launch before them does not count, because it may build the kernel. */
static clf_status shortest(clf_context *context, const measurement *m, clf_status (*launch)(clf_context *, const measurement *),
                           double *out)
{
    for (int i = 0; i <= TRIES; i++) {
        const uint64_t begun_ns = clfi_now_ns();
        CLF_TRY(launch(context, m));
        CLF_TRY(clfi_context_wait(context));
        const double ns = (double)(clfi_now_ns() - begun_ns);
        if (i == 1 || (i > 1 && ns < *out))
            *out = ns;
    }
    return CLF_OK;
}

static clf_status clear_operand(const measurement *m)
{
    void *zeros;
    CLF_TRY(clfi_alloc(COPY_BYTES, 1, "launch rates", &zeros));
    const clf_status st = clfi_buffer_write(m->x, 0, zeros, COPY_BYTES);
    free(zeros);
    return st;
}

static clf_status run(clf_context *context, const measurement *m, double *out_multiply_adds, double *out_bytes)
{
    double arithmetic_ns = 1, copy_ns = 1;
    CLF_TRY(clear_operand(m));
    CLF_TRY(clfi_context_wait(context));
    CLF_TRY(shortest(context, m, launch_multiply_adds, &arithmetic_ns));
    CLF_TRY(shortest(context, m, launch_copy, &copy_ns));
    *out_multiply_adds = KEPT_ARITHMETIC * (double)m->items * m->rounds * ROUND_MULTIPLY_ADDS / arithmetic_ns;
    *out_bytes = KEPT_BANDWIDTH * 2.0 * COPY_BYTES / copy_ns;
    return CLF_OK;
}

static clf_status measure(clf_context *context, double *out_multiply_adds, double *out_bytes)
{
    const clf_device_caps *caps = &context->device.caps;
    const size_t most = COPY_BYTES / VECTOR, wanted = (size_t)caps->compute_units * (size_t)caps->unit_lanes * ITEMS_PER_LANE;
    measurement m = {.items = wanted < most ? wanted / GROUP * GROUP : most};
    m.items = m.items < GROUP ? GROUP : m.items;
    m.rounds = 1 + (int)(context->budget.multiply_adds_per_ns * WANTED_NS / (double)(m.items * ROUND_MULTIPLY_ADDS));
    clf_status st = clfi_buffer_create(context, COPY_BYTES, &m.x);
    if (st == CLF_OK)
        st = clfi_buffer_create(context, COPY_BYTES, &m.y);
    if (st == CLF_OK)
        st = run(context, &m, out_multiply_adds, out_bytes);
    clfi_buffer_release(m.x);
    clfi_buffer_release(m.y);
    return st;
}

static double larger(double a, double b)
{
    return a < b ? b : a;
}

static clf_status measure_aside(clf_context *context, double *out_multiply_adds, double *out_bytes)
{
    const clf_aside aside = clfi_aside_begin_undumped(context);
    const clf_status st = measure(context, out_multiply_adds, out_bytes);
    clfi_aside_end(context, aside);
    return st;
}

/* Reads the rates from the cache, or measures them. */
static clf_status find(clf_context *context, double *out_multiply_adds, double *out_bytes)
{
    const clf_kernel_spec spec = clfi_kernel_spec("launch_rates.cl", "rate_copy");
    char text[CLFI_KEPT_BYTES];
    clf_kept_key key;
    CLF_TRY(clfi_kept_find(context, "rates", &spec, &key)); /* a changed kernel file has another key: its rates are measured again */
    if (clfi_kept_read(context, &key, text) && sscanf(text, "%lg %lg", out_multiply_adds, out_bytes) == 2)
        return CLF_OK;
    CLF_TRY(measure_aside(context, out_multiply_adds, out_bytes));
    snprintf(text, sizeof text, "%.6g %.6g", *out_multiply_adds, *out_bytes);
    clfi_kept_write(context, &key, text);
    return CLF_OK;
}

clf_status clfi_float_gflops(clf_context *context, double *out)
{
    double multiply_adds, bytes;
    CLF_TRY(find(context, &multiply_adds, &bytes));
    *out = 2 * multiply_adds / KEPT_ARITHMETIC;
    return CLF_OK;
}

void clfi_launch_rates(clf_context *context)
{
    char reason[CLFI_REASON_BYTES];
    clf_launch_budget *budget = &context->budget;
    double multiply_adds = 0, bytes = 0;
    budget->is_measured = true;
    clfi_reason_keep(reason);
    const clf_status st = find(context, &multiply_adds, &bytes);
    if (st != CLF_OK || multiply_adds > FASTER_ARITHMETIC * budget->multiply_adds_per_ns ||
        bytes > FASTER_BANDWIDTH * budget->bytes_per_ns) {
        clfi_log(context, CLF_LOG_INFO, "launch rates: not measured, guesses are used: %s",
                 st == CLF_OK ? "the device does not seem to run kernels" : clf_last_error());
        clfi_reason_restore(reason);
        return;
    }
    budget->multiply_adds_per_ns = larger(budget->multiply_adds_per_ns / SLOWER, multiply_adds);
    budget->bytes_per_ns = larger(budget->bytes_per_ns / SLOWER, bytes);
    clfi_log(context, CLF_LOG_INFO, "launch rates: %.3g multiply-adds and %.3g bytes in a nanosecond", budget->multiply_adds_per_ns,
             budget->bytes_per_ns);
    clfi_reason_restore(reason);
}
