/* SPDX-License-Identifier: MIT */
/* Functions that the benchmark programs share: they read options, and verify, time and describe a workload of the catalogue. On failure
 * they exit with a message, because a benchmark has nothing to clean up. */
#ifndef CLF_BENCH_MEASURE_H
#define CLF_BENCH_MEASURE_H

#include <stdbool.h>

#include "bench/samples.h"
#include "runtime/context.h"
#include "workload/workload.h"

/* Exits with the library's reason if the call failed. */
#define BENCH_OK(call) bench_check((call), #call)
void bench_check(clf_status status, const char *what);

/* Checks argv against a usage such as "PROGRAM MODEL_DIR [--batch B] [--json]" with `positional` leading arguments. If argv does not
 * fit, prints the usage and exits with 2; for --help, prints the usage and exits with 0. */
void bench_arguments(int argc, char **argv, int positional, const char *usage);

/* bench_option: the value after `name` in argv ("--batch", "8"), NULL without it. bench_flag: whether a flag is there. bench_size: a
 * whole number from 1, `standard` without the option; exits with 2 for another value. */
const char *bench_option(int argc, char **argv, const char *name);
bool bench_flag(int argc, char **argv, const char *name);
size_t bench_size(int argc, char **argv, const char *name, size_t standard);
double bench_seconds(int argc, char **argv, double standard); /* the value of --seconds, above 0 */

/* A workload on one engine, ready to run. */
typedef struct bench_row {
    const clfi_workload *workload;
    const char *engine;
    void *state;
    clfi_verdict verdict;
    clfi_samples wall_ms, device_ms; /* device_ms: empty if not known */
} bench_row;

/* Prepares and verifies; the caller closes *out. Returns false if the engine does not support the workload; *out needs no closing then.
 * Exits if the result is wrong or on other failures. */
bool bench_row_open(const clfi_workload *workload, clf_context *context, const char *engine, bench_row *out);
void bench_row_sample(bench_row *row); /* runs once and keeps the times */
void bench_row_close(bench_row *row);

/* Takes a turn: one run that is dropped, because another row used the caches before, then BENCH_TURN_RUNS runs. Returns their median in
 * ms. */
enum { BENCH_TURN_RUNS = 3 };
double bench_row_turn(bench_row *row);

/* Flushes standard output and waits for a line on standard input; false: standard input has ended. */
bool bench_is_turn(void);

/* Drops earlier samples and `warm_up` runs, then runs until min_seconds and min_samples are both reached. */
void bench_row_measure(bench_row *row, size_t warm_up, double min_seconds, size_t min_samples);

/* Opens the only workload of a list on its first engine and measures it. */
void bench_row_single(const clfi_workload_list *list, clf_context *context, size_t warm_up, double min_seconds, size_t min_samples,
                      bench_row *out);

clfi_summary bench_summary(const clfi_samples *samples);

/* {"median_ms", "p10_ms", "p90_ms", "samples_ms", "max_error", "error_bound", "work"} with device, driver and library. The caller
 * releases it. */
json_t *bench_row_json(const bench_row *row, const clf_context *context);

/* Prints one JSON object on a line of its own and releases it. */
void bench_print_json(json_t *object);

#endif
