/* SPDX-License-Identifier: MIT */
/* safetensors: broken files and their messages, files of the reference implementation, and shards. */
#include "base/file.h"
#include "io/safetensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/str.h"
#include "support/check.h"
#include "support/temp.h"
#include "support/write_safetensors.h"

static const char golden[] = CLF_TEST_DATA "/safetensors";

/* A file of a header and `data_bytes` bytes of data; declared: its size field, -1 = the header's own. */
typedef struct broken_file {
    const char *name;
    const char *header;
    size_t header_bytes;
    size_t data_bytes;
    int64_t declared;
    clf_status status;
    const char *part; /* of the message */
} broken_file;

#define FILE_OF(name, header, data_bytes, part)                           \
    {                                                                     \
        name, header, sizeof header - 1, data_bytes, -1, CLF_FORMAT, part \
    }
#define FILE_DECLARED(name, header, data_bytes, declared, part)                 \
    {                                                                           \
        name, header, sizeof header - 1, data_bytes, declared, CLF_FORMAT, part \
    }
#define FILE_UNSUPPORTED(name, header, data_bytes, part)                       \
    {                                                                          \
        name, header, sizeof header - 1, data_bytes, -1, CLF_UNSUPPORTED, part \
    }

/* One tensor "w" with these fields. */
#define W(dtype, shape, offsets) "{\"w\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}}"
#define AB(a, b) \
    "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":" a "},\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":" b "}}"
#define TEN "1,1,1,1,1,1,1,1,1,1"

