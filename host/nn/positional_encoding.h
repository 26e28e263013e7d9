/* SPDX-License-Identifier: MIT */
/* Sinusoidal positional encoding (Vaswani et al. 2017, section 3.5). */
#ifndef CLFI_NN_POSITIONAL_ENCODING_H
#define CLFI_NN_POSITIONAL_ENCODING_H

#include <stdbool.h>
#include <stdint.h>

/* table[p * d + 2i] = sin(p w_i), table[p * d + 2i + 1] = cos(p w_i), w_i = exp(-2i ln(10000) / d), for positions first .. first + length
 * - 1. Angles and functions in double: a float32 angle is off by 4e-4 at position 5,000. has_halves: all sines before all cosines, in
 * columns i and (d + 1) / 2 + i. */
void clfi_positional_encoding(int64_t first, int64_t length, int64_t d, bool has_halves, float *table);

#endif
