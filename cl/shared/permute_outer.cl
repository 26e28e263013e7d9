/* SPDX-License-Identifier: MIT */
/* The outer axes of a permutation, for its kernels: all axes but the two that are contiguous in the input and in the output. */
#ifndef OUTER_RANK
#error "OUTER_RANK: number of the other axes; IN_T, LOAD_IN, OUT_T, STORE_OUT: storage types"
#endif

/* Sizes of the outer axes, then their strides in `in`, then in `out`. FIND_OUTER moves `in` and `out` to outer index `index`. */
typedef struct {
    long value[OUTER_RANK > 0 ? 3 * OUTER_RANK : 1];
} outer_axes;

#define FIND_OUTER(index)                                          \
    for (int d = OUTER_RANK - 1; d >= 0; d--) {                    \
        const uint next = index / (uint)outer.value[d];            \
        const uint digit = index - next * (uint)outer.value[d];    \
        in += digit * outer.value[OUTER_RANK + d];                 \
        out += digit * outer.value[2 * OUTER_RANK + d];            \
        index = next;                                              \
    }
