/* SPDX-License-Identifier: MIT */
/* Converts GGUF files to other weight types. */
#ifndef CLFI_IO_GGUF_CONVERT_H
#define CLFI_IO_GGUF_CONVERT_H

#include "io/gguf_write.h"

/* Writes `file` to path: matrices in the types of that kind of file (io/gguf_mix.h), and everything else unchanged, except
 * general.file_type, general.quantization_version and the keys of split files. progress may be NULL. Statuses as clfi_gguf_write. */
clf_status clfi_gguf_convert(const clf_gguf *file, const clf_gguf_file_type *type, const char *path, const clf_gguf_progress *progress,
                             clf_gguf_converted *out);

#endif
