/* SPDX-License-Identifier: MIT */
/* Blocks of quantised weights as files store them (base/weight_type.h). Weight e of a block is d s(e) q(e) - m t(e); types without groups
 * have s = 1 and t = -1, types without a minimum have no m. Blocks begin at even addresses. BLOCKS is the type's number in GGUF files. */
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
/* Zero point: subtracted from stored integers that have no sign. */
#define ZERO (BLOCKS == BLOCKS_Q4_0 ? 8 : BLOCKS == BLOCKS_Q5_0 ? 16 : BLOCKS == BLOCKS_Q6_K ? 32 : 0)

inline float block_half(__global const uchar *block, int at)
{
    return vload_half(0, (__global const half *)(block + at));
}

/* The stored integer of weight e, before ZERO is subtracted. */
inline int block_integer(__global const uchar *block, uint e)
{
#if BLOCKS == BLOCKS_Q8_0
    return as_char(block[2 + e]);
#elif BLOCKS == BLOCKS_Q6_K
    const uint part = e >> 7, p = (e >> 5) & 3, i = e & 31; /* half of 128 weights, quarter of that half, index in the quarter */
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

/* The stored bytes of weights e to e + 7 and of their scales; e is a multiple of eight. Members that a type of blocks does
 * not use are not set. */
typedef struct stored_eight {
    uint4 pairs, high;     /* two bytes in each number */
    ushort factor, offset; /* d and m */
    uchar scale[3];
} stored_eight;

inline uint4 byte_pairs_at(__global const uchar *p, bool is_aligned)
{
    return is_aligned ? convert_uint4(as_ushort4(*(__global const uint2 *)p)) : byte_pairs(p);
}

/* Loads the bytes of the integers alone. is_aligned: blocks, and the parts of them that are read here, begin at multiples of eight
 * bytes. */
inline stored_eight load_integers(__global const uchar *block, uint e, bool is_aligned)
{
    stored_eight s;
#if BLOCKS == BLOCKS_Q8_0
    s.pairs = byte_pairs_at(block + 2 + e, is_aligned);
#elif BLOCKS == BLOCKS_Q6_K
    const uint part = e >> 7, p = (e >> 5) & 3, i = e & 31;
    s.pairs = byte_pairs_at(block + 64 * part + 32 * (p & 1) + i, is_aligned);
    s.high = byte_pairs_at(block + 128 + 32 * part + i, is_aligned);
#elif HAS_GROUPS
    s.pairs = byte_pairs_at(block + NIBBLES_AT + 32 * (e >> 6) + (e & 31), is_aligned);
#if HAS_FIFTH_BITS
    s.high = byte_pairs_at(block + FIFTH_AT + (e & 31), is_aligned);
#endif
#else
    s.pairs = byte_pairs_at(block + NIBBLES_AT + (e & 15), is_aligned);
#if HAS_FIFTH_BITS
    s.high = (uint4)((uint)block[FIFTH_AT + (e >> 3)]);
#endif
#endif
    return s;
}

/* The stored integers of weights e + 2 i (even) and e + 2 i + 1 (odd), i < 4. */
inline void integers_of(stored_eight s, uint e, int4 *even, int4 *odd)
{
#if BLOCKS == BLOCKS_Q8_0
    const int4 pairs = as_int4(s.pairs);
    *even = pairs << 24 >> 24;
    *odd = pairs << 16 >> 24;
#else
#if BLOCKS == BLOCKS_Q6_K
    const uint p = (e >> 5) & 3, shift = p < 2 ? 0 : 4;
    const uint4 high = s.high >> 2 * p;
    const uint4 even_high = (high & 3u) << 4u, odd_high = (high >> 8u & 3u) << 4u;
#elif HAS_GROUPS
    const uint group = e >> 5, shift = group & 1 ? 4 : 0;
#if HAS_FIFTH_BITS
    const uint4 high = s.high >> group;
    const uint4 even_high = (high & 1u) << 4u, odd_high = (high >> 8u & 1u) << 4u;
#endif
#else
    const uint shift = e < 16 ? 0 : 4;
#if HAS_FIFTH_BITS
    const uint4 high = s.high >> (uint4)(0, 2, 4, 6);
    const uint4 even_high = (high & 1u) << 4u, odd_high = (high >> 1u & 1u) << 4u;
#endif
#endif
    const uint4 even_low = s.pairs >> shift & 15u, odd_low = s.pairs >> (8u + shift) & 15u;
#if HAS_FIFTH_BITS || BLOCKS == BLOCKS_Q6_K
    *even = as_int4(even_low | even_high);
    *odd = as_int4(odd_low | odd_high);
#else
    *even = as_int4(even_low);
    *odd = as_int4(odd_low);
#endif
#endif
}

/* Loads the bytes that hold the scale and the offset of weight e. */
inline void load_scale(__global const uchar *block, uint e, stored_eight *s)
{
#if BLOCKS == BLOCKS_Q6_K
    s->scale[0] = block[192 + (e >> 4)];
#elif HAS_GROUPS
    __global const uchar *pairs = block + 4;
    const uint group = e >> 5;
    s->scale[0] = pairs[group];
    s->scale[1] = pairs[group + 4];
    s->scale[2] = pairs[group < 4 ? group : group - 4];
#endif
}

/* s of weight e, and (offset_of) t. */
inline int scale_of(const stored_eight *s, uint e)
{
#if BLOCKS == BLOCKS_Q6_K
    return as_char(s->scale[0]);
#elif HAS_GROUPS
    return e >> 5 < 4 ? s->scale[0] & 63 : (s->scale[1] & 15) | s->scale[2] >> 6 << 4;
#else
    return 1;
#endif
}

inline int offset_of(const stored_eight *s, uint e)
{
#if HAS_GROUPS && HAS_MINIMUM
    return e >> 5 < 4 ? s->scale[1] & 63 : s->scale[1] >> 4 | s->scale[0] >> 6 << 4;
#else
    return -1;
#endif
}

inline int block_scale(__global const uchar *block, uint e)
{
    stored_eight s;
    load_scale(block, e, &s);
    return scale_of(&s, e);
}

inline int block_offset(__global const uchar *block, uint e)
{
    stored_eight s;
    load_scale(block, e, &s);
    return offset_of(&s, e);
}

/* d s(e), and (block_minimum) m t(e). */
inline float block_factor(__global const uchar *block, uint e)
{
    return block_half(block, SCALE_AT) * (float)block_scale(block, e);
}

inline float block_minimum(__global const uchar *block, uint e)
{
    return HAS_MINIMUM ? block_half(block, 2) * (float)block_offset(block, e) : 0.0f;
}

/* Weight e from its factor and minimum, which an aligned group of 16 weights shares. */
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

/* Weights c + 2 i (even) and c + 2 i + 1 (odd) of a row of blocks, i < 4; c is a multiple of eight. */
typedef struct eight_weights {
    float4 even, odd;
} eight_weights;

/* Loads the bytes of eight weights; weights_of_eight makes floats of them. A kernel does other work between the two, while the bytes are
 * under way. */
inline stored_eight load_eight(__global const uchar *row, uint c, bool is_aligned)
{
    __global const uchar *block = row + (long)(c / BLOCK_WEIGHTS) * BLOCK_BYTES;
    const uint e = c & (BLOCK_WEIGHTS - 1);
    stored_eight s = load_integers(block, e, is_aligned);
    load_scale(block, e, &s);
    s.factor = *(__global const ushort *)(block + SCALE_AT);
#if HAS_MINIMUM
    s.offset = *(__global const ushort *)(block + 2);
#endif
    return s;
}

inline float half_of_bits(ushort bits)
{
    return vload_half(0, (__private const half *)&bits);
}

/* Integers from -128 to 255 as floats: GPUs convert at a quarter of the speed at which they add. */
inline float4 small_floats(int4 integers)
{
    return as_float4(as_uint4(integers + 128) | 0x4b000000u) - (0x1p23f + 128.0f + ZERO);
}

inline eight_weights weights_of_eight(stored_eight s, uint c)
{
    const uint e = c & (BLOCK_WEIGHTS - 1);
    const float factor = half_of_bits(s.factor) * (float)scale_of(&s, e);
#if HAS_MINIMUM
    const float minimum = half_of_bits(s.offset) * (float)offset_of(&s, e);
#else
    const float minimum = 0.0f;
#endif
    int4 even, odd;
    integers_of(s, e, &even, &odd);
    eight_weights w;
    w.even = small_floats(even) * factor - minimum;
    w.odd = small_floats(odd) * factor - minimum;
    return w;
}
