/* SPDX-License-Identifier: MIT */
/* Cached attention on CPUs for many queries, as those of a prompt, with queries in vector lanes. A work-item has TILE_V vectors of
 * neighbouring queries and some heads. Neighbours that see the same cache rows, up to their own, are a run. A block of keys and values is
 * read once for a run, and neither scores nor maxima need sums across lanes. Other queries are computed one by one
 * (cached_attention_heads.cl). Both ways add in the same order, so a query's result does not depend on its neighbours. */
#include "cached_attention_heads.cl"
#include "transpose.cl"
#include "item.cl"

#ifndef TILE_V
#error "TILE_V: vectors of queries of a work-item, 1 or 2"
#endif

#define TILE (TILE_V * WIDTH)
#define LEAST_RUN 6 /* queries: fewer are faster one by one */

/* Keys of a score step and columns of a value step: registers hold twice as many sums for each vector of queries. */
#if TILE_V == 2 || HEAD % 8
#define COLUMN_STEP 4
#else
#define COLUMN_STEP 8
#endif
#if WIDTH == 16 && TILE_V == 1
#define KEY_STEP 8
#elif WIDTH == 8 && TILE_V == 2 /* processors with few registers */
#define KEY_STEP 2
#else
#define KEY_STEP 4
#endif
#define EACH_QUERY_VECTOR(F, ...) PASTE(QUERY_VECTORS_, TILE_V)(F, __VA_ARGS__)
#define QUERY_VECTORS_1(F, ...) F(0, __VA_ARGS__)
#define QUERY_VECTORS_2(F, ...) F(0, __VA_ARGS__) F(1, __VA_ARGS__)
#define EACH_KEY PASTE(ROWS_, KEY_STEP)
#define EACH_COLUMN PASTE(ROWS_, COLUMN_STEP)

/* Element c of query lane l of vector v is lane l of x[c * TILE_V + v]. */
typedef struct tile_state {
    floatv query[HEAD * TILE_V], mixed[HEAD * TILE_V], maximum[TILE_V], sum[TILE_V];
    intv first[TILE_V], keys[TILE_V]; /* a lane sees the keys first .. keys - 1 */
} tile_state;

/* A run of queries, with ascending numbers of keys. */
typedef struct query_run {
    int n, count;
    int first, keys;           /* of query n */
    int last_first, last_keys; /* of the last query */
} query_run;

/* Whether the tables of queries n and n + 1 have the same rows from key `begin` to `end`. */
inline bool have_same_rows(const cached_layout *at, __global const int *rows, int n, int begin, int end)
{
    __global const int *const row = rows + at->rows_offset + n * at->rows_stride;
    for (; begin + WIDTH <= end; begin += WIDTH)
        if (any(PASTE(vload, WIDTH)(0, row + begin) != PASTE(vload, WIDTH)(0, row + at->rows_stride + begin)))
            return false;
    for (; begin < end; begin++)
        if (row[begin] != row[at->rows_stride + begin])
            return false;
    return true;
}

/* Fills *run with the longest run from query n on, of at most `most` queries. Every key of the run is seen by its first or its last query.
 * (Oclgrind cannot run the code that LLVM generates for a struct returned by value.) */
inline void find_run(const cached_layout *at, __global const int *rows, __global const int *counts, int n, int most, int window,
                     query_run *run)
{
    __global const int *const count = counts + at->count_offset;
    run->n = n;
    run->count = 1;
    run->keys = run->last_keys = count[n];
    run->first = run->last_first = FIRST_KEY(count[n], window);
    for (; run->count < most; run->count++) {
        const int keys = count[n + run->count], first = FIRST_KEY(keys, window);
        if (keys < run->last_keys || first > run->keys || !have_same_rows(at, rows, n + run->count - 1, first, run->last_keys))
            break;
        run->last_first = first;
        run->last_keys = keys;
    }
}

inline long run_row(const cached_layout *at, __global const int *rows, const query_run *run, int key)
{
    return cache_row(at, rows, key < run->keys ? run->n : run->n + run->count - 1, key);
}

/* Copies a block of keys or values as floats. The keys of the next block but three are asked for meanwhile. */
inline void copy_block(const cached_layout *at, __global const KV_T *from, long stride, __global const int *rows, const query_run *run,
                       int begin, float *to)
{
    __attribute__((opencl_unroll_hint(1)))
    for (int j = 0; j < WIDTH; j++) {
        __global const KV_T *const row = from + run_row(at, rows, run, min(begin + j, run->last_keys - 1)) * stride;
        __global const KV_T *const ahead = from + run_row(at, rows, run, min(begin + AHEAD + j, run->last_keys - 1)) * stride;
        for (int c = 0; c < ROW; c += LINE / (int)sizeof(KV_T))
            PREFETCH_STREAM(ahead + c);
        for (int i = 0; i < VECTORS; i++)
            ((floatv *)to)[j * VECTORS + i] = KV_VECTOR(row, i);
    }
}

