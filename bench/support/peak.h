/* SPDX-License-Identifier: MIT */
/* The limits of a device, measured by kernels of the benchmark's own: float32 multiply-adds from registers, and memory read and copied. */
#ifndef CLF_BENCH_PEAK_H
#define CLF_BENCH_PEAK_H

#include "clformer/context.h"
#include "support/bench.h"

/* Wall time; or, on a CPU that other programs use too, the processor time of this one divided by its threads. */
typedef struct bench_clock {
    int cpu_threads; /* 0: wall time */
} bench_clock;

double bench_clock_ns(const bench_clock *clock);

typedef struct bench_peak bench_peak;

/* Exits with a message on failure, as all of the benchmarks' support does. */
bench_peak *bench_peak_create(clf_context *context, bench_clock clock);
void bench_peak_destroy(bench_peak *peak);

/* One sample each, of at least some milliseconds. GFLOP/s count a multiply-add as two; GB/s count bytes read plus bytes written. */
double bench_peak_gflops(bench_peak *peak);
double bench_peak_read_gbs(bench_peak *peak);
double bench_peak_copy_gbs(bench_peak *peak);

#endif
