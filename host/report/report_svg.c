/* SPDX-License-Identifier: MIT */
/* Writes the figures of a report as one SVG picture. */
#include <math.h>

#include "report/report_parts.h"

enum { MARGIN = 20, GAP = 26, HEADING = 30 };

static double write_bars(clfi_markup *m, const clfi_report_data *data, double y)
{
    for (size_t i = 0; i < data->op_count; i++) {
        clfi_markup_format(m, "<text class=\"title\" x=\"0\" y=\"%.1f\">", y + 16);
        clfi_markup_escape(m, data->ops[i].name, 80);
        clfi_markup_raw(m, "</text>\n");
        y += HEADING;
        bool has_order;
        y += clfi_report_bars_head(m, data, &data->ops[i], y, &has_order);
        for (size_t w = data->ops[i].first; w < data->ops[i].first + data->ops[i].count; w++)
            y += clfi_report_bars(m, data, &data->works[w], y, has_order);
        y += GAP;
    }
    return y;
}

void clfi_report_svg(clfi_markup *m, const clfi_report_data *data, bool rooflines, bool bars)
{
    clfi_markup inner = CLFI_MARKUP_INIT;
    double y = 0;
    for (size_t d = 0; rooflines && d < data->device_count; d++) {
        if (!clfi_report_has_roofline(data, d))
            continue;
        y += clfi_report_roofline(&inner, data, d, y);
        y += clfi_report_roofline_list(&inner, data, d, y) + GAP;
    }
    if (bars)
        y = write_bars(&inner, data, y);
    if (m->status == CLF_OK)
        m->status = inner.status;
    const double width = CLFI_FIGURE_WIDTH + 2 * MARGIN, height = ceil(y) - GAP + 2 * MARGIN;
    clfi_markup_format(m,
                       "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"%d %d %.0f %.0f\">\n<style>\n",
                       width, fmax(height, 2 * MARGIN), -MARGIN, -MARGIN, width, fmax(height, 2 * MARGIN));
    clfi_report_figure_style(m);
    clfi_markup_format(m, "</style>\n<rect class=\"ground\" x=\"%d\" y=\"%d\" width=\"100%%\" height=\"100%%\"/>\n", -MARGIN, -MARGIN);
    clfi_markup_raw(m, clfi_str_text(&inner.text));
    clfi_markup_raw(m, "</svg>\n");
    clfi_str_free(&inner.text);
}
