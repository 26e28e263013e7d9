/* SPDX-License-Identifier: MIT */
/* Whether two result files measured the same work: figures of different work must not stand side by side. */
#ifndef CLFI_REPORT_SAME_WORK_H
#define CLFI_REPORT_SAME_WORK_H

#include "report/result.h"

/* Every workload whose id is in both files must have equal "work", flops, bytes and items, and every model of one name the same hash.
 * INVALID_ARGUMENT "<a> and <b> measured different work: <workload>: <key>: <value in a> against <value in b>; ..." names the first ones
 * that differ. */
clf_status clfi_check_same_work(const clfi_result *a, const clfi_result *b);

#endif
