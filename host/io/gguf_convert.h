/* SPDX-License-Identifier: MIT */
/* GGUF files with their weights in another type. */
#ifndef CLFI_IO_GGUF_CONVERT_H
#define CLFI_IO_GGUF_CONVERT_H

#include "io/gguf_write.h"

/* Writes `file` to path: matrices in the types of that kind of file, everything else as it is but general.file_type and
 * general.quantization_version. `progress` is told unless it is NULL. Statuses as clfi_gguf_write. */
clf_status clfi_gguf_convert(const clf_gguf *file, const clf_gguf_file_type *type, const char *path, const clf_gguf_progress *progress,
                             clf_gguf_converted *out);

#endif
