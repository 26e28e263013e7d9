/* SPDX-License-Identifier: MIT */
/* Figures derived from samples: median and spread, rate, and the share of the device's own limit as measured in the same rounds. */
#ifndef CLFI_BENCH_FIGURES_H
#define CLFI_BENCH_FIGURES_H

#include "bench/run.h"

typedef struct clfi_figures {
    clfi_summary wall;       /* ms */
    double device_median_ms; /* NaN: not known */
    bool is_noisy;
    double rate;    /* from the median of wall time */
    char unit[24];  /* "GFLOP/s", "GB/s", "texts/s", or "us" where only the time itself counts */
    double percent; /* of the limit that the workload names, the median over rounds. In each round its rate is divided by that of the best
                         row that measures the limit, so that load of the machine moves both. NaN: no limit, or not measured */
} clfi_figures;

/* INVALID_ARGUMENT: a row without samples. */
clf_status clfi_row_figures(const clfi_bench *bench, const clfi_row *row, clfi_figures *out);

/* The device's limit by name, the best of all rows whose workload "measures" it; NaN where there is none. A limit is what the device can
 * do: the 10 % quantile of the times stands for it (McCalpin's STREAM takes the best run), not the median, which load of the machine moves.
 * Names that end in _gbps count bytes, in _us microseconds (the least is the best), others operations; in units of 10^9 per second. */
double clfi_device_limit(const clfi_bench *bench, size_t device, const char *key);

#endif
