/* SPDX-License-Identifier: MIT */
/* Computes the figures of a result row from its samples: medians, quantiles, rates. */
#include "bench/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), size = strlen(end);
    return length >= size && strcmp(text + length - size, end) == 0;
}

/* The rate in 10^9 bytes or operations per second, by what the limit counts. */
static double billions(const clfi_workload *workload, const char *key, double ms)
{
    return (ends_with(key, "_gbps") ? workload->bytes : workload->flops) / (ms * 1e6);
}

static bool is_time(const char *key)
{
    return ends_with(key, "_us");
}

/* Whether the row has samples, and its workload measures the limit `key`. */
static bool measures(const clfi_bench *bench, const clfi_row *row, size_t device, const char *key)
{
    const char *measured = clfi_workload_measures(&bench->workloads->items[row->workload]);
    return row->device == device && row->status == CLFI_ROW_OK && row->wall_ms.count > 0 && measured && strcmp(measured, key) == 0;
}

double clfi_device_limit(const clfi_bench *bench, size_t device, const char *key)
{
    double best = NAN;
    for (size_t i = 0; i < bench->row_count; i++) {
        const clfi_row *row = &bench->rows[i];
        clfi_summary wall;
        if (!measures(bench, row, device, key) || clfi_samples_summary(&row->wall_ms, &wall) != CLF_OK)
            continue;
        const double value = is_time(key) ? wall.p10 * 1e3 : billions(&bench->workloads->items[row->workload], key, wall.p10);
        if (isnan(best) || (is_time(key) ? value < best : value > best))
            best = value;
    }
    return best;
}

/* The rate of a row in one round, from the median of its times; NaN: it has no times in this round. */
static clf_status rate_in_round(const clfi_bench *bench, const clfi_row *row, const char *key, size_t round, double *out)
{
    const clfi_samples *counts = &row->round_samples;
    clfi_samples part = CLFI_SAMPLES_INIT;
    clfi_summary wall;
    *out = NAN;
    if (round >= counts->count)
        return CLF_OK;
    part.values = row->wall_ms.values;
    for (size_t i = 0; i < round; i++)
        part.values += (size_t)counts->values[i];
    part.count = (size_t)counts->values[round];
    CLF_TRY(clfi_samples_summary(&part, &wall));
    *out = billions(&bench->workloads->items[row->workload], key, wall.median);
    return CLF_OK;
}

/* Adds the share of the limit in one round, in percent; nothing if the limit was not measured in that round. */
static clf_status add_share(const clfi_bench *bench, const clfi_row *row, const char *key, size_t round, clfi_samples *shares)
{
    double rate, best = NAN;
    CLF_TRY(rate_in_round(bench, row, key, round, &rate));
    for (size_t i = 0; i < bench->row_count; i++) {
        double limit = NAN;
        if (measures(bench, &bench->rows[i], row->device, key))
            CLF_TRY(rate_in_round(bench, &bench->rows[i], key, round, &limit));
        if (!(limit <= best) && !isnan(limit))
            best = limit;
    }
    return isnan(best) ? CLF_OK : clfi_samples_add(shares, 100 * rate / best);
}

static clf_status share_of_limit(const clfi_bench *bench, const clfi_row *row, const char *key, double *out)
{
    clfi_samples shares = CLFI_SAMPLES_INIT;
    clfi_summary summary;
    clf_status st = CLF_OK;
    for (size_t round = 0; st == CLF_OK && round < row->round_samples.count; round++)
        st = add_share(bench, row, key, round, &shares);
    if (st == CLF_OK)
        st = clfi_samples_summary(&shares, &summary);
    clfi_samples_free(&shares);
    CLF_TRY(st);
    *out = summary.median;
    return CLF_OK;
}

static void set_rate(const clfi_workload *workload, clfi_figures *out)
{
    const char *key = workload->limit ? workload->limit : clfi_workload_measures(workload);
    const double seconds = out->wall.median / 1e3;
    const bool counts_bytes = workload->bytes > 0 && (workload->flops <= 0 || (key && ends_with(key, "_gbps")));
    if (workload->item && workload->items > 0) {
        out->rate = workload->items / seconds;
        snprintf(out->unit, sizeof out->unit, "%s/s", workload->item);
    } else if (counts_bytes) {
        out->rate = workload->bytes / seconds / 1e9;
        snprintf(out->unit, sizeof out->unit, "GB/s");
    } else if (workload->flops > 0) {
        out->rate = workload->flops / seconds / 1e9;
        snprintf(out->unit, sizeof out->unit, key && ends_with(key, "_gops") ? "GOP/s" : "GFLOP/s");
    } else {
        out->rate = seconds * 1e6;
        snprintf(out->unit, sizeof out->unit, "us");
    }
}

clf_status clfi_row_figures(const clfi_bench *bench, const clfi_row *row, clfi_figures *out)
{
    const clfi_workload *workload = &bench->workloads->items[row->workload];
    clfi_summary device;
    if (row->status != CLFI_ROW_OK || row->wall_ms.count == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: no samples", workload->id);
    CLF_TRY(clfi_samples_summary(&row->wall_ms, &out->wall));
    CLF_TRY(clfi_samples_summary(&row->device_ms, &device));
    out->device_median_ms = device.median;
    out->is_noisy = clfi_summary_is_noisy(&out->wall);
    out->percent = NAN;
    set_rate(workload, out);
    return workload->limit && !is_time(workload->limit) ? share_of_limit(bench, row, workload->limit, &out->percent) : CLF_OK;
}
