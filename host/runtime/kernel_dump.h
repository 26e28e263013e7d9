/* SPDX-License-Identifier: MIT */
/* CLF_KERNEL_DUMP=<directory>: writes every kernel that a context asks for into a file of its own, ready for another compiler. Kernels of
 * probes and rate measurements are left out. The offline tests feed these files to the code generators of GPUs. They are also all that a
 * bug report about a driver needs. */
#ifndef CLFI_RUNTIME_KERNEL_DUMP_H
#define CLFI_RUNTIME_KERNEL_DUMP_H

#include "base/str.h"
#include "runtime/kernel_spec.h"

/* Writes <directory>/<kernel>-<hash of the file's text>.cl. Line 1 names the source file (with its folder) and the kernel, line 2 holds the
 * options, and the source follows with its includes resolved. A file that exists is written again, so its time shows when the kernel was
 * last asked for. IO, OUT_OF_MEMORY. */
clf_status clfi_kernel_dump(const char *directory, const clf_kernel_spec *spec, const clf_str *source);

#endif
