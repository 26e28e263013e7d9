/* SPDX-License-Identifier: MIT */
/* Fused attention for GPUs: a work-group has TILE queries of a head and goes through the keys in blocks of KEY_BLOCK. Both products are
 * tiles in registers, as in gemm_tiled.cl: scores = Q K^T (4 ROW_VECTORS queries x 4 KEY_VECTORS keys of an item), through local memory as
 * weights, and result += P V (4 ROW_VECTORS queries x 4 COLUMN_VECTORS columns). Vectors run along the queries, so that maxima, sums
 * and factors of rows are vectors as well; an item's next vector of queries, keys or columns is a whole group's width away, so that
 * neighbours read neighbouring words.
 *
 * - One exponential per score; the running maximum of a row is that of the whole block.
 * - KEY_HALVES 2: half of the items take half of the keys of the second product for all columns, so that an item has twice the columns
 *   (ITEMS_C items go along them) and reads less of local memory for each multiply-add; the halves are added once, in the end.
 * - Masks: a block that every query may use takes no test and one that none may use is passed over. For the others an item per key writes
 *   which queries may use it. A value that is not finite spoils the results of masked queries as well, which is mended in the end.
 * Source: Dao et al. 2022 (FlashAttention), alg. 1. */
#include "attention_group_products.cl"

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

/* Sums of a row's weights, by the item of its number: at TOPS the sum, at SHIFTS the maximum, at FACTORS what results are multiplied by. */
IN_KERNEL void add_sums(const group_tile *tile, const group_item *own, __local float *floats)
{
    float sum = 0.0f;
    for (uint i = 0; i < ITEMS_K; i++)
        sum += floats[4 * SUMS + i * TILE + own->item];
    const float empty = EMPTY_ROWS == EMPTY_ROWS_NAN && tile->k_count > 0 ? NAN : 0.0f;
    floats[4 * FACTORS + own->item] = sum == 0.0f ? empty : 1.0f / sum;
    floats[4 * TOPS + own->item] = sum;
    floats[4 * SHIFTS + own->item] = own->maximum;
}

/* Divides results by their rows' sums. Returns whether a row had no usable key, or a result is not finite. */
#define FINISH_ROW(a, b, r)                                       \
    const float4 factor##r = shared[FACTORS + OF_ROW(r)];         \
    is_strange = is_strange || any(shared[TOPS + OF_ROW(r)] == (float4)(0.0f));
#define FINISH_RESULT(c, i, r)                   \
    RESULT(c, i, r) *= factor##r;                \
    is_strange = is_strange || any(isfinite(RESULT(c, i, r)) == 0);
IN_KERNEL bool finish_results(group_item *own, __local const float4 *shared)
{
    bool is_strange = false;
    EACH_ROW(FINISH_ROW, , )
    EACH_RESULT(FINISH_RESULT)
    return is_strange;
}

