/* SPDX-License-Identifier: MIT */
/* NumPy .npy files, versions 1.0, 2.0 and 3.0: strict reading in place, and writing.
 * Format: NumPy Enhancement Proposal 1 and numpy.lib.format. */
#ifndef CLFI_IO_NPY_H
#define CLFI_IO_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file.h"
#include "base/file_map.h"
#include "base/hash.h"
#include "base/status.h"
#include "io/file_dtype.h"

enum { CLFI_NPY_MAX_RANK = 64 }; /* NumPy's own limit since version 2 */

/* One array; its elements are data + sum_i index_i * stride_i elements. */
typedef struct clf_npy {
    clf_file_dtype dtype;
    bool swapped; /* bytes of each element are reversed */
    int rank;
    int64_t dim[CLFI_NPY_MAX_RANK];
    int64_t stride[CLFI_NPY_MAX_RANK]; /* elements; Fortran order grows from the first axis */
    bool contiguous;                   /* the elements lie in C order */
    size_t count;                      /* elements */
    const void *data;                  /* any alignment; NULL when count is 0 */
    clf_file_map *map;                 /* owned after clfi_npy_open, else NULL */
} clf_npy;

/* Maps the file. Every fault is a FORMAT error that names file, place, expected and found: magic, version, header syntax, a key
 * missing, unknown or twice, shape, and a file shorter or longer than its array. UNSUPPORTED: structured, object, string, complex,
 * time and other dtypes than f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1; rank above 64. Release with clfi_npy_close. */
clf_status clfi_npy_open(const char *path, clf_npy *out);
void clfi_npy_close(clf_npy *npy);

/* The same checks on size bytes of memory, borrowed while *out is used. `name` stands for the path in messages. */
clf_status clfi_npy_parse(const void *data, size_t size, const char *name, clf_npy *out);

/* Elements first .. first+count-1 of the array in C order, converted as clfi_file_to_f32 does. INVALID_ARGUMENT: outside the array.
 * IO: the file was changed since it was opened. */
clf_status clfi_npy_read_f32(const clf_npy *npy, size_t first, size_t count, float *out);
clf_status clfi_npy_read_f64(const clf_npy *npy, size_t first, size_t count, double *out);

/* Appends the part of a .npy file before its elements. Its length does not depend on dim[0]. OUT_OF_MEMORY. */
clf_status clfi_npy_header(clf_file_dtype dtype, int rank, const int64_t *dim, clf_str *out);

/* Writes a C-order array, version 1.0, so that the old file stays until the new one is complete. INVALID_ARGUMENT: a dtype that NumPy
 * does not have, a bad shape. */
clf_status clfi_npy_write(const char *path, clf_file_dtype dtype, int rank, const int64_t *dim, const void *data);

/* Writes an array [rows, dim...] whose number of rows is known only at the end: the header leaves room for any number, and commit completes
 * it. */
typedef struct clf_npy_writer clf_npy_writer;

/* `rank` counts the dims after the rows. */
clf_status clfi_npy_writer_open(const char *path, clf_file_dtype dtype, int rank, const int64_t *dim, clf_npy_writer **out);

/* Appends rows in C order. IO as soon as a write fails. INVALID_ARGUMENT: too many rows for the shape. */
clf_status clfi_npy_writer_append(clf_npy_writer *writer, const void *data, size_t rows);

/* Returns the number of rows appended and the hash of their bytes. false: the output is a pipe or device, which gets no sidecar. */
bool clfi_npy_writer_told(const clf_npy_writer *writer, int64_t *out_rows, char out_hash[CLFI_HASH_TEXT_BYTES]);

/* Completes the header, moves the file into place and frees the writer, also on failure. */
clf_status clfi_npy_writer_commit(clf_npy_writer *writer);

/* Completes the header and frees the writer, also on failure. *out has all bytes; the caller commits or abandons it (base/file.h). */
clf_status clfi_npy_writer_finish(clf_npy_writer *writer, clf_atomic_file *out);

/* Removes what was written and frees the writer; NULL is a no-op. */
void clfi_npy_writer_abandon(clf_npy_writer *writer);

#endif
