/* SPDX-License-Identifier: MIT */
/* Writes the result file of clformer bench. */
#include "bench/record.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "bench/figures.h"
#include "bench/machine.h"
#include "io/json.h"

static json_t *finite_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *text_or_empty(const char *text)
{
    return json_string(text ? text : "");
}

/* All models that workloads name, each once. */
static json_t *models(const clfi_workload_list *workloads)
{
    json_t *list = json_array(), *known;
    for (size_t i = 0; i < workloads->count; i++) {
        json_t *model = json_object_get(workloads->items[i].work, "model");
        bool is_new = json_is_object(model);
        size_t j;
        json_array_foreach(list, j, known) is_new = is_new && !json_equal(known, model);
        if (is_new)
            json_array_append(list, model);
    }
    return list;
}

/* The environment variables that are set and change what is measured, by name. */
static json_t *environment(void)
{
    static const char *const names[] = {"CLF_BACKGROUND", "CLF_ENGINE", "CLF_GRAPH", "CLF_KERNEL_DIR", "CLF_LAUNCH_MS", "CLF_NO_TUNED"};
    json_t *object = json_object();
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *value = getenv(names[i]);
        json_t *text = value && *value ? json_string(value) : NULL;
        if (value && *value)
            json_object_set_new(object, names[i], text ? text : json_string("not UTF-8"));
    }
    return object;
}

clf_status clfi_record_start(const clfi_workload_list *workloads, const clfi_bench_params *params, const char *const *suites,
                             clfi_record *out)
{
    char created[32];
    json_t *host, *library, *names = json_array();
    const time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &utc);
    for (size_t i = 0; suites[i]; i++)
        json_array_append_new(names, json_string(suites[i]));
    clf_status st = clfi_machine_host("", &host);
    if (st == CLF_OK && (st = clfi_machine_library(&library)) != CLF_OK)
        json_decref(host);
    if (st != CLF_OK) {
        json_decref(names);
        return st;
    }
    json_t *settings =
        json_pack("{s:o, s:b, s:b, s:I, s:f, s:I, s:I, s:f, s:i, s:f, s:f, s:o}", "suites", names, "quick", params->quick, "no_tuned",
                  params->no_tuned, "seed", (json_int_t)params->seed, "min_seconds", params->min_seconds, "min_samples",
                  (json_int_t)params->min_samples, "rounds", (json_int_t)params->rounds, "longest_run", params->longest_run, "warm_up", 1,
                  "warm_up_seconds", CLFI_WARM_UP_SECONDS, "sample_seconds", CLFI_SAMPLE_SECONDS, "environment", environment());
    out->head = json_pack("{s:s, s:i, s:s, s:o, s:o, s:o, s:o}", "schema", "clformer-bench", "schema_version", CLFI_RECORD_VERSION,
                          "created", created, "settings", settings, "library", library, "host", host, "models", models(workloads));
    if (!out->head)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "head of the record: not enough memory");
    return CLF_OK;
}

void clfi_record_free(clfi_record *record)
{
    json_decref(record->head);
    record->head = NULL;
}

static json_t *limits(const clfi_bench *bench, size_t device)
{
    json_t *object = json_object();
    for (size_t i = 0; i < bench->workloads->count; i++) {
        const char *key = clfi_workload_measures(&bench->workloads->items[i]);
        const double value = key ? clfi_device_limit(bench, device, key) : NAN;
        if (isfinite(value))
            json_object_set_new(object, key, json_real(value));
    }
    return object;
}

static json_t *device_json(const clfi_bench *bench, size_t index)
{
    const clfi_bench_device *device = &bench->devices[index];
    json_t *object = json_copy(device->facts);
    json_object_del(object, "energy_reason"); /* "not_measured" lists it instead */
    json_object_set_new(object, "status", json_string(device->reason ? "unsupported" : "measured"));
    json_object_set_new(object, "reason", text_or_empty(device->reason));
    json_object_set_new(object, "limits", limits(bench, index));
    return object;
}

static json_t *workload_json(const clfi_workload *workload)
{
    return json_pack("{s:s, s:s, s:s, s:O?, s:f, s:f, s:f, s:s?, s:s?}", "id", workload->id, "suite", workload->suite, "op", workload->op,
                     "work", workload->work, "flops", workload->flops, "bytes", workload->bytes, "items", workload->items, "item",
                     workload->item, "limit", workload->limit);
}

