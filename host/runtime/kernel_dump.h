/* SPDX-License-Identifier: MIT */
/* CLF_KERNEL_DUMP=<directory>: every kernel that a context asks for is written there as a file of its own, ready for another compiler. The
 * offline tests feed these files to the code generators of GPUs, and a driver's bug report needs no more. */
#ifndef CLFI_RUNTIME_KERNEL_DUMP_H
#define CLFI_RUNTIME_KERNEL_DUMP_H

#include "base/str.h"
#include "runtime/kernel_spec.h"

/* Writes <directory>/<kernel>-<hash of source and options>.cl: line 1 names file (with its folder) and kernel, line 2 holds the options,
 * then the source with its includes resolved. A file that is there already is written again, so its time tells when the kernel was last
 * asked for. IO. */
clf_status clfi_kernel_dump(const char *directory, const clf_kernel_spec *spec, const clf_str *source);

#endif
