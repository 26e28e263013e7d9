/* SPDX-License-Identifier: MIT */
/* NumPy files: broken headers and their messages, files that NumPy wrote, conversion, and writing. */
#include "io/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/str.h"
#include "support/check.h"
#include "support/temp.h"

static const char golden[] = CLF_TEST_DATA "/npy";

/* A version 1.0 file of a header text and data_bytes bytes. */
typedef struct broken_header {
    const char *text;
    size_t data_bytes;
    clf_status status;
    const char *part; /* of the message */
} broken_header;

#define ONES "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
#define DICT(descr, order, shape) "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }"

static const broken_header broken[] = {
    {"", 0, CLF_FORMAT, "header: at 0: expected '{', found the end"},
    {"   \n", 0, CLF_FORMAT, "expected '{', found the end"},
    {"[]", 0, CLF_FORMAT, "at 0: expected '{', found \"[]\""},
    {"{", 0, CLF_FORMAT, "expected a key in quotes or '}', found the end"},
    {"{}", 0, CLF_FORMAT, "\"descr\": expected, found nothing"},
    {"{,}", 0, CLF_FORMAT, "expected a key in quotes"},
    {"{descr: '<f4'}", 0, CLF_FORMAT, "expected a key in quotes or '}', found \"descr: '<f4'}\""},
    {"{'descr' '<f4'}", 0, CLF_FORMAT, "expected ':'"},
    {"{'descr': '<f4'", 0, CLF_FORMAT, "',' or '}'"},
    {"{'descr: '<f4'}", 0, CLF_FORMAT, "expected each of descr, fortran_order and shape once"},
    {"{'descr': '<f4", 0, CLF_FORMAT, "expected a dtype in quotes"},
    {"{'de\\x73cr': '<f4'}", 0, CLF_FORMAT, "expected a key in quotes"},
    {"{'descr': '<f4', 'fortran_order': False}", 0, CLF_FORMAT, "\"shape\": expected, found nothing"},
    {"{'descr': '<f4', 'shape': ()}", 4, CLF_FORMAT, "\"fortran_order\": expected, found nothing"},
    {"{'descr': '<f4' 'shape': ()}", 4, CLF_FORMAT, "expected ',' or '}'"},
    {"{'descr': '<f4',, 'shape': ()}", 4, CLF_FORMAT, "expected a key in quotes"},
    {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}", 4, CLF_FORMAT, "at 17: expected each of descr"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (), 'extra': 1}", 4, CLF_FORMAT, "expected each of descr"},
    {DICT("'<f4'", "False", "()") "x", 4, CLF_FORMAT, "expected nothing after '}', found \"x\""},
    {DICT("'<f4'", "0", "()"), 4, CLF_FORMAT, "expected True or False"},
    {DICT("'<f4'", "true", "()"), 4, CLF_FORMAT, "expected True or False"},
    {DICT("'<f4'", "Falsey", "()"), 4, CLF_FORMAT, "expected ',' or '}'"},
    {DICT("'<f4'", "None", "()"), 4, CLF_FORMAT, "expected True or False"},
    {DICT("'<f4'", "False", "3"), 12, CLF_FORMAT, "expected '('"},
    {DICT("'<f4'", "False", "[3]"), 12, CLF_FORMAT, "expected '('"},
    {DICT("'<f4'", "False", "(3)"), 12, CLF_FORMAT, "expected ',' after the only dimension, found \")"},
    {DICT("'<f4'", "False", "(,)"), 4, CLF_FORMAT, "expected dimension from 0"},
    {DICT("'<f4'", "False", "(1,,2)"), 8, CLF_FORMAT, "expected dimension from 0"},
    {DICT("'<f4'", "False", "(1, 2 3)"), 24, CLF_FORMAT, "expected ',' or ')'"},
    {DICT("'<f4'", "False", "(1, 2"), 8, CLF_FORMAT, "expected dimension from 0"},
    {DICT("'<f4'", "False", "(-1,)"), 4, CLF_FORMAT, "expected dimension from 0"},
    {DICT("'<f4'", "False", "(+1,)"), 4, CLF_FORMAT, "expected dimension from 0"},
    {DICT("'<f4'", "False", "(1.0,)"), 4, CLF_FORMAT, "expected ','"},
    {DICT("'<f4'", "False", "(1e0,)"), 4, CLF_FORMAT, "expected ','"},
    {DICT("'<f4'", "False", "(0x1,)"), 4, CLF_FORMAT, "expected ','"},
    {DICT("'<f4'", "False", "(01,)"), 4, CLF_FORMAT, "expected dimension from 0"},
    {DICT("'<f4'", "False", "(None,)"), 4, CLF_FORMAT, "expected dimension from 0"},
    {DICT("'<f4'", "False", "('1',)"), 4, CLF_FORMAT, "expected dimension from 0"},
    {DICT("'<f4'", "False", "(9223372036854775808,)"), 4, CLF_FORMAT, "expected dimension from 0 to 2^63-1"},
    {DICT("'<f4'", "False", "(99999999999999999999999999,)"), 4, CLF_FORMAT, "expected dimension from 0 to 2^63-1"},
    {DICT("'<f4'", "False", "(9223372036854775807,)"), 4, CLF_FORMAT, "\"shape\": it takes more bytes than"},
    {DICT("'<f4'", "False", "(4611686018427387905,)"), 4, CLF_FORMAT, "takes more bytes than"},
    {DICT("'<f4'", "False", "(4294967296, 4294967296)"), 0, CLF_FORMAT, "takes more bytes than"},
    {DICT("'<f4'", "False", "(0, 4294967296, 4294967296)"), 0, CLF_FORMAT, "takes more bytes than"},
    {DICT("'<f4'", "False", "(" ONES ONES ONES ONES "1)"), 4, CLF_UNSUPPORTED, "more than 64 dimensions"},
    {DICT("'<f4'", "False", "(2, 3)"), 23, CLF_FORMAT, "expected 24 bytes of f4 data for its shape, found 23"},
    {DICT("'<f4'", "False", "(2, 3)"), 25, CLF_FORMAT, "expected 24 bytes of f4 data for its shape, found 25"},
    {DICT("'<f4'", "False", "(2, 3)"), 0, CLF_FORMAT, "found 0"},
    {DICT("'<f4'", "False", "(0, 3)"), 4, CLF_FORMAT, "expected 0 bytes"},
    {DICT("''", "False", "()"), 4, CLF_UNSUPPORTED, "found ''"},
    {DICT("'<'", "False", "()"), 4, CLF_UNSUPPORTED, "found '<'"},
    {DICT("'<f3'", "False", "()"), 4, CLF_UNSUPPORTED, "\"descr\": expected f2, f4, f8, i1 to i8, u1 to u8 or b1, found '<f3'"},
    {DICT("'<<f4'", "False", "()"), 4, CLF_UNSUPPORTED, "found '<<f4'"},
    {DICT("'<f4 '", "False", "()"), 4, CLF_UNSUPPORTED, "found '<f4 '"},
    {DICT("'<c8'", "False", "()"), 8, CLF_UNSUPPORTED, "'<c8' (complex numbers)"},
    {DICT("'|O'", "False", "()"), 8, CLF_UNSUPPORTED, "'|O' (Python objects)"},
    {DICT("4", "False", "()"), 4, CLF_FORMAT, "expected a dtype in quotes"},
    {DICT("None", "False", "()"), 4, CLF_FORMAT, "expected a dtype in quotes"},
    {DICT("b'<f4'", "False", "()"), 4, CLF_FORMAT, "expected a dtype in quotes"},
    {DICT("[('x', '<f4')]", "False", "()"), 4, CLF_UNSUPPORTED, "found a structured dtype"},
    {DICT("('<f4', (2,))", "False", "()"), 8, CLF_UNSUPPORTED, "found a structured dtype"},
    {DICT("'<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4'", "False", "()"), 4, CLF_FORMAT, "expected a dtype"},
};

