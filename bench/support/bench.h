/* SPDX-License-Identifier: MIT */
/* What every benchmark shares: timing by the samples' quantiles, random data, a device session, JSON output. Nothing here is part of
 * the library. */
#ifndef CLF_BENCH_BENCH_H
#define CLF_BENCH_BENCH_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "clformer/context.h"

uint64_t bench_now_ns(void);

/* Exits with a message on failure: a benchmark has nothing to clean up. */
#define BENCH_OK(call) bench_check((call), #call)
void bench_check(clf_status status, const char *what);

/* Uniform in [low, high), the same on every machine; never zeros. */
void bench_fill(float *out, size_t count, float low, float high, uint64_t seed);

/* Times of one contestant, in nanoseconds. */
typedef struct bench_samples {
    double *ns;
    size_t count, capacity;
} bench_samples;

void bench_samples_add(bench_samples *samples, double ns);
void bench_samples_free(bench_samples *samples);
double bench_quantile(const bench_samples *samples, double q); /* q in [0,1], linear between samples */

/* Calls run(user) until min_seconds and min_samples are both reached, after dropping `warm_up` calls; run must wait for the device. */
typedef void (*bench_function)(void *user);
void bench_measure(bench_function run, void *user, size_t warm_up, double min_seconds, size_t min_samples, bench_samples *out);

/* {"median_ms", "p10_ms", "p90_ms", "samples_ms"}. */
json_t *bench_samples_json(const bench_samples *samples);

/* Device, driver and library, for the head of a record. */
json_t *bench_device_json(const clf_context *context);

/* Prints one JSON object on a line of its own and releases it. */
void bench_print_json(json_t *object);

/* Value after `name` in argv ("--batch", "8"), or NULL; and whether a flag is there. */
const char *bench_option(int argc, char **argv, const char *name);
int bench_flag(int argc, char **argv, const char *name);
size_t bench_size(int argc, char **argv, const char *name, size_t standard);

#endif