#define STORE_ROW(c, r, i)                                                                                \
    if ((int)QUERY(r) + i < tile->rows && (WIDE == HEAD_V || COLUMN(c) < HEAD_V)) {                       \
        __global OUT_T *const to = tile->out + (long)(QUERY(r) + i) * tile->out_stride + COLUMN(c);       \
        STORE_OUT(to, 0, RESULT(c, 0, r).s##i);                                                           \
        STORE_OUT(to, 1, RESULT(c, 1, r).s##i);                                                           \
        STORE_OUT(to, 2, RESULT(c, 2, r).s##i);                                                           \
        STORE_OUT(to, 3, RESULT(c, 3, r).s##i);                                                           \
    }
#define STORE_ROWS(c, unused, r) STORE_ROW(c, r, 0) STORE_ROW(c, r, 1) STORE_ROW(c, r, 2) STORE_ROW(c, r, 3)
#define STORE_COLUMNS(c) EACH_ROW(STORE_ROWS, c, )
IN_KERNEL void store_results(const group_tile *tile, const group_item *own)
{
    EACH_COLUMN_VECTOR(STORE_COLUMNS)
}

/* The result of a query in a column once more, over usable keys alone. */
IN_KERNEL float mended_result(const group_tile *tile, int query, int column, float maximum)
{
    usable_keys usable = {0, tile->sequence_end, tile->key_mask, tile->key_mask_stride, tile->words, 0};
#if IS_CAUSAL
    usable.end = clamp(tile->place + query + 1, 0, tile->sequence_end);
#endif
#if HAS_WINDOW
    usable.first = max(0, window_begin(tile->place + query, tile->window));
    usable.end = min(usable.end, window_end(tile->place + query, tile->window));
#endif
#if HAS_BIAS
    usable.bias = tile->bias;
    usable.place = tile->place + query;
    usable.reach = tile->bias_reach;
#endif
#if HAS_KEEP
    usable.words += query / KEEP_QUERIES * tile->words_step;
    usable.bit = (tile->q_index + query) % KEEP_QUERIES;
#endif
    return result_of_usable(maximum, tile->scale, tile->q + (long)query * tile->q_stride, tile->k, tile->k_stride, tile->v + column,
                            tile->v_stride, &usable);
}

/* The mean of all keys' values, for a query that may use none. */
IN_KERNEL float mean_value(const group_tile *tile, int column)
{
    float value = 0.0f;
    for (int j = 0; j < tile->k_count; j++)
        value += LOAD_IN(tile->v, (long)j * tile->v_stride + column);
    return value / (float)tile->k_count;
}

/* Looks again into an item's results that its rows' sums or numbers have spoiled. floats: as add_sums left them. */
IN_KERNEL void mend_results(const group_tile *tile, const group_item *own, __local const float *floats)
{
#pragma unroll 1
    for (int at = 0; at < 4 * ROW_VECTORS * 4 * COLUMN_VECTORS; at++) {
        const int i = at / (4 * COLUMN_VECTORS), c = at % (4 * COLUMN_VECTORS);
        const int query = (int)QUERY(i / 4) + i % 4, column = (int)COLUMN(c / 4) + c % 4;
        if (query >= tile->rows || column >= HEAD_V)
            continue;
        __global OUT_T *const to = tile->out + (long)query * tile->out_stride;
        const float value = LOAD_OUT(to, column), sum = floats[4 * TOPS + query];
        bool is_spoiled = !isfinite(value) && !isnan(sum);
#if EMPTY_ROWS == EMPTY_ROWS_NAN
        is_spoiled = is_spoiled && sum != 0.0f;
#elif EMPTY_ROWS == EMPTY_ROWS_UNIFORM
        if (sum == 0.0f && tile->k_count > 0) {
            STORE_OUT(to, column, mean_value(tile, column));
            continue;
        }
#endif
        if (is_spoiled)
            STORE_OUT(to, column, mended_result(tile, query, column, floats[4 * SHIFTS + query]));
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
    ATTENTION_BEGIN(get_group_id(0) / TILE_PARTS)
    const int skipped = (int)(get_group_id(0) % TILE_PARTS) * TILE, q_index = tile.q_index + skipped;
    group_tile all = {.q = q + (long)skipped * q_stride, .k = k, .v = v, .out = out + (long)skipped * out_stride,
                      .q_stride = q_stride, .k_stride = k_stride, .v_stride = v_stride, .out_stride = out_stride, .scale = scale,
                      .rows = min(TILE, tile.q_count - skipped), .place = q_index + tile.diagonal, .q_index = q_index,
                      .k_count = tile.k_count, .window = window, .key_mask = key_mask, .key_mask_stride = key_mask_stride,
                      .words = keep, .bias = bias, .bias_reach = bias_reach};
#if HAS_KEEP
    all.words = keep_words(keep + keep_offset, &keep_step, tile.sequence, head, q_index);
    all.words_step = keep_step.block;
#endif
    find_keys(&all, keys); /* none without rows, rather than a return: PoCL would compile all that follows with and without it */
    const uint item = (uint)get_local_id(0), x = item / ITEMS_Q;
    group_item state = {.item = item, .y = item % ITEMS_Q, .x = x, .column_item = x % ITEMS_C, .half_of_keys = x / ITEMS_C,
                        .maximum = -INFINITY};
    group_item *const own = &state;
    EACH_ROW(CLEAR_SUM, , )
    EACH_RESULT(CLEAR_RESULT)
    if (item < 3)
        votes[item] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int turn = 0; /* of three places for votes: one is read, the next is written, the one after it is cleared */
    for (int first = all.begin; first < all.end; first += KEY_BLOCK) {
        bool is_mixed = HAS_KEY_MASK || HAS_KEEP || first < all.all_begin || all.all_end - first < KEY_BLOCK;
        if (is_mixed)
            mark_usable(&all, first, item, (__local uint *)(shared + USED), &votes[turn]);
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
        if (HAS_BIAS)
            load_biases(&all, first, item, floats + 4 * BIASES);
        multiply_keys(&all, first, own, shared);
        add_bias_and_mask(is_mixed, own, shared);
        weigh_scores(own, shared);
        multiply_values(&all, first, is_mixed, own, shared);
    }
    barrier(CLK_LOCAL_MEM_FENCE); /* there may have been no block */
    if (KEY_HALVES == 2)
        join_halves(own, shared);
    if (item < TILE)
        add_sums(&all, own, floats);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (own->half_of_keys > 0)
        return;
    const bool is_strange = finish_results(own, shared);
    store_results(&all, own);
    if (is_strange)
        mend_results(&all, own, floats);
}
