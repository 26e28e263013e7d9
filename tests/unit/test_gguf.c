/* SPDX-License-Identifier: MIT */
/* GGUF: broken files and their messages, a file of the gguf package, every weight type's numbers. */
#include "io/gguf.h"

#include <stdio.h>
#include <stdlib.h>

#include "io/checkpoint_gguf.h"
#include "support/check.h"
#include "support/temp.h"

/* A file under construction. */
typedef struct image {
    uint8_t bytes[4096];
    size_t size;
} image;

static void put_bytes(image *f, const void *bytes, size_t size)
{
    assert_true(f->size + size <= sizeof f->bytes);
    memcpy(f->bytes + f->size, bytes, size);
    f->size += size;
}

/* The value's bytes, the lowest first, and zeros where bytes is more than it has. */
static void put(image *f, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++, value >>= 8)
        put_bytes(f, &(uint8_t){(uint8_t)value}, 1);
}

static void put_text(image *f, const char *text)
{
    put(f, strlen(text), 8);
    put_bytes(f, text, strlen(text));
}

static void begin(image *f, uint64_t tensors, uint64_t values)
{
    f->size = 0;
    put_bytes(f, "GGUF", 4);
    put(f, 3, 4);
    put(f, tensors, 8);
    put(f, values, 8);
}

static void put_key(image *f, const char *key, uint32_t type)
{
    put_text(f, key);
    put(f, type, 4);
}

static void put_tensor(image *f, const char *name, int rank, const uint64_t *sizes, uint32_t type, uint64_t offset)
{
    put_text(f, name);
    put(f, (uint64_t)rank, 4);
    for (int i = 0; i < rank; i++)
        put(f, sizes[i], 8);
    put(f, type, 4);
    put(f, offset, 8);
}

/* Zeros up to the next multiple of `alignment`, then `size` bytes of data. */
static void put_data(image *f, size_t alignment, size_t size)
{
    while (f->size % alignment)
        put(f, 0, 1);
    for (size_t i = 0; i < size; i++)
        put(f, 0x11, 1);
}

#define SIZES(...) ((const uint64_t[]){__VA_ARGS__})

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

/* Files by number; each is refused with this status and a message that holds `part`. */
typedef struct broken_file {
    const char *name;
    void (*make)(image *f);
    clf_status status;
    const char *part;
} broken_file;

#define MAKE(name, ...)               \
    static void make_##name(image *f) \
    {                                 \
        f->size = 0;                  \
        __VA_ARGS__;                  \
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

#define ROW(name, status, part)          \
    {                                    \
#name, make_##name, status, part \
    }
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
    ROW(key_twice, CLF_FORMAT, "metadata key \"a\" comes twice"),
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
    ROW(alignment_string, CLF_FORMAT, "found string of 1 string"),
    ROW(alignment_array, CLF_FORMAT, "found array of 1 uint32"),
    ROW(split, CLF_UNSUPPORTED, "\"split.count\": one of 2 parts"),
    ROW(name_empty, CLF_FORMAT, "tensor name of 0 bytes"),
    ROW(name_long, CLF_FORMAT, "tensor name: expected at most 127 bytes, found 128"),
    ROW(name_nul, CLF_FORMAT, "tensor name of 3 bytes"),
    ROW(name_not_utf8, CLF_FORMAT, "UTF-8 without U+0000"),
    ROW(name_twice, CLF_FORMAT, "tensor \"w\" comes twice"),
    ROW(rank_0, CLF_FORMAT, "tensor \"w\": expected 1 to 4 dimensions, found 0"),
    ROW(rank_5, CLF_FORMAT, "found 5"),
    ROW(size_0, CLF_FORMAT, "expected sizes of 1 or more, found 0"),
    ROW(size_negative, CLF_FORMAT, "expected sizes of 1 or more"),
    ROW(size_overflow, CLF_FORMAT, "size in bytes does not fit"),
    ROW(size_overflow_to_4, CLF_FORMAT, "size in bytes does not fit"),
    ROW(size_overflow_rows, CLF_FORMAT, "size in bytes does not fit"),
    ROW(type_q8_1, CLF_UNSUPPORTED, "weight type 9 is not read: expected f32, f16, bf16, q8_0"),
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

static void put_uint(image *f, const char *key, uint32_t value)
{
    put_key(f, key, 4);
    put(f, value, 4);
}

static void put_float(image *f, const char *key, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_key(f, key, 6);
    put(f, bits, 4);
}

static void put_string(image *f, const char *key, const char *value)
{
    put_key(f, key, 8);
    put_text(f, value);
}

/* A file of the architecture with 6 layers of 2 heads of 4, and `more` keys to come. */
static void begin_model(image *f, const char *architecture, uint64_t more)
{
    static const struct {
        const char *suffix;
        uint32_t value;
    } sizes[] = {{"block_count", 6}, {"embedding_length", 8}, {"attention.head_count", 2}, {"context_length", 64}};
    begin(f, 0, COUNT(sizes) + 1 + more);
    put_string(f, "general.architecture", architecture);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        char key[64];
        snprintf(key, sizeof key, "%s.%s", architecture, sizes[i].suffix);
        put_uint(f, key, sizes[i].value);
    }
}

