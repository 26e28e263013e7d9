/* SPDX-License-Identifier: MIT */
/* Runs the workloads of clformer bench in rounds on all devices. */
#include "bench/run.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"

enum { MOST_RESTARTS = 16 }; /* restarts of one device; a driver that crashes on more rows is given up */

typedef struct runner {
    clfi_bench *bench;
    clfi_patience patience;
    clfi_random random;
    size_t done, total;
} runner;

static bool is_stopped(const runner *r)
{
    return r->patience.stop && *r->patience.stop;
}

static void step(runner *r)
{
    const clfi_bench_params *params = &r->bench->params;
    r->done++;
    if (params->progress)
        params->progress(params->user, r->done, r->total);
}

static void announce(runner *r, const clfi_row *row)
{
    const clfi_bench_params *params = &r->bench->params;
    if (params->running)
        params->running(params->user, r->bench, row);
}

static clf_status checkpoint(runner *r)
{
    const clfi_bench_params *params = &r->bench->params;
    return params->checkpoint ? params->checkpoint(params->user, r->bench) : CLF_OK;
}

/* A copy of the last error message; NULL: not enough memory, which reads as no reason. */
static char *last_reason(void)
{
    char *copy = NULL;
    return clfi_strdup(clf_last_error(), &copy) == CLF_OK ? copy : NULL;
}

/* Marks a row as unsupported by the device or as failed. */
static void fail_row(clfi_row *row, clf_status st)
{
    row->is_unbuilt = st == CLF_BUILD;
    row->status = st == CLF_UNSUPPORTED || st == CLF_BUILD || st == CLF_OUT_OF_MEMORY ? CLFI_ROW_UNSUPPORTED : CLFI_ROW_FAILED;
    row->reason = last_reason();
    clfi_samples_free(&row->wall_ms);
    clfi_samples_free(&row->device_ms);
    clfi_samples_free(&row->round_samples);
}

static clf_status open_device(runner *r, clfi_bench_device *device)
{
    json_t *reply;
    CLF_TRY(clfi_worker_start(r->bench->workloads, &device->worker));
    json_t *request =
        json_pack("{s:s, s:O, s:b}", "do", "open", "device", json_object_get(device->facts, "id"), "no_tuned", r->bench->params.no_tuned);
    const clf_status st = clfi_worker_ask(&device->worker, request, &r->patience, &reply);
    if (st != CLF_OK) {
        clfi_child_stop(&device->worker);
        return st;
    }
    json_object_update(device->facts, json_object_get(reply, "facts"));
    json_decref(reply);
    return CLF_OK;
}

/* Sends a request to the process of a device, which is started again if it has ended. Releases the request. */
static clf_status ask(runner *r, clfi_bench_device *device, json_t *request, const clfi_patience *patience, json_t **out)
{
    if (device->worker.process == 0) {
        clf_status st = CLF_OK;
        if (device->restarts == MOST_RESTARTS)
            st = clfi_fail(CLF_DEVICE, "the device's process ended %d times; it is not started again", MOST_RESTARTS);
        else
            st = open_device(r, device);
        device->restarts += st == CLF_OK;
        if (st != CLF_OK) {
            json_decref(request);
            return st;
        }
    }
    return clfi_worker_ask(&device->worker, request, patience, out);
}

static clf_status add_device(clfi_bench *bench, json_t *facts)
{
    size_t capacity = bench->device_count;
    CLF_TRY(clfi_grow(&bench->devices, &capacity, bench->device_count + 1, sizeof *bench->devices, "devices"));
    bench->devices[bench->device_count++] = (clfi_bench_device){.facts = json_incref(facts), .worker = CLFI_CHILD_INIT};
    return CLF_OK;
}

/* Lists the devices in a process of its own, so that this process loads no drivers. */
static clf_status list_devices(runner *r)
{
    clfi_child worker = CLFI_CHILD_INIT;
    const char *selector = r->bench->params.device;
    json_t *reply = NULL, *index;
    size_t i;
    CLF_TRY(clfi_worker_start(r->bench->workloads, &worker));
    json_t *request = json_pack("{s:s, s:s?}", "do", "list", "device", selector);
    clf_status st = clfi_worker_ask(&worker, request, &r->patience, &reply);
    clfi_child_stop(&worker);
    json_array_foreach(json_object_get(reply, "selected"), i, index) if (st == CLF_OK) st =
        add_device(r->bench, json_array_get(json_object_get(reply, "devices"), (size_t)json_integer_value(index)));
    r->bench->notes = json_incref(json_object_get(reply, "notes"));
    json_decref(reply);
    return st;
}

static clf_status add_row(clfi_bench *bench, size_t workload, size_t device, const char *engine, clfi_row **out)
{
    CLF_TRY(clfi_grow(&bench->rows, &bench->row_capacity, bench->row_count + 1, sizeof *bench->rows, "results"));
    clfi_row *row = &bench->rows[bench->row_count];
    *row = (clfi_row){.workload = workload, .device = device, .runs_per_sample = 1};
    clfi_row_facts_clear(&row->facts);
    CLF_TRY(clfi_strdup(engine, &row->engine));
    bench->row_count++;
    *out = row;
    return CLF_OK;
}

