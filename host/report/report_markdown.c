/* SPDX-License-Identifier: MIT */
/* Writes the report as Markdown tables, for places that show neither HTML nor SVG. */
#include <math.h>
#include <string.h>

#include "report/report_parts.h"

static void cell(clfi_markup *m, const char *text)
{
    clfi_markup_raw(m, "| ");
    clfi_markup_escape_markdown(m, text);
    clfi_markup_raw(m, " ");
}

static void write_devices(clfi_markup *m, const clfi_report_data *data)
{
    char number[CLFI_FIGURE_BYTES];
    const char *name;
    clfi_markup_raw(
        m, "## Devices\n\n| device | name | platform | driver | type | float32 GFLOP/s | memory GB/s |\n|---|---|---|---|---|--:|--:|\n");
    for (size_t i = 0; i < data->device_count; i++) {
        const clfi_result_device *d = data->devices[i].device;
        cell(m, data->devices[i].label);
        cell(m, d->name);
        cell(m, d->platform);
        cell(m, d->driver);
        cell(m, d->type);
        cell(m, clfi_figure(clfi_result_limit(d, "fp32_gflops"), number));
        cell(m, clfi_figure(clfi_report_bandwidth(d, &name), number));
        clfi_markup_raw(m, "|\n");
    }
    clfi_markup_raw(m, "\nLimits were measured in the same run.\n\n");
}

static void write_result(clfi_markup *m, const clfi_report_data *data, const clfi_report_work *work, const clfi_report_row *row)
{
    char text[2 * CLFI_FIGURE_BYTES], number[CLFI_FIGURE_BYTES];
    const clfi_result_row *r = row->row;
    cell(m, work->workload->id);
    cell(m, data->devices[row->device].label);
    cell(m, r->engine);
    if (!clfi_report_is_measured(r)) {
        clfi_markup_format(m, r->status == CLFI_RESULT_FAILED ? "| **%s** | | | |" : "| %s | | | |", clfi_report_outcome(r));
        clfi_markup_raw(m, data->device_count > 1 ? " |\n" : "\n");
        return;
    }
    cell(m, clfi_figure_time(r->wall.median, number));
    snprintf(text, sizeof text, "%.0f to %.0f %%%s", r->wall.p10 / r->wall.median * 100, r->wall.p90 / r->wall.median * 100,
             r->noisy ? " noisy" : "");
    cell(m, text);
    cell(m, clfi_report_rate(r, text));
    if (data->device_count > 1)
        cell(m, row->is_best ? clfi_figure(work->slowest_ms / r->wall.median, number) : CLFI_NO_FIGURE);
    cell(m, clfi_report_share(data, row, number));
    clfi_markup_raw(m, "|\n");
}

static void write_op(clfi_markup *m, const clfi_report_data *data, const clfi_report_op *op)
{
    clfi_markup_raw(m, "## ");
    clfi_markup_escape_markdown(m, op->name);
    clfi_markup_raw(m, data->device_count > 1
                           ? "\n\n| workload | device | engine | median | p10 to p90 | rate | times the slowest | of limit "
                             "|\n|---|---|---|--:|--:|--:|--:|--:|\n"
                           : "\n\n| workload | device | engine | median | p10 to p90 | rate | of limit |\n|---|---|---|--:|--:|--:|--:|\n");
    for (size_t i = op->first; i < op->first + op->count; i++)
        for (size_t r = data->works[i].first; r < data->works[i].first + data->works[i].count; r++)
            write_result(m, data, &data->works[i], &data->rows[r]);
    clfi_markup_raw(m, "\n");
}

static void write_failures(clfi_markup *m, const clfi_report_data *data)
{
    clfi_markup_raw(m, "## Failures\n\n");
    if (data->failed == 0)
        clfi_markup_raw(m, "None: every computed result agrees with the host's float64 reference.\n");
    for (size_t i = 0; i < data->row_count; i++)
        if (data->rows[i].row->status == CLFI_RESULT_FAILED) {
            clfi_markup_raw(m, "- ");
            clfi_markup_escape_markdown(m, data->works[data->rows[i].work].workload->id);
            clfi_markup_raw(m, " ");
            clfi_markup_escape_markdown(m, data->rows[i].row->engine);
            clfi_markup_raw(m, " on ");
            clfi_markup_escape_markdown(m, data->devices[data->rows[i].device].label);
            clfi_markup_raw(m, ": ");
            clfi_markup_escape_markdown(m, data->rows[i].row->reason);
            clfi_markup_raw(m, "\n");
        }
    clfi_markup_raw(m, "\n## Not measured\n\n");
    for (size_t f = 0; f < data->file_count; f++)
        for (size_t i = 0; i < data->files[f].not_measured_count; i++) {
            clfi_markup_raw(m, "- ");
            clfi_markup_escape_markdown(m, data->files[f].not_measured[i].what);
            clfi_markup_raw(m, ": ");
            clfi_markup_escape_markdown(m, data->files[f].not_measured[i].why);
            clfi_markup_raw(m, "\n");
        }
}

static void write_method(clfi_markup *m, const clfi_report_data *data)
{
    clfi_markup_raw(m, "\n## How it was measured\n\nEach result was compared with a float64 reference on the host first; wrong results are "
                       "FAILED and not timed. Times are wall time, medians over rounds of random order.\n\n");
    for (size_t f = 0; f < data->file_count; f++) {
        const clfi_result *file = &data->files[f];
        clfi_markup_raw(m, "- ");
        clfi_markup_escape_markdown(m, file->path);
        clfi_markup_raw(m, ": ");
        clfi_markup_escape_markdown(m, file->created);
        clfi_markup_raw(m, ", ");
        clfi_markup_escape_markdown(m, file->host.cpu);
        clfi_markup_raw(m, ", ");
        clfi_markup_escape_markdown(m, file->host.os);
        clfi_markup_raw(m, ", clformer ");
        clfi_markup_escape_markdown(m, file->library.version);
        clfi_markup_raw(m, " (");
        clfi_markup_escape_markdown(m, file->library.commit);
        clfi_markup_raw(m, "), CLBlast ");
        clfi_markup_escape_markdown(m, file->library.clblast);
        clfi_markup_format(m, "; at least %g s and %lld samples each%s%s\n", file->settings.min_seconds,
                           (long long)file->settings.min_samples, file->settings.quick ? "; short list of workloads" : "",
                           file->complete ? "" : "; INCOMPLETE, interrupted");
    }
}

void clfi_report_markdown(clfi_markup *m, const clfi_report_data *data)
{
    clfi_markup_raw(m, "# Benchmark of OpenCL devices\n\n");
    write_devices(m, data);
    for (size_t i = 0; i < data->op_count; i++)
        write_op(m, data, &data->ops[i]);
    write_failures(m, data);
    write_method(m, data);
}
