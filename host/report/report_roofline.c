/* SPDX-License-Identifier: MIT */
/* Draws the roofline plot of a device (Williams, Waterman & Patterson 2009): arithmetic intensity across, speed up, both logarithmic. The
 * roofs are the limits measured in the same run. Every workload that counts both operations and bytes is a numbered point. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "report/report_parts.h"

enum { LEFT = 62, RIGHT = CLFI_FIGURE_WIDTH - 14, PLOT_HEIGHT = 400, TITLE = 30, AXIS = 46, LEGEND_LINE = 16, OP_LINE = 20 };

typedef struct frame {
    double x0, x1, y0, y1; /* decimal logarithms at the edges */
    double top, bottom;    /* of the plot, in units of the SVG */
} frame;

/* A point of the plot. */
typedef struct point {
    const clfi_report_work *work;
    const clfi_report_row *row; /* NULL: no engine was verified and measured on this device */
    double bandwidth;           /* that the point is compared with; 0: it has no row */
} point;

typedef struct plot {
    const clfi_report_data *data;
    size_t device;
    point *points; /* every numbered workload that has rows on the device */
    size_t count;
    frame f;
} plot;

static double to_x(const frame *f, double intensity)
{
    return LEFT + (log10(intensity) - f->x0) / (f->x1 - f->x0) * (RIGHT - LEFT);
}

static double to_y(const frame *f, double gflops)
{
    return f->bottom - (log10(gflops) - f->y0) / (f->y1 - f->y0) * (f->bottom - f->top);
}

static bool has_rows(const clfi_report_data *data, const clfi_report_work *work, size_t device)
{
    for (size_t i = work->first; i < work->first + work->count; i++)
        if (data->rows[i].device == device)
            return true;
    return false;
}

bool clfi_report_has_roofline(const clfi_report_data *data, size_t device)
{
    const char *name;
    const clfi_result_device *limits = data->devices[device].device;
    if (isnan(clfi_result_limit(limits, "fp32_gflops")) || isnan(clfi_report_bandwidth(limits, &name)))
        return false;
    for (size_t i = 0; i < data->work_count; i++)
        if (data->works[i].number && clfi_report_best(data, &data->works[i], device))
            return true;
    return false;
}

static void include_value(double value, double *low, double *high)
{
    *low = fmin(*low, log10(value));
    *high = fmax(*high, log10(value));
}

/* The highest arithmetic limit that a point is compared with. */
static double highest_roof(const plot *p)
{
    const clfi_result_device *device = p->data->devices[p->device].device;
    double highest = clfi_result_limit(device, "fp32_gflops");
    for (size_t i = 0; i < p->count; i++)
        if (p->points[i].row)
            highest = fmax(highest, clfi_report_arithmetic(device, p->points[i].work));
    return highest;
}

/* Chooses the frame so that it holds every point, the ridge and a stretch of both roofs. */
static void fit(plot *p, double top)
{
    const clfi_result_device *device = p->data->devices[p->device].device;
    const char *name;
    const double arithmetic = clfi_result_limit(device, "fp32_gflops"), ridge = arithmetic / clfi_report_bandwidth(device, &name);
    frame *f = &p->f;
    *f = (frame){INFINITY, -INFINITY, INFINITY, -INFINITY, top, top + PLOT_HEIGHT};
    include_value(ridge / 8, &f->x0, &f->x1);
    include_value(ridge * 4, &f->x0, &f->x1);
    include_value(arithmetic, &f->y0, &f->y1);
    include_value(arithmetic / 10, &f->y0, &f->y1);
    include_value(highest_roof(p), &f->y0, &f->y1);
    include_value(highest_roof(p) / clfi_report_bandwidth(device, &name), &f->x0, &f->x1);
    for (size_t i = 0; i < p->count; i++)
        if (p->points[i].row) {
            include_value(clfi_report_intensity(p->points[i].work), &f->x0, &f->x1);
            include_value(clfi_report_gflops(p->points[i].work, p->points[i].row->row), &f->y0, &f->y1);
        }
    f->x0 -= 0.12;
    f->x1 += 0.12;
    f->y0 -= 0.2;
    f->y1 += 0.25;
}

