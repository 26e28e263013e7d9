/* SPDX-License-Identifier: MIT */
/* Blocks of quantised weights as files store them (base/weight_type.h): weight e of a block is d s(e) q(e) - m t(e), s and t 1 where blocks
 * have no groups. Blocks begin at even addresses. BLOCKS is the type's number in GGUF files. */
#define BLOCKS_Q4_0 2
#define BLOCKS_Q4_1 3
#define BLOCKS_Q5_0 6
#define BLOCKS_Q5_1 7
#define BLOCKS_Q8_0 8
#define BLOCKS_Q4_K 12
#define BLOCKS_Q5_K 13
#define BLOCKS_Q6_K 14

#ifndef BLOCKS
#error "BLOCKS: number of the type of blocks"
#endif

#if BLOCKS == BLOCKS_Q8_0
#define BLOCK_BYTES 34
#elif BLOCKS == BLOCKS_Q4_0
#define BLOCK_BYTES 18
#elif BLOCKS == BLOCKS_Q4_1
#define BLOCK_BYTES 20
#elif BLOCKS == BLOCKS_Q5_0
#define BLOCK_BYTES 22
#elif BLOCKS == BLOCKS_Q5_1
#define BLOCK_BYTES 24
#elif BLOCKS == BLOCKS_Q4_K
#define BLOCK_BYTES 144
#elif BLOCKS == BLOCKS_Q5_K
#define BLOCK_BYTES 176
#elif BLOCKS == BLOCKS_Q6_K
#define BLOCK_BYTES 210
#else
#error "BLOCKS: no such type"
#endif

#define HAS_GROUPS (BLOCKS >= BLOCKS_Q4_K)
#define BLOCK_WEIGHTS (HAS_GROUPS ? 256 : 32)
#define HAS_MINIMUM (BLOCKS == BLOCKS_Q4_1 || BLOCKS == BLOCKS_Q5_1 || BLOCKS == BLOCKS_Q4_K || BLOCKS == BLOCKS_Q5_K)
#define HAS_FIFTH_BITS (BLOCKS == BLOCKS_Q5_0 || BLOCKS == BLOCKS_Q5_1 || BLOCKS == BLOCKS_Q5_K)

#define SCALE_AT (BLOCKS == BLOCKS_Q6_K ? 208 : 0)
#define FIFTH_AT (BLOCKS == BLOCKS_Q5_0 ? 2 : BLOCKS == BLOCKS_Q5_1 ? 4 : 16)
#define NIBBLES_AT                                                                                                         \
    (BLOCKS == BLOCKS_Q4_0 ? 2 : BLOCKS == BLOCKS_Q4_1 ? 4 : BLOCKS == BLOCKS_Q5_0 ? 6 : BLOCKS == BLOCKS_Q5_1 ? 8 :      \
     BLOCKS == BLOCKS_Q4_K ? 16 : BLOCKS == BLOCKS_Q5_K ? 48 : 0)
/* What is taken from stored integers that have no sign. */
#define ZERO (BLOCKS == BLOCKS_Q4_0 ? 8 : BLOCKS == BLOCKS_Q5_0 ? 16 : BLOCKS == BLOCKS_Q6_K ? 32 : 0)

inline float block_half(__global const uchar *block, int at)
{
    return vload_half(0, (__global const half *)(block + at));
}

/* The stored integer of weight e, ZERO not yet taken from it. */
inline int block_integer(__global const uchar *block, uint e)
{
#if BLOCKS == BLOCKS_Q8_0
    return as_char(block[2 + e]);
#elif BLOCKS == BLOCKS_Q6_K
    const uint part = e >> 7, p = (e >> 5) & 3, i = e & 31; /* halves of 128, quarters of these, places in a quarter */
    const uint byte = block[64 * part + 32 * (p & 1) + i], high = block[128 + 32 * part + i];
    return (int)((p < 2 ? byte & 15 : byte >> 4) | (high >> (2 * p) & 3) << 4);
#elif HAS_GROUPS
    const uint group = e >> 5, i = e & 31, byte = block[NIBBLES_AT + 32 * (group >> 1) + i];
    const uint nibble = group & 1 ? byte >> 4 : byte & 15;
#if HAS_FIFTH_BITS
    return (int)(nibble | ((uint)block[FIFTH_AT + i] >> group & 1) << 4);
#else
    return (int)nibble;
#endif
#else
    const uint byte = block[NIBBLES_AT + (e & 15)], nibble = e < 16 ? byte & 15 : byte >> 4;
#if HAS_FIFTH_BITS
    return (int)(nibble | ((uint)block[FIFTH_AT + (e >> 3)] >> (e & 7) & 1) << 4);
#else
    return (int)nibble;
#endif
#endif
}

