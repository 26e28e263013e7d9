/* SPDX-License-Identifier: MIT */
/* Keeps the largest of many differences, for tests that print it and compare it with a bound. */
#ifndef CLF_TEST_WORST_H
#define CLF_TEST_WORST_H

#include <math.h>
#include <stddef.h>

typedef struct worst {
    double error; /* stays NaN once a difference was NaN, so that no bound holds */
    size_t where; /* index of that difference */
} worst;

static inline void worst_add(worst *w, double got, double want, size_t where)
{
    const double error = fabs(got - want);
    if (!(error <= w->error) && !isnan(w->error))
        *w = (worst){error, where};
}

#endif
