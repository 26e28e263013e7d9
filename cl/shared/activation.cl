/* SPDX-License-Identifier: MIT */
/* Activation functions on vectors (formulas: clformer/activation.h). A kernel calls the one that its macro ACTIVATE names. */
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

/* 1.702 x in two parts: z is the rounded product, low is what rounding of the product and of the constant lost. low may be NaN where |z| is
 * huge; there it changes nothing and is replaced by 0. */
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

inline floatv activate_sigmoid(floatv x)
{
    return times_sigmoid((floatv)(1.0f), x, (floatv)(0.0f));
}

/* A minimax polynomial of relative error 4.4e-9 for |x| < 0.625. Beyond it the result is sign(x) (1 - 2 e^-2|x| / (1 + e^-2|x|)), which
 * cancels no digits there. */
inline floatv activate_tanh(floatv x)
{
    const floatv one = (floatv)(1.0f), a = fabs(x), square = x * x;
    floatv p = (floatv)(-5.70498713e-3f);
    p = p * square + 2.06390874e-2f;
    p = p * square - 5.37397151e-2f;
    p = p * square + 1.33314422e-1f;
    p = p * square - 3.33332819e-1f;
    const floatv near = fma(x * square, p, x);
    const floatv e = exp_nonpositive(-2.0f * a, (floatv)(0.0f));
    const floatv far = one - 2.0f * e / (one + e);
    return a < 0.625f ? near : copysign(far, x);
}

inline floatv activate_gelu_10(floatv x)
{
    const floatv y = times_normal_cdf(x);
    return y > 10.0f ? (floatv)(10.0f) : y;
}

/* tanh(log(1 + e^x)) = (e^2x + 2 e^x) / (e^2x + 2 e^x + 2), where numerator and denominator are divided by e^2x for x > 0. Every
 * term is positive. */
inline floatv activate_mish(floatv x)
{
    const floatv one = (floatv)(1.0f), e = exp_nonpositive(-fabs(x), (floatv)(0.0f));
    const floatv numerator = x > 0.0f ? one + 2.0f * e : e * (e + 2.0f);
    const floatv rest = x > 0.0f ? 2.0f * e * e : (floatv)(2.0f);
    return x * (numerator / (numerator + rest));
}

inline floatv activate_relu2(floatv x)
{
    const floatv y = activate_relu(x);
    return y * y;
}

inline floatv activate_relu6(floatv x)
{
    const floatv y = activate_relu(x);
    return y > 6.0f ? (floatv)(6.0f) : y;
}

inline floatv activate_leaky_relu(floatv x)
{
    return x < 0.0f ? x * 0.01f : x;
}

inline floatv activate_hardswish(floatv x)
{
    return x * (activate_relu6(x + 3.0f) / 6.0f);
}
