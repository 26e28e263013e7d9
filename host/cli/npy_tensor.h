/* SPDX-License-Identifier: MIT */
/* NumPy files as tensors on a device, and back. */
#ifndef CLFI_CLI_NPY_TENSOR_H
#define CLFI_CLI_NPY_TENSOR_H

#include "base/file.h"
#include "clformer/tensor.h"

/* Type that a file's elements are converted to. */
typedef enum cli_npy_role {
    CLI_NPY_FLOAT,   /* float32, from every type that is read */
    CLI_NPY_MASK,    /* uint8: 1 where the file's element is not 0, of any type; floats below 0 or NaN are refused: an additive mask's */
    CLI_NPY_LENGTHS, /* int32: integers, those beyond its range become its ends */
    CLI_NPY_ROLE_COUNT
} cli_npy_role;

/* Reads `path` into a new tensor of the file's shape. Reasons begin with E_FILE (it cannot be read), E_FORMAT (it is no NumPy file, or a
 * broken one) or E_DTYPE (its elements do not suit the role). *out: the caller destroys it. Synchronous. */
clf_status cli_npy_load(clf_context *context, const char *path, cli_npy_role role, clf_tensor **out);

/* Puts the code of a file's fault before the reason: E_FILE, E_FORMAT or E_DTYPE; returns st. */
clf_status cli_npy_fault(clf_status st);

/* Writes a float tensor of rank 1 or more (f16 as f2, else f4) for `path`. *out waits for cli_npy_commit. E_FILE: it
 * cannot be written. */
clf_status cli_npy_stage(const clf_tensor *tensor, const char *path, clf_atomic_file *out);

/* Writes a float tensor of any rank, at once; a file that is there stays whole until then. */
clf_status cli_npy_save(const clf_tensor *tensor, const char *path);

/* Nested brackets on standard output, as JSON writes arrays (NaN and infinities as C prints them), and a newline. */
void cli_print_values(const float *values, int rank, const int64_t *dim);

#endif
