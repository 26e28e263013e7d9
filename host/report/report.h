/* SPDX-License-Identifier: MIT */
/* Writes result files as one HTML page, SVG picture or Markdown text, for `clformer report`. The page shows devices and their limits,
 * rooflines, bars with spreads, failures, what was not measured and how the rest was measured. It refers to nothing outside itself and has
 * no script. */
#ifndef CLFI_REPORT_REPORT_H
#define CLFI_REPORT_REPORT_H

#include "base/str.h"
#include "report/result.h"

typedef enum clfi_report_format { CLFI_REPORT_HTML, CLFI_REPORT_SVG, CLFI_REPORT_MARKDOWN } clfi_report_format;

/* Contents of an SVG; the other formats ignore this. */
typedef enum clfi_report_part { CLFI_REPORT_ALL, CLFI_REPORT_ROOFLINES, CLFI_REPORT_BARS } clfi_report_part;

/* Appends the report to `out`; a failure leaves it as it was. INVALID_ARGUMENT: no file, or files of different work (same_work.h);
 * OUT_OF_MEMORY. */
clf_status clfi_report_write(const clfi_result *results, size_t count, clfi_report_format format, clfi_report_part part, clf_str *out);

#endif
