/* SPDX-License-Identifier: MIT */
/* Embeddings in one byte or one bit a feature, as sentence-transformers' quantize_embeddings makes them. */
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
size_t cli_quantized_width(cli_quantization kind, size_t width); /* bytes of a row: width, or a bit a feature */
clf_file_dtype cli_quantized_dtype(cli_quantization kind);       /* of a file of such rows; no: float32 */

/* ranges [2, width]: the least and the largest of each feature of rows [count, width]. INVALID_ARGUMENT: fewer than two rows, from which no
 * range can be told. FORMAT: one so wide that float32 does not hold its width. */
clf_status cli_quantize_ranges(const float *rows, size_t count, size_t width, float *ranges);

/* The file's array [2, width]; *out: the caller frees it. INVALID_ARGUMENT: another shape. FORMAT: a range that falls, is not finite or
 * so wide. */
clf_status cli_quantize_read_ranges(const char *path, size_t width, float **out);

/* out [cli_quantized_width]. uint8: floor((x - least) / step) within 0..255, step = (largest - least) / 255, or 1 where that is 0. int8:
 * the same less 128. binary: a bit where x > 0, the first feature in the highest bit, less 128 if signed. All in float32. */
void cli_quantize_row(cli_quantization kind, const float *row, size_t width, const float *ranges, uint8_t *out);

#endif
