/* SPDX-License-Identifier: MIT */
/* Any bytes as a result file: refused with a reason, or compared with itself and shown in one of the formats, all figures finite. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/json.h"
#include "report/compare.h"
#include "report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In one format, which the input's size chooses: three of them would take most of the time. */
static void show(const clfi_result *result, size_t size)
{
    static const clfi_report_format formats[] = {CLFI_REPORT_HTML, CLFI_REPORT_SVG, CLFI_REPORT_MARKDOWN};
    const clfi_report_format format = formats[size % COUNT(formats)];
    clf_str text = CLF_STR_INIT;
    if (clfi_report_write(result, 1, format, CLFI_REPORT_ALL, &text) != CLF_OK || text.length == 0 || strlen(text.data) != text.length)
        abort();
    if (format == CLFI_REPORT_SVG && (strstr(text.data, "=\"nan") || strstr(text.data, "=\"inf") || strstr(text.data, "<script")))
        abort();
    clfi_str_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *document, *comparison;
    clfi_result result;
    clfi_comparison c;
    if (clfi_json_parse((const char *)data, size, "fuzz.json", &document) != CLF_OK)
        return 0;
    if (clfi_result_take(document, "fuzz.json", &result) != CLF_OK) {
        if (clf_last_error()[0] == '\0' || result.document)
            abort();
        return 0;
    }
    show(&result, size);
    if (clfi_compare(&result, &result, 0.05, &c) == CLF_OK) {
        if (c.verdicts[CLFI_COMPARE_FASTER] || c.verdicts[CLFI_COMPARE_SLOWER] || clfi_comparison_json(&c, &comparison) != CLF_OK)
            abort();
        json_decref(comparison);
    }
    clfi_comparison_free(&c);
    clfi_result_free(&result);
    return 0;
}
