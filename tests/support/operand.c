/* SPDX-License-Identifier: MIT */
/* Makes, fills and checks operands for tests of ops. */
#include "support/operand.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/check.h"

enum { FENCE = 64, GAP = 3, ALL_NAN = 0xff };

const char *layout_name(layout l)
{
    static const char *const names[LAYOUT_COUNT] = {"contiguous", "sliced", "swapped", "reversed"};
    return names[l];
}

/* Computes strides for the memory order order[0] (outermost) to order[rank - 1], with `gap` elements after each axis; returns the
 * extent. */
static int64_t assign_strides(int rank, const int64_t *dim, const int *order, int64_t gap, int64_t *stride)
{
    int64_t step = 1;
    for (int i = rank - 1; i >= 0; i--) {
        stride[order[i]] = step;
        step *= (dim[order[i]] > 0 ? dim[order[i]] : 1) + gap;
    }
    return step;
}

operand operand_create(clf_context *context, clf_dtype dtype, layout l, int rank, const int64_t *dim)
{
    operand o = {0};
    int order[CLF_MAX_RANK];
    int64_t stride[CLF_MAX_RANK];
    for (int i = 0; i < rank; i++)
        order[i] = l == LAYOUT_REVERSED ? rank - 1 - i : i;
    if (l == LAYOUT_SWAPPED && rank > 1) {
        order[0] = 1;
        order[1] = 0;
    }
    const int64_t extent = assign_strides(rank, dim, order, l == LAYOUT_SLICED ? GAP : 0, stride);
    const int64_t total = extent + 2 * FENCE;
    CHECK_OK(clf_tensor_create(context, dtype, 1, &total, &o.base));
    operand_spoil(&o);
    CHECK_OK(clf_tensor_view(o.base, rank, dim, stride, FENCE, &o.tensor));
    o.count = clf_tensor_count(o.tensor);
    o.value = calloc(o.count + 1, sizeof *o.value);
    assert_non_null(o.value);
    return o;
}

void operand_spoil(operand *o)
{
    const size_t bytes = clf_tensor_count(o->base) * clf_dtype_bytes(clf_tensor_dtype(o->base));
    unsigned char *fill = malloc(bytes);
    assert_non_null(fill);
    memset(fill, UNWRITTEN, bytes);
    CHECK_OK(clf_tensor_write(o->base, fill, bytes));
    free(fill);
    o->outside = UNWRITTEN;
}

void operand_destroy(operand *o)
{
    clf_tensor_destroy(o->tensor);
    clf_tensor_destroy(o->base);
    free(o->value);
    *o = (operand){0};
}

static void read_values(operand *o)
{
    float *values = calloc(o->count + 1, sizeof *values);
    assert_non_null(values);
    CHECK_OK(clf_tensor_read_f32(o->tensor, values, o->count));
    for (size_t i = 0; i < o->count; i++)
        o->value[i] = (double)values[i];
    free(values);
}

/* Marks the elements of the view, counting through its axes. */
static void mark_view(const clf_tensor *view, bool *is_inside)
{
    const int rank = clf_tensor_rank(view);
    const int64_t *dim = clf_tensor_dim(view), *stride = clf_tensor_stride(view);
    int64_t index[CLF_MAX_RANK] = {0};
    for (size_t left = clf_tensor_count(view); left > 0; left--) {
        int64_t at = FENCE;
        for (int i = 0; i < rank; i++)
            at += index[i] * stride[i];
        is_inside[at] = true;
        for (int i = rank - 1; i >= 0 && ++index[i] == dim[i]; i--)
            index[i] = 0;
    }
}

/* Fills the memory outside the view with NaN. Writes the whole base again, because Oclgrind regards memory that the host wrote at an
 * offset as uninitialised. */
static void surround_with_nan(operand *o)
{
    const size_t total = clf_tensor_count(o->base), size = clf_dtype_bytes(clf_tensor_dtype(o->base));
    unsigned char *bytes = malloc(total * size);
    bool *is_inside = calloc(total, sizeof *is_inside);
    assert_true(bytes && is_inside);
    CHECK_OK(clf_tensor_read(o->base, bytes, total * size));
    mark_view(o->tensor, is_inside);
    for (size_t i = 0; i < total; i++)
        if (!is_inside[i])
            memset(bytes + i * size, ALL_NAN, size);
    CHECK_OK(clf_tensor_write(o->base, bytes, total * size));
    o->outside = ALL_NAN;
    free(is_inside);
    free(bytes);
}

