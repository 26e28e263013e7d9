/* SPDX-License-Identifier: MIT */
/* GGUF files written from whatever has metadata and tensors. */
#ifndef CLFI_IO_GGUF_WRITE_H
#define CLFI_IO_GGUF_WRITE_H

#include "io/gguf_values.h"

/* How far the writer is, told now and then. */
typedef struct clf_gguf_progress {
    void (*tell)(void *user, size_t done, size_t total); /* weights */
    void *user;
} clf_gguf_progress;

/* The contents of a new file; borrowed while it is written. */
typedef struct clf_gguf_source {
    const char *name;              /* for messages */
    size_t alignment;              /* a power of two */
    const clf_gguf_values *values; /* without general.file_type and general.quantization_version, which the writer adds */
    size_t tensor_count;
    /* Tensor index: its name, sizes and type as it is; data NULL where it is not stored so, but comes by `read` alone. */
    const clf_gguf_tensor *(*tensor)(const void *user, size_t index);
    /* Its weights first .. first + count, multiples of CLFI_WEIGHT_BLOCK_MOST or up to its end, as numbers. */
    clf_status (*read)(const void *user, size_t index, size_t first, size_t count, float *out);
    void (*forget)(const void *user, size_t index); /* it was written and will not be read again */
    clf_status (*check)(const void *user);          /* IO: what was read may be wrong, for a file of it has changed since */
    const void *user;
    const clf_gguf_progress *progress; /* NULL: nobody watches */
} clf_gguf_source;

/* Counts of the tensors by what was done with them. */
typedef struct clf_gguf_converted {
    size_t changed, kept; /* kept: vectors, tables of positions, rows that are no whole blocks, or of the type already */
    uint64_t bytes;       /* of all tensors' data as written */
} clf_gguf_converted;

/* Writes the source to path as GGUF 3: matrices as `type` (f32, f16, q8_0 or q4_0), everything else in the type that it has. Beside q4_0
 * the table of tokens and the head are q8_0, or stay as they are where that is as small. The file appears whole or not at all; path may be
 * the source's own. INVALID_ARGUMENT: another type. IO: also where the source's check tells it. FORMAT: a weight that is not finite, or too
 * large for the type, by its tensor's name. */
clf_status clfi_gguf_write(const clf_gguf_source *source, clf_weight_type type, const char *path, clf_gguf_converted *out);

#endif