static const broken_file broken[] = {
    /* the size field */
    FILE_DECLARED("size_zero", "", 0, 0, "header of 0 bytes"),
    FILE_DECLARED("size_beyond_file", "{}", 0, 3, "expected at most the 2 bytes that follow, found 3"),
    FILE_DECLARED("size_beyond_limit", "{}", 0, 100000001, "expected at most 100000000 bytes, found 100000001"),
    FILE_DECLARED("size_huge", "{}", 0, INT64_MAX, "expected at most 100000000 bytes, found 9223372036854775807"),
    FILE_DECLARED("size_at_limit", "{}", 0, 100000000, "expected at most the 2 bytes"),
    FILE_DECLARED("size_cuts_header", "{\"a\":1}", 0, 4, "near end of file"),
    FILE_DECLARED("size_into_data", "{}", 8, 4, "end of file expected"),
    /* the JSON text */
    FILE_OF("text_space_first", " {}", 0, "expected '{' first"),
    FILE_OF("text_array", "[]", 0, "expected '{' first"),
    FILE_OF("text_not_closed", "{", 0, "line 1, column"),
    FILE_OF("text_nul_padding", "{}\0\0\0\0\0\0", 0, "end of file expected"),
    FILE_OF("text_second_value", "{}{}", 0, "end of file expected"),
    FILE_OF("text_not_utf8", "{\"\xff\":1}", 0, "unable to decode byte 0xff"),
    FILE_OF("text_overlong_utf8", "{\"\xc0\xaf\":1}", 0, "unable to decode byte 0xc0"),
    FILE_OF("text_surrogate", "{\"\\ud800\":1}", 0, "invalid Unicode"),
    FILE_OF("text_nul_in_name", "{\"a\\u0000\":1}", 0, "NUL byte in object key"),
    FILE_OF("text_duplicate_tensor",
            "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}",
            2, "duplicate object key"),
    FILE_OF("text_duplicate_field", "{\"w\":{\"dtype\":\"U8\",\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
            "duplicate object key"),
    FILE_OF("text_deep",
            "{\"w\":{\"shape\":"
            "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
            "}}",
            0, "objects and arrays"),
    FILE_OF("text_wide", "{\"w\":[[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[]]}", 0,
            "objects and arrays"),
    /* metadata */
    FILE_OF("metadata_number", "{\"__metadata__\":{\"format\":1}}", 0, "\"__metadata__\": \"format\": expected string"),
    FILE_OF("metadata_array", "{\"__metadata__\":[]}", 0, "\"__metadata__\": expected object, found array of 0"),
    FILE_OF("metadata_nested", "{\"__metadata__\":{\"a\":{}}}", 0, "found object of 0"),
    FILE_OF("metadata_nul", "{\"__metadata__\":{\"a\":\"x\\u0000\"}}", 0, "string without U+0000"),
    FILE_UNSUPPORTED("metadata_tf", "{\"__metadata__\":{\"format\":\"tf\"}}", 0, "format \"tf\": expected \"pt\""),
    FILE_UNSUPPORTED("metadata_flax", "{\"__metadata__\":{\"format\":\"flax\"}}", 0, "format \"flax\": expected \"pt\""),
    /* entries */
    FILE_OF("entry_number", "{\"w\":1}", 0, "tensor \"w\": expected an object with \"dtype\", found integer 1"),
    FILE_OF("entry_array", "{\"w\":[]}", 0, "found array of 0"),
    FILE_OF("entry_null", "{\"w\":null}", 0, "found null"),
    FILE_OF("entry_empty", "{\"w\":{}}", 0, "\"dtype\": expected string, found nothing"),
    FILE_OF("entry_no_shape", "{\"w\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4, "\"shape\": expected array, found nothing"),
    FILE_OF("entry_no_offsets", "{\"w\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "\"data_offsets\": expected array, found nothing"),
    /* dtype */
    FILE_OF("dtype_unknown", W("\"F31\"", "[1]", "[0,4]"), 4,
            "\"dtype\": expected a type of the format such as F32 or BF16, found \"F31\""),
    FILE_OF("dtype_lower_case", W("\"f32\"", "[1]", "[0,4]"), 4, "found \"f32\""),
    FILE_OF("dtype_number", W("32", "[1]", "[0,4]"), 4, "\"dtype\": expected string, found integer 32"),
    FILE_OF("dtype_nul", W("\"F32\\u0000\"", "[1]", "[0,4]"), 4, "string without U+0000"),
    FILE_UNSUPPORTED("dtype_half_byte", W("\"F4\"", "[2]", "[0,1]"), 1, "dtype F4: elements smaller than a byte"),
    /* shape */
    FILE_OF("shape_number", W("\"F32\"", "1", "[0,4]"), 4, "\"shape\": expected array, found integer 1"),
    FILE_OF("shape_string", W("\"F32\"", "[\"1\"]", "[0,4]"), 4, "\"shape\"[0]: expected integer from 0, found string \"1\""),
    FILE_OF("shape_negative", W("\"F32\"", "[2,-1]", "[0,4]"), 4, "\"shape\"[1]: expected integer from 0, found integer -1"),
    FILE_OF("shape_fraction", W("\"F32\"", "[1.5]", "[0,4]"), 4, "found real number 1.5"),
    FILE_OF("shape_whole_real", W("\"F32\"", "[1.0]", "[0,4]"), 4, "found real number 1"),
    FILE_OF("shape_exponent", W("\"F32\"", "[1e0]", "[0,4]"), 4, "found real number 1"),
    FILE_OF("shape_null", W("\"F32\"", "[null]", "[0,4]"), 4, "found null"),
    FILE_OF("shape_beyond_int64", W("\"F32\"", "[9223372036854775808]", "[0,4]"), 4, "too big integer near"),
    FILE_OF("shape_overflow", W("\"U8\"", "[4294967296,4294967296]", "[0,0]"), 0, "\"shape\": its size in bytes does not fit"),
    FILE_OF("shape_overflow_to_four", W("\"F32\"", "[4611686018427387905]", "[0,4]"), 4, "does not fit"),
    FILE_OF("shape_overflow_beside_zero", W("\"U8\"", "[0,4294967296,4294967296]", "[0,0]"), 0, "does not fit"),
    FILE_UNSUPPORTED("shape_rank", W("\"U8\"", "[" TEN "," TEN "]", "[0,1]"), 1, "expected at most 16 dimensions, found 20"),
    FILE_OF("shape_too_big", W("\"F32\"", "[2]", "[0,4]"), 4, "\"data_offsets\": expected 8 bytes for F32 and its shape, found 4"),
    FILE_OF("shape_too_small", W("\"F32\"", "[1]", "[0,8]"), 8, "expected 4 bytes for F32 and its shape, found 8"),
    FILE_OF("shape_of_other_dtype", W("\"F16\"", "[2]", "[0,8]"), 8, "expected 4 bytes for F16 and its shape, found 8"),
    /* offsets */
    FILE_OF("offsets_one", W("\"F32\"", "[1]", "[4]"), 4, "\"data_offsets\": expected 2 integers, found 1"),
    FILE_OF("offsets_three", W("\"F32\"", "[1]", "[0,2,4]"), 4, "expected 2 integers, found 3"),
    FILE_OF("offsets_object", W("\"F32\"", "[1]", "{}"), 4, "expected array, found object of 0"),
    FILE_OF("offsets_string", W("\"F32\"", "[1]", "[0,\"4\"]"), 4, "\"data_offsets\"[1]: expected integer from 0, found string"),
    FILE_OF("offsets_negative", W("\"F32\"", "[1]", "[-4,0]"), 4, "\"data_offsets\"[0]: expected integer from 0, found integer -4"),
    FILE_OF("offsets_reversed", W("\"F32\"", "[1]", "[4,0]"), 4, "expected a range inside 4 bytes, found [4, 0]"),
    FILE_OF("offsets_beyond_data", W("\"F32\"", "[2]", "[0,8]"), 4, "expected a range inside 4 bytes, found [0, 8]"),
    FILE_OF("offsets_huge", W("\"F32\"", "[1]", "[9223372036854775803,9223372036854775807]"), 4, "expected a range inside 4 bytes"),
    FILE_OF("offsets_no_data", W("\"F32\"", "[1]", "[0,4]"), 0, "expected a range inside 0 bytes"),
    /* coverage */
    FILE_OF("cover_overlap", AB("[0,4]", "[3,7]"), 7,
            "tensor \"b\": expected its data at 4, where the one before ends, found 3: they overlap"),
    FILE_OF("cover_same", AB("[0,4]", "[0,4]"), 4, "they overlap"),
    FILE_OF("cover_hole", AB("[0,4]", "[5,9]"), 9, "found 5: a hole"),
    FILE_OF("cover_hole_first", AB("[1,5]", "[5,9]"), 9, "tensor \"a\": expected its data at 0"),
    FILE_OF("cover_rest", AB("[0,4]", "[4,8]"), 9, "expected 8 bytes of data for its tensors, found 9"),
    FILE_OF("cover_no_tensors", "{}", 1, "expected 0 bytes of data for its tensors, found 1"),
    FILE_OF("cover_empty_inside",
            "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
            "\"b\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[2,2]}}",
            4, "tensor \"b\": expected its data at 4"),
};

