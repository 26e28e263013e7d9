/* SPDX-License-Identifier: MIT */
/* What every benchmark shares. */
#include "support/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t bench_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void bench_check(clf_status status, const char *what)
{
    if (status == CLF_OK)
        return;
    fprintf(stderr, "%s: %s: %s\n", what, clf_status_text(status), clf_last_error());
    exit(1);
}

void bench_fill(float *out, size_t count, float low, float high, uint64_t seed)
{
    for (size_t i = 0; i < count; i++) { /* SplitMix64 (Steele, Lea & Flood 2014) */
        uint64_t z = seed += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        z ^= z >> 31;
        out[i] = low + (high - low) * ((float)(z >> 40) * 0x1p-24f);
    }
}

void bench_samples_add(bench_samples *samples, double ns)
{
    if (samples->count == samples->capacity) {
        samples->capacity = samples->capacity ? 2 * samples->capacity : 64;
        samples->ns = realloc(samples->ns, samples->capacity * sizeof *samples->ns);
        if (!samples->ns)
            abort();
    }
    samples->ns[samples->count++] = ns;
}

void bench_samples_free(bench_samples *samples)
{
    free(samples->ns);
    *samples = (bench_samples){NULL, 0, 0};
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double bench_quantile(const bench_samples *samples, double q)
{
    if (samples->count == 0)
        return 0;
    double *sorted = malloc(samples->count * sizeof *sorted);
    if (!sorted)
        abort();
    memcpy(sorted, samples->ns, samples->count * sizeof *sorted);
    qsort(sorted, samples->count, sizeof *sorted, by_value);
    const double place = q * (double)(samples->count - 1);
    const size_t low = (size_t)place, high = low + 1 < samples->count ? low + 1 : low;
    const double value = sorted[low] + (place - (double)low) * (sorted[high] - sorted[low]);
    free(sorted);
    return value;
}

void bench_measure(bench_function run, void *user, size_t warm_up, double min_seconds, size_t min_samples, bench_samples *out)
{
    for (size_t i = 0; i < warm_up; i++)
        run(user);
    const uint64_t start = bench_now_ns();
    for (uint64_t now = start; (double)(now - start) < min_seconds * 1e9 || out->count < min_samples;) {
        const uint64_t before = bench_now_ns();
        run(user);
        now = bench_now_ns();
        bench_samples_add(out, (double)(now - before));
    }
}

json_t *bench_samples_json(const bench_samples *samples)
{
    json_t *list = json_array();
    for (size_t i = 0; i < samples->count; i++)
        json_array_append_new(list, json_real(samples->ns[i] / 1e6));
    return json_pack("{s:f, s:f, s:f, s:o}", "median_ms", bench_quantile(samples, 0.5) / 1e6, "p10_ms",
                     bench_quantile(samples, 0.1) / 1e6, "p90_ms", bench_quantile(samples, 0.9) / 1e6, "samples_ms", list);
}

json_t *bench_device_json(const clf_context *context)
{
    const clf_device_info *d = clf_context_device(context);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:i}", "device", d->name, "platform", d->platform_name, "driver", d->driver_version,
                     "opencl_c", d->opencl_c_version, "library", clf_version(), "compute_units", (int)d->compute_units);
}

void bench_print_json(json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(6));
    if (text)
        puts(text);
    free(text);
    json_decref(object);
}

const char *bench_option(int argc, char **argv, const char *name)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return argv[i + 1];
    return NULL;
}

int bench_flag(int argc, char **argv, const char *name)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return 1;
    return 0;
}

size_t bench_size(int argc, char **argv, const char *name, size_t standard)
{
    const char *text = bench_option(argc, argv, name);
    if (!text)
        return standard;
    char *end;
    const unsigned long long value = strtoull(text, &end, 10);
    if (*end || value == 0) {
        fprintf(stderr, "%s: expected a whole number from 1, found \"%s\"\n", name, text);
        exit(2);
    }
    return (size_t)value;
}
