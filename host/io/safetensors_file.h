/* SPDX-License-Identifier: MIT */
/* Shared by the parts of the safetensors reader: the opened checkpoint and the steps that fill it. */
#ifndef CLFI_IO_SAFETENSORS_FILE_H
#define CLFI_IO_SAFETENSORS_FILE_H

#include "io/safetensors.h"

struct clf_safetensors {
    clf_file_map **shards;
    size_t shard_count, shard_capacity;
    clf_file_tensor *tensors;
    size_t count, capacity;
};

/* Maps one file and appends it as a shard with its tensors, unsorted. */
clf_status clfi_safetensors_add_file(clf_safetensors *file, const char *path);

/* Sorts the tensors by name, once all shards were added. FORMAT: a name comes twice. */
clf_status clfi_safetensors_sort(clf_safetensors *file);

#endif
