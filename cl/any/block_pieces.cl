/* SPDX-License-Identifier: MIT */
/* Reads quantised blocks in pieces of 32 weights: a work-item reads one piece at a time. A piece is two runs of 16 weights, whose integers
 * share 16 bytes (Q8_0: neighbouring 16 bytes). A run has one factor and one minimum, and its integers become unsigned bytes. IS_ALIGNED:
 * all blocks begin at multiples of 16 bytes, otherwise at even addresses. */
#include "weight_blocks.cl"

#ifndef IS_ALIGNED
#error "IS_ALIGNED: 0 or 1"
#endif

#define PIECE_WEIGHTS 32
#define BLOCK_PIECES (BLOCK_WEIGHTS / PIECE_WEIGHTS)
/* Distance in weights from a piece's first run to its second. */
#define RUN_DISTANCE (BLOCKS == BLOCKS_Q6_K ? 64 : HAS_GROUPS ? 32 : 16)

/* INTEGER_BITS masks the bits of a byte that hold its integer. The bits above them may be anything. Types that join more bits to a nibble
 * have BYTES_MASK clear them first. */
#define INTEGER_BITS (BLOCKS == BLOCKS_Q8_0 || BLOCKS == BLOCKS_Q6_K || HAS_FIFTH_BITS ? 255u : 15u)
#define BYTES_MASK (INTEGER_BITS == 255u ? 0x0f0f0f0fu : ~0u)

typedef struct block_piece {
    uint4 run[2]; /* 16 bytes each, INTEGER_BITS of which count */
    float factor[2], minimum[2];
} block_piece;

/* Index of the first weight of piece `part` in its block. */
inline uint run_column(uint part)
{
    return BLOCKS == BLOCKS_Q6_K ? part / 4 * 128 + part % 4 * 16 : HAS_GROUPS ? part / 2 * 64 + part % 2 * 16 : 0;
}

/* Sixteen bytes at an even address. */
inline uint4 sixteen_bytes(__global const uchar *p)
{
#if IS_ALIGNED
    return *(__global const uint4 *)p;
#else
    const ushort8 pairs = vload8(0, (__global const ushort *)p);
    return convert_uint4(pairs.even) | convert_uint4(pairs.odd) << 16;
#endif
}

/* The same, where at least four more bytes of the block follow the sixteen. It reads whole aligned words: five for four results. */
inline uint4 sixteen_inner_bytes(__global const uchar *p)
{
    const uint odd = (uint)(uintptr_t)p & 2u;
    __global const uint *const words = (__global const uint *)(p - odd);
    const ulong w0 = words[0], w1 = words[1], w2 = words[2], w3 = words[3], w4 = words[4];
    return (uint4)((uint)((w1 << 32 | w0) >> 8 * odd), (uint)((w2 << 32 | w1) >> 8 * odd), (uint)((w3 << 32 | w2) >> 8 * odd),
                   (uint)((w4 << 32 | w3) >> 8 * odd));
}

/* Spreads sixteen bits over four words: each bit becomes bit 4 of a byte. */
inline uint4 spread_sixteen_bits(uint bits)
{
    const uint4 fours = (uint4)(bits, bits >> 4, bits >> 8, bits >> 12) & 15u;
    return (fours * 0x00204081u & 0x01010101u) << 4;
}

#if HAS_GROUPS && HAS_MINIMUM
/* Scales, and (two_offsets) offsets, of groups 2 pair and 2 pair + 1, as bytes 0 and 1 of a word. packed: the twelve bytes that hold those
 * of all groups. */
inline uint two_scales(uint3 packed, uint pair)
{
    const uint shift = pair % 2 * 16;
    return pair < 2 ? packed.x >> shift & 0x3f3fu : (packed.z >> shift & 0x0f0fu) | (packed.x >> shift >> 2 & 0x3030u);
}

inline uint two_offsets(uint3 packed, uint pair)
{
    const uint shift = pair % 2 * 16;
    return pair < 2 ? packed.y >> shift & 0x3f3fu : (packed.z >> shift >> 4 & 0x0f0fu) | (packed.y >> shift >> 2 & 0x3030u);
}
#endif

