/* SPDX-License-Identifier: MIT */
/* Included by attention_group.cl, fused attention for GPUs. Defines how a work-group divides queries and keys among its work-items, the
 * layout of local memory, and the masks: which queries may use which keys. */
#include "vector.cl"
#include "attention_queries.cl"

#if !defined ITEMS_Q || !defined ITEMS_K || !defined ROW_VECTORS || !defined KEY_VECTORS || !defined COLUMN_VECTORS
#error "ITEMS_Q, ITEMS_K: items along queries (4 or 8) and along keys and columns; ROW_VECTORS, KEY_VECTORS: 1, 2; COLUMN_VECTORS: 1 to 4"
#endif
#if !defined KEY_HALVES || !defined MANY_REGISTERS
#error "KEY_HALVES: 1 or 2, the sums of results over which an item's group divides the keys; MANY_REGISTERS: a form that has room in them"
#endif
#if !defined SLICE || !defined PART_KEYS || !defined IS_ALIGNED || WIDTH != 4
#error "SLICE: columns of q and k at a time; PART_KEYS: keys of v at a time, by 4 KEY_VECTORS; \
IS_ALIGNED: rows of q, k and v are floats that start at multiples of 16 bytes; WIDTH: 4"
#endif

#define WG (ITEMS_Q * ITEMS_K)
#define TILE (4 * ITEMS_Q * ROW_VECTORS)
#define WORDS ((TILE + 31) / 32) /* 32-bit words with a bit for each query of the tile */
#define KEY_BLOCK (4 * ITEMS_K * KEY_VECTORS)
#define ITEMS_C (ITEMS_K / KEY_HALVES)
#define WIDE (4 * ITEMS_C * COLUMN_VECTORS) /* columns of v, padded to whole vectors */
#define PITCH_Q (TILE + 4) /* spreads rows over the banks of local memory; keeps float4 aligned */
#define PITCH_K (KEY_BLOCK + 4)
#define SLICE_FLOATS (SLICE * (PITCH_Q + PITCH_K))
#define WEIGHTS_FLOATS (PART_KEYS * (PITCH_Q + WIDE))
#define HALF_FLOATS (KEY_HALVES == 2 ? TILE * WIDE : 0)
#define LARGER(a, b) ((a) > (b) ? (a) : (b))

/* Offsets in local memory, in vectors. One array holds everything, so that compilers need few registers for addresses. The first part holds
 * in turn a slice of q and k, maxima of scores, weights with a part of v, and at the end the results of half of the keys. */
#define K_SLICE (SLICE * PITCH_Q / 4)
#define VALUES (PART_KEYS * PITCH_Q / 4)
#define TOPS 0 /* maxima of each item's scores; at the end the sums of rows */
#define SUMS (LARGER(LARGER(SLICE_FLOATS, WEIGHTS_FLOATS), HALF_FLOATS) / 4) /* sums of each item's weights */
#define SHIFTS (SUMS + ITEMS_K * TILE / 4) /* subtracted from a row's scores */
#define FACTORS (SHIFTS + TILE / 4)        /* factors of a row's results */
#define USED (FACTORS + TILE / 4)          /* bits of the queries that may use a key, WORDS for each key */
#define BIASES (USED + WORDS * KEY_BLOCK / 4)
#define SHARED (BIASES + (HAS_BIAS ? (KEY_BLOCK + TILE) / 4 : 0))

/* Votes about a block's masks. */
#define SOME_KEPT 1u
#define SOME_MASKED 2u

/* Unrolled loops: constant indices keep the vectors in registers. */
#if ROW_VECTORS == 2
#define EACH_ROW(F, a, b) F(a, b, 0) F(a, b, 1)
#else
#define EACH_ROW(F, a, b) F(a, b, 0)
#endif
#define EACH_OF_FOUR(F, a) EACH_ROW(F, a, 0) EACH_ROW(F, a, 1) EACH_ROW(F, a, 2) EACH_ROW(F, a, 3)
#if KEY_VECTORS == 2
#define EACH_KEY_VECTOR(F) F(0) F(1)
#define EACH_SCORE(F) EACH_OF_FOUR(F, 0) EACH_OF_FOUR(F, 1)
#else
#define EACH_KEY_VECTOR(F) F(0)
#define EACH_SCORE(F) EACH_OF_FOUR(F, 0)
#endif
#define STEP (MANY_REGISTERS ? 4 : 2) /* unrolled steps of an inner loop */
#if MANY_REGISTERS
#define EACH_OF_STEP(F) F(0) F(1) F(2) F(3)
#else
#define EACH_OF_STEP(F) F(0) F(1)
#endif
#define FOUR_OF_ROW(F, c, r) F(c, 0, r) F(c, 1, r) F(c, 2, r) F(c, 3, r)
#if COLUMN_VECTORS == 1
#define EACH_RESULT_OF_ROW(F, r) FOUR_OF_ROW(F, 0, r)
#define EACH_COLUMN_VECTOR(F) F(0)
#define EACH_RESULT(F) EACH_OF_FOUR(F, 0)
#elif COLUMN_VECTORS == 2
#define EACH_RESULT_OF_ROW(F, r) FOUR_OF_ROW(F, 0, r) FOUR_OF_ROW(F, 1, r)
#define EACH_COLUMN_VECTOR(F) F(0) F(1)
#define EACH_RESULT(F) EACH_OF_FOUR(F, 0) EACH_OF_FOUR(F, 1)
#elif COLUMN_VECTORS == 3
#define EACH_RESULT_OF_ROW(F, r) FOUR_OF_ROW(F, 0, r) FOUR_OF_ROW(F, 1, r) FOUR_OF_ROW(F, 2, r)
#define EACH_COLUMN_VECTOR(F) F(0) F(1) F(2)
#define EACH_RESULT(F) EACH_OF_FOUR(F, 0) EACH_OF_FOUR(F, 1) EACH_OF_FOUR(F, 2)
#else
#define EACH_RESULT_OF_ROW(F, r) FOUR_OF_ROW(F, 0, r) FOUR_OF_ROW(F, 1, r) FOUR_OF_ROW(F, 2, r) FOUR_OF_ROW(F, 3, r)
#define EACH_COLUMN_VECTOR(F) F(0) F(1) F(2) F(3)
#define EACH_RESULT(F) EACH_OF_FOUR(F, 0) EACH_OF_FOUR(F, 1) EACH_OF_FOUR(F, 2) EACH_OF_FOUR(F, 3)
#endif
#if KEY_VECTORS == 2
#define EACH_KEY_VECTOR_OF_ROW(F, unused, r) F(0, r) F(1, r)
#else
#define EACH_KEY_VECTOR_OF_ROW(F, unused, r) F(0, r)
#endif

