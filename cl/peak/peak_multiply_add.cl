/* SPDX-License-Identifier: MIT */
/* Multiply-adds from registers: CHAINS independent chains of s = s * x + y with two pairs (x, y) in turn. The host
 * computes the result by a formula and checks that every step was done. The factors are arguments, so no compiler can use the formula. */
#pragma OPENCL FP_CONTRACT ON
#ifndef IS_HALF
#error "IS_HALF: 1 measures half precision, 0 single precision"
#endif
#if IS_HALF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif

#ifndef WIDTH
#error "WIDTH: lanes of a vector, 1, 2, 4, 8 or 16"
#endif
#ifndef WG
#error "WG: work-items of a group"
#endif

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#if IS_HALF
#define REAL half
#else
#define REAL float
#endif
#if WIDTH == 1
typedef REAL realv;
typedef float floatv;
#define TO_FLOATV convert_float
#else
typedef PASTE(REAL, WIDTH) realv;
typedef PASTE(float, WIDTH) floatv;
#define TO_FLOATV PASTE(convert_float, WIDTH)
#endif

/* NUMBER makes a kernel that no driver has compiled before. It must appear in the code without changing the result: where it is used, sums
 * are whole numbers, so that no lane equals NUMBER + 0.5. */
#ifdef NUMBER
#define MARK(sum) ((sum) + ((sum).x == (float)(NUMBER) + 0.5f ? (floatv)(1.0f) : (floatv)(0.0f)))
#else
#define MARK(sum) (sum)
#endif

#define EIGHT(F, at) \
    F(PASTE(at, 0)) F(PASTE(at, 1)) F(PASTE(at, 2)) F(PASTE(at, 3)) F(PASTE(at, 4)) F(PASTE(at, 5)) F(PASTE(at, 6)) F(PASTE(at, 7))
#if CHAINS == 8
#define EACH(F) EIGHT(F, 1)
#elif CHAINS == 16
#define EACH(F) EIGHT(F, 1) EIGHT(F, 2)
#else
#error "CHAINS: 8 or 16"
#endif
/* Chains are numbered 10 to 17 and 20 to 27. */
#define START(i) realv PASTE(s, i) = start[i < 20 ? i - 10 : i - 12] + offset;
#define ODD(i) PASTE(s, i) = PASTE(s, i) * x1 + y1;
#define EVEN(i) PASTE(s, i) = PASTE(s, i) * x2 + y2;
#define SUM(i) sum += TO_FLOATV(PASTE(s, i));
#define PAIR EACH(ODD) EACH(EVEN)

/* out[item] = sum of the item's chains after 2 * pairs steps from start[chain] + scale * (item & mask); pairs is a multiple of 8. */
__kernel __attribute__((reqd_work_group_size(WG, 1, 1))) void peak_multiply_add(__global const realv *start, float factor1, float summand1,
                                                                                float factor2, float summand2, float scale, int mask,
                                                                                int pairs, __global floatv *out)
{
    const realv x1 = (realv)((REAL)factor1), y1 = (realv)((REAL)summand1);
    const realv x2 = (realv)((REAL)factor2), y2 = (realv)((REAL)summand2);
    const realv offset = (realv)((REAL)(scale * (float)((int)get_global_id(0) & mask)));
    EACH(START)
    for (int i = 0; i < pairs; i += 8) {
        PAIR PAIR PAIR PAIR PAIR PAIR PAIR PAIR
    }
    floatv sum = (floatv)(0.0f);
    EACH(SUM)
    out[get_global_id(0)] = MARK(sum);
}
