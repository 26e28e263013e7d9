/* SPDX-License-Identifier: MIT */
/* Makes decoders with random weights. */
#include "workload/random_decoder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "io/gguf_mix.h"

enum {
    NAME_BYTES = 128,
    ALIGNMENT = 4096, /* as in a mapped file */
    TENSOR_ALIGNMENT = 64,
    MOST_LAYER_TENSORS = 11,
    MOST_PARAMETERS = 1 << 26, /* most weights of a decoder whose numbers are all drawn */
    DRAWN_WEIGHTS = 1 << 18    /* drawn per matrix of a larger decoder: quantising a billion takes minutes */
};

static const char memory_name[] = "random weights";

typedef struct tensor {
    char name[NAME_BYTES];
    clf_weight_type type;
    int rank;
    int64_t dim[2];
    size_t offset, bytes;
    float low, high; /* range of its numbers */
} tensor;

struct clfi_random_decoder {
    clfi_random_decoder_shape shape;
    clf_gguf_mix mix; /* mix.file NULL: none */
    tensor *tensors;
    size_t count, bytes;
    char *data; /* NULL: not filled */
    clf_file_map *map;
};

static clf_status add(clfi_random_decoder *d, const char *name, clf_weight_type type, int64_t rows, int64_t columns, float low, float high)
{
    tensor *t = &d->tensors[d->count];
    *t = (tensor){.type = type, .rank = rows ? 2 : 1, .dim = {rows ? rows : columns, rows ? columns : 0}, .low = low, .high = high};
    snprintf(t->name, sizeof t->name, "model.%s.weight", name);
    if (!clfi_weight_bytes(type, rows ? rows : 1, columns, &t->bytes))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: %s of %lld columns, expected whole blocks of %s", memory_name, t->name, (long long)columns,
                 clfi_weight_type_info(type)->name);
    t->offset = d->bytes;
    d->bytes = (d->bytes + t->bytes + TENSOR_ALIGNMENT - 1) / TENSOR_ALIGNMENT * TENSOR_ALIGNMENT;
    d->count++;
    return CLF_OK;
}

/* The type of a matrix by the mix, else `otherwise`. name: that of the tensor in a GGUF file. */
static clf_weight_type type_of(const clfi_random_decoder *d, const char *name, int64_t rows, int64_t columns, clf_weight_type otherwise)
{
    const clf_gguf_tensor stored = {.name = name, .type = CLF_WEIGHT_F32, .rank = 2, .dim = {rows, columns}};
    return d->mix.file ? clfi_gguf_mixed_type(&d->mix, &stored) : otherwise;
}

static clf_status add_gain(clfi_random_decoder *d, const char *name, int64_t size)
{
    return add(d, name, CLF_WEIGHT_F32, 0, size, 0.5f, 1.5f);
}

static int64_t head_size(const clfi_random_decoder_shape *shape)
{
    return shape->head_size ? shape->head_size : shape->width / shape->heads;
}

static clf_status add_layer(clfi_random_decoder *d, int64_t layer)
{
    const clfi_random_decoder_shape *s = &d->shape;
    const int64_t c = s->width, f = s->hidden_width, size = head_size(s), queries = size * s->heads, keys = size * s->key_heads;
    const struct {
        const char *part;
        int64_t size;
    } gains[] = {{"input_layernorm", c}, {"post_attention_layernorm", c}, {"self_attn.q_norm", size}, {"self_attn.k_norm", size}};
    const struct {
        const char *part, *in_gguf;
        int64_t rows, columns;
    } matrices[] = {{"self_attn.q_proj", "attn_q", queries, c}, {"self_attn.k_proj", "attn_k", keys, c},
                    {"self_attn.v_proj", "attn_v", keys, c},    {"self_attn.o_proj", "attn_output", c, queries},
                    {"mlp.gate_proj", "ffn_gate", f, c},        {"mlp.up_proj", "ffn_up", f, c},
                    {"mlp.down_proj", "ffn_down", c, f}};
    _Static_assert(sizeof matrices / sizeof *matrices + sizeof gains / sizeof *gains == MOST_LAYER_TENSORS, "tensors of a layer");
    char name[NAME_BYTES - 32], in_gguf[NAME_BYTES];
    for (size_t i = 0; i < (s->has_head_norms ? COUNT(gains) : 2); i++) {
        snprintf(name, sizeof name, "layers.%lld.%s", (long long)layer, gains[i].part);
        CLF_TRY(add_gain(d, name, gains[i].size));
    }
    for (size_t i = 0; i < COUNT(matrices); i++) {
        const int64_t rows = matrices[i].rows, columns = matrices[i].columns;
        const float bound = (float)sqrt(6.0 / (double)(rows + columns));
        snprintf(name, sizeof name, "layers.%lld.%s", (long long)layer, matrices[i].part);
        snprintf(in_gguf, sizeof in_gguf, "blk.%lld.%s.weight", (long long)layer, matrices[i].in_gguf);
        CLF_TRY(add(d, name, type_of(d, in_gguf, rows, columns, s->type), rows, columns, -bound, bound));
    }
    return CLF_OK;
}

