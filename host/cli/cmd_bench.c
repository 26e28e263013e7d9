/* SPDX-License-Identifier: MIT */
/* clformer bench: measures devices, prints tables and writes a result file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"
#include "bench/catalogue.h"
#include "bench/record.h"
#include "bench/table.h"
#include "cli/commands.h"
#include "jobs/platform_guard.h"
#include "console/background.h"
#include "console/progress.h"

static volatile sig_atomic_t stop; /* number of the signal that interrupted the run; 0: none */

typedef struct bench_job {
    const char *device, *baseline, *output, *filter;
    bool is_baseline_there;
    int suite; /* a clfi_suite; CLFI_SUITE_COUNT: all */
    int quick, schema, list, no_tuned, background;
    cli_list models;
    int64_t seed;
    size_t rounds; /* 0: not given */
    double seconds /* NaN: not given */, longest_run, time_limit;
    clfi_workload_list workloads;
    clfi_record record;
    clf_str left_out; /* drivers that are not measured, one per line */
    clfi_bench bench;
    double seconds_per_row;
    size_t done, total;           /* steps: verifications, then visits of rows */
    double needed;                /* least seconds of all rounds, which follow the verifying */
    uint64_t start_ns, rounds_ns; /* when verifying and measuring began; rounds_ns 0: not yet */
    size_t verified;              /* number of steps before the rounds */
    const char *task;
    char running[160];      /* name of the row that is verified or measured */
    clf_output_place place; /* a file holds what was measured so far; pipes and the like get all at the end */
    bool is_written;        /* the result file is written; until then an old file stays */
} bench_job;

static clf_status parse(bench_job *j, const cli_command *self, int argc, char **argv)
{
    const cli_option table[] = {
        {"device", 'd', "D|all", "a device as in clformer devices, or all of them", CLI_TEXT, &j->device},
        CLI_BACKGROUND_OPTION(j->background),
        {"suite", 0, "peak|ops|models|generation|all", "suite of workloads to measure (default: all)", CLI_CHOICE, &j->suite},
        {"model", 0, "MODEL", "a model directory or GGUF file beside the built-in ones; may be repeated", CLI_INPUTS, &j->models},
        {"quick", 0, NULL, "fewer workloads, 0.1 s for each, 5 rounds", CLI_FLAG, &j->quick},
        {"seconds", 0, "S", "seconds for each workload on each engine (default: 0.5)", CLI_NUMBER, &j->seconds},
        {"rounds", 0, "N", "divide these seconds among N rounds (default: 10)", CLI_SIZE, &j->rounds},
        {"filter", 0, "TEXT", "only workloads with this in their name", CLI_TEXT, &j->filter},
        {"baseline", 0, "D[:ENGINE]", "row that the column x compares with (default: the slowest)", CLI_TEXT, &j->baseline},
        {"output", 'o', "F.json", "write a result file; - is standard output, and tables go to standard error", CLI_OUTPUT, &j->output},
        {"seed", 0, "N", "seed of the random order of the rounds (default: 1)", CLI_INTEGER, &j->seed},
        {"longest-run", 0, "S", "leave out workloads of which one run takes longer (default: 2)", CLI_NUMBER, &j->longest_run},
        {"time-limit", 0, "S", "end a device's process that does not answer for this long (default: 600)", CLI_NUMBER, &j->time_limit},
        {"no-tuned", 0, NULL, "ignore the choices that clformer tune keeps for the devices", CLI_FLAG, &j->no_tuned},
        {"list", 0, NULL, "print the names of the workloads only", CLI_FLAG, &j->list},
        {"schema", 0, NULL, "print the JSON Schema of result files only", CLI_FLAG, &j->schema},
    };
    int positional;
    CLF_TRY(cli_parse(self, table, COUNT(table), argc, argv, &positional));
    CLF_TRY(cli_background_enter(j->background));
    for (int i = 0; i < positional; i++) {
        if (j->models.count == 0)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "bench: unexpected argument \"%s\"", argv[i]);
        if (j->models.count == CLI_LIST_MAX)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "bench: --model: expected at most %d models", CLI_LIST_MAX);
        j->models.items[j->models.count++] = argv[i];
    }
    if (j->list + j->schema + (j->output != NULL) > 1)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "bench: --list, --schema and --output exclude each other (the first two measure nothing)");
    if (j->seconds <= 0 || j->seconds > 3600)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--seconds: expected more than 0 and at most 3600, found %g", j->seconds);
    if (j->rounds > 1000)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--rounds: expected at most 1000, found %zu", j->rounds);
    if (j->seed < 0 || !(j->time_limit > 0) || !(j->longest_run > 0))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "bench: --seed: expected 0 or more; --longest-run and --time-limit: expected more than 0");
    return CLF_OK;
}

