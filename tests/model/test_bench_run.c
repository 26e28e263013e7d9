/* SPDX-License-Identifier: MIT */
/* The runner's honesty, on workloads that misbehave in every way. A wrong result is failed and not timed, and work that the device cannot
 * do is unsupported with its reason. A crash or a hang loses one row. Rounds are shuffled, and an interruption keeps what was measured. */
#include "bench/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "bench/energy.h"
#include "bench/figures.h"
#include "bench/record.h"
#include "bench/table.h"
#include "runtime/arena.h"
#include "support/check.h"

typedef enum behaviour {
    GOOD,
    WRONG,          /* verify says no */
    NOT_A_NUMBER,   /* verify says yes, but the error is NaN */
    NO_ENGINE,      /* engines: UNSUPPORTED */
    DOES_NOT_BUILD, /* prepare: BUILD */
    NO_MEMORY,      /* prepare: OUT_OF_MEMORY */
    DEVICE_FAILS,   /* run: DEVICE */
    CRASHES,        /* in prepare */
    CRASHES_LATER,  /* in a run that is timed */
    HANGS,          /* in verify */
    TOO_SLOW,       /* says that a run took 3 s */
} behaviour;

/* Diary of the workloads, in memory that all processes share. */
enum { MOST_VISITS = 4096 };
typedef struct diary {
    int verified[32], runs[32];
    int order[MOST_VISITS], visits; /* workload of each first run after another one's, once it is verified */
} diary;
static diary *seen;

typedef struct fake {
    int index;
    behaviour behaviour;
    int runs; /* of this state */
    clf_context *context;
    clf_buffer *held; /* weights and operands */
} fake;

enum { WEIGHTS_BYTES = 11, OPERAND_BYTES = 1000, KEPT_BYTES = 100, REGION_BYTES = 512 };

static clf_status fake_engines(const clfi_workload *workload, clf_context *context, clfi_engine_list *out)
{
    (void)context;
    const fake *f = workload->parameters;
    if (f->behaviour == NO_ENGINE)
        return clfi_fail(CLF_UNSUPPORTED, "needs two moons");
    out->names[out->count++] = "";
    return CLF_OK;
}

static clf_status fake_prepare(const clfi_workload *workload, clf_context *context, const char *engine, void **state)
{
    (void)engine;
    const fake *f = workload->parameters;
    if (f->behaviour == DOES_NOT_BUILD)
        return clfi_fail(CLF_BUILD, "fake.cl:1: error: on purpose");
    if (f->behaviour == NO_MEMORY)
        return clfi_fail(CLF_OUT_OF_MEMORY, "a buffer of 1 EB");
    if (f->behaviour == CRASHES)
        abort();
    fake *copy;
    CLF_TRY(clfi_alloc(1, sizeof *copy, "fake", &copy));
    *copy = *f;
    *state = copy;
    copy->context = context;
    return clfi_buffer_create(context, WEIGHTS_BYTES + OPERAND_BYTES + KEPT_BYTES, &copy->held);
}

static clf_status fake_verify(void *state, clfi_verdict *out)
{
    const fake *f = state;
    seen->verified[f->index]++;
    while (f->behaviour == HANGS)
        pause();
    *out = (clfi_verdict){.error = 0.25, .bound = 0.5, .passed = true};
    if (f->behaviour == WRONG)
        *out = (clfi_verdict){.error = 3, .bound = 0.5, .passed = false};
    if (f->behaviour == NOT_A_NUMBER)
        out->error = NAN;
    return CLF_OK;
}

static clf_status fake_run(void *state, clfi_sample *out)
{
    fake *f = state;
    if (f->behaviour == DEVICE_FAILS)
        return clfi_fail(CLF_DEVICE, "the fan stopped");
    if (f->behaviour == CRASHES_LATER && ++f->runs > 20)
        abort();
    if (seen->visits < MOST_VISITS && seen->verified[f->index] && (!seen->visits || seen->order[seen->visits - 1] != f->index))
        seen->order[seen->visits++] = f->index;
    seen->runs[f->index]++;
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    clf_region region;
    const clf_arena_mark mark = clfi_arena_top(f->context);
    CLF_TRY(clfi_arena_alloc(f->context, REGION_BYTES, &region));
    clfi_arena_release(f->context, mark);
    *out = (clfi_sample){.wall_ns = 1e6 * (f->index + 1), .device_ns = 0.5e6};
    if (f->behaviour == TOO_SLOW)
        out->wall_ns = 3e9;
    return CLF_OK;
}

