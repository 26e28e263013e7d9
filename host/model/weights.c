/* SPDX-License-Identifier: MIT */
/* Weights of a checkpoint on a device. Each file of the checkpoint is wrapped once as a whole where the device can use it in place; the
 * safetensors object stays open until the last wrapped buffer is gone, because the mapping must outlive it. */
#include "model/weights.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

enum { NAME_BYTES = 256 };

struct clf_weights {
    clf_context *context;
    clf_safetensors *file;
    const char *prefix;
    clf_buffer **shards; /* whole-file buffers in place; NULL entries: this shard is copied tensor by tensor */
};

/* Takes over `file`, also on failure. */
static clf_status open_file(clf_context *context, clf_safetensors *file, const char *const *prefixes, const char *probe, clf_weights **out)
{
    clf_weights *weights;
    clf_status st = clfi_alloc(1, sizeof *weights, "weights", &weights);
    if (st != CLF_OK) {
        clfi_safetensors_close(file);
        return st;
    }
    weights->context = context;
    weights->file = file;
    st = clfi_alloc(clfi_safetensors_shard_count(weights->file), sizeof *weights->shards, "weight files", &weights->shards);
    for (; st == CLF_OK && *prefixes && !weights->prefix; prefixes++) {
        char name[NAME_BYTES];
        snprintf(name, sizeof name, "%s%s", *prefixes, probe ? probe : "");
        if (!probe || clfi_safetensors_find(weights->file, name))
            weights->prefix = *prefixes;
    }
    if (st == CLF_OK && !weights->prefix)
        st = clfi_fail(CLF_FORMAT, "%s: no tensor \"%s\"", clfi_safetensors_shard_path(weights->file, 0), probe);
    for (size_t i = 0; st == CLF_OK && i < clfi_safetensors_shard_count(weights->file); i++) {
        const clf_file_map *map = clfi_safetensors_shard_map(weights->file, (int)i);
        if (clfi_buffer_wrap(context, map->data, map->size, &weights->shards[i]) != CLF_OK)
            weights->shards[i] = NULL; /* no unified memory, or larger than one allocation: copied instead */
    }
    if (st != CLF_OK) {
        clfi_weights_close(weights);
        return st;
    }
    *out = weights;
    return CLF_OK;
}

clf_status clfi_weights_open(clf_context *context, const char *directory, const char *const *prefixes, const char *probe,
                             clf_weights **out)
{
    clf_safetensors *file;
    CLF_TRY(clfi_safetensors_open_directory(directory, &file));
    return open_file(context, file, prefixes, probe, out);
}

clf_status clfi_weights_open_memory(clf_context *context, const void *data, size_t size, const char *name, const char *const *prefixes,
                                    const char *probe, clf_weights **out)
{
    clf_safetensors *file;
    CLF_TRY(clfi_safetensors_parse(data, size, name, &file));
    return open_file(context, file, prefixes, probe, out);
}

void clfi_weights_close(clf_weights *weights)
{
    if (!weights)
        return;
    for (size_t i = 0; weights->shards && i < clfi_safetensors_shard_count(weights->file); i++)
        clfi_buffer_release(weights->shards[i]);
    free(weights->shards);
    clfi_safetensors_close(weights->file);
    free(weights);
}

static bool device_dtype(clf_file_dtype from, clf_dtype *out)
{
    static const struct {
        clf_file_dtype from;
        clf_dtype to;
    } rows[] = {{CLF_FILE_F32, CLF_F32}, {CLF_FILE_F16, CLF_F16}, {CLF_FILE_BF16, CLF_BF16}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (rows[i].from == from) {
            *out = rows[i].to;
            return true;
        }
    }
    return false;
}

static const clf_file_tensor *find(const clf_weights *weights, const char *name, char full[NAME_BYTES])
{
    snprintf(full, NAME_BYTES, "%s%s", weights->prefix, name);
    return clfi_safetensors_find(weights->file, full);
}

const clf_file_tensor *clfi_weights_find(const clf_weights *weights, const char *name)
{
    char full[NAME_BYTES];
    return find(weights, name, full);
}

/* Rows first .. first + count of a tensor, copied. */
static clf_status copy_rows(clf_context *context, const clf_file_tensor *tensor, clf_dtype dtype, int64_t first, int64_t count,
                            clf_row_blocks *out)
{
    const size_t row_bytes = tensor->rank && tensor->dim[0] ? tensor->bytes / (size_t)tensor->dim[0] : tensor->bytes;
    const size_t bytes = tensor->rank ? row_bytes * (size_t)count : tensor->bytes;
    int64_t dim[CLF_MAX_RANK];
    clf_buffer *copy;
    CLF_TRY(clfi_buffer_create(context, bytes, &copy));
    const clf_status st = clfi_buffer_write(copy, 0, (const char *)tensor->data + (size_t)first * row_bytes, bytes);
    if (st != CLF_OK) {
        clfi_buffer_release(copy);
        return st;
    }
    memcpy(dim, tensor->dim, (size_t)tensor->rank * sizeof *dim);
    if (tensor->rank)
        dim[0] = count;
    const clf_view view = clfi_view_dense(copy, dtype, 0, tensor->rank, dim);
    return clfi_row_blocks_add(out, &view);
}

