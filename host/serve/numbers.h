/* SPDX-License-Identifier: MIT */
/* Rows of numbers as they go into answers. */
#ifndef CLFI_SERVE_NUMBERS_H
#define CLFI_SERVE_NUMBERS_H

#include "base/str.h"

/* "[0.25,-1]": nine digits, from which float32 is read back as it was. */
clf_status srv_write_numbers(const float *numbers, size_t count, clf_str *out);

/* Base64 (RFC 4648, section 4, with padding) of the numbers as little-endian float32, in quotes. */
clf_status srv_write_base64(const float *numbers, size_t count, clf_str *out);

/* Divides by the L2 norm; zeros stay zeros. */
void srv_normalise(float *numbers, size_t count);

double srv_sigmoid(double x);

#endif
