/* SPDX-License-Identifier: MIT */
/* Tiles of queries and the policies for rows without a usable key, for the fused attention kernels. The host declares the same
 * (clf_attention_tile in kernel/attention.h, clf_empty_rows). */
typedef struct attention_tile {
    int q_row;    /* first query, as a row of the packed queries */
    int q_count;  /* queries in the tile */
    int q_index;  /* first query, counted within its sequence */
    int k_begin;  /* first key, as a row of the packed keys */
    int k_count;  /* keys of the sequence */
    int sequence;
    int diagonal; /* causal: query i of the sequence uses keys j <= i + diagonal */
    int unused;
} attention_tile;

#define EMPTY_ROWS_ZERO 0
#define EMPTY_ROWS_NAN 1
#define EMPTY_ROWS_UNIFORM 2
