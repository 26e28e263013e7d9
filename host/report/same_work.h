/* SPDX-License-Identifier: MIT */
/* Checks that two result files measured the same work, because comparisons and reports must not put figures of different work side by
 * side. */
#ifndef CLFI_REPORT_SAME_WORK_H
#define CLFI_REPORT_SAME_WORK_H

#include "report/result.h"

/* If a workload's id is in both files, its "work", flops, bytes, items and item must be equal. If a model's name is in both files, all that
 * they record of the model must be equal. INVALID_ARGUMENT "<a> and <b> measured different work: <workload>: <key>: <value in a> against
 * <value in b>; ..." names the first differences. OUT_OF_MEMORY. */
clf_status clfi_check_same_work(const clfi_result *a, const clfi_result *b);

#endif
