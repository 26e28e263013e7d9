/* SPDX-License-Identifier: MIT */
/* Dropout with Philox 4x32-10 (Salmon et al. 2011): one work-item makes four random words and treats four elements. */
#include "types.cl"
#include "axes.cl"

#if !defined X_T || !defined Y_T
#error "X_T, Y_T with LOAD_X, STORE_Y: storage types"
#endif
#ifndef AXES
#error "AXES: merged axes"
#endif

typedef struct element_axes {
    long dim[AXES], x[AXES], y[AXES];
} element_axes;

inline uint4 philox(uint4 counter, uint2 key)
{
    for (int round = 0; round < 10; round++) {
        const uint high0 = mul_hi(0xd2511f53u, counter.x), low0 = 0xd2511f53u * counter.x;
        const uint high1 = mul_hi(0xcd9e8d57u, counter.z), low1 = 0xcd9e8d57u * counter.z;
        counter = (uint4)(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
        key += (uint2)(0x9e3779b9u, 0xbb67ae85u);
    }
    return counter;
}

__kernel void attention_dropout(__global const X_T *x, long x_offset, __global Y_T *y, long y_offset, element_axes axes, long count,
                                float probability, uint seed_low, uint seed_high)
{
    const ulong block = (ulong)get_global_id(0);
    const float factor = 1.0f / (1.0f - probability);
    const uint4 words = philox((uint4)((uint)block, (uint)(block >> 32), 0u, 0u), (uint2)(seed_low, seed_high));
    x += x_offset;
    y += y_offset;
#define TREAT(i, word)                                                                          \
    if ((long)block * 4 + i < count) {                                                          \
        const long at = (long)block * 4 + i;                                                    \
        const float value = LOAD_X(x, axes_offset(axes.dim, axes.x, AXES, at));                 \
        const bool keep = (float)(words.word >> 8) * 0x1p-24f >= probability;                   \
        STORE_Y(y, axes_offset(axes.dim, axes.y, AXES, at), keep ? value * factor : 0.0f);      \
    }
    TREAT(0, x)
    TREAT(1, y)
    TREAT(2, z)
    TREAT(3, w)
}