/* The file's bytes, exactly as many as it has. Caller frees. */
static uint8_t *compose(int major, const char *header, size_t header_bytes, size_t data_bytes, size_t *size)
{
    const size_t preamble = major == 1 ? 10 : 12;
    *size = preamble + header_bytes + data_bytes;
    uint8_t *bytes = malloc(*size);
    memcpy(bytes, "\x93NUMPY", 6);
    bytes[6] = (uint8_t)major;
    bytes[7] = 0;
    for (size_t i = 8; i < preamble; i++)
        bytes[i] = (uint8_t)(header_bytes >> 8 * (i - 8));
    memcpy(bytes + preamble, header, header_bytes);
    memset(bytes + preamble + header_bytes, 0, data_bytes);
    return bytes;
}

static void broken_headers(void **state)
{
    (void)state;
    char directory[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
    assert_true(COUNT(broken) >= 25);
    temp_directory_make(directory);
    for (size_t i = 0; i < COUNT(broken); i++) {
        const broken_header *b = &broken[i];
        size_t size;
        clf_npy npy;
        for (int major = 1; major <= 3; major++) {
            uint8_t *bytes = compose(major, b->text, strlen(b->text), b->data_bytes, &size);
            clf_status st = clfi_npy_parse(bytes, size, "case.npy", &npy);
            CHECK(st == b->status && strstr(clf_last_error(), "case.npy: ") == clf_last_error() && strstr(clf_last_error(), b->part),
                  "%s: want \"%s\", got %s: %s", b->text, b->part, clf_status_id(st), clf_last_error());
            temp_file(directory, "case.npy", bytes, size, path);
            st = clfi_npy_open(path, &npy);
            CHECK(st == b->status && strstr(clf_last_error(), path) == clf_last_error(), "%s as a file: got %s: %s", b->text,
                  clf_status_id(st), clf_last_error());
            free(bytes);
        }
    }
    temp_directory_remove(directory);
}

static void broken_preambles(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *part;
    } cases[] = {
        {"", 0, "expected the magic bytes of a .npy file, found a shorter file"},
        {"\x93NUMPY", 6, "found a shorter file"},
        {"\x93NUMPY\x01", 7, "found a shorter file"},
        {"\x93NUMPX\x01\0\x02\0{}", 12, "expected the magic bytes of a .npy file, found other bytes"},
        {"PK\x03\x04\0\0\0\0\0\0", 10, "found other bytes"},
        {"\x93NUMPY\0\0\x02\0{}", 12, "expected version 1.0, 2.0 or 3.0, found 0.0"},
        {"\x93NUMPY\x01\x01\x02\0{}", 12, "found 1.1"},
        {"\x93NUMPY\x04\0\x02\0\0\0{}", 14, "found 4.0"},
        {"\x93NUMPY\xff\0\x02\0\0\0{}", 14, "found 255.0"},
        {"\x93NUMPY\x01\0", 8, "expected a header size of 2 bytes, found 0"},
        {"\x93NUMPY\x01\0\x02", 9, "expected a header size of 2 bytes, found 1"},
        {"\x93NUMPY\x02\0\x02\0\0", 11, "expected a header size of 4 bytes, found 3"},
        {"\x93NUMPY\x01\0\x03\0{}", 12, "header size: expected at most 2 bytes, found 3"},
        {"\x93NUMPY\x01\0\xff\xff{}", 12, "header size: expected at most 2 bytes, found 65535"},
        {"\x93NUMPY\x02\0\xff\xff\xff\xff{}", 14, "header size: expected at most 2 bytes, found 4294967295"},
        {"\x93NUMPY\x03\0\0\0\0\x80{}", 14, "found 2147483648"},
    };
    clf_npy npy;
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint8_t *copy = malloc(cases[i].size ? cases[i].size : 1);
        memcpy(copy, cases[i].bytes, cases[i].size);
        const clf_status st = clfi_npy_parse(copy, cases[i].size, "f.npy", &npy);
        CHECK(st == CLF_FORMAT && strstr(clf_last_error(), cases[i].part), "case %zu: want \"%s\", got %s: %s", i, cases[i].part,
              clf_status_id(st), clf_last_error());
        free(copy);
    }
    size_t size;
    uint8_t *long_header = calloc(1, (1 << 20) + 13);
    uint8_t *bytes = compose(2, (const char *)long_header, (1 << 20) + 1, 0, &size);
    CHECK_FAILS(clfi_npy_parse(bytes, size, "f.npy", &npy), CLF_FORMAT, "expected at most 1048576 bytes, found 1048577");
    free(bytes);
    free(long_header);
}

