/* SPDX-License-Identifier: MIT */
/* Draws the bars of a report. Each workload is a block with a bar per device for its fastest verified engine, a whisker from p10 to p90,
 * and ticks for the other engines. The bars of one workload share a scale. */
#include <math.h>
#include <string.h>

#include "report/report_parts.h"

enum {
    NAME = 168, /* right edge of the devices' names */
    BAR = 178,  /* the bars' left end */
    BAR_END = 492,
    VALUE = 602, /* right edges of the columns */
    TIMES = 668,
    PERCENT = 724,
    ENGINE = 738, /* left edge */
    LINE = 17,
    BAR_HEIGHT = 11,
    BLOCK = 24, /* a workload's heading */
    HEAD = 15
};

/* The value of a bar at a time of `ms`: the rate, or the time if the row's rate is a time. */
static double value_at(const clfi_result_row *row, double ms)
{
    return clfi_report_is_time(row) ? row->facts.rate * ms / row->wall.median : row->facts.rate * row->wall.median / ms;
}

static double block_scale(const clfi_report_data *data, const clfi_report_work *work)
{
    double most = 0;
    for (size_t i = work->first; i < work->first + work->count; i++)
        if (data->rows[i].is_best)
            most = fmax(most, fmax(value_at(data->rows[i].row, data->rows[i].row->wall.p10),
                                   value_at(data->rows[i].row, data->rows[i].row->wall.p90)));
    return most > 0 ? (BAR_END - BAR) / most : 0;
}

