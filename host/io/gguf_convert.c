/* SPDX-License-Identifier: MIT */
/* Converting GGUF files: header written anew, data block by block. */
#include "io/gguf_convert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "io/gguf_file.h"

enum { PIECE_BLOCKS = 1024, QUANTIZATION_VERSION = 2 };

static const char file_type_key[] = "general.file_type", version_key[] = "general.quantization_version";

typedef struct conversion {
    const clf_gguf *file;
    clf_weight_type type;
    int64_t file_type; /* llama.cpp's number for files that are mostly of the type */
    clf_atomic_file output;
    size_t written;
    float *values; /* of a piece */
    uint8_t *blocks;
} conversion;

static void put(conversion *c, const void *data, size_t size)
{
    clfi_atomic_write(&c->output, data, size); /* commit reports what failed */
    c->written += size;
}

static void put_number(conversion *c, uint64_t value, size_t bytes)
{
    uint8_t out[8];
    for (size_t i = 0; i < bytes; i++)
        out[i] = (uint8_t)(value >> (8 * i));
    put(c, out, bytes);
}

static void put_string(conversion *c, const char *data, size_t length)
{
    put_number(c, length, 8);
    put(c, data, length);
}

static void pad(conversion *c)
{
    static const uint8_t zeros[64];
    size_t end;
    if (!clfi_round_up(c->written, c->file->alignment, &end))
        return;
    while (c->written < end)
        put(c, zeros, end - c->written < sizeof zeros ? end - c->written : sizeof zeros);
}

/* Bytes of a value's elements as they lie in the file, which was checked when it was opened. */
static size_t value_bytes(const clf_gguf_value *value)
{
    const size_t bytes = clfi_gguf_type_bytes(value->element);
    size_t size = bytes * value->count;
    for (size_t i = 0; bytes == 0 && i < value->count; i++)
        size += 8 + (size_t)clfi_gguf_load(value->data + size, 8);
    return size;
}

static bool is_key(const clf_gguf_value *value, const char *key)
{
    return value->key.length == strlen(key) && memcmp(value->key.data, key, value->key.length) == 0;
}

static void put_setting(conversion *c, const char *key, uint64_t value)
{
    put_string(c, key, strlen(key));
    put_number(c, CLF_GGUF_U32, 4);
    put_number(c, value, 4);
}

static void put_values(conversion *c)
{
    for (size_t i = 0; i < clfi_gguf_value_count(c->file); i++) {
        const clf_gguf_value *value = clfi_gguf_value_at(c->file, i);
        if (is_key(value, file_type_key) || is_key(value, version_key))
            continue;
        put_string(c, value->key.data, value->key.length);
        put_number(c, value->type, 4);
        if (value->type == CLF_GGUF_ARRAY) {
            put_number(c, value->element, 4);
            put_number(c, value->count, 8);
        }
        put(c, value->data, value_bytes(value));
    }
    put_setting(c, file_type_key, (uint64_t)c->file_type);
    put_setting(c, version_key, QUANTIZATION_VERSION);
}

/* What a tensor is written as: vectors stay as they are, and so do positions, which are added and not multiplied. */
static clf_weight_type type_of(const conversion *c, const clf_gguf_tensor *t)
{
    const bool is_matrix = t->rank > 1 && strcmp(t->name, "position_embd.weight") != 0;
    return is_matrix && t->dim[t->rank - 1] % clfi_weight_type_info(c->type)->block_weights == 0 ? c->type : t->type;
}

static size_t weights_of(const clf_gguf_tensor *t)
{
    return t->bytes / (size_t)clfi_weight_type_info(t->type)->block_bytes * (size_t)clfi_weight_type_info(t->type)->block_weights;
}

static size_t bytes_as(const clf_gguf_tensor *t, clf_weight_type type)
{
    const clf_weight_type_info *info = clfi_weight_type_info(type);
    return weights_of(t) / (size_t)info->block_weights * (size_t)info->block_bytes;
}

