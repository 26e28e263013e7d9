/* SPDX-License-Identifier: MIT */
/* OpenCL C text of the kernels: embedded at build time, or from CLF_KERNEL_DIR; `#include "x.cl"` lines are resolved here. */
#ifndef CLFI_RUNTIME_KERNEL_SOURCE_H
#define CLFI_RUNTIME_KERNEL_SOURCE_H

#include <stddef.h>

#include "base/str.h"

typedef struct clf_kernel_file {
    const char *name; /* "softmax.cl" */
    const char *text; /* NUL-terminated */
    size_t size;
} clf_kernel_file;

extern const clf_kernel_file clfi_kernel_files[];
extern const size_t clfi_kernel_file_count;

/* Appends `name` to `out` with everything it includes, each file once and before its includer's text, each after a #line directive that
 * keeps compiler messages true. directory: read files from there first; NULL = embedded only. NOT_FOUND: no such kernel file. */
clf_status clfi_kernel_source(const char *directory, const char *name, clf_str *out);

#endif
