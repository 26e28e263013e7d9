/* SPDX-License-Identifier: MIT */
/* Fused attention for CPU devices: one work-item per (tile of queries, head), vector lanes = queries.
 *
 * With queries in lanes the softmax needs no horizontal operation, and both products become outer products of a scalar (an element of k or
 * v) with vectors that stay in registers. Per block of keys: scores^T = K Q^T, running maximum, exponentials, out^T = out^T alpha + V^T
 * P^T. The inner kernels are unrolled by macros (STEP keys or STEP columns of v at a time). Compilers that ignore unroll hints then still
 * keep the accumulators in registers, and a work-item runs few loop iterations. Source: Dao et al. 2022, alg. 1. */
#include "transpose.cl"
#include "prefetch.cl"
#include "unroll.cl"
#include "attention_arguments.cl"
#include "item.cl"

#if !defined TILE_V
#error "TILE_V: vectors of queries per tile, 1 or 2 (HEAD and HEAD_V are multiples of 16, IN_T and OUT_T float)"
#endif
#if WIDTH != 16
#error "WIDTH: 16"
#endif
#if !defined STEP
#error "STEP: keys of a score step and columns of an output step, 2, 4 or 8; registers hold STEP * TILE_V sums"
#endif

#define LANES WIDTH
#define KEY_BLOCK 64
#define BIASES (STEP + KEY_BLOCK + TILE_V * LANES) /* distances of a block's keys, and of keys that its last step repeats */

/* is_diagonal is a constant at every call: inlining makes two versions of the loops. */
#define ALWAYS_INLINE __attribute__((always_inline)) inline

#define LANE_INDEX (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define MINUS_INFINITY ((float16)(-INFINITY))

/* Masks and biases of a block of scores, by lane. The inner functions see nothing else of masks. */
typedef struct block_masks {
    __global const uchar *key_mask; /* of the sequence's first key */
    int key_mask_stride;
    int16 first_key[TILE_V];        /* window: smallest key that a lane may use */
    int16 last_key[TILE_V];         /* causal or window: largest key that a lane may use */
    __global const uint *keep;      /* words of the tile's queries */
    int keep_shift;                 /* bit of the tile's first query */
    const float *biases;            /* biases of the tile's first query: of key `bias_key`, then of the keys before it */
    int bias_key;
} block_masks;

#if HAS_KEEP
#define TILE_BITS (0xffffffffu >> (KEEP_QUERIES - TILE_V * LANES))

/* The bits of the tile's queries. */
inline uint keep_bits(const block_masks *masks, int key)
{
    return masks->keep[key] >> masks->keep_shift & TILE_BITS;
}

/* Lanes of one vector of queries whose bit is set. */
inline int16 kept_lanes(uint bits, int vector)
{
    return ((int16)((int)(bits >> vector * LANES)) & ((int16)(1) << LANE_INDEX)) != (int16)(0);
}
#endif

#define EACH_STEP(F) PASTE(ROWS_, STEP)(F)

/* to[column][vector] = scale * q^T; lanes past the tile's last query repeat it. */
inline void load_queries(__global const float *q, int stride, int count, float scale, float16 *to)
{
    for (int v = 0; v < TILE_V; v++) {
        for (int column = 0; column < HEAD; column += LANES) {
            floatv rows[WIDTH];
#define LOAD_ROW(l, s) rows[l] = vload16(0, q + (long)min(v * LANES + l, count - 1) * stride + column) * scale;
            EACH_LANE(LOAD_ROW)
#undef LOAD_ROW
            transpose(rows);
#define PUT_COLUMN(i, s) to[(column + i) * TILE_V + v] = rows[i];
            EACH_LANE(PUT_COLUMN)
#undef PUT_COLUMN
        }
    }
}

#if TILE_V == 2
#define PER_VECTOR(X, ...) X(0, __VA_ARGS__) X(1, __VA_ARGS__)
#else
#define PER_VECTOR(X, ...) X(0, __VA_ARGS__)
#endif

/* Lanes whose causal mask or window lets them use a key (-1; others 0). */
inline int16 lanes_in_reach(const block_masks *masks, int key, int vector)
{
#if HAS_WINDOW
    return (int16)(key) <= masks->last_key[vector] && (int16)(key) >= masks->first_key[vector];
#else
    return (int16)(key) <= masks->last_key[vector];
#endif
}

