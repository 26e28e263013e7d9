/* SPDX-License-Identifier: MIT */
/* Matrix units of GPUs behind one interface. A wave (sub-group) of LANES work-items multiplies two blocks of 16 x 16 numbers of 16 bits and
 * adds the product to a block of 16 x 16 floats:
 *     fragment      a lane's share of a block of A or B
 *     sums          a lane's share of a block of results: VALUES floats; the i-th is at sum_row(lane, i), sum_column(lane, i)
 *     multiply_add  sums += A B (matrix_instruction.cl)
 * In memory a block is BLOCK uints, each a pair of neighbours in k, in the order in which the unit reads them: a lane loads
 * its fragment by one or two vector loads. store_a and store_b store elements in this order. A "line" is a row of A or a column of B.
 *
 * UNIT names the unit. IS_EMULATED 1 replaces the instruction alone by arithmetic in the register layout that the vendor documents
 * (matrix_emulated.cl), so that everything around it can be tested on any device. */
#include "types.cl"
#include "half_bits.cl"

#define NVIDIA_F16 1    /* mma.m16n8k8, float16: compute capability 7.5 */
#define NVIDIA_BF16 2   /* mma.m16n8k16, bfloat16: 8.0 and later */
#define AMD_GFX11 3     /* wmma_f32_16x16x16_bf16: RDNA 3, waves of 32 */
#define AMD_GFX12 4     /* the same on RDNA 4 */
#define AMD_CDNA 5      /* mfma_f32_16x16x16_bf16: gfx90a and gfx942, waves of 64 */
#define INTEL_16 6      /* dpas 8x16x16: Xe-HPC, Xe2 and later, sub-groups of 16 */
#define INTEL_8 7       /* dpas 8x8x16: Xe-HPG, sub-groups of 8 */

#if !defined(UNIT) || !defined(IS_EMULATED)
#error "UNIT: a unit's name; IS_EMULATED: 0 or 1"
#endif

#ifndef ASM
#define ASM __asm__
#endif

#define IS_NVIDIA (UNIT == NVIDIA_F16 || UNIT == NVIDIA_BF16)
#define IS_INTEL (UNIT == INTEL_16 || UNIT == INTEL_8)
#define IS_F16 (UNIT == NVIDIA_F16)
#define BLOCK 128 /* uints */

/* LANES: work-items of a wave. An instruction gives a lane PART_VALUES results; PARTS times as many are its share of a block. */
#if IS_NVIDIA
#define LANES 32
#define PARTS 2
#define PART_VALUES 4
typedef uint4 fragment;
#elif UNIT == AMD_GFX11
#define LANES 32
#define PARTS 1
#define PART_VALUES 8
typedef uint8 fragment;
#elif UNIT == AMD_GFX12
#define LANES 32
#define PARTS 1
#define PART_VALUES 8
typedef uint4 fragment;
#elif UNIT == AMD_CDNA
#define LANES 64
#define PARTS 1
#define PART_VALUES 4
typedef uint2 fragment;
#elif UNIT == INTEL_16
#define LANES 16
#define PARTS 2
#define PART_VALUES 8
typedef uint8 fragment;
#elif UNIT == INTEL_8
#define LANES 8
#define PARTS 4
#define PART_VALUES 8
typedef uint16 fragment;
#else
#error "UNIT: unknown"
#endif

#define VALUES (PARTS * PART_VALUES)
#if PART_VALUES == 4
typedef float4 sum_part;
#else
typedef float8 sum_part;
#endif
typedef union sums {
    sum_part parts[PARTS];
    float values[VALUES];
} sums;

/* --- waves --------------------------------------------------------------------------------------------------------------------------- */

#if IS_INTEL && !IS_EMULATED
#define WAVE_ATTRIBUTE __attribute__((intel_reqd_sub_group_size(LANES)))
#else
#define WAVE_ATTRIBUTE
#endif

/* A work-item's wave within its group, and lane within the wave. */
typedef struct wave {
    uint index, lane;
#if IS_EMULATED
    __local ushort *scratch; /* WAVE_SCRATCH elements of the wave */
#endif
} wave;
#define WAVE_SCRATCH 512

/* `scratch` has WAVE_SCRATCH elements for each wave of the group where the unit is emulated. */
static inline wave wave_of_item(__local ushort *scratch)
{
    wave w;
#if IS_INTEL && !IS_EMULATED
    w.index = get_sub_group_id();
    w.lane = get_sub_group_local_id();
#else
    w.index = (uint)get_local_id(0) / LANES;
    w.lane = (uint)get_local_id(0) % LANES;
#endif
#if IS_EMULATED
    w.scratch = scratch + w.index * WAVE_SCRATCH;
#endif
    return w;
}

