/* SPDX-License-Identifier: MIT */
/* Reads NumPy files into tensors on a device and writes tensors to NumPy files, for clformer op. */
#include "cli/npy_tensor.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "jobs/npy_output.h"

clf_status cli_npy_fault(clf_status st)
{
    switch (st) {
    case CLF_FORMAT:
        return clfi_fail_prefix(st, "E_FORMAT");
    case CLF_UNSUPPORTED:
        return clfi_fail_prefix(st, "E_DTYPE");
    case CLF_NOT_FOUND:
    case CLF_IO:
        return clfi_fail_prefix(st, "E_FILE");
    default:
        return st;
    }
}

static bool is_float(clf_file_dtype dtype)
{
    return dtype == CLF_FILE_F16 || dtype == CLF_FILE_F32 || dtype == CLF_FILE_F64;
}

/* 0 masks, any other number keeps. A negative float or NaN is refused, because it belongs to an additive mask. */
static clf_status to_mask(const char *path, const clf_npy *npy, const double *values, uint8_t *out)
{
    bool is_additive = false;
    for (size_t i = 0; i < npy->count; i++) {
        out[i] = values[i] != 0;
        is_additive |= !(values[i] >= 0);
    }
    if (is_float(npy->dtype) && is_additive)
        CLF_FAIL(CLF_UNSUPPORTED,
                 "E_DTYPE: %s: expected a mask, in which 0 is masked, found a negative number or NaN (an additive mask is a bias: --bias)",
                 path);
    return CLF_OK;
}

static clf_status to_lengths(const char *path, const clf_npy *npy, const double *values, int32_t *out)
{
    if (is_float(npy->dtype) || npy->dtype == CLF_FILE_BOOL)
        CLF_FAIL(CLF_UNSUPPORTED, "E_DTYPE: %s: lengths of %s: expected integers", path, clfi_file_dtype_numpy(npy->dtype));
    for (size_t i = 0; i < npy->count; i++)
        out[i] = values[i] < INT32_MIN ? INT32_MIN : values[i] > INT32_MAX ? INT32_MAX : (int32_t)values[i];
    return CLF_OK;
}

/* Reads a mask or lengths through double, which is exact for what matters: zero or not, and the range of int32. */
static clf_status convert_integers(const char *path, const clf_npy *npy, cli_npy_role role, void *out)
{
    double *values;
    CLF_TRY(clfi_alloc(npy->count, sizeof *values, path, &values));
    clf_status st = clfi_npy_read_f64(npy, 0, npy->count, values);
    if (st == CLF_OK)
        st = role == CLI_NPY_MASK ? to_mask(path, npy, values, out) : to_lengths(path, npy, values, out);
    free(values);
    return st;
}

static clf_status upload(clf_context *context, const char *path, const clf_npy *npy, cli_npy_role role, clf_tensor **out)
{
    static const clf_dtype dtypes[CLI_NPY_ROLE_COUNT] = {CLF_F32, CLF_U8, CLF_I32};
    void *values;
    if (npy->rank > CLF_MAX_RANK)
        CLF_FAIL(CLF_UNSUPPORTED, "E_LIMIT: %s: rank %d, at most %d", path, npy->rank, CLF_MAX_RANK);
    CLF_TRY(clfi_alloc(npy->count, clf_dtype_bytes(dtypes[role]), path, &values));
    clf_status st;
    if (role == CLI_NPY_FLOAT)
        st = clfi_npy_read_f32(npy, 0, npy->count, values);
    else
        st = convert_integers(path, npy, role, values);
    if (st == CLF_OK)
        st = clf_tensor_create_from(context, dtypes[role], npy->rank, npy->dim, values, out);
    free(values);
    return st;
}

clf_status cli_npy_load(clf_context *context, const char *path, cli_npy_role role, clf_tensor **out)
{
    clf_npy npy;
    clf_status st = clfi_npy_open(path, &npy);
    if (st != CLF_OK)
        return cli_npy_fault(st);
    st = upload(context, path, &npy, role, out);
    clfi_npy_close(&npy);
    return st;
}

/* Copies the tensor's values to the host, in the type that its file will have. The caller frees *values. */
static clf_status download(const clf_tensor *tensor, clf_file_dtype *dtype, void **values)
{
    const size_t count = clf_tensor_count(tensor);
    const bool is_half = clf_tensor_dtype(tensor) == CLF_F16;
    *dtype = is_half ? CLF_FILE_F16 : CLF_FILE_F32;
    CLF_TRY(clfi_alloc(count, clfi_file_dtype_bytes(*dtype), "result", values));
    const clf_status st = is_half ? clf_tensor_read(tensor, *values, count * 2) : clf_tensor_read_f32(tensor, *values, count);
    if (st != CLF_OK)
        free(*values);
    return st;
}

clf_status cli_npy_stage(const clf_tensor *tensor, const char *path, clf_atomic_file *out)
{
    const int rank = clf_tensor_rank(tensor);
    const int64_t *dim = clf_tensor_dim(tensor);
    clf_npy_writer *writer = NULL;
    clf_file_dtype dtype;
    void *values;
    CLF_TRY(download(tensor, &dtype, &values));
    clf_status st = clfi_npy_writer_open(path, dtype, rank - 1, dim + 1, &writer);
    if (st == CLF_OK)
        st = clfi_npy_writer_append(writer, values, (size_t)dim[0]);
    free(values);
    if (st != CLF_OK)
        clfi_npy_writer_abandon(writer);
    else
        st = clfi_npy_writer_finish(writer, out);
    return cli_npy_fault(st);
}

clf_status cli_npy_save(const clf_tensor *tensor, const char *path)
{
    clf_file_dtype dtype;
    void *values;
    CLF_TRY(download(tensor, &dtype, &values));
    const clf_status st = cli_npy_write(path, dtype, clf_tensor_rank(tensor), clf_tensor_dim(tensor), values);
    free(values);
    return st == CLF_OK ? st : cli_npy_fault(st);
}

static const float *print_nested(const float *values, int rank, const int64_t *dim)
{
    if (rank == 0) {
        printf("%.9g", (double)*values);
        return values + 1;
    }
    putchar('[');
    for (int64_t i = 0; i < dim[0]; i++) {
        if (i)
            fputs(rank > 1 ? ",\n" : ", ", stdout);
        values = print_nested(values, rank - 1, dim + 1);
    }
    putchar(']');
    return values;
}

void cli_print_values(const float *values, int rank, const int64_t *dim)
{
    print_nested(values, rank, dim);
    putchar('\n');
}
