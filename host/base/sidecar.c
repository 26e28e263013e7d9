/* SPDX-License-Identifier: MIT */
/* Sidecar files are recognised by how their content begins, and opened without following links. */
#include "base/sidecar.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static clf_status refuse_link(const char *path)
{
    CLF_FAIL(CLF_IO, "%s: a link: expected a file that clformer made, or nothing (remove the link, or choose another place)", path);
}

clf_status clfi_file_begins(int descriptor, const char *name, const char *beginning, bool *out)
{
    char found[128];
    size_t size = 0;
    const size_t wanted = strlen(beginning);
    if (wanted > sizeof found)
        CLF_FAIL(CLF_INTERNAL, "%s: a header of %zu bytes: expected at most %zu", name, wanted, sizeof found);
    while (size < wanted) {
        const ssize_t got = pread(descriptor, found + size, wanted - size, (off_t)size);
        if (got < 0 && errno != EINTR)
            return clfi_fail_errno("read", name);
        if (got == 0)
            break;
        size += got > 0 ? (size_t)got : 0;
    }
    *out = memcmp(found, beginning, size) == 0;
    return CLF_OK;
}

clf_status clfi_sidecar_check(const char *path, const char *beginning)
{
    struct stat info;
    bool is_own = false;
    if (lstat(path, &info) != 0)
        return errno == ENOENT ? CLF_OK : clfi_fail_errno("look for", path);
    if (S_ISLNK(info.st_mode))
        return refuse_link(path);
    if (S_ISDIR(info.st_mode))
        CLF_FAIL(CLF_IO, "%s: is a directory: expected a file that clformer made, or nothing", path);
    if (!S_ISREG(info.st_mode))
        CLF_FAIL(CLF_IO, "%s: not a regular file: expected a file that clformer made, or nothing", path);
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC); /* O_NONBLOCK: the file may have become a pipe */
    if (fd < 0)
        return errno == ELOOP ? refuse_link(path) : clfi_fail_errno("open", path);
    const clf_status st = clfi_file_begins(fd, path, beginning, &is_own);
    close(fd);
    CLF_TRY(st);
    if (!is_own)
        CLF_FAIL(CLF_IO, "%s: not made by clformer, so it is not replaced (move it, or choose another place)", path);
    return CLF_OK;
}

clf_status clfi_sidecar_open(const char *path, const char *beginning, clf_atomic_file *out)
{
    CLF_TRY(clfi_sidecar_check(path, beginning));
    CLF_TRY(clfi_atomic_open(path, out));
    if (strcmp(out->target, path) == 0)
        return CLF_OK;
    clfi_atomic_abandon(out);
    return refuse_link(path);
}