void operand_fill(operand *o, const float *values)
{
    CHECK_OK(clf_tensor_write_f32(o->tensor, values, o->count));
    surround_with_nan(o);
    read_values(o);
}

void operand_fill_uniform(operand *o, rng *r, float low, float high)
{
    float *values = calloc(o->count + 1, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < o->count; i++)
        values[i] = rng_uniform(r, low, high);
    operand_fill(o, values);
    free(values);
}

void operand_fill_ids(operand *o, const int32_t *values)
{
    CHECK_OK(clf_tensor_write(o->tensor, values, o->count * sizeof *values));
    surround_with_nan(o);
    for (size_t i = 0; i < o->count; i++)
        o->value[i] = values[i];
}

void operand_fill_bytes(operand *o, const unsigned char *values)
{
    CHECK_OK(clf_tensor_write(o->tensor, values, o->count));
    surround_with_nan(o);
    for (size_t i = 0; i < o->count; i++)
        o->value[i] = values[i];
}

void operand_read(operand *o, const char *id)
{
    read_values(o);
    const size_t total = clf_tensor_count(o->base), size = clf_dtype_bytes(clf_tensor_dtype(o->base));
    unsigned char *bytes = malloc(total * size);
    bool *is_inside = calloc(total, sizeof *is_inside);
    assert_true(bytes && is_inside);
    CHECK_OK(clf_tensor_read(o->base, bytes, total * size));
    mark_view(o->tensor, is_inside);
    for (size_t i = 0; i < total; i++)
        for (size_t b = 0; !is_inside[i] && b < size; b++)
            CHECK(bytes[i * size + b] == o->outside, "%s: element %lld outside the output was written", id, (long long)i - FENCE);
    free(is_inside);
    free(bytes);
}

double operand_rounding(clf_dtype dtype, double magnitude)
{
    switch (dtype) {
    case CLF_F16:
        return ldexp(fabs(magnitude), -11) + ldexp(1.0, -25);
    case CLF_BF16:
        return ldexp(fabs(magnitude), -8) + ldexp(1.0, -126);
    default:
        return ldexp(fabs(magnitude), -24) + ldexp(1.0, -126); /* f32; results below the normal range may flush */
    }
}

operand operand_random_mask(clf_context *context, rng *r, layout l, int rank, const int64_t *dim, unsigned of)
{
    operand o = operand_create(context, CLF_U8, l, rank, dim);
    unsigned char *bytes = calloc(o.count + 1, 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < o.count; i++)
        bytes[i] = rng_bits(r) % of ? (unsigned char)(1 + rng_bits(r) % 255) : 0;
    operand_fill_bytes(&o, bytes);
    free(bytes);
    return o;
}

void operand_check(const operand *o, size_t first, size_t count, const double *want, const double *bound, const char *id)
{
    const clf_dtype dtype = clf_tensor_dtype(o->tensor);
    for (size_t i = 0; i < count; i++) {
        const double got = o->value[first + i], limit = bound[i] + operand_rounding(dtype, fabs(want[i]) + bound[i]);
        CHECK(within(got, want[i], limit), "%s: element %zu: %.9g, want %.9g, bound %.3g", id, first + i, got, want[i], limit);
    }
}

bool only_small_cases(void)
{
    const char *small = getenv("CLF_TEST_SMALL");
    return small && small[0] && strcmp(small, "0") != 0;
}

size_t long_text_bytes(void)
{
    return only_small_cases() ? 125000 : 1000000;
}

bool takes_case(size_t index, bool is_small)
{
    const char *share = getenv("CLF_TEST_SHARE");
    unsigned first = 0, last = 0, of = 1;
    if (share && share[0])
        CHECK(sscanf(share, "%u-%u/%u", &first, &last, &of) == 3 && first <= last && last < of,
              "CLF_TEST_SHARE=%s: expected a share such as 1-3/4", share);
    return is_small || (!only_small_cases() && index % of >= first && index % of <= last);
}

clf_context *engine_context(const char *engines)
{
    return precise_context(engines, CLF_PRECISION_HIGHEST);
}

clf_context *precise_context(const char *engines, clf_precision precision)
{
    clf_context *context = NULL;
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    params.engines = engines;
    params.precision = precision;
    CHECK_OK(clf_context_create(&params, &context));
    return context;
}
