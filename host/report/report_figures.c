/* SPDX-License-Identifier: MIT */
/* What a report derives from the rows it gathered. */
#include "report/report_data.h"

#include <math.h>
#include <string.h>

const clfi_report_row *clfi_report_best(const clfi_report_data *data, const clfi_report_work *work, size_t device)
{
    for (size_t i = work->first; i < work->first + work->count; i++)
        if (data->rows[i].device == device && data->rows[i].is_best)
            return &data->rows[i];
    return NULL;
}

double clfi_report_gflops(const clfi_report_work *work, const clfi_result_row *row)
{
    return work->workload->flops / row->wall.median * 1e-6;
}

double clfi_report_intensity(const clfi_report_work *work)
{
    return work->workload->flops / work->workload->bytes;
}

double clfi_report_bandwidth(const clfi_result_device *device, const char **name)
{
    const double read = clfi_result_limit(device, "read_gbps"), copy = clfi_result_limit(device, "copy_gbps");
    *name = isnan(read) || copy > read ? "copy" : "read";
    return isnan(read) || copy > read ? copy : read;
}

double clfi_report_roof(const clfi_result_device *device, double intensity)
{
    const char *name;
    const double arithmetic = clfi_result_limit(device, "fp32_gflops"), memory = intensity * clfi_report_bandwidth(device, &name);
    return arithmetic < memory ? arithmetic : isnan(arithmetic) ? NAN : memory;
}

bool clfi_report_beats_limit(const clfi_report_data *data, size_t device)
{
    const double limit = clfi_result_limit(data->devices[device].device, "fp32_gflops");
    for (size_t i = 0; i < data->work_count; i++) {
        const clfi_report_row *best = data->works[i].number ? clfi_report_best(data, &data->works[i], device) : NULL;
        if (best && clfi_report_gflops(&data->works[i], best->row) > 1.05 * limit)
            return true;
    }
    return false;
}

bool clfi_report_is_time(const clfi_result_row *row)
{
    return strchr(row->rate_unit, '/') == NULL;
}

/* Sum of the logarithms of the best times over the workloads that every device verified. */
static double log_time(const clfi_report_data *data, const clfi_report_op *op, size_t device, size_t *count)
{
    double sum = 0;
    *count = 0;
    for (size_t i = op->first; i < op->first + op->count; i++) {
        bool is_common = true;
        for (size_t d = 0; d < data->device_count; d++)
            is_common = is_common && (data->devices[d].device->reason || clfi_report_best(data, &data->works[i], d));
        const clfi_report_row *best = clfi_report_best(data, &data->works[i], device);
        if (is_common && best) {
            sum += log(best->row->wall.median);
            ++*count;
        }
    }
    return *count ? sum / (double)*count : NAN;
}

double clfi_report_speed(const clfi_report_data *data, const clfi_report_op *op, size_t device, size_t *count)
{
    const double own = log_time(data, op, device, count);
    double slowest = own;
    size_t ignored;
    for (size_t d = 0; d < data->device_count; d++) {
        const double other = log_time(data, op, d, &ignored);
        slowest = other > slowest ? other : slowest;
    }
    return exp(slowest - own);
}
