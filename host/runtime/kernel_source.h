/* SPDX-License-Identifier: MIT */
/* OpenCL C text of the kernels: embedded at build time, or read from CLF_KERNEL_DIR. `#include "x.cl"` lines are resolved here.
 *
 * cl/ has a folder for each group of users: shared (included by the others), cpu, gpu, any (device) and peak (measures limits: part of the
 * program, not of the library). File names are unique across them, so kernels and launchers give the name without its folder. */
#ifndef CLFI_RUNTIME_KERNEL_SOURCE_H
#define CLFI_RUNTIME_KERNEL_SOURCE_H

#include <stddef.h>

#include "base/str.h"

typedef struct clf_kernel_file {
    const char *path; /* below cl/: "gpu/softmax_group.cl" */
    const char *text; /* NUL-terminated */
    size_t size;
} clf_kernel_file;

typedef struct clf_kernel_set {
    const clf_kernel_file *files;
    size_t count;
} clf_kernel_set;

extern const clf_kernel_set clfi_kernels; /* the library's kernels */

/* The file of that name ("softmax_group.cl") in the set `own` (NULL: no such set), else in the library; NULL if there is none. */
const clf_kernel_file *clfi_kernel_find(const clf_kernel_set *own, const char *name);

/* Appends `name` to `out` with everything it includes. Each file appears once, before the text of the file that includes it, and after a
 * #line directive that keeps compiler messages true. directory: laid out as cl/; its files replace those built in; NULL: embedded only.
 * NOT_FOUND: no such kernel file. UNSUPPORTED: more than 16 files, or a file name of 64 characters or more. FORMAT: a file of `directory`
 * exceeds 1 MiB. IO, OUT_OF_MEMORY. */
clf_status clfi_kernel_source(const char *directory, const clf_kernel_set *own, const char *name, clf_str *out);

#endif