/* Eight bytes at an even address, two in each number. */
inline uint4 byte_pairs(__global const uchar *p)
{
    return convert_uint4(vload4(0, (__global const ushort *)p));
}

/* The stored integers of weights e, e + 2, e + 4, e + 6, and of those behind them; e is a multiple of eight. */
inline void eight_integers(__global const uchar *block, uint e, int4 *even, int4 *odd)
{
#if BLOCKS == BLOCKS_Q8_0
    const int4 pairs = as_int4(byte_pairs(block + 2 + e));
    *even = pairs << 24 >> 24;
    *odd = pairs << 16 >> 24;
#else
#if BLOCKS == BLOCKS_Q6_K
    const uint part = e >> 7, p = (e >> 5) & 3, i = e & 31, shift = p < 2 ? 0 : 4;
    const uint4 pairs = byte_pairs(block + 64 * part + 32 * (p & 1) + i), high = byte_pairs(block + 128 + 32 * part + i) >> 2 * p;
    const uint4 even_high = (high & 3u) << 4u, odd_high = (high >> 8u & 3u) << 4u;
#elif HAS_GROUPS
    const uint group = e >> 5, i = e & 31, shift = group & 1 ? 4 : 0;
    const uint4 pairs = byte_pairs(block + NIBBLES_AT + 32 * (group >> 1) + i);
#if HAS_FIFTH_BITS
    const uint4 high = byte_pairs(block + FIFTH_AT + i) >> group;
    const uint4 even_high = (high & 1u) << 4u, odd_high = (high >> 8u & 1u) << 4u;
#endif
#else
    const uint shift = e < 16 ? 0 : 4;
    const uint4 pairs = byte_pairs(block + NIBBLES_AT + (e & 15));
#if HAS_FIFTH_BITS
    const uint4 high = (uint4)((uint)block[FIFTH_AT + (e >> 3)]) >> (uint4)(0, 2, 4, 6);
    const uint4 even_high = (high & 1u) << 4u, odd_high = (high >> 1u & 1u) << 4u;
#endif
#endif
    const uint4 even_low = pairs >> shift & 15u, odd_low = pairs >> (8u + shift) & 15u;
#if HAS_FIFTH_BITS || BLOCKS == BLOCKS_Q6_K
    *even = as_int4(even_low | even_high);
    *odd = as_int4(odd_low | odd_high);
#else
    *even = as_int4(even_low);
    *odd = as_int4(odd_low);
#endif
#endif
}

/* s of weight e, and t. */
inline int block_scale(__global const uchar *block, uint e)
{
#if BLOCKS == BLOCKS_Q6_K
    return as_char(block[192 + (e >> 4)]);
#elif HAS_GROUPS
    __global const uchar *pairs = block + 4;
    const uint group = e >> 5;
    return group < 4 ? pairs[group] & 63 : (pairs[group + 4] & 15) | pairs[group - 4] >> 6 << 4;
#else
    return 1;
#endif
}

inline int block_offset(__global const uchar *block, uint e)
{
#if HAS_GROUPS && HAS_MINIMUM
    __global const uchar *pairs = block + 4;
    const uint group = e >> 5;
    return group < 4 ? pairs[group + 4] & 63 : pairs[group + 4] >> 4 | pairs[group] >> 6 << 4;
#else
    return -1;
#endif
}

/* d s(e), and m t(e). */
inline float block_factor(__global const uchar *block, uint e)
{
    return block_half(block, SCALE_AT) * (float)block_scale(block, e);
}

inline float block_minimum(__global const uchar *block, uint e)
{
    return HAS_MINIMUM ? block_half(block, 2) * (float)block_offset(block, e) : 0.0f;
}

/* Weight e, of the factor and minimum that its neighbours in an aligned group of 16 have, too. */
inline float block_weight(__global const uchar *block, uint e, float factor, float minimum)
{
    const float weight = factor * (float)(block_integer(block, e) - ZERO);
    return HAS_MINIMUM ? weight - minimum : weight;
}

/* Weight c of a row of blocks. */
inline float row_weight(__global const uchar *row, uint c)
{
    __global const uchar *block = row + (long)(c / BLOCK_WEIGHTS) * BLOCK_BYTES;
    const uint e = c & (BLOCK_WEIGHTS - 1);
    return block_weight(block, e, block_factor(block, e), block_minimum(block, e));
}
