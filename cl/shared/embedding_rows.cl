/* SPDX-License-Identifier: MIT */
/* Shared by the kernels of the embedding lookup: y[t,:] = scale * table0[ids0[t],:] + table1[ids1[t],:] + table2[ids2[t],:] for TERMS
 * tables. An id outside its table is clamped: it gives a wrong row, never a read outside. A table in blocks of rows is looked up block by
 * block: a launch writes the tokens whose rows all lie in the blocks that it was given. */
#include "types.cl"

#if !defined(TERMS) || !defined(HAS_IDS0) || !defined(HAS_IDS1) || !defined(HAS_IDS2)
#error "TERMS: tables, 1 to 3; HAS_IDSk: 0 = row 0 for every token"
#endif
#ifndef IS_SPLIT
#error "IS_SPLIT: 1 = some table comes in blocks of rows"
#endif

/* A table or a block of its rows, by value from the host. Offsets and strides are in elements. rows: rows of the block; first: index of the
 * first of them in the table; total: rows of the whole table. */
typedef struct table_layout {
    long offset, row_stride, rows, first, total, ids_offset, ids_stride;
} table_layout;

/* Rows of the three tables for one token; those beyond TERMS are not read. */
typedef struct table_rows {
    __global const TABLE0_T *row0;
    __global const TABLE1_T *row1;
    __global const TABLE2_T *row2;
} table_rows;

/* The row that token t takes from a table, counted from the block's first row. */
static inline long row_of(const table_layout *table, __global const int *ids, int has_ids, long t)
{
    const long id = has_ids ? ids[table->ids_offset + t * table->ids_stride] : 0;
    return clamp(id, 0L, table->total - 1) - table->first;
}

static inline long row_offset(const table_layout *table, __global const int *ids, int has_ids, long t)
{
    return table->offset + row_of(table, ids, has_ids, t) * table->row_stride;
}

static inline int block_holds(const table_layout *table, __global const int *ids, int has_ids, long t)
{
    const long row = row_of(table, ids, has_ids, t);
    return row >= 0 && row < table->rows;
}

static inline float sum_column(const table_rows *rows, int c, float scale)
{
    float sum = LOAD_TABLE0(rows->row0, c) * scale;
#if TERMS > 1
    sum += LOAD_TABLE1(rows->row1, c);
#endif
#if TERMS > 2
    sum += LOAD_TABLE2(rows->row2, c);
#endif
    return sum;
}

/* Whether the blocks of this launch hold every row of token t. */
#define IS_HELD(t)                                                                                                                        \
    (block_holds(&layout0, ids0, HAS_IDS0, t) && (TERMS < 2 || block_holds(&layout1, ids1, HAS_IDS1, t)) &&                               \
     (TERMS < 3 || block_holds(&layout2, ids2, HAS_IDS2, t)))

/* The rows of token t. */
#define TABLE_ROWS(t)                                                          \
    {table0 + row_offset(&layout0, ids0, HAS_IDS0, t),                         \
     table1 + (TERMS > 1 ? row_offset(&layout1, ids1, HAS_IDS1, t) : 0),       \
     table2 + (TERMS > 2 ? row_offset(&layout2, ids2, HAS_IDS2, t) : 0)}
