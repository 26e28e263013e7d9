/* SPDX-License-Identifier: MIT */
/* Computes the figures of a result from its samples: median and spread, rate, and the share of a device limit that was measured in the
 * same rounds. */
#ifndef CLFI_BENCH_FIGURES_H
#define CLFI_BENCH_FIGURES_H

#include "bench/run.h"

typedef struct clfi_figures {
    clfi_summary wall;       /* ms */
    double device_median_ms; /* NaN: not known */
    bool is_noisy;
    double rate;    /* from the median of wall time */
    char unit[24];  /* "GFLOP/s", "GB/s", "texts/s", or "us" where only the time itself counts */
    double percent; /* share of the limit that the workload names, the median over rounds. Each round divides the rate of the row by that
                       of the best row that measures the limit, so that load of the machine changes both. NaN: no limit, or not measured */
} clfi_figures;

/* INVALID_ARGUMENT: the row has no samples. OUT_OF_MEMORY. */
clf_status clfi_row_figures(const clfi_bench *bench, const clfi_row *row, clfi_figures *out);

/* The limit of a device by name: the best of all rows whose workload "measures" it; NaN: there is none. A limit is what the device can
 * do, so each row contributes the 10 % quantile of its times (McCalpin's STREAM takes the best run). Load of the machine would change
 * the median. Limits that end in _us are in microseconds, and the least is the best. Those that end in _gbps are in 10^9 bytes per
 * second, all others in 10^9 operations per second. */
double clfi_device_limit(const clfi_bench *bench, size_t device, const char *key);

#endif
