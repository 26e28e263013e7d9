/* SPDX-License-Identifier: MIT */
/* Writes a report as an HTML page. */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "report/report_parts.h"

static void tile(clfi_markup *m, size_t count, const char *text, bool is_alarm)
{
    clfi_markup_format(m, "<div class=\"tile%s\"><b>%zu</b><span>%s</span></div>\n", is_alarm ? " alarm" : "", count, text);
}

static void write_head(clfi_markup *m, const clfi_report_data *data)
{
    size_t gaps = 0;
    for (size_t f = 0; f < data->file_count; f++)
        gaps += data->files[f].not_measured_count;
    clfi_markup_raw(
        m, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, "
           "initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
           "<title>clformer: benchmark of OpenCL devices</title>\n<style>\n");
    clfi_report_page_style(m);
    clfi_markup_raw(m, "</style>\n</head>\n<body>\n<header>\n<h1>Benchmark of OpenCL devices</h1>\n<p class=\"note\">");
    for (size_t f = 0; f < data->file_count; f++) {
        const clfi_result *file = &data->files[f];
        clfi_markup_raw(m, f ? "<br>clformer " : "clformer ");
        clfi_markup_escape(m, file->library.version, 0);
        clfi_markup_raw(m, " (");
        clfi_markup_escape(m, file->library.commit, 0);
        clfi_markup_raw(m, "), ");
        clfi_markup_escape(m, file->created, 0);
        clfi_markup_raw(m, ", ");
        clfi_markup_escape(m, file->host.cpu, 0);
        clfi_markup_format(m, ", %lld logical cores", (long long)file->host.logical_cores);
    }
    clfi_markup_raw(m, "</p>\n<div class=\"tiles\">\n");
    tile(m, data->device_count, clfi_plural(data->device_count, "device", "devices"), false);
    tile(m, data->work_count, clfi_plural(data->work_count, "workload", "workloads"), false);
    tile(m, data->verified, clfi_plural(data->verified, "verified result", "verified results"), false);
    tile(m, data->failed, "failed", data->failed > 0);
    tile(m, data->noisy, "noisy (~)", false);
    tile(m, gaps, "not measured", false);
    clfi_markup_raw(m, "</div>\n");
    for (size_t f = 0; f < data->file_count; f++) {
        const clfi_result *file = &data->files[f];
        if (file->complete && !file->settings.quick)
            continue;
        clfi_markup_raw(m, "<p class=\"warning\">");
        clfi_markup_escape(m, file->path, 0);
        if (file->settings.quick)
            clfi_markup_format(m, ": the short list of workloads (--quick), each for at least %g s.", file->settings.min_seconds);
        else
            clfi_markup_raw(m, ":");
        clfi_markup_raw(m, file->complete ? "</p>\n" : " Incomplete, the run was interrupted.</p>\n");
    }
    clfi_markup_raw(
        m, "<nav><a href=\"#devices\">Devices</a><a href=\"#rooflines\">Rooflines</a><a href=\"#speeds\">Speeds</a><a "
           "href=\"#failures\">Failures</a>"
           "<a href=\"#gaps\">Not measured</a><a href=\"#method\">Method</a><a href=\"#results\">All results</a></nav>\n</header>\n");
}

/* Adds one picture of a figure. The caller draws it into `inner` first, because its height must stand before it. `inner` is freed. Printers
 * keep a picture on one page of paper, so a figure of many pictures breaks between them. */
static void add_picture(clfi_markup *m, clfi_markup *inner, double height)
{
    if (m->status == CLF_OK)
        m->status = inner->status;
    clfi_markup_format(m, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" role=\"img\">\n", CLFI_FIGURE_WIDTH,
                       ceil(height));
    clfi_markup_raw(m, clfi_str_text(&inner->text));
    clfi_markup_raw(m, "</svg>\n");
    clfi_str_free(&inner->text);
}

static void write_rooflines(clfi_markup *m, const clfi_report_data *data)
{
    clfi_markup_raw(m, "<h2 id=\"rooflines\">Rooflines</h2>\n<p>Speed of every workload over its arithmetic intensity, by its fastest "
                       "verified engine. The "
                       "roofs are the device&#39;s own limits. A workload whose data stayed in a cache is compared with that cache&#39;s "
                       "own roof, a measured copy (dashed). Products at the precisions high and medium are compared with the "
                       "matrix unit&#39;s peak (dashed), where the device has one.</p>\n");
    for (size_t d = 0; d < data->device_count; d++) {
        clfi_markup plot = CLFI_MARKUP_INIT, list = CLFI_MARKUP_INIT;
        if (!clfi_report_has_roofline(data, d)) {
            clfi_markup_raw(m, "<p class=\"note\"><b>");
            clfi_markup_escape(m, data->devices[d].label, 0);
            clfi_markup_raw(m, "</b>: no roofline, because its limits or its workloads were not measured.</p>\n");
            continue;
        }
        clfi_markup_raw(m, "<figure>\n");
        double height = clfi_report_roofline(&plot, data, d, 0);
        add_picture(m, &plot, height);
        height = clfi_report_roofline_list(&list, data, d, 0);
        add_picture(m, &list, height);
        clfi_markup_raw(m, "</figure>\n");
        if (clfi_report_beats_limit(data, d))
            clfi_markup_raw(m, "<p class=\"note\">Points above the level roof: in this run the kernels that measure the limit were slower "
                               "than the workload, as "
                               "on a machine that others use at the same time. Shares of that limit are too high here.</p>\n");
    }
}