static void every_truncation(void **state)
{
    (void)state;
    static const char header[] = DICT("'<f4'", "False", "(2, 3)");
    for (int major = 1; major <= 3; major++) {
        size_t size;
        clf_npy npy;
        uint8_t *bytes = compose(major, header, sizeof header - 1, 24, &size);
        for (size_t cut = 0; cut < size; cut++) {
            uint8_t *copy = malloc(cut ? cut : 1);
            memcpy(copy, bytes, cut);
            CHECK_FAILS(clfi_npy_parse(copy, cut, "cut.npy", &npy), CLF_FORMAT, "cut.npy: ");
            free(copy);
        }
        CHECK_OK(clfi_npy_parse(bytes, size, "whole", &npy));
        assert_int_equal(npy.count, 6);
        free(bytes);
    }
}

/* Spellings of the same header that Python reads as well. */
static void accepted_spellings(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
        "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}",
        "{\"fortran_order\":False,\"shape\":(2,3,),\"descr\":\"=f4\"}\n",
        "  { 'descr' : 'f4' ,\n 'fortran_order' : False , 'shape' : ( 2 , 3 , ) , } \n   \t\r\n",
        "{'descr': '|f4', 'fortran_order': False, 'shape': (2L, 3L)}",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        size_t size;
        clf_npy npy;
        uint8_t *bytes = compose(1, texts[i], strlen(texts[i]), 24, &size);
        CHECK_OK(clfi_npy_parse(bytes, size, texts[i], &npy));
        assert_true(npy.dtype == CLF_FILE_F32 && !npy.swapped && npy.rank == 2 && npy.dim[0] == 2 && npy.dim[1] == 3 && npy.contiguous);
        free(bytes);
    }
}

