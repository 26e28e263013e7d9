/* SPDX-License-Identifier: MIT */
/* UTF-8 decoding and encoding of single code points. */
#include "base/utf8.h"

#include <string.h>

size_t clfi_utf8_decode(const unsigned char *text, size_t size, uint32_t *code)
{
    const unsigned lead = text[0];
    *code = CLFI_UTF8_INVALID;
    if (lead < 0x80) {
        *code = lead;
        return 1;
    }
    if (lead < 0xc2 || lead > 0xf4)
        return 1;
    const size_t need = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    uint32_t value = lead & (0x7fu >> need);
    for (size_t i = 1; i < need; i++) {
        unsigned low = 0x80, high = 0xbf; /* bounds of the second byte exclude overlong forms, surrogates and > U+10FFFF */
        if (i == 1) {
            low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
            high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
        }
        if (i >= size || text[i] < low || text[i] > high)
            return i;
        value = (value << 6) | (text[i] & 0x3fu);
    }
    *code = value;
    return need;
}

size_t clfi_utf8_encode(uint32_t code, unsigned char out[4])
{
    if (code < 0x80) {
        out[0] = (unsigned char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (unsigned char)(0xc0 | code >> 6);
        out[1] = (unsigned char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (unsigned char)(0xe0 | code >> 12);
        out[1] = (unsigned char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (unsigned char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (unsigned char)(0xf0 | code >> 18);
    out[1] = (unsigned char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (unsigned char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (unsigned char)(0x80 | (code & 0x3f));
    return 4;
}

size_t clfi_utf8_check(const unsigned char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        uint32_t code;
        const size_t bytes = clfi_utf8_decode(text + i, size - i, &code);
        if (code == CLFI_UTF8_INVALID)
            return i;
        i += bytes;
    }
    return size;
}

bool clfi_utf8_is_printable(uint32_t code)
{
    static const uint32_t hidden[][2] = {{0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},       {0x61c, 0x61c},
                                         {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},
                                         {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}, {0x110000, UINT32_MAX}};
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
        if (code >= hidden[i][0] && code <= hidden[i][1])
            return false;
    return true;
}

bool clfi_utf8_drives_terminal(uint32_t code)
{
    const bool is_control = (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code <= 0x9f);
    return is_control || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

void clfi_utf8_make_printable(char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        uint32_t code = 0;
        const size_t bytes = clfi_utf8_decode((const unsigned char *)text + i, size - i, &code);
        if (!clfi_utf8_is_printable(code)) /* CLFI_UTF8_INVALID is beyond the last code point */
            memset(text + i, '?', bytes);
        i += bytes;
    }
}
