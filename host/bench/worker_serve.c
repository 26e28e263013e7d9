/* SPDX-License-Identifier: MIT */
/* Answers the requests to the process of a device: list devices, open one, verify a workload, take samples. */
#include "bench/device_facts.h"
#include "bench/energy.h"
#include "bench/prepared.h"
#include "process/resident.h"
#include "bench/row_facts.h"
#include "bench/samples.h"
#include "bench/worker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "runtime/device.h"
#include "runtime/usage.h"

/* Prepared workloads are kept up to this size or an eighth of the device's memory, whichever is smaller. */
static const uint64_t most_budget_bytes = UINT64_C(2) << 30;
static const double most_runs_per_sample = 1e5;

typedef struct server {
    const clfi_workload_list *workloads;
    clf_context *context; /* NULL until opened */
    clfi_energy *energy;
    clfi_prepared_set prepared;
} server;

static clf_status serve_list(const json_t *request, json_t *reply)
{
    const char *selector = json_string_value(json_object_get(request, "device"));
    const bool all = selector && strcmp(selector, "all") == 0;
    json_t *devices = json_array(), *selected = json_array(), *notes = json_array();
    clf_device_list *list = NULL;
    size_t index = 0;
    json_object_set_new(reply, "devices", devices);
    json_object_set_new(reply, "selected", selected);
    json_object_set_new(reply, "notes", notes);
    CLF_TRY(clf_device_list_create(&list));
    clf_status st = CLF_OK;
    if (!all || list->count == 0)
        st = clf_device_list_select(list, all ? NULL : clfi_device_selector(selector), &index);
    for (size_t i = 0; st == CLF_OK && i < list->count; i++) {
        json_t *facts = clfi_device_facts(&list->devices[i]);
        if (!facts)
            st = clfi_fail(CLF_OUT_OF_MEMORY, "facts of device %zu: not enough memory", i);
        json_array_append_new(devices, facts);
        if (all || i == index)
            json_array_append_new(selected, json_integer((json_int_t)i));
    }
    for (size_t i = 0; i < list->note_count; i++)
        json_array_append_new(notes, json_string(list->notes[i]));
    clf_device_list_destroy(list);
    return st;
}

static clf_status serve_open(server *s, const json_t *request, json_t *reply)
{
    char selector[32];
    clfi_energy_target target;
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    snprintf(selector, sizeof selector, "%lld", (long long)json_integer_value(json_object_get(request, "device")));
    params.device = selector;
    params.tuned_file = json_is_true(json_object_get(request, "no_tuned")) ? "" : NULL;
    params.profile = 1; /* device time comes from the kernels' events */
    CLF_TRY(clf_context_create(&params, &s->context));
    const uint64_t share = clf_context_device(s->context)->global_memory_bytes / 8;
    s->prepared.context = s->context;
    s->prepared.budget_bytes = (size_t)(share < most_budget_bytes ? share : most_budget_bytes);
    clfi_energy_target_of(s->context, &target);
    CLF_TRY(clfi_energy_open(&clfi_energy_system, &target, &s->energy));
    json_t *facts;
    CLF_TRY(clfi_device_tuning(s->context, &facts));
    json_object_set_new(facts, "energy", json_string(clfi_energy_method(s->energy)));
    json_object_set_new(facts, "energy_reason", json_string(clfi_energy_reason(s->energy)));
    json_object_set_new(reply, "facts", facts);
    return CLF_OK;
}

static clf_status find_workload(const server *s, const json_t *request, const clfi_workload **out)
{
    const json_int_t index = json_integer_value(json_object_get(request, "workload"));
    if (!s->context)
        CLF_FAIL(CLF_INTERNAL, "a workload was asked for before a device was opened");
    if (index < 0 || (uint64_t)index >= s->workloads->count)
        CLF_FAIL(CLF_INTERNAL, "workload %lld of %zu", (long long)index, s->workloads->count);
    *out = &s->workloads->items[index];
    return CLF_OK;
}

static clf_status serve_engines(server *s, const json_t *request, json_t *reply)
{
    const clfi_workload *workload;
    clfi_engine_list engines = {{NULL}, 0};
    CLF_TRY(find_workload(s, request, &workload));
    CLF_TRY(workload->type->engines(workload, s->context, &engines));
    json_t *names = json_array();
    for (size_t i = 0; i < engines.count; i++)
        json_array_append_new(names, json_string(engines.names[i]));
    json_object_set_new(reply, "engines", names);
    return CLF_OK;
}

/* Names of the kernels that were launched since `before`, in falling order of time. */
static json_t *kernels_since(server *s, const clf_kernel_stats *before, size_t before_count)
{
    json_t *names = json_array();
    const size_t count = clf_context_kernel_count(s->context);
    for (size_t i = 0; i < count; i++) {
        clf_kernel_stats now;
        uint64_t launches = 0;
        if (clf_context_kernel_get(s->context, i, &now) != CLF_OK)
            continue;
        for (size_t j = 0; j < before_count; j++)
            if (strcmp(before[j].kernel, now.kernel) == 0)
                launches = before[j].launches;
        if (now.launches > launches)
            json_array_append_new(names, json_string(now.kernel));
    }
    return names;
}

