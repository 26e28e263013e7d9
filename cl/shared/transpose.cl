/* SPDX-License-Identifier: MIT */
/* Transposes WIDTH vectors of WIDTH lanes. Compilers for x86-64 and AArch64 get shuffles in registers: first squares of 4 x 4, whose
 * shuffles stay inside four lanes and are the cheapest, then whole groups of four lanes. Other compilers go through memory. */
#include "vector.cl"

#if WIDTH == 16
#define EACH_FOUR(F) F(0) F(4) F(8) F(12)
#define EACH_LANE(F)                                                                                                      \
    F(0, s0) F(1, s1) F(2, s2) F(3, s3) F(4, s4) F(5, s5) F(6, s6) F(7, s7) F(8, s8) F(9, s9) F(10, sa) F(11, sb) F(12, sc) \
    F(13, sd) F(14, se) F(15, sf)
#elif WIDTH == 8
#define EACH_FOUR(F) F(0) F(4)
#define EACH_LANE(F) F(0, s0) F(1, s1) F(2, s2) F(3, s3) F(4, s4) F(5, s5) F(6, s6) F(7, s7)
#elif WIDTH == 4
#define EACH_FOUR(F) F(0)
#define EACH_LANE(F) F(0, s0) F(1, s1) F(2, s2) F(3, s3)
#else
#error "WIDTH: 4, 8 or 16"
#endif

/* Clang for a processor it knows. It would split vectors that are written element by element. */
#if defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
#define HAS_SHUFFLES 1
#else
#define HAS_SHUFFLES 0
#endif

#if HAS_SHUFFLES
#if WIDTH == 16
#define LOW_SINGLES(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define HIGH_SINGLES(a, b) __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
#define LOW_PAIRS(a, b) __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
#define HIGH_PAIRS(a, b) __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
#define EVEN_FOURS(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27)
#define ODD_FOURS(a, b) __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31)
#elif WIDTH == 8
#define LOW_SINGLES(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define HIGH_SINGLES(a, b) __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define LOW_PAIRS(a, b) __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define HIGH_PAIRS(a, b) __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define EVEN_FOURS(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
#define ODD_FOURS(a, b) __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15)
#else
#define LOW_SINGLES(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH_SINGLES(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#define LOW_PAIRS(a, b) __builtin_shufflevector(a, b, 0, 1, 4, 5)
#define HIGH_PAIRS(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7)
#endif
#define EXCHANGE(LOW, HIGH, i, j)            \
    {                                        \
        const floatv low = LOW(r[i], r[j]); \
        r[j] = HIGH(r[i], r[j]);            \
        r[i] = low;                          \
    }
#define SWAP(i, j)              \
    {                           \
        const floatv x = r[i]; \
        r[i] = r[j];            \
        r[j] = x;               \
    }
/* Squares of 4 x 4 inside four rows. */
#define TURN_FOUR(i)                                      \
    EXCHANGE(LOW_SINGLES, HIGH_SINGLES, i, i + 1)        \
    EXCHANGE(LOW_SINGLES, HIGH_SINGLES, i + 2, i + 3)    \
    EXCHANGE(LOW_PAIRS, HIGH_PAIRS, i, i + 2)            \
    EXCHANGE(LOW_PAIRS, HIGH_PAIRS, i + 1, i + 3)        \
    SWAP(i + 1, i + 2)
#define TURN_FOURS(i, j)                      \
    EXCHANGE(EVEN_FOURS, ODD_FOURS, i, j)         \
    EXCHANGE(EVEN_FOURS, ODD_FOURS, i + 1, j + 1) \
    EXCHANGE(EVEN_FOURS, ODD_FOURS, i + 2, j + 2) \
    EXCHANGE(EVEN_FOURS, ODD_FOURS, i + 3, j + 3)

/* r[i] lane j becomes r[j] lane i. */
__attribute__((always_inline)) inline void transpose(floatv r[WIDTH])
{
    EACH_FOUR(TURN_FOUR)
#if WIDTH == 8
    TURN_FOURS(0, 4)
#elif WIDTH == 16
    TURN_FOURS(0, 4)
    TURN_FOURS(8, 12)
    TURN_FOURS(0, 8)
    TURN_FOURS(4, 12)
#endif
}
#else
__attribute__((always_inline)) inline void transpose(floatv r[WIDTH])
{
    float row[WIDTH * WIDTH], column[WIDTH];
    for (int i = 0; i < WIDTH; i++)
        PASTE(vstore, WIDTH)(r[i], i, row);
    for (int i = 0; i < WIDTH; i++) {
        for (int j = 0; j < WIDTH; j++)
            column[j] = row[j * WIDTH + i];
        r[i] = PASTE(vload, WIDTH)(0, column);
    }
}
#endif