static clf_status put_header(conversion *c)
{
    const size_t values = clfi_gguf_value_count(c->file), tensors = clfi_gguf_count(c->file);
    const bool has_type = clfi_gguf_value(c->file, file_type_key), has_version = clfi_gguf_value(c->file, version_key);
    size_t offset = 0;
    put(c, "GGUF", 4);
    put_number(c, 3, 4);
    put_number(c, tensors, 8);
    put_number(c, values + !has_type + !has_version, 8);
    put_values(c);
    for (size_t i = 0; i < tensors; i++) {
        const clf_gguf_tensor *t = clfi_gguf_at(c->file, i);
        const clf_weight_type type = type_of(c, t);
        put_string(c, t->name, strlen(t->name));
        put_number(c, (uint64_t)t->rank, 4);
        for (int d = t->rank - 1; d >= 0; d--)
            put_number(c, (uint64_t)t->dim[d], 8);
        put_number(c, (uint64_t)clfi_weight_type_info(type)->gguf, 4);
        put_number(c, offset, 8);
        if (!clfi_add_size(offset, bytes_as(t, type), &offset) || !clfi_round_up(offset, c->file->alignment, &offset))
            CLF_FAIL(CLF_UNSUPPORTED, "%s: as %s it is larger than a file can be", clfi_gguf_path(c->file),
                     clfi_weight_type_info(type)->name);
    }
    pad(c);
    return CLF_OK;
}

static clf_status check_halves(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(values[i]) < 65520.0f))
            CLF_FAIL(CLF_FORMAT, "weight %zu is %g, expected one that a half can hold", i, (double)values[i]);
    return CLF_OK;
}

/* Weights in pieces that hold whole blocks of every type. */
static clf_status put_converted(conversion *c, const clf_gguf_tensor *t)
{
    const clf_weight_type_info *from = clfi_weight_type_info(t->type), *to = clfi_weight_type_info(c->type);
    const size_t all = weights_of(t), piece = (size_t)PIECE_BLOCKS * CLFI_WEIGHT_BLOCK_MOST;
    for (size_t first = 0; first < all; first += piece) {
        const size_t count = all - first < piece ? all - first : piece, blocks = count / (size_t)to->block_weights;
        const uint8_t *data = (const uint8_t *)t->data + first / (size_t)from->block_weights * (size_t)from->block_bytes;
        clfi_weight_decode_f32(t->type, data, count / (size_t)from->block_weights, c->values);
        clf_status st = c->type == CLF_WEIGHT_F16 ? check_halves(c->values, count) : CLF_OK;
        if (st == CLF_OK)
            st = clfi_weight_encode(c->type, c->values, blocks, c->blocks);
        if (st != CLF_OK)
            return clfi_fail_prefix(st, "%s: tensor \"%s\"", clfi_gguf_path(c->file), t->name);
        put(c, c->blocks, blocks * (size_t)to->block_bytes);
    }
    return CLF_OK;
}

static clf_status put_tensors(conversion *c, clf_gguf_converted *done)
{
    for (size_t i = 0; i < clfi_gguf_count(c->file); i++) {
        const clf_gguf_tensor *t = clfi_gguf_at(c->file, i);
        const clf_weight_type type = type_of(c, t);
        done->bytes += bytes_as(t, type);
        done->changed += type != t->type;
        done->kept += type == t->type;
        if (type == t->type)
            put(c, t->data, t->bytes);
        else
            CLF_TRY(put_converted(c, t));
        clfi_gguf_forget(c->file, t);
        pad(c);
    }
    return CLF_OK;
}

static clf_status find_file_type(clf_weight_type type, int64_t *out)
{
    static const struct {
        clf_weight_type type;
        int64_t number;
    } rows[] = {{CLF_WEIGHT_F32, 0}, {CLF_WEIGHT_F16, 1}, {CLF_WEIGHT_Q4_0, 2}, {CLF_WEIGHT_Q8_0, 7}};
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].type == type) {
            *out = rows[i].number;
            return CLF_OK;
        }
    CLF_FAIL(CLF_UNSUPPORTED, "convert: weights as %s: expected f32, f16, q8_0 or q4_0", clfi_weight_type_info(type)->name);
}

clf_status clfi_gguf_convert(const clf_gguf *file, clf_weight_type type, const char *path, clf_gguf_converted *out)
{
    const size_t piece = (size_t)PIECE_BLOCKS * CLFI_WEIGHT_BLOCK_MOST;
    conversion c = {.file = file, .type = type};
    clf_gguf_converted done = {.bytes = 0};
    clf_status st;
    CLF_TRY(find_file_type(type, &c.file_type));
    CLF_TRY(clfi_output_open(path, false, &c.output));
    CLF_GOTO(clfi_alloc(piece, sizeof *c.values, "weights", &c.values));
    CLF_GOTO(clfi_alloc(piece, sizeof(float), "weights", &c.blocks));
    CLF_GOTO(put_header(&c));
    CLF_GOTO(put_tensors(&c, &done));
    CLF_GOTO(clfi_atomic_commit(&c.output));
    *out = done;
done:
    clfi_atomic_abandon(&c.output);
    free(c.values);
    free(c.blocks);
    return st;
}