static json_t *samples_json(const clfi_samples *samples)
{
    json_t *list = json_array();
    for (size_t i = 0; i < samples->count; i++)
        json_array_append_new(list, json_real(samples->values[i]));
    return list;
}

static json_t *counts_json(const clfi_samples *counts)
{
    json_t *list = json_array();
    for (size_t i = 0; i < counts->count; i++)
        json_array_append_new(list, json_integer((json_int_t)counts->values[i]));
    return list;
}

static json_t *off_device_json(const clfi_workload *workload)
{
    json_t *list = json_array();
    for (size_t i = 0; workload->off_device && workload->off_device[i]; i++)
        json_array_append_new(list, json_string(workload->off_device[i]));
    return list;
}

/* Whether a row has a result. A row that an interruption left without a figure has none. */
static bool is_result(const clfi_row *row)
{
    return row->status == CLFI_ROW_FAILED || row->status == CLFI_ROW_UNSUPPORTED || row->wall_ms.count > 0;
}

static const char *status_name(const clfi_row *row)
{
    return row->status == CLFI_ROW_OK ? "ok" : row->status == CLFI_ROW_FAILED ? "failed" : "unsupported";
}

static void add_figures(json_t *object, const clfi_bench *bench, const clfi_row *row, clfi_row_facts *facts)
{
    clfi_figures figures;
    if (row->status != CLFI_ROW_OK || clfi_row_figures(bench, row, &figures) != CLF_OK)
        return;
    json_object_set_new(object, "median_ms", json_real(figures.wall.median));
    json_object_set_new(object, "p10_ms", json_real(figures.wall.p10));
    json_object_set_new(object, "p90_ms", json_real(figures.wall.p90));
    json_object_set_new(object, "device_median_ms", finite_or_null(figures.device_median_ms));
    json_object_set_new(object, "noisy", json_boolean(figures.is_noisy));
    json_object_set_new(object, "rate_unit", json_string(figures.unit));
    facts->rate = figures.rate;
    facts->percent_of_limit = figures.percent;
}

static json_t *energy_json(const clfi_bench *bench, const clfi_row *row)
{
    const char *method = json_string_value(json_object_get(bench->devices[row->device].facts, "energy"));
    return json_pack("{s:s}", "method", isfinite(row->facts.joules_per_run) && method ? method : "not measured");
}

static json_t *row_json(const clfi_bench *bench, const clfi_row *row)
{
    const clfi_workload *workload = &bench->workloads->items[row->workload];
    clfi_row_facts facts = row->facts;
    json_t *object =
        json_pack("{s:s, s:O, s:s, s:s, s:o, s:b, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "workload", workload->id, "device",
                  json_object_get(bench->devices[row->device].facts, "id"), "engine", row->engine, "status", status_name(row), "reason",
                  text_or_empty(row->reason), "verified", row->verified, "runs_per_sample", (json_int_t)row->runs_per_sample, "wall_ms",
                  samples_json(&row->wall_ms), "device_ms", samples_json(&row->device_ms), "round_samples",
                  counts_json(&row->round_samples), "kernels", row->kernels ? json_incref(row->kernels) : json_array(), "off_device",
                  off_device_json(workload), "energy", energy_json(bench, row));
    if (!object)
        return NULL;
    add_figures(object, bench, row, &facts);
    if (clfi_row_facts_write(&facts, row->status == CLFI_ROW_OK, object) == CLF_OK)
        return object;
    json_decref(object);
    return NULL;
}

static clf_status add_missing(json_t *list, const char *why, const char *format, ...) CLFI_PRINTF(3, 4);

static clf_status add_missing(json_t *list, const char *why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    json_t *what = json_vsprintf(format, args);
    va_end(args);
    json_t *entry = json_pack("{s:o, s:s}", "what", what, "why", why);
    if (!entry || json_array_append_new(list, entry) != 0)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "record of what was not measured: not enough memory");
    return CLF_OK;
}

/* Adds a note for each driver that the list of devices lacks. */
static clf_status add_drivers(const clfi_bench *bench, json_t *list)
{
    json_t *note;
    size_t i;
    for (const char *at = bench->params.left_out; at && *at; at += strcspn(at, "\n") + 1) {
        char *line;
        CLF_TRY(clfi_strndup(at, strcspn(at, "\n"), &line));
        const clf_status st = add_missing(list, line, "a driver");
        free(line);
        CLF_TRY(st);
    }
    json_array_foreach(bench->notes, i, note) CLF_TRY(add_missing(list, json_string_value(note), "a platform"));
    return CLF_OK;
}

