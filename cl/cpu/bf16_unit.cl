/* SPDX-License-Identifier: MIT */
/* Products of blocks of bfloat16 numbers on a CPU's instructions, summed in float32:
 *     X86_AMX    tdpbf16ps adds the product of two tiles to a tile of 16 x 16 sums. Tiles are registers of the thread.
 *     X86_BF16   vdpbf16ps adds the products of 16 pairs to the 16 sums of a vector.
 * UNIT_BEGIN declares the unit's state, and UNIT_END follows the last product. Between them,
 *     block_products(unit, sums, a, b, k_blocks, rows)
 * sets sums[32][32] to the product of a block of A's lines by a block of B's, over k_blocks blocks of k. Sums of rows after the first
 * `rows` may be anything. The operands lie in the order of bf16_blocks.cl, with A_PARTS and B_PARTS numbers for each element. The product
 * of part i of A and part j of B is left out if i + j is no part of either.
 *
 * UNIT names the unit. IS_EMULATED 1 replaces its instructions alone by arithmetic as the vendor documents it, so that everything around
 * them can be tested on any device. Both units take subnormal numbers as 0. */
#include "bf16_blocks.cl"
#include "unroll.cl"

#define X86_AMX 8
#define X86_BF16 9

#if !defined(UNIT) || !defined(IS_EMULATED) || !defined(A_PARTS) || !defined(B_PARTS)
#error "UNIT: a unit's name; IS_EMULATED: 0 or 1; A_PARTS, B_PARTS: 1 or 2"
#endif

#ifndef BF16_MEMORY
#define BF16_MEMORY __global /* where the operands lie */
#endif

#ifndef ASM
#define ASM __asm__
#endif

#ifndef A_STEP
#define A_STEP (A_PARTS * BF16_PART) /* words from a block to the next along k */
#define B_STEP (B_PARTS * BF16_PART)
#endif
#define ROWS 8 /* of a register tile of sums */

#if IS_EMULATED
static inline float normal_value(uint bits) /* of a bfloat16 number in the upper half */
{
    return (bits & 0x7f800000u) ? as_float(bits & 0xffff0000u) : 0.0f;
}
#endif

#if UNIT == X86_AMX
/* Tiles 0 to 3 are sums, of the upper and the lower half of A's lines by the first and the second half of B's. 4 and 5 are the halves of
 * A's block, 6 and 7 those of B's. */
#if IS_EMULATED
typedef struct unit_state {
    uint tile[8][BF16_HALF];
} unit_state;
#define UNIT_BEGIN(unit) unit_state unit;
#define UNIT_END
#define TILE_ZERO(t)                     \
    for (int i = 0; i < BF16_HALF; i++) \
        unit->tile[t][i] = 0;
#define TILE_LOAD(t, from)               \
    for (int i = 0; i < BF16_HALF; i++) \
        unit->tile[t][i] = (from)[i];
#define TILE_STORE(t, to)                \
    for (int i = 0; i < BF16_HALF; i++) \
        (to)[i / 16 * BF16_LINES + i % 16] = as_float(unit->tile[t][i]);
#define TILE_MULTIPLY(sum, a, b) multiply_tiles(unit->tile[sum], unit->tile[a], unit->tile[b]);

/* tdpbf16ps: even and odd k are summed apart, and their sums are added to the tile. */
static inline void multiply_tiles(uint *sum, const uint *a, const uint *b)
{
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 16; column++) {
            float even = 0.0f, odd = 0.0f;
            for (int pair = 0; pair < 16; pair++) {
                const uint x = a[row * 16 + pair], y = b[pair * 16 + column];
                even = fma(normal_value(x << 16), normal_value(y << 16), even);
                odd = fma(normal_value(x), normal_value(y), odd);
            }
            sum[row * 16 + column] = as_uint(as_float(sum[row * 16 + column]) + (even + odd));
        }
}
#else
/* ldtilecfg reads palette 1, then at byte 16 the 64 bytes of a row of each tile, and at byte 48 its 16 rows. */
typedef int unit_state;
#define UNIT_BEGIN(unit)                                                                                                        \
    const ulong config[8] __attribute__((aligned(64))) = {1, 0, 0x0040004000400040UL, 0x0040004000400040UL,                    \
                                                          0, 0, 0x1010101010101010UL, 0};                                       \
    unit_state unit = 0;                                                                                                        \
    ASM volatile("ldtilecfg (%0)" ::"r"(config) : "memory");
#define UNIT_END ASM volatile("tilerelease" ::: "memory");
#define TILE_ZERO(t) ASM volatile("tilezero %%tmm" #t ::: "memory");
#define TILE_LOAD(t, from) ASM volatile("tileloadd (%0,%1,1),%%tmm" #t ::"r"(from), "r"(64L) : "memory");
#define TILE_STORE(t, to) ASM volatile("tilestored %%tmm" #t ",(%0,%1,1)" ::"r"(to), "r"(4L * BF16_LINES) : "memory");
#define TILE_MULTIPLY(sum, a, b) ASM volatile("tdpbf16ps %%tmm" #b ",%%tmm" #a ",%%tmm" #sum ::: "memory");
#endif

#define TILES_OF_A(part)                                 \
    TILE_LOAD(4, a + (part) * BF16_PART)                 \
    if (is_tall) {                                       \
        TILE_LOAD(5, a + (part) * BF16_PART + BF16_HALF) \
    }