/* A lane's score after the bias and the masks. */
inline float16 masked_score(float16 score, int key, int vector, const bool is_diagonal, const block_masks *masks)
{
#if HAS_BIAS
    score += vload16(0, masks->biases + (masks->bias_key - key + vector * LANES));
#endif
    if (is_diagonal)
        score = lanes_in_reach(masks, key, vector) ? score : MINUS_INFINITY;
#if HAS_KEY_MASK
    if (masks->key_mask[(long)key * masks->key_mask_stride] == 0)
        score = MINUS_INFINITY;
#endif
#if HAS_KEEP
    score = kept_lanes(keep_bits(masks, key), vector) ? score : MINUS_INFINITY;
#endif
    return score;
}

/* scores[i][vector] = masked k[first + i] . q for STEP keys from `first` on; *largest is raised to the maximum. A comparison
 * instead of fmax takes one instruction, and a NaN score does not become the maximum. */
ALWAYS_INLINE void score_keys(const float16 *q, __global const float *k, int stride, int first, const bool is_diagonal,
                         const block_masks *masks, float16 *scores, float16 *largest)
{
#define DECLARE(v, j) float16 a##j##v = (float16)(0.0f);
#define DECLARE_KEY(j) PER_VECTOR(DECLARE, j)
    EACH_STEP(DECLARE_KEY)
    __global const float *row = k + (long)first * stride;
    for (int c = 0; c < HEAD; c++) {
#define LOAD_Q(v, unused) const float16 q##v = q[c * TILE_V + v];
        PER_VECTOR(LOAD_Q, 0)
#define MULTIPLY(v, j) a##j##v = fma(x, q##v, a##j##v);
#define MULTIPLY_KEY(j)                                        \
    {                                                          \
        const float16 x = (float16)(row[(long)j * stride + c]); \
        PER_VECTOR(MULTIPLY, j)                                \
    }
        EACH_STEP(MULTIPLY_KEY)
    }
#define FINISH(v, j)                                                        \
    a##j##v = masked_score(a##j##v, first + j, v, is_diagonal, masks);      \
    scores[j * TILE_V + v] = a##j##v;                                       \
    largest[v] = a##j##v > largest[v] ? a##j##v : largest[v];
#define FINISH_KEY(j) PER_VECTOR(FINISH, j)
    EACH_STEP(FINISH_KEY)
}

/* The same for a single key, in sequences of fewer than STEP keys. */
ALWAYS_INLINE void score_1_key(const float16 *q, __global const float *k, int stride, int key, const bool is_diagonal,
                        const block_masks *masks, float16 *scores, float16 *largest)
{
    __global const float *row = k + (long)key * stride;
    for (int v = 0; v < TILE_V; v++) {
        float16 a = (float16)(0.0f);
        for (int c = 0; c < HEAD; c++)
            a = fma((float16)(row[c]), q[c * TILE_V + v], a);
        a = masked_score(a, key, v, is_diagonal, masks);
        scores[v] = a;
        largest[v] = a > largest[v] ? a : largest[v];
    }
}

/* Lanes that may use a key (-1; others 0), by causal mask, window and bits. */
inline int16 used_lanes(const block_masks *masks, int key, int vector, const bool is_diagonal)
{
    int16 used = (int16)(-1);
    if (is_diagonal)
        used = lanes_in_reach(masks, key, vector);
#if HAS_KEEP
    used &= kept_lanes(keep_bits(masks, key), vector);
#endif
    return used;
}

/* out^T = out^T alpha + V^T P^T over the block's keys. If only some lanes may use a key, the others multiply 0 instead of
 * its value: their weight is 0, but 0 times NaN or infinity is not 0. */
