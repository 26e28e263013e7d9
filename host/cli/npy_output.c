/* SPDX-License-Identifier: MIT */
/* NumPy files that are nobody's embeddings. */
#include "cli/npy_output.h"

#include "cli/fingerprint.h"

clf_status cli_npy_write(const char *path, clf_file_dtype dtype, int rank, const int64_t *dim, const void *data)
{
    CLF_TRY(clfi_npy_write(path, dtype, rank, dim, data));
    return cli_fingerprint_outdate(path);
}

clf_status cli_npy_commit(const char *path, clf_npy_writer *writer)
{
    CLF_TRY(clfi_npy_writer_commit(writer));
    return cli_fingerprint_outdate(path);
}
