/* SPDX-License-Identifier: MIT */
/* GGUF: a file of the gguf package, its values, and every weight type's numbers. */
#include "io/gguf.h"
#include "io/gguf_file_type.h"

#include <stdio.h>

#include "support/check.h"

static clf_gguf *open_golden(void)
{
    clf_gguf *file;
    CHECK_OK(clfi_gguf_open(CLF_TEST_DATA "/gguf/blocks.gguf", &file));
    return file;
}

static void values(void **state)
{
    clf_gguf *file = open_golden();
    clf_gguf_string text, strings[3];
    int64_t integer;
    double number;
    bool flag;
    (void)state;
    CHECK_OK(clfi_gguf_get_int(file, "test.int8", -10, 10, &integer));
    assert_int_equal(integer, -5);
    CHECK_OK(clfi_gguf_get_number(file, "test.float64", 0, 1, &number));
    assert_true(number == 0.1);
    CHECK_OK(clfi_gguf_get_number(file, "test.float32", 0, 1, &number));
    assert_true(number == (double)0.1f);
    CHECK_OK(clfi_gguf_get_number(file, "test.int8", -9, 0, &number));
    assert_true(number == -5.0);
    CHECK_OK(clfi_gguf_opt_bool(file, "test.bool", false, &flag));
    assert_true(flag);
    CHECK_OK(clfi_gguf_opt_bool(file, "test.absent", true, &flag));
    assert_true(flag);
    CHECK_OK(clfi_gguf_get_text(file, "test.string", &text));
    assert_true(text.length == 9 && memcmp(text.data, "two\nlines", 9) == 0);
    CHECK_OK(clfi_gguf_opt_int(file, "test.absent", 0, 9, 4, &integer));
    assert_int_equal(integer, 4);
    const clf_gguf_value *list = clfi_gguf_value(file, "test.strings"), *integers = clfi_gguf_value(file, "test.integers");
    assert_true(list && list->count == 3 && clfi_gguf_strings(list, strings) && !clfi_gguf_text(list, &text));
    assert_true(strings[0].length == 0 && strings[1].length == 1 && strings[2].length == 5 && memcmp(strings[2].data, "ä€", 5) == 0);
    assert_true(integers && integers->count == 3 && clfi_gguf_int(integers, 0, &integer) && integer == -1);
    assert_false(clfi_gguf_int(integers, 3, &integer));
    assert_false(clfi_gguf_strings(integers, strings));
    CHECK_FAILS(clfi_gguf_get_int(file, "test.uint64", 0, INT64_MAX, &integer), CLF_FORMAT, "found uint64");
    CHECK_FAILS(clfi_gguf_get_int(file, "test.float32", 0, 1, &integer), CLF_FORMAT,
                "\"test.float32\": expected an integer from 0 to 1, found float32");
    CHECK_FAILS(clfi_gguf_get_int(file, "test.bool", 0, 1, &integer), CLF_FORMAT, "found bool 1");
    CHECK_FAILS(clfi_gguf_get_number(file, "test.float64", 1, 2, &number), CLF_FORMAT, "expected a number from 1 to 2, found float64 0.1");
    CHECK_FAILS(clfi_gguf_opt_bool(file, "test.int8", true, &flag), CLF_FORMAT, "expected a bool, found int8 -5");
    CHECK_FAILS(clfi_gguf_get_text(file, "test.strings", &text), CLF_FORMAT, "found array of 3 string");
    CHECK_FAILS(clfi_gguf_get_text(file, "test.absent", &text), CLF_FORMAT, "found nothing");
    for (size_t i = 1; i < clfi_gguf_value_count(file); i++) {
        const clf_gguf_string a = clfi_gguf_value_at(file, i - 1)->key, b = clfi_gguf_value_at(file, i)->key;
        const size_t least = a.length < b.length ? a.length : b.length;
        const int order = memcmp(a.data, b.data, least);
        assert_true(order < 0 || (order == 0 && a.length < b.length));
    }
    clfi_gguf_close(file);
}

/* The gguf package's float32 arithmetic rounds d * s, the product with q and the sum: three times half an ulp of the largest term at
 * most. */
