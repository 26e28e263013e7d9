/* SPDX-License-Identifier: MIT */
/* Decodes blocks of quantised weights to floats. */
#include <math.h>
#include <string.h>

#include "base/half.h"
#include "base/weight_type.h"

static double half_at(const uint8_t *bytes)
{
    return (double)clfi_f32_from_f16((uint16_t)(bytes[0] | bytes[1] << 8));
}

static void decode_f32(const uint8_t *b, double *out)
{
    uint32_t bits;
    memcpy(&bits, b, sizeof bits);
    *out = (double)clfi_f32_from_bits(bits);
}

static void decode_f16(const uint8_t *b, double *out)
{
    *out = half_at(b);
}

static void decode_bf16(const uint8_t *b, double *out)
{
    *out = (double)clfi_f32_from_bf16((uint16_t)(b[0] | b[1] << 8));
}

static void decode_q8_0(const uint8_t *b, double *out)
{
    const double d = half_at(b);
    for (int i = 0; i < 32; i++)
        out[i] = d * (int8_t)b[2 + i];
}

/* 32 weights d (q - zero) + m from 16 bytes of nibbles and, where there are any, 32 fifth bits. */
static void decode_nibbles(double d, double m, int zero, const uint8_t *nibbles, uint32_t fifth_bits, double *out)
{
    for (int i = 0; i < 16; i++) {
        const int low = (nibbles[i] & 15) | (int)(fifth_bits >> i & 1) << 4, high = nibbles[i] >> 4 | (int)(fifth_bits >> (i + 16) & 1)
                                                                                                          << 4;
        out[i] = d * (low - zero) + m;
        out[i + 16] = d * (high - zero) + m;
    }
}

static uint32_t bits_at(const uint8_t *b)
{
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static void decode_q4_0(const uint8_t *b, double *out)
{
    decode_nibbles(half_at(b), 0, 8, b + 2, 0, out);
}

static void decode_q4_1(const uint8_t *b, double *out)
{
    decode_nibbles(half_at(b), half_at(b + 2), 0, b + 4, 0, out);
}

static void decode_q5_0(const uint8_t *b, double *out)
{
    decode_nibbles(half_at(b), 0, 16, b + 6, bits_at(b + 2), out);
}

static void decode_q5_1(const uint8_t *b, double *out)
{
    decode_nibbles(half_at(b), half_at(b + 2), 0, b + 8, bits_at(b + 4), out);
}

/* Pair `group` of the eight 6-bit pairs in 12 bytes. Bytes 0..3 hold scales 0..3 and bytes 4..7 offsets 0..3 in their low six bits. Bytes
 * 8..11 hold the low nibbles of scale and offset 4..7, whose upper two bits are the upper two of bytes 0..3 and 4..7. */
static void scale_pair(const uint8_t *b, int group, int *scale, int *offset)
{
    if (group < 4) {
        *scale = b[group] & 63;
        *offset = b[group + 4] & 63;
    } else {
        *scale = (b[group + 4] & 15) | b[group - 4] >> 6 << 4;
        *offset = b[group + 4] >> 4 | b[group] >> 6 << 4;
    }
}

/* Eight groups of 32: groups 2i and 2i+1 are the low and high nibbles of bytes 32i .. 32i+31; fifth NULL or 32 bytes, whose bit g belongs
 * to group g. */
static void decode_k_nibbles(const uint8_t *b, const uint8_t *fifth, const uint8_t *nibbles, double *out)
{
    const double d = half_at(b), m = half_at(b + 2);
    for (int group = 0; group < 8; group++) {
        int scale, offset;
        scale_pair(b + 4, group, &scale, &offset);
        for (int i = 0; i < 32; i++) {
            const uint8_t byte = nibbles[group / 2 * 32 + i];
            const int q = (group % 2 ? byte >> 4 : byte & 15) | (fifth ? (fifth[i] >> group & 1) << 4 : 0);
            out[group * 32 + i] = d * scale * q - m * offset;
        }
    }
}

static void decode_q4_k(const uint8_t *b, double *out)
{
    decode_k_nibbles(b, NULL, b + 16, out);
}

static void decode_q5_k(const uint8_t *b, double *out)
{
    decode_k_nibbles(b, b + 16, b + 48, out);
}

/* There are two halves of 128. Weight 32p + i of a half (p = 0..3): low nibble of byte 32(p%2) + i (p < 2) or high (p >= 2), bits 2p and
 * 2p+1 of high byte i. */
static void decode_q6_k(const uint8_t *b, double *out)
{
    const double d = half_at(b + 208);
    for (int half = 0; half < 2; half++) {
        const uint8_t *low = b + 64 * half, *high = b + 128 + 32 * half;
        const int8_t *scale = (const int8_t *)b + 192 + 8 * half;
        for (int p = 0; p < 4; p++) {
            for (int i = 0; i < 32; i++) {
                const uint8_t byte = low[32 * (p % 2) + i];
                const int q = (p < 2 ? byte & 15 : byte >> 4) | (high[i] >> 2 * p & 3) << 4;
                out[128 * half + 32 * p + i] = d * scale[2 * p + i / 16] * (q - 32);
            }
        }
    }
}

static void (*const decoders[])(const uint8_t *block, double *out) = {
    [CLF_WEIGHT_F32] = decode_f32,   [CLF_WEIGHT_F16] = decode_f16,   [CLF_WEIGHT_BF16] = decode_bf16, [CLF_WEIGHT_Q8_0] = decode_q8_0,
    [CLF_WEIGHT_Q4_0] = decode_q4_0, [CLF_WEIGHT_Q4_1] = decode_q4_1, [CLF_WEIGHT_Q5_0] = decode_q5_0, [CLF_WEIGHT_Q5_1] = decode_q5_1,
    [CLF_WEIGHT_Q4_K] = decode_q4_k, [CLF_WEIGHT_Q5_K] = decode_q5_k, [CLF_WEIGHT_Q6_K] = decode_q6_k,
};
_Static_assert(COUNT(decoders) == CLF_WEIGHT_TYPE_COUNT, "one decoder per weight type");

void clfi_weight_decode_f64(clf_weight_type type, const void *data, size_t blocks, double *out)
{
    const clf_weight_type_info *info = clfi_weight_type_info(type);
    for (size_t i = 0; i < blocks; i++)
        decoders[type]((const uint8_t *)data + i * (size_t)info->block_bytes, out + i * (size_t)info->block_weights);
}

void clfi_weight_decode_f32(clf_weight_type type, const void *data, size_t blocks, float *out)
{
    const clf_weight_type_info *info = clfi_weight_type_info(type);
    const size_t weights = (size_t)info->block_weights;
    double values[CLFI_WEIGHT_BLOCK_MOST];
    if (type == CLF_WEIGHT_F32)
        memcpy(out, data, blocks * sizeof *out);
    else if (type == CLF_WEIGHT_F16)
        clfi_f32_from_f16_array(data, blocks, out);
    else if (type == CLF_WEIGHT_BF16)
        clfi_f32_from_bf16_array(data, blocks, out);
    for (size_t i = 0; weights > 1 && i < blocks; i++) {
        decoders[type]((const uint8_t *)data + i * (size_t)info->block_bytes, values);
        for (size_t j = 0; j < weights; j++)
            out[i * weights + j] = (float)values[j];
    }
}