static void write_bars(clfi_markup *m, const clfi_report_data *data, const clfi_report_op *op)
{
    clfi_markup head = CLFI_MARKUP_INIT;
    clfi_markup_raw(m, "<h3>");
    clfi_markup_escape(m, op->name, 0);
    clfi_markup_raw(m, " <small>");
    clfi_markup_escape(m, op->suite, 0);
    clfi_markup_raw(m, "</small></h3>\n<figure>\n");
    bool has_order;
    double height = clfi_report_bars_head(&head, data, op, 0, &has_order);
    add_picture(m, &head, height);
    for (size_t i = op->first; i < op->first + op->count; i++) {
        clfi_markup bars = CLFI_MARKUP_INIT;
        height = clfi_report_bars(&bars, data, &data->works[i], 0, has_order);
        add_picture(m, &bars, height);
    }
    clfi_markup_raw(m, "</figure>\n");
}

static void write_speeds(clfi_markup *m, const clfi_report_data *data)
{
    clfi_markup_raw(m, "<h2 id=\"speeds\">Speeds</h2>\n");
    if (data->device_count > 1) {
        clfi_markup_raw(
            m, "<p>How many times faster than the slowest device: geometric means over the workloads that all devices verified.</p>\n");
        clfi_report_speed_table(m, data);
    }
    clfi_markup_raw(
        m, "<p class=\"note\">A bar is the median of the fastest verified engine, its whisker goes from p10 to p90, and its ticks are the "
           "device&#39;s other engines. The bars of one workload share a scale. ~ before a number: p10 and p90 differ by more than 10 % of "
           "the median. ~ before a share of a limit: so do those of the limit.</p>\n");
    for (size_t i = 0; i < data->op_count; i++)
        write_bars(m, data, &data->ops[i]);
}

static void write_models(clfi_markup *m, const clfi_result *file)
{
    for (size_t i = 0; i < file->model_count; i++) {
        clfi_markup_raw(m, "<li>model ");
        clfi_markup_escape(m, file->models[i].name, 0);
        if (file->models[i].hash) {
            clfi_markup_format(m, ", %s <code>", file->models[i].hash_kind);
            clfi_markup_escape(m, file->models[i].hash, 0);
            clfi_markup_raw(m, "</code>");
        }
        clfi_markup_raw(m, "</li>\n");
    }
}

static void write_run(clfi_markup *m, const clfi_result *file)
{
    char memory[CLFI_FIGURE_BYTES];
    clfi_markup_raw(m, "<h3>");
    clfi_markup_escape(m, file->path, 0);
    clfi_markup_format(m,
                       "</h3>\n<ul>\n<li>At least %g s and %lld samples for each row, in rounds of random order (seed %lld); the "
                       "first runs of each round are not counted.</li>\n<li>",
                       file->settings.min_seconds, (long long)file->settings.min_samples, (long long)file->settings.seed);
    clfi_markup_escape(m, file->host.cpu, 0);
    clfi_markup_format(m, ", %lld logical cores, %s; ", (long long)file->host.logical_cores,
                       clfi_figure_bytes((double)file->host.memory_bytes, memory));
    clfi_markup_escape(m, file->host.os, 0);
    clfi_markup_raw(m, ", kernel ");
    clfi_markup_escape(m, file->host.kernel, 0);
    clfi_markup_raw(m, "</li>\n<li>clformer ");
    clfi_markup_escape(m, file->library.version, 0);
    clfi_markup_raw(m, ", commit ");
    clfi_markup_escape(m, file->library.commit, 0);
    clfi_markup_raw(m, "; CLBlast ");
    clfi_markup_escape(m, file->library.clblast, 0);
    clfi_markup_raw(m, "</li>\n");
    write_models(m, file);
    clfi_markup_raw(m, "</ul>\n");
}

static void write_method(clfi_markup *m, const clfi_report_data *data)
{
    clfi_markup_raw(
        m,
        "<h2 id=\"method\">How it was measured</h2>\n<ul>\n"
        "<li>Each result is first compared with a float64 reference on the host; wrong results are FAILED, neither timed nor ranked.</li>\n"
        "<li>All devices get the same work: same shapes, types, masks, models and random data from the same seed, never zeros.</li>\n"
        "<li>Devices, workloads and engines take turns in random order, so that a machine that slows down slows all of them.</li>\n"
        "<li>Times are the host&#39;s wall time until the result is there; \u201con device\u201d is the sum of the kernels&#39; event "
        "times.</li>\n"
        "<li>Rates and percentages come from the median; the file holds every sample.</li>\n"
        "<li>Limits are the best that this project&#39;s own kernels reached on the device in the same run.</li>\n</ul>\n");
    for (size_t f = 0; f < data->file_count; f++)
        write_run(m, &data->files[f]);
}

void clfi_report_html(clfi_markup *m, const clfi_report_data *data)
{
    write_head(m, data);
    clfi_markup_raw(m, "<h2 id=\"devices\">Devices</h2>\n");
    clfi_report_device_table(m, data);
    write_rooflines(m, data);
    write_speeds(m, data);
    clfi_markup_raw(m, "<h2 id=\"failures\">Failures</h2>\n");
    clfi_report_failure_table(m, data);
    clfi_markup_raw(m, "<h2 id=\"gaps\">Not measured</h2>\n");
    clfi_report_gap_table(m, data);
    write_method(m, data);
    if (clfi_report_has_memory(data)) {
        clfi_markup_raw(m, "<h2>Memory and energy</h2>\n");
        clfi_report_memory_table(m, data);
    }
    clfi_markup_raw(m, "<h2 id=\"results\">All results</h2>\n<p class=\"note\">The fastest verified engine of each device in bold; p10 and "
                       "p90 in percent of the median.</p>\n");
    clfi_report_result_table(m, data);
    clfi_markup_raw(m, "</body>\n</html>\n");
}