ALWAYS_INLINE void accumulate(const float16 *weights, __global const float *v, int stride, int first, int count, const bool is_diagonal,
                       const block_masks *masks, const float16 *alpha, float16 *out)
{
    for (int column = 0; column < HEAD_V; column += STEP) {
#define START(v, i) float16 o##i##v = out[(column + i) * TILE_V + v] * alpha[v];
#define START_COLUMN(i) PER_VECTOR(START, i)
        EACH_STEP(START_COLUMN)
        __global const float *row = v + (long)first * stride + column;
        for (int j = 0; j < count; j++, row += stride) {
#if HAS_KEY_MASK
            if (masks->key_mask[(long)(first + j) * masks->key_mask_stride] == 0)
                continue;
#endif
#define LOAD_WEIGHT(v, unused) const float16 w##v = weights[j * TILE_V + v];
            PER_VECTOR(LOAD_WEIGHT, 0)
#if HAS_KEEP
            const uint bits = keep_bits(masks, first + j);
            if (bits == 0)
                continue;
            const bool lanes_differ = is_diagonal || bits != TILE_BITS;
#else
            const bool lanes_differ = is_diagonal;
#endif
            if (lanes_differ) {
#define LOAD_USED(v, unused) const int16 used##v = used_lanes(masks, first + j, v, is_diagonal);
                PER_VECTOR(LOAD_USED, 0)
#define ADD_USED(v, i) o##i##v = fma(used##v ? x : (float16)(0.0f), w##v, o##i##v);
#define ADD_USED_COLUMN(i)                        \
    {                                             \
        const float16 x = (float16)(row[i]);      \
        PER_VECTOR(ADD_USED, i)                   \
    }
                EACH_STEP(ADD_USED_COLUMN)
            } else {
#define ADD(v, i) o##i##v = fma(x, w##v, o##i##v);
#define ADD_COLUMN(i)                             \
    {                                             \
        const float16 x = (float16)(row[i]);      \
        PER_VECTOR(ADD, i)                        \
    }
                EACH_STEP(ADD_COLUMN)
            }
        }
#define STORE(v, i) out[(column + i) * TILE_V + v] = o##i##v;
#define STORE_COLUMN(i) PER_VECTOR(STORE, i)
        EACH_STEP(STORE_COLUMN)
    }
}

/* Prefetches rows first .. first + count - 1, one cache line of 16 floats at a time. */
inline void fetch_rows(__global const float *rows, int stride, int columns, int first, int count)
{
    __global const float *row = rows + (long)first * stride;
    for (int j = 0; j < count; j++, row += stride)
        for (int c = 0; c < columns; c += LANES) /* compiles to nothing where PREFETCH_FOR_READ is empty */
            PREFETCH_FOR_READ(row + c);
}

/* Attends to keys first .. first + count - 1 of a sequence with `keys` usable ones. The last step of a sequence starts earlier rather than
 * reading past the last key. It computes a few scores twice, and those before the block go to the first STEP elements of `room`. */
ALWAYS_INLINE void attend_block(const float16 *q, __global const float *k, int k_stride, __global const float *v, int v_stride, int first,
                         int count, int keys, const bool is_diagonal, const block_masks *masks, float16 *maximum, float16 *sum,
                         float16 *out, const softmax_exp_numbers *numbers)
{
    float16 room[(KEY_BLOCK + 2 * STEP) * TILE_V], largest[TILE_V], alpha[TILE_V], shift[TILE_V];
    float16 *scores = room + STEP * TILE_V;
    for (int i = 0; i < TILE_V; i++)
        largest[i] = maximum[i];
    fetch_rows(v, v_stride, HEAD_V, first, count);
    if (keys >= STEP) {
        for (int j = 0; j < count; j += STEP) {
            const int at = min(first + j, keys - STEP);
            score_keys(q, k, k_stride, at, is_diagonal, masks, scores + (at - first) * TILE_V, largest);
        }
    } else {
        for (int j = 0; j < count; j++)
            score_1_key(q, k, k_stride, first + j, is_diagonal, masks, scores + j * TILE_V, largest);
    }
    for (int i = 0; i < TILE_V; i++) { /* no usable key yet: any finite shift will do */
        shift[i] = largest[i] == MINUS_INFINITY ? (float16)(0.0f) : largest[i];
        alpha[i] = softmax_exp16_of(maximum[i] - shift[i], numbers);
        maximum[i] = largest[i];
        sum[i] *= alpha[i];
    }
#define TAKE_SUM(v, unused) float16 sum##v = sum[v];
    PER_VECTOR(TAKE_SUM, 0)
    for (int j = 0; j < count; j++) {
#define EXPONENTIAL(v, unused)                                                        \
    const float16 p##v = softmax_exp16_of(scores[j * TILE_V + v] - shift[v], numbers); \
    scores[j * TILE_V + v] = p##v;                                                     \
    sum##v += p##v;
        PER_VECTOR(EXPONENTIAL, 0)
    }
#define PUT_SUM(v, unused) sum[v] = sum##v;
    PER_VECTOR(PUT_SUM, 0)
    fetch_rows(k, k_stride, HEAD, first + count, min(KEY_BLOCK, keys - first - count));
    accumulate(scores, v, v_stride, first, count, is_diagonal, masks, alpha, out);
}