inline void read_factors(__global const uchar *block, uint part, block_piece *piece)
{
#if HAS_GROUPS && HAS_MINIMUM
    const uint4 head = sixteen_bytes(block);
    const uint scales = two_scales(head.yzw, part / 2), offsets = two_offsets(head.yzw, part / 2);
    const ushort2 halves = as_ushort2(head.x);
    const float d = vload_half(0, (const half *)&halves), m = vload_half(1, (const half *)&halves);
    piece->factor[0] = d * (float)(scales & 255u);
    piece->factor[1] = d * (float)(scales >> 8);
    piece->minimum[0] = m * (float)(offsets & 255u);
    piece->minimum[1] = m * (float)(offsets >> 8);
#else
    const uint column = run_column(part);
    piece->factor[0] = block_factor(block, column);
    piece->factor[1] = HAS_GROUPS ? block_factor(block, column + RUN_DISTANCE) : piece->factor[0];
    piece->minimum[0] = piece->minimum[1] = block_minimum(block, column);
#endif
}

inline block_piece read_piece(__global const uchar *block, uint part)
{
    block_piece piece;
#if BLOCKS == BLOCKS_Q8_0
    piece.run[0] = sixteen_bytes(block + 2) ^ 0x80808080u;
    piece.run[1] = sixteen_bytes(block + 18) ^ 0x80808080u;
#else
    const uint4 nibbles = BLOCKS == BLOCKS_Q6_K ? sixteen_inner_bytes(block + 16 * part) : sixteen_bytes(block + NIBBLES_AT + 16 * part);
    piece.run[0] = nibbles & BYTES_MASK;
    piece.run[1] = nibbles >> 4 & BYTES_MASK;
#endif
#if BLOCKS == BLOCKS_Q6_K
    const uint4 high = sixteen_inner_bytes(block + 128 + part / 4 * 32 + part % 2 * 16) >> part % 4 / 2 * 2;
    piece.run[0] |= (high & 0x03030303u) << 4;
    piece.run[1] |= high & 0x30303030u;
#elif HAS_FIFTH_BITS && HAS_GROUPS
    const uint4 high = sixteen_bytes(block + FIFTH_AT + part % 2 * 16) >> part / 2 * 2;
    piece.run[0] |= (high & 0x01010101u) << 4;
    piece.run[1] |= (high & 0x02020202u) << 3;
#elif HAS_FIFTH_BITS
    __global const ushort *bits = (__global const ushort *)(block + FIFTH_AT);
    piece.run[0] |= spread_sixteen_bits(bits[0]);
    piece.run[1] |= spread_sixteen_bits(bits[1]);
#endif
    read_factors(block, part, &piece);
    return piece;
}

/* sum_i x[i] (byte_i - ZERO). A byte becomes a float without a conversion, because GPUs make few conversions at a time. With the exponent
 * of 2^23 its bits are 2^23 + byte, and those of the byte above it 2^23 + 256 byte. A subtraction removes the excess without rounding.
 * exponent holds the bits of 2^23 in a variable that the compiler cannot fold: NVIDIA's needs two instructions for two constants. */
#define BYTES_ZERO (BLOCKS == BLOCKS_Q8_0 ? 128 : ZERO)
#define LOWER_BYTE(word) (as_float((word) & INTEGER_BITS | exponent) - (8388608.0f + BYTES_ZERO))
#define UPPER_BYTE(word) (as_float((word) & INTEGER_BITS << 8 | exponent) - (8388608.0f + 256 * BYTES_ZERO))
#define ADD_WORD(word, four)                             \
    {                                                    \
        const uint upper_half = (word) >> 16;            \
        lower = (four).x * LOWER_BYTE(word) + lower;     \
        upper = (four).y * UPPER_BYTE(word) + upper;     \
        lower = (four).z * LOWER_BYTE(upper_half) + lower; \
        upper = (four).w * UPPER_BYTE(upper_half) + upper; \
    }

inline float run_products(uint4 bytes, uint exponent, float4 x0, float4 x1, float4 x2, float4 x3)
{
    float lower = 0.0f, upper = 0.0f;
    ADD_WORD(bytes.x, x0)
    ADD_WORD(bytes.y, x1)
    ADD_WORD(bytes.z, x2)
    ADD_WORD(bytes.w, x3)
    return upper * 0x1p-8f + lower;
}

/* byte_i - ZERO of a word. */
inline float4 four_integers(uint word, uint exponent)
{
    return (float4)(LOWER_BYTE(word), LOWER_BYTE(word >> 8), LOWER_BYTE(word >> 16), LOWER_BYTE(word >> 24));
}
