/* SPDX-License-Identifier: MIT */
/* Loads a checkpoint's weights onto a device, in place or as copies. If the device can use a file in place, one buffer wraps the whole file
 * and keeps it mapped. */
#include "model/weights.h"

#include <string.h>

#include "base/alloc.h"
#include "base/half.h"
#include "op/linear.h"

struct clf_weights {
    clf_context *context;
    clf_checkpoint *checkpoint;
    clf_storage storage;
    json_t *taken;      /* an object: names of the tensors that were loaded */
    clf_buffer **files; /* whole-file buffers in place; NULL entries: this file is copied tensor by tensor */
};

bool clfi_weights_stays_quantised(const clf_context *context, const clf_checkpoint_tensor *tensor)
{
    return tensor->is_weight && tensor->rank == 2 && clfi_weight_type_info(tensor->type)->block_weights > 1 &&
           clfi_linear_takes_blocks(context, tensor->type, tensor->dim[0], tensor->dim[1]);
}

clf_status clfi_weights_open(clf_context *context, clf_checkpoint *checkpoint, clf_storage storage, clf_weights **out)
{
    clf_weights *weights;
    clf_status st = clfi_alloc(1, sizeof *weights, "weights", &weights);
    if (st != CLF_OK) {
        clfi_checkpoint_close(checkpoint);
        return st;
    }
    *weights = (clf_weights){.context = context, .checkpoint = checkpoint, .storage = storage, .taken = json_object()};
    CLF_GOTO(weights->taken ? CLF_OK : clfi_fail(CLF_OUT_OF_MEMORY, "malloc: not enough memory for names of weights"));
    CLF_GOTO(clfi_checkpoint_load(checkpoint));
    CLF_GOTO(clfi_alloc(clfi_checkpoint_file_count(checkpoint), sizeof *weights->files, "weight files", &weights->files));
    for (size_t i = 0; i < clfi_checkpoint_file_count(checkpoint); i++) {
        if (clfi_buffer_wrap(context, clfi_checkpoint_file_map(checkpoint, (int)i), &weights->files[i]) != CLF_OK)
            weights->files[i] = NULL; /* no unified memory, or larger than one allocation: copied instead */
    }
    *out = weights;
    return CLF_OK;
done:
    clfi_weights_close(weights);
    return st;
}

void clfi_weights_close(clf_weights *weights)
{
    if (!weights)
        return;
    for (size_t i = 0; weights->files && i < clfi_checkpoint_file_count(weights->checkpoint); i++)
        clfi_buffer_release(weights->files[i]);
    free(weights->files);
    clfi_checkpoint_close(weights->checkpoint);
    json_decref(weights->taken);
    free(weights);
}

static bool device_dtype(const clf_checkpoint_tensor *tensor, clf_dtype *out)
{
    static const struct {
        clf_weight_type from;
        clf_dtype to;
    } rows[] = {{CLF_WEIGHT_F32, CLF_F32}, {CLF_WEIGHT_F16, CLF_F16}, {CLF_WEIGHT_BF16, CLF_BF16}};
    for (size_t i = 0; tensor->is_weight && i < COUNT(rows); i++) {
        if (rows[i].from == tensor->type) {
            *out = rows[i].to;
            return true;
        }
    }
    *out = CLF_F32; /* quantised blocks are converted to f32 */
    return tensor->is_weight;
}

/* Rounds `count` values to f16 bit patterns. first: the index of values[0] in the tensor, for messages. */
static clf_status round_to_f16(const clf_weights *weights, const clf_checkpoint_tensor *tensor, const float *values, size_t first,
                               size_t count, uint16_t *bits)
{
    enum { INFINITE = 0x7c00 };
    clfi_f16_from_f32_array(values, count, bits);
    for (size_t i = 0; i < count; i++)
        if ((bits[i] & 0x7fff) == INFINITE)
            CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: weight %zu is %g, expected at most 65504, as f16 can hold",
                     clfi_checkpoint_file_path(weights->checkpoint, tensor->file), tensor->name, first + i, (double)values[i]);
    return CLF_OK;
}