/* The factor of a row whose weights sum to `sum`. Without a usable key the sum is 0; such a row becomes zero or NaN, or fill_uniform fills
 * it. A selection instead of a branch: PoCL 6 ends the process if only one arm of a branch uses a loop's result
 * (tests/runtime/test_driver_faults.c). */
inline float16 row_factor(float16 sum, bool has_keys)
{
#if EMPTY_ROWS == EMPTY_ROWS_NAN
    const float empty = has_keys ? NAN : 0.0f;
#else
    const float empty = 0.0f;
#endif
    return sum == (float16)(0.0f) ? (float16)(empty) : (float16)(1.0f) / sum;
}

#if EMPTY_ROWS == EMPTY_ROWS_UNIFORM
inline void fill_uniform(const float16 *sum, __global const float *v, int stride, int keys, float16 *out)
{
    int empty = 0;
    for (int i = 0; i < TILE_V; i++)
        empty |= any(sum[i] == (float16)(0.0f));
    if (!empty)
        return;
    for (int column = 0; column < HEAD_V; column++) {
        float mean = 0.0f;
        for (int j = 0; j < keys; j++)
            mean += v[(long)j * stride + column];
        mean /= (float)keys;
        for (int i = 0; i < TILE_V; i++)
            out[column * TILE_V + i] = sum[i] == (float16)(0.0f) ? (float16)(mean) : out[column * TILE_V + i];
    }
}
#endif

/* Corrects infinite results (attention_infinity.cl). Its arguments are copies: arrays indexed by lane lie in memory, but the loops above
 * need maxima and masks in registers. */
inline void settle_infinities(float16 *out, const float *maximum, __global const float *q, int q_stride, const attention_tile *tile,
                              float scale, __global const float *k, int k_stride, __global const float *v, int v_stride, int keys,
                              int window, const usable_keys *all)
{
    for (int i = 0; i < HEAD_V * TILE_V; i++) {
        const int column = i / TILE_V, first = (i - column * TILE_V) * LANES;
        if (!any(isinf(out[i])))
            continue;
        float lanes[LANES];
        vstore16(out[i], 0, lanes);
        for (int l = 0; l < LANES && first + l < tile->q_count; l++) {
            const int query = first + l;
            usable_keys usable = *all;
            const int place = tile->q_index + tile->diagonal + query;
            usable.bit += query;
#if IS_CAUSAL
            usable.end = min(keys, place + 1);
#endif
#if HAS_WINDOW
            usable.first = max(0, window_begin(place, window));
            usable.end = min(usable.end, window_end(place, window));
#endif
#if HAS_BIAS
            usable.place = place;
#endif
            lanes[l] =
                settle_infinity(lanes[l], maximum[query], scale, q + (long)query * q_stride, k, k_stride, v + column, v_stride, &usable);
        }
        out[i] = vload16(0, lanes);
    }
}

inline void store_queries(const float16 *out, int count, int stride, __global float *to)
{
    for (int v = 0; v < TILE_V; v++) {
        for (int column = 0; column < HEAD_V; column += LANES) {
            floatv rows[WIDTH];
#define TAKE_COLUMN(i, s) rows[i] = out[(column + i) * TILE_V + v];
            EACH_LANE(TAKE_COLUMN)
            transpose(rows);
#define STORE_ROW(l, s)               \
    if (v * LANES + l < count)        \
        vstore16(rows[l], 0, to + (long)(v * LANES + l) * stride + column);
            EACH_LANE(STORE_ROW)
        }
    }
}

