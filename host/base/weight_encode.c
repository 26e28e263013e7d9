/* SPDX-License-Identifier: MIT */
/* Encodes floats as blocks of quantised weights, in GGUF's formats. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/half.h"
#include "base/weight_fit.h"

static void store_bits(uint16_t bits, uint8_t *out)
{
    out[0] = (uint8_t)bits;
    out[1] = (uint8_t)(bits >> 8);
}

static void encode_q8_0(const float *x, uint8_t *out)
{
    float most = 0;
    for (int i = 0; i < 32; i++)
        most = fmaxf(most, fabsf(x[i]));
    const float d = most / 127.0f, inverse = d != 0.0f ? 1.0f / d : 0.0f;
    store_bits(clfi_f16_from_f32(d), out);
    for (int i = 0; i < 32; i++)
        out[2 + i] = (uint8_t)(int8_t)lrintf(roundf(x[i] * inverse));
}

static int nibble_of(float value)
{
    const int q = (int)(value + 8.5f);
    return q < 0 ? 0 : q > 15 ? 15 : q;
}

static void encode_q4_0(const float *x, uint8_t *out)
{
    float most = 0;
    for (int i = 0; i < 32; i++)
        if (fabsf(x[i]) > fabsf(most))
            most = x[i];
    const float d = most / -8.0f, inverse = d != 0.0f ? 1.0f / d : 0.0f;
    store_bits(clfi_f16_from_f32(d), out);
    for (int i = 0; i < 16; i++)
        out[2 + i] = (uint8_t)(nibble_of(x[i] * inverse) | nibble_of(x[i + 16] * inverse) << 4);
}

/* Stores the 32 numbers q + zero of five bits: their low four bits as 16 bytes at `nibbles`, their fifth bits as 4 bytes at `fifth`. */
static void store_fifths(const clf_weight_fit *fit, int zero, uint8_t *fifth, uint8_t *nibbles)
{
    uint32_t bits = 0;
    for (int i = 0; i < 16; i++) {
        const uint32_t low = (uint32_t)(fit->q[i] + zero), high = (uint32_t)(fit->q[i + 16] + zero);
        nibbles[i] = (uint8_t)((low & 15) | (high & 15) << 4);
        bits |= low >> 4 << i | high >> 4 << (i + 16);
    }
    for (int i = 0; i < 4; i++)
        fifth[i] = (uint8_t)(bits >> 8 * i);
}

static void encode_q5_0(const float *x, uint8_t *out)
{
    static const clf_weight_grid grid = {.groups = 1, .width = 32, .lowest = -16, .highest = 15};
    clf_weight_fit fit;
    clfi_weight_fit(&grid, x, &fit);
    store_bits(fit.scale, out);
    store_fifths(&fit, 16, out + 2, out + 6);
}

static void encode_q5_1(const float *x, uint8_t *out)
{
    static const clf_weight_grid grid = {.groups = 1, .width = 32, .highest = 31, .offset = CLF_OFFSET_FREE};
    clf_weight_fit fit;
    clfi_weight_fit(&grid, x, &fit);
    store_bits(fit.scale, out);
    store_bits(fit.offset ^ 0x8000, out + 2); /* changes the sign: the format adds the offset, the fit subtracts it */
    store_fifths(&fit, 0, out + 4, out + 8);
}

/* Stores the 16-bit floats d and m, then a 6-bit scale and a 6-bit offset for each of eight groups in 12 bytes. For i from 0 to 3, byte i
 * holds the scale of group i and the two high bits of the scale of group i + 4. Byte i + 4 holds their offsets in the same way. Byte i + 8
 * holds the four low bits of the scale of group i + 4, and above them those of its offset. */
static void store_pairs(const clf_weight_fit *fit, uint8_t *out)
{
    uint8_t *pairs = out + 4;
    store_bits(fit->scale, out);
    store_bits(fit->offset, out + 2);
    for (int i = 0; i < 4; i++) {
        const unsigned s = (unsigned)fit->scales[i + 4], t = fit->offsets[i + 4];
        pairs[i] = (uint8_t)((unsigned)fit->scales[i] | s >> 4 << 6);
        pairs[i + 4] = (uint8_t)(fit->offsets[i] | t >> 4 << 6);
        pairs[i + 8] = (uint8_t)((s & 15) | (t & 15) << 4);
    }
}

/* Byte 32 p + i has the low four bits of weight i of group 2 p and, above them, those of weight i of group 2 p + 1. */
static void store_k_nibbles(const clf_weight_fit *fit, uint8_t *out)
{
    for (int i = 0; i < 128; i++) {
        const int8_t *q = fit->q + i / 32 * 64 + i % 32;
        out[i] = (uint8_t)((q[0] & 15) | (q[32] & 15) << 4);
    }
}

