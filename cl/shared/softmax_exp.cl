/* SPDX-License-Identifier: MIT */
/* e^x for x <= 0, as softmax needs it. The relative error is below 2.1e-7 for x > -20 and 3.9e-7 down to -87. The result is 1 at 0 and
 * exactly 0 for -inf and below about -87.7; NaN stays NaN. It costs about half as much as the built-in functions of CPU implementations,
 * and gives the same result on every device. e^x = 2^n e^f, n = round(x / ln 2), |f| <= ln(2)/2, e^f by a minimax polynomial of degree 5.
 * Its error, 9.2e-8, is that of two roundings; one more degree would cost a tenth of the whole softmax. ln 2 is one float: its rounding
 * error matters only for weights that are too small to matter. */
#pragma OPENCL FP_CONTRACT ON

typedef struct softmax_exp_numbers {
    float lowest, round, log2_e, minus_ln_2, c5, c4, c3, c2, c1, c0;
} softmax_exp_numbers;

/* lowest: smaller x count as this one, where n = -127 and the bits of the scale 2^n are those of 0. round: 1.5 * 2^23 + 127; a sum with it
 * is rounded to an integer, whose last eight bits are n + 127, the exponent of 2^n. */
#define SOFTMAX_EXP_NUMBERS                                                                        \
    {-88.0f,         12583039.0f,    1.44269504f,    -0.693147181f,  8.29027221e-3f,              \
     4.18981612e-2f, 1.66676387e-1f, 4.99991477e-1f, 9.99999702e-1f, 1.0f}

/* The numbers, hidden from the compiler so that they stay in registers: it would load known constants again in every loop that is short of
 * registers. On AMD's Zen 4 each broadcast of a constant costs an arithmetic operation, in all a sixth of softmax. */
inline softmax_exp_numbers softmax_exp_unknown_numbers(void)
{
    const volatile float v[] = SOFTMAX_EXP_NUMBERS;
    const softmax_exp_numbers numbers = {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9]};
    return numbers;
}

/* Defines NAME(x), and NAME_of(x, numbers) for loops that keep the numbers in registers. A NaN in x gives NaN. */
#define DEFINE_SOFTMAX_EXP(NAME, FLOAT, INT, AS_INT, AS_FLOAT)                           \
    inline FLOAT NAME##_of(FLOAT x, const softmax_exp_numbers *c)                       \
    {                                                                                   \
        x = x < (FLOAT)(c->lowest) ? (FLOAT)(c->lowest) : x;                            \
        const FLOAT n = fma(x, (FLOAT)(c->log2_e), (FLOAT)(c->round));                  \
        const FLOAT f = fma(n - (FLOAT)(c->round), (FLOAT)(c->minus_ln_2), x);          \
        FLOAT p = (FLOAT)(c->c5);                                                       \
        p = fma(p, f, (FLOAT)(c->c4));                                                  \
        p = fma(p, f, (FLOAT)(c->c3));                                                  \
        p = fma(p, f, (FLOAT)(c->c2));                                                  \
        p = fma(p, f, (FLOAT)(c->c1));                                                  \
        p = fma(p, f, (FLOAT)(c->c0));                                                  \
        return p * AS_FLOAT(AS_INT(n) << (INT)(23));                                    \
    }                                                                                   \
    inline FLOAT NAME(FLOAT x)                                                          \
    {                                                                                   \
        const softmax_exp_numbers numbers = SOFTMAX_EXP_NUMBERS;                        \
        return NAME##_of(x, &numbers);                                                  \
    }

DEFINE_SOFTMAX_EXP(softmax_exp, float, int, as_int, as_float)
DEFINE_SOFTMAX_EXP(softmax_exp16, float16, int16, as_int16, as_float16)