/* The file's bytes, exactly as many as it has, so that a sanitizer sees every over-read. Caller frees. */
static uint8_t *compose(const char *header, size_t header_bytes, size_t data_bytes, int64_t declared, size_t *size)
{
    const uint64_t field = declared < 0 ? header_bytes : (uint64_t)declared;
    *size = 8 + header_bytes + data_bytes;
    uint8_t *bytes = malloc(*size);
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(field >> 8 * i);
    memcpy(bytes + 8, header, header_bytes);
    memset(bytes + 8 + header_bytes, 0x5a, data_bytes);
    return bytes;
}

static void broken_files(void **state)
{
    (void)state;
    char directory[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
    assert_true(COUNT(broken) >= 40);
    temp_directory_make(directory);
    for (size_t i = 0; i < COUNT(broken); i++) {
        const broken_file *b = &broken[i];
        size_t size;
        uint8_t *bytes = compose(b->header, b->header_bytes, b->data_bytes, b->declared, &size);
        clf_safetensors *file = NULL;
        clf_status st = clfi_safetensors_parse(bytes, size, b->name, &file);
        CHECK(st == b->status && strstr(clf_last_error(), b->part), "%s: want \"%s\", got %s: %s", b->name, b->part, clf_status_id(st),
              clf_last_error());
        temp_file(directory, b->name, bytes, size, path);
        st = clfi_safetensors_open(path, &file);
        CHECK(st == b->status && strstr(clf_last_error(), path) == clf_last_error() && strstr(clf_last_error(), b->part),
              "%s as a file: want \"%s\", got %s: %s", b->name, b->part, clf_status_id(st), clf_last_error());
        assert_null(file);
        free(bytes);
    }
    temp_directory_remove(directory);
}

static void every_truncation(void **state)
{
    (void)state;
    static const char header[] = AB("[0,4]", "[4,8]");
    size_t size;
    uint8_t *bytes = compose(header, sizeof header - 1, 8, -1, &size);
    clf_safetensors *file = NULL;
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *copy = malloc(cut ? cut : 1);
        memcpy(copy, bytes, cut);
        CHECK_FAILS(clfi_safetensors_parse(copy, cut, "cut.safetensors", &file), CLF_FORMAT, "cut.safetensors: ");
        free(copy);
    }
    CHECK_OK(clfi_safetensors_parse(bytes, size, "whole", &file));
    clfi_safetensors_close(file);
    free(bytes);
}