/* make_npy.py: element i of the C order. */
static double golden_value(clf_file_dtype dtype, size_t i)
{
    switch (clfi_file_dtype_numpy(dtype)[0]) {
    case 'u':
        return (double)i;
    case 'i':
        return (double)i - 5;
    case 'b':
        return i % 3 == 0;
    default:
        return ((double)i - 5) * 0.75;
    }
}

static void check_golden(const char *name, clf_file_dtype dtype, bool swapped, bool contiguous, int rank, const int64_t *dim)
{
    char path[TEMP_PATH_BYTES];
    clf_npy npy;
    float singles[64];
    double doubles[64];
    size_t count = 1;
    CHECK_OK(clfi_npy_open(temp_path(golden, name, path), &npy));
    CHECK(npy.dtype == dtype && npy.swapped == swapped && npy.rank == rank, "%s: dtype, order or rank", name);
    for (int i = 0; i < rank; i++) {
        CHECK(npy.dim[i] == dim[i], "%s: dim[%d]", name, i);
        count *= (size_t)dim[i];
    }
    CHECK(npy.count == count && (count == 0 || npy.contiguous == contiguous), "%s: count or layout", name);
    CHECK_OK(clfi_npy_read_f32(&npy, 0, count, singles));
    CHECK_OK(clfi_npy_read_f64(&npy, 0, count, doubles));
    for (size_t i = 0; i < count; i++) {
        const double want = golden_value(dtype, i);
        CHECK(singles[i] == want && doubles[i] == want, "%s[%zu]: %g and %g, want %g", name, i, singles[i], doubles[i], want);
    }
    for (size_t first = 0; first <= count; first++) { /* every range */
        for (size_t size = 0; first + size <= count; size++) {
            float part[65];
            part[size] = 12345;
            CHECK_OK(clfi_npy_read_f32(&npy, first, size, part));
            CHECK(memcmp(part, singles + first, size * sizeof *part) == 0 && part[size] == 12345, "%s: range %zu+%zu", name, first, size);
        }
    }
    CHECK_FAILS(clfi_npy_read_f32(&npy, count, 1, singles), CLF_INVALID_ARGUMENT, "cannot read 1 from");
    CHECK_FAILS(clfi_npy_read_f64(&npy, 1, SIZE_MAX, doubles), CLF_INVALID_ARGUMENT, "cannot read");
    clfi_npy_close(&npy);
}