/* Declares w, the item's wave in a kernel whose groups have `waves` waves, with the scratch of an emulated unit. */
#if IS_EMULATED
#define WAVE_OF_ITEM(w, waves)                           \
    __local ushort w##_scratch[(waves) * WAVE_SCRATCH]; \
    const wave w = wave_of_item(w##_scratch);
#else
#define WAVE_OF_ITEM(w, waves) const wave w = wave_of_item(0);
#endif

/* --- pairs of numbers, the first one in the lower half ------------------------------------------------------------------------------- */

#if IS_F16
/* Factor of the second part of a number, which would be subnormal without it. */
#define REST_SCALE 2048.0f

static inline uint pair_of(float x, float y)
{
    return half_bits(x) | half_bits(y) << 16;
}

static inline float first_of(uint pair)
{
    return half_value(pair & 0xffffu);
}

static inline float second_of(uint pair)
{
    return half_value(pair >> 16);
}
#else
#define REST_SCALE 1.0f
static inline uint pair_of(float x, float y)
{
#if UNIT == NVIDIA_BF16 && !IS_EMULATED
    uint pair;
    ASM("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(y), "f"(x));
    return pair;
#else
    return float_to_bf16(x) | (uint)float_to_bf16(y) << 16;
#endif
}

static inline float first_of(uint pair)
{
    return as_float(pair << 16);
}

static inline float second_of(uint pair)
{
    return as_float(pair & 0xffff0000u);
}
#endif

static inline uint4 pairs_of(float4 first, float4 second)
{
    return (uint4)(pair_of(first.x, first.y), pair_of(first.z, first.w), pair_of(second.x, second.y), pair_of(second.z, second.w));
}

/* The differences between two numbers and their 16-bit forms, times REST_SCALE, as a pair. The difference is 0 if the 16-bit form is
 * infinite. */
static inline uint rest_of(uint pair, float x, float y)
{
    const float fx = first_of(pair), fy = second_of(pair);
    return pair_of((isinf(fx) ? 0.0f : x - fx) * REST_SCALE, (isinf(fy) ? 0.0f : y - fy) * REST_SCALE);
}

static inline uint4 rests_of(uint4 pairs, float4 first, float4 second)
{
    return (uint4)(rest_of(pairs.x, first.x, first.y), rest_of(pairs.y, first.z, first.w), rest_of(pairs.z, second.x, second.y),
                   rest_of(pairs.w, second.z, second.w));
}

/* --- the order of a block in memory --------------------------------------------------------------------------------------------------
 *
 * NVIDIA: a lane of group g = lane / 4 and place t = lane % 4 holds pairs t and t + 4 of lines g and g + 8. The order of k is free if
 * both operands share it, so these pairs are called 2t and 2t + 1 here, and four neighbours stay together. Words are in the order of the
 * instruction's registers, which must be neighbours. In a block of A a lane has the first pair of lines g and g + 8, then the second pair
 * of both. In a block of B it has both pairs of line g, then those of line g + 8. AMD: a lane holds all, half or a quarter of the pairs of
 * line lane % 16. Intel: a block of A holds whole rows, and a lane holds the pairs of its column of B. */

/* Elements are stored in a block by eights: two groups of four neighbours in k ("fours") that one store can take. Four t is elements 4t to
 * 4t + 3 of a line. The second four of eight `at` (below 32) of a block lies SECOND_LINE lines and SECOND_T fours after the first one. */
#if IS_NVIDIA
#define SECOND_LINE 8
#define SECOND_T 0
#else
#define SECOND_LINE 0
#define SECOND_T 1
#endif
#define EIGHTS_IN_K (SECOND_T ? 2 : 4) /* eights of a line in a block */
#define EIGHT_LINES (SECOND_T ? 16 : 8)

/* Stores the eight whose first four is four t of `line`. pairs: both pairs of the first four, then both of the second. */
#if IS_NVIDIA
#define PLACE_A *(__local uint4 *)(block + (line * 4 + t) * 4) = pairs.xzyw;
#define PLACE_B *(__local uint4 *)(block + (line * 4 + t) * 4) = pairs;
#elif UNIT == AMD_CDNA
#define PLACE_A                                              \
    *(__local uint2 *)(block + (t * 16 + line) * 2) = pairs.lo;       \
    *(__local uint2 *)(block + ((t + 1) * 16 + line) * 2) = pairs.hi;
#define PLACE_B PLACE_A
#elif IS_INTEL
#define PLACE_A *(__local uint4 *)(block + line * 8 + 2 * t) = pairs;
#define PLACE_B                                                                        \
    __local uint *const to = block + (line / LANES * 8 + 2 * t) * LANES + line % LANES;         \
    to[0] = pairs.x;                                                                          \
    to[LANES] = pairs.y;                                                                      \
    to[2 * LANES] = pairs.z;                                                                  \
    to[3 * LANES] = pairs.w;
#else
#define PLACE_A *(__local uint4 *)(block + (t / 2 * 16 + line) * 4) = pairs;
#define PLACE_B PLACE_A
#endif

static inline void store_a(__local uint *block, uint line, uint t, uint4 pairs)
{
    PLACE_A
}

static inline void store_b(__local uint *block, uint line, uint t, uint4 pairs)
{
    PLACE_B
}

/* Stores eight neighbours in k of a line of B: fours t and t + 1. */
static inline void store_b_line(__local uint *block, uint line, uint t, uint4 pairs)
{
#if IS_NVIDIA
    __local uint *const to = block + (line % 8 * 4 + t) * 4 + line / 8 * 2;
    *(__local uint2 *)to = pairs.lo;
    *(__local uint2 *)(to + 4) = pairs.hi;
#else
    store_b(block, line, t, pairs);
#endif
}

/* Load a lane's fragment by vectors or, on Intel's GPUs, by block reads of sub-groups. */
#define READ_VECTOR(SPACE) return ((SPACE const fragment *)block)[lane];
#define READ_TWO_VECTORS(SPACE) \
    return (fragment)(((SPACE const uint4 *)block)[lane % 16], ((SPACE const uint4 *)block)[16 + lane % 16]);
#define READ_SHORTS(SPACE)                                                                                                   \
    SPACE const ushort *const at = (SPACE const ushort *)block + lane;                                                       \
    return as_uint8((ushort16)(at[0], at[16], at[32], at[48], at[64], at[80], at[96], at[112], at[128], at[144], at[160],    \
                               at[176], at[192], at[208], at[224], at[240]));
#define READ_WORDS_8(SPACE)                     \
    SPACE const uint *const at = block + lane;  \
    return (uint8)(at[0], at[16], at[32], at[48], at[64], at[80], at[96], at[112]);
#define READ_WORDS_16(SPACE)                                                                                                  \
    SPACE const uint *const at = block + lane;                                                                                \
    return (uint16)(at[0], at[8], at[16], at[24], at[32], at[40], at[48], at[56], at[64], at[72], at[80], at[88], at[96],     \
                    at[104], at[112], at[120]);
#define READ_SHORT_BLOCKS(SPACE)                                                                   \
    return (fragment)(as_uint4(intel_sub_group_block_read_us8((SPACE const ushort *)block)),       \
                      as_uint4(intel_sub_group_block_read_us8((SPACE const ushort *)block + 128)));
#define READ_BLOCK(SPACE) return intel_sub_group_block_read8(block);
#define READ_TWO_BLOCKS(SPACE) return (fragment)(intel_sub_group_block_read8(block), intel_sub_group_block_read8(block + 64));

#if UNIT == INTEL_16
#define READ_A READ_SHORTS
#define READ_B READ_WORDS_8
#elif UNIT == INTEL_8
#define READ_A READ_WORDS_16
#define READ_B READ_WORDS_16
#elif UNIT == AMD_GFX11
#define READ_A READ_TWO_VECTORS
#define READ_B READ_TWO_VECTORS
#else
#define READ_A READ_VECTOR
#define READ_B READ_VECTOR
#endif

#if UNIT == INTEL_16 && !IS_EMULATED
#define READ_A_BLOCKS READ_SHORT_BLOCKS
#define READ_B_BLOCKS READ_BLOCK
#elif UNIT == INTEL_8 && !IS_EMULATED
#define READ_A_BLOCKS READ_TWO_BLOCKS
#define READ_B_BLOCKS READ_TWO_BLOCKS
#else
#define READ_A_BLOCKS READ_A
#define READ_B_BLOCKS READ_B
#endif

static inline fragment load_b_global(__global const uint *block, uint lane)
{
    READ_B_BLOCKS(__global)
}

#ifdef cl_intel_subgroup_local_block_io
#define READ_A_LOCAL READ_A_BLOCKS
#define READ_B_LOCAL READ_B_BLOCKS
#else
#define READ_A_LOCAL READ_A
#define READ_B_LOCAL READ_B
#endif

static inline fragment load_a_local(__local const uint *block, uint lane)
{
    READ_A_LOCAL(__local)
}

static inline fragment load_b_local(__local const uint *block, uint lane)
{
    READ_B_LOCAL(__local)
}

/* --- the place of a lane's results ---------------------------------------------------------------------------------------------------- */

static inline uint sum_row(uint lane, uint i)
{
#if IS_NVIDIA
    return lane / 4 + i % 4 / 2 * 8;
#elif UNIT == AMD_GFX11
    return 2 * i + lane / 16;
#elif UNIT == AMD_GFX12
    return lane / 16 * 8 + i;
#elif UNIT == AMD_CDNA
    return lane / 16 * 4 + i;
#elif UNIT == INTEL_16
    return i;
#else
    return i / 16 * 8 + i % 8;
#endif
}

static inline uint sum_column(uint lane, uint i)
{
#if IS_NVIDIA
    return i / 4 * 8 + lane % 4 * 2 + i % 2;
#elif UNIT == INTEL_8
    return i / 8 % 2 * 8 + lane;
#else
    return lane % 16;
#endif
}
