/* SPDX-License-Identifier: MIT */
/* Checked sizes at their limits, and allocation that reports instead of wrapping. */
#include "base/alloc.h"

#include "support/check.h"

/* Sanitized builds otherwise end the process at an allocation that cannot succeed. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void sizes(void **state)
{
    (void)state;
    static const size_t half = SIZE_MAX / 2;
    size_t out = 42;
    assert_true(clfi_mul_size(0, SIZE_MAX, &out) && out == 0);
    assert_true(clfi_mul_size(SIZE_MAX, 0, &out) && out == 0);
    assert_true(clfi_mul_size(1, SIZE_MAX, &out) && out == SIZE_MAX);
    assert_true(clfi_mul_size(half, 2, &out) && out == SIZE_MAX - 1);
    out = 42;
    assert_false(clfi_mul_size(half + 1, 2, &out));
    assert_false(clfi_mul_size((size_t)1 << 32, (size_t)1 << 32, &out));
    assert_false(clfi_mul_size(SIZE_MAX, SIZE_MAX, &out));
    assert_int_equal(out, 42);
    assert_true(clfi_add_size(SIZE_MAX, 0, &out) && out == SIZE_MAX);
    assert_true(clfi_add_size(half, half + 1, &out) && out == SIZE_MAX);
    out = 42;
    assert_false(clfi_add_size(SIZE_MAX, 1, &out));
    assert_false(clfi_add_size(half + 1, half + 1, &out));
    assert_int_equal(out, 42);
    assert_true(clfi_round_up(0, 64, &out) && out == 0);
    assert_true(clfi_round_up(1, 64, &out) && out == 64);
    assert_true(clfi_round_up(64, 64, &out) && out == 64);
    assert_true(clfi_round_up(65, 64, &out) && out == 128);
    assert_true(clfi_round_up(10, 3, &out) && out == 12);
    assert_true(clfi_round_up(SIZE_MAX, 1, &out) && out == SIZE_MAX);
    assert_true(clfi_round_up(SIZE_MAX - 63, 64, &out) && out == SIZE_MAX - 63);
    assert_false(clfi_round_up(SIZE_MAX - 62, 64, &out));
}

static void allocation(void **state)
{
    (void)state;
    unsigned char *bytes = NULL;
    CHECK_OK(clfi_alloc(1000, 1, "bytes", &bytes));
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(bytes[i], 0);
    free(bytes);
    bytes = NULL;
    CHECK_OK(clfi_alloc(0, 8, "none", &bytes));
    assert_non_null(bytes);
    free(bytes);
    unsigned char *const untouched = (unsigned char *)&state;
    bytes = untouched;
    CHECK_FAILS(clfi_alloc(SIZE_MAX, 2, "table", &bytes), CLF_OUT_OF_MEMORY,
                "table: 18446744073709551615 elements of 2 bytes: not enough memory");
    CHECK_FAILS(clfi_alloc(((size_t)1 << 61) + 1, 8, "table", &bytes), CLF_OUT_OF_MEMORY, "table");
    CHECK_FAILS(clfi_alloc(SIZE_MAX / 2, 1, "table", &bytes), CLF_OUT_OF_MEMORY, "table");
    assert_ptr_equal(bytes, untouched);
}

static void growth(void **state)
{
    (void)state;
    int *items = NULL;
    size_t capacity = 0, changes = 0;
    for (int i = 0; i < 10000; i++) {
        const size_t before = capacity;
        CHECK_OK(clfi_grow(&items, &capacity, (size_t)i + 1, sizeof *items, "items"));
        changes += capacity != before;
        items[i] = i;
    }
    for (int i = 0; i < 10000; i++)
        assert_int_equal(items[i], i);
    assert_true(changes < 20);
    int *const kept = items;
    const size_t kept_capacity = capacity;
    CHECK_FAILS(clfi_grow(&items, &capacity, SIZE_MAX / 2, sizeof *items, "items"), CLF_OUT_OF_MEMORY, "items");
    CHECK_FAILS(clfi_grow(&items, &capacity, SIZE_MAX / 16, sizeof *items, "items"), CLF_OUT_OF_MEMORY, "items");
    assert_ptr_equal(items, kept);
    assert_int_equal(capacity, kept_capacity);
    free(items);
}

static void copies(void **state)
{
    (void)state;
    char *copy;
    CHECK_OK(clfi_strndup("a\0b", 3, &copy));
    assert_memory_equal(copy, "a\0b", 4);
    free(copy);
    CHECK_OK(clfi_strndup(NULL, 0, &copy));
    assert_string_equal(copy, "");
    free(copy);
    CHECK_OK(clfi_strdup("text", &copy));
    assert_string_equal(copy, "text");
    free(copy);
    CHECK_FAILS(clfi_strndup("x", SIZE_MAX, &copy), CLF_OUT_OF_MEMORY, "string of 18446744073709551615 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes), cmocka_unit_test(allocation), cmocka_unit_test(growth),
                                       cmocka_unit_test(copies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