MAKE(no_scaling, begin_model(f, "llama", 0))
MAKE(factor_alone, begin_model(f, "llama", 1); put_float(f, "llama.rope.scaling.factor", 3))
MAKE(old_factor, begin_model(f, "llama", 1); put_float(f, "llama.rope.scale_linear", 2.5f))
MAKE(both_factors, begin_model(f, "llama", 2); put_float(f, "llama.rope.scale_linear", 2.5f); put_float(f, "llama.rope.scaling.factor", 4))
MAKE(factor_zero, begin_model(f, "llama", 1); put_float(f, "llama.rope.scaling.factor", 0))
MAKE(typed_none, begin_model(f, "llama", 2); put_string(f, "llama.rope.scaling.type", "none"); put_float(f, "llama.rope.scaling.factor", 3))
MAKE(typed_linear, begin_model(f, "llama", 2); put_string(f, "llama.rope.scaling.type", "linear");
     put_float(f, "llama.rope.scaling.factor", 3))
MAKE(yarn, begin_model(f, "qwen2", 3); put_string(f, "qwen2.rope.scaling.type", "yarn"); put_float(f, "qwen2.rope.scaling.factor", 4);
     put_uint(f, "qwen2.rope.scaling.original_context_length", 32))
MAKE(yarn_magnitude, begin_model(f, "qwen2", 3); put_string(f, "qwen2.rope.scaling.type", "yarn");
     put_float(f, "qwen2.rope.scaling.factor", 4); put_float(f, "qwen2.rope.scaling.attn_factor", 2))
MAKE(windows_by_number, begin_model(f, "gemma3", 1); put_uint(f, "gemma3.attention.sliding_window_pattern", 3))
MAKE(windows_listed, begin_model(f, "gemma3", 1); put_key(f, "gemma3.attention.sliding_window_pattern", 9); put(f, 7, 4); put(f, 6, 8);
     put(f, 0x010100000001, 6))
MAKE(rest, begin_model(f, "llama", 3); put_uint(f, "llama.vocab_size", 9); put_uint(f, "llama.attention.sliding_window_pattern", 6);
     put_float(f, "llama.more", 0.5f))
MAKE(neutral, begin_model(f, "llama", 2); put_key(f, "llama.attention.causal", 7); put(f, 1, 1); put_float(f, "llama.logit_scale", 1))