static void encode_q4_k(const float *x, uint8_t *out)
{
    static const clf_weight_grid grid = {
        .groups = 8, .width = 32, .highest = 15, .offset = CLF_OFFSET_POSITIVE, .most_scale = 63, .most_offset = 63};
    clf_weight_fit fit;
    clfi_weight_fit(&grid, x, &fit);
    store_pairs(&fit, out);
    store_k_nibbles(&fit, out + 16);
}

static void encode_q5_k(const float *x, uint8_t *out)
{
    static const clf_weight_grid grid = {
        .groups = 8, .width = 32, .highest = 31, .offset = CLF_OFFSET_POSITIVE, .most_scale = 63, .most_offset = 63};
    clf_weight_fit fit;
    clfi_weight_fit(&grid, x, &fit);
    store_pairs(&fit, out);
    for (int i = 0; i < 32; i++) {
        unsigned bits = 0;
        for (int group = 0; group < 8; group++)
            bits |= (unsigned)fit.q[group * 32 + i] >> 4 << group;
        out[16 + i] = (uint8_t)bits;
    }
    store_k_nibbles(&fit, out + 48);
}

/* The low four bits of 256 weights come first, then their high two bits. Both parts have 128 weights at a time. Byte i < 64 of the low bits
 * has weights i and i + 64 of them. Byte i < 32 of the high bits has weights i, i + 32, i + 64 and i + 96. */
static void encode_q6_k(const float *x, uint8_t *out)
{
    static const clf_weight_grid grid = {.groups = 16, .width = 16, .lowest = -32, .highest = 31, .least_scale = -128, .most_scale = 127};
    clf_weight_fit fit;
    clfi_weight_fit(&grid, x, &fit);
    for (int half = 0; half < 2; half++) {
        const int8_t *q = fit.q + 128 * half;
        for (int i = 0; i < 64; i++)
            out[64 * half + i] = (uint8_t)(((q[i] + 32) & 15) | ((q[i + 64] + 32) & 15) << 4);
        for (int i = 0; i < 32; i++)
            out[128 + 32 * half + i] =
                (uint8_t)((q[i] + 32) >> 4 | (q[i + 32] + 32) >> 4 << 2 | (q[i + 64] + 32) >> 4 << 4 | (q[i + 96] + 32) >> 4 << 6);
    }
    for (int i = 0; i < 16; i++)
        out[192 + i] = (uint8_t)fit.scales[i];
    store_bits(fit.scale, out + 208);
}

static void (*const encoders[CLF_WEIGHT_TYPE_COUNT])(const float *x, uint8_t *out) = {
    [CLF_WEIGHT_Q8_0] = encode_q8_0, [CLF_WEIGHT_Q4_0] = encode_q4_0, [CLF_WEIGHT_Q5_0] = encode_q5_0, [CLF_WEIGHT_Q5_1] = encode_q5_1,
    [CLF_WEIGHT_Q4_K] = encode_q4_k, [CLF_WEIGHT_Q5_K] = encode_q5_k, [CLF_WEIGHT_Q6_K] = encode_q6_k,
};

clf_status clfi_weight_encode(clf_weight_type type, const float *values, size_t blocks, void *out)
{
    const clf_weight_type_info *info = clfi_weight_type_info(type);
    const size_t weights = (size_t)info->block_weights, bytes = (size_t)info->block_bytes;
    const bool is_searched = type >= CLF_WEIGHT_Q5_0;
    for (size_t i = 0; i < blocks * weights; i++) {
        if (!isfinite(values[i]))
            CLF_FAIL(CLF_FORMAT, "weight %zu is %g, expected a finite number", i, (double)values[i]);
        if (is_searched && fabsf(values[i]) >= 65504.0f)
            CLF_FAIL(CLF_FORMAT, "weight %zu is %g, expected one below 65504", i, (double)values[i]);
    }
    switch (type) {
    case CLF_WEIGHT_F32:
        memcpy(out, values, blocks * sizeof *values);
        return CLF_OK;
    case CLF_WEIGHT_F16:
        clfi_f16_from_f32_array(values, blocks, out);
        return CLF_OK;
    case CLF_WEIGHT_BF16:
        clfi_bf16_from_f32_array(values, blocks, out);
        return CLF_OK;
    default:
        break;
    }
    if (!encoders[type])
        CLF_FAIL(CLF_UNSUPPORTED, "weights cannot be written as %s", info->name);
    for (size_t i = 0; i < blocks; i++)
        encoders[type](values + i * weights, (uint8_t *)out + i * bytes);
    return CLF_OK;
}