clf_status clfi_random_decoder_create(const clfi_random_decoder_shape *shape, clfi_random_decoder **out)
{
    const float table = 0.125f * sqrtf(3.0f);
    const clf_weight_type type = shape->type == CLF_WEIGHT_Q4_0 ? CLF_WEIGHT_Q8_0 : shape->type;
    clfi_random_decoder *d;
    clf_status st;
    CLF_TRY(clfi_alloc(1, sizeof *d, memory_name, &d));
    d->shape = *shape;
    if (shape->mix)
        CLF_GOTO(clfi_gguf_file_type_find(shape->mix, &d->mix.file));
    d->mix.layers = shape->layers;
    d->mix.query_rows = head_size(shape) * shape->heads;
    d->mix.value_rows = head_size(shape) * shape->key_heads;
    CLF_GOTO(clfi_alloc((size_t)shape->layers * MOST_LAYER_TENSORS + 2, sizeof *d->tensors, memory_name, &d->tensors));
    CLF_GOTO(add(d, "embed_tokens", type_of(d, "token_embd.weight", shape->vocabulary, shape->width, type), shape->vocabulary, shape->width,
                 -table, table));
    for (int64_t layer = 0; layer < shape->layers; layer++)
        CLF_GOTO(add_layer(d, layer));
    CLF_GOTO(add_gain(d, "norm", shape->width));
    *out = d;
    return CLF_OK;
done:
    clfi_random_decoder_destroy(d);
    return st;
}

void clfi_random_decoder_destroy(clfi_random_decoder *decoder)
{
    if (!decoder)
        return;
    clfi_file_map_release(decoder->map);
    free(decoder->data);
    free(decoder->tensors);
    free(decoder);
}

/* Fills a tensor row by row from a random stream of its own. Rows from `drawn` on copy blocks of the drawn rows, each row from another
 * block on. */
static clf_status fill_tensor(const tensor *t, size_t index, size_t drawn, float *row, char *data)
{
    enum { STEP = 65537 /* a prime */ };
    const clf_weight_type_info *type = clfi_weight_type_info(t->type);
    const size_t columns = (size_t)t->dim[t->rank - 1], blocks = columns / (size_t)type->block_weights;
    const size_t block = (size_t)type->block_bytes, rows = t->rank == 2 ? (size_t)t->dim[0] : 1;
    char *first = data + t->offset;
    clfi_random random = {(index + 1) << 32};
    for (size_t i = 0; i < rows && i < drawn; i++) {
        clfi_random_fill(&random, row, columns, t->low, t->high);
        CLF_TRY(clfi_weight_encode(t->type, row, blocks, first + i * blocks * block));
    }
    for (size_t i = drawn; i < rows; i++)
        memcpy(first + i * blocks * block, first + i * STEP % ((drawn - 1) * blocks + 1) * block, blocks * block);
    return CLF_OK;
}

