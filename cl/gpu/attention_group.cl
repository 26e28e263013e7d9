/* SPDX-License-Identifier: MIT */
/* Fused attention for GPUs: a work-group has TILE queries of a head and goes through the keys in blocks of KEY_BLOCK. Both products are
 * tiles in registers, as in gemm_tiled.cl. scores = Q K^T: a work-item has 4 ROW_VECTORS queries x 4 KEY_VECTORS keys; the weights made
 * from them go through local memory. result += P V: a work-item has 4 ROW_VECTORS queries x 4 COLUMN_VECTORS columns. Vectors run along the
 * queries, so that maxima, sums and factors of rows are vectors as well. In local memory the vectors of neighbouring work-items are
 * neighbours; those of one work-item lie ITEMS_Q, ITEMS_K or ITEMS_C vectors apart.
 *
 * - Each score takes one exponential; the running maximum of a row is raised once per block.
 * - KEY_HALVES 2: in the second product, half of the work-items take one half of the keys and all columns, the others the other half. So a
 *   work-item has twice as many columns and reads less local memory for each multiply-add. The two halves are added once, at the end.
 * - Masks: a block that every query may use is not tested, and one that no query may use is skipped. In other blocks, one work-item per
 *   key writes which queries may use the key. An element of v that is not finite also makes results of masked queries NaN; they are
 *   corrected at the end.
 * Source: Dao et al. 2022 (FlashAttention), alg. 1. */
#include "attention_group_tile.cl"

/* Reads four adjacent elements of a row. */
inline float4 fetch(__global const IN_T *from)
{
#if IS_ALIGNED
    return *(__global const float4 *)from;
#else
    return PASTE(vector_, LOAD_IN)(from);
#endif
}

/* Copies SLICE columns of `lines` rows to local memory, transposed: a column becomes a row of `to`. `from` points to the slice in the first
 * row, which still has `columns` columns there; columns beyond them become 0. Two neighbouring work-items read 32 bytes of a row and write
 * to different banks. */
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

/* Adds the products of a slice's columns to the scores. */
#define READ_QUERIES(unused, d, r) const float4 q##r = shared[(depth + d) * (PITCH_Q / 4) + OF_ROW(r)];
#define READ_KEYS(v) const float4 k##v = shared[K_SLICE + at_depth * (PITCH_K / 4) + v * ITEMS_K + own->x];
#define MULTIPLY_SCORE(v, j, r) SCORE(v, j, r) = k##v.s##j * q##r + SCORE(v, j, r);
#define MULTIPLY_DEPTH(d)                \
    {                                    \
        const uint at_depth = depth + d; \
        EACH_ROW(READ_QUERIES, , d)      \
        EACH_KEY_VECTOR(READ_KEYS)       \
        EACH_SCORE(MULTIPLY_SCORE)       \
    }
IN_KERNEL void multiply_slice(group_item *own, __local const float4 *shared)
{
#pragma unroll 1
    for (uint depth = 0; depth < SLICE; depth += STEP) {
        EACH_OF_STEP(MULTIPLY_DEPTH)
    }
}

/* Computes the scores of the tile with the block of keys that begins at `first`. Beyond the last query or key, that query or key is
 * repeated: such keys are masked, and results of such queries are not stored. */
