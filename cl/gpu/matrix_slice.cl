/* SPDX-License-Identifier: MIT */
/* Copies operands of a matrix unit from global memory to blocks in local memory. Work-items load eights (matrix_unit.cl) as floats and
 * store them in the unit's order. A slice of `lines` x `depth` elements is [part][block in k][block of lines][BLOCK]: part 0 is the numbers
 * rounded to 16 bits, and part 1, where there is one, is what rounding lost. */
#include "matrix_instruction.cl"
#include "wide_loads.cl"

#if !defined(OFFSET_T)
#error "OFFSET_T: uint or ulong, for offsets of elements within a slice"
#endif

/* The line of eight number `at` in a slice, and (eight_t) the index of its first group of four along k. Neighbouring work-items load
 * neighbouring addresses. */
static inline uint eight_line(uint at, uint lines, uint depth, bool is_k_inner)
{
    const uint line = is_k_inner ? at / (depth / 16 * EIGHTS_IN_K) : at % (lines / 16 * EIGHT_LINES);
    return line / EIGHT_LINES * 16 + line % EIGHT_LINES;
}

static inline uint eight_t(uint at, uint lines, uint depth, bool is_k_inner)
{
    return (is_k_inner ? at % (depth / 16 * EIGHTS_IN_K) : at / (lines / 16 * EIGHT_LINES)) * (1 + SECOND_T);
}

/* Loads four elements along k of a line, from offset `depth` within a slice of DEPTH that starts at `base`. Elements from k = `left` of the
 * slice on are past the end of the operand and become 0. Lines past last_line repeat it. */
#define DEFINE_FETCH(NAME, T, LOAD, READS, DEPTH)                                                                                \
    static inline float4 NAME(__global const T *base, uint line, uint depth, uint last_line, int left, OFFSET_T line_stride,      \
                              OFFSET_T k_stride)                                                                                 \
    {                                                                                                                            \
        __global const T *const from = base + (min(line, last_line) * line_stride + depth * k_stride);                           \
        if (left >= DEPTH) {                                                                                                     \
            if (READS != ELEMENTS)                                                                                               \
                return FOUR(LOAD, from, READS);                                                                                  \
            return (float4)(LOAD(from, 0), LOAD(from, k_stride), LOAD(from, 2 * k_stride), LOAD(from, 3 * k_stride));            \
        }                                                                                                                        \
        const int here = left - (int)depth;                                                                                      \
        return (float4)(here > 0 ? LOAD(from, 0) : 0.0f, here > 1 ? LOAD(from, k_stride) : 0.0f,                                 \
                        here > 2 ? LOAD(from, 2 * k_stride) : 0.0f, here > 3 ? LOAD(from, 3 * k_stride) : 0.0f);                 \
    }

/* Stores an eight of a line, whose first group of four along k has index t. */
#define DEFINE_PUT(NAME, STORE)                                                                                                  \
    static inline void NAME(__local uint *slice, uint lines, uint depth, int parts, uint line, uint t, float4 first,              \
                            float4 second)                                                                                       \
    {                                                                                                                            \
        __local uint *const block = slice + (t / 4 * (lines / 16) + line / 16) * BLOCK;                                          \
        const uint4 pairs = pairs_of(first, second);                                                                             \
        STORE(block, line % 16, t % 4, pairs);                                                                                   \
        if (parts == 2)                                                                                                          \
            STORE(block + lines / 16 * (depth / 16) * BLOCK, line % 16, t % 4, rests_of(pairs, first, second));                  \
    }

DEFINE_PUT(put_a, store_a)
DEFINE_PUT(put_b, store_b)
