/* SPDX-License-Identifier: MIT */
/* Prints the results of a run for people: one table per op, with a block for each workload, whose rows are devices and engines. */
#ifndef CLFI_BENCH_TABLE_H
#define CLFI_BENCH_TABLE_H

#include <stdio.h>

#include "bench/run.h"

/* Times are wall times. "x" is how many times faster a row is than the base line, which is the slowest verified row of the workload.
 * `baseline` ("device", "device:engine" or ":engine"; a device by index or part of its name; NULL: none) makes the fastest row that it
 * names the base line. If it names no row of a workload, "x" is "-". FAILED rows come last and have no figures; '~' marks a spread above
 * 10 %. OUT_OF_MEMORY. */
clf_status clfi_table_print(const clfi_bench *bench, const char *baseline, FILE *out);

/* INVALID_ARGUMENT: `baseline` names no row of the run. To be called after the rows are known. */
clf_status clfi_table_check_baseline(const clfi_bench *bench, const char *baseline);

#endif
