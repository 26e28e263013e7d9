/* SPDX-License-Identifier: MIT */
/* Writes .npy files, version 1.0 (64 dimensions always fit its 64 KiB header): whole arrays, or row by row. */
#include "io/npy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum {
    PREAMBLE_BYTES = 10, /* magic, version, header size */
    ALIGNMENT = 64,      /* of the data: NumPy's rule since version 1.14 */
    GROWTH_DIGITS = 21   /* room for the first dimension: NumPy's rule since version 1.23 */
};

struct clf_npy_writer {
    clf_atomic_file file;
    clf_file_dtype dtype;
    int rank;
    int64_t dim[CLFI_NPY_MAX_RANK]; /* dim[0] counts the rows so far */
    size_t row_bytes;
    clf_hasher *hash; /* of the elements */
};

/* Preamble and dictionary, then spaces: as many as the first dimension may still grow by in digits, and up to a multiple of ALIGNMENT.
 * NumPy writes the same bytes, and their number does not depend on the first dimension. */
clf_status clfi_npy_header(clf_file_dtype dtype, int rank, const int64_t *dim, clf_str *out)
{
    static const char preamble[PREAMBLE_BYTES] = "\x93NUMPY\x01";
    const char *order = clfi_file_dtype_bytes(dtype) > 1 ? "<" : "|";
    CLF_TRY(clfi_str_append(out, preamble, sizeof preamble));
    CLF_TRY(clfi_str_appendf(out, "{'descr': '%s%s', 'fortran_order': False, 'shape': (", order, clfi_file_dtype_numpy(dtype)));
    for (int i = 0; i < rank; i++)
        CLF_TRY(clfi_str_appendf(out, "%s%" PRId64 "%s", i ? ", " : "", dim[i], rank == 1 ? "," : ""));
    CLF_TRY(clfi_str_append_text(out, "), }"));
    if (rank > 0)
        CLF_TRY(clfi_str_appendf(out, "%*s", GROWTH_DIGITS - snprintf(NULL, 0, "%" PRId64, dim[0]), ""));
    while ((out->length + 1) % ALIGNMENT)
        CLF_TRY(clfi_str_append_char(out, ' '));
    CLF_TRY(clfi_str_append_char(out, '\n'));
    const size_t length = out->length - PREAMBLE_BYTES;
    out->data[PREAMBLE_BYTES - 2] = (char)(length & 0xff);
    out->data[PREAMBLE_BYTES - 1] = (char)(length >> 8);
    return CLF_OK;
}

static clf_status check_array(const char *path, clf_file_dtype dtype, int rank, const int64_t *dim, size_t *bytes)
{
    if (!clfi_file_dtype_numpy(dtype)[0])
        CLF_FAIL(CLF_INVALID_ARGUMENT, "write %s: NumPy has no number type %s", path, clfi_file_dtype_name(dtype));
    if (rank < 0 || rank > CLFI_NPY_MAX_RANK)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "write %s: expected rank 0 to %d, found %d", path, CLFI_NPY_MAX_RANK, rank);
    if (!clfi_file_bytes(dtype, rank, dim, bytes))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "write %s: the shape has a negative dimension or is too large", path);
    return CLF_OK;
}

clf_status clfi_npy_write(const char *path, clf_file_dtype dtype, int rank, const int64_t *dim, const void *data)
{
    clf_status st;
    clf_str header = CLF_STR_INIT;
    clf_atomic_file file = {.stream = NULL};
    size_t bytes = 0;
    CLF_TRY(check_array(path, dtype, rank, dim, &bytes));
    CLF_GOTO(clfi_npy_header(dtype, rank, dim, &header));
    CLF_GOTO(clfi_output_open(path, true, &file));
    clfi_atomic_write(&file, header.data, header.length);
    clfi_atomic_write(&file, data, bytes);
    st = clfi_atomic_commit(&file);
done:
    clfi_str_free(&header);
    return st;
}

