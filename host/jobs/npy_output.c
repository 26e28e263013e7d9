/* SPDX-License-Identifier: MIT */
/* Writes NumPy files that need no fingerprint. */
#include "jobs/npy_output.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "jobs/fingerprint.h"

/* Removes the fingerprint (NULL: none) if the writing succeeded, else returns its status. Frees the name. */
static clf_status remove_outdated(char *fingerprint, clf_status written)
{
    const clf_status st = written == CLF_OK && fingerprint && unlink(fingerprint) != 0 ? clfi_fail_errno("remove", fingerprint) : written;
    free(fingerprint);
    return st;
}

clf_status cli_npy_write(const char *path, clf_file_dtype dtype, int rank, const int64_t *dim, const void *data)
{
    char *outdated; /* found first: if that fails, the output is not changed */
    CLF_TRY(cli_fingerprint_beside(path, &outdated));
    return remove_outdated(outdated, clfi_npy_write(path, dtype, rank, dim, data));
}

clf_status cli_npy_commit(clf_atomic_file *file, clf_atomic_file *beside)
{
    char *outdated = NULL, *outdated_beside = NULL;
    clf_status st = cli_fingerprint_beside(file->path, &outdated);
    if (st == CLF_OK && beside)
        st = cli_fingerprint_beside(beside->path, &outdated_beside);
    if (st != CLF_OK) {
        clfi_atomic_abandon(file);
        if (beside)
            clfi_atomic_abandon(beside);
    } else {
        st = beside ? clfi_atomic_commit_pair(file, beside) : clfi_atomic_commit(file);
    }
    return remove_outdated(outdated_beside, remove_outdated(outdated, st));
}