/* Converts `bytes` stored bytes of the tensor, from byte `begin` on, to f32 or f16, a piece at a time. */
static clf_status convert_rows(const clf_weights *weights, clf_buffer *to, const clf_checkpoint_tensor *tensor, clf_dtype dtype,
                               size_t begin, size_t bytes)
{
    enum { PIECE = 1 << 15 }; /* values at a time: a multiple of every weight type's block */
    const clf_weight_type_info *type = clfi_weight_type_info(tensor->type);
    const size_t per_block = (size_t)type->block_weights, block = (size_t)type->block_bytes, element = clf_dtype_bytes(dtype);
    const size_t before = begin / block * per_block, count = bytes / block * per_block;
    const char *from = (const char *)tensor->data + begin;
    clf_status st = CLF_OK;
    float *values;
    uint16_t *bits = NULL;
    if (weights->context->rehearsal) /* a rehearsal (runtime/rehearsal.h) transfers nothing */
        return CLF_OK;
    CLF_TRY(clfi_alloc(PIECE, sizeof *values, tensor->name, &values));
    if (dtype == CLF_F16)
        st = clfi_alloc(PIECE, sizeof *bits, tensor->name, &bits);
    for (size_t first = 0; st == CLF_OK && first < count; first += PIECE) {
        const size_t now = count - first < PIECE ? count - first : PIECE;
        clfi_weight_decode_f32(tensor->type, from + first / per_block * block, now / per_block, values);
        if (bits)
            st = round_to_f16(weights, tensor, values, before + first, now, bits);
        if (st == CLF_OK)
            st = clfi_buffer_write(to, first * element, bits ? (const void *)bits : values, now * element);
    }
    free(bits);
    free(values);
    return st;
}

/* A view of rows in the form in which they are stored. */
static clf_view stored_view(clf_buffer *buffer, const clf_checkpoint_tensor *tensor, size_t offset_bytes, int64_t rows)
{
    const int64_t row_bytes = (int64_t)(tensor->dim[0] ? tensor->bytes / (size_t)tensor->dim[0] : 0);
    return (clf_view){.buffer = buffer,
                      .dtype = CLF_U8,
                      .blocks = tensor->type,
                      .rank = 2,
                      .dim = {rows, tensor->dim[1]},
                      .stride = {row_bytes, 1},
                      .offset = (int64_t)offset_bytes};
}

/* Whether rows on the device have the form in which they are stored: blocks as bytes (dtype u8), or the same float type. */
static bool is_as_stored(const clf_checkpoint_tensor *tensor, clf_dtype dtype)
{
    clf_dtype stored;
    return dtype == CLF_U8 || (device_dtype(tensor, &stored) && clfi_weight_type_info(tensor->type)->block_weights == 1 && stored == dtype);
}

/* The number of bytes on the device for `bytes` stored ones. */
static size_t device_bytes(const clf_checkpoint_tensor *tensor, clf_dtype dtype, size_t bytes)
{
    const clf_weight_type_info *type = clfi_weight_type_info(tensor->type);
    return is_as_stored(tensor, dtype) ? bytes : bytes / (size_t)type->block_bytes * (size_t)type->block_weights * clf_dtype_bytes(dtype);
}

/* Copies `count` rows from row `first` on (of a vector: all its elements) to the device, as dtype. */
static clf_status copy_rows(const clf_weights *weights, const clf_checkpoint_tensor *tensor, clf_dtype dtype, int64_t first, int64_t count,
                            clf_row_blocks *out)
{
    const size_t row_bytes = tensor->rank && tensor->dim[0] ? tensor->bytes / (size_t)tensor->dim[0] : tensor->bytes;
    const size_t bytes = tensor->rank > 1 ? row_bytes * (size_t)count : tensor->bytes, begin = (size_t)first * row_bytes;
    int64_t dim[CLF_MAX_RANK];
    clf_buffer *copy;
    CLF_TRY(clfi_buffer_create(weights->context, device_bytes(tensor, dtype, bytes), &copy));
    const clf_status st = is_as_stored(tensor, dtype) ? clfi_buffer_write(copy, 0, (const char *)tensor->data + begin, bytes)
                                                      : convert_rows(weights, copy, tensor, dtype, begin, bytes);
    if (st != CLF_OK) {
        clfi_buffer_release(copy);
        return st;
    }
    if (dtype == CLF_U8) {
        const clf_view rows = stored_view(copy, tensor, 0, count);
        return clfi_row_blocks_add(out, &rows);
    }
    memcpy(dim, tensor->dim, (size_t)tensor->rank * sizeof *dim);
    if (tensor->rank)
        dim[0] = count;
    const clf_view view = clfi_view_dense(copy, dtype, 0, tensor->rank, dim);
    return clfi_row_blocks_add(out, &view);
}

/* Copies a tensor to the device in blocks of rows that the device can allocate. A vector is one block. */
static clf_status copy_blocks(clf_weights *weights, const char *name, const clf_checkpoint_tensor *tensor, clf_dtype dtype,
                              clf_row_blocks *out)
{
    const int64_t rows = tensor->rank > 1 ? tensor->dim[0] : 1;
    const size_t row_bytes = rows ? tensor->bytes / (size_t)rows : 0;
    int64_t most;
    CLF_TRY(clfi_rows_per_block(weights->context, name, rows, device_bytes(tensor, dtype, row_bytes), 0, &most));
    if (most >= rows) {
        CLF_TRY(copy_rows(weights, tensor, dtype, 0, tensor->rank ? tensor->dim[0] : 1, out));
    } else {
        for (int64_t first = 0; first < rows; first += most)
            CLF_TRY(copy_rows(weights, tensor, dtype, first, most < rows - first ? most : rows - first, out));
    }
    clfi_checkpoint_forget(weights->checkpoint, tensor);
    return clfi_file_map_check(clfi_checkpoint_file_map(weights->checkpoint, tensor->file));
}