static void numpy_dtypes(void **state)
{
    (void)state;
    static const int64_t dim[] = {2, 3};
    int seen = 0;
    for (int d = 0; d < CLF_FILE_DTYPE_COUNT; d++) {
        const clf_file_dtype dtype = (clf_file_dtype)d;
        char name[32];
        if (!clfi_file_dtype_numpy(dtype)[0])
            continue;
        seen++;
        snprintf(name, sizeof name, "%s_c.npy", clfi_file_dtype_numpy(dtype));
        check_golden(name, dtype, false, true, 2, dim);
        if (clfi_file_dtype_bytes(dtype) == 1)
            continue;
        snprintf(name, sizeof name, "%s_big.npy", clfi_file_dtype_numpy(dtype));
        check_golden(name, dtype, true, true, 2, dim);
    }
    assert_int_equal(seen, 12);
}

static void numpy_layouts(void **state)
{
    (void)state;
    int64_t rank32[32];
    for (int i = 0; i < 32; i++)
        rank32[i] = i == 15 ? 2 : i == 31 ? 3 : 1;
    check_golden("f4_fortran.npy", CLF_FILE_F32, false, false, 3, (const int64_t[]){2, 3, 4});
    check_golden("f2_fortran_big.npy", CLF_FILE_F16, true, false, 2, (const int64_t[]){3, 5});
    check_golden("f4_scalar.npy", CLF_FILE_F32, false, true, 0, NULL);
    check_golden("f4_empty.npy", CLF_FILE_F32, false, true, 2, (const int64_t[]){0, 4});
    check_golden("f4_empty_fortran.npy", CLF_FILE_F32, false, true, 3, (const int64_t[]){3, 0, 2});
    check_golden("i4_vector.npy", CLF_FILE_I32, false, true, 1, (const int64_t[]){7});
    check_golden("f8_rank32.npy", CLF_FILE_F64, false, true, 32, rank32);
    check_golden("f4_version2.npy", CLF_FILE_F32, false, true, 2, (const int64_t[]){2, 3});
    check_golden("f4_version3.npy", CLF_FILE_F32, false, true, 2, (const int64_t[]){2, 3});
    char path[TEMP_PATH_BYTES];
    clf_npy npy;
    CHECK_OK(clfi_npy_open(temp_path(golden, "f4_fortran.npy", path), &npy));
    assert_true(npy.stride[0] == 1 && npy.stride[1] == 2 && npy.stride[2] == 6);
    clfi_npy_close(&npy);
    assert_null(npy.data);
    CHECK_FAILS(clfi_npy_open(temp_path(golden, "none.npy", path), &npy), CLF_NOT_FOUND, "none.npy");
    CHECK_FAILS(clfi_npy_open(golden, &npy), CLF_IO, golden);
}

/* A file that is truncated while it is open is an error of reading, and no array of zeros. */
static void cut_while_open(void **state)
{
    (void)state;
    enum { COUNT_ALL = 8192 }; /* several pages */
    static float values[COUNT_ALL], got[COUNT_ALL];
    char path[TEMP_PATH_BYTES];
    clf_npy npy;
    for (int i = 0; i < COUNT_ALL; i++)
        values[i] = 1;
    CHECK_OK(clfi_npy_write(temp_path(temp_root, "cut.npy", path), CLF_FILE_F32, 1, (int64_t[]){COUNT_ALL}, values));
    CHECK_OK(clfi_npy_open(path, &npy));
    CHECK_OK(clfi_npy_read_f32(&npy, 0, COUNT_ALL, got));
    assert_int_equal(truncate(path, 100), 0);
    CHECK_FAILS(clfi_npy_read_f32(&npy, 0, COUNT_ALL, got), CLF_IO, "cut.npy");
    clfi_npy_close(&npy);
}

