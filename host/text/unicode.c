/* SPDX-License-Identifier: MIT */
/* Character properties from tables, case and decomposition through utf8proc with the differences named. */
#include "text/unicode.h"

#include <utf8proc.h>

#include "text/unicode_ranges.h"

clf_char_properties clfi_char_properties(uint32_t code)
{
    size_t low = 0, high = clfi_property_range_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const clf_property_range *range = &clfi_property_ranges[middle];
        if (code > range->last)
            low = middle + 1;
        else if (code < range->first)
            high = middle;
        else
            return (clf_char_properties){range->flags, range->combining};
    }
    return (clf_char_properties){0, 0};
}

static bool contains(const clf_code_range *ranges, size_t count, uint32_t code)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (code > ranges[middle].last)
            low = middle + 1;
        else if (code < ranges[middle].first)
            high = middle;
        else
            return true;
    }
    return false;
}

bool clfi_char_is_word(uint32_t code)
{
    return contains(clfi_word_ranges, clfi_word_range_count, code);
}

bool clfi_char_is_chinese(uint32_t code)
{
    static const clf_code_range ideographs[] = {
        {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},   {0x20000, 0x2a6df},
        {0x2a700, 0x2b81f}, {0x2b920, 0x2ceaf}, {0x2f800, 0x2fa1f},
    };
    return code >= 0x3400 && contains(ideographs, COUNT(ideographs), code);
}

/* Capital letters of Unicode 16 and 17, which older utf8proc releases do not know. */
static uint32_t recent_lower(uint32_t code)
{
    switch (code) {
    case 0x1c89: return 0x1c8a;
    case 0xa7cb: return 0x0264;
    case 0xa7cc: return 0xa7cd;
    case 0xa7ce: return 0xa7cf;
    case 0xa7d2: return 0xa7d3;
    case 0xa7d4: return 0xa7d5;
    case 0xa7da: return 0xa7db;
    case 0xa7dc: return 0x019b;
    default: break;
    }
    if (code >= 0x10d50 && code <= 0x10d65) /* Garay */
        return code + 0x20;
    if (code >= 0x16ea0 && code <= 0x16eb8) /* Beria Erfe */
        return code + 0x1b;
    return code;
}

size_t clfi_char_lower(uint32_t code, uint32_t out[CLFI_LOWER_MAX])
{
    if (code == 0x130) { /* the only letter whose lower case is two characters: i and a dot above */
        out[0] = 'i';
        out[1] = 0x307;
        return 2;
    }
    const uint32_t lower = (uint32_t)utf8proc_tolower((utf8proc_int32_t)code);
    out[0] = lower == code ? recent_lower(code) : lower;
    return 1;
}

/* Above the BMP only what Unicode 9 decomposes; below it nothing has been added since. */
static bool decomposes(uint32_t code)
{
    static const clf_code_range supplementary[] = {
        {0x1109a, 0x1109a}, {0x1109c, 0x1109c}, {0x110ab, 0x110ab}, {0x1112e, 0x1112f}, {0x1134b, 0x1134c}, {0x114bb, 0x114bc},
        {0x114be, 0x114be}, {0x115ba, 0x115bb}, {0x1d15e, 0x1d164}, {0x1d1bb, 0x1d1c0}, {0x2f800, 0x2fa1d},
    };
    return code >= 0xc0 && (code < 0x10000 || contains(supplementary, COUNT(supplementary), code));
}

size_t clfi_char_decompose(uint32_t code, uint32_t out[CLFI_DECOMPOSE_MAX])
{
    out[0] = code;
    if (!decomposes(code))
        return 1;
    utf8proc_int32_t parts[CLFI_DECOMPOSE_MAX];
    const utf8proc_ssize_t count =
        utf8proc_decompose_char((utf8proc_int32_t)code, parts, CLFI_DECOMPOSE_MAX, UTF8PROC_DECOMPOSE, NULL);
    if (count < 1 || count > CLFI_DECOMPOSE_MAX) /* canonical decompositions have at most four characters */
        return 1;
    for (utf8proc_ssize_t i = 0; i < count; i++)
        out[i] = (uint32_t)parts[i];
    return (size_t)count;
}
