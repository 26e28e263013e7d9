/* SPDX-License-Identifier: MIT */
/* Elementary functions on vectors, from polynomials of our own: the builtins are slow on some CPU implementations and differ between
 * devices. */
#include "vector.cl"

/* e^(x + low) for x <= 0, where |low| is a rounding error of x. The relative error is below 1.5 units in the last place. Results below
 * 2^-126 become 0. NaN in x gives NaN. Reduction by ln 2 in two parts (Cody & Waite 1980), then a minimax polynomial on [-ln 2 / 2, ln 2 /
 * 2]. */
inline floatv exp_nonpositive(floatv x, floatv low)
{
    const floatv clamped = x < -88.0f ? (floatv)(-88.0f) : x;
    const intv n = TO_INTV(clamped * 1.44269504f - 0.5f);
    const floatv nf = TO_FLOATV(n);
    const floatv r = fma(nf, (floatv)(2.12194440e-4f), fma(nf, (floatv)(-0.693359375f), clamped)) + low;
    floatv p = (floatv)(1.38145899e-3f);
    p = p * r + 8.368717712e-3f;
    p = p * r + 4.166838823e-2f;
    p = p * r + 1.666652062e-1f;
    p = p * r + 4.999999345e-1f;
    p = p * (r * r) + r;
    p = p + 1.0f;
    /* Multiplying by 2^n: x below -87.3 leaves n = -127, whose bits are those of 0. */
    return p * AS_FLOATV((n + 127) << 23);
}

/* x / (1 + e^-(z + low)). It computes e^-|z| only, so nothing overflows. */
inline floatv times_sigmoid(floatv x, floatv z, floatv low)
{
    const floatv one = (floatv)(1.0f);
    const floatv e = exp_nonpositive(-fabs(z), z > 0.0f ? -low : low);
    const floatv numerator = z < 0.0f ? e : one;
    return x * (numerator / (one + e));
}

/* x Phi(x), where Phi is the normal distribution function. For a = |x|, Phi(-a) = e^(-a^2/2) R(a), and Phi(a) = 1 - Phi(-a).
 * R(a) = e^(a^2/2) erfc(a / sqrt 2) / 2 is approximated by p / q, rational minimax on [0, 14.5] with relative error 6e-9. Nothing cancels
 * for x < 0. */
inline floatv times_normal_cdf(floatv x)
{
    const floatv a = fabs(x) > 14.0f ? (floatv)(14.0f) : fabs(x);
    const floatv half_a = a * 0.5f;
    const floatv h = half_a * a;
    const floatv e = exp_nonpositive(-h, -fma(half_a, a, -h)); /* the rounding error of h matters where h is large */
    floatv p = (floatv)(4.11591219e-3f);
    p = p * a + 4.0631574218e-2f;
    p = p * a + 1.83231779216e-1f;
    p = p * a + 4.38292815325e-1f;
    p = p * a + 5.00000002886e-1f;
    floatv q = (floatv)(1.03169423e-2f);
    q = q * a + 1.01854693729e-1f;
    q = q * a + 4.6946130251e-1f;
    q = q * a + 1.20249305065f;
    q = q * a + 1.67447060633f;
    q = q * a + 1.0f;
    const floatv tail = e * p;
    return x * ((x > 0.0f ? q - tail : tail) / q);
}