/* Estimates the seconds that are left. While rows are verified: at the pace so far, plus the least time of the rounds. In the rounds: at
 * their own pace. */
static double seconds_left(const bench_job *j)
{
    const double now = (double)clfi_now_ns();
    if (j->rounds_ns && j->done > j->verified)
        return (now - (double)j->rounds_ns) / 1e9 / (double)(j->done - j->verified) * (double)(j->total - j->done);
    if (j->rounds_ns || j->done == 0 || j->bench.row_count < j->done)
        return j->needed;
    return (now - (double)j->start_ns) / 1e9 / (double)j->done * (double)(j->bench.row_count - j->done) + j->needed;
}

static void show(const bench_job *j)
{
    char left[32];
    cli_line_show("%s %zu of %zu, about %s left: %s", j->task, (j->rounds_ns ? j->done - j->verified : j->done) + 1,
                  j->rounds_ns ? j->total - j->verified : j->bench.row_count, cli_duration(seconds_left(j), left), j->running);
}

static void on_running(void *user, const clfi_bench *bench, const clfi_row *row)
{
    bench_job *j = user;
    const char *id = j->workloads.items[row->workload].id;
    if (bench->device_count > 1)
        snprintf(j->running, sizeof j->running, "%s %s on device %zu", id, row->engine, row->device);
    else
        snprintf(j->running, sizeof j->running, "%s %s", id, row->engine);
    j->task = row->verified ? "measuring" : "verifying";
    if (row->verified && !j->rounds_ns)
        j->rounds_ns = clfi_now_ns();
    if (!row->verified)
        j->needed = j->seconds_per_row * (double)bench->row_count;
    show(j);
}

static void on_progress(void *user, size_t done, size_t total)
{
    bench_job *j = user;
    j->done = done;
    j->total = total;
    if (!j->rounds_ns)
        j->verified = done;
}

static bool has_samples(const clfi_bench *bench)
{
    for (size_t i = 0; i < bench->row_count; i++)
        if (bench->rows[i].wall_ms.count > 0)
            return true;
    return false;
}

static clf_status on_checkpoint(void *user, const clfi_bench *bench)
{
    bench_job *j = user;
    if (j->baseline && !j->is_baseline_there)
        CLF_TRY(clfi_table_check_baseline(bench, j->baseline)); /* before anything is measured */
    j->is_baseline_there = true;
    if (!j->output || j->place != CLF_OUTPUT_FILE || (!bench->complete && !has_samples(bench)))
        return CLF_OK;
    CLF_TRY(clfi_record_write(&j->record, bench, j->output));
    j->is_written = true;
    return CLF_OK;
}

static clf_status make_catalogue(bench_job *j)
{
    clfi_catalogue_params params = {
        .quick = j->quick,
        .models = j->models.items,
        .model_count = j->models.count,
        .filter = j->filter,
    };
    for (int i = 0; i < CLFI_SUITE_COUNT; i++)
        params.suites[i] = j->suite == CLFI_SUITE_COUNT || j->suite == i;
    if (params.suites[CLFI_SUITE_GENERATION] && !j->quick && !j->list && !clfi_generation_has_memory())
        fprintf(stderr, "clformer: bench: the models of the suite \"generation\" need %d GB of memory: a small model is measured instead\n",
                CLFI_GENERATION_LARGE_GB);
    return clfi_catalogue(&params, &j->workloads);
}

