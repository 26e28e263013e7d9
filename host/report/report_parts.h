/* SPDX-License-Identifier: MIT */
/* Functions that write the parts of reports, for the three formats. Figures are SVG elements, CLFI_FIGURE_WIDTH units wide; their colours
 * come from report_style.c. A failure stays in m->status (markup.h). */
#ifndef CLFI_REPORT_REPORT_PARTS_H
#define CLFI_REPORT_REPORT_PARTS_H

#include "report/markup.h"
#include "report/report_data.h"

enum { CLFI_FIGURE_WIDTH = 860 };

/* Write style sheets: for figures alone, with colours for light and dark backgrounds and paper; and for a page with figures in it. */
void clfi_report_figure_style(clfi_markup *m);
void clfi_report_page_style(clfi_markup *m);

/* Draws the marker of an op at (x, y). Its colour and shape differ from those of other ops; they repeat after 56 ops. */
void clfi_report_marker(clfi_markup *m, size_t op, double x, double y);

/* Draw a device's roofline plot with the key of its ops, and the list of its numbered points, from y = `top` down. Both return their
 * height. Only for devices for which clfi_report_has_roofline is true. */
double clfi_report_roofline(clfi_markup *m, const clfi_report_data *data, size_t device, double top);
double clfi_report_roofline_list(clfi_markup *m, const clfi_report_data *data, size_t device, double top);
bool clfi_report_has_roofline(const clfi_report_data *data, size_t device);

/* Draw the headings of an op's columns, and the bars of one of its workloads, one per device, from y = `top` down; both return their
 * height. has_order: the heading says whether less or more is better; false: the workloads differ, so each says it. */
double clfi_report_bars_head(clfi_markup *m, const clfi_report_data *data, const clfi_report_op *op, double top, bool *out_has_order);
double clfi_report_bars(clfi_markup *m, const clfi_report_data *data, const clfi_report_work *work, double top, bool has_order);

/* The label of a point, for clfi_report_place_labels. */
typedef struct clfi_label {
    double x, y;          /* of the point */
    double width, height; /* of its text */
    double at_x, at_y;    /* centre of the text: the result, or given if is_fixed */
    bool has_leader;      /* result: so far from its point that a line must connect them */
    bool is_fixed;        /* a text that already has its place and has no point */
} clfi_label;

/* Places labels inside the box [left, right] x [top, bottom] so that they cover points and other labels as little as possible. Fills at_x,
 * at_y and has_leader of all that are not fixed. */
void clfi_report_place_labels(clfi_label *labels, size_t count, double left, double top, double right, double bottom);

/* Write the whole report in one of the three formats. */
void clfi_report_html(clfi_markup *m, const clfi_report_data *data);
void clfi_report_svg(clfi_markup *m, const clfi_report_data *data, bool rooflines, bool bars);
void clfi_report_markdown(clfi_markup *m, const clfi_report_data *data);

/* Write the tables of the page. */
void clfi_report_device_table(clfi_markup *m, const clfi_report_data *data);
void clfi_report_speed_table(clfi_markup *m, const clfi_report_data *data);
void clfi_report_failure_table(clfi_markup *m, const clfi_report_data *data);
void clfi_report_gap_table(clfi_markup *m, const clfi_report_data *data);
void clfi_report_result_table(clfi_markup *m, const clfi_report_data *data);
bool clfi_report_has_memory(const clfi_report_data *data);
void clfi_report_memory_table(clfi_markup *m, const clfi_report_data *data);

#endif
