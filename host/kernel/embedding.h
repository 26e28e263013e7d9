/* SPDX-License-Identifier: MIT */
/* Launches token embedding, the sum of rows of several tables (cl/cpu/embedding_vector.cl, cl/gpu/embedding_group.cl). */
#ifndef CLFI_KERNEL_EMBEDDING_H
#define CLFI_KERNEL_EMBEDDING_H

#include "tensor/view.h"

enum { CLFI_EMBEDDING_TERMS = 3 };

/* One table. ids NULL: row 0 for every token (a model with one token type). */
typedef struct clf_embedding_term {
    const clf_view *table; /* [V,C], f32, f16 or bf16; columns adjacent, rows at any stride; the first may be of quantised blocks */
    const clf_view *ids;   /* [T], i32, any stride */
    int blocks;            /* above 1: `table` is the first view of an array of this many blocks of rows (tensor/row_blocks.h) */
} clf_embedding_term;

/* The block of a term's table that one launch reads: its first row, and the number of rows in all blocks. */
typedef struct clf_embedding_block {
    int64_t first, total;
} clf_embedding_block;

/* Checked by the op. */
typedef struct clf_embedding_args {
    const clf_embedding_term *terms; /* each with one block */
    clf_embedding_block block[CLFI_EMBEDDING_TERMS];
    bool is_split; /* a table has several blocks: only tokens whose rows all lie in the given blocks are written */
    int count;
    float scale;
    const clf_view *y;
} clf_embedding_args;

/* args: a clf_embedding_args. */
bool clfi_embedding_vector_supports(const clf_context *context, const void *args);
bool clfi_embedding_group_supports(const clf_context *context, const void *args);
clf_status clfi_embedding_vector(clf_context *context, const void *args);
clf_status clfi_embedding_group(clf_context *context, const void *args);

#endif
