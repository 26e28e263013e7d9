/* SPDX-License-Identifier: MIT */
/* Compares two result files row by row, for `clformer compare`: which of them is faster, where the data can show it.
 *
 * A row is "faster" or "slower" if both sides have enough visits (statistics.h) and two tests agree that its ratio differs from 1:
 * Student's test and the rank test, both at 5 %. Student's p is adjusted so that over all rows of a comparison the expected share of wrong
 * claims stays below 5 %. Any other row that both files measured is "no difference": none was shown. */
#ifndef CLFI_REPORT_COMPARE_H
#define CLFI_REPORT_COMPARE_H

#include <stdio.h>

#include "report/result.h"
#include "report/statistics.h"

#define CLFI_COMPARE_LEVEL 0.05

typedef enum clfi_compare_verdict {
    CLFI_COMPARE_SAME,   /* "no difference" */
    CLFI_COMPARE_FASTER, /* b takes less time than a */
    CLFI_COMPARE_SLOWER,
    CLFI_COMPARE_LOST,   /* measured in a; not in b, although b lists the workload */
    CLFI_COMPARE_GAINED, /* not measured in a (failed, unsupported or interrupted); measured in b */
    CLFI_COMPARE_NEITHER /* not measured in either */
} clfi_compare_verdict;

typedef struct clfi_compare_row {
    const clfi_result_row *a, *b; /* b: NULL if file b has no row of this engine on the paired device */
    clfi_difference difference;   /* of wall time; for SAME, FASTER and SLOWER */
    double p;                     /* difference.p, adjusted for the number of rows */
    clfi_compare_verdict verdict;
    const char *reason; /* why b, else a, did not measure the row; NULL: both measured it, or no reason is known */
    bool is_regression; /* slower by more than the threshold, or LOST */
} clfi_compare_row;

typedef struct clfi_comparison {
    const clfi_result *a, *b;
    double threshold;    /* a row that is slower by more than this share of its time is a regression; 0.05: 5 % */
    size_t *device_in_b; /* for each device of a, the index of its partner in b; b->device_count: none */
    json_t *differences; /* between the runs, not the times: see clfi_compare_settings */
    clfi_compare_row *rows;
    /* count: of `rows`; only_in_a, only_in_b: rows of the files that are not in `rows`; verdicts: rows with each verdict */
    size_t count, only_in_a, only_in_b, verdicts[CLFI_COMPARE_NEITHER + 1], regressions;
} clfi_comparison;

/* Compares a and b. Devices are paired by name and platform first, the remaining ones by order. Rows are paired by workload, device and
 * engine. A row that a measured and that has no partner is LOST if b lists its workload; its reason is what b records for the workload or
 * for the device. The files are borrowed until clfi_comparison_free, which the caller calls also after a failure. INVALID_ARGUMENT:
 * different work (same_work.h), or no row in common; OUT_OF_MEMORY. */
clf_status clfi_compare(const clfi_result *a, const clfi_result *b, double threshold, clfi_comparison *out);
void clfi_comparison_free(clfi_comparison *comparison);

/* The part of clfi_compare that fills comparison->differences, after the devices are paired, with the entries of clfi_json_diff
 * (json_diff.h). They are those differences of the machine, the settings and the paired devices that clfi_comparison_print does not show
 * with the files and the devices. OUT_OF_MEMORY. */
clf_status clfi_compare_settings(clfi_comparison *comparison);

const char *clfi_compare_verdict_name(clfi_compare_verdict verdict);

/* Write the comparison as tables for people, and as a JSON document, which the caller releases with json_decref. OUT_OF_MEMORY. */
clf_status clfi_comparison_print(const clfi_comparison *comparison, FILE *stream);
clf_status clfi_comparison_json(const clfi_comparison *comparison, json_t **out);

#endif
