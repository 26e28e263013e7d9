/* SPDX-License-Identifier: MIT */
/* Shared by the fused attention kernels of GPUs: the queries of a work-group, the keys that they may use, exponentials, and results that
 * are computed again. TILE_PARTS work-groups share a tile of the list. */
#include "attention_arguments.cl"

#if !defined TILE_PARTS || !defined HAS_NATIVE_EXP2
#error "TILE_PARTS: work-groups to a tile; HAS_NATIVE_EXP2: native_exp2 is exact enough"
#endif

/* Exponentials of differences from a maximum. The difference comes first: fma(x, LOG2_E, -LOG2_E * maximum) would be one operation less,
 * but at the maximum it gives the rounding error of the product instead of 0, which is large for huge scores. */
#if HAS_NATIVE_EXP2
#define LOG2_E 1.44269504f
#define EXP(x) native_exp2((x) * LOG2_E)
#define EXP4(x) native_exp2((x) * LOG2_E)
#else
DEFINE_SOFTMAX_EXP(softmax_exp4, float4, int4, as_int4, as_float4)
#define EXP(x) softmax_exp(x)
#define EXP4(x) softmax_exp4(x)
#endif

/* Keys that some query may use (begin to end - 1), and keys that all queries may use except for masks (all_begin to all_end - 1). */
typedef struct key_range {
    int begin, end, all_begin, all_end;
} key_range;

/* place: position of the first of `rows` queries among the keys. */
static inline key_range keys_of_queries(int place, int rows, int keys, int window)
{
    key_range range = {0, keys, 0, keys};
#if IS_CAUSAL
    range.all_end = clamp(place + 1, 0, keys);
    range.end = clamp(place + rows, 0, keys);
#endif
#if HAS_WINDOW
    range.begin = max(0, window_begin(place, window));
    range.all_begin = max(0, window_begin(place + rows - 1, window));
    range.all_end = max(0, min(range.all_end, window_end(place, window)));
    range.end = min(range.end, window_end(place + rows - 1, window));
#endif
    if (rows <= 0) /* an early return would make PoCL compile the rest of the kernel twice */
        range.end = range.begin;
    return range;
}

/* For functions on structs whose members must stay in registers: at a real call Intel's compiler spills the registers of the caller's
 * loops. */
#define IN_KERNEL static inline __attribute__((always_inline))

/* The operands of a work-group. q and out begin at its first query, k, v and the masks at the sequence's first key. */
typedef struct query_group {
    __global const IN_T *q, *k, *v;
    __global OUT_T *out;
    int q_stride, k_stride, v_stride, out_stride;
    float scale;
    int rows;          /* queries */
    int q_index;       /* the first query, counted within its sequence */
    int place;         /* of the first query among the keys */
    int k_count, keys; /* keys of the sequence, and how many of them its length allows */
    key_range range;
    int window;
    __global const uchar *key_mask;
    int key_mask_stride;
    __global const uint *words; /* mask bits of the first query's block; stride of blocks */
    long words_step;
    __global const float *bias; /* bias of distance 0 */
    int bias_reach;
} query_group;

/* Declares `group`, the operands of a work-group (part of a tile, head). Each part of a tile has `size` queries. */
#define ATTENTION_BEGIN_QUERIES(size)                                                                                               \
    ATTENTION_BEGIN(get_group_id(0) / TILE_PARTS)                                                                                   \
    const int skipped = (int)(get_group_id(0) % TILE_PARTS) * (size), rows = min((size), tile.q_count - skipped);                   \
    const int q_index = tile.q_index + skipped, place = q_index + tile.diagonal;                                                    \
    const query_group group = {                                                                                                     \
        q + (long)skipped * q_stride, k, v, out + (long)skipped * out_stride, q_stride, k_stride, v_stride, out_stride, scale,      \
        rows, q_index, place, tile.k_count, keys, keys_of_queries(place, rows, keys, window), window, key_mask, key_mask_stride,    \
        HAS_KEEP ? keep_words(keep + keep_offset, &keep_step, tile.sequence, head, q_index) : keep, HAS_KEEP ? keep_step.block : 0, \
        bias, bias_reach};

/* Keys that a query of the group may use, except for masks, which is_usable() reads. */
IN_KERNEL usable_keys usable_by(const query_group *group, int query)
{
    usable_keys usable = {0, group->keys, group->key_mask, group->key_mask_stride,
                          group->words + query / KEEP_QUERIES * group->words_step, (group->q_index + query) % KEEP_QUERIES};
#if IS_CAUSAL
    usable.end = clamp(group->place + query + 1, 0, group->keys);
#endif
#if HAS_WINDOW
    usable.first = max(0, window_begin(group->place + query, group->window));
    usable.end = min(usable.end, window_end(group->place + query, group->window));
#endif
#if HAS_BIAS
    usable.bias = group->bias;
    usable.place = group->place + query;
    usable.reach = group->bias_reach;
#endif
    return usable;
}

/* Corrects a result that is not finite, or whose row's weights sum to 0. shift: the number that was subtracted from the row's scores. */
IN_KERNEL float settled(const query_group *group, int query, int column, float value, float sum, float shift)
{
#if EMPTY_ROWS == EMPTY_ROWS_UNIFORM
    if (sum == 0.0f && group->k_count > 0) {
        value = 0.0f;
        for (int j = 0; j < group->k_count; j++)
            value += LOAD_IN(group->v, (long)j * group->v_stride + column);
        return value / (float)group->k_count;
    }
#endif
    const bool is_empty = EMPTY_ROWS == EMPTY_ROWS_NAN ? sum == 0.0f : false;
    if (isfinite(value) || isnan(sum) || is_empty)
        return value;
    const usable_keys usable = usable_by(group, query);
    return result_of_usable(shift, group->scale, group->q + (long)query * group->q_stride, group->k, group->k_stride, group->v + column,
                            group->v_stride, &usable);
}