/* Each byte of the header changed to each of some values: never a crash, and what opens stays inside the file. */
static void every_byte_changed(void **state)
{
    (void)state;
    static const char header[] = AB("[0,4]", "[4,8]");
    static const unsigned char values[] = {0, ' ', '"', '-', '.', '0', '9', '[', '\\', ']', '{', '}', ',', 0x80, 0xff};
    size_t size, opened = 0;
    uint8_t *bytes = compose(header, sizeof header - 1, 8, -1, &size);
    for (size_t at = 0; at < size - 8; at++) {
        const uint8_t kept = bytes[at];
        for (size_t v = 0; v < COUNT(values); v++) {
            clf_safetensors *file = NULL;
            bytes[at] = values[v];
            if (clfi_safetensors_parse(bytes, size, "changed", &file) != CLF_OK)
                continue;
            opened++;
            for (size_t i = 0; i < clfi_safetensors_count(file); i++) {
                const clf_file_tensor *t = clfi_safetensors_at(file, i);
                assert_true(t->offset <= size && t->bytes <= size - t->offset && t->data == bytes + t->offset);
            }
            clfi_safetensors_close(file);
        }
        bytes[at] = kept;
    }
    assert_true(opened > 0); /* changed names are valid names */
    free(bytes);
}

static void missing_files(void **state)
{
    (void)state;
    char directory[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
    clf_safetensors *file = NULL;
    temp_directory_make(directory);
    CHECK_FAILS(clfi_safetensors_open(temp_path(directory, "none", path), &file), CLF_NOT_FOUND, path);
    CHECK_FAILS(clfi_safetensors_open(directory, &file), CLF_IO, directory);
    CHECK_FAILS(clfi_safetensors_open_directory(directory, &file), CLF_NOT_FOUND, "expected model.safetensors or");
    temp_file(directory, "pytorch_model.bin", "PK", 2, path);
    CHECK_FAILS(clfi_safetensors_open_directory(directory, &file), CLF_NOT_FOUND, "found pytorch_model.bin without model.safetensors");
    assert_non_null(strstr(clf_last_error(), "torch.load(f, map_location='cpu', weights_only=True).items()}, 'model.safetensors')"));
    temp_file(directory, "empty", "", 0, path);
    CHECK_FAILS(clfi_safetensors_open(path, &file), CLF_FORMAT, "found a file of 0");
    temp_directory_remove(directory);
}

/* make_safetensors.py: element i is i % 2, i or i - 3. */
static void check_values(const clf_file_tensor *t)
{
    float *values = calloc(t->bytes + 1, sizeof *values);
    const size_t count = t->bytes / clfi_file_dtype_bytes(t->dtype);
    CHECK_OK(clfi_file_to_f32(t->dtype, false, t->data, (ptrdiff_t)clfi_file_dtype_bytes(t->dtype), count, values));
    for (size_t i = 0; i < count; i++) {
        const char kind = clfi_file_dtype_name(t->dtype)[0];
        const double want = kind == 'B' && t->dtype == CLF_FILE_BOOL ? (double)(i % 2) : kind == 'U' ? (double)i : (double)i - 3;
        CHECK(values[i] == want, "%s[%zu]: %g, want %g", t->name, i, values[i], want);
    }
    free(values);
}

static void reference_types(void **state)
{
    (void)state;
    char path[TEMP_PATH_BYTES];
    clf_safetensors *file;
    CHECK_OK(clfi_safetensors_open(temp_path(golden, "types.safetensors", path), &file));
    assert_int_equal(clfi_safetensors_count(file), 16);
    for (int d = 0; d < CLF_FILE_DTYPE_COUNT; d++) {
        char name[64];
        snprintf(name, sizeof name, "tensor.%s", clfi_file_dtype_name((clf_file_dtype)d));
        const clf_file_tensor *t = clfi_safetensors_find(file, name);
        if (d == CLF_FILE_F8_E8M0) {
            assert_null(t);
            continue;
        }
        CHECK(t && t->dtype == (clf_file_dtype)d && t->rank == 2 && t->dim[0] == 2 && t->dim[1] == 3, "%s", name);
        if (strchr(name, '8') && strncmp(name + 7, "F8", 2) == 0) {
            float unused[6];
            CHECK_FAILS(clfi_file_to_f32(t->dtype, false, t->data, 1, 6, unused), CLF_UNSUPPORTED, "F8");
        } else if (d != CLF_FILE_C64) {
            check_values(t);
        }
    }
    assert_null(clfi_safetensors_find(file, "tensor"));
    assert_null(clfi_safetensors_at(file, 16));
    clfi_safetensors_close(file);
    clfi_safetensors_close(NULL);
}

static void reference_shapes(void **state)
{
    (void)state;
    char path[TEMP_PATH_BYTES];
    clf_safetensors *file;
    CHECK_OK(clfi_safetensors_open(temp_path(golden, "shapes.safetensors", path), &file));
    assert_int_equal(clfi_safetensors_count(file), 5);
    const clf_file_tensor *t = clfi_safetensors_find(file, "scalar");
    assert_true(t && t->rank == 0 && t->bytes == 4);
    check_values(t);
    t = clfi_safetensors_find(file, "empty");
    assert_true(t && t->rank == 2 && t->dim[0] == 0 && t->dim[1] == 4 && t->bytes == 0);
    t = clfi_safetensors_find(file, "also.empty");
    assert_true(t && t->dtype == CLF_FILE_I64 && t->rank == 2 && t->dim[0] == 3 && t->dim[1] == 0);
    t = clfi_safetensors_find(file, "row");
    assert_true(t && t->rank == 1 && t->dim[0] == 5);
    check_values(t);
    t = clfi_safetensors_find(file, "\xc3\xbc"
                                    "ber \"quoted\" \xe4\xb8\xad");
    assert_true(t && t->dtype == CLF_FILE_U8);
    check_values(t);
    for (size_t i = 1; i < clfi_safetensors_count(file); i++)
        assert_true(strcmp(clfi_safetensors_at(file, i - 1)->name, clfi_safetensors_at(file, i)->name) < 0);
    clfi_safetensors_close(file);
    CHECK_OK(clfi_safetensors_open(temp_path(golden, "nothing.safetensors", path), &file));
    assert_int_equal(clfi_safetensors_count(file), 0);
    assert_null(clfi_safetensors_find(file, "x"));
    clfi_safetensors_close(file);
}

/* An empty tensor lies where the next one begins, whichever of the two the header names first. */
static void empty_named_last(void **state)
{
    (void)state;
    static const char header[] = "{\"full\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
                                 "\"none\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}}";
    unsigned char bytes[8 + sizeof header - 1 + 4] = {sizeof header - 1};
    char path[TEMP_PATH_BYTES];
    clf_safetensors *file;
    memcpy(bytes + 8, header, sizeof header - 1);
    CHECK_OK(clfi_safetensors_open(temp_file(temp_root, "empty.safetensors", bytes, sizeof bytes, path), &file));
    assert_int_equal(clfi_safetensors_count(file), 2);
    clfi_safetensors_close(file);
}

static void shards(void **state)
{
    (void)state;
    char path[TEMP_PATH_BYTES];
    clf_safetensors *file;
    CHECK_OK(clfi_safetensors_open_directory(temp_path(golden, "sharded", path), &file));
    assert_int_equal(clfi_safetensors_count(file), 3);
    assert_int_equal(clfi_safetensors_shard_count(file), 2);
    const clf_file_tensor *a = clfi_safetensors_find(file, "a.weight"), *b = clfi_safetensors_find(file, "b.weight");
    assert_true(a && b && a->shard != b->shard && b->dtype == CLF_FILE_F16);
    check_values(a);
    check_values(b);
    check_values(clfi_safetensors_find(file, "c.weight"));
    assert_non_null(strstr(clfi_safetensors_shard_path(file, b->shard), "model-00002-of-00002.safetensors"));
    const clf_file_map *map = clfi_safetensors_shard_map(file, b->shard);
    assert_true((const uint8_t *)b->data == map->data + b->offset && b->offset + b->bytes <= map->size);
    clfi_safetensors_close(file);
}

static void broken_indexes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        clf_status status;
        const char *part;
    } cases[] = {
        {"", CLF_FORMAT, "model.safetensors.index.json: line 1"},
        {"[]", CLF_FORMAT, "expected an object with \"weight_map\", found array of 0"},
        {"{}", CLF_FORMAT, "\"weight_map\": expected object, found nothing"},
        {"{\"weight_map\":[]}", CLF_FORMAT, "\"weight_map\": expected object, found array of 0"},
        {"{\"weight_map\":{\"w\":1}}", CLF_FORMAT, "\"w\": expected a file name without directories, found integer 1"},
        {"{\"weight_map\":{\"w\":\"\"}}", CLF_FORMAT, "without directories, found string \"\""},
        {"{\"weight_map\":{\"w\":\"..\"}}", CLF_FORMAT, "found string \"..\""},
        {"{\"weight_map\":{\"w\":\"../one.safetensors\"}}", CLF_FORMAT, "found string \"../one.safetensors\""},
        {"{\"weight_map\":{\"w\":\"/etc/passwd\"}}", CLF_FORMAT, "found string \"/etc/passwd\""},
        {"{\"weight_map\":{\"w\":\"x/../one.safetensors\"}}", CLF_FORMAT, "without directories"},
        {"{\"weight_map\":{\"w\":\"..\\\\one.safetensors\"}}", CLF_FORMAT, "without directories"},
        {"{\"weight_map\":{\"w\":\".hidden\"}}", CLF_FORMAT, "without directories"},
        {"{\"weight_map\":{\"w\":\"one.safetensors\\u0000\"}}", CLF_FORMAT, "without directories"},
        {"{\"weight_map\":null}", CLF_FORMAT, "\"weight_map\": expected object, found null"},
        {"{\"weight_map\":{\"w\":null}}", CLF_FORMAT, "\"w\": expected a file name without directories, found null"},
        {"{\"weight_map\":{\"w\":[\"one.safetensors\"]}}", CLF_FORMAT, "\"w\": expected a file name without directories"},
        {"{\"weight_map\":{\"w\":{\"w\":\"one.safetensors\"}}}", CLF_FORMAT, "\"w\": expected a file name without directories"},
        {"{\"weight_map\":{\"w\":\"./one.safetensors\"}}", CLF_FORMAT, "without directories"},
        {"{\"weight_map\":{\"w\":\"folder/one.safetensors\"}}", CLF_FORMAT, "without directories"},
        {"{\"weight_map\":{\"w\":\".\"}}", CLF_FORMAT, "without directories"},
        {"{\"weight_map\":{\"w\":\"\\u0000one.safetensors\"}}", CLF_FORMAT, "without directories"},
        {"{\"weight_map\":{\"w\":\"one.safetensors\"},\"weight_map\":{\"w\":7}}", CLF_FORMAT, "found integer 7"}, /* the last counts */
        {"{\"weight_map\":{\"w\":\"one.safetensors\",\"v\":\"none.safetensors\"}}", CLF_NOT_FOUND, "none.safetensors"},
        {"{\"weight_map\":{\"w\":\"three.safetensors\"}}", CLF_FORMAT, "expected tensor \"w\" in"},
        {"{\"weight_map\":{\"w\":\"one.safetensors\"}", CLF_FORMAT, "model.safetensors.index.json: line 1"},
        {"{\"weight_map\":{\"w\":\"one.safetensors\"}}x", CLF_FORMAT, "model.safetensors.index.json: line 1"},
        {"{\"weight_map\":{\"w\":\"model.safetensors.index.json\"}}", CLF_FORMAT, "model.safetensors.index.json"},
        {"{\"weight_map\":{\"w\":\"none.safetensors\"}}", CLF_NOT_FOUND, "none.safetensors"},
        {"{\"weight_map\":{\"w\":\"one.safetensors\",\"x\":\"one.safetensors\"}}", CLF_FORMAT, "expected tensor \"x\" in"},
        {"{\"weight_map\":{\"w\":\"one.safetensors\",\"v\":\"two.safetensors\"}}", CLF_FORMAT, "tensor \"w\" occurs twice"},
        {"{\"weight_map\":{\"w\":\"three.safetensors\",\"u\":\"one.safetensors\"}}", CLF_FORMAT, "expected tensor \"w\" in"},
        {"{\"weight_map\":{\"w\":\"one.safetensors\",\"u\":\"broken.safetensors\"}}", CLF_FORMAT,
         "broken.safetensors: expected a header size"},
    };
    char directory[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
    const float value = 1;
    const clf_file_tensor w = {.name = "w", .dtype = CLF_FILE_F32, .rank = 0, .data = &value};
    const clf_file_tensor u = {.name = "u", .dtype = CLF_FILE_F32, .rank = 0, .data = &value};
    temp_directory_make(directory);
    write_safetensors(temp_path(directory, "one.safetensors", path), &w, 1);
    write_safetensors(temp_path(directory, "two.safetensors", path), &w, 1);
    write_safetensors(temp_path(directory, "three.safetensors", path), &u, 1);
    temp_file(directory, "broken.safetensors", "abc", 3, path);
    for (size_t i = 0; i < COUNT(cases); i++) {
        clf_safetensors *file = NULL;
        temp_file(directory, "model.safetensors.index.json", cases[i].text, strlen(cases[i].text), path);
        const clf_status st = clfi_safetensors_open_directory(directory, &file);
        CHECK(st == cases[i].status && strstr(clf_last_error(), cases[i].part), "index %zu %s: want \"%s\", got %s: %s", i, cases[i].text,
              cases[i].part, clf_status_id(st), clf_last_error());
    }
    temp_directory_remove(directory);
}