#define TILES_OF_B(part)                 \
    TILE_LOAD(6, b + (part) * BF16_PART) \
    TILE_LOAD(7, b + (part) * BF16_PART + BF16_HALF)
#define MULTIPLY_BLOCKS        \
    TILE_MULTIPLY(0, 4, 6)     \
    TILE_MULTIPLY(1, 4, 7)     \
    if (is_tall) {             \
        TILE_MULTIPLY(2, 5, 6) \
        TILE_MULTIPLY(3, 5, 7) \
    }

/* Each part is loaded once. */
#if A_PARTS == 2 && B_PARTS == 2
#define MULTIPLY_PARTS TILES_OF_A(1) TILES_OF_B(0) MULTIPLY_BLOCKS TILES_OF_A(0) MULTIPLY_BLOCKS TILES_OF_B(1) MULTIPLY_BLOCKS
#elif A_PARTS == 2
#define MULTIPLY_PARTS TILES_OF_B(0) TILES_OF_A(1) MULTIPLY_BLOCKS TILES_OF_A(0) MULTIPLY_BLOCKS
#elif B_PARTS == 2
#define MULTIPLY_PARTS TILES_OF_A(0) TILES_OF_B(1) MULTIPLY_BLOCKS TILES_OF_B(0) MULTIPLY_BLOCKS
#else
#define MULTIPLY_PARTS TILES_OF_A(0) TILES_OF_B(0) MULTIPLY_BLOCKS
#endif

static inline void block_products(unit_state *unit, float *sums, BF16_MEMORY const uint *a, BF16_MEMORY const uint *b, int k_blocks,
                                  int rows)
{
    const bool is_tall = rows > 16;
    TILE_ZERO(0)
    TILE_ZERO(1)
    TILE_ZERO(2)
    TILE_ZERO(3)
    for (int p = 0; p < k_blocks; p++, a += A_STEP, b += B_STEP) {
        MULTIPLY_PARTS
    }
    TILE_STORE(0, sums)
    TILE_STORE(1, sums + 16)
    if (is_tall) {
        TILE_STORE(2, sums + 16 * BF16_LINES)
        TILE_STORE(3, sums + 16 * BF16_LINES + 16)
    }
}

#elif UNIT == X86_BF16
#define MOST_PARTS (A_PARTS > B_PARTS ? A_PARTS : B_PARTS)

/* For each pair of parts whose product counts, the smallest products first. */
#define EACH_PAIR_OF_PARTS(i, j)                             \
    for (int i##_j = MOST_PARTS - 1; i##_j >= 0; i##_j--)    \
        for (int i = 0, j = i##_j; j >= 0; i++, j--)         \
            if (i < A_PARTS && j < B_PARTS)

typedef int unit_state;
#define UNIT_BEGIN(unit) unit_state unit = 0;
#define UNIT_END

/* vdpbf16ps: sum[i] + a[i] b[i] of the upper halves, then of the lower ones. */
static inline float16 add_pairs(float16 sum, uint16 a, uint16 b)
{
#if IS_EMULATED
    uint x[16], y[16];
    float z[16];
    vstore16(a, 0, x);
    vstore16(b, 0, y);
    vstore16(sum, 0, z);
    for (int i = 0; i < 16; i++)
        z[i] = fma(normal_value(x[i] << 16), normal_value(y[i] << 16), fma(normal_value(x[i]), normal_value(y[i]), z[i]));
    return vload16(0, z);
#else
    ASM("vdpbf16ps %2,%1,%0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
#endif
}

#define CLEAR_ROW(i) left[i] = right[i] = (float16)(0.0f);
#define ADD_ROW(i)                                      \
    {                                                   \
        const uint16 pairs = (uint16)(a_row[16 * i]);   \
        left[i] = add_pairs(left[i], pairs, b_left);    \
        right[i] = add_pairs(right[i], pairs, b_right); \
    }
#define STORE_ROW(i)                               \
    vstore16(left[i], 0, sums + i * BF16_LINES);   \
    vstore16(right[i], 1, sums + i * BF16_LINES);

/* The same for ROWS rows. */
static inline void row_products(float *sums, BF16_MEMORY const uint *a, BF16_MEMORY const uint *b, int k_blocks)
{
    float16 left[ROWS], right[ROWS];
    EACH_ROW(CLEAR_ROW)
    for (int p = 0; p < k_blocks; p++, a += A_STEP, b += B_STEP) {
        EACH_PAIR_OF_PARTS(i, j)
        {
            BF16_MEMORY const uint *a_row = a + i * BF16_PART, *b_pair = b + j * BF16_PART;
            __attribute__((opencl_unroll_hint(1)))
            for (int pair = 0; pair < 16; pair++, a_row++, b_pair += 16) {
                const uint16 b_left = vload16(0, b_pair), b_right = vload16(0, b_pair + BF16_HALF);
                EACH_ROW(ADD_ROW)
            }
        }
    }
    EACH_ROW(STORE_ROW)
}

static inline void block_products(unit_state *unit, float *sums, BF16_MEMORY const uint *a, BF16_MEMORY const uint *b, int k_blocks,
                                  int rows)
{
    for (int row = 0; row < rows; row += ROWS)
        row_products(sums + row * BF16_LINES, a + row * 16, b, k_blocks); /* [half][line][pair]: rows are 16 words apart */
}
#else
#error "UNIT: unknown"
#endif
