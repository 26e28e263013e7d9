/* SPDX-License-Identifier: MIT */
/* Shapes, strides and views. */
#include "tensor/view.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

typedef struct dtype_row {
    size_t bytes;
    const char *cl, *suffix, *name, *load, *store;
} dtype_row;

static const dtype_row dtypes[] = {
#define X(id, bytes, cl, suffix, name) {bytes, cl, suffix, name, "load_" suffix, "store_" suffix},
    CLF_DTYPE_MAP(X)
#undef X
};
_Static_assert(sizeof dtypes / sizeof dtypes[0] == CLF_DTYPE_COUNT, "one row per dtype");

static const dtype_row *row(clf_dtype dtype)
{
    static const dtype_row unknown = {0, "void", "unknown", "unknown", "load_unknown", "store_unknown"};
    return (unsigned)dtype < CLF_DTYPE_COUNT ? &dtypes[dtype] : &unknown;
}

size_t clf_dtype_bytes(clf_dtype dtype)
{
    return row(dtype)->bytes;
}

const char *clf_dtype_name(clf_dtype dtype)
{
    return row(dtype)->name;
}

const char *clfi_dtype_suffix(clf_dtype dtype)
{
    return row(dtype)->suffix;
}

bool clfi_dtype_is_float(clf_dtype dtype)
{
    return dtype == CLF_F32 || dtype == CLF_F16 || dtype == CLF_BF16;
}

clf_status clfi_shape_count(const char *what, clf_dtype dtype, int rank, const int64_t *dim, size_t *out)
{
    size_t count = 1, bytes;
    if (row(dtype)->bytes == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: dtype %d is unknown", what, (int)dtype);
    if (rank < 0 || rank > CLF_MAX_RANK)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: rank %d, expected 0 to %d", what, rank, CLF_MAX_RANK);
    if (rank > 0 && !dim)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: rank %d without dimensions", what, rank);
    bool is_empty = false;
    for (int i = 0; i < rank; i++) {
        if (dim[i] < 0)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: dim[%d] = %lld is negative", what, i, (long long)dim[i]);
        if (dim[i] == 0)
            is_empty = true;
        else if (!clfi_mul_size(count, (size_t)dim[i], &count))
            count = 0;
        if (count == 0)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: dim[%d] = %lld: size does not fit", what, i, (long long)dim[i]);
    }
    if (!clfi_mul_size(count, row(dtype)->bytes, &bytes) || bytes > INT64_MAX)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: %zu elements of %zu bytes do not fit", what, count, row(dtype)->bytes);
    *out = is_empty ? 0 : count;
    return CLF_OK;
}

clf_view clfi_view_dense(clf_buffer *buffer, clf_dtype dtype, int64_t offset, int rank, const int64_t *dim)
{
    clf_view view = {.buffer = buffer, .dtype = dtype, .rank = rank, .offset = offset};
    int64_t step = 1;
    for (int i = rank - 1; i >= 0; i--) {
        view.dim[i] = dim[i];
        view.stride[i] = step;
        step *= dim[i] > 0 ? dim[i] : 1;
    }
    return view;
}

int64_t clfi_view_count(const clf_view *view)
{
    int64_t count = 1;
    for (int i = 0; i < view->rank; i++)
        count *= view->dim[i];
    return count;
}

bool clfi_view_is_dense(const clf_view *view)
{
    int64_t step = 1;
    for (int i = view->rank - 1; i >= 0; i--) {
        if (view->dim[i] != 1 && view->stride[i] != step)
            return clfi_view_count(view) == 0;
        step *= view->dim[i];
    }
    return true;
}

int clfi_view_repeated_axis(const clf_view *view)
{
    for (int i = 0; i < view->rank; i++)
        if (view->dim[i] > 1 && view->stride[i] == 0)
            return i;
    return -1;
}

bool clfi_view_same_shape(const clf_view *a, const clf_view *b)
{
    return a->rank == b->rank && (a->rank == 0 || memcmp(a->dim, b->dim, (size_t)a->rank * sizeof a->dim[0]) == 0);
}

const char *clfi_shape_text(int rank, const int64_t *dim, char out[CLFI_SHAPE_TEXT_BYTES])
{
    size_t length = 1;
    strcpy(out, "[");
    for (int i = 0; i < rank && length < CLFI_SHAPE_TEXT_BYTES - 24; i++)
        length += (size_t)snprintf(out + length, CLFI_SHAPE_TEXT_BYTES - length, "%s%lld", i ? "," : "", (long long)dim[i]);
    strcpy(out + length, "]");
    return out;
}

clf_status clfi_view_temporary(clf_context *context, clf_dtype dtype, int rank, const int64_t *dim, clf_view *out)
{
    size_t count;
    clf_region region;
    CLF_TRY(clfi_shape_count("temporary", dtype, rank, dim, &count));
    CLF_TRY(clfi_arena_alloc(context, count * row(dtype)->bytes, &region));
    *out = clfi_view_dense(region.buffer, dtype, (int64_t)(region.offset_bytes / row(dtype)->bytes), rank, dim);
    return CLF_OK;
}

void clfi_spec_dtype(clf_kernel_spec *spec, const char *name, clf_dtype dtype)
{
    clfi_spec_joined(spec, name, "_T", row(dtype)->cl);
    clfi_spec_joined(spec, "LOAD_", name, row(dtype)->load);
    clfi_spec_joined(spec, "STORE_", name, row(dtype)->store);
}

void clfi_arg_view(clf_launch *launch, const clf_view *view)
{
    clfi_arg_buffer(launch, view->buffer);
    clfi_arg_long(launch, view->offset);
}
