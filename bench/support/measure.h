/* SPDX-License-Identifier: MIT */
/* Shared by the benchmark programs: options, and a workload of the catalogue verified, timed and described. They exit with a message on
 * failure, since a benchmark has nothing to clean up. */
#ifndef CLF_BENCH_MEASURE_H
#define CLF_BENCH_MEASURE_H

#include <stdbool.h>

#include "bench/samples.h"
#include "runtime/context.h"
#include "workload/workload.h"

/* Exits with the library's reason on failure. */
#define BENCH_OK(call) bench_check((call), #call)
void bench_check(clf_status status, const char *what);

/* Checks argv against a usage such as "PROGRAM MODEL_DIR [--batch B] [--json]" with `positional` leading arguments: exits with the usage
 * and 2 where it does not fit, with the usage and 0 for --help. */
void bench_arguments(int argc, char **argv, int positional, const char *usage);

/* Value after `name` in argv ("--batch", "8"), or NULL; whether a flag is there; a whole number from 1. */
const char *bench_option(int argc, char **argv, const char *name);
bool bench_flag(int argc, char **argv, const char *name);
size_t bench_size(int argc, char **argv, const char *name, size_t standard);
double bench_seconds(int argc, char **argv, double standard); /* of --seconds */

/* A workload on one engine, ready to run. */
typedef struct bench_row {
    const clfi_workload *workload;
    const char *engine;
    void *state;
    clfi_verdict verdict;
    clfi_samples wall_ms, device_ms; /* device_ms: only where it is known */
} bench_row;

/* Prepares and verifies; false where the engine cannot run it. Exits where the result is wrong. */
bool bench_row_open(const clfi_workload *workload, clf_context *context, const char *engine, bench_row *out);
void bench_row_sample(bench_row *row); /* one run */
void bench_row_close(bench_row *row);

/* A turn among others: one run dropped, which finds the caches as the one before left them, then BENCH_TURN_RUNS. Their median in ms. */
enum { BENCH_TURN_RUNS = 3 };
double bench_row_turn(bench_row *row);

/* Waits for a line on standard input; false at its end. What was printed is flushed first. */
bool bench_is_turn(void);

/* Runs until min_seconds and min_samples are both reached, after dropping `warm_up` runs. */
void bench_row_measure(bench_row *row, size_t warm_up, double min_seconds, size_t min_samples);

/* Opens the only engine of the only workload of a list and measures it. */
void bench_row_single(const clfi_workload_list *list, clf_context *context, size_t warm_up, double min_seconds, size_t min_samples,
                      bench_row *out);

clfi_summary bench_summary(const clfi_samples *samples);

/* {"median_ms", "p10_ms", "p90_ms", "samples_ms", "max_error", "error_bound", "work"} with device, driver and library. */
json_t *bench_row_json(const bench_row *row, const clf_context *context);

/* Prints one JSON object on a line of its own and releases it. */
void bench_print_json(json_t *object);

#endif