/* Adds a row for each engine; if there is none, a row with the reason. */
static clf_status add_rows(runner *r, size_t workload, size_t device)
{
    json_t *reply = NULL, *name;
    clfi_row *row;
    size_t i;
    json_t *request = json_pack("{s:s, s:I}", "do", "engines", "workload", (json_int_t)workload);
    clf_status asked = ask(r, &r->bench->devices[device], request, &r->patience, &reply), st = CLF_OK;
    json_t *engines = json_object_get(reply, "engines");
    if (asked == CLF_OK && json_array_size(engines) == 0)
        asked = clfi_fail(CLF_UNSUPPORTED, "no engine for this workload on this device");
    if (asked != CLF_OK) {
        char *reason = last_reason();
        st = add_row(r->bench, workload, device, "", &row);
        if (st == CLF_OK && !is_stopped(r)) {
            clfi_fail(asked, "%s", reason ? reason : "");
            fail_row(row, asked);
        }
        free(reason);
    }
    json_array_foreach(engines, i, name) if (st == CLF_OK) st = add_row(r->bench, workload, device, json_string_value(name), &row);
    json_decref(reply);
    return st;
}

static double number_or_nan(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static json_t *row_request(const clfi_row *row, const char *task)
{
    return json_pack("{s:s, s:I, s:s}", "do", task, "workload", (json_int_t)row->workload, "engine", row->engine);
}

static void verify(runner *r, clfi_row *row)
{
    json_t *reply = NULL;
    json_t *request = row_request(row, "verify");
    const bool is_limit = clfi_workload_measures(&r->bench->workloads->items[row->workload]); /* limits are measured even if the device
                                                                                                 is slow */
    json_object_set_new(request, "longest_run", json_real(is_limit ? r->bench->params.time_limit : r->bench->params.longest_run));
    clf_status st = ask(r, &r->bench->devices[row->device], request, &r->patience, &reply);
    if (st == CLF_OK)
        st = clfi_row_facts_read(json_object_get(reply, "facts"), "a device's process", DBL_MAX, &row->facts);
    if (st != CLF_OK) {
        json_decref(reply);
        if (!is_stopped(r))
            fail_row(row, st);
        return;
    }
    row->verified = json_is_true(json_object_get(reply, "passed"));
    row->runs_per_sample = (size_t)json_integer_value(json_object_get(reply, "runs_per_sample"));
    row->run_seconds = json_number_value(json_object_get(reply, "run_seconds"));
    row->kernels = json_incref(json_object_get(reply, "kernels"));
    json_object_update(r->bench->devices[row->device].facts, json_object_get(reply, "tuning"));
    json_decref(reply);
    if (row->verified)
        row->status = CLFI_ROW_OK;
    else
        fail_row(row, clfi_fail(CLF_INTERNAL, "wrong result: error %g, bound %g", row->facts.max_error, row->facts.error_bound));
}

static clf_status append(clfi_samples *samples, const json_t *values)
{
    json_t *value;
    size_t i;
    json_array_foreach(values, i, value) CLF_TRY(clfi_samples_add(samples, json_number_value(value)));
    return CLF_OK;
}

/* The time limit of a visit: the limit of one answer, a warm-up, and the longer of `seconds` and the time of `samples`, times
 * CLFI_VISIT_STRETCH. */
static clfi_patience visit_patience(const runner *r, const clfi_row *row, double seconds, size_t samples)
{
    const double sampling = (double)(samples * row->runs_per_sample) * row->run_seconds;
    clfi_patience patience = r->patience;
    patience.seconds += fmax(CLFI_WARM_UP_SECONDS, row->run_seconds) + CLFI_VISIT_STRETCH * fmax(seconds, sampling);
    return patience;
}

static clf_status measure(runner *r, clfi_row *row)
{
    const clfi_bench_params *params = &r->bench->params;
    json_t *reply = NULL, *request = row_request(row, "measure");
    const size_t share = (params->min_samples + params->rounds - 1) / params->rounds;
    const double seconds = params->min_seconds / (double)params->rounds;
    const clfi_patience patience = visit_patience(r, row, seconds, share);
    json_object_set_new(request, "seconds", json_real(seconds));
    json_object_set_new(request, "samples", json_integer((json_int_t)share));
    json_object_set_new(request, "runs_per_sample", json_integer((json_int_t)row->runs_per_sample));
    clf_status st = ask(r, &r->bench->devices[row->device], request, &patience, &reply);
    if (st != CLF_OK) {
        if (!is_stopped(r))
            fail_row(row, st);
        return CLF_OK;
    }
    st = append(&row->wall_ms, json_object_get(reply, "wall_ms"));
    if (st == CLF_OK)
        st = append(&row->device_ms, json_object_get(reply, "device_ms"));
    if (st == CLF_OK)
        st = clfi_samples_add(&row->round_samples, (double)json_array_size(json_object_get(reply, "wall_ms")));
    const double items = r->bench->workloads->items[row->workload].items;
    row->joules += number_or_nan(json_object_get(reply, "joules"));
    row->joule_runs += (double)json_integer_value(json_object_get(reply, "runs"));
    row->facts.joules_per_run = row->joule_runs > 0 ? row->joules / row->joule_runs : NAN;
    row->facts.joules_per_item = items > 0 ? row->facts.joules_per_run / items : NAN;
    json_decref(reply);
    return st;
}

/* Runs one round over `order`, which is shuffled first (Fisher & Yates, in Durstenfeld's form). */
static clf_status run_round(runner *r, size_t *order, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        const size_t j = clfi_random_below(&r->random, i), kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
    for (size_t i = 0; i < count && !is_stopped(r); i++) {
        clfi_row *row = &r->bench->rows[order[i]];
        announce(r, row);
        if (row->status == CLFI_ROW_OK)
            CLF_TRY(measure(r, row));
        step(r);
    }
    return CLF_OK;
}

static clf_status run_rounds(runner *r)
{
    size_t *order, count = 0;
    CLF_TRY(clfi_alloc(r->bench->row_count, sizeof *order, "order of the rows", &order));
    for (size_t i = 0; i < r->bench->row_count; i++)
        if (r->bench->rows[i].status == CLFI_ROW_OK)
            order[count++] = i;
    r->total = r->done + count * r->bench->params.rounds;
    clf_status st = CLF_OK;
    for (size_t round = 0; st == CLF_OK && round < r->bench->params.rounds && !is_stopped(r); round++) {
        st = run_round(r, order, count);
        if (st == CLF_OK)
            st = checkpoint(r);
    }
    free(order);
    return st;
}

static clf_status open_all(runner *r)
{
    CLF_TRY(list_devices(r));
    for (size_t i = 0; i < r->bench->device_count && !is_stopped(r); i++) {
        clfi_bench_device *device = &r->bench->devices[i];
        if (open_device(r, device) != CLF_OK)
            device->reason = last_reason();
    }
    for (size_t w = 0; w < r->bench->workloads->count; w++)
        for (size_t i = 0; i < r->bench->device_count && !is_stopped(r); i++)
            if (!r->bench->devices[i].reason)
                CLF_TRY(add_rows(r, w, i));
    return CLF_OK;
}

/* Marks a device as unsupported if no row of it has kernels that compile. */
static clf_status judge_devices(clfi_bench *bench)
{
    for (size_t i = 0; i < bench->device_count; i++) {
        const clfi_row *first = NULL;
        size_t others = 0;
        for (size_t j = 0; j < bench->row_count; j++) {
            const clfi_row *row = &bench->rows[j];
            if (row->device == i && row->is_unbuilt)
                first = first ? first : row;
            else
                others += row->device == i;
        }
        if (first && others == 0 && !bench->devices[i].reason && first->reason)
            CLF_TRY(clfi_strdup(first->reason, &bench->devices[i].reason));
    }
    return CLF_OK;
}

static clf_status run_all(runner *r)
{
    clfi_bench *bench = r->bench;
    CLF_TRY(open_all(r));
    CLF_TRY(checkpoint(r)); /* the caller refuses a wrong base line before the work begins */
    r->total = bench->row_count * (1 + bench->params.rounds);
    for (size_t i = 0; i < bench->row_count && !is_stopped(r); i++) {
        announce(r, &bench->rows[i]);
        if (bench->rows[i].status == CLFI_ROW_WAITING)
            verify(r, &bench->rows[i]);
        step(r);
    }
    CLF_TRY(judge_devices(bench));
    CLF_TRY(checkpoint(r));
    CLF_TRY(run_rounds(r));
    bench->complete = !is_stopped(r);
    return checkpoint(r);
}

clf_status clfi_bench_run(const clfi_workload_list *workloads, const clfi_bench_params *params, clfi_bench *out)
{
    *out = (clfi_bench){.workloads = workloads, .params = *params};
    if (params->rounds == 0 || params->min_samples == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "bench: rounds and samples must not be 0");
    runner r = {.bench = out, .patience = {params->time_limit, params->stop}, .random = {params->seed}};
    clf_status st = run_all(&r);
    if (st == CLF_DEVICE && is_stopped(&r)) /* an interruption, of a request to a device's process, is no failure */
        st = CLF_OK;
    for (size_t i = 0; i < out->device_count; i++)
        clfi_child_stop(&out->devices[i].worker);
    return st;
}

void clfi_bench_free(clfi_bench *bench)
{
    for (size_t i = 0; i < bench->device_count; i++) {
        clfi_child_stop(&bench->devices[i].worker);
        json_decref(bench->devices[i].facts);
        free(bench->devices[i].reason);
    }
    for (size_t i = 0; i < bench->row_count; i++) {
        clfi_row *row = &bench->rows[i];
        free(row->engine);
        free(row->reason);
        json_decref(row->kernels);
        clfi_samples_free(&row->wall_ms);
        clfi_samples_free(&row->device_ms);
        clfi_samples_free(&row->round_samples);
    }
    json_decref(bench->notes);
    free(bench->devices);
    free(bench->rows);
    *bench = (clfi_bench){0};
}