inline void load_queries(const cached_layout *at, __global const float *q, __global const int *counts, const query_run *run, int h,
                         float scale, int window, tile_state *tile)
{
    for (int v = 0; v < TILE_V; v++) {
        for (int l = 0; l < WIDTH; l++) {
            const int keys = counts[at->count_offset + run->n + min(v * WIDTH + l, run->count - 1)];
            ((int *)&tile->keys[v])[l] = keys;
            ((int *)&tile->first[v])[l] = FIRST_KEY(keys, window);
        }
        tile->maximum[v] = (floatv)(-INFINITY);
        tile->sum[v] = (floatv)(0.0f);
        __global const float *const query = q + at->q_offset + h * at->q_head_stride + run->n * at->q_stride;
        __attribute__((opencl_unroll_hint(1)))
        for (int column = 0; column < HEAD; column += WIDTH) {
            floatv turned[WIDTH];
            for (int l = 0; l < WIDTH; l++)
                turned[l] = vector_load_f32(query + min(v * WIDTH + l, run->count - 1) * at->q_stride + column) * scale;
            transpose(turned);
            for (int i = 0; i < WIDTH; i++) {
                tile->query[(column + i) * TILE_V + v] = turned[i];
                tile->mixed[(column + i) * TILE_V + v] = (floatv)(0.0f);
            }
        }
    }
}

/* The sum of `count` vectors that lie `stride` apart, in the order of lane_sums and block_sum: halves are added first. */
#define SUM_HALVES(half)             \
    for (int j = 0; j < (half); j++) \
        sum[j] += sum[j + (half)];
inline floatv sum_vectors(const floatv *x, const int stride, const int count)
{
    floatv sum[WIDTH];
    for (int j = 0; j < count; j++)
        sum[j] = x[j * stride];
    if (count > 8)
        SUM_HALVES(8)
    if (count > 4)
        SUM_HALVES(4)
    if (count > 2)
        SUM_HALVES(2)
    return sum[0] + sum[1];
}

/* Scores of KEY_STEP keys. The elements l, l + WIDTH, ... of a head are summed first, then these sums as lane_sums adds lanes. a: the sum
 * of elements l, b: that of elements l + WIDTH / 2. */
#define CLEAR_SUM(v, j) floatv a##j##v = (floatv)(0.0f), b##j##v = (floatv)(0.0f);
#define CLEAR_SUMS(j) EACH_QUERY_VECTOR(CLEAR_SUM, j)
#define LOAD_QUERY(v, l) const floatv query##v = query[(i * WIDTH + (l)) * TILE_V + v];
#define ADD_PRODUCT_A(v, j) a##j##v = fma(element, query##v, a##j##v);
#define ADD_PRODUCT_B(v, j) b##j##v = fma(element, query##v, b##j##v);
#define ADD_PRODUCTS_A(j)                                               \
    {                                                                   \
        const floatv element = (floatv)(key[j * HEAD + i * WIDTH + l]); \
        EACH_QUERY_VECTOR(ADD_PRODUCT_A, j)                             \
    }
#define ADD_PRODUCTS_B(j)                                                           \
    {                                                                               \
        const floatv element = (floatv)(key[j * HEAD + i * WIDTH + l + WIDTH / 2]); \
        EACH_QUERY_VECTOR(ADD_PRODUCT_B, j)                                         \
    }
#define KEEP_HALF(v, j) halves[l * KEY_STEP * TILE_V + j * TILE_V + v] = a##j##v + b##j##v;
#define KEEP_HALVES(j) EACH_QUERY_VECTOR(KEEP_HALF, j)

inline void score_keys(const floatv *query, const float *key, floatv *scores)
{
    floatv halves[WIDTH / 2 * KEY_STEP * TILE_V];
    __attribute__((opencl_unroll_hint(1)))
    for (int l = 0; l < WIDTH / 2; l++) {
        EACH_KEY(CLEAR_SUMS)
        for (int i = 0; i < VECTORS; i++) {
            EACH_QUERY_VECTOR(LOAD_QUERY, l)
            EACH_KEY(ADD_PRODUCTS_A)
        }
        for (int i = 0; i < VECTORS; i++) {
            EACH_QUERY_VECTOR(LOAD_QUERY, l + WIDTH / 2)
            EACH_KEY(ADD_PRODUCTS_B)
        }
        EACH_KEY(KEEP_HALVES)
    }
    for (int s = 0; s < KEY_STEP * TILE_V; s++)
        scores[s] = sum_vectors(halves + s, KEY_STEP * TILE_V, WIDTH / 2);
}

