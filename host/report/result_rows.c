/* SPDX-License-Identifier: MIT */
/* Reads the rows of a result file and checks each against its workload, its device and its own samples. */
#include "report/result_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "io/json.h"

/* A recorded median, quantile or rate may differ from the samples' by this share, for rounding. */
static const double summary_tolerance = 1e-3;

enum { KEY_BYTES = 512 };

/* The key of a row in row_places. */
static const char *row_key(size_t workload, size_t device, const char *engine, char out[KEY_BYTES])
{
    snprintf(out, KEY_BYTES, "%zu %zu %s", workload, device, engine);
    return out;
}

const clfi_result_row *clfi_result_find_row(const clfi_result *result, size_t workload, size_t device, const char *engine)
{
    char key[KEY_BYTES];
    const size_t place = clfi_result_find_place(result->row_places, row_key(workload, device, engine, key), result->row_count);
    return place < result->row_count ? &result->rows[place] : NULL;
}

static clf_status read_samples(const json_t *object, const char *where, const char *key, clfi_samples *out)
{
    char inner[CLFI_RESULT_WHERE_BYTES + 48];
    const json_t *array;
    json_t *value;
    size_t i;
    CLF_TRY(clfi_json_get_array(object, where, key, &array));
    json_array_foreach((json_t *)array, i, value) {
        const double ms = json_number_value(value);
        if (!json_is_number(value) || !(ms >= CLFI_RESULT_TIME_MIN && ms <= CLFI_RESULT_TIME_MAX)) {
            snprintf(inner, sizeof inner, "%s[%zu]", key, i);
            return clfi_result_wrong(where, inner, "a time from 1e-9 to 1e12 ms", value);
        }
        CLF_TRY(clfi_samples_add(out, json_number_value(value)));
    }
    return CLF_OK;
}

/* Compares a recorded statistic with the one that the samples give. */
static clf_status check_summary(const json_t *object, const char *where, const char *key, double want)
{
    double found;
    char expected[64];
    CLF_TRY(clfi_json_get_number(object, where, key, 0, CLFI_RESULT_MOST, &found));
    if (fabs(found - want) <= summary_tolerance * want)
        return CLF_OK;
    snprintf(expected, sizeof expected, "%.6g, which the samples give", want);
    return clfi_result_wrong(where, key, expected, json_object_get(object, key));
}

/* The workload's rate in `unit` at the median; NaN: the workload has no rate in this unit. */
static double rate_of(const clfi_result_workload *workload, const char *unit, double median_ms)
{
    const size_t item = workload->item ? strlen(workload->item) : 0;
    if (item && workload->items > 0 && strncmp(unit, workload->item, item) == 0 && strcmp(unit + item, "/s") == 0)
        return workload->items / median_ms * 1e3;
    if (strcmp(unit, "GB/s") == 0)
        return workload->bytes / median_ms * 1e-6;
    if (strcmp(unit, "GFLOP/s") == 0 || strcmp(unit, "GOP/s") == 0)
        return workload->flops / median_ms * 1e-6;
    return strcmp(unit, "us") == 0 ? median_ms * 1e3 : NAN;
}

static clf_status check_rate(const clfi_result *result, const json_t *object, const char *where, const clfi_result_row *row)
{
    const double want = rate_of(&result->workloads[row->workload], row->rate_unit, row->wall.median);
    if (isnan(want))
        return clfi_result_wrong(where, "rate_unit", "GB/s, GFLOP/s, GOP/s, us, or the workload's item/s",
                                 json_object_get(object, "rate_unit"));
    return check_summary(object, where, "rate", want);
}

