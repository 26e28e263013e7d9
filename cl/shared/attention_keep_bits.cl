/* SPDX-License-Identifier: MIT */
/* Masks of attention as bits, which attention_keep.cl packs: bit i of word (t, j) says whether query 32 t + i may use key j. */
#define KEEP_QUERIES 32

/* Strides of the words, by sequence, by head and by block of 32 queries. Stride 0: all of them share their words. */
typedef struct keep_strides {
    long batch, head, block;
    int heads, unused; /* heads of a sequence in the words; `unused` fills the struct, since some drivers leave out padding at its end */
} keep_strides;

/* Words of the keys of the block that holds query `query`; the bit of that query is query % KEEP_QUERIES. */
inline __global const uint *keep_words(__global const uint *keep, const keep_strides *strides, int sequence, int head, int query)
{
    const int batch = head / strides->heads, own = head - batch * strides->heads;
    return keep + (sequence + batch) * strides->batch + own * strides->head + query / KEEP_QUERIES * strides->block;
}
