/* SPDX-License-Identifier: MIT */
/* NumPy files that are nobody's embeddings. */
#include "cli/npy_output.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/fingerprint.h"

/* Behind the writing, whose status is passed on. Frees the name. */
static clf_status remove_outdated(char *fingerprint, clf_status written)
{
    const clf_status st = written == CLF_OK && fingerprint && unlink(fingerprint) != 0 ? clfi_fail_errno("remove", fingerprint) : written;
    free(fingerprint);
    return st;
}

clf_status cli_npy_write(const char *path, clf_file_dtype dtype, int rank, const int64_t *dim, const void *data)
{
    char *outdated; /* found first: what fails after the writing has changed the output */
    CLF_TRY(cli_fingerprint_beside(path, &outdated));
    return remove_outdated(outdated, clfi_npy_write(path, dtype, rank, dim, data));
}

clf_status cli_npy_commit(const char *path, clf_npy_writer *writer)
{
    char *outdated;
    const clf_status st = cli_fingerprint_beside(path, &outdated);
    if (st != CLF_OK) {
        clfi_npy_writer_abandon(writer);
        return st;
    }
    return remove_outdated(outdated, clfi_npy_writer_commit(writer));
}
