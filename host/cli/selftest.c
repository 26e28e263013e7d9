/* SPDX-License-Identifier: MIT */
/* selftest: random operands and the comparison of results. */
#include "cli/selftest.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

void selftest_fill(selftest *test, float *out, size_t count, float low, float high)
{
    for (size_t i = 0; i < count; i++) { /* SplitMix64 (Steele, Lea & Flood 2014), upper 24 bits */
        uint64_t z = test->random += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        z ^= z >> 31;
        out[i] = low + (high - low) * ((float)(z >> 40) * 0x1p-24f);
    }
}

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

clf_status selftest_tensor(selftest *test, int rank, const int64_t *dim, float low, float high, clf_tensor **tensor, float **host)
{
    clf_status st = clf_tensor_create(test->context, CLF_F32, rank, dim, tensor);
    if (st == CLF_OK)
        st = clfi_alloc(clf_tensor_count(*tensor), sizeof **host, "selftest", host);
    if (st == CLF_OK) {
        selftest_fill(test, *host, clf_tensor_count(*tensor), low, high);
        st = clf_tensor_write_f32(*tensor, *host, clf_tensor_count(*tensor));
    }
    return st;
}

clf_status selftest_add(selftest *test, selftest_operands *operands, int rank, const int64_t *dim, float low, float high)
{
    const int at = operands->count++;
    return selftest_tensor(test, rank, dim, low, high, &operands->tensor[at], &operands->host[at]);
}

const clf_view *selftest_view(const selftest_operands *operands, int i)
{
    return clfi_tensor_view(operands->tensor[i]);
}

clf_status selftest_read(selftest_operands *operands, int i)
{
    return clf_tensor_read_f32(operands->tensor[i], operands->host[i], clf_tensor_count(operands->tensor[i]));
}

void selftest_free(selftest_operands *operands)
{
    for (int i = 0; i < operands->count; i++) {
        clf_tensor_destroy(operands->tensor[i]);
        free(operands->host[i]);
    }
}