/* Draws the grid lines and numbers of one axis: at 1 of each decade, and at 2 and 5 if there is room. */
static void draw_ticks(clfi_markup *m, const frame *f, bool is_x)
{
    static const double steps[] = {1, 2, 5};
    const double low = is_x ? f->x0 : f->y0, high = is_x ? f->x1 : f->y1;
    const size_t count = high - low < 3.2 ? 3 : 1;
    for (int decade = (int)floor(low); decade <= (int)ceil(high); decade++)
        for (size_t i = 0; i < count; i++) {
            char number[CLFI_FIGURE_BYTES];
            const double value = steps[i] * pow(10, decade);
            if (log10(value) < low || log10(value) > high)
                continue;
            snprintf(number, sizeof number, "%.*f", decade < 0 ? -decade : 0, value);
            if (is_x)
                clfi_markup_format(m,
                                   "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/><text class=\"tick mid\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                                   to_x(f, value), f->top, f->bottom, to_x(f, value), f->bottom + 16, number);
            else
                clfi_markup_format(m, "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text class=\"tick end\" x=\"%d\" y=\"%.1f\">%s</text>\n",
                                   LEFT, to_y(f, value), RIGHT, LEFT - 7, to_y(f, value) + 4, number);
        }
}

static void draw_axes(clfi_markup *m, const frame *f)
{
    draw_ticks(m, f, true);
    draw_ticks(m, f, false);
    clfi_markup_format(m, "<rect class=\"frame\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%d\"/>\n", LEFT, f->top, RIGHT - LEFT,
                       PLOT_HEIGHT);
    clfi_markup_format(m, "<text class=\"axis mid\" x=\"%d\" y=\"%.1f\">arithmetic intensity [FLOP/byte]</text>\n", (LEFT + RIGHT) / 2,
                       f->bottom + 37);
    clfi_markup_format(m, "<text class=\"axis mid\" transform=\"translate(15 %.1f) rotate(-90)\">GFLOP/s</text>\n",
                       (f->top + f->bottom) / 2);
}

/* ROOF_TEXTS: texts of the roofs, which the points' numbers must not cover. CHARACTER: width of their characters, in units. */
enum { ROOF_TEXTS = 3, CHARACTER = 7 };

static clfi_label text_box(double right, double baseline, size_t characters)
{
    const double width = CHARACTER * (double)characters;
    return (clfi_label){.at_x = right - width / 2, .at_y = baseline - 4, .width = width, .height = 15, .is_fixed = true};
}

/* Draws the level roof of a matrix unit above the first ridge, if points are compared with one. *text: the box of its text, empty if there
 * is none. */
static void draw_unit_roof(clfi_markup *m, const plot *p, clfi_label *text)
{
    const clfi_result_device *device = p->data->devices[p->device].device;
    const frame *f = &p->f;
    const char *name;
    char number[CLFI_FIGURE_BYTES], words[96];
    const double arithmetic = clfi_result_limit(device, "fp32_gflops"), highest = highest_roof(p);
    const double bandwidth = clfi_report_bandwidth(device, &name);
    *text = (clfi_label){.at_x = RIGHT, .at_y = f->bottom, .is_fixed = true};
    if (!(highest > arithmetic))
        return;
    clfi_markup_format(m, "<path class=\"cacheroof\" d=\"M%.1f %.1fL%.1f %.1fH%d\"/>\n", to_x(f, arithmetic / bandwidth),
                       to_y(f, arithmetic), to_x(f, highest / bandwidth), to_y(f, highest), RIGHT);
    snprintf(words, sizeof words, "matrix unit %s GFLOP/s", clfi_figure(highest, number));
    *text = text_box(RIGHT - 8, to_y(f, highest) - 7, strlen(words));
    clfi_markup_format(m, "<text class=\"rooftext end\" x=\"%d\" y=\"%.1f\">%s</text>\n", RIGHT - 8, to_y(f, highest) - 7, words);
}

/* Draws the memory roof up to the ridge and the arithmetic roof from there on, each with its value. texts: the boxes of the texts. */
static void draw_roofs(clfi_markup *m, const plot *p, clfi_label texts[ROOF_TEXTS])
{
    const clfi_result_device *device = p->data->devices[p->device].device;
    const frame *f = &p->f;
    const char *name;
    char number[CLFI_FIGURE_BYTES], text[96];
    const double arithmetic = clfi_result_limit(device, "fp32_gflops"), bandwidth = clfi_report_bandwidth(device, &name);
    const double x0 = fmax(pow(10, f->x0), pow(10, f->y0) / bandwidth), ridge = arithmetic / bandwidth;
    clfi_markup_format(m, "<path class=\"roof\" d=\"M%.1f %.1fL%.1f %.1fH%d\"/>\n", to_x(f, x0), to_y(f, bandwidth * x0), to_x(f, ridge),
                       to_y(f, arithmetic), RIGHT);
    snprintf(text, sizeof text, "float32 arithmetic %s GFLOP/s", clfi_figure(arithmetic, number));
    texts[0] = text_box(RIGHT - 8, to_y(f, arithmetic) - 7, strlen(text));
    clfi_markup_format(m, "<text class=\"rooftext end\" x=\"%d\" y=\"%.1f\">%s</text>\n", RIGHT - 8, to_y(f, arithmetic) - 7, text);
    snprintf(text, sizeof text, "memory %s GB/s (%s)", clfi_figure(bandwidth, number), name);
    /* left of the slope, where only points from caches can be; as high up as the width beside the axis permits */
    const double width = CHARACTER * (double)strlen(text) + 24;
    double at = pow(10, 0.8 * log10(ridge) + 0.2 * log10(x0));
    if (to_x(f, at) - width < LEFT)
        at = ridge;
    const double x = fmax(to_x(f, at) - 10, LEFT + width - 10), y = to_y(f, bandwidth * at) + (at < ridge ? 4 : 14);
    texts[1] = text_box(x, y, strlen(text));
    draw_unit_roof(m, p, &texts[2]);
    clfi_markup_format(m, "<text class=\"rooftext end\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", x, y, text);
}

static int by_bandwidth(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Draws the roofs of the caches that points are compared with. */
static clf_status draw_cache_roofs(clfi_markup *m, const plot *p)
{
    const clfi_result_device *device = p->data->devices[p->device].device;
    const frame *f = &p->f;
    const char *name;
    double *bandwidths;
    const double arithmetic = clfi_result_limit(device, "fp32_gflops"), memory = clfi_report_bandwidth(device, &name);
    CLF_TRY(clfi_alloc(p->count, sizeof *bandwidths, "roofs", &bandwidths));
    for (size_t i = 0; i < p->count; i++)
        bandwidths[i] = p->points[i].bandwidth;
    qsort(bandwidths, p->count, sizeof *bandwidths, by_bandwidth);
    for (size_t i = 0; i < p->count; i++) {
        const double bandwidth = bandwidths[i];
        const double x0 = fmax(pow(10, f->x0), pow(10, f->y0) / bandwidth), ridge = arithmetic / bandwidth;
        if (bandwidth > memory && x0 < ridge && (i == 0 || bandwidths[i - 1] < bandwidth))
            clfi_markup_format(m, "<path class=\"cacheroof\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", to_x(f, x0), to_y(f, bandwidth * x0),
                               to_x(f, ridge), to_y(f, arithmetic));
    }
    free(bandwidths);
    return CLF_OK;
}

static clf_status draw_points(clfi_markup *m, plot *p, const clfi_label roofs[ROOF_TEXTS])
{
    clfi_label *labels;
    const frame *f = &p->f;
    size_t count = 0;
    CLF_TRY(clfi_alloc(p->count + ROOF_TEXTS, sizeof *labels, "labels", &labels));
    for (size_t i = 0; i < p->count; i++)
        if (p->points[i].row)
            labels[count++] = (clfi_label){.x = to_x(f, clfi_report_intensity(p->points[i].work)),
                                           .y = to_y(f, clfi_report_gflops(p->points[i].work, p->points[i].row->row)),
                                           .width = p->points[i].work->number > 99  ? 21
                                                    : p->points[i].work->number > 9 ? 15
                                                                                    : 9,
                                           .height = 12};
    memcpy(labels + count, roofs, ROOF_TEXTS * sizeof *labels);
    clfi_report_place_labels(labels, count + ROOF_TEXTS, LEFT + 2, f->top + 2, RIGHT - 2, f->bottom - 2);
    for (size_t i = 0; i < count; i++)
        if (labels[i].has_leader)
            clfi_markup_format(m, "<path class=\"leader\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", labels[i].x, labels[i].y, labels[i].at_x,
                               labels[i].at_y);
    for (size_t i = 0, k = 0; i < p->count; i++) {
        if (!p->points[i].row)
            continue;
        clfi_markup_raw(m, "<g><title>");
        clfi_markup_escape(m, p->points[i].work->workload->id, 0);
        clfi_markup_raw(m, "</title>");
        clfi_report_marker(m, p->points[i].work->op, labels[k].x, labels[k].y);
        clfi_markup_raw(m, "</g>\n");
        k++;
    }
    for (size_t i = 0, k = 0; i < p->count; i++)
        if (p->points[i].row) {
            clfi_markup_format(m, "<text class=\"point mid\" x=\"%.1f\" y=\"%.1f\">%zu</text>\n", labels[k].at_x, labels[k].at_y + 3.8,
                               p->points[i].work->number);
            k++;
        }
    free(labels);
    return CLF_OK;
}

/* Draws the marker and the name of each op that has points; returns the height. */
static double draw_op_key(clfi_markup *m, const plot *p, double top)
{
    double x = LEFT, y = top + OP_LINE / 2.0;
    size_t i = 0; /* points are grouped by op, as workloads are */
    for (size_t op = 0; op < p->data->op_count; op++) {
        bool is_used = false;
        for (; i < p->count && p->points[i].work->op == op; i++)
            is_used = is_used || p->points[i].row;
        if (!is_used)
            continue;
        const double width = 34 + 7.4 * (double)strnlen(p->data->ops[op].name, 40);
        if (x + width > RIGHT) {
            x = LEFT;
            y += OP_LINE;
        }
        clfi_report_marker(m, op, x + 5, y);
        clfi_markup_format(m, "<text class=\"key\" x=\"%.1f\" y=\"%.1f\">", x + 15, y + 4);
        clfi_markup_escape(m, p->data->ops[op].name, 40);
        clfi_markup_raw(m, "</text>\n");
        x += width;
    }
    return y + OP_LINE / 2.0 - top;
}

static void draw_legend_entry(clfi_markup *m, const plot *p, const point *at, double x, double y)
{
    const clfi_result_device *device = p->data->devices[p->device].device;
    char speed[CLFI_FIGURE_BYTES];
    clfi_markup_format(m, "<text class=\"mono end\" x=\"%.1f\" y=\"%.1f\">%zu</text><text class=\"mono\" x=\"%.1f\" y=\"%.1f\">", x + 20, y,
                       at->work->number, x + 27, y);
    clfi_markup_escape_middle(m, at->work->workload->id, 41);
    clfi_markup_raw(m, "</text>");
    if (!at->row) {
        clfi_markup_format(m, "<text class=\"bad end\" x=\"%.1f\" y=\"%.1f\">not verified</text>\n", x + 408, y);
        return;
    }
    const double gflops = clfi_report_gflops(at->work, at->row->row);
    clfi_markup_format(
        m, "<text class=\"mono end\" x=\"%.1f\" y=\"%.1f\">%s</text><text class=\"mono end quiet\" x=\"%.1f\" y=\"%.1f\">%.0f %%</text>\n",
        x + 362, y, clfi_figure(gflops, speed), x + 408, y, 100 * gflops / clfi_report_roof(device, at->work, at->row->row));
}

/* Draws the list of points in two columns, read down; returns the height. */
static double draw_legend(clfi_markup *m, const plot *p, double top)
{
    const size_t lines = (p->count + 1) / 2;
    for (int column = 0; column < (p->count > 1 ? 2 : 1); column++)
        clfi_markup_format(
            m, "<text class=\"head end\" x=\"%d\" y=\"%.1f\">GFLOP/s</text><text class=\"head end\" x=\"%d\" y=\"%.1f\">of roof</text>\n",
            column * 444 + 362, top + 12, column * 444 + 408, top + 12);
    for (size_t i = 0; i < p->count; i++)
        draw_legend_entry(m, p, &p->points[i], i < lines ? 0 : 444, top + 12 + LEGEND_LINE * (1 + (double)(i % lines)));
    return 12 + LEGEND_LINE * ((double)lines + 1);
}

static clf_status gather(plot *p)
{
    CLF_TRY(clfi_alloc(p->data->work_count, sizeof *p->points, "points", &p->points));
    const clfi_result_device *device = p->data->devices[p->device].device;
    for (size_t i = 0; i < p->data->work_count; i++) {
        const clfi_report_work *work = &p->data->works[i];
        if (!work->number || !has_rows(p->data, work, p->device))
            continue;
        const clfi_report_row *best = clfi_report_best(p->data, work, p->device);
        p->points[p->count++] = (point){work, best, best ? clfi_report_point_bandwidth(device, work, best->row) : 0};
    }
    return CLF_OK;
}

static clf_status draw(clfi_markup *m, plot *p, double top, double *height)
{
    clfi_label roofs[ROOF_TEXTS];
    clfi_markup_format(m, "<text class=\"title\" x=\"0\" y=\"%.1f\">", top + 16);
    clfi_markup_escape(m, p->data->devices[p->device].label, 90);
    clfi_markup_raw(m, "</text>\n");
    fit(p, top + TITLE);
    draw_axes(m, &p->f);
    CLF_TRY(draw_cache_roofs(m, p));
    draw_roofs(m, p, roofs);
    CLF_TRY(draw_points(m, p, roofs));
    *height = TITLE + PLOT_HEIGHT + AXIS;
    *height += draw_op_key(m, p, top + *height);
    return CLF_OK;
}

static double draw_part(clfi_markup *m, const clfi_report_data *data, size_t device, double top, bool is_list)
{
    plot p = {.data = data, .device = device};
    double height = 0;
    if (m->status == CLF_OK)
        m->status = gather(&p);
    if (m->status == CLF_OK && is_list)
        height = draw_legend(m, &p, top);
    else if (m->status == CLF_OK)
        m->status = draw(m, &p, top, &height);
    free(p.points);
    return height;
}

double clfi_report_roofline(clfi_markup *m, const clfi_report_data *data, size_t device, double top)
{
    return draw_part(m, data, device, top, false);
}

double clfi_report_roofline_list(clfi_markup *m, const clfi_report_data *data, size_t device, double top)
{
    return draw_part(m, data, device, top, true);
}