/* Adds the drivers, devices and rows without figures, each with the reason. */
static clf_status add_not_measured(const clfi_bench *bench, json_t *list)
{
    clf_status st = add_drivers(bench, list);
    for (size_t i = 0; st == CLF_OK && i < bench->device_count; i++) {
        const json_int_t id = json_integer_value(json_object_get(bench->devices[i].facts, "id"));
        const char *energy = json_string_value(json_object_get(bench->devices[i].facts, "energy_reason"));
        if (bench->devices[i].reason)
            st = add_missing(list, bench->devices[i].reason, "device %lld", (long long)id);
        else if (energy && energy[0])
            st = add_missing(list, energy, "energy of device %lld", (long long)id);
    }
    for (size_t i = 0; st == CLF_OK && i < bench->row_count; i++) {
        const clfi_row *row = &bench->rows[i];
        const json_int_t id = json_integer_value(json_object_get(bench->devices[row->device].facts, "id"));
        if (row->wall_ms.count == 0)
            st = add_missing(list, row->reason ? row->reason : "interrupted", "%s%s%s on device %lld",
                             bench->workloads->items[row->workload].id, row->engine[0] ? " by " : "", row->engine, (long long)id);
    }
    return st;
}

clf_status clfi_record_json(const clfi_record *record, const clfi_bench *bench, json_t **out)
{
    json_t *devices = json_array(), *workloads = json_array(), *results = json_array(), *missing = json_array();
    bool whole = true;
    for (size_t i = 0; i < bench->device_count; i++)
        whole &= json_array_append_new(devices, device_json(bench, i)) == 0;
    for (size_t i = 0; i < bench->workloads->count; i++)
        whole &= json_array_append_new(workloads, workload_json(&bench->workloads->items[i])) == 0;
    for (size_t i = 0; i < bench->row_count; i++)
        if (is_result(&bench->rows[i]))
            whole &= json_array_append_new(results, row_json(bench, &bench->rows[i])) == 0;
    const clf_status st = add_not_measured(bench, missing);
    json_t *root = json_copy(record->head);
    json_t *rest = json_pack("{s:b, s:o, s:o, s:o, s:o}", "complete", bench->complete, "devices", devices, "workloads", workloads,
                             "results", results, "not_measured", missing);
    whole = root && rest && json_object_update(root, rest) == 0 && whole;
    json_decref(rest);
    if (st == CLF_OK && whole) {
        *out = root;
        return CLF_OK;
    }
    json_decref(root);
    CLF_TRY(st);
    CLF_FAIL(CLF_OUT_OF_MEMORY, "record of the run: not enough memory");
}

enum { DIGITS = 9 };

static clf_status append_value(clf_str *out, const json_t *value)
{
    return clfi_json_write(value, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS), "record of the run", out);
}

static clf_status append_lines(clf_str *out, const json_t *array)
{
    json_t *element;
    size_t i;
    CLF_TRY(clfi_str_append_text(out, "["));
    json_array_foreach(array, i, element)
    {
        CLF_TRY(clfi_str_append_text(out, i ? ",\n  " : "\n  "));
        CLF_TRY(append_value(out, element));
    }
    return clfi_str_append_text(out, "]");
}

/* Writes each member of the document on a line of its own, and each element of its arrays. */
static clf_status append_document(clf_str *out, json_t *root)
{
    const char *key, *comma = "{\n";
    json_t *value;
    json_object_foreach(root, key, value)
    {
        CLF_TRY(clfi_str_appendf(out, "%s \"%s\": ", comma, key));
        CLF_TRY(json_is_array(value) ? append_lines(out, value) : append_value(out, value));
        comma = ",\n";
    }
    return clfi_str_append_text(out, "\n}\n");
}

clf_status clfi_record_write(const clfi_record *record, const clfi_bench *bench, const char *path)
{
    json_t *root;
    clf_str text = CLF_STR_INIT;
    CLF_TRY(clfi_record_json(record, bench, &root));
    clf_status st = append_document(&text, root);
    json_decref(root);
    if (st == CLF_OK)
        st = clfi_output_write(path, text.data, text.length);
    clfi_str_free(&text);
    return st;
}
