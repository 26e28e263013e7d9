/* SPDX-License-Identifier: MIT */
/* Files that the program writes without being asked for their names: beside an output, or in a folder of settings or caches. */
#ifndef CLFI_BASE_SIDECAR_H
#define CLFI_BASE_SIDECAR_H

#include "base/file.h"

/* Whether an open regular file begins with `beginning`, or with as much of it as the file has bytes. `name` stands in messages. IO. */
clf_status clfi_file_begins(int descriptor, const char *name, const char *beginning, bool *out);

/* OK if no file has the name, or a regular file of this program has it, which begins with `beginning`. IO: a link, which leads to a
 * file of somebody else; a directory, pipe, socket or device; a file with other content. Never waits, changes nothing. */
clf_status clfi_sidecar_check(const char *path, const char *beginning);

/* clfi_sidecar_check, then clfi_atomic_open without following a link that appeared since: commit replaces only what stands at `path`. */
clf_status clfi_sidecar_open(const char *path, const char *beginning, clf_atomic_file *out);

#endif