static void draw_text(clfi_markup *m, const char *class, double x, double y, const char *text)
{
    clfi_markup_format(m, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
    clfi_markup_escape(m, text, 0);
    clfi_markup_raw(m, "</text>");
}

static void draw_bar(clfi_markup *m, const clfi_report_row *row, double scale, double y)
{
    const double middle = y + LINE / 2.0, low = value_at(row->row, row->row->wall.p90), high = value_at(row->row, row->row->wall.p10);
    clfi_markup_format(m, "<rect class=\"fill%zu\" x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"1.5\"/>",
                       row->device % CLFI_REPORT_COLOURS, BAR, middle - BAR_HEIGHT / 2.0, fmax(row->row->facts.rate * scale, 0.5),
                       BAR_HEIGHT);
    clfi_markup_format(m, "<path class=\"whisker\" d=\"M%.1f %.1fH%.1fM%.1f %.1fv6M%.1f %.1fv6\"/>", BAR + low * scale, middle,
                       BAR + high * scale, BAR + low * scale, middle - 3, BAR + high * scale, middle - 3);
}

/* The other engines of the device, as ticks on the same line. */
static void draw_others(clfi_markup *m, const clfi_report_data *data, const clfi_report_work *work, size_t device, double scale, double y)
{
    for (size_t i = work->first; i < work->first + work->count; i++) {
        const clfi_report_row *row = &data->rows[i];
        if (row->device == device && !row->is_best && clfi_report_is_measured(row->row) &&
            row->row->facts.rate * scale <= BAR_END - BAR + 1)
            clfi_markup_format(m, "<path class=\"other\" d=\"M%.1f %.1fv%d\"/>", BAR + row->row->facts.rate * scale, y + 2, LINE - 4);
    }
}

static void draw_figures(clfi_markup *m, const clfi_report_data *data, const clfi_report_work *work, const clfi_report_row *row, double y)
{
    char text[96], number[2 * CLFI_FIGURE_BYTES];
    const clfi_result_row *r = row->row;
    snprintf(text, sizeof text, "%s%s", r->noisy ? "~" : "", clfi_report_rate(r, number));
    draw_text(m, "value end", VALUE, y + 12.5, text);
    if (data->device_count > 1) {
        snprintf(text, sizeof text, "\u00d7%s", clfi_figure(work->slowest_ms / r->wall.median, number));
        draw_text(m, "value end", TIMES, y + 12.5, text);
    }
    if (isfinite(r->facts.percent_of_limit))
        draw_text(m, "value end", PERCENT, y + 12.5, clfi_report_share(data, row, number));
    clfi_markup_format(m, "<text class=\"mono quiet\" x=\"%d\" y=\"%.1f\">", ENGINE, y + 12.5);
    clfi_markup_escape(m, r->engine, 18);
    clfi_markup_raw(m, "</text>");
}

/* The row that says why a device has no bar: a failed engine's before an unsupported one's before an interrupted one's; NULL: the device
 * has no row without figures. */
static const clfi_result_row *row_without_bar(const clfi_report_data *data, const clfi_report_work *work, size_t device)
{
    static const clfi_result_status order[] = {CLFI_RESULT_FAILED, CLFI_RESULT_UNSUPPORTED, CLFI_RESULT_OK};
    for (size_t o = 0; o < COUNT(order); o++)
        for (size_t i = work->first; i < work->first + work->count; i++) {
            const clfi_result_row *row = data->rows[i].row;
            if (data->rows[i].device == device && row->status == order[o] && !clfi_report_is_measured(row))
                return row;
        }
    return NULL;
}

static bool draw_device(clfi_markup *m, const clfi_report_data *data, const clfi_report_work *work, size_t device, double scale, double y)
{
    const clfi_report_row *best = clfi_report_best(data, work, device);
    const clfi_result_row *without = best ? NULL : row_without_bar(data, work, device);
    if (!best && !without)
        return false;
    clfi_markup_format(m, "<text class=\"name end\" x=\"%d\" y=\"%.1f\">", NAME, y + 12.5);
    clfi_markup_escape_middle(m, data->devices[device].label, 22);
    clfi_markup_raw(m, "</text>");
    if (best) {
        draw_bar(m, best, scale, y);
        draw_others(m, data, work, device, scale, y);
        draw_figures(m, data, work, best, y);
    } else {
        clfi_markup_format(m, "<text class=\"%s\" x=\"%d\" y=\"%.1f\">%s%s", without->status == CLFI_RESULT_FAILED ? "bad" : "name quiet",
                           BAR + 5, y + 12.5, clfi_report_outcome(without), without->reason ? ": " : "");
        clfi_markup_escape(m, without->reason ? without->reason : "", 96);
        clfi_markup_raw(m, "</text>");
    }
    clfi_markup_raw(m, "\n");
    return true;
}

/* Says which bars of a workload are better; "": it has no bars. */
static const char *order_of(const clfi_report_data *data, const clfi_report_work *work)
{
    for (size_t i = work->first; i < work->first + work->count; i++)
        if (data->rows[i].is_best)
            return clfi_report_is_time(data->rows[i].row) ? "less is better" : "more is better";
    return "";
}

/* As order_of, for all workloads of an op; "" if they differ, so that each workload says it. */
static const char *order_of_all(const clfi_report_data *data, const clfi_report_op *op)
{
    const char *order = "";
    for (size_t i = op->first; i < op->first + op->count; i++) {
        const char *own = order_of(data, &data->works[i]);
        if (*own && *order && strcmp(own, order) != 0)
            return "";
        order = *own ? own : order;
    }
    return order;
}

static void draw_head(clfi_markup *m, const clfi_report_data *data, const char *order, double top)
{
    draw_text(m, "head", BAR, top + 12, order);
    draw_text(m, "head end", VALUE, top + 12, "median");
    if (data->device_count > 1)
        draw_text(m, "head end", TIMES, top + 12, "\u00d7 slowest");
    draw_text(m, "head end", PERCENT, top + 12, "of limit");
    draw_text(m, "head", ENGINE, top + 12, "engine");
    clfi_markup_raw(m, "\n");
}

double clfi_report_bars_head(clfi_markup *m, const clfi_report_data *data, const clfi_report_op *op, double top, bool *out_has_order)
{
    const char *order = order_of_all(data, op);
    *out_has_order = *order != '\0';
    draw_head(m, data, order, top);
    return HEAD;
}

double clfi_report_bars(clfi_markup *m, const clfi_report_data *data, const clfi_report_work *work, double top, bool has_order)
{
    const double scale = block_scale(data, work), start = top + BLOCK;
    double y = start;
    clfi_markup_format(m, "<text class=\"mono strong\" x=\"0\" y=\"%.1f\">", top + 16);
    clfi_markup_escape_middle(m, work->workload->id, 110);
    clfi_markup_raw(m, "</text>\n");
    if (!has_order)
        draw_text(m, "head end", CLFI_FIGURE_WIDTH, top + 16, order_of(data, work));
    for (size_t d = 0; d < data->device_count; d++)
        y += draw_device(m, data, work, d, scale, y) ? LINE : 0;
    if (y > start)
        clfi_markup_format(m, "<path class=\"axisline\" d=\"M%d %.1fV%.1f\"/>\n", BAR, start, y);
    else
        draw_text(m, "quiet name", BAR, (y += LINE) - 5, "not measured");
    return y - top;
}
