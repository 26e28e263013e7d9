/* SPDX-License-Identifier: MIT */
/* Figures that a report derives from the rows it gathered. */
#include "report/report_data.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/markup.h"
#include "workload/peak.h"

const clfi_report_row *clfi_report_best(const clfi_report_data *data, const clfi_report_work *work, size_t device)
{
    size_t low = work->first, end = work->first + work->count;
    for (size_t high = end; low < high;) { /* the device's first row */
        const size_t middle = low + (high - low) / 2;
        if (data->rows[middle].device < device)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && data->rows[low].device == device && data->rows[low].is_best ? &data->rows[low] : NULL;
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

/* How often a run passes over its data. workload->bytes counts all passes. */
static double passes(const clfi_report_work *work)
{
    const json_t *chain = json_object_get(work->workload->work, "chain");
    const double count = json_number_value(chain ? chain : json_object_get(work->workload->work, "steps"));
    return count > 1 ? count : 1;
}

/* Takes the copy of the nearest size, or the memory if that is faster. A workload that was faster than both got its data from a cache. Its
 * limit is then the slowest copy that it does not exceed. */
double clfi_report_point_bandwidth(const clfi_result_device *device, const clfi_report_work *work, const clfi_result_row *row)
{
    const char *name, *key;
    const double memory = clfi_report_bandwidth(device, &name), reached = work->workload->bytes / row->wall.median * 1e-6;
    const double bytes = work->workload->bytes / passes(work);
    double size, nearest = INFINITY, found = NAN, above = INFINITY;
    for (size_t i = 0; (key = clfi_peak_copy_at(i, &size)); i++) {
        const double limit = clfi_result_limit(device, key), distance = fabs(log(bytes / 2 / size));
        if (limit >= reached && limit < above)
            above = limit;
        if (isnan(limit) || !(distance < nearest))
            continue;
        nearest = distance;
        found = limit;
    }
    found = found > memory ? found : memory;
    return reached > found && isfinite(above) ? above : found;
}

double clfi_report_arithmetic(const clfi_result_device *device, const clfi_report_work *work)
{
    static const char unit[] = "_gflops";
    const char *own = work->workload->limit;
    const size_t length = own ? strlen(own) : 0;
    const bool is_arithmetic = length >= sizeof unit && strcmp(own + length + 1 - sizeof unit, unit) == 0;
    const double limit = is_arithmetic ? clfi_result_limit(device, own) : NAN;
    return isnan(limit) ? clfi_result_limit(device, "fp32_gflops") : limit;
}

double clfi_report_roof(const clfi_result_device *device, const clfi_report_work *work, const clfi_result_row *row)
{
    const double arithmetic = clfi_report_arithmetic(device, work),
                 memory = clfi_report_intensity(work) * clfi_report_point_bandwidth(device, work, row);
    return arithmetic < memory ? arithmetic : isnan(arithmetic) ? NAN : memory;
}

const char *clfi_report_share(const clfi_report_data *data, const clfi_report_row *row, char text[CLFI_FIGURE_BYTES])
{
    const double percent = row->row->facts.percent_of_limit;
    const char *limit = data->works[row->work].workload->limit;
    const bool is_noisy = limit && json_is_true(json_object_get(data->devices[row->device].noisy_limits, limit));
    if (!isfinite(percent))
        snprintf(text, CLFI_FIGURE_BYTES, CLFI_NO_FIGURE);
    else
        snprintf(text, CLFI_FIGURE_BYTES, percent < 9.95 ? "%s%.1f %%" : "%s%.0f %%", is_noisy ? "~" : "", percent);
    return text;
}

const char *clfi_report_rate(const clfi_result_row *row, char text[2 * CLFI_FIGURE_BYTES])
{
    char number[CLFI_FIGURE_BYTES];
    if (clfi_report_is_time(row))
        return clfi_figure_time(row->wall.median, text);
    snprintf(text, 2 * CLFI_FIGURE_BYTES, "%s %.16s", clfi_figure(row->facts.rate, number), row->rate_unit);
    return text;
}

/* "copy_32kib_gbps" becomes "copy of 32 KiB" and "GB/s". A key that this version does not know stays as it is. */
void clfi_report_limit_text(const char *key, double value, char text[CLFI_LABEL_BYTES])
{
    static const struct {
        const char *key, *name, *unit;
    } rows[] = {
        {"read_gbps", "read", "GB/s"},         {"write_gbps", "write", "GB/s"},        {"copy_gbps", "copy", "GB/s"},
        {"fp32_gflops", "float32", "GFLOP/s"}, {"fp16_gflops", "float16", "GFLOP/s"},  {"bf16_gflops", "bfloat16", "GFLOP/s"},
        {CLFI_MATRIX_LIMIT, "matrix unit", "GFLOP/s"},
        {"int8_gops", "int8 dot", "GOP/s"},    {"local_gbps", "local memory", "GB/s"}, {"round_trip_us", "launch and wait", "\u00b5s"},
        {"upload_gbps", "upload", "GB/s"},     {"download_gbps", "download", "GB/s"}};
    char number[CLFI_FIGURE_BYTES], unit[8];
    int size;
    clfi_figure(value, number);
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (strcmp(rows[i].key, key) == 0) {
            snprintf(text, CLFI_LABEL_BYTES, "%s %s %s", rows[i].name, number, rows[i].unit);
            return;
        }
    }
    if (sscanf(key, "copy_%d%3[kmib]_gbps", &size, unit) == 2)
        snprintf(text, CLFI_LABEL_BYTES, "copy of %d %s %s GB/s", size, unit[0] == 'k' ? "KiB" : "MiB", number);
    else
        snprintf(text, CLFI_LABEL_BYTES, "%.80s %s", key, number);
}

bool clfi_report_beats_limit(const clfi_report_data *data, size_t device)
{
    for (size_t i = 0; i < data->work_count; i++) {
        const clfi_report_row *best = data->works[i].number ? clfi_report_best(data, &data->works[i], device) : NULL;
        const double limit = clfi_report_arithmetic(data->devices[device].device, &data->works[i]);
        if (best && clfi_report_gflops(&data->works[i], best->row) > 1.05 * limit)
            return true;
    }
    return false;
}

bool clfi_report_is_time(const clfi_result_row *row)
{
    return strchr(row->rate_unit, '/') == NULL;
}

double clfi_report_log_time(const clfi_report_data *data, const clfi_report_op *op, size_t device, size_t *count)
{
    double sum = 0;
    *count = 0;
    for (size_t i = op->first; i < op->first + op->count; i++) {
        const clfi_report_row *best = data->works[i].is_common ? clfi_report_best(data, &data->works[i], device) : NULL;
        if (best) {
            sum += log(best->row->wall.median);
            ++*count;
        }
    }
    return *count ? sum / (double)*count : NAN;
}

double clfi_report_speed(const clfi_report_data *data, const clfi_report_op *op, size_t device, size_t *count)
{
    const double own = clfi_report_log_time(data, op, device, count);
    return exp(op->slowest_log - own);
}
