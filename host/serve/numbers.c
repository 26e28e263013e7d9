/* SPDX-License-Identifier: MIT */
/* Writes numbers as text and as base64. */
#include "serve/numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

clf_status srv_write_numbers(const float *numbers, size_t count, clf_str *out)
{
    CLF_TRY(clfi_str_append_char(out, '['));
    for (size_t i = 0; i < count; i++) {
        char text[32];
        const int size = snprintf(text, sizeof text, "%s%.9g", i ? "," : "", (double)numbers[i]);
        CLF_TRY(clfi_str_append(out, text, (size_t)size));
    }
    return clfi_str_append_char(out, ']');
}

/* The i-th byte of the numbers, least significant first. */
static uint32_t byte_of(const float *numbers, size_t i)
{
    uint32_t bits;
    memcpy(&bits, &numbers[i / 4], sizeof bits);
    return bits >> 8 * (i % 4) & 0xff;
}

clf_status srv_write_base64(const float *numbers, size_t count, clf_str *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t size = 4 * count;
    CLF_TRY(clfi_str_append_char(out, '"'));
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const uint32_t bits =
            byte_of(numbers, i) << 16 | (left > 1 ? byte_of(numbers, i + 1) << 8 : 0) | (left > 2 ? byte_of(numbers, i + 2) : 0);
        const char text[4] = {digits[bits >> 18], digits[bits >> 12 & 63], left > 1 ? digits[bits >> 6 & 63] : '=',
                              left > 2 ? digits[bits & 63] : '='};
        CLF_TRY(clfi_str_append(out, text, sizeof text));
    }
    return clfi_str_append_char(out, '"');
}

void srv_normalise(float *numbers, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)numbers[i] * (double)numbers[i];
    for (size_t i = 0; i < count && sum > 0; i++)
        numbers[i] = (float)((double)numbers[i] / sqrt(sum));
}

double srv_sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}
