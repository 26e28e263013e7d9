/* SPDX-License-Identifier: MIT */
/* GGUF files with their weights in another type. */
#ifndef CLFI_IO_GGUF_CONVERT_H
#define CLFI_IO_GGUF_CONVERT_H

#include "io/gguf.h"

/* What became of the tensors. */
typedef struct clf_gguf_converted {
    size_t changed, kept; /* kept: vectors, tables of positions, rows that are no whole blocks, or of the type already */
    uint64_t bytes;       /* of all tensors' data as written */
} clf_gguf_converted;

/* Writes `file` to path: matrices as `type` (f32, f16, q8_0 or q4_0), everything else as it is but general.file_type and
 * general.quantization_version. The file appears whole or not at all; path may be the file's own. UNSUPPORTED: another type. FORMAT: a
 * weight that is not finite, or too large for the type, by its tensor's name. */
clf_status clfi_gguf_convert(const clf_gguf *file, clf_weight_type type, const char *path, clf_gguf_converted *out);

#endif