/* Lanes that see a key (-1; others 0). */
inline intv seeing_lanes(const tile_state *tile, int vector, int key)
{
    return (intv)(key) >= tile->first[vector] && (intv)(key) < tile->keys[vector];
}

/* The online softmax of a block, as weigh_block's. is_whole: every lane sees every key. scores become weights. */
inline void weigh_tile(tile_state *tile, floatv *scores, floatv *alpha, const bool is_whole, const cached_layout *at, int h, int begin,
                       __global const float *bias, float cap)
{
    for (int v = 0; v < TILE_V; v++) {
        floatv largest = tile->maximum[v];
        for (int j = 0; j < WIDTH; j++) {
            floatv score = scores[j * TILE_V + v];
#if HAS_BIAS || HAS_SOFT_CAP
            const int key = begin + j;
            for (int l = 0; l < WIDTH; l++) {
                const int last = ((const int *)tile->keys)[v * WIDTH + l] - 1;
                const float biased = BIASED(((float *)&score)[l], at, bias, h, min(key, last), last);
                ((float *)&score)[l] = CAPPED(biased, cap);
            }
#endif
            if (!is_whole)
                score = seeing_lanes(tile, v, begin + j) ? score : (floatv)(-INFINITY);
            scores[j * TILE_V + v] = score;
            largest = score > largest ? score : largest; /* a NaN is not the maximum */
        }
        const floatv shift = largest == (floatv)(-INFINITY) ? (floatv)(0.0f) : largest;
        alpha[v] = EXP(tile->maximum[v] - shift);
        for (int j = 0; j < WIDTH; j++)
            scores[j * TILE_V + v] = EXP(scores[j * TILE_V + v] - shift);
        tile->sum[v] = fma(tile->sum[v], alpha[v], sum_vectors(scores + v, TILE_V, WIDTH));
        tile->maximum[v] = largest;
    }
}

/* mixed = mixed alpha + weights values. Lanes that do not see a key add 0: their weight is 0, but 0 times NaN or infinity is not. */
#define START_SUM(v, i) floatv sum##i##v = tile->mixed[(column + i) * TILE_V + v] * alpha[v];
#define START_SUMS(i) EACH_QUERY_VECTOR(START_SUM, i)
#define LOAD_WEIGHT(v, unused) const floatv weight##v = weights[j * TILE_V + v];
#define LOAD_SEEN(v, unused) const intv seen##v = seeing_lanes(tile, v, begin + j);
#define ADD_ELEMENT(v, i) sum##i##v = fma(element, weight##v, sum##i##v);
#define ADD_SEEN(v, i) sum##i##v = fma(seen##v ? element : (floatv)(0.0f), weight##v, sum##i##v);
#define ADD_ELEMENTS(i)                                                     \
    {                                                                       \
        const floatv element = (floatv)(values[j * HEAD + column + i]);     \
        EACH_QUERY_VECTOR(ADD_ELEMENT, i)                                   \
    }
#define ADD_SEEN_ELEMENTS(i)                                                \
    {                                                                       \
        const floatv element = (floatv)(values[j * HEAD + column + i]);     \
        EACH_QUERY_VECTOR(ADD_SEEN, i)                                      \
    }
#define KEEP_SUM(v, i) tile->mixed[(column + i) * TILE_V + v] = sum##i##v;
#define KEEP_SUMS(i) EACH_QUERY_VECTOR(KEEP_SUM, i)

inline void mix_values(tile_state *tile, const floatv *weights, const floatv *alpha, const float *values, const bool is_whole, int begin)
{
    __attribute__((opencl_unroll_hint(1)))
    for (int column = 0; column < HEAD; column += COLUMN_STEP) {
        EACH_COLUMN(START_SUMS)
        if (is_whole) {
            for (int j = 0; j < WIDTH; j++) {
                EACH_QUERY_VECTOR(LOAD_WEIGHT, 0)
                EACH_COLUMN(ADD_ELEMENTS)
            }
        } else {
            for (int j = 0; j < WIDTH; j++) {
                EACH_QUERY_VECTOR(LOAD_WEIGHT, 0)
                EACH_QUERY_VECTOR(LOAD_SEEN, 0)
                EACH_COLUMN(ADD_SEEN_ELEMENTS)
            }
        }
        EACH_COLUMN(KEEP_SUMS)
    }
}

