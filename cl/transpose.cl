/* SPDX-License-Identifier: MIT */
/* Transposition of WIDTH vectors of WIDTH lanes. Where vectors are the processor's own: in registers, by log2(WIDTH) passes, each of which
 * zips vector i with vector i + WIDTH / 2; elsewhere through memory. */
#include "vector.cl"

#if WIDTH == 16
#define ZIP_LOW(a, b) (floatv)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3, a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7)
#define ZIP_HIGH(a, b) (floatv)(a.s8, b.s8, a.s9, b.s9, a.sa, b.sa, a.sb, b.sb, a.sc, b.sc, a.sd, b.sd, a.se, b.se, a.sf, b.sf)
#define EACH_PAIR(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)
#define EACH_LANE(F)                                                                                                      \
    F(0, s0) F(1, s1) F(2, s2) F(3, s3) F(4, s4) F(5, s5) F(6, s6) F(7, s7) F(8, s8) F(9, s9) F(10, sa) F(11, sb) F(12, sc) \
    F(13, sd) F(14, se) F(15, sf)
#elif WIDTH == 8
#define ZIP_LOW(a, b) (floatv)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3)
#define ZIP_HIGH(a, b) (floatv)(a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7)
#define EACH_PAIR(F) F(0) F(1) F(2) F(3)
#define EACH_LANE(F) F(0, s0) F(1, s1) F(2, s2) F(3, s3) F(4, s4) F(5, s5) F(6, s6) F(7, s7)
#elif WIDTH == 4
#define ZIP_LOW(a, b) (floatv)(a.s0, b.s0, a.s1, b.s1)
#define ZIP_HIGH(a, b) (floatv)(a.s2, b.s2, a.s3, b.s3)
#define EACH_PAIR(F) F(0) F(1)
#define EACH_LANE(F) F(0, s0) F(1, s1) F(2, s2) F(3, s3)
#else
#error "WIDTH: 4, 8 or 16"
#endif

#if defined(__x86_64__) || defined(__aarch64__)
#define HAS_SHUFFLES 1
#else
#define HAS_SHUFFLES 0
#endif

#if HAS_SHUFFLES
#define ZIP_R_TO_T(i)                           \
    t[2 * i] = ZIP_LOW(r[i], r[i + WIDTH / 2]); \
    t[2 * i + 1] = ZIP_HIGH(r[i], r[i + WIDTH / 2]);
#define ZIP_T_TO_R(i)                           \
    r[2 * i] = ZIP_LOW(t[i], t[i + WIDTH / 2]); \
    r[2 * i + 1] = ZIP_HIGH(t[i], t[i + WIDTH / 2]);

/* r[i] lane j becomes r[j] lane i. */
inline void transpose(floatv r[WIDTH])
{
    floatv t[WIDTH];
    EACH_PAIR(ZIP_R_TO_T)
    EACH_PAIR(ZIP_T_TO_R)
#if WIDTH == 8
    EACH_PAIR(ZIP_R_TO_T)
#define KEEP(i) r[2 * i] = t[2 * i], r[2 * i + 1] = t[2 * i + 1];
    EACH_PAIR(KEEP)
#undef KEEP
#elif WIDTH == 16
    EACH_PAIR(ZIP_R_TO_T)
    EACH_PAIR(ZIP_T_TO_R)
#endif
}
#else
inline void transpose(floatv r[WIDTH])
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
