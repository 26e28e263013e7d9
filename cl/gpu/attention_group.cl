/* SPDX-License-Identifier: MIT */
/* Fused attention for GPUs: a work-group has TILE queries of a head and goes through the keys in blocks of KEY_BLOCK. Both products are
 * tiles in registers, as in gemm_tiled.cl. scores = Q K^T is 4 ROW_VECTORS queries x 4 KEY_VECTORS keys of an item; the weights made of
 * them go through local memory. result += P V is 4 ROW_VECTORS queries x 4 COLUMN_VECTORS columns. Vectors run along the queries, so that
 * maxima, sums and factors of rows are vectors as well. An item's next vector of queries, keys or columns is a whole group's width away, so
 * that neighbours read neighbouring words.
 *
 * - One exponential per score; the running maximum of a row is that of the whole block.
 * - KEY_HALVES 2: half of the items take half of the keys of the second product for all columns. So an item has twice the columns (ITEMS_C
 *   items go along them) and reads less of local memory for each multiply-add. The halves are added once, in the end.
 * - Masks: a block that every query may use takes no test and one that none may use is passed over. For the others an item per key writes
 *   which queries may use it. A value that is not finite spoils the results of masked queries as well, which is mended in the end.
 * Source: Dao et al. 2022 (FlashAttention), alg. 1. */
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
#define WORDS ((TILE + 31) / 32) /* of bits, one for each query */
#define KEY_BLOCK (4 * ITEMS_K * KEY_VECTORS)
#define ITEMS_C (ITEMS_K / KEY_HALVES)
#define WIDE (4 * ITEMS_C * COLUMN_VECTORS) /* columns of v with those that fill up the last vectors */
#define PITCH_Q (TILE + 4) /* spreads rows over the banks of local memory; keeps float4 aligned */
#define PITCH_K (KEY_BLOCK + 4)
#define SLICE_FLOATS (SLICE * (PITCH_Q + PITCH_K))
#define WEIGHTS_FLOATS (PART_KEYS * (PITCH_Q + WIDE))
#define HALF_FLOATS (KEY_HALVES == 2 ? TILE * WIDE : 0)
#define LARGER(a, b) ((a) > (b) ? (a) : (b))

/* Offsets in local memory, in vectors. It is one array: compilers then reach all of it from few registers. A slice of q
 * and k, maxima of scores, weights with a part of v, and in the end results of half of the keys take turns. */
#define K_SLICE (SLICE * PITCH_Q / 4)
#define VALUES (PART_KEYS * PITCH_Q / 4)
#define TOPS 0 /* of an item's scores, and in the end the sums of rows */
#define SUMS (LARGER(LARGER(SLICE_FLOATS, WEIGHTS_FLOATS), HALF_FLOATS) / 4) /* of an item's weights */
#define SHIFTS (SUMS + ITEMS_K * TILE / 4) /* subtracted from a row's scores */
#define FACTORS (SHIFTS + TILE / 4)        /* factors of a row's results */
#define USED (FACTORS + TILE / 4)          /* bits of the queries that may use a key, WORDS for each key */
#define BIASES (USED + WORDS * KEY_BLOCK / 4)
#define SHARED (BIASES + (HAS_BIAS ? (KEY_BLOCK + TILE) / 4 : 0))

/* Votes about a block's masks. */
#define SOME_KEPT 1u
#define SOME_MASKED 2u

/* Text repetition: named vectors become registers. */
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
#define STEP (MANY_REGISTERS ? 4 : 2) /* steps of inner loops in a turn */
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

/* The first query of an item's vector r of queries, and the first key of its vector v. */
#define QUERY(r) ((r) * 4 * ITEMS_Q + 4 * y)
#define KEY(v) (4 * (KEY_VECTORS * x + (v)))
#define KEY_PLACE(key) ((key) / 4 % KEY_VECTORS * 4 * ITEMS_K + (key) / (4 * KEY_VECTORS) * 4 + (key) % 4) /* in a line of a slice */
#define COLUMN(c) ((c) * 4 * ITEMS_C + 4 * column_item)

/* Four neighbours of a row. */
inline float4 fetch(__global const IN_T *from)
{
#if IS_ALIGNED
    return *(__global const float4 *)from;
#else
    return PASTE(vector_, LOAD_IN)(from);
#endif
}

