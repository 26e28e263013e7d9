/* SPDX-License-Identifier: MIT */
/* Packs masks into bits: a work-item makes one word, with a bit for each of 32 queries, for one key. */
#include "types.cl"
#include "axes.cl"
#include "attention_keep_bits.cl"

#if !defined HAS_MASK || !defined HAS_PADDING || !defined HAS_ATTENTION || !defined HAS_LENGTHS || !defined IS_CAUSAL
#error "HAS_MASK, HAS_PADDING, HAS_ATTENTION, HAS_LENGTHS, IS_CAUSAL: 0 or 1"
#endif
#ifndef AXES
#error "AXES: merged batch axes"
#endif

typedef struct mask_axes {
    long dim[AXES], mask[AXES], padding[AXES], attention[AXES], lengths[AXES];
} mask_axes;

/* Element strides: query, key. */
typedef struct mask_strides {
    long query, key;
} mask_strides;

/* Work-groups: (keys, blocks of queries, batches). keep [batches, blocks, keys]. */
__kernel void attention_keep(__global uint *keep, long keep_offset, __global const uchar *mask, long mask_offset, mask_strides ms,
                             __global const uchar *padding, long padding_offset, mask_strides ps, __global const uchar *attention,
                             long attention_offset, mask_strides as, __global const int *lengths, long lengths_offset, mask_strides ls,
                             mask_axes axes, int queries, int keys)
{
    const int key = (int)get_global_id(0), block = (int)get_group_id(1), first = block * KEEP_QUERIES;
    const int count = min(KEEP_QUERIES, queries - first);
    const long batch = (long)get_group_id(2), blocks = (queries + KEEP_QUERIES - 1) / KEEP_QUERIES;
    if (key >= keys)
        return;
    mask += mask_offset + axes_offset(axes.dim, axes.mask, AXES, batch) + first * ms.query + key * ms.key;
    padding += padding_offset + axes_offset(axes.dim, axes.padding, AXES, batch) + first * ps.query + key * ps.key;
    attention += attention_offset + axes_offset(axes.dim, axes.attention, AXES, batch) + first * as.query + key * as.key;
    lengths += lengths_offset + axes_offset(axes.dim, axes.lengths, AXES, batch) + first * ls.query;
    uint word = 0;
    for (int i = 0; i < count; i++) {
        bool is_kept = true;
#if HAS_MASK
        is_kept = is_kept && mask[i * ms.query] != 0;
#endif
#if HAS_PADDING
        is_kept = is_kept && padding[i * ps.query] != 0;
#endif
#if HAS_ATTENTION
        is_kept = is_kept && attention[i * as.query] != 0;
#endif
#if HAS_LENGTHS
        is_kept = is_kept && key < lengths[i * ls.query];
#endif
#if IS_CAUSAL
        is_kept = is_kept && key <= first + i;
#endif
        word |= (uint)is_kept << i;
    }
    /* Masks that do not depend on the query have one row, which stands for all queries. Its bit fills the word. */
    keep[keep_offset + (batch * blocks + block) * keys + key] = queries == 1 ? (word ? 0xffffffffu : 0u) : word;
}
