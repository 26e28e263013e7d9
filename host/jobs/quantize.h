/* SPDX-License-Identifier: MIT */
/* Quantizes embeddings to one byte or one bit per feature, as quantize_embeddings of sentence-transformers does. */
#ifndef CLFI_JOBS_QUANTIZE_H
#define CLFI_JOBS_QUANTIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "io/file_dtype.h"

/* In the order of --quantize. */
typedef enum cli_quantization {
    CLI_QUANTIZE_NO,
    CLI_QUANTIZE_INT8,
    CLI_QUANTIZE_UINT8,
    CLI_QUANTIZE_BINARY,
    CLI_QUANTIZE_UBINARY
} cli_quantization;

const char *cli_quantize_name(cli_quantization kind);
bool cli_quantize_from_name(const char *name, cli_quantization *out); /* false: none has that name */
bool cli_quantize_has_ranges(cli_quantization kind); /* int8 and uint8: 255 steps from each feature's least value to its largest */
bool cli_quantize_is_signed(cli_quantization kind);
size_t cli_quantized_width(cli_quantization kind, size_t width); /* bytes of a row of `width` features; not for CLI_QUANTIZE_NO */
clf_file_dtype cli_quantized_dtype(cli_quantization kind);       /* element type of a file of such rows; float32 for CLI_QUANTIZE_NO */

/* ranges [2, width]: the least and the largest value of each feature in rows [count, width]. INVALID_ARGUMENT: fewer than two rows give no
 * range. FORMAT: the ends or the width of a range are not finite in float32. */
clf_status cli_quantize_ranges(const float *rows, size_t count, size_t width, float *ranges);

/* Reads the ranges [2, width] of a .npy file; the caller frees *out. INVALID_ARGUMENT: another shape. FORMAT: not a .npy file, or the least
 * value of a range is above the largest, or a range as in cli_quantize_ranges. NOT_FOUND, IO, OUT_OF_MEMORY. */
clf_status cli_quantize_read_ranges(const char *path, size_t width, float **out);

/* Quantizes row [width] into out [cli_quantized_width]. uint8: floor((x - least) / step) clipped to 0..255, step = (largest - least) / 255,
 * or 1 if that is 0. int8: the same minus 128. ubinary: one bit per feature, 1 if x > 0; the first feature is the highest bit. binary: the
 * same bytes minus 128. All in float32. */
void cli_quantize_row(cli_quantization kind, const float *row, size_t width, const float *ranges, uint8_t *out);

#endif
