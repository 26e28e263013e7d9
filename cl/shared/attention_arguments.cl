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

#define ATTENTION_PARAMETERS                                                    \
    __global const attention_tile *tiles, int heads_per_key_head, float scale,  \
    __global const IN_T *q, long q_offset, int q_head_stride, int q_stride,     \
    __global const IN_T *k, long k_offset, int k_head_stride, int k_stride,     \
    __global const IN_T *v, long v_offset, int v_head_stride, int v_stride,     \
    __global OUT_T *out, long out_offset, int out_head_stride, int out_stride,  \
    __global const uchar *key_mask, long key_mask_offset, int key_mask_stride,  \
    __global const int *lengths, long lengths_offset, int lengths_stride,       \
    __global const uint *keep, long keep_offset, keep_strides keep_step,        \
    int window, __global const float *bias, long bias_offset, int bias_stride, int bias_reach

/* For group (tile `index`, head): moves q and out to the tile's first query of that head, and k, v and key_mask to its sequence's first
 * key. bias goes to the element of the key at the query's position. */
#define ATTENTION_BEGIN(index)                                                             \
    const attention_tile tile = tiles[index];                                              \
    const int head = (int)get_group_id(1), key_head = head / heads_per_key_head;           \
    q += q_offset + (long)head * q_head_stride + (long)tile.q_row * q_stride;              \
    k += k_offset + (long)key_head * k_head_stride + (long)tile.k_begin * k_stride;        \
    v += v_offset + (long)key_head * v_head_stride + (long)tile.k_begin * v_stride;        \
    out += out_offset + (long)head * out_head_stride + (long)tile.q_row * out_stride;      \
    key_mask += key_mask_offset + (long)tile.k_begin * key_mask_stride;                    \
    bias += bias_offset + (long)head * bias_stride + bias_reach;                           \
    int keys = sequence_keys(&tile, lengths + lengths_offset, lengths_stride);

/* Keys of the tile's sequence that any query may use. */
inline int sequence_keys(const attention_tile *tile, __global const int *lengths, int lengths_stride)
{
#if HAS_LENGTHS
    return clamp(lengths[(long)tile->sequence * lengths_stride], 0, tile->k_count);
#else
    return tile->k_count;
#endif
}
