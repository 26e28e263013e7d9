/* SPDX-License-Identifier: MIT */
/* e^x for x <= 0, as softmax needs it: relative error below 2.1e-7 for x > -20 and 3.9e-7 down to -87; 1 at 0, exactly 0 for -inf and below about
 * -87.7; NaN stays NaN. About half the price of the built-in functions of CPU implementations, and the same on every device.
 * e^x = 2^n e^f, n = round(x / ln 2), |f| <= ln(2)/2, e^f by a minimax polynomial of degree 5: its error, 9.2e-8, is that of two roundings, and
 * each degree more costs a tenth of the whole softmax. ln 2 in one part: its rounding matters only for weights too small to matter. */
#pragma OPENCL FP_CONTRACT ON

#define SOFTMAX_EXP_LOWEST -88.0f /* n = -127 from here on: the scale 2^n becomes the bits of 0 */

/* 1.5 * 2^23 + 127: a sum with it is rounded to an integer, whose last eight bits are n + 127, the exponent of 2^n. */
#define SOFTMAX_EXP_ROUND 12583039.0f

/* A NaN passes the comparison, the polynomial and the product. */
#define DEFINE_SOFTMAX_EXP(NAME, FLOAT, INT, AS_INT, AS_FLOAT)                                \
    inline FLOAT NAME(FLOAT x)                                                               \
    {                                                                                        \
        x = x < (FLOAT)(SOFTMAX_EXP_LOWEST) ? (FLOAT)(SOFTMAX_EXP_LOWEST) : x;               \
        const FLOAT n = fma(x, (FLOAT)(1.44269504f), (FLOAT)(SOFTMAX_EXP_ROUND));            \
        const FLOAT f = fma(n - (FLOAT)(SOFTMAX_EXP_ROUND), (FLOAT)(-0.693147181f), x);      \
        FLOAT p = (FLOAT)(8.29027221e-3f);                                                   \
        p = fma(p, f, (FLOAT)(4.18981612e-2f));                                              \
        p = fma(p, f, (FLOAT)(1.66676387e-1f));                                              \
        p = fma(p, f, (FLOAT)(4.99991477e-1f));                                              \
        p = fma(p, f, (FLOAT)(9.99999702e-1f));                                              \
        p = fma(p, f, (FLOAT)(1.0f));                                                        \
        return p * AS_FLOAT(AS_INT(n) << (INT)(23));                                         \
    }

DEFINE_SOFTMAX_EXP(softmax_exp, float, int, as_int, as_float)
DEFINE_SOFTMAX_EXP(softmax_exp16, float16, int16, as_int16, as_float16)
