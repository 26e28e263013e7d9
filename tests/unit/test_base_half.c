/* SPDX-License-Identifier: MIT */
/* f16 and bf16: all 65,536 patterns, and every rounding boundary between neighbours, against arithmetic in double. */
#include "base/half.h"

#include <stdlib.h>

#include "support/check.h"

/* The value of a 16-bit float with `fraction` stored significand bits, by its definition. */
static double value_of(uint16_t bits, int fraction)
{
    const int exponent_bits = 15 - fraction, bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 1;
    const int exponent = (bits & 0x7fff) >> fraction, significand = bits & ((1 << fraction) - 1);
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == top)
        return significand ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexp(significand, 1 - bias - fraction);
    return sign * ldexp(significand + (1 << fraction), exponent - bias - fraction);
}

typedef float from_function(uint16_t bits);
typedef uint16_t to_function(float value);

static void all_patterns(int fraction, from_function *from, to_function *to)
{
    for (unsigned bits = 0; bits <= 0xffff; bits++) {
        const double want = value_of((uint16_t)bits, fraction);
        const float got = from((uint16_t)bits);
        if (isnan(want)) {
            CHECK(isnan(got) && !!signbit(got) == (bits >> 15), "%04x: %g, want NaN", bits, got);
            const uint16_t back = to(got);
            CHECK(isnan(value_of(back, fraction)) && back >> 15 == bits >> 15, "NaN %04x becomes %04x", bits, back);
        } else {
            CHECK((double)got == want && !!signbit(got) == (bits >> 15), "%04x: %.9g, want %.9g", bits, got, want);
            CHECK(to(got) == bits, "%04x becomes %04x", bits, to(got));
        }
    }
}

/* Between neighbours a < b: just below the middle gives a, just above it b, the middle the even one. Signs mirror. */
static void all_boundaries(int fraction, to_function *to)
{
    const uint16_t infinity = (uint16_t)(((1 << (15 - fraction)) - 1) << fraction);
    for (uint16_t a = 0; a < infinity; a++) {
        const uint16_t b = (uint16_t)(a + 1);
        const double low = value_of(a, fraction);
        const double high = b == infinity ? 2 * low - value_of((uint16_t)(a - 1), fraction) : value_of(b, fraction);
        const double middle = (low + high) / 2;
        const float exact = (float)middle;
        CHECK((double)exact == middle, "%04x: middle %.17g is no float", a, middle);
        CHECK(to(nextafterf(exact, -INFINITY)) == a, "below the middle of %04x and %04x", a, b);
        CHECK(to(nextafterf(exact, INFINITY)) == b, "above the middle of %04x and %04x", a, b);
        CHECK(to(exact) == (a & 1 ? b : a), "the middle of %04x and %04x", a, b);
        CHECK(to(-exact) == (0x8000 | (a & 1 ? b : a)), "minus the middle of %04x and %04x", a, b);
    }
}

static void f16(void **state)
{
    (void)state;
    all_patterns(10, clfi_f32_from_f16, clfi_f16_from_f32);
    all_boundaries(10, clfi_f16_from_f32);
    assert_int_equal(clfi_f16_from_f32(65519.996f), 0x7bff);
    assert_int_equal(clfi_f16_from_f32(65520.0f), 0x7c00);
    assert_int_equal(clfi_f16_from_f32(3.4028235e38f), 0x7c00);
    assert_int_equal(clfi_f16_from_f32(-INFINITY), 0xfc00);
    assert_int_equal(clfi_f16_from_f32(0x1p-149f), 0);
    assert_int_equal(clfi_f16_from_f32(-0x1p-149f), 0x8000);
}

static void bf16(void **state)
{
    (void)state;
    all_patterns(7, clfi_f32_from_bf16, clfi_bf16_from_f32);
    all_boundaries(7, clfi_bf16_from_f32);
    assert_int_equal(clfi_bf16_from_f32(3.4028235e38f), 0x7f80);
    assert_int_equal(clfi_bf16_from_f32(INFINITY), 0x7f80);
    assert_int_equal(clfi_bf16_from_f32(clfi_f32_from_bits(0x7f800001)), 0x7fc0); /* a NaN whose kept bits would be infinity */
    assert_int_equal(clfi_bf16_from_f32(clfi_f32_from_bits(0xffffffff)), 0xffff);
}

/* The array forms do the same at every alignment and touch nothing else. */
static void arrays(void **state)
{
    (void)state;
    enum { PATTERNS = 65536 };
    unsigned char *bytes = malloc(2 * PATTERNS + 2);
    float *values = malloc((PATTERNS + 1) * sizeof *values);
    for (size_t shift = 0; shift < 2; shift++) {
        for (unsigned i = 0; i < PATTERNS; i++)
            memcpy(bytes + shift + 2 * i, &(uint16_t){(uint16_t)i}, 2);
        values[PATTERNS] = 7;
        clfi_f32_from_f16_array(bytes + shift, PATTERNS, values);
        for (unsigned i = 0; i < PATTERNS; i++)
            CHECK(clfi_f32_bits(values[i]) == clfi_f32_bits(clfi_f32_from_f16((uint16_t)i)), "f16 %04x", i);
        clfi_f32_from_bf16_array(bytes + shift, PATTERNS, values);
        for (unsigned i = 0; i < PATTERNS; i++)
            CHECK(clfi_f32_bits(values[i]) == i << 16, "bf16 %04x", i);
        assert_true(values[PATTERNS] == 7);
        for (unsigned i = 0; i < PATTERNS; i++)
            values[i] = (float)i * 0.37f - 9000.0f;
        bytes[shift + 2 * (PATTERNS - 1)] = 0xab;
        clfi_f16_from_f32_array(values, PATTERNS - 1, bytes + shift);
        for (unsigned i = 0; i < PATTERNS - 1; i++) {
            uint16_t half;
            memcpy(&half, bytes + shift + 2 * i, 2);
            CHECK(half == clfi_f16_from_f32(values[i]), "to f16 %u", i);
        }
        clfi_bf16_from_f32_array(values, PATTERNS - 1, bytes + shift);
        for (unsigned i = 0; i < PATTERNS - 1; i++) {
            uint16_t half;
            memcpy(&half, bytes + shift + 2 * i, 2);
            CHECK(half == clfi_bf16_from_f32(values[i]), "to bf16 %u", i);
        }
        assert_int_equal(bytes[shift + 2 * (PATTERNS - 1)], 0xab);
    }
    free(bytes);
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(f16), cmocka_unit_test(bf16), cmocka_unit_test(arrays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