static void fake_memory(const void *state, clfi_workload_memory *out)
{
    (void)state;
    *out = (clfi_workload_memory){.weights_bytes = WEIGHTS_BYTES, .operand_bytes = OPERAND_BYTES};
}

static void fake_release(void *state)
{
    fake *f = state;
    if (f)
        clfi_buffer_release(f->held);
    free(f);
}

static const clfi_workload_type fake_type = {fake_engines, fake_prepare, fake_verify, fake_run, fake_memory, fake_release};

static void add(clfi_workload_list *list, behaviour kind, json_t *work, const char *limit)
{
    static const char *const off_device[] = {"thinking", NULL};
    fake *f;
    CHECK_OK(clfi_alloc(1, sizeof *f, "fake", &f));
    *f = (fake){.index = (int)list->count, .behaviour = kind};
    clfi_workload workload = {.suite = "ops",
                              .op = "fake",
                              .work = work,
                              .flops = 2e9,
                              .limit = limit,
                              .off_device = off_device,
                              .type = &fake_type,
                              .parameters = f};
    snprintf(workload.id, sizeof workload.id, "fake/%d", f->index);
    CHECK_OK(clfi_workload_list_add(list, &workload));
}

/* A counter of energy that is there when a test wants it, and grows at each look. The linker puts it before the real one (--wrap). */
enum { JOULES_A_LOOK = 3 };
static bool has_counter;

clf_status __real_clfi_energy_read(clfi_energy *energy, double *joules);
clf_status __wrap_clfi_energy_read(clfi_energy *energy, double *joules);

clf_status __wrap_clfi_energy_read(clfi_energy *energy, double *joules)
{
    static double counted;
    if (!has_counter)
        return __real_clfi_energy_read(energy, joules);
    counted += JOULES_A_LOOK;
    *joules = counted;
    return CLF_OK;
}

static const clfi_bench_params fast = {.seed = 1, .min_seconds = 0.001, .min_samples = 10, .rounds = 5, .longest_run = 1, .time_limit = 10};

/* This process stays free of OpenCL: its children start it afresh. */
static int setup(void **state)
{
    (void)state;
    clfi_workload_list none = {0};
    clfi_bench bench;
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (seen == MAP_FAILED)
        return -1;
    const clf_status st = clfi_bench_run(&none, &fast, &bench);
    clfi_bench_free(&bench);
    if (st == CLF_NOT_FOUND && !getenv("CLF_DEVICE")) {
        fprintf(stderr, "skipped: %s\n", clf_last_error());
        exit(77);
    }
    return st == CLF_OK ? 0 : -1;
}

static int begin(void **state)
{
    (void)state;
    memset(seen, 0, sizeof *seen);
    return 0;
}

static void expect(const clfi_bench *bench, size_t workload, clfi_row_status status, const char *reason)
{
    const clfi_row *row = &bench->rows[workload];
    CHECK(row->workload == workload && row->status == status, "workload %zu: status %d, want %d: %s", workload, (int)row->status,
          (int)status, row->reason ? row->reason : "");
    CHECK(!reason || (row->reason && strstr(row->reason, reason)), "workload %zu: reason \"%s\", want \"%s\"", workload,
          row->reason ? row->reason : "", reason);
    CHECK(status == CLFI_ROW_OK || (row->wall_ms.count == 0 && row->device_ms.count == 0), "workload %zu keeps samples", workload);
}

