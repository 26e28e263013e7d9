/* SPDX-License-Identifier: MIT */
/* Writes NumPy files that are not embeddings. If the file replaces embeddings, their fingerprint is removed. */
#ifndef CLFI_JOBS_NPY_OUTPUT_H
#define CLFI_JOBS_NPY_OUTPUT_H

#include "io/npy.h"

/* clfi_npy_write. IO also: the fingerprint of the former file cannot be removed. */
clf_status cli_npy_write(const char *path, clf_file_dtype dtype, int rank, const int64_t *dim, const void *data);

/* Commits an array that was written row by row (clfi_npy_writer_finish) together with another output of the same command (NULL: none). If
 * one fails, neither is committed. Closes both in any case. */
clf_status cli_npy_commit(clf_atomic_file *file, clf_atomic_file *beside);

#endif
