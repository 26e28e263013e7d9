/* SPDX-License-Identifier: MIT */
/* The struct of decode_batch.h and functions that its source files share: sequences, and tables of cache rows with counts of their users.
 * All tables are on the host. */
#ifndef CLFI_MODEL_DECODE_BATCH_PARTS_H
#define CLFI_MODEL_DECODE_BATCH_PARTS_H

#include "model/decode_batch.h"
#include "runtime/launch_graph.h"

typedef struct clf_decode_sequence {
    bool is_open;
    int32_t length;
    int32_t next_free; /* of a sequence that is not open; -1: no more */
    int32_t *rows;     /* cache row of each token */
    size_t capacity;
    bool has_source;
    int32_t source_length;
    int32_t *source_rows; /* cache row of each of the source's tokens */
    bool is_given;        /* has an input in the pass at hand */
} clf_decode_sequence;

struct clf_decode_batch {
    clf_context *context;       /* retained */
    const clf_network *network; /* borrowed */
    clf_dtype dtype;            /* of keys and values */
    clf_kv_cache cache;         /* cache.rows counts all rows that were ever taken */
    int32_t *users;             /* [cache.rows]: how many sequences use each row */
    size_t user_capacity;
    int32_t *free_rows; /* those without a user */
    size_t free_count, free_capacity;
    clf_decode_sequence *sequences;
    size_t count, capacity;
    int32_t next_free; /* first sequence that is not open; -1: all are */
    clf_packer packer;
    clf_launch_graph *step;       /* of a single token; NULL: kernels are launched one by one */
    clf_launch_graph *batch_step; /* of a token of each of several sequences */
    int32_t *held;                /* sequences that hold the sources of clfi_decode_set_sources */
    size_t held_count, held_capacity;
};

/* The sequence of that number. If there is none: NULL, or INVALID_ARGUMENT. */
clf_decode_sequence *clfi_decode_sequence(const clf_decode_batch *batch, int32_t number);
clf_status clfi_decode_find(const clf_decode_batch *batch, int32_t number, clf_decode_sequence **out);

/* Takes `count` cache rows, which get one user each. */
clf_status clfi_decode_take_rows(clf_decode_batch *batch, int32_t *rows, int32_t count);

/* Removes one user from each row. Rows without users are free. */
void clfi_decode_give_back(clf_decode_batch *batch, const int32_t *rows, int32_t count);

#endif
