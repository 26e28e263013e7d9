/* SPDX-License-Identifier: MIT */
/* The cache of keys and values in each type: stored numbers against their bounds, blocks that no scale allows, rows that move when the
 * memory grows. */
#include "support/check.h"
#include "support/device.h"
#include "support/operand.h"

#include <math.h>
#include <stdlib.h>

#include "base/half.h"
#include "kernel/kv_cache.h"
#include "nn/kv_cache.h"

enum { HEADS = 3, SIZE = 64, ROWS = 12, FIRST = 4, BLOCK = CLFI_KV_BLOCK, BLOCKS = HEADS * ROWS * SIZE / BLOCK };

/* Magnitudes of blocks: ordinary ones, zeros, those whose scale is no normal half or none at all, the largest that have a scale. */
static const float magnitudes[] = {1, 0, 3, 1e-3f, 127 * 0x1p-20f, 1e-8f, 1e-30f, 60000, 127.0f * 65504.0f};

/* [HEADS,ROWS,SIZE]. has_wrong: every eleventh block has a number that makes a block of q8_0 NaN. */
static void make_numbers(rng *r, size_t kinds, bool has_wrong, float *out)
{
    static const float wrong[] = {NAN, INFINITY, -INFINITY, 127.0f * 65505.0f};
    for (size_t b = 0; b < BLOCKS; b++) {
        const float magnitude = magnitudes[b % kinds];
        for (size_t i = 0; i < BLOCK; i++)
            out[b * BLOCK + i] = rng_uniform(r, -magnitude, magnitude);
        out[(int64_t)b * BLOCK + rng_below(r, BLOCK)] = -magnitude;
        if (has_wrong && b % 11 == 7)
            out[(int64_t)b * BLOCK + rng_below(r, BLOCK)] = wrong[b / 11 % COUNT(wrong)];
    }
}

/* Number c of a stored row. */
static double stored(clf_dtype dtype, const unsigned char *row, size_t c)
{
    uint16_t bits;
    float number;
    if (dtype == CLF_F32) {
        memcpy(&number, row + c * sizeof number, sizeof number);
        return (double)number;
    }
    memcpy(&bits, dtype == CLF_F16 ? row + c * sizeof bits : row + SIZE + c / BLOCK * sizeof bits, sizeof bits);
    return dtype == CLF_F16 ? (double)clfi_f32_from_f16(bits) : (double)(signed char)row[c] * (double)clfi_f32_from_f16(bits);
}

static void check_block(clf_dtype dtype, const float *want, const unsigned char *row, size_t first, size_t block)
{
    double most = 0;
    bool is_storable = true;
    for (size_t i = 0; i < BLOCK; i++) {
        most = fmax(most, fabs((double)want[i]));
        is_storable = is_storable && isfinite(want[i]) && fabs((double)want[i]) <= 127.0 * 65504.0;
    }
    for (size_t i = 0; i < BLOCK; i++) {
        const double number = (double)want[i], got = stored(dtype, row, first + i);
        const double bound = dtype == CLF_F32   ? 0
                             : dtype == CLF_F16 ? operand_rounding(CLF_F16, fabs(number))
                                                : most * (1 + 0x1p-9) / 254 + 0x1p-24;
        CHECK(is_storable || dtype != CLF_U8 ? within(got, number, bound) : isnan(got), "%s, block %zu, number %zu: %.9g, want %.9g +- %g",
              clf_dtype_name(dtype), block, i, got, number, bound);
    }
}

