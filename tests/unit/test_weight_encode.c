/* SPDX-License-Identifier: MIT */
/* Blocks whose scales are searched for: their error against the best that a block can have, which brute force finds, and hard blocks. */
#include "base/weight_fit.h"
#include "base/weight_type.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/half.h"
#include "base/random.h"
#include "support/check.h"

enum { BLOCKS = 4, MOST = CLFI_WEIGHT_BLOCK_MOST, HALVES = 0x7c00 };

/* Numbers of about a normal distribution: sums of four uniform ones. */
static void fill(uint64_t seed, float scale, float shift, float *x, size_t count)
{
    clfi_random random = {seed};
    for (size_t i = 0; i < count; i++) {
        float sum = shift;
        for (int j = 0; j < 4; j++)
            sum += clfi_random_uniform(&random, -0.5f, 0.5f);
        x[i] = scale * sum;
    }
}

static double error_of(clf_weight_type type, const float *x)
{
    uint8_t block[256];
    double back[MOST], error = 0;
    const clf_weight_type_info *info = clfi_weight_type_info(type);
    memset(block, 0xff, sizeof block);
    CHECK_OK(clfi_weight_encode(type, x, 1, block));
    clfi_weight_decode_f64(type, block, 1, back);
    for (int i = 0; i < info->block_weights; i++) {
        CHECK(isfinite(back[i]), "%s: weight %d is %g", info->name, i, back[i]);
        error += (back[i] - (double)x[i]) * (back[i] - (double)x[i]);
    }
    return error;
}

/* The error of d q - m with the best q for each number. */
static double error_at(const float *x, int count, double d, double m, int lowest, int highest)
{
    double error = 0;
    for (int i = 0; i < count; i++) {
        const double q = fmin(fmax(rint(((double)x[i] + m) / d), lowest), highest), miss = d * q - m - (double)x[i];
        error += miss * miss;
    }
    return error;
}

/* The least error of one scale and no offset, over every half. */
static double best_scale(const float *x, int count, int lowest, int highest)
{
    double best = INFINITY, largest = 0;
    for (int i = 0; i < count; i++)
        largest = fmax(largest, fabs((double)x[i]));
    for (uint16_t bits = 1; bits < HALVES; bits++) {
        const double d = (double)clfi_f32_from_f16(bits);
        if (d * highest > 0.6 * largest && d * highest < 1.5 * largest) /* others leave most of the range out */
            best = fmin(best, fmin(error_at(x, count, d, 0, lowest, highest), error_at(x, count, -d, 0, lowest, highest)));
    }
    return best;
}

/* The least error of a scale and an offset, over a fine grid of both; no offset below `least`. */
static double best_line(const float *x, int count, int highest, double least)
{
    enum { SCALES = 100, OFFSETS = 100 };
    double best = INFINITY, low = (double)x[0], high = (double)x[0];
    for (int i = 1; i < count; i++) {
        low = fmin(low, (double)x[i]);
        high = fmax(high, (double)x[i]);
    }
    low = fmin(low, -least);
    const double step = (high - low) / highest;
    for (int i = 0; i < SCALES; i++) {
        const double d = step * (0.7 + 0.5 * i / SCALES);
        for (int j = 0; j < OFFSETS; j++) {
            const double m = -low + step * (highest / 8.0 + 1) * (0.25 - 1.0 * j / OFFSETS);
            if (m >= least)
                best = fmin(best, error_at(x, count, d, m, 0, highest));
        }
    }
    return best;
}

/* Bounds of the squared error, as multiples of the best. Types with groups round scales and offsets to few bits; the best does not. A scale
 * that maps the range of a block to the range of q, without a search, has 1.14 to 1.2 times the error for q5_0 and q5_1. */