#define CLEAR_SCORE(v, j, r) SCORE(v, j, r) = (float4)(0.0f);
IN_KERNEL void multiply_keys(const query_group *group, int first, group_item *own, __local float4 *shared)
{
    EACH_SCORE(CLEAR_SCORE)
#pragma unroll 1
    for (int column = 0; column < HEAD; column += SLICE) {
        load_slice((__local float *)shared, PITCH_Q, TILE, false, group->q + column, (uint)group->q_stride, (uint)(group->rows - 1),
                   (uint)(HEAD - column), group->scale, own->item);
        load_slice((__local float *)(shared + K_SLICE), PITCH_K, KEY_BLOCK, true, group->k + (long)first * group->k_stride + column,
                   (uint)group->k_stride, (uint)(group->range.end - 1 - first), (uint)(HEAD - column), 1.0f, own->item);
        barrier(CLK_LOCAL_MEM_FENCE);
        multiply_slice(own, shared);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* Loads the biases of all distances between a query of the tile and a key of the block, in the order of the distances. */
IN_KERNEL void load_biases(const query_group *group, int first, uint item, __local float *to)
{
    for (uint i = item; i < KEY_BLOCK + TILE; i += WG)
        to[i] = group->bias[bias_column(first + (int)i - (TILE - 1), group->place, group->bias_reach)];
}

/* Adds biases: four queries and four keys have seven distances. Vectors are built component by component, because Oclgrind crashes if they
 * are joined from vectors of other lengths. */
#if HAS_BIAS
#define ADD_BIAS(v, r)                                                 \
    {                                                                  \
        const uint from = BIASES + (KEY(v) + TILE - 4 - QUERY(r)) / 4; \
        const float4 low = shared[from], high = shared[from + 1];      \
        SCORE(v, 0, r) += low.wzyx;                                    \
        SCORE(v, 1, r) += (float4)(high.x, low.w, low.z, low.y);       \
        SCORE(v, 2, r) += (float4)(high.y, high.x, low.w, low.z);      \
        SCORE(v, 3, r) += (float4)(high.z, high.y, high.x, low.w);     \
    }
#else
#define ADD_BIAS(v, r)
#endif
#define KEPT(key, r) kept_queries(used[QUERY(r) / 32 * KEY_BLOCK + (key)] >> QUERY(r) % 32)
#define MASK_SCORE(v, j, r) SCORE(v, j, r) = KEPT(KEY(v) + j, r) ? SCORE(v, j, r) : (float4)(-INFINITY);
#define ADD_BIAS_AND_MASK(v, r) ADD_BIAS(v, r) FOUR_OF_ROW(MASK_SCORE, v, r)
/* Finishes each row before the next one: if all biases were added first, AMD's compiler would test all masks before them and spill the
 * results. */
IN_KERNEL void add_bias_and_mask(bool is_mixed, group_item *own, __local const float4 *shared)
{
    __local const uint *const used = (__local const uint *)(shared + USED);
    if (is_mixed) {
        EACH_ROW(EACH_KEY_VECTOR_OF_ROW, ADD_BIAS_AND_MASK, )
    } else {
        EACH_ROW(EACH_KEY_VECTOR_OF_ROW, ADD_BIAS, )
    }
}

/* Writes the maxima of a work-item's scores, which raise_maximum reads. A NaN score, which fmax ignores, gets the weight NaN later. */
#define DECLARE_TOP(a, b, r) float4 top##r = SCORE(0, 0, r);
#define RAISE_TOP(v, j, r) top##r = fmax(top##r, SCORE(v, j, r));
#define PUT_TOP(a, b, r) shared[TOPS + OF_ITEM(r)] = top##r;
IN_KERNEL void put_maxima(const group_item *own, __local float4 *shared)
{
    EACH_ROW(DECLARE_TOP, , )
    EACH_SCORE(RAISE_TOP)
    EACH_ROW(PUT_TOP, , )
}

/* Work-item r < TILE raises the maximum of row r. Writes the shift of the row's scores to SHIFTS and the factor of its earlier sums to
 * FACTORS. */
IN_KERNEL void raise_maximum(group_item *own, __local float *floats)
{
    float top = own->maximum;
    for (uint i = 0; i < ITEMS_K; i++)
        top = fmax(top, floats[4 * TOPS + i * TILE + own->item]);
    const float shift = top == -INFINITY ? 0.0f : top;
    floats[4 * SHIFTS + own->item] = shift;
    floats[4 * FACTORS + own->item] = EXP(own->maximum - shift);
    own->maximum = top;
}

/* Turns scores into weights and adds these to the sums of rows. Results so far are rescaled to the new maximum. */
#define RESCALE_ROW(a, b, r)                                                                    \
    const float4 alpha##r = shared[FACTORS + OF_ROW(r)], shift##r = shared[SHIFTS + OF_ROW(r)]; \
    float4 sum##r = shared[SUMS + OF_ITEM(r)] * alpha##r;                                       \
    EACH_RESULT_OF_ROW(RESCALE, r)
#define RESCALE(c, i, r) RESULT(c, i, r) *= alpha##r;
#define WEIGH(v, j, r)                                \
    SCORE(v, j, r) = EXP4(SCORE(v, j, r) - shift##r); \
    sum##r += SCORE(v, j, r);
#define PUT_SUM(a, b, r) shared[SUMS + OF_ITEM(r)] = sum##r;
IN_KERNEL void weigh_scores(group_item *own, __local float4 *shared)
{
    put_maxima(own, shared);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (own->item < TILE)
        raise_maximum(own, (__local float *)shared);
    barrier(CLK_LOCAL_MEM_FENCE);
    EACH_ROW(RESCALE_ROW, , )
    EACH_SCORE(WEIGH)
    EACH_ROW(PUT_SUM, , )
}

/* Loads the rows of v of the PART_KEYS keys that begin at key `part` of the block. Rows that no query may use become 0, since 0 times NaN
 * is NaN. */
#define LOAD_VALUES(c)                                                                                         \
    {                                                                                                          \
        const uint column = c * 4 * ITEMS_C + own->item % ITEMS_C * 4;                                         \
        float4 v4 = (float4)(0.0f);                                                                            \
        if (WIDE == HEAD_V || column < HEAD_V)                                                                 \
            v4 = fetch(from + (row * (uint)group->v_stride + column));                                         \
        shared[VALUES + key * (WIDE / 4) + c * ITEMS_C + own->item % ITEMS_C] = is_used ? v4 : (float4)(0.0f); \
    }
IN_KERNEL void load_values(const query_group *group, int first, uint part, bool is_mixed, const group_item *own, __local float4 *shared)
{
    __local const uint *const used = (__local const uint *)(shared + USED) + part;
    __global const IN_T *const from = group->v + (long)first * group->v_stride;
#pragma unroll 1
    for (uint key = own->item / ITEMS_C; key < PART_KEYS; key += WG / ITEMS_C) {
        const uint row = min(part + key, (uint)(group->range.end - 1 - first));
        const bool is_used = !is_mixed || (used[key] | used[(WORDS - 1) * KEY_BLOCK + key]) != 0;
        EACH_COLUMN_VECTOR(LOAD_VALUES)
    }
}

/* Adds the products of weights and values of the PART_KEYS loaded keys to the results. */
#define READ_WEIGHTS(unused, d, r) const float4 p##r = weights_at[d * (PITCH_Q / 4) + r * ITEMS_Q];
#define READ_VALUES(c) const float4 v##c = values_at[depth * (WIDE / 4) + c * ITEMS_C];
#define MULTIPLY_RESULT(c, i, r) RESULT(c, i, r) = v##c.s##i * p##r + RESULT(c, i, r);
#define MULTIPLY_KEY(d)                 \
    {                                   \
        const uint depth = d;           \
        EACH_ROW(READ_WEIGHTS, , d)     \
        EACH_COLUMN_VECTOR(READ_VALUES) \
        EACH_RESULT(MULTIPLY_RESULT)    \
    }
IN_KERNEL void multiply_part(group_item *own, __local const float4 *shared)
{
    const uint own_key = own->half_of_keys * (PART_KEYS / KEY_HALVES);
    __local const float4 *weights_at = shared + own_key * (PITCH_Q / 4) + own->y;
    __local const float4 *values_at = shared + VALUES + own_key * (WIDE / 4) + own->column_item;
#pragma unroll 1
    for (uint key = 0; key < PART_KEYS / KEY_HALVES; key += STEP) {
        EACH_OF_STEP(MULTIPLY_KEY)
        weights_at += STEP * (PITCH_Q / 4);
        values_at += STEP * (WIDE / 4);
    }
}

/* Multiplies the weights of the block of keys by their values, PART_KEYS keys at a time. */
#define PUT_WEIGHT(v, j, r) weights_to[(4 * v + j) * (PITCH_Q / 4) + r * ITEMS_Q] = SCORE(v, j, r);
IN_KERNEL void multiply_values(const query_group *group, int first, bool is_mixed, group_item *own, __local float4 *shared)
{
#pragma unroll 1
    for (uint part = 0; part < (uint)min(KEY_BLOCK, group->range.end - first); part += PART_KEYS) {
        if (KEY(0) - part < PART_KEYS) { /* all keys of a work-item are in one part */
            __local float4 *const weights_to = shared + (KEY(0) - part) * (PITCH_Q / 4) + own->y;
            EACH_SCORE(PUT_WEIGHT)
        }
        load_values(group, first, part, is_mixed, own, shared);
        barrier(CLK_LOCAL_MEM_FENCE);
        multiply_part(own, shared);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* Adds the results of the second half of the keys to those of the first. */
#define OF_RESULT(c, i, r) (((c * 4 + i) * ROW_VECTORS + r) * (ITEMS_Q * ITEMS_C) + own->column_item * ITEMS_Q + own->y)
#define LEAVE_RESULT(c, i, r) shared[OF_RESULT(c, i, r)] = RESULT(c, i, r);
#define ADD_RESULT(c, i, r) RESULT(c, i, r) += shared[OF_RESULT(c, i, r)];
IN_KERNEL void join_halves(group_item *own, __local float4 *shared)
{
    if (own->half_of_keys == 1) {
        EACH_RESULT(LEAVE_RESULT)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (own->half_of_keys == 0) {
        EACH_RESULT(ADD_RESULT)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Work-item r < TILE adds up the weights of row r. Writes the row's sum to TOPS, its maximum to SHIFTS and the factor of its results to
 * FACTORS. */
IN_KERNEL void add_sums(const query_group *group, const group_item *own, __local float *floats)
{
    float sum = 0.0f;
    for (uint i = 0; i < ITEMS_K; i++)
        sum += floats[4 * SUMS + i * TILE + own->item];
    const float empty = EMPTY_ROWS == EMPTY_ROWS_NAN && group->k_count > 0 ? NAN : 0.0f;
    floats[4 * FACTORS + own->item] = sum == 0.0f ? empty : 1.0f / sum;
    floats[4 * TOPS + own->item] = sum;
    floats[4 * SHIFTS + own->item] = own->maximum;
}

/* Divides results by their rows' sums. Returns whether a result is not finite or its row has no usable key. */
#define FINISH_ROW(a, b, r)                               \
    const float4 factor##r = shared[FACTORS + OF_ROW(r)]; \
    is_strange = is_strange || any(shared[TOPS + OF_ROW(r)] == (float4)(0.0f));
#define FINISH_RESULT(c, i, r)    \
    RESULT(c, i, r) *= factor##r; \
    is_strange = is_strange || any(isfinite(RESULT(c, i, r)) == 0);
IN_KERNEL bool finish_results(group_item *own, __local const float4 *shared)
{
    bool is_strange = false;
    EACH_ROW(FINISH_ROW, , )
    EACH_RESULT(FINISH_RESULT)
    return is_strange;
}

#define STORE_ROW(c, r, i)                                                                            \
    if ((int)QUERY(r) + i < group->rows && (WIDE == HEAD_V || COLUMN(c) < HEAD_V)) {                  \
        __global OUT_T *const to = group->out + (long)(QUERY(r) + i) * group->out_stride + COLUMN(c); \
        STORE_OUT(to, 0, RESULT(c, 0, r).s##i);                                                       \
        STORE_OUT(to, 1, RESULT(c, 1, r).s##i);                                                       \
        STORE_OUT(to, 2, RESULT(c, 2, r).s##i);                                                       \
        STORE_OUT(to, 3, RESULT(c, 3, r).s##i);                                                       \
    }
#define STORE_ROWS(c, unused, r) STORE_ROW(c, r, 0) STORE_ROW(c, r, 1) STORE_ROW(c, r, 2) STORE_ROW(c, r, 3)
#define STORE_COLUMNS(c) EACH_ROW(STORE_ROWS, c, )
IN_KERNEL void store_results(const query_group *group, const group_item *own)
{
    EACH_COLUMN_VECTOR(STORE_COLUMNS)
}

/* Corrects a work-item's results that are not finite or whose row has no usable key. floats: local memory as add_sums left it. */
IN_KERNEL void mend_results(const query_group *group, const group_item *own, __local const float *floats)
{
#pragma unroll 1
    for (int at = 0; at < 4 * ROW_VECTORS * 4 * COLUMN_VECTORS; at++) {
        const int i = at / (4 * COLUMN_VECTORS), c = at % (4 * COLUMN_VECTORS);
        const int query = (int)QUERY(i / 4) + i % 4, column = (int)COLUMN(c / 4) + c % 4;
        if (query >= group->rows || column >= HEAD_V)
            continue;
        __global OUT_T *const to = group->out + (long)query * group->out_stride;
        const float value = LOAD_OUT(to, column), sum = floats[4 * TOPS + query];
        if (!isfinite(value) || sum == 0.0f)
            STORE_OUT(to, column, settled(group, query, column, value, sum, floats[4 * SHIFTS + query]));
    }
}

/* Work-groups: (tiles times TILE_PARTS, query heads). */
#define CLEAR_SUM(a, b, r) shared[SUMS + OF_ITEM(r)] = (float4)(0.0f);
#define CLEAR_RESULT(c, i, r) RESULT(c, i, r) = (float4)(0.0f);
__kernel __attribute__((reqd_work_group_size(WG, 1, 1))) void attention_group(ATTENTION_PARAMETERS)
{
    __local float4 shared[SHARED];
    __local uint votes[3];
    __local float *const floats = (__local float *)shared;
    ATTENTION_BEGIN_QUERIES(TILE)
    const uint item = (uint)get_local_id(0), x = item / ITEMS_Q;
    group_item state = {.item = item, .y = item % ITEMS_Q, .x = x, .column_item = x % ITEMS_C, .half_of_keys = x / ITEMS_C,
                        .maximum = -INFINITY};
    group_item *const own = &state;
    EACH_ROW(CLEAR_SUM, , )
    EACH_RESULT(CLEAR_RESULT)
    if (item < 3)
        votes[item] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int turn = 0; /* index in `votes` for this block: the next block uses the next element, and the one after that is cleared now */
    for (int first = group.range.begin; first < group.range.end; first += KEY_BLOCK) {
        bool is_mixed = HAS_KEY_MASK || HAS_KEEP || first < group.range.all_begin || group.range.all_end - first < KEY_BLOCK;
        if (is_mixed)
            mark_usable(&group, first, item, (__local uint *)(shared + USED), &votes[turn]);
        barrier(CLK_LOCAL_MEM_FENCE); /* unconditional: PoCL compiles the code after a conditional barrier twice */
        if (is_mixed) {
            const uint seen = votes[turn];
            turn = turn == 2 ? 0 : turn + 1;
            if (item == 0)
                votes[turn == 2 ? 0 : turn + 1] = 0;
            if ((seen & SOME_KEPT) == 0)
                continue;
            is_mixed = (seen & SOME_MASKED) != 0;
        }
        if (HAS_BIAS)
            load_biases(&group, first, item, floats + 4 * BIASES);
        multiply_keys(&group, first, own, shared);
        add_bias_and_mask(is_mixed, own, shared);
        weigh_scores(own, shared);
        multiply_values(&group, first, is_mixed, own, shared);
    }
    barrier(CLK_LOCAL_MEM_FENCE); /* ends the loop's use of local memory, also if it had no block */
    if (KEY_HALVES == 2)
        join_halves(own, shared);
    if (item < TILE)
        add_sums(&group, own, floats);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (own->half_of_keys > 0)
        return;
    const bool is_strange = finish_results(own, shared);
    store_results(&group, own);
    if (is_strange)
        mend_results(&group, own, floats);
}
