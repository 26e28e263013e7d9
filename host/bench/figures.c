/* SPDX-License-Identifier: MIT */
/* Figures of rows. */
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

const char *clfi_workload_measures(const clfi_workload *workload)
{
    return json_string_value(json_object_get(workload->work, "measures"));
}

/* 10^9 of what the limit counts, per second. */
static double billions(const clfi_workload *workload, const char *key, double ms)
{
    return (ends_with(key, "_gbps") ? workload->bytes : workload->flops) / (ms * 1e6);
}

double clfi_device_limit(const clfi_bench *bench, size_t device, const char *key)
{
    const bool is_time = ends_with(key, "_us");
    double best = NAN;
    for (size_t i = 0; i < bench->row_count; i++) {
        const clfi_row *row = &bench->rows[i];
        const clfi_workload *workload = &bench->workloads->items[row->workload];
        const char *measures = clfi_workload_measures(workload);
        clfi_summary wall;
        if (row->device != device || row->status != CLFI_ROW_OK || row->wall_ms.count == 0 || !measures || strcmp(measures, key) != 0 ||
            clfi_samples_summary(&row->wall_ms, &wall) != CLF_OK)
            continue;
        const double value = is_time ? wall.p10 * 1e3 : billions(workload, key, wall.p10);
        if (isnan(best) || (is_time ? value < best : value > best))
            best = value;
    }
    return best;
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
    if (workload->limit && !ends_with(workload->limit, "_us")) {
        const double limit = clfi_device_limit(bench, row->device, workload->limit);
        out->percent = 100 * billions(workload, workload->limit, out->wall.median) / limit;
    }
    return CLF_OK;
}