static void near_the_best(void **state)
{
    static const struct {
        clf_weight_type type;
        int group, lowest, highest;
        double least, factor; /* least: offset; NAN: none */
    } rows[] = {{CLF_WEIGHT_Q5_0, 32, -16, 15, NAN, 1.03},
                {CLF_WEIGHT_Q5_1, 32, 0, 31, -INFINITY, 1.12},
                {CLF_WEIGHT_Q4_K, 32, 0, 15, 0, 1.1},
                {CLF_WEIGHT_Q5_K, 32, 0, 31, 0, 1.14},
                {CLF_WEIGHT_Q6_K, 16, -32, 31, NAN, 1.1}};
    static const float shifts[BLOCKS] = {0, 0.3f, -0.5f, 2};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const int width = clfi_weight_type_info(rows[i].type)->block_weights;
        double error = 0, best = 0;
        for (int block = 0; block < BLOCKS; block++) {
            float x[MOST];
            fill((uint64_t)block + 1, 0.05f, shifts[block], x, MOST);
            for (int at = 0; at < MOST; at += width)
                error += error_of(rows[i].type, x + at);
            for (int at = 0; at < MOST; at += rows[i].group)
                best += isnan(rows[i].least) ? best_scale(x + at, rows[i].group, rows[i].lowest, rows[i].highest)
                                             : best_line(x + at, rows[i].group, rows[i].highest, rows[i].least);
        }
        CHECK(error <= rows[i].factor * best && error >= 0.9 * best, "%s: squared error %g, the best is %g (%.3f)",
              clfi_weight_type_info(rows[i].type)->name, error, best, error / best);
    }
}

static void hard_blocks(void **state)
{
    static const clf_weight_type types[] = {CLF_WEIGHT_Q5_0, CLF_WEIGHT_Q5_1, CLF_WEIGHT_Q4_K, CLF_WEIGHT_Q5_K, CLF_WEIGHT_Q6_K};
    (void)state;
    for (size_t i = 0; i < COUNT(types); i++) {
        const char *name = clfi_weight_type_info(types[i])->name;
        float x[MOST] = {0};
        uint8_t block[256];
        assert_true(error_of(types[i], x) == 0);
        for (int sign = -1; sign <= 1; sign += 2) { /* all alike: one number and a scale, but for the rounding of halves */
            for (int j = 0; j < MOST; j++)
                x[j] = 0.7f * (float)sign;
            CHECK(error_of(types[i], x) <= MOST * pow(0.7 * 0x1p-10, 2), "%s: all %g", name, (double)x[0]);
        }
        for (int j = 0; j < MOST; j++)
            x[j] = j % 2 ? 65503.0f : -65503.0f;
        CHECK(error_of(types[i], x) <= MOST * pow(65503.0 * 2 / 15, 2), "%s: large", name);
        for (int j = 0; j < MOST; j++)
            x[j] = 1e-7f * (float)(j % 3 - 1); /* below the least half: nothing is left, but nothing is wrong either */
        CHECK(error_of(types[i], x) <= MOST * pow(1.5e-7, 2), "%s: tiny", name);
        for (int j = 0; j < MOST; j++)
            x[j] = j == 77 || j == 7 ? 50.0f : 0.01f;
        CHECK(error_of(types[i], x) <= MOST * pow(50.0 / 15, 2), "%s: outlier", name);
        x[3] = 65504.0f;
        CHECK_FAILS(clfi_weight_encode(types[i], x, 1, block), CLF_FORMAT, "weight 3 is 65504, expected one below 65504");
        x[3] = NAN;
        CHECK_FAILS(clfi_weight_encode(types[i], x, 1, block), CLF_FORMAT, "weight 3 is nan");
    }
}

/* Numbers that a block can hold come back as they are. */
static void exact(void **state)
{
    float x[MOST];
    (void)state;
    for (int i = 0; i < MOST; i++)
        x[i] = 0.125f * (float)(i * 7 % 16) - 0.5f;
    CHECK(error_of(CLF_WEIGHT_Q5_1, x) == 0, "q5_1");
    CHECK(error_of(CLF_WEIGHT_Q4_K, x) < 1e-4, "q4_k: %g", error_of(CLF_WEIGHT_Q4_K, x)); /* d = 0.125 / 63 is a rounded half */
    CHECK(error_of(CLF_WEIGHT_Q5_K, x) < 1e-4, "q5_k: %g", error_of(CLF_WEIGHT_Q5_K, x));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(near_the_best), cmocka_unit_test(hard_blocks), cmocka_unit_test(exact)};
    return cmocka_run_group_tests_name("unit.weight_encode", tests, NULL, NULL);
}