static clf_status read_rounds(const json_t *object, const char *where, clfi_result_row *row)
{
    const json_t *array;
    size_t left = row->wall_ms.count;
    CLF_TRY(clfi_json_opt_array(object, where, "round_samples", &array));
    CLF_TRY(clfi_alloc(json_array_size(array), sizeof *row->round_samples, "samples of each round", &row->round_samples));
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *value = json_array_get(array, i);
        const json_int_t count = json_integer_value(value);
        if (!json_is_integer(value) || count < 0 || (uint64_t)count > left)
            return clfi_result_wrong(where, "round_samples", "counts that add up to the samples of wall_ms", value);
        left -= (size_t)count;
        if (count > 0) /* rounds that did not reach the row are left out */
            row->round_samples[row->round_count++] = (size_t)count;
    }
    return array && left ? clfi_result_wrong(where, "round_samples", "counts that add up to the samples of wall_ms", array) : CLF_OK;
}

static clf_status read_times(const clfi_result *result, const json_t *object, const char *where, clfi_result_row *row)
{
    char expected[64];
    clfi_summary device;
    CLF_TRY(read_samples(object, where, "wall_ms", &row->wall_ms));
    CLF_TRY(read_samples(object, where, "device_ms", &row->device_ms));
    CLF_TRY(clfi_samples_summary(&row->wall_ms, &row->wall));
    CLF_TRY(clfi_samples_summary(&row->device_ms, &device));
    row->device_median_ms = device.median;
    row->noisy = clfi_summary_is_noisy(&row->wall);
    if (row->device_ms.count && row->device_ms.count != row->wall_ms.count) {
        snprintf(expected, sizeof expected, "no samples, or as many as wall_ms: %zu", row->wall_ms.count);
        return clfi_result_wrong(where, "device_ms", expected, json_object_get(object, "device_ms"));
    }
    if (row->wall_ms.count == 0) /* only an interrupted run may leave a verified row unmeasured */
        return result->complete
                   ? clfi_result_wrong(where, "wall_ms", "samples, because the run is complete", json_object_get(object, "wall_ms"))
                   : CLF_OK;
    CLF_TRY(check_summary(object, where, "median_ms", row->wall.median));
    CLF_TRY(check_summary(object, where, "p10_ms", row->wall.p10));
    CLF_TRY(check_summary(object, where, "p90_ms", row->wall.p90));
    CLF_TRY(check_rate(result, object, where, row));
    return read_rounds(object, where, row);
}

static clf_status read_status(const json_t *object, const char *where, clfi_result_row *row)
{
    static const char *const names[] = {"ok", "failed", "unsupported"};
    const char *status;
    bool verified;
    size_t i = 0;
    CLF_TRY(clfi_json_get_string(object, where, "status", &status));
    while (i < COUNT(names) && strcmp(status, names[i]) != 0)
        i++;
    if (i == COUNT(names))
        return clfi_result_wrong(where, "status", "\"ok\", \"failed\" or \"unsupported\"", json_object_get(object, "status"));
    row->status = (clfi_result_status)i;
    CLF_TRY(clfi_json_get_bool(object, where, "verified", &verified));
    if (row->status == CLFI_RESULT_OK && !verified)
        return clfi_result_wrong(where, "verified", "true, because status is \"ok\"", json_object_get(object, "verified"));
    return row->status == CLFI_RESULT_OK ? CLF_OK : clfi_result_text(object, where, "reason", &row->reason);
}

/* Checks that a verified row has an error and a bound, and that the error is within the bound. */
static clf_status check_error(const json_t *object, const char *where, const clfi_row_facts *facts)
{
    if (isnan(facts->max_error))
        return clfi_result_wrong(where, "max_error", "a number, because the row is verified", json_object_get(object, "max_error"));
    if (isnan(facts->error_bound))
        return clfi_result_wrong(where, "error_bound", "a number, because the row is verified", json_object_get(object, "error_bound"));
    if (facts->max_error > facts->error_bound)
        return clfi_result_wrong(where, "max_error", "no more than error_bound, because the row is verified",
                                 json_object_get(object, "max_error"));
    return CLF_OK;
}