/* A million tensors without elements are refused before they become gigabytes of JSON. */
static void many_empty_tensors(void **state)
{
    (void)state;
    clf_str header = CLF_STR_INIT;
    clf_safetensors *file;
    CHECK_OK(clfi_str_append(&header, "\0\0\0\0\0\0\0\0{", 9));
    for (int i = 0; i < 1000000; i++)
        CHECK_OK(clfi_str_appendf(&header, "%s\"%d\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}", i ? "," : "", i));
    CHECK_OK(clfi_str_append_char(&header, '}'));
    for (int i = 0; i < 8; i++)
        header.data[i] = (char)((header.length - 8) >> 8 * i);
    const clock_t start = clock();
    CHECK_FAILS(clfi_safetensors_parse(header.data, header.length, "many", &file), CLF_UNSUPPORTED, "expected at most 131072 tensors");
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    CHECK(seconds < 5, "%.1f s", seconds);
    clfi_str_free(&header);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_empty_tensors), cmocka_unit_test(broken_files),     cmocka_unit_test(every_truncation),
        cmocka_unit_test(every_byte_changed), cmocka_unit_test(missing_files),    cmocka_unit_test(reference_types),
        cmocka_unit_test(reference_shapes),   cmocka_unit_test(empty_named_last), cmocka_unit_test(shards),
        cmocka_unit_test(broken_indexes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