/* Work-groups: (tiles, query heads). */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void attention_vector(ITEM_PARAMETERS ATTENTION_PARAMETERS)
{
    ATTENTION_BEGIN(get_group_id(0))
    block_masks masks;
    masks.key_mask = key_mask;
    masks.key_mask_stride = key_mask_stride;
    masks.keep = keep;
    masks.keep_shift = 0;
#if HAS_KEEP
    masks.keep = keep_words(keep + keep_offset, &keep_step, tile.sequence, head, tile.q_index);
    masks.keep_shift = tile.q_index % KEEP_QUERIES; /* a tile never crosses a block */
#endif
    const int place = tile.q_index + tile.diagonal; /* position of the tile's first query among the keys */
    int begin = 0;
    int first_masked = keys; /* causal or window: from this key on some lane of the tile is masked */
#if IS_CAUSAL
    for (int i = 0; i < TILE_V; i++)
        masks.last_key[i] = place + i * LANES + LANE_INDEX;
    first_masked = clamp(place + 1, 0, keys);
    keys = clamp(place + tile.q_count, 0, keys);
#elif HAS_WINDOW
    for (int i = 0; i < TILE_V; i++)
        masks.last_key[i] = min(keys, window_end(place, window)) - 1 + i * LANES + LANE_INDEX;
    first_masked = clamp(window_end(place, window), 0, keys);
    keys = clamp(window_end(place + tile.q_count - 1, window), 0, keys);
#endif
#if HAS_WINDOW
    for (int i = 0; i < TILE_V; i++)
        masks.first_key[i] = window_begin(place, window) + i * LANES + LANE_INDEX;
    begin = max(0, window_begin(place, window));
    const int first_seen = max(0, window_begin(place + tile.q_count - 1, window)); /* every lane's window has begun at this key */
#endif
#if HAS_BIAS
    float biases[BIASES];
    masks.biases = biases;
#endif

    fetch_rows(k, k_stride, HEAD, begin, min(KEY_BLOCK, keys - begin));
    float16 queries[HEAD * TILE_V], result[HEAD_V * TILE_V], maximum[TILE_V], sum[TILE_V];
    load_queries(q, q_stride, tile.q_count, scale, queries);
    for (int i = 0; i < HEAD_V * TILE_V; i++)
        result[i] = (float16)(0.0f);
    for (int i = 0; i < TILE_V; i++) {
        maximum[i] = MINUS_INFINITY;
        sum[i] = (float16)(0.0f);
    }
    const softmax_exp_numbers numbers = softmax_exp_unknown_numbers();
    int blocks = 0;
    for (int first = begin, count; first < keys; first += count, blocks++) {
        int unmasked = first_masked - first; /* keys that all lanes may use; masked keys begin a block of their own */
        count = min(KEY_BLOCK, keys - first);
#if HAS_WINDOW
        if (first < first_seen || keys - STEP < first_seen) { /* a last step that starts earlier may reach back to masked lanes */
            unmasked = 0;
            count = min(count, max(1, (first_seen - first + STEP - 1) / STEP) * STEP);
        }
#endif
#if HAS_BIAS
        masks.bias_key = first + KEY_BLOCK - 1;
        for (int i = 0; i < BIASES; i++)
            biases[i] = bias[bias_column(masks.bias_key - i, place, bias_reach)];
#endif
        if (count > unmasked && unmasked >= STEP)
            count = unmasked / STEP * STEP;
        if (count <= unmasked)
            attend_block(queries, k, k_stride, v, v_stride, first, count, keys, false, &masks, maximum, sum, result, &numbers);
        else
            attend_block(queries, k, k_stride, v, v_stride, first, count, keys, true, &masks, maximum, sum, result, &numbers);
    }
    for (int i = 0; i < TILE_V; i++) {
        const float16 factor = row_factor(sum[i], tile.k_count > 0);
        for (int column = 0; column < HEAD_V; column++)
            result[column * TILE_V + i] *= factor;
    }
    if (blocks > 1) { /* with one block no sum was rescaled, so infinities are right */
        float16 probe = (float16)(0.0f);
        for (int i = 0; i < HEAD_V * TILE_V; i++)
            probe = fma(result[i], (float16)(0.0f), probe);
        if (any(isnan(probe))) {
            float largest[TILE_V * LANES];
            for (int i = 0; i < TILE_V; i++)
                vstore16(maximum[i], i, largest);
            usable_keys all = {0, keys, masks.key_mask, masks.key_mask_stride, masks.keep, masks.keep_shift};
#if HAS_BIAS
            all.bias = bias;
            all.reach = bias_reach;
#endif
            settle_infinities(result, largest, q, q_stride, &tile, scale, k, k_stride, v, v_stride, keys, window, &all);
        }
    }
#if EMPTY_ROWS == EMPTY_ROWS_UNIFORM
    if (tile.k_count > 0)
        fill_uniform(sum, v, v_stride, tile.k_count, result);
#endif
    store_queries(result, tile.q_count, out_stride, out);
}