static void every_misbehaviour_loses_its_row_alone(void **state)
{
    (void)state;
    clfi_workload_list list = {0};
    clfi_bench bench;
    for (int b = GOOD; b <= TOO_SLOW; b++)
        add(&list, (behaviour)b, json_object(), NULL);
    add(&list, GOOD, json_object(), NULL);
    CHECK_OK(clfi_bench_run(&list, &fast, &bench));
    CHECK(bench.complete && bench.row_count == list.count, "%zu rows", bench.row_count);
    expect(&bench, GOOD, CLFI_ROW_OK, NULL);
    expect(&bench, WRONG, CLFI_ROW_FAILED, "wrong result: error 3, bound 0.5");
    expect(&bench, NOT_A_NUMBER, CLFI_ROW_FAILED, "wrong result");
    expect(&bench, NO_ENGINE, CLFI_ROW_UNSUPPORTED, "two moons");
    expect(&bench, DOES_NOT_BUILD, CLFI_ROW_UNSUPPORTED, "on purpose");
    expect(&bench, NO_MEMORY, CLFI_ROW_UNSUPPORTED, "1 EB");
    expect(&bench, DEVICE_FAILS, CLFI_ROW_FAILED, "the fan stopped");
    expect(&bench, CRASHES, CLFI_ROW_FAILED, "ended by signal 6");
    expect(&bench, CRASHES_LATER, CLFI_ROW_FAILED, "ended by signal 6");
    expect(&bench, HANGS, CLFI_ROW_FAILED, "within 10 s");
    expect(&bench, TOO_SLOW, CLFI_ROW_UNSUPPORTED, "one run takes 3 s");
    expect(&bench, TOO_SLOW + 1, CLFI_ROW_OK, NULL);
    CHECK(seen->verified[WRONG] == 1 && seen->runs[WRONG] <= 2, "a wrong result was timed: %d runs", seen->runs[WRONG]);
    const clfi_row *row = &bench.rows[GOOD];
    CHECK(row->verified && row->facts.max_error == 0.25 && row->facts.error_bound == 0.5, "error %g, bound %g", row->facts.max_error,
          row->facts.error_bound);
    CHECK(row->wall_ms.count >= 10 && row->wall_ms.count == row->device_ms.count, "%zu samples", row->wall_ms.count);
    CHECK(row->round_samples.count == 5 && row->round_samples.values[0] >= 2, "%zu rounds", row->round_samples.count);
    CHECK(row->wall_ms.values[3] == 1 && row->device_ms.values[3] == 0.5, "%g ms", row->wall_ms.values[3]);
    CHECK(row->facts.weights_bytes == WEIGHTS_BYTES && row->facts.host_peak_bytes > 1 << 20, "memory %g, %g", row->facts.weights_bytes,
          row->facts.host_peak_bytes);
    for (size_t i = GOOD; i <= TOO_SLOW + 1; i += TOO_SLOW + 1) /* whatever ran before */
        CHECK(bench.rows[i].facts.scratch_bytes == KEPT_BYTES + REGION_BYTES, "row %zu: scratch %g", i, bench.rows[i].facts.scratch_bytes);
    CHECK(!bench.devices[0].reason, "the device itself is fine");
    clfi_bench_free(&bench);
    clfi_workload_list_free(&list);
}

static void rounds_are_shuffled_and_repeatable(void **state)
{
    (void)state;
    clfi_workload_list list = {0};
    clfi_bench bench;
    diary first;
    clfi_bench_params params = fast;
    for (int i = 0; i < 8; i++)
        add(&list, GOOD, json_object(), NULL);
    CHECK_OK(clfi_bench_run(&list, &params, &bench));
    clfi_bench_free(&bench);
    first = *seen;
    /* Five rounds of eight; one visit fewer for each pair across two rounds that met. */
    CHECK(first.visits > 5 * 8 - 5 && first.visits <= 5 * 8, "%d visits", first.visits);
    bool is_sorted = true;
    for (int i = 0; i + 1 < 8; i++)
        is_sorted = is_sorted && first.order[i] < first.order[i + 1];
    CHECK(!is_sorted, "the first round came in the order of the list");
    CHECK(memcmp(first.order, first.order + 8, 8 * sizeof(int)) != 0, "two rounds came in the same order");
    begin(NULL);
    CHECK_OK(clfi_bench_run(&list, &params, &bench));
    clfi_bench_free(&bench);
    CHECK(memcmp(first.order, seen->order, sizeof first.order) == 0, "the same seed gave another order");
    begin(NULL);
    params.seed = 2;
    CHECK_OK(clfi_bench_run(&list, &params, &bench));
    clfi_bench_free(&bench);
    CHECK(memcmp(first.order, seen->order, sizeof first.order) != 0, "another seed gave the same order");
    clfi_workload_list_free(&list);
}

