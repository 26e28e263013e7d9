/* SPDX-License-Identifier: MIT */
/* safetensors checkpoints, one file or sharded: strict reading in place.
 * Format: https://github.com/huggingface/safetensors#format. A file is an 8-byte little-endian header size, a JSON object
 * {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, ..., "__metadata__": {"key": "text"}}, and the data.
 * The metadata's format is the library that wrote the file: "tf" and "flax", which store matrices transposed, are refused. Other texts
 * change nothing. */
#ifndef CLFI_IO_SAFETENSORS_H
#define CLFI_IO_SAFETENSORS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file_map.h"
#include "base/status.h"
#include "io/file_dtype.h"

enum {
    CLFI_SAFETENSORS_MAX_RANK = 16,
    CLFI_SAFETENSORS_MAX_HEADER = 100000000, /* bytes; the limit of the reference implementation */
    CLFI_SAFETENSORS_MAX_SHARDS = 1024,
    CLFI_SAFETENSORS_MAX_TENSORS = 1 << 17 /* in one file; the largest published ones hold some thousands */
};

typedef struct clf_file_tensor {
    const char *name;
    clf_file_dtype dtype;
    int rank;
    int64_t dim[CLFI_SAFETENSORS_MAX_RANK]; /* row-major; rank 0 is one element */
    const void *data;                       /* any alignment; bytes of it may be read */
    size_t bytes;
    size_t offset; /* of the data from the start of its file */
    int shard;     /* which file holds it: 0 .. shard_count-1 */
} clf_file_tensor;

typedef struct clf_safetensors clf_safetensors;

/* Maps the file and checks all of it but the values: header size, JSON, names, dtypes, shapes, and that the tensors' byte ranges
 * cover the data without overlap, hole or rest. Each fault is a FORMAT error that names file, tensor, expected and found.
 * UNSUPPORTED: types of less than a byte per element, rank above CLFI_SAFETENSORS_MAX_RANK, more than CLFI_SAFETENSORS_MAX_TENSORS tensors,
 * a file of "tf" or "flax". NOT_FOUND and IO as clfi_file_map. Release with clfi_safetensors_close. */
clf_status clfi_safetensors_open(const char *path, clf_safetensors **out);

/* A checkpoint directory: model.safetensors, or else the shards that model.safetensors.index.json lists in its "weight_map" (plain
 * file names only). Every tensor of the shards is visible. FORMAT also when a listed tensor is not where the index says, or a name comes
 * twice. NOT_FOUND: there is neither file, or a shard is missing. UNSUPPORTED also: more than CLFI_SAFETENSORS_MAX_SHARDS shards. */
clf_status clfi_safetensors_open_directory(const char *directory, clf_safetensors **out);

/* clfi_safetensors_open for size bytes of memory, borrowed until close. `name` stands for the path in messages. */
clf_status clfi_safetensors_parse(const void *data, size_t size, const char *name, clf_safetensors **out);

void clfi_safetensors_close(clf_safetensors *file); /* NULL is a no-op */

/* Tensors in the order of their names (bytewise). Borrowed until close. */
size_t clfi_safetensors_count(const clf_safetensors *file);
const clf_file_tensor *clfi_safetensors_at(const clf_safetensors *file, size_t index);

/* NULL when there is no such tensor. O(log n). */
const clf_file_tensor *clfi_safetensors_find(const clf_safetensors *file, const char *name);

size_t clfi_safetensors_shard_count(const clf_safetensors *file);
const char *clfi_safetensors_shard_path(const clf_safetensors *file, int shard);

/* The whole file's mapping, for devices that use weights in place: a buffer that wraps it keeps it after close. */
clf_file_map *clfi_safetensors_shard_map(const clf_safetensors *file, int shard);

#endif
