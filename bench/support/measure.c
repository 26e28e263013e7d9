/* SPDX-License-Identifier: MIT */
/* Implements what the benchmark programs share. */
#include "support/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "io/json.h"

void bench_check(clf_status status, const char *what)
{
    if (status == CLF_OK)
        return;
    fprintf(stderr, "%s: %s: %s\n", what, clf_status_text(status), clf_last_error());
    exit(1);
}

static void refuse_arguments(const char *usage, const char *problem, const char *argument)
{
    fprintf(stderr, "%s%s\nusage: %s\n", problem, argument, usage);
    exit(2);
}

void bench_arguments(int argc, char **argv, int positional, const char *usage)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            printf("usage: %s\n", usage);
            exit(0);
        }
    }
    for (int i = 1; i <= positional; i++)
        if (i >= argc || argv[i][0] == '-')
            refuse_arguments(usage, "missing argument", "");
    for (int i = positional + 1; i < argc; i++) {
        const size_t length = strlen(argv[i]);
        const char *known = strncmp(argv[i], "--", 2) == 0 ? strstr(usage, argv[i]) : NULL;
        while (known && known[length] != ' ' && known[length] != ']')
            known = strstr(known + length, argv[i]);
        if (!known)
            refuse_arguments(usage, "unknown argument: ", argv[i]);
        if (known[length] == ' ' && ++i == argc)
            refuse_arguments(usage, "no value after ", argv[i - 1]);
    }
}

const char *bench_option(int argc, char **argv, const char *name)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return argv[i + 1];
    return NULL;
}

bool bench_flag(int argc, char **argv, const char *name)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return false;
}

size_t bench_size(int argc, char **argv, const char *name, size_t standard)
{
    const char *text = bench_option(argc, argv, name);
    char *end;
    const unsigned long long value = text ? strtoull(text, &end, 10) : standard;
    if (text && (text[0] < '0' || text[0] > '9' || *end || value == 0)) {
        fprintf(stderr, "%s: expected a whole number from 1, found \"%s\"\n", name, text);
        exit(2);
    }
    return (size_t)value;
}

double bench_seconds(int argc, char **argv, double standard)
{
    const char *text = bench_option(argc, argv, "--seconds");
    char *end;
    const double value = text ? strtod(text, &end) : standard;
    if (text && (end == text || *end || !(value > 0))) {
        fprintf(stderr, "--seconds: expected a number above 0, found \"%s\"\n", text);
        exit(2);
    }
    return value;
}

bool bench_row_open(const clfi_workload *workload, clf_context *context, const char *engine, bench_row *out)
{
    *out = (bench_row){.workload = workload, .engine = engine};
    const clf_status st = workload->type->prepare(workload, context, engine, &out->state);
    if (st == CLF_UNSUPPORTED) {
        workload->type->release(out->state);
        return false;
    }
    bench_check(st, workload->id);
    bench_check(workload->type->verify(out->state, &out->verdict), workload->id);
    if (!out->verdict.passed) {
        fprintf(stderr, "%s %s: wrong: error %g, bound %g\n", workload->id, engine, out->verdict.error, out->verdict.bound);
        exit(1);
    }
    return true;
}

static clfi_sample run_once(bench_row *row)
{
    clfi_sample sample;
    bench_check(row->workload->type->run(row->state, &sample), row->workload->id);
    return sample;
}

void bench_row_sample(bench_row *row)
{
    const clfi_sample sample = run_once(row);
    BENCH_OK(clfi_samples_add(&row->wall_ms, sample.wall_ns / 1e6));
    if (sample.device_ns >= 0)
        BENCH_OK(clfi_samples_add(&row->device_ms, sample.device_ns / 1e6));
}

void bench_row_close(bench_row *row)
{
    row->workload->type->release(row->state);
    clfi_samples_free(&row->wall_ms);
    clfi_samples_free(&row->device_ms);
}

double bench_row_turn(bench_row *row)
{
    run_once(row);
    for (int i = 0; i < BENCH_TURN_RUNS; i++)
        bench_row_sample(row);
    const clfi_samples last = {.values = row->wall_ms.values + row->wall_ms.count - BENCH_TURN_RUNS, .count = BENCH_TURN_RUNS};
    return bench_summary(&last).median;
}

bool bench_is_turn(void)
{
    int c;
    fflush(stdout);
    while ((c = getchar()) != EOF && c != '\n')
        ;
    return c != EOF;
}

void bench_row_measure(bench_row *row, size_t warm_up, double min_seconds, size_t min_samples)
{
    for (size_t i = 0; i < warm_up; i++)
        bench_row_sample(row);
    clfi_samples_free(&row->wall_ms);
    clfi_samples_free(&row->device_ms);
    const uint64_t start = clfi_now_ns();
    while ((double)(clfi_now_ns() - start) < min_seconds * 1e9 || row->wall_ms.count < min_samples)
        bench_row_sample(row);
}

void bench_row_single(const clfi_workload_list *list, clf_context *context, size_t warm_up, double min_seconds, size_t min_samples,
                      bench_row *out)
{
    clfi_engine_list engines;
    if (list->count != 1) {
        fprintf(stderr, "the model cannot do this: sequences too long\n");
        exit(1);
    }
    BENCH_OK(list->items[0].type->engines(&list->items[0], context, &engines));
    if (!bench_row_open(&list->items[0], context, engines.names[0], out))
        bench_check(CLF_UNSUPPORTED, list->items[0].id);
    bench_row_measure(out, warm_up, min_seconds, min_samples);
}

clfi_summary bench_summary(const clfi_samples *samples)
{
    clfi_summary summary;
    BENCH_OK(clfi_samples_summary(samples, &summary));
    return summary;
}

json_t *bench_row_json(const bench_row *row, const clf_context *context)
{
    const clf_device_info *d = clf_context_device(context);
    const clfi_summary wall = bench_summary(&row->wall_ms);
    json_t *samples = json_array();
    for (size_t i = 0; i < row->wall_ms.count; i++)
        json_array_append_new(samples, json_real(row->wall_ms.values[i]));
    return json_pack("{s:f, s:f, s:f, s:o, s:f, s:f, s:O, s:s, s:s, s:s, s:s, s:s}", "median_ms", wall.median, "p10_ms", wall.p10, "p90_ms",
                     wall.p90, "samples_ms", samples, "max_error", row->verdict.error, "error_bound", row->verdict.bound, "work",
                     row->workload->work, "device", d->name, "platform", d->platform_name, "driver", d->driver_version, "opencl_c",
                     d->opencl_c_version, "library", clf_version());
}

void bench_print_json(json_t *object)
{
    clf_str text = CLF_STR_INIT;
    if (clfi_json_write(object, JSON_COMPACT | JSON_REAL_PRECISION(6), "result", &text) == CLF_OK)
        puts(text.data);
    else
        fprintf(stderr, "%s\n", clf_last_error());
    clfi_str_free(&text);
    json_decref(object);
}