static void extreme_values(void **state)
{
    (void)state;
    char path[TEMP_PATH_BYTES];
    clf_npy npy;
    float f[8];
    double d[8];
    CHECK_OK(clfi_npy_open(temp_path(golden, "f4_special.npy", path), &npy));
    CHECK_OK(clfi_npy_read_f32(&npy, 0, 7, f));
    CHECK_OK(clfi_npy_read_f64(&npy, 0, 7, d));
    assert_true(f[0] == 0 && !signbit(f[0]) && f[1] == 0 && signbit(f[1]) && f[2] == INFINITY && f[3] == -INFINITY && isnan(f[4]));
    assert_true(f[5] == 0x1p-149f && f[6] == 3.4028234663852886e38f && d[5] == 0x1p-149 && isnan(d[4]) && d[6] == (double)f[6]);
    clfi_npy_close(&npy);
    CHECK_OK(clfi_npy_open(temp_path(golden, "i8_large.npy", path), &npy));
    CHECK_OK(clfi_npy_read_f32(&npy, 0, 4, f));
    CHECK_OK(clfi_npy_read_f64(&npy, 0, 4, d));
    assert_true(f[0] == 0x1p53f && f[1] == -0x1p63f && f[2] == 0x1p63f && f[3] == 16777216.0f);
    assert_true(d[0] == 0x1p53 && d[1] == -0x1p63 && d[2] == 0x1p63 && d[3] == 16777217.0);
    clfi_npy_close(&npy);
    CHECK_OK(clfi_npy_open(temp_path(golden, "u8_large.npy", path), &npy));
    CHECK_OK(clfi_npy_read_f64(&npy, 0, 2, d));
    assert_true(d[0] == 0x1p64 && d[1] == 0x1p63 + 2048); /* 1025 is above the tie at 1024 */
    clfi_npy_close(&npy);
}

static void refused_dtypes(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"refused_complex.npy", "'<c8' (complex numbers)"}, {"refused_string.npy", "'<U2' (strings)"},
        {"refused_bytes.npy", "'|S2' (strings)"},           {"refused_time.npy", "'<M8[D]' (times)"},
        {"refused_raw.npy", "'|V3' (raw bytes)"},           {"refused_structured.npy", "a structured dtype"},
        {"refused_object.npy", "'|O' (Python objects)"},    {"refused_long_double.npy", "'<f16'"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char path[TEMP_PATH_BYTES];
        clf_npy npy;
        CHECK_FAILS(clfi_npy_open(temp_path(golden, cases[i][0], path), &npy), CLF_UNSUPPORTED, cases[i][1]);
    }
}

static void check_same_file(const char *got_path, const char *golden_name)
{
    char path[TEMP_PATH_BYTES];
    clf_str want = CLF_STR_INIT, got = CLF_STR_INIT;
    CHECK_OK(clfi_file_read(temp_path(golden, golden_name, path), 1 << 20, &want));
    CHECK_OK(clfi_file_read(got_path, 1 << 20, &got));
    CHECK(want.length == got.length && memcmp(want.data, got.data, want.length) == 0, "%s differs from NumPy's", golden_name);
    clfi_str_free(&want);
    clfi_str_free(&got);
}

