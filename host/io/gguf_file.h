/* SPDX-License-Identifier: MIT */
/* The opened GGUF file, for the parts of the reader. */
#ifndef CLFI_IO_GGUF_FILE_H
#define CLFI_IO_GGUF_FILE_H

#include "io/gguf.h"

struct clf_gguf {
    clf_file_map *map;     /* of the only file, or of the first part */
    clf_file_map **others; /* [other_count]: of the other parts */
    size_t other_count;
    size_t alignment;
    clf_gguf_value *values; /* sorted by key */
    size_t value_count, value_capacity;
    clf_gguf_tensor *tensors; /* in the file's order; names are owned */
    size_t count, capacity;
    const clf_gguf_tensor **by_name;
};

/* clfi_gguf_open for one file alone, which may be a part of a model. */
clf_status clfi_gguf_open_part(const char *path, clf_gguf **out);

/* Makes file->by_name, the tensors sorted by name. FORMAT: a name comes twice. OUT_OF_MEMORY. */
clf_status clfi_gguf_index_names(clf_gguf *file);

/* The value that `file` has for the key of `value`; NULL: none. */
const clf_gguf_value *clfi_gguf_value_like(const clf_gguf *file, const clf_gguf_value *value);

/* Bytes of a value in its file. */
size_t clfi_gguf_value_bytes(const clf_gguf_value *value);

/* Reads and checks everything before the data, and where the data lies. */
clf_status clfi_gguf_read_header(clf_gguf *file);

/* Bytes of one element; 0: of no fixed size. */
size_t clfi_gguf_type_bytes(clf_gguf_type type);

/* Little-endian numbers at any address. */
uint64_t clfi_gguf_load(const uint8_t *from, size_t bytes);

#endif