static clf_status start_file(clf_npy_writer *writer, const char *path)
{
    clf_str header = CLF_STR_INIT;
    clf_status st = clfi_npy_header(writer->dtype, writer->rank, writer->dim, &header);
    if (st == CLF_OK)
        st = clfi_output_open(path, true, &writer->file);
    if (st == CLF_OK)
        clfi_atomic_write(&writer->file, header.data, header.length);
    clfi_str_free(&header);
    return st;
}

clf_status clfi_npy_writer_open(const char *path, clf_file_dtype dtype, int rank, const int64_t *dim, clf_npy_writer **out)
{
    clf_npy_writer *writer;
    size_t row_bytes = 0;
    if (rank >= CLFI_NPY_MAX_RANK)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "write %s: expected rank 0 to %d beside the rows, found %d", path, CLFI_NPY_MAX_RANK - 1, rank);
    CLF_TRY(check_array(path, dtype, rank, dim, &row_bytes));
    CLF_TRY(clfi_alloc(1, sizeof *writer, "npy writer", &writer));
    writer->dtype = dtype;
    writer->rank = rank + 1;
    writer->row_bytes = row_bytes;
    if (rank)
        memcpy(writer->dim + 1, dim, (size_t)rank * sizeof *dim);
    clf_status st = clfi_hasher_create(&writer->hash);
    if (st == CLF_OK)
        st = start_file(writer, path);
    if (st != CLF_OK) {
        clfi_hasher_destroy(writer->hash);
        free(writer);
        return st;
    }
    *out = writer;
    return CLF_OK;
}

clf_status clfi_npy_writer_append(clf_npy_writer *writer, const void *data, size_t rows)
{
    size_t bytes;
    if (!clfi_mul_size(rows, writer->row_bytes, &bytes) || rows > (uint64_t)(INT64_MAX - writer->dim[0]))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "write %s: the shape would be too large with %zu more rows", writer->file.path, rows);
    if (!clfi_atomic_write(&writer->file, data, bytes))
        CLF_FAIL(CLF_IO, "write %s: %s", writer->file.path, strerror(writer->file.fault));
    clfi_hasher_add(writer->hash, data, bytes);
    writer->dim[0] += (int64_t)rows;
    return CLF_OK;
}

bool clfi_npy_writer_told(const clf_npy_writer *writer, int64_t *out_rows, char out_hash[CLFI_HASH_TEXT_BYTES])
{
    *out_rows = writer->dim[0];
    clfi_hasher_text(writer->hash, out_hash);
    return writer->file.target != NULL;
}

static clf_status complete_header(clf_npy_writer *writer)
{
    clf_str header = CLF_STR_INIT;
    clf_status st = clfi_npy_header(writer->dtype, writer->rank, writer->dim, &header);
    if (st == CLF_OK && fseeko(writer->file.stream, 0, SEEK_SET) != 0)
        st = clfi_fail(CLF_IO, "write %s: %s", writer->file.path, strerror(errno));
    if (st == CLF_OK)
        clfi_atomic_write(&writer->file, header.data, header.length);
    clfi_str_free(&header);
    return st;
}

clf_status clfi_npy_writer_finish(clf_npy_writer *writer, clf_atomic_file *out)
{
    const clf_status st = complete_header(writer);
    if (st == CLF_OK) {
        *out = writer->file;
        writer->file = (clf_atomic_file){.sink = -1};
    }
    clfi_npy_writer_abandon(writer);
    return st;
}

clf_status clfi_npy_writer_commit(clf_npy_writer *writer)
{
    clf_atomic_file file;
    CLF_TRY(clfi_npy_writer_finish(writer, &file));
    return clfi_atomic_commit(&file);
}

void clfi_npy_writer_abandon(clf_npy_writer *writer)
{
    if (!writer)
        return;
    clfi_atomic_abandon(&writer->file);
    clfi_hasher_destroy(writer->hash);
    free(writer);
}
