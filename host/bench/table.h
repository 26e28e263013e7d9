/* SPDX-License-Identifier: MIT */
/* The results of a run for people: one table per op, with a block for each workload and its devices and engines as rows. */
#ifndef CLFI_BENCH_TABLE_H
#define CLFI_BENCH_TABLE_H

#include <stdio.h>

#include "bench/run.h"

/* Times are wall time. "x" is how many times faster a row is than the base line. That is the slowest verified row of the workload, or the
 * row that `baseline` names, where the workload has it ("device", "device:engine" or ":engine"; a device by index or part of its name).
 * FAILED rows come last and have no figures; '~' marks a spread above 10 %. OUT_OF_MEMORY. */
clf_status clfi_table_print(const clfi_bench *bench, const char *baseline, FILE *out);

/* INVALID_ARGUMENT: no row of the run, whose devices are open, is what `baseline` names. */
clf_status clfi_table_check_baseline(const clfi_bench *bench, const char *baseline);

#endif
