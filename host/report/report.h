/* SPDX-License-Identifier: MIT */
/* Result files as one page or picture: devices and their limits, rooflines, bars with spreads, failures, what was not measured and how it
 * was measured. Everything is inside the one text: no script, no font, no picture and no address outside it. */
#ifndef CLFI_REPORT_REPORT_H
#define CLFI_REPORT_REPORT_H

#include "base/str.h"
#include "report/result.h"

typedef enum clfi_report_format { CLFI_REPORT_HTML, CLFI_REPORT_SVG, CLFI_REPORT_MARKDOWN } clfi_report_format;

/* Contents of an SVG; pages have everything. */
typedef enum clfi_report_part { CLFI_REPORT_ALL, CLFI_REPORT_ROOFLINES, CLFI_REPORT_BARS } clfi_report_part;

/* Appends to `out`. INVALID_ARGUMENT: no file, or files of different work (same_work.h). */
clf_status clfi_report_write(const clfi_result *results, size_t count, clfi_report_format format, clfi_report_part part, clf_str *out);

#endif
