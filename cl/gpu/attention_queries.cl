/* SPDX-License-Identifier: MIT */
/* Shared by the fused attention kernels of GPUs: the queries of a work-group, the keys that they may use, exponentials, and results that
 * are computed again. TILE_PARTS work-groups share a tile of the list. */
#include "attention_arguments.cl"

#if !defined TILE_PARTS || !defined HAS_NATIVE_EXP2
#error "TILE_PARTS: work-groups to a tile; HAS_NATIVE_EXP2: native_exp2 is exact enough"
#endif

/* Exponentials of differences from a maximum. The difference comes first: fma(x, LOG2_E, -LOG2_E * maximum) would be one operation less,
 * but at the maximum itself it is the rounding of the product, which for huge scores is anything but 0. */
#if HAS_NATIVE_EXP2
#define LOG2_E 1.44269504f
#define EXP(x) native_exp2((x) * LOG2_E)
#define EXP4(x) native_exp2((x) * LOG2_E)
#else
DEFINE_SOFTMAX_EXP(softmax_exp4, float4, int4, as_int4, as_float4)
#define EXP(x) softmax_exp(x)
#define EXP4(x) softmax_exp4(x)
#endif

/* Keys that some query may use: begin to end; that all may use: all_begin to all_end, but for masks. */
typedef struct key_range {
    int begin, end, all_begin, all_end;
} key_range;

/* place: of the first of `rows` queries among the keys. */
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
    if (rows <= 0) /* no return: PoCL would compile all that follows with and without it */
        range.end = range.begin;
    return range;
}

/* Group (part of a tile, head) of groups of `size` queries: moves q and out on to its first query, of `rows`. */
#define ATTENTION_BEGIN_QUERIES(size)                                                                                           \
    ATTENTION_BEGIN(get_group_id(0) / TILE_PARTS)                                                                                \
    const int skipped = (int)(get_group_id(0) % TILE_PARTS) * (size), rows = min((size), tile.q_count - skipped);                \
    const int q_index = tile.q_index + skipped, place = q_index + tile.diagonal;                                                 \
    const key_range range = keys_of_queries(place, rows, keys, window);                                                          \
    __global const uint *const words = HAS_KEEP ? keep_words(keep + keep_offset, &keep_step, tile.sequence, head, q_index) : keep; \
    q += (long)skipped * q_stride;                                                                                               \
    out += (long)skipped * out_stride;

/* Keys, of `keys` in the sequence, that a query of the group may use, but for masks which is_usable() reads. */
#define USABLE_BY_QUERY(query)                                                                                                  \
    usable_by(place + (query), keys, key_mask, key_mask_stride, words + (HAS_KEEP ? (query) / KEEP_QUERIES * keep_step.block : 0), \
              (q_index + (query)) % KEEP_QUERIES, window, bias, bias_reach)

/* Inline always: Intel's compiler spills registers of the caller's loops otherwise. */
__attribute__((always_inline)) inline usable_keys usable_by(int place, int keys, __global const uchar *key_mask, int key_mask_stride,
                                                            __global const uint *words, int bit, int window, __global const float *bias,
                                                            int bias_reach)
{
    usable_keys usable = {0, keys, key_mask, key_mask_stride, words, bit};
#if IS_CAUSAL
    usable.end = clamp(place + 1, 0, keys);
#endif
#if HAS_WINDOW
    usable.first = max(0, window_begin(place, window));
    usable.end = min(usable.end, window_end(place, window));
#endif
#if HAS_BIAS
    usable.bias = bias;
    usable.place = place;
    usable.reach = bias_reach;
#endif
    return usable;
}

/* Corrects a result that is not finite, or whose row's weights sum to 0. shift: the number that was subtracted from the row's scores. v:
 * the column of the first of k_count values. */
__attribute__((always_inline)) inline float settled(float value, float sum, float shift, int k_count, float scale, __global const IN_T *q,
                                                    __global const IN_T *k, int k_stride, __global const IN_T *v, int v_stride,
                                                    const usable_keys *usable)
{
#if EMPTY_ROWS == EMPTY_ROWS_UNIFORM
    if (sum == 0.0f && k_count > 0) {
        value = 0.0f;
        for (int j = 0; j < k_count; j++)
            value += LOAD_IN(v, (long)j * v_stride);
        return value / (float)k_count;
    }
#endif
    const bool is_empty = EMPTY_ROWS == EMPTY_ROWS_NAN ? sum == 0.0f : false;
    if (isfinite(value) || isnan(sum) || is_empty)
        return value;
    return result_of_usable(shift, scale, q, k, k_stride, v, v_stride, usable);
}
