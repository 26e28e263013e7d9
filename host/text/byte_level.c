/* SPDX-License-Identifier: MIT */
/* Maps bytes to GPT-2's characters for them and back. */
#include "text/byte_level.h"

/* The character of a byte. Bytes 0..32, 127..160 and 173 are no visible characters: in this order they become U+0100, U+0101, ... */
static uint32_t byte_to_char(unsigned char byte)
{
    if (byte <= 0x20)
        return 0x100u + byte;
    if (byte >= 0x7f && byte <= 0xa0)
        return 0x121u + (byte - 0x7fu);
    return byte == 0xad ? 0x143 : byte;
}

int clfi_char_to_byte(uint32_t code)
{
    if (code >= 0x100 && code <= 0x120)
        return (int)(code - 0x100);
    if (code >= 0x121 && code <= 0x142)
        return (int)(code - 0x121 + 0x7f);
    if (code == 0x143)
        return 0xad;
    return code <= 0xff && byte_to_char((unsigned char)code) == code ? (int)code : -1;
}

clf_status clfi_byte_level_append(clf_aligned_text *to, const clf_aligned_text *from, size_t start, size_t end)
{
    const clf_char_span nowhere = {0, 0};
    for (size_t i = start; i < end; i++)
        CLF_TRY(clfi_aligned_append(to, byte_to_char((unsigned char)from->text.data[i]), from->is_aligned ? from->spans[i] : nowhere));
    return CLF_OK;
}