/* Runs the workload once and adds the names of its kernels to the reply. They show which engine did each part. */
static clf_status note_kernels(server *s, const clfi_workload *workload, void *state, json_t *reply)
{
    clf_kernel_stats *before;
    clfi_sample sample;
    const size_t count = clf_context_kernel_count(s->context);
    CLF_TRY(clfi_alloc(count, sizeof *before, "kernel statistics", &before));
    clf_status st = CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < count; i++)
        st = clf_context_kernel_get(s->context, i, &before[i]);
    if (st == CLF_OK)
        st = workload->type->run(state, &sample);
    if (st == CLF_OK)
        json_object_set_new(reply, "kernels", kernels_since(s, before, count));
    free(before);
    return st;
}

/* Adds the device memory that the latest runs took. before: bytes in use before the workload was prepared; held: bytes that it holds
 * between runs. */
static void add_memory(const server *s, const clfi_workload *workload, const void *state, size_t before, size_t held, clfi_row_facts *facts)
{
    clfi_workload_memory memory = {.operand_bytes = held};
    if (workload->type->memory)
        workload->type->memory(state, &memory);
    const size_t peak = memory.peak_bytes ? memory.peak_bytes : (size_t)clfi_usage_peak_bytes(s->context) - before;
    const size_t known = memory.weights_bytes + memory.operand_bytes;
    facts->weights_bytes = (double)memory.weights_bytes;
    facts->scratch_bytes = peak > known ? (double)(peak - known) : 0;
}

static double known_ms(uint64_t ns)
{
    return ns ? (double)ns / 1e6 : NAN;
}

/* Adds the longest launch since the two figures were set to 0. */
static void add_longest(const server *s, clfi_row_facts *facts)
{
    facts->longest_launch_ms = known_ms(s->context->stats.longest_launch_ns);
    facts->longest_estimate_ms = known_ms(s->context->stats.longest_estimate_ns);
}

static clf_status add_tuning(const server *s, json_t *reply)
{
    json_t *tuning;
    CLF_TRY(clfi_device_tuning(s->context, &tuning));
    json_object_set_new(reply, "tuning", tuning);
    return CLF_OK;
}

/* Verifies a workload while no other is prepared, so that the peaks of memory are its own. */
static clf_status serve_verify(server *s, const json_t *request, json_t *reply)
{
    const clfi_workload *workload;
    const char *engine = json_string_value(json_object_get(request, "engine"));
    const double longest = json_number_value(json_object_get(request, "longest_run"));
    void *state;
    clfi_sample sample;
    clfi_verdict verdict = {NAN, NAN, false, 0};
    clfi_row_facts facts;
    json_t *facts_json = json_object();
    clfi_row_facts_clear(&facts);
    json_object_set_new(reply, "facts", facts_json);
    CLF_TRY(find_workload(s, request, &workload));
    clfi_prepared_clear(&s->prepared);
    clfi_resident_reset();
    const uint64_t before = clfi_usage_bytes(s->context);
    CLF_TRY(clfi_prepared_get(&s->prepared, workload, engine, &state));
    const uint64_t held = clfi_usage_bytes(s->context) - before;
    clfi_usage_restart(s->context);
    s->context->stats.longest_launch_ns = s->context->stats.longest_estimate_ns = 0;
    CLF_TRY(note_kernels(s, workload, state, reply)); /* also builds the kernels */
    facts.host_peak_bytes = (double)clfi_resident_peak_bytes();
    add_memory(s, workload, state, (size_t)before, (size_t)held, &facts);
    add_longest(s, &facts);
    CLF_TRY(add_tuning(s, reply)); /* a model chooses engines when it is loaded */
    CLF_TRY(workload->type->run(state, &sample));
    if (sample.wall_ns > longest * 1e9)
        CLF_FAIL(CLF_UNSUPPORTED, "too slow: one run takes %.3g s: expected at most %g s (--longest-run)", sample.wall_ns / 1e9, longest);
    CLF_TRY(workload->type->verify(state, &verdict));
    const double fitting = ceil(CLFI_SAMPLE_SECONDS * 1e9 / (sample.wall_ns > 1 ? sample.wall_ns : 1));
    json_object_set_new(reply, "passed", json_boolean(verdict.passed && !isnan(verdict.error)));
    facts.max_error = verdict.error;
    facts.error_bound = verdict.bound;
    facts.min_cosine = verdict.cosine != 0 ? verdict.cosine : NAN;
    json_object_set_new(reply, "runs_per_sample", json_integer((json_int_t)fmin(fitting, most_runs_per_sample)));
    json_object_set_new(reply, "run_seconds", json_real(sample.wall_ns / 1e9));
    return clfi_row_facts_write(&facts, false, facts_json);
}

