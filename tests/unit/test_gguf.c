/* SPDX-License-Identifier: MIT */
/* GGUF: broken files and their messages, every prefix of a good one, the older version. */
#include "io/gguf.h"

#include <stdlib.h>

#include "support/gguf_image.h"

/* One tensor "w" of these sizes and type, with `size` bytes of data. */
static void one_tensor(image *f, int rank, const uint64_t *sizes, uint32_t type, uint64_t offset, size_t size)
{
    begin(f, 1, 0);
    put_tensor(f, "w", rank, sizes, type, offset);
    put_data(f, 32, size);
}

/* Two tensors of 4 floats each, the second at `offset`. */
static void two_tensors(image *f, const char *first, const char *second, uint64_t offset, size_t size)
{
    begin(f, 2, 0);
    put_tensor(f, first, 1, SIZES(4), 0, 0);
    put_tensor(f, second, 1, SIZES(4), 0, offset);
    put_data(f, 32, size);
}

/* One key of a number. */
static void one_number(image *f, const char *key, uint32_t type, uint64_t value, size_t bytes)
{
    begin(f, 0, 1);
    put_key(f, key, type);
    put(f, value, bytes);
}

MAKE(empty, )
MAKE(short_magic, put_bytes(f, "GGU", 3))
MAKE(other_magic, put_bytes(f, "GGML", 4); put(f, 3, 4); put(f, 0, 16))
MAKE(no_version, put_bytes(f, "GGUF", 4))
MAKE(version_0, begin(f, 0, 0); f->bytes[4] = 0)
MAKE(version_1, begin(f, 0, 0); f->bytes[4] = 1)
MAKE(version_4, begin(f, 0, 0); f->bytes[4] = 4)
MAKE(big_endian, begin(f, 0, 0); f->bytes[4] = 0; f->bytes[7] = 3)
MAKE(no_counts, put_bytes(f, "GGUF", 4); put(f, 3, 4))
MAKE(half_counts, begin(f, 0, 0); f->size = 20)
MAKE(tensor_count_huge, begin(f, UINT64_MAX, 0))
MAKE(tensor_count_one, begin(f, 1, 0))
MAKE(value_count_huge, begin(f, 0, UINT64_MAX))
MAKE(value_count_one, begin(f, 0, 1))
MAKE(value_count_beyond, begin(f, 0, 2); put_key(f, "a", 4); put(f, 1, 4); put(f, 0, 8))
MAKE(key_length_huge, begin(f, 0, 1); put(f, UINT64_MAX, 8); put(f, 0, 16))
MAKE(key_length_limit, begin(f, 0, 1); put(f, 65536, 8); put(f, 0, 16))
MAKE(key_cut, begin(f, 0, 1); put(f, 60, 8); put(f, 0, 16))
MAKE(key_empty, one_number(f, "", 4, 1, 4); put(f, 0, 8))
MAKE(key_nul, begin(f, 0, 1); put(f, 2, 8); put_bytes(f, "a\0", 2); put(f, 4, 4); put(f, 0, 4))
MAKE(key_not_utf8, begin(f, 0, 1); put(f, 2, 8); put_bytes(f, "\xc3\x28", 2); put(f, 4, 4); put(f, 0, 4))
MAKE(key_twice, begin(f, 0, 2); put_key(f, "a", 4); put(f, 1, 4); put_key(f, "a", 4); put(f, 2, 4))
MAKE(type_13, one_number(f, "a", 13, 1, 8))
MAKE(type_huge, one_number(f, "a", UINT32_MAX, 1, 8))
MAKE(type_cut, begin(f, 0, 1); put_text(f, "abcdef"); put(f, 4, 2))
MAKE(number_cut, one_number(f, "key", 10, 1, 7))
MAKE(bool_two, one_number(f, "a", 7, 2, 1))
MAKE(bool_array, begin(f, 0, 1); put_key(f, "a", 9); put(f, 7, 4); put(f, 2, 8); put(f, 0x0301, 2))
MAKE(string_cut, begin(f, 0, 1); put_key(f, "a", 8); put(f, 10, 8); put(f, 0, 9))
MAKE(string_huge, begin(f, 0, 1); put_key(f, "a", 8); put(f, INT64_MAX, 8))
MAKE(array_of_arrays, begin(f, 0, 1); put_key(f, "a", 9); put(f, 9, 4); put(f, 1, 8); put(f, 4, 4); put(f, 0, 8))
MAKE(array_type, begin(f, 0, 1); put_key(f, "a", 9); put(f, 77, 4); put(f, 0, 8))
MAKE(array_count_huge, begin(f, 0, 1); put_key(f, "a", 9); put(f, 10, 4); put(f, UINT64_MAX / 8 + 2, 8); put(f, 0, 8))
MAKE(array_cut, begin(f, 0, 1); put_key(f, "a", 9); put(f, 4, 4); put(f, 3, 8); put(f, 0, 8))
MAKE(array_strings_huge, begin(f, 0, 1); put_key(f, "a", 9); put(f, 8, 4); put(f, 1 << 20, 8); put(f, 0, 8))
MAKE(array_string_cut, begin(f, 0, 1); put_key(f, "a", 9); put(f, 8, 4); put(f, 2, 8); put_text(f, "b"); put(f, 5, 8))
MAKE(alignment_0, one_number(f, "general.alignment", 4, 0, 4))
MAKE(alignment_3, one_number(f, "general.alignment", 4, 3, 4))
MAKE(alignment_huge, one_number(f, "general.alignment", 4, 1u << 31, 4))
MAKE(alignment_string, begin(f, 0, 1); put_key(f, "general.alignment", 8); put_text(f, "32"))
MAKE(alignment_array, begin(f, 0, 1); put_key(f, "general.alignment", 9); put(f, 4, 4); put(f, 1, 8); put(f, 32, 4))
MAKE(split, one_number(f, "split.count", 2, 2, 2))
MAKE(name_empty, begin(f, 1, 0); put_tensor(f, "", 1, SIZES(4), 0, 0); put_data(f, 32, 16))
MAKE(name_long, begin(f, 1, 0); put(f, 128, 8); put_data(f, 32, 160))
MAKE(name_nul, begin(f, 1, 0); put(f, 3, 8); put_bytes(f, "w\0x", 3); put_data(f, 32, 64))
MAKE(name_not_utf8, begin(f, 1, 0); put(f, 1, 8); put_bytes(f, "\xff", 1); put_data(f, 32, 64))
MAKE(name_twice, two_tensors(f, "w", "w", 32, 48))
MAKE(rank_0, one_tensor(f, 0, SIZES(0), 0, 0, 64))
MAKE(rank_5, one_tensor(f, 5, SIZES(1, 1, 1, 1, 1), 0, 0, 64))
MAKE(size_0, one_tensor(f, 2, SIZES(0, 4), 0, 0, 64))
MAKE(size_negative, one_tensor(f, 1, SIZES(UINT64_MAX), 0, 0, 64))
MAKE(size_overflow, one_tensor(f, 2, SIZES(1ull << 32, 1ull << 32), 0, 0, 64))
MAKE(size_overflow_to_4, one_tensor(f, 2, SIZES((1ull << 62) + 1, 1), 0, 0, 64))
MAKE(size_overflow_rows, one_tensor(f, 4, SIZES(1, 1ull << 32, 1ull << 32, 4), 0, 0, 64))
MAKE(type_q8_1, one_tensor(f, 1, SIZES(32), 9, 0, 64))
MAKE(type_unknown, one_tensor(f, 1, SIZES(32), 4000000000u, 0, 64))
MAKE(half_block, one_tensor(f, 1, SIZES(48), 8, 0, 64))
MAKE(half_super_block, one_tensor(f, 2, SIZES(128, 2), 12, 0, 160))
MAKE(offset_beyond, one_tensor(f, 1, SIZES(4), 0, 1 << 20, 64))
MAKE(offset_huge, one_tensor(f, 1, SIZES(4), 0, UINT64_MAX, 64))
MAKE(offset_odd, one_tensor(f, 1, SIZES(4), 0, 4, 64))
MAKE(offset_first, one_tensor(f, 1, SIZES(4), 0, 32, 64))
MAKE(overlap, two_tensors(f, "v", "w", 0, 64))
MAKE(hole, two_tensors(f, "v", "w", 64, 96))
MAKE(no_data, begin(f, 1, 0); put_tensor(f, "w", 1, SIZES(4), 0, 0))
MAKE(data_cut, one_tensor(f, 1, SIZES(4), 0, 0, 15))
MAKE(second_cut, two_tensors(f, "v", "w", 32, 47))
MAKE(tensor_cut, begin(f, 1, 0); put_text(f, "w"); put(f, 4, 4); put(f, 1, 8); put(f, 1, 8); put(f, 1, 8))