/* In blocks that the device can allocate; elements in place of rows for a vector. */
static clf_status copy_blocks(clf_weights *weights, const char *name, const clf_file_tensor *tensor, clf_dtype dtype, clf_row_blocks *out)
{
    const int64_t rows = tensor->rank > 1 ? tensor->dim[0] : 1;
    int64_t most;
    CLF_TRY(clfi_rows_per_block(weights->context, name, rows, rows ? tensor->bytes / (size_t)rows : 0, 0, &most));
    if (most >= rows) {
        CLF_TRY(copy_rows(weights->context, tensor, dtype, 0, tensor->rank ? tensor->dim[0] : 1, out));
    } else {
        for (int64_t first = 0; first < rows; first += most)
            CLF_TRY(copy_rows(weights->context, tensor, dtype, first, most < rows - first ? most : rows - first, out));
    }
    clfi_safetensors_forget(weights->file, tensor);
    return CLF_OK;
}

clf_status clfi_weights_load(clf_weights *weights, const char *name, int rank, const int64_t *dim, clf_row_blocks *out)
{
    char full[NAME_BYTES], want[CLFI_SHAPE_TEXT_BYTES], have[CLFI_SHAPE_TEXT_BYTES];
    clf_dtype dtype;
    const clf_file_tensor *tensor = find(weights, name, full);
    const char *path = clfi_safetensors_shard_path(weights->file, tensor ? tensor->shard : 0);
    clfi_shape_text(rank, dim, want);
    if (!tensor)
        CLF_FAIL(CLF_FORMAT, "%s: %s: expected %s, the file has no such tensor", path, full, want);
    if (!device_dtype(tensor->dtype, &dtype))
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: expected F32, F16 or BF16, found %s", path, full, clfi_file_dtype_name(tensor->dtype));
    if (tensor->rank != rank || (rank > 0 && memcmp(tensor->dim, dim, (size_t)rank * sizeof *dim) != 0))
        CLF_FAIL(CLF_FORMAT, "%s: %s: expected %s, found %s", path, full, want, clfi_shape_text(tensor->rank, tensor->dim, have));
    clf_row_blocks made = CLF_ROW_BLOCKS_INIT;
    clf_buffer *shard = weights->shards[tensor->shard];
    const size_t element = clf_dtype_bytes(dtype);
    clf_status st;
    if (shard && tensor->offset % element == 0) {
        const clf_view view = clfi_view_dense(clfi_buffer_retain(shard), dtype, (int64_t)(tensor->offset / element), rank, dim);
        st = clfi_row_blocks_add(&made, &view);
    } else {
        st = copy_blocks(weights, full, tensor, dtype, &made);
    }
    if (st != CLF_OK) {
        clfi_row_blocks_clear(&made);
        return st;
    }
    *out = made;
    return CLF_OK;
}

static void layer_name(const char *format, int layer, char out[NAME_BYTES])
{
    const char *at = strstr(format, "%d"); /* formats are literals of the model's tables; only one %d is honoured */
    if (at)
        snprintf(out, NAME_BYTES, "%.*s%d%s", (int)(at - format), format, layer, at + 2);
    else
        snprintf(out, NAME_BYTES, "%s", format);
}

clf_status clfi_weights_load_layer(clf_weights *weights, const char *format, int layer, int rank, const int64_t *dim,
                                   clf_row_blocks *out)
{
    char name[NAME_BYTES];
    layer_name(format, layer, name);
    return clfi_weights_load(weights, name, rank, dim, out);
}

void clfi_weights_forget(clf_weights *weights, const char *format, int layer)
{
    char name[NAME_BYTES], full[NAME_BYTES];
    layer_name(format, layer, name);
    const clf_file_tensor *tensor = find(weights, name, full);
    if (tensor)
        clfi_safetensors_forget(weights->file, tensor);
}

int64_t clfi_weights_parameters(const clf_weights *weights)
{
    int64_t sum = 0;
    clf_dtype dtype;
    for (size_t i = 0; i < clfi_safetensors_count(weights->file); i++) {
        const clf_file_tensor *tensor = clfi_safetensors_at(weights->file, i);
        if (device_dtype(tensor->dtype, &dtype))
            sum += (int64_t)(tensor->bytes / clf_dtype_bytes(dtype));
    }
    return sum;
}

uint64_t clfi_weights_file_bytes(const clf_weights *weights)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < clfi_safetensors_shard_count(weights->file); i++)
        sum += clfi_safetensors_shard_map(weights->file, (int)i)->size;
    return sum;
}
