/* SPDX-License-Identifier: MIT */
/* The largest of many differences, for tests that print it and hold it against a bound. */
#ifndef CLF_TEST_WORST_H
#define CLF_TEST_WORST_H

#include <math.h>
#include <stddef.h>

typedef struct worst {
    double error; /* NaN once a difference was NaN: no later one takes it away, and no bound holds for it */
    size_t where; /* of that difference */
} worst;

static inline void worst_add(worst *w, double got, double want, size_t where)
{
    const double error = fabs(got - want);
    if (!(error <= w->error) && !isnan(w->error))
        *w = (worst){error, where};
}

#endif