/* Arrays and streams have the bytes that NumPy writes. */
static void writes_numpy_bytes(void **state)
{
    (void)state;
    static const char *const names[] = {"f4_c.npy",      "f2_c.npy",     "f8_c.npy",      "i4_c.npy",      "u1_c.npy",      "b1_c.npy",
                                        "f4_scalar.npy", "f4_empty.npy", "i4_vector.npy", "f8_rank32.npy", "f4_special.npy"};
    char directory[TEMP_PATH_BYTES], written[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
    temp_directory_make(directory);
    for (size_t i = 0; i < COUNT(names); i++) {
        clf_npy npy;
        CHECK_OK(clfi_npy_open(temp_path(golden, names[i], path), &npy));
        CHECK_OK(clfi_npy_write(temp_path(directory, "a.npy", written), npy.dtype, npy.rank, npy.dim, npy.data));
        check_same_file(written, names[i]);
        if (npy.rank > 0) {
            clf_npy_writer *writer;
            const size_t rows = (size_t)npy.dim[0], row_bytes = npy.count / (rows ? rows : 1) * clfi_file_dtype_bytes(npy.dtype);
            CHECK_OK(clfi_npy_writer_open(temp_path(directory, "b.npy", written), npy.dtype, npy.rank - 1, npy.dim + 1, &writer));
            for (size_t r = 0; r < rows; r++)
                CHECK_OK(clfi_npy_writer_append(writer, (const char *)npy.data + r * row_bytes, 1));
            CHECK_OK(clfi_npy_writer_append(writer, npy.data, 0));
            CHECK_OK(clfi_npy_writer_commit(writer));
            check_same_file(written, names[i]);
        }
        clfi_npy_close(&npy);
    }
    assert_int_equal(temp_directory_entries(directory), 2);
    temp_directory_remove(directory);
}

/* The old file stays until commit, and after abandon. */
static void streams_are_atomic(void **state)
{
    (void)state;
    char directory[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
    static const int64_t dim[] = {2};
    const float row[2] = {1, 2};
    clf_npy npy;
    clf_npy_writer *writer;
    temp_directory_make(directory);
    CHECK_OK(clfi_npy_write(temp_path(directory, "x.npy", path), CLF_FILE_F32, 1, dim, row));
    CHECK_OK(clfi_npy_writer_open(path, CLF_FILE_F32, 1, dim, &writer));
    CHECK_OK(clfi_npy_writer_append(writer, row, 1));
    CHECK_OK(clfi_npy_open(path, &npy));
    assert_int_equal(npy.rank, 1);
    clfi_npy_close(&npy);
    clfi_npy_writer_abandon(writer);
    clfi_npy_writer_abandon(NULL);
    assert_int_equal(temp_directory_entries(directory), 1);
    CHECK_OK(clfi_npy_open(path, &npy));
    assert_int_equal(npy.rank, 1);
    clfi_npy_close(&npy);
    temp_directory_remove(directory);
}

static void writer_errors(void **state)
{
    (void)state;
    char directory[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
    static const int64_t dim[] = {1}, negative[] = {-1}, large[] = {INT64_MAX};
    const float value = 1;
    clf_npy_writer *writer;
    temp_directory_make(directory);
    temp_path(directory, "x.npy", path);
    CHECK_FAILS(clfi_npy_write(path, CLF_FILE_BF16, 1, dim, &value), CLF_INVALID_ARGUMENT, "NumPy has no number type BF16");
    CHECK_FAILS(clfi_npy_write(path, CLF_FILE_F32, 65, dim, &value), CLF_INVALID_ARGUMENT, "found 65");
    CHECK_FAILS(clfi_npy_write(path, CLF_FILE_F32, -1, dim, &value), CLF_INVALID_ARGUMENT, "found -1");
    CHECK_FAILS(clfi_npy_write(path, CLF_FILE_F32, 1, negative, &value), CLF_INVALID_ARGUMENT, "negative dimension");
    CHECK_FAILS(clfi_npy_writer_open(path, CLF_FILE_F32, 64, dim, &writer), CLF_INVALID_ARGUMENT, "found 64");
    CHECK_FAILS(clfi_npy_writer_open(path, CLF_FILE_F32, 1, large, &writer), CLF_INVALID_ARGUMENT, "too large");
    CHECK_OK(clfi_npy_writer_open(path, CLF_FILE_F32, 1, dim, &writer));
    CHECK_FAILS(clfi_npy_writer_append(writer, &value, SIZE_MAX / 2), CLF_INVALID_ARGUMENT, "the shape would be too large with");
    clfi_npy_writer_abandon(writer);
    assert_int_equal(temp_directory_entries(directory), 0);
    temp_path(directory, "no/such.npy", path);
    CHECK_FAILS(clfi_npy_write(path, CLF_FILE_F32, 1, dim, &value), CLF_NOT_FOUND, path);
    CHECK_FAILS(clfi_npy_writer_open(path, CLF_FILE_F32, 1, dim, &writer), CLF_NOT_FOUND, path);
    temp_directory_remove(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_headers),     cmocka_unit_test(broken_preambles),   cmocka_unit_test(every_truncation),
        cmocka_unit_test(accepted_spellings), cmocka_unit_test(numpy_dtypes),       cmocka_unit_test(numpy_layouts),
        cmocka_unit_test(cut_while_open),     cmocka_unit_test(extreme_values),     cmocka_unit_test(refused_dtypes),
        cmocka_unit_test(writes_numpy_bytes), cmocka_unit_test(streams_are_atomic), cmocka_unit_test(writer_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
