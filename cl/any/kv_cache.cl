/* SPDX-License-Identifier: MIT */
/* Stores keys and values of new tokens in rows of a cache: cache[h][rows[n]][0][c] = k[h,n,c], and [1] likewise from v. A work-item takes
 * every items-th piece of a token's heads. A piece is a vector of WIDTH elements, or with IS_Q8 a block; it divides a head's size D. */
#include "vector.cl"
#include "cache_q8.cl"
#include "half_bits.cl"
#include "item.cl"

#if !defined(LOAD_FROM) || !defined(STORE_TO) || !defined(IS_Q8)
#error "FROM_T, LOAD_FROM: type of k and v; TO_T, STORE_TO: of the cache; IS_Q8: it is q8_0"
#endif

/* Offset and strides of a [H,N,D] operand, in elements. */
typedef struct head_layout {
    long offset, head_stride, stride;
} head_layout;

#if IS_Q8
#define MOST_Q8 (127.0f * 65504.0f) /* the largest number that a block can hold */
#define PIECE CACHE_BLOCK
#define ROW CACHE_ROW_Q8(size)

/* The smallest half that is not below x, for 0 <= x <= 65504. */
inline uint half_from_above(float x)
{
    const uint bits = half_bits(x);
    return bits + (half_value(bits) < x);
}

/* Elements c to c + 31 of a row. The scale is rounded up, so that no quotient exceeds 127. A block with a number that is not finite
 * or is too large for any scale becomes NaN. */
inline void store_piece(__global uchar *row, int size, int c, __global const FROM_T *from)
{
    uint most_bits = 0; /* of the largest magnitude; those of a NaN are larger than those of a number */
    for (int i = 0; i < CACHE_BLOCK; i++)
        most_bits = max(most_bits, as_uint(LOAD_FROM(from, i)) & 0x7fffffffu);
    const bool is_storable = most_bits <= as_uint(MOST_Q8);
    const uint bits = is_storable ? half_from_above(as_float(most_bits) / 127.0f) : 0x7e00;
    *((__global ushort *)(row + size) + c / CACHE_BLOCK) = (ushort)bits;
    const float scale = is_storable ? half_value(bits) : 0.0f;
    for (int i = 0; i < CACHE_BLOCK; i++)
        row[c + i] = (uchar)(scale > 0.0f ? (int)rint(LOAD_FROM(from, i) / scale) : 0);
}
#else
#define PIECE WIDTH
#define ROW size
#define store_piece(row, size, c, from) PASTE(vector_, STORE_TO)((row) + (c), PASTE(vector_, LOAD_FROM)(from))
#endif

__kernel void kv_cache_store(ITEM_PARAMETERS __global const FROM_T *k, head_layout k_at, __global const FROM_T *v, head_layout v_at,
                             __global TO_T *cache, long capacity, __global const int *rows, long rows_offset,
                             int heads, int size, int items)
{
    const int columns = heads * size;
    const long n = (long)get_global_id(1), to = rows[rows_offset + n];
    for (int c = (int)get_global_id(0) * PIECE; c < columns; c += items * PIECE) {
        const int head = (int)((uint)c / (uint)size), within = c - head * size; /* no %: Oclgrind fails at it beside a division */
        __global TO_T *key = cache + (head * capacity + to) * 2 * ROW;
        store_piece(key, size, within, k + k_at.offset + head * k_at.head_stride + n * k_at.stride + within);
        store_piece(key + ROW, size, within, v + v_at.offset + head * v_at.head_stride + n * v_at.stride + within);
    }
}
