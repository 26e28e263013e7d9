/* SPDX-License-Identifier: MIT */
/* Activation functions on vectors; PASTE(activate_, ACTIVATION) picks one by name. Definitions: clformer/linear.h. */
#include "vector_math.cl"

inline floatv activate_none(floatv x)
{
    return x;
}

/* NaN compares false and stays. */
inline floatv activate_relu(floatv x)
{
    return x < 0.0f ? (floatv)(0.0f) : x;
}

inline floatv activate_gelu(floatv x)
{
    return times_normal_cdf(x);
}

/* (1 + tanh u) / 2 = 1 / (1 + e^-2u), u = sqrt(2/pi) (x + 0.044715 x^3). */
inline floatv activate_gelu_tanh(floatv x)
{
    return times_sigmoid(x, x * (x * x * 7.13548163e-2f + 1.59576912f), (floatv)(0.0f));
}

/* 1.702 x in two parts: its rounding, and what the constant lacks as a float. Where |z| is large they are not defined and do not matter. */
inline floatv activate_gelu_quick(floatv x)
{
    const floatv z = x * 1.702f;
    const floatv low = fma(x, (floatv)(1.702f), -z) + x * -2.19345093e-8f;
    return times_sigmoid(x, z, fabs(z) < 128.0f ? low : (floatv)(0.0f));
}

inline floatv activate_silu(floatv x)
{
    return times_sigmoid(x, x, (floatv)(0.0f));
}