/* The registers of a work-item. r counts its vectors of queries (ROW_VECTORS), v those of keys, c those of columns. */
typedef struct group_item {
    uint item, y, x;                /* local index; y: index along queries; x: index along keys */
    uint column_item, half_of_keys; /* index along columns; the half of a part's keys that it sums */
    float maximum;                  /* largest score of row `item` of the tile */
    float4 score[4 * KEY_VECTORS * ROW_VECTORS];     /* four queries with one key */
    float4 result[4 * COLUMN_VECTORS * ROW_VECTORS]; /* four queries in one column */
} group_item;
#define SCORE(v, j, r) own->score[(4 * (v) + (j)) * ROW_VECTORS + (r)]
#define RESULT(c, i, r) own->result[(4 * (c) + (i)) * ROW_VECTORS + (r)]

/* Offset of a work-item's vector r of queries: OF_ROW in an array of the tile's rows, OF_ITEM in an array with such rows for each x. */
#define OF_ROW(r) ((r) * ITEMS_Q + own->y)
#define OF_ITEM(r) (own->x * (TILE / 4) + (r) * ITEMS_Q + own->y)

/* The first query of an item's vector r of queries, the first key of its vector v, and the first column of its vector c. */
#define QUERY(r) ((r) * 4 * ITEMS_Q + 4 * own->y)
#define KEY(v) (4 * (KEY_VECTORS * own->x + (v)))
#define KEY_PLACE(key) ((key) / 4 % KEY_VECTORS * 4 * ITEMS_K + (key) / (4 * KEY_VECTORS) * 4 + (key) % 4) /* within a line of a slice */
#define COLUMN(c) ((c) * 4 * ITEMS_C + 4 * own->column_item)

/* Word w of a row of bits that are set from bit `first` on (bits_from), or below bit `end` (bits_below). */
inline uint bits_from(int first, int w)
{
    return first <= 32 * w ? ~0u : first > 32 * w + 31 ? 0u : ~0u << (first - 32 * w);
}

inline uint bits_below(int end, int w)
{
    return ~bits_from(end, w);
}

/* Bit i is set if query 32 w + i of the tile may use the key. */
IN_KERNEL uint queries_of_key(const query_group *group, int key, int w)
{
    uint bits = ~0u;
#if IS_CAUSAL
    bits &= bits_from(sub_sat(key, group->place), w);
#endif
#if HAS_WINDOW
    bits &= bits_from(sub_sat(sub_sat(key, group->window - 1), group->place), w);
    bits &= bits_below(sub_sat(add_sat(key, group->window), group->place), w);
#endif
#if HAS_KEEP
    if (32 * w < group->rows)
        bits &= group->words[w * group->words_step + key] >> group->q_index % KEEP_QUERIES;
#endif
    return bits;
}

/* Writes to `used` the bits of the queries that may use each key of the block that begins at `first`. Sets SOME_KEPT in *votes if some
 * query may use some key, and SOME_MASKED if some query may not. */
IN_KERNEL void mark_usable(const query_group *group, int first, uint item, __local uint *used, volatile __local uint *votes)
{
    for (uint i = item; i < KEY_BLOCK; i += WG) {
        const int key = first + (int)i;
        uint vote = 0;
        bool is_usable = key < group->range.end;
#if HAS_KEY_MASK
        is_usable = is_usable && group->key_mask[(long)key * group->key_mask_stride] != 0;
#endif
        for (int w = 0; w < WORDS; w++) {
            const uint bits = is_usable ? queries_of_key(group, key, w) : 0u, own = bits_below(group->rows, w);
            used[w * KEY_BLOCK + i] = bits & own;
            vote |= (bits & own ? SOME_KEPT : 0u) | (~bits & own ? SOME_MASKED : 0u);
        }
        atomic_or(votes, vote);
    }
}

/* Which of four queries are kept: bit 0 of bits is the first. */
inline int4 kept_queries(uint bits)
{
    return ((int4)((int)bits) & (int4)(1, 2, 4, 8)) != (int4)(0);
}