inline void attend_tile_block(const cached_layout *at, __global const KV_T *k, __global const KV_T *v, __global const int *rows,
                              const query_run *run, int h, int begin, __global const float *bias, float cap, tile_state *tile)
{
    const bool is_whole = begin >= run->last_first && begin + WIDTH <= run->keys;
    floatv scores[WIDTH * TILE_V], alpha[TILE_V];
    float block[WIDTH * HEAD] __attribute__((aligned(64)));
    copy_block(at, k, at->k_stride, rows, run, begin, block);
    __attribute__((opencl_unroll_hint(1)))
    for (int j = 0; j < WIDTH; j += KEY_STEP)
        score_keys(tile->query, block + j * HEAD, scores + j * TILE_V);
    weigh_tile(tile, scores, alpha, is_whole, at, h, begin, bias, cap);
    copy_block(at, v, at->v_stride, rows, run, begin, block);
    mix_values(tile, scores, alpha, block, is_whole, begin);
}

inline void store_queries(const cached_layout *at, const tile_state *tile, __global float *out, const query_run *run, int h)
{
    __global float *const to = out + at->out_offset + run->n * at->out_stride + h * at->out_head_stride;
    for (int v = 0; v < TILE_V && v * WIDTH < run->count; v++) {
        float factor[WIDTH];
        for (int l = 0; l < WIDTH; l++)
            factor[l] = row_factor(((const float *)tile->sum)[v * WIDTH + l]);
        __attribute__((opencl_unroll_hint(1)))
        for (int column = 0; column < HEAD; column += WIDTH) {
            floatv turned[WIDTH];
            for (int i = 0; i < WIDTH; i++)
                turned[i] = tile->mixed[(column + i) * TILE_V + v];
            transpose(turned);
            for (int l = 0; l < min(WIDTH, run->count - v * WIDTH); l++)
                vector_store_f32(to + (v * WIDTH + l) * at->out_stride + column, turned[l] * factor[l]);
        }
    }
}

/* queries: number of queries of the whole launch. Work-items: (tiles of queries, steps of item_heads heads). item_heads divides
 * `heads`, and is a multiple of SHARED_HEADS. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void cached_attention_lanes(ITEM_PARAMETERS __global const float *q, __global const KV_T *k, __global const KV_T *v, __global float *out,
                            __global const int *rows, __global const int *counts, cached_layout at, int heads, int group, float scale,
                            int window, float cap, __global const float *bias, int queries, int item_heads)
{
    const int begin_head = (int)get_global_id(1) * item_heads, end_head = begin_head + item_heads;
    const int end = min(((int)get_global_id(0) + 1) * TILE, queries);
    query_run run;
    for (int n = (int)get_global_id(0) * TILE; n < end; n += run.count) {
        find_run(&at, rows, counts, n, end - n, window, &run);
        const bool is_long = run.count >= LEAST_RUN;
        for (int t = 0; t < run.count && !is_long; t++) {
            const int keys = counts[at.count_offset + n + t], first = FIRST_KEY(keys, window);
            for (int h = begin_head; h < end_head; h += SHARED_HEADS) {
                const int g = (int)((uint)h / (uint)group);
                query_state states[SHARED_HEADS];
                start_heads(&at, q, n + t, h, scale, states);
                attend_keys(&at, k + at.k_offset + g * at.k_head_stride, v + at.v_offset + g * at.v_head_stride, rows, n + t, h,
                            first / WIDTH * WIDTH, keys, first, keys, bias, cap, states);
                store_heads(&at, states, out, n + t, h);
            }
        }
        for (int h = begin_head; h < end_head && is_long; h++) {
            const int g = (int)((uint)h / (uint)group);
            __global const KV_T *const head_k = k + at.k_offset + g * at.k_head_stride;
            __global const KV_T *const head_v = v + at.v_offset + g * at.v_head_stride;
            tile_state tile;
            load_queries(&at, q, counts, &run, h, scale, window, &tile);
            for (int begin = run.first / WIDTH * WIDTH; begin < run.last_keys; begin += WIDTH)
                attend_tile_block(&at, head_k, head_v, rows, &run, h, begin, bias, cap, &tile);
            store_queries(&at, &tile, out, &run, h);
        }
    }
}
