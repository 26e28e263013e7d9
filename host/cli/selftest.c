/* SPDX-License-Identifier: MIT */
/* selftest: operands and the comparison of results. */
#include "cli/selftest.h"

#include <math.h>

void selftest_check(selftest *test, double got, double want, double bound)
{
    const double error = fabs(got - want);
    if (!(error <= bound) && !(isnan(got) && isnan(want))) /* NaN must not pass */
        test->failed = true;
    if (isnan(error) || error * test->worst_bound > test->worst_error * bound || test->worst_bound == 0) {
        test->worst_error = error;
        test->worst_bound = bound;
    }
}

void selftest_check_all(selftest *test, const clfi_operand *got, const double *want, const double *bound)
{
    for (size_t i = 0; i < got->count; i++)
        selftest_check(test, got->host[i], want[i], bound[i] + 0x1p-24 * (fabs(want[i]) + bound[i]));
}

clf_status selftest_add(selftest *test, selftest_operands *operands, int rank, const int64_t *dim, float low, float high)
{
    return clfi_operand_random(test->context, &test->random, rank, dim, low, high, &operands->operand[operands->count++]);
}

clf_status selftest_add_result(selftest *test, selftest_operands *operands, int rank, const int64_t *dim)
{
    return clfi_operand_result(test->context, rank, dim, &operands->operand[operands->count++]);
}

const clf_view *selftest_view(const selftest_operands *operands, int i)
{
    return clfi_tensor_view(operands->operand[i].tensor);
}

void selftest_free(selftest_operands *operands)
{
    for (int i = 0; i < operands->count; i++)
        clfi_operand_free(&operands->operand[i]);
}