/* The number of rows that are drawn; SIZE_MAX: all. */
static size_t drawn_rows(const clfi_random_decoder *d, const tensor *t)
{
    double parameters = 0;
    for (size_t i = 0; i < d->count; i++)
        parameters += (double)d->tensors[i].dim[0] * (double)(d->tensors[i].rank == 2 ? d->tensors[i].dim[1] : 1);
    const size_t columns = (size_t)t->dim[t->rank - 1];
    return parameters <= MOST_PARAMETERS || columns > DRAWN_WEIGHTS / 2 ? SIZE_MAX : DRAWN_WEIGHTS / columns;
}

clf_status clfi_random_decoder_fill(clfi_random_decoder *decoder)
{
    const int64_t c = decoder->shape.width, f = decoder->shape.hidden_width, q = head_size(&decoder->shape) * decoder->shape.heads;
    const size_t rounded = (decoder->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    float *row;
    if (decoder->data)
        return CLF_OK;
    CLF_TRY(clfi_alloc((size_t)(c > f ? c > q ? c : q : f > q ? f : q), sizeof *row, memory_name, &row));
    char *data = aligned_alloc(ALIGNMENT, rounded);
    clf_status st = data ? CLF_OK : clfi_fail(CLF_OUT_OF_MEMORY, "%s: not enough memory for %zu bytes", memory_name, rounded);
    if (st == CLF_OK)
        memset(data, 0, rounded);
    for (size_t i = 0; st == CLF_OK && i < decoder->count; i++)
        st = fill_tensor(&decoder->tensors[i], i, drawn_rows(decoder, &decoder->tensors[i]), row, data);
    if (st == CLF_OK)
        st = clfi_file_map_borrow(data, rounded, memory_name, &decoder->map);
    free(row);
    if (st != CLF_OK) {
        free(data);
        return st;
    }
    decoder->data = data;
    return CLF_OK;
}

static bool at(const void *state, size_t index, clf_checkpoint_tensor *out)
{
    const clfi_random_decoder *d = state;
    if (index >= d->count)
        return false;
    const tensor *t = &d->tensors[index];
    *out = (clf_checkpoint_tensor){.name = t->name,
                                   .is_weight = true,
                                   .type = t->type,
                                   .type_name = clfi_weight_type_info(t->type)->name,
                                   .rank = t->rank,
                                   .dim = {t->dim[0], t->dim[1]},
                                   .data = d->data ? d->data + t->offset : NULL,
                                   .bytes = t->bytes,
                                   .offset = t->offset};
    return true;
}

static bool find(const void *state, const char *name, clf_checkpoint_tensor *out)
{
    for (size_t i = 0; at(state, i, out); i++)
        if (strcmp(out->name, name) == 0)
            return true;
    return false;
}

static size_t file_count(const void *state)
{
    (void)state;
    return 1;
}

static const char *file_path(const void *state, int file)
{
    (void)state;
    (void)file;
    return memory_name;
}

static clf_file_map *file_map(const void *state, int file)
{
    (void)file;
    return ((const clfi_random_decoder *)state)->map;
}

static void leave(void *state)
{
    (void)state; /* borrowed */
}

static const clf_checkpoint_form form = {"random", NULL, at, find, file_count, file_path, file_map, leave, NULL};

clf_status clfi_random_decoder_checkpoint(clfi_random_decoder *decoder, clf_checkpoint **out)
{
    const clfi_random_decoder_shape *s = &decoder->shape;
    json_t *config =
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:b}", "model_type", s->has_head_norms ? "qwen3" : "llama",
                  "head_dim", (json_int_t)head_size(s), "hidden_size", (json_int_t)s->width, "intermediate_size",
                  (json_int_t)s->hidden_width, "num_hidden_layers", (json_int_t)s->layers, "num_attention_heads", (json_int_t)s->heads,
                  "num_key_value_heads", (json_int_t)s->key_heads, "vocab_size", (json_int_t)s->vocabulary, "max_position_embeddings",
                  (json_int_t)s->positions, "rms_norm_eps", 1e-5, "rope_theta", 1e5, "tie_word_embeddings", true);
    if (!config)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "%s: config.json: not enough memory", memory_name);
    return clfi_checkpoint_create(&form, decoder, config, out);
}