/* Takes one sample: the mean of `runs` runs. device_ns below 0: not known. */
static clf_status take_sample(const clfi_workload *workload, void *state, size_t runs, clfi_sample *out)
{
    clfi_sample sum = {0, 0};
    for (size_t i = 0; i < runs; i++) {
        clfi_sample one = {0, -1};
        CLF_TRY(workload->type->run(state, &one));
        sum.wall_ns += one.wall_ns;
        sum.device_ns = one.device_ns < 0 || sum.device_ns < 0 ? -1 : sum.device_ns + one.device_ns;
    }
    out->wall_ns = sum.wall_ns / (double)runs;
    out->device_ns = sum.device_ns < 0 ? -1 : sum.device_ns / (double)runs;
    return CLF_OK;
}

/* Takes a sample of the host's time without events of kernels, and one run with them for the device's time. Events would distort the
 * host's time: with some drivers they cost as much as a launch. */
static clf_status take_both(server *s, const clfi_workload *workload, void *state, size_t runs, clfi_sample *out)
{
    clf_profile *const profile = s->context->profile;
    clfi_sample noted;
    s->context->profile = NULL;
    const clf_status st = take_sample(workload, state, runs, out);
    s->context->profile = profile;
    CLF_TRY(st);
    CLF_TRY(take_sample(workload, state, 1, &noted));
    out->device_ns = noted.device_ns;
    return CLF_OK;
}

static clf_status warm_up(const clfi_workload *workload, void *state)
{
    const uint64_t start = clfi_now_ns();
    clfi_sample dropped;
    do
        CLF_TRY(workload->type->run(state, &dropped));
    while ((double)(clfi_now_ns() - start) < CLFI_WARM_UP_SECONDS * 1e9);
    return CLF_OK;
}

static clf_status serve_measure(server *s, const json_t *request, json_t *reply)
{
    const clfi_workload *workload;
    const char *engine = json_string_value(json_object_get(request, "engine"));
    const double seconds = json_number_value(json_object_get(request, "seconds"));
    const json_int_t least = json_integer_value(json_object_get(request, "samples"));
    const json_int_t asked = json_integer_value(json_object_get(request, "runs_per_sample")), runs = asked > 0 ? asked : 1;
    json_t *wall = json_array(), *device = json_array();
    bool knows_device = true;
    double before, after, timed_ns = 0;
    void *state;
    json_object_set_new(reply, "wall_ms", wall);
    json_object_set_new(reply, "device_ms", device);
    CLF_TRY(find_workload(s, request, &workload));
    CLF_TRY(clfi_prepared_get(&s->prepared, workload, engine, &state));
    CLF_TRY(warm_up(workload, state));
    const bool has_energy = clfi_energy_read(s->energy, &before) == CLF_OK;
    const uint64_t start = clfi_now_ns();
    const double longest_ns = CLFI_VISIT_STRETCH * seconds * 1e9;
    for (json_int_t i = 0; i < least || (timed_ns < seconds * 1e9 && (double)(clfi_now_ns() - start) < longest_ns); i++) {
        clfi_sample sample;
        CLF_TRY(take_both(s, workload, state, (size_t)runs, &sample));
        timed_ns += sample.wall_ns * (double)runs;
        knows_device = knows_device && sample.device_ns >= 0;
        json_array_append_new(wall, json_real(sample.wall_ns / 1e6));
        json_array_append_new(device, json_real(sample.device_ns / 1e6));
    }
    const bool is_measured = has_energy && clfi_energy_read(s->energy, &after) == CLF_OK;
    json_object_set_new(reply, "joules", is_measured ? json_real(after - before) : json_null());
    json_object_set_new(reply, "runs", json_integer((json_int_t)json_array_size(wall) * (runs + 1)));
    if (!knows_device)
        json_array_clear(device);
    return CLF_OK;
}

static clf_status serve(server *s, const json_t *request, json_t *reply)
{
    const char *task = json_string_value(json_object_get(request, "do"));
    if (!task)
        CLF_FAIL(CLF_INTERNAL, "a request to a device's process without a task");
    if (strcmp(task, "list") == 0)
        return serve_list(request, reply);
    if (strcmp(task, "open") == 0)
        return serve_open(s, request, reply);
    if (strcmp(task, "engines") == 0)
        return serve_engines(s, request, reply);
    if (strcmp(task, "verify") == 0)
        return serve_verify(s, request, reply);
    if (strcmp(task, "measure") == 0)
        return serve_measure(s, request, reply);
    CLF_FAIL(CLF_INTERNAL, "a request to a device's process: \"%s\"", task);
}

void clfi_worker_serve(int socket, const clfi_workload_list *workloads)
{
    const clfi_patience for_ever = {0, NULL};
    server s = {.workloads = workloads};
    json_t *request;
    while (clfi_message_receive(socket, &for_ever, &request) == CLFI_MESSAGE_OK) {
        json_t *reply = json_object();
        const clf_status st = serve(&s, request, reply);
        json_decref(request);
        json_object_set_new(reply, "status", json_integer(st));
        json_object_set_new(reply, "reason", json_string(st == CLF_OK ? "" : clf_last_error()));
        if (clfi_message_send(socket, reply) != CLFI_MESSAGE_OK)
            break;
    }
    clfi_prepared_clear(&s.prepared);
    clfi_energy_close(s.energy);
    clf_context_destroy(s.context);
}
