/* SPDX-License-Identifier: MIT */
/* Looks up character properties in tables. Case and decomposition come from utf8proc, with corrections to the reference's versions of
 * Unicode. */
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

bool clfi_char_is_accent(uint32_t code)
{
    return code >= 0x300 && contains(clfi_accent_ranges, clfi_accent_range_count, code);
}

bool clfi_char_is_numeric(uint32_t code)
{
    return code < 0x80 ? code >= '0' && code <= '9' : contains(clfi_numeric_ranges, clfi_numeric_range_count, code);
}

bool clfi_char_is_whitespace(uint32_t code)
{
    return clfi_char_properties(code).flags & CLFI_CHAR_WHITESPACE;
}

uint8_t clfi_char_combining_class(uint32_t code)
{
    size_t low = 0, high = code < 0x300 ? 0 : clfi_combining_range_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const clf_combining_range *range = &clfi_combining_ranges[middle];
        if (code > range->last)
            low = middle + 1;
        else if (code < range->first)
            high = middle;
        else
            return range->combining;
    }
    return 0;
}

bool clfi_char_is_chinese(uint32_t code)
{
    static const clf_code_range ideographs[] = {
        {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},   {0x20000, 0x2a6df},
        {0x2a700, 0x2b81f}, {0x2b920, 0x2ceaf}, {0x2f800, 0x2fa1f},
    };
    return code >= 0x3400 && contains(ideographs, COUNT(ideographs), code);
}

/* Capital letters of Unicode 16 and 17, which older releases of utf8proc do not know. */
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

/* Whether the character decomposes in Unicode 9. Above the BMP later versions added decompositions, in the BMP none. */
static bool decomposes(uint32_t code)
{
    static const clf_code_range supplementary[] = {
        {0x1109a, 0x1109a}, {0x1109c, 0x1109c}, {0x110ab, 0x110ab}, {0x1112e, 0x1112f}, {0x1134b, 0x1134c}, {0x114bb, 0x114bc},
        {0x114be, 0x114be}, {0x115ba, 0x115bb}, {0x1d15e, 0x1d164}, {0x1d1bb, 0x1d1c0}, {0x2f800, 0x2fa1d},
    };
    return code >= 0xc0 && (code < 0x10000 || contains(supplementary, COUNT(supplementary), code));
}

static size_t decompose(uint32_t code, utf8proc_option_t options, uint32_t *out, utf8proc_ssize_t room)
{
    utf8proc_int32_t parts[CLFI_COMPATIBILITY_MAX];
    const utf8proc_ssize_t count = utf8proc_decompose_char((utf8proc_int32_t)code, parts, room, options, NULL);
    out[0] = code;
    if (count < 1 || count > room) /* no decomposition is longer than the room for it */
        return 1;
    for (utf8proc_ssize_t i = 0; i < count; i++)
        out[i] = (uint32_t)parts[i];
    return (size_t)count;
}

size_t clfi_char_decompose(uint32_t code, uint32_t out[CLFI_DECOMPOSE_MAX])
{
    out[0] = code;
    return decomposes(code) ? decompose(code, UTF8PROC_DECOMPOSE, out, CLFI_DECOMPOSE_MAX) : 1;
}

size_t clfi_char_decompose_compatibly(uint32_t code, uint32_t out[CLFI_COMPATIBILITY_MAX])
{
    out[0] = code;
    if (code >= 0xa0 && contains(clfi_compatibility_ranges, clfi_compatibility_range_count, code))
        return decompose(code, UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT, out, CLFI_COMPATIBILITY_MAX);
    return clfi_char_decompose(code, out);
}

bool clfi_char_compose(uint32_t first, uint32_t second, uint32_t *out)
{
    if (second < 0x300) /* no second character of a composition is below */
        return false;
    utf8proc_int32_t both[2] = {(utf8proc_int32_t)first, (utf8proc_int32_t)second};
    if (utf8proc_normalize_utf32(both, 2, UTF8PROC_COMPOSE | UTF8PROC_STABLE) != 1 || !decomposes((uint32_t)both[0]))
        return false;
    *out = (uint32_t)both[0];
    return true;
}
