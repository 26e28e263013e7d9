/* SPDX-License-Identifier: MIT */
/* Writes GGUF files: header, metadata, tensors block by block. */
#include "io/gguf_write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "io/gguf_mix.h"

enum { PIECE_BLOCKS = 1024, QUANTIZATION_VERSION = 2 };

typedef struct writing {
    const clf_gguf_source *source;
    clf_gguf_mix mix;
    clf_atomic_file output;
    size_t written;
    size_t done, total; /* weights */
    float *values;      /* of a piece */
    uint8_t *blocks;
} writing;

static void put(writing *w, const void *data, size_t size)
{
    clfi_atomic_write(&w->output, data, size); /* commit reports what failed */
    w->written += size;
}

static void put_number(writing *w, uint64_t value, size_t bytes)
{
    uint8_t out[8];
    for (size_t i = 0; i < bytes; i++)
        out[i] = (uint8_t)(value >> (8 * i));
    put(w, out, bytes);
}

static void put_string(writing *w, const char *text)
{
    put_number(w, strlen(text), 8);
    put(w, text, strlen(text));
}

static void pad(writing *w)
{
    static const uint8_t zeros[64];
    size_t end;
    if (!clfi_round_up(w->written, w->source->alignment, &end))
        return;
    while (w->written < end)
        put(w, zeros, end - w->written < sizeof zeros ? end - w->written : sizeof zeros);
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

static void put_setting(writing *w, const char *key, uint64_t value)
{
    put_string(w, key);
    put_number(w, CLF_GGUF_U32, 4);
    put_number(w, value, 4);
}

static clf_status put_header(writing *w)
{
    const clf_gguf_source *source = w->source;
    size_t offset = 0;
    put(w, "GGUF", 4);
    put_number(w, 3, 4);
    put_number(w, source->tensor_count, 8);
    put_number(w, source->values->count + 2, 8);
    put(w, clfi_str_text(&source->values->bytes), source->values->bytes.length);
    put_setting(w, CLFI_GGUF_FILE_TYPE, (uint64_t)w->mix.file->number);
    put_setting(w, CLFI_GGUF_QUANTIZATION_VERSION, QUANTIZATION_VERSION);
    for (size_t i = 0; i < source->tensor_count; i++) {
        const clf_gguf_tensor *t = source->tensor(source->user, i);
        const clf_weight_type type = clfi_gguf_mixed_type(&w->mix, t);
        w->total += weights_of(t);
        put_string(w, t->name);
        put_number(w, (uint64_t)t->rank, 4);
        for (int d = t->rank - 1; d >= 0; d--)
            put_number(w, (uint64_t)t->dim[d], 8);
        put_number(w, (uint64_t)clfi_weight_type_info(type)->gguf, 4);
        put_number(w, offset, 8);
        if (!clfi_add_size(offset, bytes_as(t, type), &offset) || !clfi_round_up(offset, source->alignment, &offset))
            CLF_FAIL(CLF_UNSUPPORTED, "%s: as %s the file would exceed the largest possible size", source->name,
                     clfi_weight_type_info(type)->name);
    }
    pad(w);
    return CLF_OK;
}

static clf_status check_halves(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(values[i]) < 65520.0f))
            CLF_FAIL(CLF_FORMAT, "weight %zu is %g, expected one that a half can hold", i, (double)values[i]);
    return CLF_OK;
}

static void tell(writing *w, size_t more)
{
    const clf_gguf_progress *progress = w->source->progress;
    w->done += more;
    if (progress)
        progress->tell(progress->user, w->done, w->total);
}

/* Weights in pieces that hold whole blocks of every type. */
static clf_status put_encoded(writing *w, size_t index, const clf_gguf_tensor *t, clf_weight_type type)
{
    const clf_weight_type_info *to = clfi_weight_type_info(type);
    const size_t all = weights_of(t), piece = (size_t)PIECE_BLOCKS * CLFI_WEIGHT_BLOCK_MOST;
    for (size_t first = 0; first < all; first += piece) {
        const size_t count = all - first < piece ? all - first : piece, blocks = count / (size_t)to->block_weights;
        clf_status st = w->source->read(w->source->user, index, first, count, w->values);
        if (st == CLF_OK && type != CLF_WEIGHT_F32 && type != CLF_WEIGHT_BF16)
            st = check_halves(w->values, count);
        if (st == CLF_OK)
            st = clfi_weight_encode(type, w->values, blocks, w->blocks);
        if (st != CLF_OK)
            return clfi_fail_prefix(st, "%s: tensor \"%s\"", w->source->name, t->name);
        put(w, w->blocks, blocks * (size_t)to->block_bytes);
        tell(w, count);
    }
    return CLF_OK;
}

static clf_status put_tensors(writing *w, clf_gguf_converted *done)
{
    for (size_t i = 0; i < w->source->tensor_count; i++) {
        const clf_gguf_tensor *t = w->source->tensor(w->source->user, i);
        const clf_weight_type type = clfi_gguf_mixed_type(&w->mix, t);
        done->bytes += bytes_as(t, type);
        done->changed += type != t->type;
        done->kept += type == t->type;
        if (type == t->type && t->data) {
            put(w, t->data, t->bytes);
            tell(w, weights_of(t));
        } else {
            CLF_TRY(put_encoded(w, i, t, type));
        }
        w->source->forget(w->source->user, i);
        pad(w);
    }
    return CLF_OK;
}

clf_status clfi_gguf_write(const clf_gguf_source *source, const clf_gguf_file_type *type, const char *path, clf_gguf_converted *out)
{
    const size_t piece = (size_t)PIECE_BLOCKS * CLFI_WEIGHT_BLOCK_MOST;
    writing w = {.source = source, .mix = {.file = type}};
    clf_gguf_converted done = {.bytes = 0};
    clf_status st;
    CLF_TRY(clfi_output_open(path, false, &w.output));
    CLF_GOTO(clfi_alloc(piece, sizeof *w.values, "weights", &w.values));
    CLF_GOTO(clfi_alloc(piece, sizeof(float), "weights", &w.blocks));
    for (size_t i = 0; i < source->tensor_count; i++)
        clfi_gguf_mix_see(&w.mix, source->tensor(source->user, i));
    CLF_GOTO(put_header(&w));
    CLF_GOTO(put_tensors(&w, &done));
    CLF_GOTO(source->check(source->user)); /* before commit, because writes from the mapping of a file that was truncated fail, too */
    CLF_GOTO(clfi_atomic_commit(&w.output));
    *out = done;
done:
    clfi_atomic_abandon(&w.output);
    free(w.values);
    free(w.blocks);
    return st;
}
