/* SPDX-License-Identifier: MIT */
/* Packs an operand of a product, or a weight, into blocks of bfloat16 numbers (bf16_blocks.cl). */
#include "vector.cl"
#include "bf16_blocks.cl"
#include "gemm_batch.cl"
#include "item.cl"

#if WIDTH != 16 || !defined(IS_B) || !defined(IS_K_DENSE) || !defined(PARTS)
#error "WIDTH: 16; IS_B, IS_K_DENSE (k contiguous in the source): 0 or 1; PARTS: 1 or 2"
#endif

static inline float16 load_sixteen(__global const FROM_T *from, long k_stride, int count)
{
    if (IS_K_DENSE && count == 16)
        return PASTE(vector_, LOAD_FROM)(from);
    float values[16];
    for (int i = 0; i < 16; i++)
        values[i] = i < count ? LOAD_FROM(from, i * k_stride) : 0.0f;
    return *(__private const floatv *)values;
}

/* Stores 16 numbers of a line, pairs 8 `half_of_k` and the following. */
static inline void store_sixteen(float16 x, __global ushort *to, int line, int half_of_k)
{
    const ushort16 numbers = convert_ushort16(as_uint16(x) >> 16);
    if (!IS_B) {
        vstore16(numbers, line * 2 + half_of_k, to);
        return;
    }
    ushort each[16];
    vstore16(numbers, 0, each);
    for (int i = 0; i < 16; i++)
        to[((half_of_k * 8 + i / 2) * 16 + line) * 2 + i % 2] = each[i];
}

/* Lines first .. first + rows of the packed matrix. Lines after them in their last block become 0; a part that follows overwrites them. An
 * item packs a block of lines; dimension 1 is k in steps of 32, dimension 2 the batch. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void gemm_pack_bf16(
    ITEM_PARAMETERS int rows, int k, __global const FROM_T *restrict from, long from_offset, long row_stride, long k_stride,
    uint4 batch_size, long4 batch_stride, __global ushort *restrict to, long to_offset, int lines, int first)
{
    const int line_block = first / BF16_LINES + (int)get_group_id(0), k_block = (int)get_group_id(1);
    const uint batch = (uint)get_group_id(2);
    const int begin = max(line_block * BF16_LINES, first), end = (line_block + 1) * BF16_LINES, left = k - k_block * BF16_LINES;
    const int k_blocks = (k + BF16_LINES - 1) / BF16_LINES;
    from += from_offset + strided_batch_offset(batch, batch_size, batch_stride) + k_block * BF16_LINES * k_stride;
    to += 2 * (to_offset + batch * bf16_words(lines, k, PARTS) + ((long)line_block * k_blocks + k_block) * (PARTS * BF16_PART));
    for (int line = begin; line < end; line++) {
        const bool is_there = line < first + rows;
        __global const FROM_T *const own = from + (is_there ? line - first : 0) * row_stride;
        __global ushort *const half_block = to + 2 * BF16_HALF * (line / 16 % 2);
        for (int i = 0; i < 2; i++) {
            float16 rest = load_sixteen(own + i * 16 * k_stride, k_stride, is_there ? clamp(left - 16 * i, 0, 16) : 0);
            for (int part = 0; part < PARTS; part++) {
                const float16 number = nearest_bf16(rest);
                store_sixteen(number, half_block + 2 * BF16_PART * part, line % 16, i);
                rest -= number;
            }
        }
    }
}
