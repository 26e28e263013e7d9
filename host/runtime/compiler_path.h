/* SPDX-License-Identifier: MIT */
/* Where clformer-compile lies, the program that compiles kernels for the library. */
#ifndef CLFI_RUNTIME_COMPILER_PATH_H
#define CLFI_RUNTIME_COMPILER_PATH_H

#include "base/status.h"

/* `given` ($CLF_COMPILER) where it is not NULL; else the file beside the library or the executable, or in the libexec folder of the
 * installation that either belongs to. *out: the caller frees it; NULL: there is none, or `given` is "". OUT_OF_MEMORY. */
clf_status clfi_compiler_path(const char *given, char **out);

#endif
