/* SPDX-License-Identifier: MIT */
/* Quantizes embeddings to bytes or bits. */
#include "jobs/quantize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "io/npy.h"

enum { STEPS = 255, SIGN = 128 };

static const char *const names[] = {"no", "int8", "uint8", "binary", "ubinary"};

const char *cli_quantize_name(cli_quantization kind)
{
    return names[kind];
}

bool cli_quantize_from_name(const char *name, cli_quantization *out)
{
    for (size_t i = 0; i < COUNT(names); i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = (cli_quantization)i;
            return true;
        }
    }
    return false;
}

bool cli_quantize_has_ranges(cli_quantization kind)
{
    return kind == CLI_QUANTIZE_INT8 || kind == CLI_QUANTIZE_UINT8;
}

bool cli_quantize_is_signed(cli_quantization kind)
{
    return kind == CLI_QUANTIZE_INT8 || kind == CLI_QUANTIZE_BINARY;
}

size_t cli_quantized_width(cli_quantization kind, size_t width)
{
    return cli_quantize_has_ranges(kind) ? width : (width + 7) / 8;
}

clf_file_dtype cli_quantized_dtype(cli_quantization kind)
{
    if (kind == CLI_QUANTIZE_NO)
        return CLF_FILE_F32;
    return cli_quantize_is_signed(kind) ? CLF_FILE_I8 : CLF_FILE_U8;
}

/* If the width of the range were infinite, every byte would be the smallest. */
static clf_status check_range(const char *where, size_t feature, float least, float largest)
{
    if (!isfinite(least) || !isfinite(largest) || least > largest)
        CLF_FAIL(CLF_FORMAT, "%s: feature %zu: expected finite numbers, the minimum and then the maximum, found %g and %g", where,
                 feature + 1, (double)least, (double)largest);
    if (!isfinite(largest - least))
        CLF_FAIL(CLF_FORMAT, "%s: feature %zu: expected a range whose width float32 holds, found %g to %g", where, feature + 1,
                 (double)least, (double)largest);
    return CLF_OK;
}

clf_status cli_quantize_ranges(const float *rows, size_t count, size_t width, float *ranges)
{
    if (count < 2)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--quantize: %zu embedding%s: expected two or more to take the ranges from, or --ranges F.npy",
                 count, clfi_plural(count, "", "s"));
    memcpy(ranges, rows, width * sizeof *ranges);
    memcpy(ranges + width, rows, width * sizeof *ranges);
    for (size_t i = width; i < count * width; i++) {
        const size_t c = i % width;
        ranges[c] = fminf(ranges[c], rows[i]);
        ranges[width + c] = fmaxf(ranges[width + c], rows[i]);
    }
    for (size_t c = 0; c < width; c++)
        CLF_TRY(check_range("--quantize", c, ranges[c], ranges[width + c]));
    return CLF_OK;
}

clf_status cli_quantize_read_ranges(const char *path, size_t width, float **out)
{
    clf_npy npy;
    float *ranges = NULL;
    clf_status st;
    CLF_TRY(clfi_npy_open(path, &npy));
    if (npy.rank != 2 || npy.dim[0] != 2 || npy.dim[1] != (int64_t)width)
        CLF_GOTO(clfi_fail(CLF_INVALID_ARGUMENT, "%s: expected an array [2, %zu]: minimum and maximum of each feature", path, width));
    CLF_GOTO(clfi_alloc(2 * width, sizeof *ranges, "ranges", &ranges));
    CLF_GOTO(clfi_npy_read_f32(&npy, 0, 2 * width, ranges));
    for (size_t c = 0; c < width; c++)
        CLF_GOTO(check_range(path, c, ranges[c], ranges[width + c]));
    *out = ranges;
    ranges = NULL;
done:
    free(ranges);
    clfi_npy_close(&npy);
    return st;
}

void cli_quantize_row(cli_quantization kind, const float *row, size_t width, const float *ranges, uint8_t *out)
{
    const uint8_t sign = cli_quantize_is_signed(kind) ? SIGN : 0; /* minus 128 flips the highest bit */
    memset(out, 0, cli_quantized_width(kind, width));
    for (size_t c = 0; c < width; c++) {
        if (!cli_quantize_has_ranges(kind)) {
            out[c / 8] |= (uint8_t)((row[c] > 0) << (7 - c % 8));
            continue;
        }
        const float range = (ranges[width + c] - ranges[c]) / STEPS, step = range == 0 ? 1 : range;
        out[c] = (uint8_t)fminf(fmaxf(floorf((row[c] - ranges[c]) / step), 0), STEPS);
    }
    for (size_t i = 0; i < cli_quantized_width(kind, width); i++)
        out[i] ^= sign;
}
