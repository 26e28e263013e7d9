/* SPDX-License-Identifier: MIT */
/* Writes the page's tables of devices, of speeds at a glance, and of every result. */
#include <math.h>
#include <string.h>

#include "report/report_parts.h"

static void cell(clfi_markup *m, const char *text)
{
    clfi_markup_raw(m, "<td>");
    clfi_markup_escape(m, text, 0);
    clfi_markup_raw(m, "</td>");
}

static void figure_cell(clfi_markup *m, double value, const char *suffix)
{
    char number[CLFI_FIGURE_BYTES];
    if (isfinite(value))
        clfi_markup_format(m, "<td class=\"n\">%s%s</td>", clfi_figure(value, number), suffix);
    else
        clfi_markup_raw(m, "<td class=\"n\">" CLFI_NO_FIGURE "</td>");
}

static void chip(clfi_markup *m, const clfi_report_data *data, size_t device)
{
    clfi_markup_format(m, "<span class=\"chip chip%zu\"></span>", device % CLFI_REPORT_COLOURS);
    clfi_markup_escape(m, data->devices[device].label, 0);
}

static void device_row(clfi_markup *m, const clfi_report_data *data, size_t index)
{
    const clfi_result_device *d = data->devices[index].device;
    char memory[CLFI_FIGURE_BYTES];
    const char *name;
    clfi_markup_raw(m, "<tr><td><b>");
    chip(m, data, index);
    clfi_markup_raw(m, "</b><br>");
    clfi_markup_escape(m, d->name, 0);
    clfi_markup_raw(m, "<br><small>");
    clfi_markup_escape(m, d->platform, 0);
    clfi_markup_raw(m, "; driver ");
    clfi_markup_escape(m, d->driver, 0);
    clfi_markup_raw(m, "; ");
    clfi_markup_escape(m, d->opencl_c, 0);
    clfi_markup_raw(m, d->tuned ? "; tuned" : "");
    clfi_markup_raw(m, "</small>");
    if (d->reason) {
        clfi_markup_raw(m, "<br><span class=\"bad\">not measured: ");
        clfi_markup_escape(m, d->reason, 0);
        clfi_markup_raw(m, "</span>");
    }
    clfi_markup_raw(m, "</td>");
    cell(m, d->type);
    clfi_markup_format(m, "<td class=\"n\">%lld</td><td class=\"n\">%s</td>", (long long)d->compute_units,
                       clfi_figure_bytes((double)d->memory_bytes, memory));
    figure_cell(m, clfi_result_limit(d, "fp32_gflops"), "");
    figure_cell(m, clfi_report_bandwidth(d, &name), "");
    clfi_markup_raw(m, "</tr>\n");
}

/* Writes all limits of each device that has more than two, in words; the table has only two of them. */
static void other_limits(clfi_markup *m, const clfi_report_data *data)
{
    for (size_t i = 0; i < data->device_count; i++) {
        const char *name, *separator = "";
        json_t *value;
        if (json_object_size(data->devices[i].device->limits) < 3)
            continue;
        clfi_markup_raw(m, "<p class=\"note\"><b>");
        clfi_markup_escape(m, data->devices[i].label, 0);
        clfi_markup_raw(m, "</b>: ");
        json_object_foreach((json_t *)data->devices[i].device->limits, name, value) {
            char text[CLFI_LABEL_BYTES];
            clfi_markup_raw(m, separator);
            clfi_report_limit_text(name, json_number_value(value), text);
            clfi_markup_escape(m, text, 0);
            separator = ", ";
        }
        clfi_markup_raw(m, "</p>\n");
    }
}

void clfi_report_device_table(clfi_markup *m, const clfi_report_data *data)
{
    clfi_markup_raw(
        m, "<div class=\"scroll\"><table>\n<tr><th>device</th><th>type</th><th class=\"n\">compute units</th><th class=\"n\">memory</th>"
           "<th class=\"n\">float32<br>GFLOP/s</th><th class=\"n\">memory<br>GB/s</th></tr>\n");
    for (size_t i = 0; i < data->device_count; i++)
        device_row(m, data, i);
    clfi_markup_raw(m, "</table></div>\n<p class=\"note\">GFLOP/s and GB/s are limits measured on the device in the same run, not data "
                       "sheet values.</p>\n");
    other_limits(m, data);
}

