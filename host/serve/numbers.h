/* SPDX-License-Identifier: MIT */
/* Writes rows of numbers for answers. */
#ifndef CLFI_SERVE_NUMBERS_H
#define CLFI_SERVE_NUMBERS_H

#include "base/str.h"

/* Appends "[0.25,-1]". Nine digits restore each float32 exactly. OUT_OF_MEMORY. */
clf_status srv_write_numbers(const float *numbers, size_t count, clf_str *out);

/* Appends the numbers as little-endian float32 in base64 (RFC 4648, section 4, with padding), in quotes. OUT_OF_MEMORY. */
clf_status srv_write_base64(const float *numbers, size_t count, clf_str *out);

/* Divides by the L2 norm; zeros stay zeros. */
void srv_normalise(float *numbers, size_t count);

double srv_sigmoid(double x);

#endif