static clf_status measure(bench_job *j)
{
    const char *suites[CLFI_SUITE_COUNT + 1] = {NULL};
    clfi_bench_params params = CLFI_BENCH_PARAMS_INIT;
    params.device = j->device;
    params.seed = (uint64_t)j->seed;
    params.longest_run = j->longest_run;
    params.time_limit = j->time_limit;
    params.no_tuned = j->no_tuned;
    params.stop = &stop;
    params.progress = on_progress;
    params.running = on_running;
    params.checkpoint = on_checkpoint;
    params.user = j;
    if (j->quick) {
        params.quick = true;
        params.min_seconds = CLFI_BENCH_QUICK_SECONDS;
        params.rounds = CLFI_BENCH_QUICK_ROUNDS;
    }
    if (!isnan(j->seconds))
        params.min_seconds = j->seconds;
    if (j->rounds)
        params.rounds = j->rounds;
    j->seconds_per_row = params.min_seconds;
    for (int i = 0, count = 0; i < CLFI_SUITE_COUNT; i++)
        if (j->suite == CLFI_SUITE_COUNT || j->suite == i)
            suites[count++] = clfi_suite_names[i];
    if (j->output)
        CLF_TRY(clfi_output_find(j->output, &j->place));
    CLF_TRY(clfi_record_start(&j->workloads, &params, suites, &j->record));
    cli_interrupts_stop(&stop);
    CLF_TRY(cli_platforms_leave_out(true, &j->left_out));
    params.left_out = clfi_str_text(&j->left_out);
    j->start_ns = clfi_now_ns();
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "%zu %s; the first results come after all are verified\n", j->workloads.count,
                clfi_plural(j->workloads.count, "workload", "workloads"));
    const clf_status st = clfi_bench_run(&j->workloads, &params, &j->bench);
    cli_line_clear();
    CLF_TRY(st);
    if (j->output && j->place != CLF_OUTPUT_FILE) {
        CLF_TRY(clfi_record_write(&j->record, &j->bench, j->output));
        j->is_written = true;
    }
    return clfi_table_print(&j->bench, j->baseline, j->output && j->place == CLF_OUTPUT_STANDARD ? stderr : stdout);
}

/* Returns 0 if something was measured and nothing failed, 128 + the signal after an interruption, else 1. */
static int exit_status(const bench_job *j)
{
    size_t failed = 0, measured = 0;
    for (size_t i = 0; i < j->bench.row_count; i++) {
        failed += j->bench.rows[i].status == CLFI_ROW_FAILED;
        measured += j->bench.rows[i].wall_ms.count > 0;
    }
    if (failed)
        fprintf(stderr, "clformer: bench: %zu of %zu %s FAILED\n", failed, j->bench.row_count,
                clfi_plural(j->bench.row_count, "measurement", "measurements"));
    if (!j->bench.complete) {
        cli_interrupts_clear();
        fprintf(stderr, "clformer: bench: interrupted; %s\n",
                !j->output      ? "no result file was asked for"
                : j->is_written ? "the result file holds what was measured"
                                : "nothing was measured, and no result file was written");
        return 128 + stop;
    }
    if (!measured)
        fprintf(stderr, "clformer: bench: no workload could be measured\n");
    return failed || !measured;
}

int cmd_bench(const cli_command *self, int argc, char **argv)
{
    bench_job j = {.suite = CLFI_SUITE_COUNT, .seed = 1, .seconds = NAN, .longest_run = 2, .time_limit = 600, .left_out = CLF_STR_INIT};
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
    clfi_str_free(&j.left_out);
    clfi_workload_list_free(&j.workloads);
    return status;
}