clf_status clfi_weights_load(clf_weights *weights, const char *name, int rank, const int64_t *dim, clf_weight_use use, clf_row_blocks *out)
{
    char want[CLFI_SHAPE_TEXT_BYTES], have[CLFI_SHAPE_TEXT_BYTES];
    clf_dtype dtype;
    clf_checkpoint_tensor stored = {.file = 0};
    const bool is_there = clfi_checkpoint_find(weights->checkpoint, name, &stored);
    const clf_checkpoint_tensor *tensor = &stored;
    const char *path = clfi_checkpoint_file_path(weights->checkpoint, tensor->file);
    clfi_shape_text(rank, dim, want);
    if (!is_there)
        CLF_FAIL(CLF_FORMAT, "%s: %s: expected %s, the file has no such tensor", path, name, want);
    if (!device_dtype(tensor, &dtype))
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: expected F32, F16, BF16 or quantised blocks, found %s", path, name, tensor->type_name);
    if (tensor->rank != rank || (rank > 0 && memcmp(tensor->dim, dim, (size_t)rank * sizeof *dim) != 0))
        CLF_FAIL(CLF_FORMAT, "%s: %s: expected %s, found %s", path, name, want, clfi_shape_text(tensor->rank, tensor->dim, have));
    if (json_object_set_new(weights->taken, name, json_true()) != 0)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "malloc: not enough memory for names of weights");
    clf_row_blocks made = CLF_ROW_BLOCKS_INIT;
    void *bytes; /* the numbers of a tensor that is computed (is_made); NULL: a file holds them */
    CLF_TRY(clfi_checkpoint_make(weights->checkpoint, &stored, &bytes));
    clf_buffer *file = bytes ? NULL : weights->files[tensor->file];
    clf_status st;
    if (use == CLFI_WEIGHT_PLAIN && clfi_weights_stays_quantised(weights->context, tensor))
        dtype = CLF_U8;
    else if (use != CLFI_WEIGHT_KEPT && weights->storage == CLF_STORAGE_F16)
        dtype = CLF_F16;
    const size_t element = clf_dtype_bytes(dtype);
    if (file && dtype == CLF_U8 && tensor->offset % 2 == 0) {
        const clf_view view = stored_view(clfi_buffer_retain(file), tensor, tensor->offset, dim[0]);
        st = clfi_row_blocks_add(&made, &view);
    } else if (file && dtype != CLF_U8 && tensor->offset % element == 0 && is_as_stored(tensor, dtype)) {
        const clf_view view = clfi_view_dense(clfi_buffer_retain(file), dtype, (int64_t)(tensor->offset / element), rank, dim);
        st = clfi_row_blocks_add(&made, &view);
    } else {
        st = copy_blocks(weights, name, tensor, dtype, &made);
    }
    free(bytes);
    if (st != CLF_OK) {
        clfi_row_blocks_clear(&made);
        return st;
    }
    *out = made;
    return CLF_OK;
}

bool clfi_weights_has(const clf_weights *weights, const char *name)
{
    clf_checkpoint_tensor tensor;
    return clfi_checkpoint_find(weights->checkpoint, name, &tensor);
}

bool clfi_weights_is_copy(const clf_weights *weights, const char *name, const char *other)
{
    return clfi_checkpoint_is_copy(weights->checkpoint, name, other);
}

bool clfi_weights_is_taken(const clf_weights *weights, const char *name)
{
    return json_object_get(weights->taken, name) != NULL;
}

void clfi_weights_forget(clf_weights *weights, const char *name)
{
    clf_checkpoint_tensor tensor;
    if (clfi_checkpoint_find(weights->checkpoint, name, &tensor))
        clfi_checkpoint_forget(weights->checkpoint, &tensor);
}

int64_t clfi_weights_parameters(const clf_weights *weights)
{
    int64_t sum = 0;
    clf_checkpoint_tensor tensor;
    for (size_t i = 0; clfi_checkpoint_at(weights->checkpoint, i, &tensor); i++) {
        int64_t count = tensor.is_weight ? 1 : 0;
        for (int d = 0; d < tensor.rank; d++)
            count *= tensor.dim[d];
        sum += count;
    }
    return sum;
}

uint64_t clfi_weights_file_bytes(const clf_weights *weights)
{
    return clfi_checkpoint_file_bytes(weights->checkpoint);
}