/* What the metadata becomes. */
static void configurations(void **state)
{
    static const struct {
        const char *name;
        void (*make)(image *f);
        const char *key, *json; /* of the configuration; NULL: the key is absent */
    } rows[] = {
        {"no scaling", make_no_scaling, "rope_scaling", NULL},
        {"a factor without a type is linear", make_factor_alone, "rope_scaling", "{\"rope_type\": \"linear\", \"factor\": 3.0}"},
        {"the older name", make_old_factor, "rope_scaling", "{\"rope_type\": \"linear\", \"factor\": 2.5}"},
        {"the newer name first", make_both_factors, "rope_scaling", "{\"rope_type\": \"linear\", \"factor\": 4.0}"},
        {"0 is none", make_factor_zero, "rope_scaling", NULL},
        {"none", make_typed_none, "rope_scaling", NULL},
        {"linear", make_typed_linear, "rope_scaling", "{\"rope_type\": \"linear\", \"factor\": 3.0}"},
        {"yarn", make_yarn, "rope_scaling", "{\"rope_type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 32}"},
        {"yarn, magnitude", make_yarn_magnitude, "rope_scaling",
         "{\"rope_type\": \"yarn\", \"factor\": 4.0, \"attention_factor\": 2.2772588722239782}"},
        {"each third sees all", make_windows_by_number, "layer_types",
         "[\"sliding_attention\", \"sliding_attention\", \"full_attention\", \"sliding_attention\", \"sliding_attention\", "
         "\"full_attention\"]"},
        {"windows in a list", make_windows_listed, "layer_types",
         "[\"sliding_attention\", \"full_attention\", \"full_attention\", \"full_attention\", \"sliding_attention\", "
         "\"sliding_attention\"]"},
        {"what is not read", make_rest, "llama.more", "0.5"},
        {"windows of an architecture without", make_rest, "llama.attention.sliding_window_pattern", "6.0"},
        {"told by the tensors", make_rest, "llama.vocab_size", NULL},
        {"causal", make_neutral, "llama.attention.causal", NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        static image f;
        clf_checkpoint *checkpoint;
        rows[i].make(&f);
        put_data(&f, 32, 0);
        CHECK_OK(clfi_checkpoint_parse_gguf(f.bytes, f.size, "made.gguf", &checkpoint));
        char *json = json_dumps(json_object_get(clfi_checkpoint_config(checkpoint), rows[i].key), JSON_ENCODE_ANY);
        CHECK(rows[i].json ? json && strcmp(json, rows[i].json) == 0 : !json, "%s: %s is %s, want %s", rows[i].name, rows[i].key,
              json ? json : "absent", rows[i].json ? rows[i].json : "none");
        free(json);
        clfi_checkpoint_close(checkpoint);
    }
}

MAKE(not_causal, begin_model(f, "llama", 1); put_key(f, "llama.attention.causal", 7); put(f, 0, 1))
MAKE(logit_scale, begin_model(f, "llama", 1); put_float(f, "llama.logit_scale", 0.25f))
MAKE(value_size, begin_model(f, "llama", 1); put_uint(f, "llama.attention.value_length", 2))
MAKE(linear_magnitude, begin_model(f, "llama", 2); put_float(f, "llama.rope.scaling.factor", 2);
     put_float(f, "llama.rope.scaling.attn_factor", 2))
MAKE(windows_short, begin_model(f, "gemma2", 1); put_key(f, "gemma2.attention.sliding_window_pattern", 9); put(f, 7, 4); put(f, 2, 8);
     put(f, 1, 2))
MAKE(experts, begin_model(f, "llama", 1); put_uint(f, "llama.expert_count", 8))

/* Networks that are not built are refused by what makes them so. */
static void refused_configurations(void **state)
{
    static const broken_file rows[] = {
        ROW(not_causal, CLF_UNSUPPORTED, "llama.attention.causal is 0: expected 1"),
        ROW(logit_scale, CLF_UNSUPPORTED, "llama.logit_scale is 0.25"),
        ROW(value_size, CLF_UNSUPPORTED, "llama.attention.value_length is 2: expected the size of keys, 4"),
        ROW(linear_magnitude, CLF_UNSUPPORTED, "llama.rope.scaling.attn_factor is 2: expected it beside yarn or longrope"),
        ROW(windows_short, CLF_FORMAT, "gemma2.attention.sliding_window_pattern: expected a number or one for each of 6 layers"),
        ROW(experts, CLF_UNSUPPORTED, "llama.expert_count"),
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        static image f;
        clf_checkpoint *checkpoint = NULL;
        rows[i].make(&f);
        put_data(&f, 32, 0);
        CHECK_FAILS(clfi_checkpoint_parse_gguf(f.bytes, f.size, "made.gguf", &checkpoint), rows[i].status, rows[i].part);
        assert_true(!checkpoint && strstr(clf_last_error(), "made.gguf"));
    }
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

/* What is written is what the gguf package writes, byte by byte. */
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
    CHECK_FAILS(clfi_weight_encode(CLF_WEIGHT_Q6_K, values_in, 4, bytes), CLF_UNSUPPORTED, "q6_k: expected f32, f16, bf16, q8_0 or q4_0");
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
        cmocka_unit_test(broken_files),   cmocka_unit_test(every_prefix),
        cmocka_unit_test(values),         cmocka_unit_test(decoded),
        cmocka_unit_test(encoded),        cmocka_unit_test(names_of_types),
        cmocka_unit_test(configurations), cmocka_unit_test(refused_configurations),
        cmocka_unit_test(second_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
