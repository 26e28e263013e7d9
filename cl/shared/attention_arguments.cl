/* SPDX-License-Identifier: MIT */
/* Shared by the fused attention kernels: their macros and parameters, and the tile and head of a work-group. */
#include "types.cl"
#include "softmax_exp.cl"
#include "attention_tile.cl"
#include "attention_keep_bits.cl"
#include "attention_distance.cl"
#include "attention_infinity.cl"

#if !defined HEAD || !defined HEAD_V || !defined IN_T || !defined OUT_T
#error "HEAD, HEAD_V: columns of q and k, of v; IN_T, OUT_T with LOAD_IN, STORE_OUT: storage types of q, k, v and of the output"
#endif
#if !defined IS_CAUSAL || !defined HAS_KEY_MASK || !defined HAS_LENGTHS || !defined HAS_KEEP || !defined EMPTY_ROWS
#error "IS_CAUSAL, HAS_KEY_MASK, HAS_LENGTHS, HAS_KEEP: 0 or 1; EMPTY_ROWS: EMPTY_ROWS_x"
#endif

/* Offset and strides of an operand, in elements. kernel/attention.c declares the same structs. */
typedef struct attention_rows {
    long offset;
    int head_stride, stride;
} attention_rows;

typedef struct attention_layout {
    attention_rows q, k, v, out, key_mask, lengths, bias;
    int bias_reach, window, heads_per_key_head;
    float scale;
} attention_layout;

#define ATTENTION_PARAMETERS                                                                                      \
    __global const attention_tile *tiles, __global const IN_T *q, __global const IN_T *k, __global const IN_T *v, \
    __global OUT_T *out, __global const uchar *key_mask, __global const int *lengths, __global const float *bias, \
    attention_layout layout, __global const uint *keep, long keep_offset, keep_strides keep_step

/* Begins a work-group (tile `index`, head). q and out move to the tile's first query of that head, and k, v and key_mask to its sequence's
 * first key. bias moves to the bias of distance 0. */
#define ATTENTION_BEGIN(index)                                                                                                    \
    const attention_tile tile = tiles[index];                                                                                     \
    const int head = (int)get_group_id(1), key_head = head / layout.heads_per_key_head, window = layout.window;                   \
    const int q_stride = layout.q.stride, k_stride = layout.k.stride, v_stride = layout.v.stride, out_stride = layout.out.stride; \
    const int key_mask_stride = layout.key_mask.stride, bias_reach = layout.bias_reach;                                           \
    const float scale = layout.scale;                                                                                             \
    q += layout.q.offset + (long)head * layout.q.head_stride + (long)tile.q_row * q_stride;                                       \
    k += layout.k.offset + (long)key_head * layout.k.head_stride + (long)tile.k_begin * k_stride;                                 \
    v += layout.v.offset + (long)key_head * layout.v.head_stride + (long)tile.k_begin * v_stride;                                 \
    out += layout.out.offset + (long)head * layout.out.head_stride + (long)tile.q_row * out_stride;                               \
    key_mask += layout.key_mask.offset + (long)tile.k_begin * key_mask_stride;                                                    \
    bias += layout.bias.offset + (long)head * layout.bias.head_stride + bias_reach;                                               \
    int keys = sequence_keys(&tile, lengths + layout.lengths.offset, layout.lengths.stride);

/* Keys of the tile's sequence that any query may use. */
inline int sequence_keys(const attention_tile *tile, __global const int *lengths, int lengths_stride)
{
#if HAS_LENGTHS
    return clamp(lengths[(long)tile->sequence * lengths_stride], 0, tile->k_count);
#else
    return tile->k_count;
#endif
}
