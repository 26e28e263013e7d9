/* SPDX-License-Identifier: MIT */
/* The pieces that pages and pictures are made of. Figures are SVG elements of CLFI_FIGURE_WIDTH units; their colours come from
 * report_style.c. */
#ifndef CLFI_REPORT_REPORT_PARTS_H
#define CLFI_REPORT_REPORT_PARTS_H

#include "report/markup.h"
#include "report/report_data.h"

enum { CLFI_FIGURE_WIDTH = 860 };

/* Style sheets: of figures alone (plain colours, others for dark ground and paper), and of a page with figures in it. */
void clfi_report_figure_style(clfi_markup *m);
void clfi_report_page_style(clfi_markup *m);

/* The marker of an op at (x, y): a colour and a shape of its own, as far as there are. */
void clfi_report_marker(clfi_markup *m, size_t op, double x, double y);

/* A device's roofline plot with the key of its ops, and the list of its numbered points, from y = `top` on; both return their height. For a
 * device for which clfi_report_has_roofline is false there is neither. */
double clfi_report_roofline(clfi_markup *m, const clfi_report_data *data, size_t device, double top);
double clfi_report_roofline_list(clfi_markup *m, const clfi_report_data *data, size_t device, double top);
bool clfi_report_has_roofline(const clfi_report_data *data, size_t device);

/* The heads of an op's columns, and the bars of one of its workloads, one per device; both return their height. has_order: the head says
 * whether less or more is better; false: each workload says it, because they differ. */
double clfi_report_bars_head(clfi_markup *m, const clfi_report_data *data, const clfi_report_op *op, double top, bool *out_has_order);
double clfi_report_bars(clfi_markup *m, const clfi_report_data *data, const clfi_report_work *work, double top, bool has_order);

/* Places labels of points so that they cover neither points nor each other. */
typedef struct clfi_label {
    double x, y;          /* of the point */
    double width, height; /* of its text */
    double at_x, at_y;    /* found: centre of the text */
    bool has_leader;      /* so far from its point that a line must lead there */
    bool is_fixed;        /* a text that stands at at_x, at_y already and has no point */
} clfi_label;

/* Fills at_x, at_y and has_leader inside the box [left, right] x [top, bottom]. */
void clfi_report_place_labels(clfi_label *labels, size_t count, double left, double top, double right, double bottom);

/* The three formats. */
void clfi_report_html(clfi_markup *m, const clfi_report_data *data);
void clfi_report_svg(clfi_markup *m, const clfi_report_data *data, bool rooflines, bool bars);
void clfi_report_markdown(clfi_markup *m, const clfi_report_data *data);

/* Tables of the page. */
void clfi_report_device_table(clfi_markup *m, const clfi_report_data *data);
void clfi_report_speed_table(clfi_markup *m, const clfi_report_data *data);
void clfi_report_failure_table(clfi_markup *m, const clfi_report_data *data);
void clfi_report_gap_table(clfi_markup *m, const clfi_report_data *data);
void clfi_report_result_table(clfi_markup *m, const clfi_report_data *data);
bool clfi_report_has_memory(const clfi_report_data *data);
void clfi_report_memory_table(clfi_markup *m, const clfi_report_data *data);

#endif