static const broken_file broken[] = {
    ROW(empty, CLF_FORMAT, "magic at byte 0: expected 4 bytes, the file has 0 left"),
    ROW(short_magic, CLF_FORMAT, "the file has 3 left"),
    ROW(other_magic, CLF_FORMAT, "begins with \"GGUF\", found bytes 47 47 4d 4c"),
    ROW(no_version, CLF_FORMAT, "version at byte 4"),
    ROW(version_0, CLF_FORMAT, "expected 2 or 3, found 0"),
    ROW(version_1, CLF_UNSUPPORTED, "expected 2 or 3, found 1"),
    ROW(version_4, CLF_FORMAT, "expected 2 or 3, found 4"),
    ROW(big_endian, CLF_UNSUPPORTED, "big-endian"),
    ROW(no_counts, CLF_FORMAT, "number of tensors at byte 8"),
    ROW(half_counts, CLF_FORMAT, "number of metadata keys at byte 16"),
    ROW(tensor_count_huge, CLF_FORMAT, "number of tensors: expected at most 0 in the 8 bytes that follow"),
    ROW(tensor_count_one, CLF_FORMAT, "number of tensors: expected at most 0"),
    ROW(value_count_huge, CLF_FORMAT, "found 18446744073709551615"),
    ROW(value_count_one, CLF_FORMAT, "number of metadata keys: expected at most 0"),
    ROW(value_count_beyond, CLF_FORMAT, "number of metadata keys: expected at most 1"),
    ROW(key_length_huge, CLF_FORMAT, "metadata key: expected at most 65535 bytes"),
    ROW(key_length_limit, CLF_FORMAT, "expected at most 65535 bytes, found 65536"),
    ROW(key_cut, CLF_FORMAT, "expected 60 bytes, the file has 16 left"),
    ROW(key_empty, CLF_FORMAT, "metadata key of 0 bytes"),
    ROW(key_nul, CLF_FORMAT, "UTF-8 without U+0000"),
    ROW(key_not_utf8, CLF_FORMAT, "UTF-8 without U+0000"),
    ROW(key_twice, CLF_FORMAT, "metadata key \"a\" occurs twice"),
    ROW(type_13, CLF_FORMAT, "\"a\": expected a type below 13, found 13"),
    ROW(type_huge, CLF_FORMAT, "found 4294967295"),
    ROW(type_cut, CLF_FORMAT, "\"abcdef\" at byte"),
    ROW(number_cut, CLF_FORMAT, "\"key\" at byte 39: expected 8 bytes, the file has 7 left"),
    ROW(bool_two, CLF_FORMAT, "\"a\": expected a bool of 0 or 1, found 2"),
    ROW(bool_array, CLF_FORMAT, "found 3"),
    ROW(string_cut, CLF_FORMAT, "expected 10 bytes, the file has 9 left"),
    ROW(string_huge, CLF_FORMAT, "the file has 0 left"),
    ROW(array_of_arrays, CLF_UNSUPPORTED, "\"a\": arrays of arrays"),
    ROW(array_type, CLF_FORMAT, "found 77"),
    ROW(array_count_huge, CLF_FORMAT, "\"a\": expected at most 1 in the 8 bytes that follow"),
    ROW(array_cut, CLF_FORMAT, "expected at most 2 in the 8 bytes that follow, found 3"),
    ROW(array_strings_huge, CLF_FORMAT, "found 1048576"),
    ROW(array_string_cut, CLF_FORMAT, "\"a\" at byte 66: expected 5 bytes, the file has 0 left"),
    ROW(alignment_0, CLF_FORMAT, "\"general.alignment\": expected an integer from 1 to 1048576, found uint32 0"),
    ROW(alignment_3, CLF_FORMAT, "expected a power of two, found 3"),
    ROW(alignment_huge, CLF_FORMAT, "found uint32 2147483648"),
    ROW(alignment_string, CLF_FORMAT, "found string \"32\""),
    ROW(alignment_array, CLF_FORMAT, "found array of 1 uint32"),
    ROW(split, CLF_UNSUPPORTED, "\"split.count\": one of 2 parts"),
    ROW(name_empty, CLF_FORMAT, "tensor name of 0 bytes"),
    ROW(name_long, CLF_FORMAT, "tensor name: expected at most 127 bytes, found 128"),
    ROW(name_nul, CLF_FORMAT, "tensor name of 3 bytes"),
    ROW(name_not_utf8, CLF_FORMAT, "UTF-8 without U+0000"),
    ROW(name_twice, CLF_FORMAT, "tensor \"w\" occurs twice"),
    ROW(rank_0, CLF_FORMAT, "tensor \"w\": expected 1 to 4 dimensions, found 0"),
    ROW(rank_5, CLF_FORMAT, "found 5"),
    ROW(size_0, CLF_FORMAT, "expected sizes of 1 or more, found 0"),
    ROW(size_negative, CLF_FORMAT, "expected sizes of 1 or more"),
    ROW(size_overflow, CLF_FORMAT, "size in bytes does not fit"),
    ROW(size_overflow_to_4, CLF_FORMAT, "size in bytes does not fit"),
    ROW(size_overflow_rows, CLF_FORMAT, "size in bytes does not fit"),
    ROW(type_q8_1, CLF_UNSUPPORTED, "weight type q8_1 (9) is not supported: expected f32, f16, bf16, q8_0"),
    ROW(type_unknown, CLF_UNSUPPORTED, "weight type 4000000000"),
    ROW(half_block, CLF_FORMAT, "whole blocks of 32 q8_0 weights, found rows of 48"),
    ROW(half_super_block, CLF_FORMAT, "whole blocks of 256 q4_k weights, found rows of 128"),
    ROW(offset_beyond, CLF_FORMAT, "expected an offset inside the file"),
    ROW(offset_huge, CLF_FORMAT, "expected an offset inside the file"),
    ROW(offset_odd, CLF_FORMAT, "expected its data at 0, where the one before ends, found 4"),
    ROW(offset_first, CLF_FORMAT, "expected its data at 0, where the one before ends, found 32"),
    ROW(overlap, CLF_FORMAT, "tensor \"w\": expected its data at 32, where the one before ends, found 0"),
    ROW(hole, CLF_FORMAT, "expected its data at 32, where the one before ends, found 64"),
    ROW(no_data, CLF_FORMAT, "expected data after the header"),
    ROW(data_cut, CLF_FORMAT, "tensor \"w\": expected 16 bytes at"),
    ROW(second_cut, CLF_FORMAT, "it is cut short"),
    ROW(tensor_cut, CLF_FORMAT, "dimension at byte"),
};

