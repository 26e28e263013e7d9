/* SPDX-License-Identifier: MIT */
/* Rotary positions in both layouts of pairs, for some and for all elements of a head, far positions and such outside the table, scaled
 * frequencies, against double. */
#include "support/check.h"
#include "support/device.h"
#include "support/operand.h"

#include "op/rotary.h"

enum { HEADS = 3, ROWS = 10, SIZE = 12, MOST = 131072 };

static const int32_t positions[ROWS] = {0, 1, 255, 256, 4099, 65537, MOST - 1, -5, MOST, INT32_MAX};

static void run_case(clf_context *context, const clf_rotary *rotary, const char *id)
{
    rng r = {(uint64_t)rotary->dims};
    const int64_t rows = ROWS;
    double frequency[SIZE / 2], before[HEADS * ROWS * SIZE];
    clf_buffer *buffer;
    clf_view table;
    operand x = operand_create(context, CLF_F32, LAYOUT_SLICED, 3, (int64_t[]){HEADS, ROWS, SIZE});
    operand at = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, 1, &rows);
    operand_fill_uniform(&x, &r, -2, 2);
    operand_fill_ids(&at, positions);
    memcpy(before, x.value, sizeof before);
    CHECK_OK(clfi_rotary_table(context, rotary, MOST, &buffer, &table));
    CHECK_OK(clfi_rotary_run(context, rotary, &table, clfi_tensor_view(at.tensor), clfi_tensor_view(x.tensor)));
    operand_read(&x, id);
    clfi_rotary_frequencies(rotary, frequency);
    for (int i = 0; i < rotary->dims / 2; i++) {
        const double want = pow(rotary->base, -2.0 * i / (double)rotary->dims);
        CHECK(within(frequency[i], want, 1e-15 * want), "%s: frequency %d: %.17g, want %.17g", id, i, frequency[i], want);
    }
    for (int i = 0; i < HEADS * ROWS * SIZE; i++) {
        const int64_t e = i % SIZE, row = i / SIZE % ROWS, pairs = rotary->dims / 2;
        double want = before[i], size = fabs(want);
        if (e < rotary->dims) {
            const int64_t pair = rotary->is_interleaved ? e / 2 : e % pairs;
            const bool is_first = rotary->is_interleaved ? e % 2 == 0 : e < pairs;
            const double other = before[i + (rotary->is_interleaved ? 1 : pairs) * (is_first ? 1 : -1)];
            const int32_t position = positions[row] < 0 ? 0 : positions[row] >= MOST ? MOST - 1 : positions[row];
            const double angle = position * frequency[pair];
            want = before[i] * cos(angle) + (is_first ? -other : other) * sin(angle);
            size = fabs(before[i]) + fabs(other);
        }
        CHECK(within(x.value[i], want, e < rotary->dims ? 6 * 0x1p-24 * size : 0), "%s: element %d: %.9g, want %.9g", id, i, x.value[i],
              want);
    }
    clfi_buffer_release(buffer);
    operand_destroy(&at);
    operand_destroy(&x);
}

static void test_pairs(void **state)
{
    run_case(*state, &(clf_rotary){.base = 10000, .dims = SIZE}, "halves");
    run_case(*state, &(clf_rotary){.base = 10000, .dims = SIZE, .is_interleaved = true}, "interleaved");
    run_case(*state, &(clf_rotary){.base = 500000, .dims = 6}, "half of a head");
}

/* Published examples: Llama 3.1's frequencies; fast turns stay, slow ones are divided. */
static void test_scalings(void **state)
{
    double plain[64], scaled[64];
    clf_rotary rotary = {
        .base = 500000, .dims = 128, .factor = 8, .low_frequency_factor = 1, .high_frequency_factor = 4, .trained_positions = 8192};
    (void)state;
    clfi_rotary_frequencies(&rotary, plain);
    rotary.scaling = CLF_ROTARY_LINEAR;
    clfi_rotary_frequencies(&rotary, scaled);
    for (int i = 0; i < 64; i++)
        CHECK(within(scaled[i], plain[i] / 8, 1e-18), "linear %d: %.9g", i, scaled[i]);
    rotary.scaling = CLF_ROTARY_LLAMA3;
    clfi_rotary_frequencies(&rotary, scaled);
    for (int i = 0; i < 64; i++) {
        const double wavelength = 2 * 3.14159265358979323846 / plain[i];
        const double mixture = (8192 / wavelength - 1) / 3;
        const double want = wavelength < 8192 / 4.0 ? plain[i]
                            : wavelength > 8192     ? plain[i] / 8
                                                    : (1 - mixture) * plain[i] / 8 + mixture * plain[i];
        CHECK(within(scaled[i], want, 1e-15 * want), "llama3 %d: %.9g, want %.9g", i, scaled[i], want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs), cmocka_unit_test(test_scalings)};
    return cmocka_run_group_tests_name("op.rotary", tests, device_setup, device_teardown);
}