static void a_device_that_builds_nothing_is_unsupported(void **state)
{
    (void)state;
    clfi_workload_list list = {0};
    clfi_bench bench;
    add(&list, DOES_NOT_BUILD, json_object(), NULL);
    add(&list, DOES_NOT_BUILD, json_object(), NULL);
    CHECK_OK(clfi_bench_run(&list, &fast, &bench));
    CHECK(bench.device_count == 1 && bench.devices[0].reason && strstr(bench.devices[0].reason, "on purpose"), "reason: %s",
          bench.devices[0].reason ? bench.devices[0].reason : "none");
    clfi_bench_free(&bench);
    clfi_workload_list_free(&list);
}

static void a_wrong_result_is_not_that_of_the_device(void **state)
{
    (void)state;
    clfi_workload_list list = {0};
    clfi_bench bench;
    add(&list, WRONG, json_object(), NULL);
    add(&list, GOOD, json_object(), NULL);
    CHECK_OK(clfi_bench_run(&list, &fast, &bench));
    CHECK(bench.device_count == 1 && !bench.devices[0].reason, "reason: %s", bench.devices[0].reason);
    clfi_bench_free(&bench);
    clfi_workload_list_free(&list);
}

/* Seven samples in five rounds are two a round, and the energy is that of all rounds. */
static void rounds_add_up(void **state)
{
    (void)state;
    clfi_workload_list list = {0};
    clfi_bench bench;
    clfi_bench_params params = fast;
    params.min_samples = 7;
    params.min_seconds = 1e-9;
    add(&list, GOOD, json_object(), NULL);
    has_counter = true;
    CHECK_OK(clfi_bench_run(&list, &params, &bench));
    has_counter = false;
    const clfi_row *row = &bench.rows[0];
    /* each sample has a run more, for the device's time */
    const double runs = (double)(row->wall_ms.count * (row->runs_per_sample + 1)), joules = 5 * JOULES_A_LOOK;
    CHECK(row->wall_ms.count >= 7 && row->round_samples.count == 5, "%zu samples in %zu rounds", row->wall_ms.count,
          row->round_samples.count);
    CHECK(row->joules == joules && row->joule_runs == runs, "%g J of %g runs, want %g of %g", row->joules, row->joule_runs, joules, runs);
    CHECK(within(row->facts.joules_per_run, joules / runs, 1e-12), "%g J a run", row->facts.joules_per_run);
    clfi_bench_free(&bench);
    clfi_workload_list_free(&list);
}

static void limits_are_those_of_the_run(void **state)
{
    (void)state;
    clfi_workload_list list = {0};
    clfi_bench bench;
    clfi_figures figures;
    add(&list, GOOD, json_pack("{s:s}", "measures", "fp32_gflops"), NULL); /* 2e9 in 1 ms: 2,000 */
    add(&list, GOOD, json_object(), "fp32_gflops");                        /* 2e9 in 2 ms: half of it */
    add(&list, GOOD, json_object(), "read_gbps");                          /* not measured */
    CHECK_OK(clfi_bench_run(&list, &fast, &bench));
    CHECK(within(clfi_device_limit(&bench, 0, "fp32_gflops"), 2000, 1e-9), "limit %g", clfi_device_limit(&bench, 0, "fp32_gflops"));
    CHECK_OK(clfi_row_figures(&bench, &bench.rows[1], &figures));
    CHECK(within(figures.percent, 50, 1e-9) && within(figures.rate, 1000, 1e-9) && strcmp(figures.unit, "GFLOP/s") == 0, "%g %%, %g %s",
          figures.percent, figures.rate, figures.unit);
    CHECK_OK(clfi_row_figures(&bench, &bench.rows[2], &figures));
    CHECK(isnan(figures.percent), "%g %% of a limit that was not measured", figures.percent);
    clfi_bench_free(&bench);
    clfi_workload_list_free(&list);
}