static void broken_files(void **state)
{
    (void)state;
    assert_true(COUNT(broken) >= 60);
    for (size_t i = 0; i < COUNT(broken); i++) {
        static image f;
        clf_gguf *file = NULL;
        broken[i].make(&f);
        uint8_t *exact = malloc(f.size + !f.size); /* so that a sanitizer sees every over-read */
        memcpy(exact, f.bytes, f.size);
        const clf_status st = clfi_gguf_parse(exact, f.size, "broken.gguf", &file);
        CHECK(st == broken[i].status && strstr(clf_last_error(), broken[i].part) && strstr(clf_last_error(), "broken.gguf") && !file,
              "%s: want %s with \"%s\", got %s: %s", broken[i].name, clf_status_text(broken[i].status), broken[i].part, clf_status_text(st),
              clf_last_error());
        free(exact);
    }
}

/* Every prefix of a good file is refused; the whole is not. */
static void every_prefix(void **state)
{
    static image f;
    clf_gguf *file;
    (void)state;
    begin(&f, 2, 3);
    put_key(&f, "list", 9);
    put(&f, 8, 4);
    put(&f, 2, 8);
    put_text(&f, "one");
    put_text(&f, "");
    put_key(&f, "general.alignment", 4);
    put(&f, 64, 4);
    put_key(&f, "flag", 7);
    put(&f, 1, 1);
    put_tensor(&f, "b", 2, SIZES(32, 3), 8, 0);
    put_tensor(&f, "a", 1, SIZES(5), 0, 128);
    put_data(&f, 64, 128 + 20);
    for (size_t size = 0; size < f.size; size++) {
        uint8_t *exact = malloc(size + !size);
        memcpy(exact, f.bytes, size);
        CHECK(clfi_gguf_parse(exact, size, "prefix", &file) == CLF_FORMAT, "a prefix of %zu bytes is taken", size);
        free(exact);
    }
    CHECK_OK(clfi_gguf_parse(f.bytes, f.size, "whole", &file));
    assert_int_equal(clfi_gguf_count(file), 2);
    assert_string_equal(clfi_gguf_at(file, 0)->name, "b");
    assert_null(clfi_gguf_at(file, 2));
    const clf_gguf_tensor *b = clfi_gguf_find(file, "b");
    assert_true(b && b->rank == 2 && b->dim[0] == 3 && b->dim[1] == 32 && b->bytes == 3 * 34 && b->offset % 64 == 0);
    assert_null(clfi_gguf_find(file, "c"));
    clfi_gguf_close(file);
    clfi_gguf_close(NULL);
}

/* The second version has the third's bytes. */
static void second_version(void **state)
{
    static image f;
    clf_gguf *file;
    float number;
    (void)state;
    begin(&f, 1, 1);
    f.bytes[4] = 2;
    put_string(&f, "general.name", "older");
    put_tensor(&f, "w", 2, SIZES(2, 3), 0, 0);
    put_data(&f, 32, 24);
    CHECK_OK(clfi_gguf_parse(f.bytes, f.size, "second.gguf", &file));
    const clf_gguf_tensor *w = clfi_gguf_find(file, "w");
    assert_true(w && w->dim[0] == 3 && w->dim[1] == 2 && w->bytes == 24 && clfi_gguf_value_count(file) == 1);
    memcpy(&number, w->data, sizeof number);
    assert_true(number == 0x1.222222p-93f);
    clfi_gguf_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_files),
        cmocka_unit_test(every_prefix),
        cmocka_unit_test(second_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
