/* SPDX-License-Identifier: MIT */
/* A directory that nobody but this user may write to, for files that are run. It is opened once, and everything in it is reached through
 * the descriptor, so that replacing the path afterwards has no effect. */
#ifndef CLFI_BASE_PRIVATE_DIRECTORY_H
#define CLFI_BASE_PRIVATE_DIRECTORY_H

#include "base/status.h"
#include "base/str.h"

typedef struct clf_private_directory {
    char *path; /* absolute, for messages and other processes */
    int descriptor;
} clf_private_directory;

/* Creates the directory and its missing parents with mode 0700, and opens it. IO: it or a parent cannot be opened, the last name is a link,
 * the directory is not this user's, or others may write to it. IO also: a parent is somebody else's, or others may write to it and it is
 * not sticky. (The group that bears the owner's name and has no other members does not count as others.) */
clf_status clfi_private_directory_open(const char *path, clf_private_directory **out);
void clfi_private_directory_close(clf_private_directory *directory); /* NULL is a no-op */

/* Appends a whole file to `out`. NOT_FOUND: no such file. FORMAT: larger than limit. IO: not a regular file, somebody else's, or others may
 * write to it. */
clf_status clfi_private_directory_read(const clf_private_directory *directory, const char *name, size_t limit, clf_str *out);

/* Replaces a file: readers see the old one or the whole new one. Not synced: what a crash of the machine loses must be made again. */
clf_status clfi_private_directory_write(const clf_private_directory *directory, const char *name, const void *data, size_t size);

#endif