void clfi_report_speed_table(clfi_markup *m, const clfi_report_data *data)
{
    clfi_markup_raw(m, "<div class=\"scroll\"><table class=\"keep\">\n<tr><th>op</th><th class=\"n\">workloads</th>");
    for (size_t d = 0; d < data->device_count; d++) {
        clfi_markup_raw(m, "<th class=\"n\">");
        chip(m, data, d);
        clfi_markup_raw(m, "</th>");
    }
    clfi_markup_raw(m, "</tr>\n");
    for (size_t i = 0; i < data->op_count; i++) {
        size_t common = 0, count;
        double best = 0;
        for (size_t d = 0; d < data->device_count; d++) {
            best = fmax(best, clfi_report_speed(data, &data->ops[i], d, &count));
            common = count > common ? count : common;
        }
        if (common == 0)
            continue;
        clfi_markup_raw(m, "<tr>");
        cell(m, data->ops[i].name);
        clfi_markup_format(m, "<td class=\"n\">%zu of %zu</td>", common, data->ops[i].count);
        for (size_t d = 0; d < data->device_count; d++) {
            char number[CLFI_FIGURE_BYTES];
            const double speed = clfi_report_speed(data, &data->ops[i], d, &count);
            clfi_markup_format(m, speed == best ? "<td class=\"n\"><b>%s</b></td>" : "<td class=\"n\">%s</td>",
                               clfi_figure(speed, number));
        }
        clfi_markup_raw(m, "</tr>\n");
    }
    clfi_markup_raw(m, "</table></div>\n");
}

static void work_heading(clfi_markup *m, const clfi_report_data *data, const clfi_report_work *work)
{
    const json_t *off_device = NULL;
    json_t *text;
    size_t i;
    for (size_t r = work->first; r < work->first + work->count && json_array_size(off_device) == 0; r++)
        off_device = data->rows[r].row->off_device;
    clfi_markup_raw(m, "<tr class=\"work\"><td colspan=\"9\"><code>");
    clfi_markup_escape(m, work->workload->id, 0);
    clfi_markup_raw(m, "</code>");
    json_array_foreach((json_t *)off_device, i, text) {
        clfi_markup_raw(m, i ? ", " : " <small>on the host: ");
        clfi_markup_escape(m, json_string_value(text), 0);
    }
    clfi_markup_raw(m, json_array_size(off_device) ? "</small></td></tr>\n" : "</td></tr>\n");
}

static void result_row(clfi_markup *m, const clfi_report_data *data, const clfi_report_row *row)
{
    const clfi_result_row *r = row->row;
    char text[CLFI_FIGURE_BYTES], other[CLFI_FIGURE_BYTES], rate[2 * CLFI_FIGURE_BYTES];
    clfi_markup_raw(m, row->is_best ? "<tr class=\"best\"><td>" : "<tr><td>");
    clfi_markup_escape(m, data->devices[row->device].label, 0);
    clfi_markup_raw(m, "</td>");
    cell(m, r->engine);
    if (!clfi_report_is_measured(r)) {
        clfi_markup_format(m, r->status == CLFI_RESULT_FAILED ? "<td colspan=\"7\"><span class=\"bad\">%s</span>" : "<td colspan=\"7\">%s",
                           clfi_report_outcome(r));
        clfi_markup_raw(m, r->reason ? ": " : "");
        clfi_markup_escape(m, r->reason ? r->reason : "", 0);
        clfi_markup_raw(m, "</td></tr>\n");
        return;
    }
    clfi_markup_format(m, "<td class=\"n\">%s</td>", clfi_figure_time(r->wall.median, text));
    clfi_markup_format(m, "<td class=\"n\">%s\u2013%s%s</td>", clfi_figure(r->wall.p10 / r->wall.median * 100, text),
                       clfi_figure(r->wall.p90 / r->wall.median * 100, other), r->noisy ? " ~" : "");
    clfi_markup_format(m, "<td class=\"n\">%s</td>", clfi_figure_time(r->device_median_ms, text));
    clfi_markup_raw(m, "<td class=\"n\">");
    clfi_markup_escape(m, clfi_report_rate(r, rate), 0);
    clfi_markup_format(m, "</td><td class=\"n\">%s</td>", clfi_report_share(data, row, text));
    if (isfinite(r->facts.max_error) && isfinite(r->facts.error_bound))
        clfi_markup_format(m, "<td class=\"n\">%.2g \u2264 %.2g</td>", r->facts.max_error, r->facts.error_bound);
    else
        clfi_markup_raw(m, "<td class=\"n\">" CLFI_NO_FIGURE "</td>");
    clfi_markup_format(m, "<td class=\"n\">%zu</td></tr>\n", r->wall_ms.count);
}

void clfi_report_result_table(clfi_markup *m, const clfi_report_data *data)
{
    clfi_markup_raw(
        m, "<div class=\"scroll\"><table class=\"dense\">\n<tr><th>device</th><th>engine</th><th class=\"n\">median, wall</th><th "
           "class=\"n\">p10\u2013p90, "
           "%</th><th class=\"n\">on device</th><th class=\"n\">rate</th><th class=\"n\">of limit</th><th class=\"n\">error \u2264 "
           "bound</th><th class=\"n\">samples</th></tr>\n");
    for (size_t i = 0; i < data->work_count; i++) {
        const clfi_report_work *work = &data->works[i];
        if (work->count)
            work_heading(m, data, work);
        for (size_t r = work->first; r < work->first + work->count; r++)
            result_row(m, data, &data->rows[r]);
    }
    clfi_markup_raw(m, "</table></div>\n");
}