static void decoded(void **state)
{
    clf_gguf *file = open_golden();
    size_t types = 0;
    (void)state;
    for (clf_weight_type type = CLF_WEIGHT_Q8_0; type < CLF_WEIGHT_TYPE_COUNT; type++) {
        const clf_weight_type_info *info = clfi_weight_type_info(type);
        char name[32];
        double exact[1024];
        float single[1024];
        const clf_gguf_tensor *stored = clfi_gguf_find(file, info->name);
        snprintf(name, sizeof name, "%s.numbers", info->name);
        const clf_gguf_tensor *numbers = clfi_gguf_find(file, name);
        assert_true(stored && numbers && stored->type == type && numbers->bytes == sizeof single);
        const size_t blocks = stored->bytes / (size_t)info->block_bytes;
        assert_int_equal(blocks * (size_t)info->block_weights, COUNT(exact));
        for (size_t i = 0; i < COUNT(exact); i++)
            exact[i] = (double)(single[i] = NAN);
        clfi_weight_decode_f64(type, stored->data, blocks, exact);
        clfi_weight_decode_f32(type, stored->data, blocks, single);
        double largest = 0;
        for (size_t i = 0; i < COUNT(exact); i++)
            largest = fmax(largest, fabs(exact[i]));
        for (size_t i = 0; i < COUNT(exact); i++) {
            float want;
            memcpy(&want, (const char *)numbers->data + 4 * i, sizeof want);
            CHECK(within(exact[i], (double)want, 3 * 0x1p-24 * 2 * largest) && (double)single[i] == (double)(float)exact[i],
                  "%s %zu: %.9g and %.9g, want %.9g", info->name, i, exact[i], (double)single[i], (double)want);
        }
        types++;
    }
    assert_int_equal(types, 8);
    clfi_gguf_close(file);
}

/* The written bytes are those that the gguf package writes. */
static void encoded(void **state)
{
    static const clf_weight_type types[] = {CLF_WEIGHT_F16, CLF_WEIGHT_BF16, CLF_WEIGHT_Q8_0, CLF_WEIGHT_Q4_0};
    clf_gguf *file = open_golden();
    const clf_gguf_tensor *numbers = clfi_gguf_find(file, "numbers");
    float values_in[1024];
    uint8_t bytes[4096];
    (void)state;
    assert_true(numbers && numbers->bytes == sizeof values_in);
    memcpy(values_in, numbers->data, sizeof values_in);
    for (size_t i = 0; i < COUNT(types); i++) {
        const clf_weight_type_info *info = clfi_weight_type_info(types[i]);
        char name[32];
        snprintf(name, sizeof name, "%s%s", types[i] == CLF_WEIGHT_F16 ? "" : "numbers.", info->name);
        const clf_gguf_tensor *want = clfi_gguf_find(file, name);
        assert_true(want && want->type == types[i]);
        CHECK_OK(clfi_weight_encode(types[i], values_in, 1024 / (size_t)info->block_weights, bytes));
        for (size_t j = 0; j < want->bytes; j++)
            CHECK(bytes[j] == ((const uint8_t *)want->data)[j], "%s: byte %zu is %02x, want %02x", name, j, bytes[j],
                  ((const uint8_t *)want->data)[j]);
    }
    CHECK_FAILS(clfi_weight_encode(CLF_WEIGHT_Q4_1, values_in, 4, bytes), CLF_UNSUPPORTED, "cannot be written as q4_1");
    values_in[33] = NAN;
    CHECK_FAILS(clfi_weight_encode(CLF_WEIGHT_Q8_0, values_in, 32, bytes), CLF_FORMAT, "weight 33 is nan");
    clfi_gguf_close(file);
}

static void names_of_types(void **state)
{
    clf_weight_type type;
    size_t bytes;
    (void)state;
    for (int i = 0; i < CLF_WEIGHT_TYPE_COUNT; i++) {
        const clf_weight_type_info *info = clfi_weight_type_info((clf_weight_type)i);
        assert_true(clfi_weight_type_from_name(info->name, &type) && (int)type == i);
        assert_true(clfi_weight_type_from_gguf((uint32_t)info->gguf, &type) && (int)type == i);
    }
    for (uint32_t number = 0; number <= 42; number++) /* of all types that ggml has or had, one of the two knows the name */
        CHECK(clfi_weight_type_from_gguf(number, &type) == !clfi_gguf_unread_type_name(number), "type %u", (unsigned)number);
    for (int64_t number = 0; number <= 41; number++)
        CHECK(clfi_gguf_file_type_name(number), "file type %lld has no name", (long long)number);
    assert_null(clfi_gguf_unread_type_name(43));
    assert_null(clfi_gguf_file_type_name(42));
    assert_string_equal(clfi_gguf_unread_type_name(23), "iq4_xs");
    assert_string_equal(clfi_gguf_unread_type_name(39), "mxfp4");
    assert_string_equal(clfi_gguf_file_type_name(30), "iq4_xs");
    assert_string_equal(clfi_gguf_file_type_name(36), "tq1_0");
    assert_false(clfi_weight_type_from_name("q4", &type));
    assert_false(clfi_weight_type_from_gguf(9, &type));
    assert_true(clfi_weight_bytes(CLF_WEIGHT_Q6_K, 3, 512, &bytes) && bytes == 3 * 2 * 210);
    assert_false(clfi_weight_bytes(CLF_WEIGHT_Q6_K, 3, 500, &bytes));
    assert_false(clfi_weight_bytes(CLF_WEIGHT_F32, INT64_MAX, 4, &bytes));
    assert_false(clfi_weight_bytes(CLF_WEIGHT_F32, -1, 4, &bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(decoded),
        cmocka_unit_test(encoded),
        cmocka_unit_test(names_of_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
