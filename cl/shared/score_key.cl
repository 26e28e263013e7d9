/* SPDX-License-Identifier: MIT */
/* Keys for top-k and search: a score and its index as one integer, larger = better. The upper word orders the float's bits (NaN lowest,
 * both zeros equal), the lower word prefers small indices. Only integers are compared, so every device gives the same answer. Key 0 means
 * that there is no candidate. */

/* Maps a float to bits whose unsigned order is that of the numbers; 0 for NaN. */
static inline uint order_of(float score)
{
    const uint bits = as_uint(score), magnitude = bits & 0x7fffffffu;
    const uint order = magnitude == bits ? bits | 0x80000000u : ~bits;
    return magnitude > 0x7f800000u ? 0u : magnitude == 0 ? 0x80000000u : order;
}

static inline float score_of(ulong key)
{
    const uint order = (uint)(key >> 32);
    return as_float(order == 0 ? 0x7fc00000u : order & 0x80000000u ? order & 0x7fffffffu : ~order);
}

static inline ulong key_of(float score, long index)
{
    return (ulong)order_of(score) << 32 | (0xffffffffu - (uint)index);
}

static inline int index_of(ulong key)
{
    return (int)(0xffffffffu - (uint)key);
}
