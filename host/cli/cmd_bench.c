/* SPDX-License-Identifier: MIT */
/* clformer bench: measures devices, prints tables and writes a result file. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/catalogue.h"
#include "bench/record.h"
#include "bench/table.h"
#include "cli/commands.h"
#include "cli/progress.h"

enum { STATUS_INTERRUPTED = 130 };

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    (void)number;
    stop = 1;
}

typedef struct job {
    const char *device, *baseline, *output, *filter;
    int suite; /* index into peak|ops|models|all */
    int quick, schema, list, no_tuned;
    cli_list models;
    int64_t seed, rounds; /* rounds, seconds 0: the defaults */
    double seconds, longest_run, time_limit;
    clfi_workload_list workloads;
    clfi_record record;
    clfi_bench bench;
    cli_progress progress;
} job;

static const char *const suite_names[] = {"peak", "ops", "models"};

static clf_status parse(job *j, const cli_command *self, int argc, char **argv)
{
    const cli_option table[] = {
        {"device", 'd', "D|all", "a device as in clformer devices, or all of them", CLI_TEXT, &j->device},
        {"suite", 0, "peak|ops|models|all", "what to measure (default: all)", CLI_CHOICE, &j->suite},
        {"model", 0, "MODEL_DIR", "a model beside the built-in one; may be repeated", CLI_LIST, &j->models},
        {"quick", 0, NULL, "fewer workloads, 0.1 s for each, 5 rounds", CLI_FLAG, &j->quick},
        {"seconds", 0, "S", "time for each workload on each engine (default: 0.5)", CLI_NUMBER, &j->seconds},
        {"rounds", 0, "N", "rounds that this time is divided among (default: 10)", CLI_INTEGER, &j->rounds},
        {"filter", 0, "TEXT", "only workloads with this in their name", CLI_TEXT, &j->filter},
        {"baseline", 0, "D[:ENGINE]", "what x compares with (default: the slowest)", CLI_TEXT, &j->baseline},
        {"output", 'o', "F.json", "write a result file", CLI_TEXT, &j->output},
        {"seed", 0, "N", "of the order of the rounds (default: 1)", CLI_INTEGER, &j->seed},
        {"longest-run", 0, "S", "leave out what takes longer for one run (default: 2)", CLI_NUMBER, &j->longest_run},
        {"time-limit", 0, "S", "seconds after which a driver counts as hanging (default: 600)", CLI_NUMBER, &j->time_limit},
        {"no-tuned", 0, NULL, "ignore what clformer tune measured on the devices", CLI_FLAG, &j->no_tuned},
        {"list", 0, NULL, "print the names of the workloads only", CLI_FLAG, &j->list},
        {"schema", 0, NULL, "print the JSON Schema of result files only", CLI_FLAG, &j->schema},
    };
    int positional;
    CLF_TRY(cli_parse(self, table, COUNT(table), argc, argv, &positional));
    for (int i = 0; i < positional; i++) {
        if (j->models.count == 0)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "bench: unexpected argument \"%s\"", argv[i]);
        if (j->models.count == CLI_LIST_MAX)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "bench: more than %d models", CLI_LIST_MAX);
        j->models.items[j->models.count++] = argv[i];
    }
    if (!(j->seconds >= 0) || j->seconds > 3600 || j->rounds < 0 || j->rounds > 1000)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "bench: --seconds must be at most 3600, --rounds at most 1000, neither negative; found %g and %" PRId64,
                 j->seconds, j->rounds);
    if (j->seed < 0 || !(j->time_limit > 0) || !(j->longest_run > 0))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "bench: --seed must not be negative, --longest-run and --time-limit must be above 0");
    return CLF_OK;
}

static void on_progress(void *user, size_t done, size_t total)
{
    cli_progress_update(&((job *)user)->progress, done, total);
}

static clf_status on_checkpoint(void *user, const clfi_bench *bench)
{
    const job *j = user;
    return j->output ? clfi_record_write(&j->record, bench, j->output) : CLF_OK;
}

static clf_status make_catalogue(job *j)
{
    const bool all = j->suite == COUNT(suite_names);
    const clfi_catalogue_params params = {
        .peak = all || j->suite == 0,
        .ops = all || j->suite == 1,
        .models = all || j->suite == 2,
        .quick = j->quick,
        .model_dirs = j->models.items,
        .model_count = j->models.count,
        .filter = j->filter,
    };
    return clfi_catalogue(&params, &j->workloads);
}

static clf_status measure(job *j)
{
    const bool all = j->suite == COUNT(suite_names);
    const char *const one[] = {all ? NULL : suite_names[j->suite], NULL};
    const char *const every[] = {suite_names[0], suite_names[1], suite_names[2], NULL};
    clfi_bench_params params = CLFI_BENCH_PARAMS_INIT;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND}; /* a second one ends at once */
    params.device = j->device;
    params.seed = (uint64_t)j->seed;
    params.longest_run = j->longest_run;
    params.time_limit = j->time_limit;
    params.no_tuned = j->no_tuned;
    params.stop = &stop;
    params.progress = on_progress;
    params.checkpoint = on_checkpoint;
    params.user = j;
    if (j->quick) {
        params.quick = true;
        params.min_seconds = CLFI_BENCH_QUICK_SECONDS;
        params.rounds = CLFI_BENCH_QUICK_ROUNDS;
    }
    if (j->seconds > 0)
        params.min_seconds = j->seconds;
    if (j->rounds)
        params.rounds = (size_t)j->rounds;
    CLF_TRY(clfi_record_start(&j->workloads, &params, all ? every : one, &j->record));
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    j->progress = cli_progress_start("measurements");
    const clf_status st = clfi_bench_run(&j->workloads, &params, &j->bench);
    cli_progress_end(&j->progress);
    CLF_TRY(st);
    return clfi_table_print(&j->bench, j->baseline, stdout);
}

/* 0: all that could be measured is right. */
static int exit_status(const job *j)
{
    size_t failed = 0, measured = 0;
    for (size_t i = 0; i < j->bench.row_count; i++) {
        failed += j->bench.rows[i].status == CLFI_ROW_FAILED;
        measured += j->bench.rows[i].wall_ms.count > 0;
    }
    if (failed)
        fprintf(stderr, "clformer: bench: %zu of %zu measurements FAILED\n", failed, j->bench.row_count);
    if (!j->bench.complete) {
        fprintf(stderr, "clformer: bench: interrupted; %s\n", j->output ? "the result file holds what was measured" : "no result file was asked for");
        return STATUS_INTERRUPTED;
    }
    if (!measured)
        fprintf(stderr, "clformer: bench: nothing could be measured\n");
    return failed || !measured;
}

int cmd_bench(const cli_command *self, int argc, char **argv)
{
    job j = {.suite = COUNT(suite_names), .seed = 1, .longest_run = 2, .time_limit = 600};
    int status = EXIT_SUCCESS;
    clf_status st = parse(&j, self, argc, argv);
    if (st == CLF_OK && j.schema) {
        fputs(clfi_result_schema, stdout);
        return EXIT_SUCCESS;
    }
    if (st == CLF_OK)
        st = make_catalogue(&j);
    if (st == CLF_OK && j.list) {
        for (size_t i = 0; i < j.workloads.count; i++)
            puts(j.workloads.items[i].id);
    } else if (st == CLF_OK && (st = measure(&j)) == CLF_OK) {
        status = exit_status(&j);
    }
    if (st != CLF_OK)
        status = cli_fail(st);
    clfi_bench_free(&j.bench);
    clfi_record_free(&j.record);
    clfi_workload_list_free(&j.workloads);
    return status;
}
