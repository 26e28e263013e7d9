/* SPDX-License-Identifier: MIT */
/* Reads NumPy files into tensors on a device and writes tensors to NumPy files, for clformer op. clformer einsum uses the error codes and
 * the printing. */
#ifndef CLFI_CLI_NPY_TENSOR_H
#define CLFI_CLI_NPY_TENSOR_H

#include "base/file.h"
#include "clformer/tensor.h"

/* Type that a file's elements are converted to. */
typedef enum cli_npy_role {
    CLI_NPY_FLOAT,   /* float32, from every type that is read */
    CLI_NPY_MASK,    /* uint8, from any type: 1 if the file's element is not 0. Negative floats and NaN (additive masks) are refused */
    CLI_NPY_LENGTHS, /* int32, from integers; those beyond its range become its ends */
    CLI_NPY_ROLE_COUNT
} cli_npy_role;

/* Reads `path` into a new tensor of the file's shape. Reasons begin with E_FILE (it cannot be read), E_FORMAT (it is no NumPy file, or a
 * broken one), E_DTYPE (its elements do not suit the role) or E_LIMIT (its rank is too large). *out: the caller destroys it.
 * Synchronous. */
clf_status cli_npy_load(clf_context *context, const char *path, cli_npy_role role, clf_tensor **out);

/* Puts a code before the last error's reason and returns st: E_FORMAT for FORMAT, E_DTYPE for UNSUPPORTED, E_FILE for NOT_FOUND and IO.
 * Other statuses get no code. */
clf_status cli_npy_fault(clf_status st);

/* Writes a float tensor of rank 1 or more (f16 as f2, else f4) for `path`. *out waits for cli_npy_commit. E_FILE: it
 * cannot be written. */
clf_status cli_npy_stage(const clf_tensor *tensor, const char *path, clf_atomic_file *out);

/* Writes a float tensor of any rank to `path`. An old file stays until the new one is complete. E_FILE: it cannot be written. */
clf_status cli_npy_save(const clf_tensor *tensor, const char *path);

/* Prints the values on standard output as nested arrays of JSON (but NaN and infinities as C prints them), and a newline. */
void cli_print_values(const float *values, int rank, const int64_t *dim);

#endif
