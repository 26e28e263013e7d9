/* SPDX-License-Identifier: MIT */
/* Writes GGUF files from any source of metadata and tensors. */
#ifndef CLFI_IO_GGUF_WRITE_H
#define CLFI_IO_GGUF_WRITE_H

#include "io/gguf_file_type.h"
#include "io/gguf_values.h"

/* Called now and then with the progress of the writer. */
typedef struct clf_gguf_progress {
    void (*tell)(void *user, size_t done, size_t total); /* counts weights */
    void *user;
} clf_gguf_progress;

/* The contents of a new file; borrowed while it is written. */
typedef struct clf_gguf_source {
    const char *name;              /* for messages */
    size_t alignment;              /* a power of two */
    const clf_gguf_values *values; /* without general.file_type and general.quantization_version, which the writer adds */
    size_t tensor_count;
    /* Name, sizes and present type of a tensor. data NULL: its bytes are not stored in that type, and only `read` gives its weights. */
    const clf_gguf_tensor *(*tensor)(const void *user, size_t index);
    /* Weights first .. first + count - 1 of a tensor as floats. Both numbers are multiples of CLFI_WEIGHT_BLOCK_MOST, except at its end. */
    clf_status (*read)(const void *user, size_t index, size_t first, size_t count, float *out);
    void (*forget)(const void *user, size_t index); /* the tensor was written and will not be read again */
    clf_status (*check)(const void *user);          /* IO: what was read may be wrong, because a file of the source has changed */
    const void *user;
    const clf_gguf_progress *progress; /* NULL: not wanted */
} clf_gguf_source;

/* Numbers of tensors that got another type or kept theirs. */
typedef struct clf_gguf_converted {
    size_t changed, kept; /* kept: vectors, tables of positions, rows that are not whole blocks, or tensors that had their type already */
    uint64_t bytes;       /* of all tensors' data as written */
} clf_gguf_converted;

/* Writes the source to path as GGUF 3: matrices in the types of a kind of file that is written (io/gguf_mix.h), everything else in the type
 * that it has. The file appears whole or not at all; path may be the source's own. IO: also if the source's check reports it. FORMAT: a
 * weight that is not finite, or too large for the halves of its type; the tensor is named. UNSUPPORTED: the file would be too large. */
clf_status clfi_gguf_write(const clf_gguf_source *source, const clf_gguf_file_type *type, const char *path, clf_gguf_converted *out);

#endif