/* The best of several measurements of a limit counts: by its 10 % quantile for the device, by its median for a share. */
static void the_best_measurement_is_the_limit(void **state)
{
    (void)state;
    static const char *const measures[] = {"fp32_gflops", "fp32_gflops", "fp32_gflops", "round_trip_us", "round_trip_us", "round_trip_us"};
    clfi_workload_list list = {0};
    clfi_figures figures;
    double worst_ms[] = {2, 4, 8}, best_ms[] = {1, 2, 4}, middle_ms[] = {3, 3, 3}, row_ms[] = {4, 5, 10}, device_ms[] = {0.5, 1, 3};
    double *const times[] = {worst_ms, best_ms, middle_ms, worst_ms, best_ms, middle_ms, row_ms}, counts[] = {3};
    clfi_row rows[COUNT(times)];
    for (size_t i = 0; i < COUNT(times); i++) {
        const bool is_limit = i < COUNT(measures);
        rows[i] = (clfi_row){.workload = i, .status = CLFI_ROW_OK, .wall_ms = {times[i], 3, 3}, .round_samples = {counts, 1, 1}};
        add(&list, GOOD, is_limit ? json_pack("{s:s}", "measures", measures[i]) : json_object(), is_limit ? NULL : "fp32_gflops");
    }
    clfi_row *row = &rows[COUNT(measures)];
    row->device_ms = (clfi_samples){device_ms, 3, 3};
    const clfi_bench bench = {.workloads = &list, .rows = rows, .row_count = COUNT(rows)};
    const double gflops = clfi_device_limit(&bench, 0, "fp32_gflops"), us = clfi_device_limit(&bench, 0, "round_trip_us");
    CHECK(within(gflops, 2e9 / 1.2e6, 1e-6) && within(us, 1200, 1e-6), "2e9 in 1.2 ms: %g GFLOP/s, %g us", gflops, us);
    CHECK_OK(clfi_row_figures(&bench, row, &figures));
    CHECK(within(figures.percent, 40, 1e-9) && within(figures.rate, 400, 1e-9), "5 ms against 2 ms: %g %%, %g GFLOP/s", figures.percent,
          figures.rate);
    CHECK(figures.device_median_ms == 1, "%g ms on the device", figures.device_median_ms);
    clfi_workload_list_free(&list);
}

/* A machine that becomes four times slower in the second of three rounds: the row takes twice the time of the limit throughout, but in the
 * last. */
static void shares_of_a_limit_are_those_of_each_round(void **state)
{
    (void)state;
    clfi_workload_list list = {0};
    clfi_figures figures;
    double limit_ms[] = {1, 1, 1, 4, 1}, row_ms[] = {2, 8, 8, 8, 1}, limit_counts[] = {3, 1, 1}, row_counts[] = {1, 3, 1};
    clfi_row rows[2] = {{.workload = 0, .status = CLFI_ROW_OK, .wall_ms = {limit_ms, 5, 5}, .round_samples = {limit_counts, 3, 3}},
                        {.workload = 1, .status = CLFI_ROW_OK, .wall_ms = {row_ms, 5, 5}, .round_samples = {row_counts, 3, 3}}};
    const clfi_bench bench = {.workloads = &list, .rows = rows, .row_count = 2};
    add(&list, GOOD, json_pack("{s:s}", "measures", "fp32_gflops"), NULL);
    add(&list, GOOD, json_object(), "fp32_gflops");
    CHECK_OK(clfi_row_figures(&bench, &rows[1], &figures));
    CHECK(within(figures.percent, 50, 1e-9), "%g %%, not the median of 50, 50 and 100", figures.percent);
    rows[0].round_samples.count = 0; /* interrupted before the limit was measured */
    CHECK_OK(clfi_row_figures(&bench, &rows[1], &figures));
    CHECK(isnan(figures.percent), "%g %% of a limit without rounds", figures.percent);
    clfi_workload_list_free(&list);
}

/* Stops in the second round. */
static volatile sig_atomic_t stop;
static void stop_at(void *user, size_t done, size_t total)
{
    (void)user;
    (void)total;
    if (done == 6)
        stop = 1;
}

