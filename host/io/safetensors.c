/* SPDX-License-Identifier: MIT */
/* Opened checkpoints: ownership, one-file entry points and lookup. */
#include "io/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/safetensors_file.h"
#include "io/safetensors_header.h"

/* Takes over the reference to `map`, also on failure. */
static clf_status add_shard(clf_safetensors *file, clf_file_map *map)
{
    const clf_status st = clfi_grow(&file->shards, &file->shard_capacity, file->shard_count + 1, sizeof *file->shards, "shards");
    if (st != CLF_OK) {
        clfi_file_map_release(map);
        return st;
    }
    file->shards[file->shard_count++] = map;
    return CLF_OK;
}

clf_status clfi_safetensors_add_file(clf_safetensors *file, const char *path)
{
    clf_file_map *map;
    CLF_TRY(clfi_file_map(path, &map));
    CLF_TRY(add_shard(file, map));
    return clfi_safetensors_read_header(file, file->shard_count - 1);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const clf_file_tensor *)a)->name, ((const clf_file_tensor *)b)->name);
}

clf_status clfi_safetensors_sort(clf_safetensors *file)
{
    if (file->count)
        qsort(file->tensors, file->count, sizeof *file->tensors, by_name);
    for (size_t i = 1; i < file->count; i++) {
        const clf_file_tensor *a = &file->tensors[i - 1], *b = &file->tensors[i];
        if (strcmp(a->name, b->name) == 0)
            CLF_FAIL(CLF_FORMAT, "tensor \"%.200s\" occurs twice: in %s and in %s", a->name, file->shards[a->shard]->path,
                     file->shards[b->shard]->path);
    }
    return CLF_OK;
}

/* The end of opening: sorts and gives the file to the caller, or closes it after a failure. */
static clf_status hand_over(clf_safetensors *file, clf_status st, clf_safetensors **out)
{
    if (st == CLF_OK)
        st = clfi_safetensors_sort(file);
    if (st == CLF_OK)
        *out = file;
    else
        clfi_safetensors_close(file);
    return st;
}

clf_status clfi_safetensors_open(const char *path, clf_safetensors **out)
{
    clf_safetensors *file;
    CLF_TRY(clfi_alloc(1, sizeof *file, "safetensors file", &file));
    return hand_over(file, clfi_safetensors_add_file(file, path), out);
}

clf_status clfi_safetensors_parse(const void *data, size_t size, const char *name, clf_safetensors **out)
{
    clf_safetensors *file;
    CLF_TRY(clfi_alloc(1, sizeof *file, "safetensors file", &file));
    clf_file_map *map;
    clf_status st = clfi_file_map_borrow(data, size, name, &map);
    if (st == CLF_OK)
        st = add_shard(file, map);
    if (st == CLF_OK)
        st = clfi_safetensors_read_header(file, 0);
    return hand_over(file, st, out);
}

void clfi_safetensors_close(clf_safetensors *file)
{
    if (!file)
        return;
    for (size_t i = 0; i < file->count; i++)
        free((char *)file->tensors[i].name);
    for (size_t i = 0; i < file->shard_count; i++)
        clfi_file_map_release(file->shards[i]);
    free(file->tensors);
    free(file->shards);
    free(file);
}

size_t clfi_safetensors_count(const clf_safetensors *file)
{
    return file->count;
}

const clf_file_tensor *clfi_safetensors_at(const clf_safetensors *file, size_t index)
{
    return index < file->count ? &file->tensors[index] : NULL;
}

static int name_against(const void *name, const void *tensor)
{
    return strcmp(name, ((const clf_file_tensor *)tensor)->name);
}

const clf_file_tensor *clfi_safetensors_find(const clf_safetensors *file, const char *name)
{
    return file->count ? bsearch(name, file->tensors, file->count, sizeof *file->tensors, name_against) : NULL;
}

size_t clfi_safetensors_shard_count(const clf_safetensors *file)
{
    return file->shard_count;
}

const char *clfi_safetensors_shard_path(const clf_safetensors *file, int shard)
{
    return file->shards[shard]->path;
}

clf_file_map *clfi_safetensors_shard_map(const clf_safetensors *file, int shard)
{
    return file->shards[shard];
}