/* Columns of a slice (from points to the first) of `lines` rows, transposed: four lines of local memory for four columns; beyond `columns`
 * there are zeros. Two neighbouring items read 32 bytes of a row and write to banks that differ. */
inline void load_slice(__local float *to, uint pitch, uint lines, bool are_keys, __global const IN_T *from, uint stride, uint last_line,
                       uint columns, float factor, uint item)
{
#pragma unroll 1
    for (uint line = item / 2; line < lines; line += WG / 2) {
        const uint at = min(line, last_line) * stride + item % 2 * 4;
        __local float *const place = to + item % 2 * 4 * pitch + (are_keys ? KEY_PLACE(line) : line);
#pragma unroll
        for (uint depth = 0; depth < SLICE; depth += 8) {
            float4 v = (float4)(0.0f);
            if (HEAD % SLICE == 0 || item % 2 * 4 + depth < columns)
                v = fetch(from + at + depth) * factor;
            place[depth * pitch] = v.x;
            place[(depth + 1) * pitch] = v.y;
            place[(depth + 2) * pitch] = v.z;
            place[(depth + 3) * pitch] = v.w;
        }
    }
}

/* Bits of word w of a row of them: those from bit `first` of the row up, and those below `end`. */
inline uint bits_from(int first, int w)
{
    return first <= 32 * w ? ~0u : first > 32 * w + 31 ? 0u : ~0u << (first - 32 * w);
}

inline uint bits_below(int end, int w)
{
    return ~bits_from(end, w);
}

/* Which of four queries are kept: bit 0 of bits is the first. */
inline int4 kept_queries(uint bits)
{
    return ((int4)((int)bits) & (int4)(1, 2, 4, 8)) != (int4)(0);
}