static void an_interruption_keeps_what_was_measured(void **state)
{
    (void)state;
    static const char *const suites[] = {"ops", NULL};
    clfi_workload_list list = {0};
    clfi_bench bench;
    clfi_record record;
    clfi_bench_params params = fast;
    json_t *root;
    for (int i = 0; i < 4; i++)
        add(&list, GOOD, json_object(), NULL);
    params.stop = &stop;
    params.progress = stop_at;
    stop = 0;
    CHECK_OK(clfi_bench_run(&list, &params, &bench));
    CHECK(!bench.complete, "an interrupted run is not complete");
    CHECK_OK(clfi_record_start(&list, &params, suites, &record));
    CHECK_OK(clfi_record_json(&record, &bench, &root));
    const json_t *results = json_object_get(root, "results"), *missing = json_object_get(root, "not_measured");
    CHECK(json_is_false(json_object_get(root, "complete")), "complete");
    CHECK(json_array_size(results) == 2, "%zu results", json_array_size(results)); /* four comparisons, then two visits */
    size_t interrupted = 0, i;
    json_t *entry;
    json_array_foreach(missing, i, entry) interrupted += strcmp(json_string_value(json_object_get(entry, "why")), "interrupted") == 0;
    CHECK(interrupted == 2, "%zu of them interrupted", interrupted);
    json_decref(root);
    clfi_record_free(&record);
    clfi_bench_free(&bench);
    clfi_workload_list_free(&list);
}

/* Failures come after all figures and carry none; the base line can be chosen. */
static void the_table_ranks_what_was_verified(void **state)
{
    (void)state;
    clfi_workload_list list = {0};
    clfi_bench bench;
    char *text = NULL;
    size_t size = 0;
    add(&list, WRONG, json_object(), NULL);
    add(&list, GOOD, json_object(), NULL);
    CHECK_OK(clfi_bench_run(&list, &fast, &bench));
    bench.rows[0].workload = 1; /* rivals on one workload */
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    CHECK_OK(clfi_table_print(&bench, NULL, stream));
    fclose(stream);
    const char *good = strstr(text, "verified"), *failed = strstr(text, "FAILED: wrong result");
    CHECK(good && failed && good < failed, "%s", text);
    CHECK(strstr(text, "1.00x") && strstr(text, "2.00 ms") && strstr(text, "1000 GFLOP/s"), "%s", text);
    free(text);
    stream = open_memstream(&text, &size);
    assert_non_null(stream);
    CHECK_OK(clfi_table_print(&bench, "no such device", stream));
    fclose(stream);
    CHECK(!strstr(text, "1.00x"), "a ratio without its base line: %s", text);
    free(text);
    clfi_bench_free(&bench);
    clfi_workload_list_free(&list);
}

static void devices_that_are_not_there(void **state)
{
    (void)state;
    clfi_workload_list list = {0};
    clfi_bench bench;
    clfi_bench_params params = fast;
    params.device = "no such device";
    CHECK_FAILS(clfi_bench_run(&list, &params, &bench), CLF_NOT_FOUND, "no such device");
    clfi_bench_free(&bench);
    clfi_workload_list_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_misbehaviour_loses_its_row_alone, begin),
        cmocka_unit_test_setup(rounds_are_shuffled_and_repeatable, begin),
        cmocka_unit_test_setup(a_device_that_builds_nothing_is_unsupported, begin),
        cmocka_unit_test_setup(a_wrong_result_is_not_that_of_the_device, begin),
        cmocka_unit_test_setup(rounds_add_up, begin),
        cmocka_unit_test_setup(limits_are_those_of_the_run, begin),
        cmocka_unit_test_setup(the_best_measurement_is_the_limit, begin),
        cmocka_unit_test_setup(shares_of_a_limit_are_those_of_each_round, begin),
        cmocka_unit_test_setup(an_interruption_keeps_what_was_measured, begin),
        cmocka_unit_test_setup(the_table_ranks_what_was_verified, begin),
        cmocka_unit_test_setup(devices_that_are_not_there, begin),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
