/* SPDX-License-Identifier: MIT */
/* Two result files, row by row: which of them is faster, where the data can tell.
 *
 * A row is "faster" or "slower" where two tests over visits agree that its ratio differs from 1. They are Student's test (statistics.h) and
 * the rank test at 5 %. Student's p is adjusted so that over all rows of a comparison the expected share of wrong claims stays below 5 %.
 * Everything else is "no difference": none was shown. */
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
    CLFI_COMPARE_GAINED, /* failed or unsupported in a; measured in b */
    CLFI_COMPARE_NEITHER /* failed or unsupported in both */
} clfi_compare_verdict;

typedef struct clfi_compare_row {
    const clfi_result_row *a, *b; /* b: NULL where it has no row of the workload */
    clfi_difference difference;   /* of wall time; for SAME, FASTER and SLOWER */
    double p;                     /* difference.p, adjusted for the number of rows */
    clfi_compare_verdict verdict;
    const char *reason; /* why it is not measured in b, or in a; NULL: measured, or not known */
    bool is_regression; /* slower by more than the threshold, or LOST */
} clfi_compare_row;

typedef struct clfi_comparison {
    const clfi_result *a, *b;
    double threshold;    /* share of time, 0.05: 5 % */
    size_t *device_in_b; /* per device of a; b->device_count: none */
    json_t *differences; /* of the runs, not of the times: clfi_compare_settings */
    clfi_compare_row *rows;
    size_t count, only_in_a, only_in_b, verdicts[CLFI_COMPARE_NEITHER + 1], regressions;
} clfi_comparison;

/* Devices are paired by name and platform first, what is left by order. Rows are paired by engine; one that a measured and that has no
 * partner is LOST where b lists its workload, and names the reason that b has for the workload or for the device. The files are borrowed
 * until clfi_comparison_free, which accepts a failed *out as well. INVALID_ARGUMENT: different work (same_work.h), or no row in common. */
clf_status clfi_compare(const clfi_result *a, const clfi_result *b, double threshold, clfi_comparison *out);
void clfi_comparison_free(clfi_comparison *comparison);

/* The part of clfi_compare that fills comparison->differences, once devices are paired, as clfi_json_diff does (json_diff.h). These are the
 * differences of the machine, the settings and the paired devices that are not printed with the files and the devices. OUT_OF_MEMORY. */
clf_status clfi_compare_settings(clfi_comparison *comparison);

const char *clfi_compare_verdict_name(clfi_compare_verdict verdict);

/* For people, and as a JSON document that the caller releases. OUT_OF_MEMORY. */
clf_status clfi_comparison_print(const clfi_comparison *comparison, FILE *stream);
clf_status clfi_comparison_json(const clfi_comparison *comparison, json_t **out);

#endif
