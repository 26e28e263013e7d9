/* SPDX-License-Identifier: MIT */
/* GGUF files written from whatever has metadata and tensors. */
#ifndef CLFI_IO_GGUF_WRITE_H
#define CLFI_IO_GGUF_WRITE_H

#include "io/gguf_file_type.h"
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
    size_t changed, kept; /* kept: vectors, tables of positions, rows that are no whole blocks, or what has its type */
    uint64_t bytes;       /* of all tensors' data as written */
} clf_gguf_converted;

/* Writes the source to path as GGUF 3, matrices in the types of a kind of file that is written (io/gguf_mix.h), everything else in the type
 * that it has. The file appears whole or not at all; path may be the source's own. IO: also where the source's check reports it. FORMAT: a
 * weight that is not finite, or too large for the halves of its type, by its tensor's name. */
clf_status clfi_gguf_write(const clf_gguf_source *source, const clf_gguf_file_type *type, const char *path, clf_gguf_converted *out);

#endif