/* keys, values [HEADS,ROWS,SIZE]; row n of them lies in row (5 n) mod ROWS of the cache. */
static void check_cache(const clf_kv_cache *cache, const float *keys, const float *values)
{
    const clf_kv_layer *layer = &cache->layers[0];
    const size_t row = (size_t)clfi_kv_row(cache->dtype, SIZE) * clf_dtype_bytes(cache->dtype), bytes = layer->buffer->size_bytes;
    unsigned char *memory = malloc(bytes);
    assert_non_null(memory);
    CHECK_OK(clfi_buffer_read(layer->buffer, 0, memory, bytes));
    for (size_t b = 0; b < BLOCKS; b++) {
        const size_t first = b * BLOCK % SIZE, n = b * BLOCK / SIZE % ROWS, head = b * BLOCK / SIZE / ROWS;
        const unsigned char *from = memory + (head * (size_t)layer->capacity + 5 * n % ROWS) * 2 * row;
        check_block(cache->dtype, keys + b * BLOCK, from, first, b);
        check_block(cache->dtype, values + b * BLOCK, from + row, first, b);
    }
    free(memory);
}

static clf_view rows_of(const operand *o, int axis, int64_t first, int64_t count)
{
    clf_view part = *clfi_tensor_view(o->tensor);
    part.offset += first * part.stride[axis];
    part.dim[axis] = count;
    return part;
}

static void check_dtype(clf_context *context, clf_dtype dtype, size_t kinds)
{
    static float keys[BLOCKS * BLOCK], values[BLOCKS * BLOCK];
    const clf_stack stack = {.config.attention = {.key_heads = HEADS, .head_size = SIZE}, .layer_count = 1};
    const int64_t dim[] = {HEADS, ROWS, SIZE};
    rng r = {7 + (uint64_t)dtype};
    int32_t places[ROWS];
    clf_kv_cache cache;
    for (int32_t n = 0; n < ROWS; n++)
        places[n] = 5 * n % ROWS;
    make_numbers(&r, kinds, dtype == CLF_U8, keys);
    make_numbers(&r, kinds, dtype == CLF_U8, values);
    operand k = operand_create(context, CLF_F32, LAYOUT_SWAPPED, 3, dim), v = operand_create(context, CLF_F32, LAYOUT_SWAPPED, 3, dim);
    operand table = operand_create(context, CLF_I32, LAYOUT_CONTIGUOUS, 1, dim + 1);
    operand_fill(&k, keys);
    operand_fill(&v, values);
    operand_fill_ids(&table, places);
    CHECK_OK(clfi_kv_cache_init(context, &stack, dtype, ROWS, &cache));
    CHECK_OK(clfi_kv_cache_touch(&cache));
    CHECK_OK(clfi_kv_cache_add(&cache, ROWS));
    for (int64_t first = 0, count; first < ROWS; first += count) {
        count = first ? ROWS - FIRST : FIRST;
        const clf_view some_k = rows_of(&k, 1, first, count), some_v = rows_of(&v, 1, first, count), at = rows_of(&table, 0, first, count);
        CHECK_OK(clfi_kv_cache_store(&cache, 0, &some_k, &some_v, &at));
    }
    check_cache(&cache, keys, values);
    CHECK_OK(clfi_kv_cache_add(&cache, 1));
    CHECK(cache.moves == 1 && cache.capacity > ROWS, "%s: %llu moves, %lld rows", clf_dtype_name(dtype), (unsigned long long)cache.moves,
          (long long)cache.capacity);
    check_cache(&cache, keys, values);
    clfi_kv_cache_clear(&cache);
    operand *const all[] = {&k, &v, &table};
    for (size_t i = 0; i < COUNT(all); i++)
        operand_destroy(all[i]);
}

static void test_stored_numbers(void **state)
{
    check_dtype(*state, CLF_F32, COUNT(magnitudes));
    check_dtype(*state, CLF_F16, 4);
    check_dtype(*state, CLF_U8, COUNT(magnitudes));
}

static void test_rows(void **state)
{
    (void)state;
    CHECK(clfi_kv_row(CLF_F32, 20) == 20 && clfi_kv_row(CLF_F16, 20) == 20, "floats");
    CHECK(clfi_kv_row(CLF_U8, 20) == 0 && clfi_kv_row(CLF_U8, 32) == 34 && clfi_kv_row(CLF_U8, 128) == 136, "blocks");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stored_numbers), cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests_name("op.kv_cache", tests, device_setup, device_teardown);
}
