/* SPDX-License-Identifier: MIT */
/* Makes quantised weights of random blocks. */
#include "workload/random_blocks.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/half.h"

/* Offsets and sizes of the halves and the integers in a block (base/weight_type.h). */
typedef struct block_layout {
    size_t halves, half_count, integers, integer_bytes;
} block_layout;

static block_layout layout_of(clf_weight_type type)
{
    switch (type) {
    case CLF_WEIGHT_Q4_1:
        return (block_layout){0, 2, 4, 16};
    case CLF_WEIGHT_Q5_1:
        return (block_layout){0, 2, 4, 20};
    case CLF_WEIGHT_Q4_K:
        return (block_layout){0, 2, 16, 128};
    case CLF_WEIGHT_Q5_K:
        return (block_layout){0, 2, 16, 160};
    case CLF_WEIGHT_Q6_K:
        return (block_layout){208, 1, 0, 192};
    default:
        return (block_layout){0, 1, 2, (size_t)clfi_weight_type_info(type)->block_bytes - 2};
    }
}

void clfi_random_blocks_fill(clfi_random *random, clf_weight_type type, size_t blocks, void *data)
{
    const size_t bytes = (size_t)clfi_weight_type_info(type)->block_bytes;
    const block_layout at = layout_of(type);
    unsigned char *block = data;
    for (size_t b = 0; b < blocks; b++, block += bytes) {
        for (size_t i = 0; i < bytes; i++)
            block[i] = (unsigned char)clfi_random_below(random, 256);
        for (size_t i = 0; i < at.half_count; i++) {
            const uint16_t half = clfi_f16_from_f32(clfi_random_uniform(random, -0.02f, 0.02f));
            memcpy(block + at.halves + i * sizeof half, &half, sizeof half);
        }
    }
}

/* Sets terms = |d q| + |z| for value = d q + z. z is the value of a block whose integers are 0. Overwrites data. */
static void split(clf_weight_type type, size_t blocks, unsigned char *data, const double *value, double *terms)
{
    const clf_weight_type_info *info = clfi_weight_type_info(type);
    const block_layout at = layout_of(type);
    for (size_t b = 0; b < blocks; b++)
        memset(data + b * (size_t)info->block_bytes + at.integers, 0, at.integer_bytes);
    clfi_weight_decode_f64(type, data, blocks, terms);
    for (size_t i = 0; i < blocks * (size_t)info->block_weights; i++)
        terms[i] = fabs(value[i] - terms[i]) + fabs(terms[i]);
}

clf_status clfi_random_blocks_create(clf_context *context, clfi_random *random, clf_weight_type type, int64_t rows, int64_t columns,
                                     clfi_random_blocks *out)
{
    const clf_weight_type_info *info = clfi_weight_type_info(type);
    const size_t count = (size_t)(rows * columns), blocks = count / (size_t)info->block_weights, bytes = blocks * (size_t)info->block_bytes;
    clfi_random_blocks made = {.bytes = bytes};
    unsigned char *data;
    clf_status st;
    CLF_TRY(clfi_alloc(bytes, 1, "blocks", &data));
    CLF_GOTO(clfi_alloc(2 * count, sizeof *made.value, "blocks", &made.value));
    made.terms = made.value + count;
    clfi_random_blocks_fill(random, type, blocks, data);
    clfi_weight_decode_f64(type, data, blocks, made.value);
    CLF_GOTO(clfi_buffer_create(context, bytes, &made.buffer));
    CLF_GOTO(clfi_buffer_write(made.buffer, 0, data, bytes));
    split(type, blocks, data, made.value, made.terms);
    made.view = (clf_view){.buffer = made.buffer,
                           .dtype = CLF_U8,
                           .blocks = type,
                           .rank = 2,
                           .dim = {rows, columns},
                           .stride = {rows ? (int64_t)bytes / rows : 0, 1}};
    *out = made;
    made = (clfi_random_blocks){0};
done:
    clfi_random_blocks_free(&made);
    free(data);
    return st;
}

void clfi_random_blocks_free(clfi_random_blocks *blocks)
{
    clfi_buffer_release(blocks->buffer);
    free(blocks->value);
    *blocks = (clfi_random_blocks){0};
}
