/* SPDX-License-Identifier: MIT */
/* Checks on top of cmocka: statuses with their reason, and numbers within a bound (NaN passes only if NaN is wanted). */
#ifndef CLF_TEST_CHECK_H
#define CLF_TEST_CHECK_H

/* cmocka.h needs these four headers before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "clformer/status.h"

/* The call must succeed; otherwise the test fails with the library's own reason. */
#define CHECK_OK(call)                                                                                         \
    do {                                                                                                       \
        const clf_status check_status = (call);                                                                \
        if (check_status != CLF_OK)                                                                            \
            fail_msg("%s: %s: %s", #call, clf_status_text(check_status), clf_last_error());                    \
    } while (0)

/* The call must fail with this status, and the reason must contain `part`. */
#define CHECK_FAILS(call, status, part)                                                                        \
    do {                                                                                                       \
        const clf_status check_status = (call);                                                                \
        if (check_status != (status) || !strstr(clf_last_error(), (part)))                                     \
            fail_msg("%s: want %s with \"%s\", got %s: %s", #call, clf_status_text(status), (part),            \
                     clf_status_text(check_status), check_status == CLF_OK ? "" : clf_last_error());           \
    } while (0)

/* Arguments: a condition that must hold, then a printf format and values that describe the case. */
#define CHECK(condition, ...)          \
    do {                               \
        if (!(condition))              \
            fail_msg(__VA_ARGS__);     \
    } while (0)

/* Whether got differs from want by at most bound. Equal infinities pass; NaN passes only against NaN. */
static inline bool within(double got, double want, double bound)
{
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got);
    return got == want || fabs(got - want) <= bound;
}

#endif