/* Work-groups: (tiles times TILE_PARTS, query heads). */
__kernel __attribute__((reqd_work_group_size(WG, 1, 1))) void attention_group(ATTENTION_PARAMETERS)
{
    __local float4 shared[SHARED];
    __local uint votes[3];
    __local float *const floats = (__local float *)shared;
    __local uint *const used = (__local uint *)(shared + USED);

    ATTENTION_BEGIN_QUERIES(TILE)
    const uint item = (uint)get_local_id(0), y = item % ITEMS_Q, x = item / ITEMS_Q;
    const uint column_item = x % ITEMS_C, half_of_keys = x / ITEMS_C;

#define OF_ITEM(r) (x * (TILE / 4) + r * ITEMS_Q + y) /* in an array of rows for each item along the keys */
#define OF_ROW(r) (r * ITEMS_Q + y)
#define START_SUM(a, b, r) shared[SUMS + OF_ITEM(r)] = (float4)(0.0f);
    EACH_ROW(START_SUM, , )
    float maximum = -INFINITY; /* of the own row */
#define DECLARE_RESULT(c, i, r) float4 o##c##_##i##_##r = (float4)(0.0f);
    EACH_RESULT(DECLARE_RESULT)

    if (item < 3)
        votes[item] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int turn = 0; /* of three places for votes: one is read, the next is written, the one after it is cleared */
    for (int first = range.begin; first < range.end; first += KEY_BLOCK) {
        bool is_mixed = HAS_KEY_MASK || HAS_KEEP || first < range.all_begin || range.all_end - first < KEY_BLOCK;
        if (is_mixed) {
            for (uint i = item; i < KEY_BLOCK; i += WG) {
                const int key = first + (int)i;
                uint vote = 0;
                bool is_usable = key < range.end;
#if HAS_KEY_MASK
                is_usable = is_usable && key_mask[(long)key * key_mask_stride] != 0;
#endif
                for (int w = 0; w < WORDS; w++) {
                    uint bits = is_usable ? ~0u : 0u;
#if IS_CAUSAL
                    bits &= bits_from(sub_sat(key, place), w);
#endif
#if HAS_WINDOW
                    bits &= bits_from(sub_sat(sub_sat(key, window - 1), place), w);
                    bits &= bits_below(sub_sat(add_sat(key, window), place), w);
#endif
#if HAS_KEEP
                    if (is_usable && 32 * w < rows)
                        bits &= words[w * keep_step.block + key] >> q_index % KEEP_QUERIES;
#endif
                    const uint own = bits_below(rows, w);
                    used[w * KEY_BLOCK + i] = bits & own;
                    vote |= (bits & own ? SOME_KEPT : 0u) | (~bits & own ? SOME_MASKED : 0u);
                }
                atomic_or(&votes[turn], vote);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE); /* for every block: PoCL compiles what follows a barrier under a condition twice */
        if (is_mixed) {
            const uint seen = votes[turn];
            turn = turn == 2 ? 0 : turn + 1;
            if (item == 0)
                votes[turn == 2 ? 0 : turn + 1] = 0;
            if ((seen & SOME_KEPT) == 0)
                continue;
            is_mixed = (seen & SOME_MASKED) != 0;
        }

        /* Scores. Rows beyond the last query and key repeat it; the keys are masked and such queries never stored. */
#if HAS_BIAS
        for (uint i = item; i < KEY_BLOCK + TILE; i += WG)
            floats[4 * BIASES + i] = bias[bias_column(first + (int)i - (TILE - 1), place, bias_reach)];
#endif
#define DECLARE_SCORE(v, j, r) float4 s##v##_##j##_##r = (float4)(0.0f);
        EACH_SCORE(DECLARE_SCORE)
#pragma unroll 1
        for (int column = 0; column < HEAD; column += SLICE) {
            load_slice(floats, PITCH_Q, TILE, false, q + column, (uint)q_stride, (uint)(rows - 1), (uint)(HEAD - column), scale, item);
            load_slice(floats + 4 * K_SLICE, PITCH_K, KEY_BLOCK, true, k + (long)first * k_stride + column, (uint)k_stride,
                       (uint)(range.end - 1 - first), (uint)(HEAD - column), 1.0f, item);
            barrier(CLK_LOCAL_MEM_FENCE);
#define READ_QUERIES(unused, d, r) const float4 q##r = shared[(depth + d) * (PITCH_Q / 4) + OF_ROW(r)];
#define READ_KEYS(v) const float4 k##v = shared[K_SLICE + at_depth * (PITCH_K / 4) + v * ITEMS_K + x];
#define MULTIPLY_SCORE(v, j, r) s##v##_##j##_##r = k##v.s##j * q##r + s##v##_##j##_##r;
#define MULTIPLY_DEPTH(d)                    \
    {                                        \
        const uint at_depth = depth + d;      \
        EACH_ROW(READ_QUERIES, , d)          \
        EACH_KEY_VECTOR(READ_KEYS)           \
        EACH_SCORE(MULTIPLY_SCORE)           \
    }
#pragma unroll 1
            for (uint depth = 0; depth < SLICE; depth += STEP) {
                EACH_OF_STEP(MULTIPLY_DEPTH)
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        /* Four queries and four keys have seven distances, which lie side by side. Component by component: Oclgrind crashes at joined
         * vectors of other lengths. */
#if HAS_BIAS
#define ADD_BIAS(v, r)                                                                                          \
    {                                                                                                           \
        const uint from = BIASES + (KEY(v) + TILE - 4 - QUERY(r)) / 4;                                          \
        const float4 low = shared[from], high = shared[from + 1];                                               \
        s##v##_0_##r += low.wzyx;                                                                               \
        s##v##_1_##r += (float4)(high.x, low.w, low.z, low.y);                                                  \
        s##v##_2_##r += (float4)(high.y, high.x, low.w, low.z);                                                 \
        s##v##_3_##r += (float4)(high.z, high.y, high.x, low.w);                                                \
    }
#else
#define ADD_BIAS(v, r)
#endif
#define KEPT(key, r) kept_queries(used[QUERY(r) / 32 * KEY_BLOCK + (key)] >> QUERY(r) % 32)
#define MASK_SCORE(v, j, r) s##v##_##j##_##r = KEPT(KEY(v) + j, r) ? s##v##_##j##_##r : (float4)(-INFINITY);
#define ADD_BIAS_AND_MASK(v, r) ADD_BIAS(v, r) FOUR_OF_ROW(MASK_SCORE, v, r)
#if KEY_VECTORS == 2
#define EACH_KEY_VECTOR_OF_ROW(F, unused, r) F(0, r) F(1, r)
#else
#define EACH_KEY_VECTOR_OF_ROW(F, unused, r) F(0, r)
#endif
        /* Each row is finished before the next one: if all biases were added first, AMD's compiler would test all masks before them and
         * spill the results. */
        if (is_mixed) {
            EACH_ROW(EACH_KEY_VECTOR_OF_ROW, ADD_BIAS_AND_MASK, )
        } else {
            EACH_ROW(EACH_KEY_VECTOR_OF_ROW, ADD_BIAS, )
        }

        /* Maxima of the rows: fmax passes over a NaN, whose weight below is NaN. */
#define DECLARE_TOP(a, b, r) float4 top##r = s0_0_##r;
        EACH_ROW(DECLARE_TOP, , )
#define RAISE_TOP(v, j, r) top##r = fmax(top##r, s##v##_##j##_##r);
        EACH_SCORE(RAISE_TOP)
#define PUT_TOP(a, b, r) shared[TOPS + OF_ITEM(r)] = top##r;
        EACH_ROW(PUT_TOP, , )
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < TILE) {
            float top = maximum;
            for (uint i = 0; i < ITEMS_K; i++)
                top = fmax(top, floats[4 * TOPS + i * TILE + item]);
            const float shift = top == -INFINITY ? 0.0f : top;
            floats[4 * SHIFTS + item] = shift;
            floats[4 * FACTORS + item] = EXP(maximum - shift);
            maximum = top;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#define RESCALE_ROW(a, b, r)                                         \
    const float4 alpha##r = shared[FACTORS + OF_ROW(r)], shift##r = shared[SHIFTS + OF_ROW(r)]; \
    float4 sum##r = shared[SUMS + OF_ITEM(r)] * alpha##r;                     \
    EACH_RESULT_OF_ROW(RESCALE, r)
#define RESCALE(c, i, r) o##c##_##i##_##r *= alpha##r;
        EACH_ROW(RESCALE_ROW, , )
#define WEIGH(v, j, r)                                                  \
    s##v##_##j##_##r = EXP4(s##v##_##j##_##r - shift##r);       \
    sum##r += s##v##_##j##_##r;
        EACH_SCORE(WEIGH)
#define PUT_SUM(a, b, r) shared[SUMS + OF_ITEM(r)] = sum##r;
        EACH_ROW(PUT_SUM, , )

        /* Weights times values. Rows of v that no query may use are 0, so that 0 times their content is 0. */
        __global const IN_T *const v_block = v + (long)first * v_stride;
#pragma unroll 1
        for (uint part = 0; part < (uint)min(KEY_BLOCK, range.end - first); part += PART_KEYS) {
#define PUT_WEIGHT(v, j, r) weights_to[(4 * v + j) * (PITCH_Q / 4) + r * ITEMS_Q] = s##v##_##j##_##r;
            if (KEY(0) - part < PART_KEYS) { /* those of an item are in one part */
                __local float4 *const weights_to = shared + (KEY(0) - part) * (PITCH_Q / 4) + y;
                EACH_SCORE(PUT_WEIGHT)
            }
#pragma unroll 1
            for (uint key = item / ITEMS_C; key < PART_KEYS; key += WG / ITEMS_C) {
                const uint row = min(part + key, (uint)(range.end - 1 - first));
                const bool is_used = !is_mixed || (used[part + key] | used[(WORDS - 1) * KEY_BLOCK + part + key]) != 0;
#define LOAD_VALUES(c)                                                                                       \
    {                                                                                                        \
        const uint column = c * 4 * ITEMS_C + item % ITEMS_C * 4;                                            \
        float4 v4 = (float4)(0.0f);                                                                          \
        if (WIDE == HEAD_V || column < HEAD_V)                                                               \
            v4 = fetch(v_block + (row * (uint)v_stride + column));                                           \
        shared[VALUES + key * (WIDE / 4) + c * ITEMS_C + item % ITEMS_C] = is_used ? v4 : (float4)(0.0f);    \
    }
                EACH_COLUMN_VECTOR(LOAD_VALUES)
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            const uint own_key = half_of_keys * (PART_KEYS / KEY_HALVES);
            __local const float4 *weights_at = shared + own_key * (PITCH_Q / 4) + y;
            __local const float4 *values_at = shared + VALUES + own_key * (WIDE / 4) + column_item;
#define READ_WEIGHTS(unused, d, r) const float4 p##r = weights_at[d * (PITCH_Q / 4) + r * ITEMS_Q];
#define READ_VALUES(c) const float4 v##c = values_at[depth * (WIDE / 4) + c * ITEMS_C];
#define MULTIPLY_RESULT(c, i, r) o##c##_##i##_##r = v##c.s##i * p##r + o##c##_##i##_##r;
#define MULTIPLY_KEY(d)                      \
    {                                        \
        const uint depth = d;                 \
        EACH_ROW(READ_WEIGHTS, , d)          \
        EACH_COLUMN_VECTOR(READ_VALUES)      \
        EACH_RESULT(MULTIPLY_RESULT)         \
    }
#pragma unroll 1
            for (uint key = 0; key < PART_KEYS / KEY_HALVES; key += STEP) {
                EACH_OF_STEP(MULTIPLY_KEY)
                weights_at += STEP * (PITCH_Q / 4);
                values_at += STEP * (WIDE / 4);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }

    barrier(CLK_LOCAL_MEM_FENCE); /* there may have been no block */
#if KEY_HALVES == 2
#define OF_RESULT(c, i, r) (((c * 4 + i) * ROW_VECTORS + r) * (ITEMS_Q * ITEMS_C) + column_item * ITEMS_Q + y)
#define LEAVE_RESULT(c, i, r) shared[OF_RESULT(c, i, r)] = o##c##_##i##_##r;
#define ADD_RESULT(c, i, r) o##c##_##i##_##r += shared[OF_RESULT(c, i, r)];
    if (half_of_keys == 1) {
        EACH_RESULT(LEAVE_RESULT)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (half_of_keys == 0) {
        EACH_RESULT(ADD_RESULT)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    if (item < TILE) {
        float sum = 0.0f;
        for (uint i = 0; i < ITEMS_K; i++)
            sum += floats[4 * SUMS + i * TILE + item];
        const float empty = EMPTY_ROWS == EMPTY_ROWS_NAN && tile.k_count > 0 ? NAN : 0.0f;
        floats[4 * FACTORS + item] = sum == 0.0f ? empty : 1.0f / sum;
        floats[4 * TOPS + item] = sum;
        floats[4 * SHIFTS + item] = maximum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (half_of_keys > 0)
        return;
    bool is_strange = false; /* a row without a usable key, or a number that is not finite */
#define FINISH_ROW(a, b, r)                                                     \
    const float4 factor##r = shared[FACTORS + OF_ROW(r)];                                \
    is_strange = is_strange || any(shared[TOPS + OF_ROW(r)] == (float4)(0.0f));
    EACH_ROW(FINISH_ROW, , )
#define FINISH_RESULT(c, i, r)                   \
    o##c##_##i##_##r *= factor##r;               \
    is_strange = is_strange || any(isfinite(o##c##_##i##_##r) == 0);
    EACH_RESULT(FINISH_RESULT)
#define STORE_ROW(c, r, i)                                                                  \
    if ((int)QUERY(r) + i < rows && (WIDE == HEAD_V || COLUMN(c) < HEAD_V)) {               \
        __global OUT_T *const to = out + (long)(QUERY(r) + i) * out_stride + COLUMN(c);     \
        STORE_OUT(to, 0, o##c##_0_##r.s##i);                                                \
        STORE_OUT(to, 1, o##c##_1_##r.s##i);                                                \
        STORE_OUT(to, 2, o##c##_2_##r.s##i);                                                \
        STORE_OUT(to, 3, o##c##_3_##r.s##i);                                                \
    }
#define STORE_ROWS(c, unused, r) STORE_ROW(c, r, 0) STORE_ROW(c, r, 1) STORE_ROW(c, r, 2) STORE_ROW(c, r, 3)
#define STORE_COLUMNS(c) EACH_ROW(STORE_ROWS, c, )
    EACH_COLUMN_VECTOR(STORE_COLUMNS)
    if (!is_strange)
        return;
#pragma unroll 1
    for (int at = 0; at < 4 * ROW_VECTORS * 4 * COLUMN_VECTORS; at++) {
        const int i = at / (4 * COLUMN_VECTORS), c = at % (4 * COLUMN_VECTORS);
        const int query = (int)QUERY(i / 4) + i % 4, column = (int)COLUMN(c / 4) + c % 4;
        if (query >= rows || column >= HEAD_V)
            continue;
        __global OUT_T *const to = out + (long)query * out_stride;
        const float value = LOAD_OUT(to, column), sum = floats[4 * TOPS + query];
        if (isfinite(value) && sum != 0.0f)
            continue;
        const usable_keys usable = USABLE_BY_QUERY(query);
        STORE_OUT(to, column, settled(value, sum, floats[4 * SHIFTS + query], tile.k_count, scale, q + (long)query * q_stride, k, k_stride,
                                      v + column, v_stride, &usable));
    }
}
