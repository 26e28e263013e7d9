/* SPDX-License-Identifier: MIT */
/* Collects the worst element of a result that is compared with its reference. */
#ifndef CLFI_WORKLOAD_VERDICT_H
#define CLFI_WORKLOAD_VERDICT_H

#include <math.h>

#include "workload/workload.h"

#define CLFI_VERDICT_INIT {.passed = true}

/* Adds one element with its own bound; the verdict keeps the element with the largest error / bound. NaN never passes. */
static inline void clfi_verdict_add(clfi_verdict *verdict, double got, double want, double bound)
{
    const double error = fabs(got - want);
    if (!(error <= bound))
        verdict->passed = false;
    if (isnan(verdict->error))
        return;
    if (isnan(error) || (verdict->error == 0 && verdict->bound == 0) || error * verdict->bound > verdict->error * bound) {
        verdict->error = error;
        verdict->bound = bound;
    }
}

#endif