static clf_status read_facts(const json_t *object, const char *where, clfi_result_row *row)
{
    CLF_TRY(clfi_row_facts_read(object, where, CLFI_RESULT_MOST, &row->facts));
    CLF_TRY(clfi_json_opt_string(object, where, "rate_unit", "", &row->rate_unit));
    return row->status == CLFI_RESULT_OK ? check_error(object, where, &row->facts) : CLF_OK;
}

/* Reads the host's part of the work and the method of measuring energy. */
static clf_status read_methods(const json_t *object, const char *where, clfi_result_row *row)
{
    char inner[CLFI_RESULT_WHERE_BYTES + 16];
    const json_t *energy;
    json_t *text;
    size_t i;
    CLF_TRY(clfi_json_opt_array(object, where, "off_device", &row->off_device));
    json_array_foreach((json_t *)row->off_device, i, text)
        if (!json_is_string(text))
            return clfi_result_wrong(where, "off_device", "an array of strings", text);
    CLF_TRY(clfi_json_opt_object(object, where, "energy", &energy));
    snprintf(inner, sizeof inner, "%s.energy", where);
    row->energy_method = "not measured";
    return energy ? clfi_json_opt_string(energy, inner, "method", "not measured", &row->energy_method) : CLF_OK;
}

/* Finds the workload and the device of a row, and checks that no other row has the same workload, device and engine. */
static clf_status resolve(clfi_result *result, const json_t *object, const char *where, clfi_result_row *row)
{
    const char *id;
    int64_t device;
    char key[KEY_BYTES];
    CLF_TRY(clfi_json_get_string(object, where, "workload", &id));
    row->workload = clfi_result_find_workload(result, id);
    if (row->workload == result->workload_count)
        return clfi_result_wrong(where, "workload", "the id of a workload in this file", json_object_get(object, "workload"));
    CLF_TRY(clfi_json_get_int(object, where, "device", 0, INT64_MAX, &device));
    row->device = clfi_result_find_device(result, device);
    if (row->device == result->device_count)
        return clfi_result_wrong(where, "device", "the id of a device in this file", json_object_get(object, "device"));
    CLF_TRY(clfi_json_get_string(object, where, "engine", &row->engine));
    if (strlen(row->engine) > 64)
        return clfi_result_wrong(where, "engine", "a name of at most 64 bytes", json_object_get(object, "engine"));
    if (clfi_result_find_row(result, row->workload, row->device, row->engine))
        CLF_FAIL(CLF_FORMAT, "%s: expected one row for each engine, found a second one for workload \"%s\", device %lld, engine \"%s\"",
                 where, id, (long long)device, row->engine);
    row_key(row->workload, row->device, row->engine, key);
    return clfi_result_add_place(result, &result->row_places, key, (size_t)(row - result->rows));
}

static clf_status read_row(clfi_result *result, const json_t *object, const char *where, clfi_result_row *row)
{
    CLF_TRY(resolve(result, object, where, row));
    CLF_TRY(read_status(object, where, row));
    CLF_TRY(read_facts(object, where, row));
    CLF_TRY(read_methods(object, where, row));
    row->wall = (clfi_summary){NAN, NAN, NAN};
    row->device_median_ms = NAN;
    if (row->status == CLFI_RESULT_OK)
        return read_times(result, object, where, row);
    const json_t *samples;
    CLF_TRY(clfi_json_opt_array(object, where, "wall_ms", &samples));
    if (json_array_size(samples))
        return clfi_result_wrong(where, "wall_ms", "no samples, because the row is not verified", samples);
    return CLF_OK;
}

clf_status clfi_result_read_rows(clfi_result *result)
{
    char where[CLFI_RESULT_WHERE_BYTES];
    const json_t *array;
    CLF_TRY(clfi_result_table(result, "results", sizeof *result->rows, &array, &result->rows, &result->row_count));
    for (size_t i = 0; i < result->row_count; i++)
        CLF_TRY(read_row(result, json_array_get(array, i), clfi_result_where(result, "results", i, where), &result->rows[i]));
    return CLF_OK;
}
