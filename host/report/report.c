/* SPDX-License-Identifier: MIT */
/* Writes one report from result files. */
#include "report/report.h"

#include "report/report_parts.h"

clf_status clfi_report_write(const clfi_result *results, size_t count, clfi_report_format format, clfi_report_part part, clf_str *out)
{
    clfi_report_data data;
    clfi_markup m = CLFI_MARKUP_INIT;
    clf_status st = clfi_report_gather(results, count, &data);
    if (st == CLF_OK) {
        if (format == CLFI_REPORT_HTML)
            clfi_report_html(&m, &data);
        else if (format == CLFI_REPORT_SVG)
            clfi_report_svg(&m, &data, part != CLFI_REPORT_BARS, part != CLFI_REPORT_ROOFLINES);
        else
            clfi_report_markdown(&m, &data);
        st = m.status;
    }
    if (st == CLF_OK)
        st = clfi_str_append(out, clfi_str_text(&m.text), m.text.length);
    clfi_str_free(&m.text);
    clfi_report_data_free(&data);
    return st;
}
