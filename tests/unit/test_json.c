/* SPDX-License-Identifier: MIT */
/* JSON: what is refused and with which words, what is accepted, and every getter. */
#include "io/json.h"

#include <math.h>
#include <stdlib.h>

#include "base/str.h"
#include "support/check.h"
#include "support/temp.h"

/* An allocator that fails once. It is jansson's before the library puts its own in front. */
static size_t allocations_left = SIZE_MAX;
static bool has_failed;

static void *failing_malloc(size_t size)
{
    if (allocations_left-- == 0) {
        has_failed = true;
        return NULL;
    }
    return malloc(size);
}

__attribute__((constructor(101))) static void put_in(void)
{
    json_set_alloc_funcs(failing_malloc, free);
}

/* The allocation that comes after `index` others fails. */
static void fail_json_allocation(size_t index)
{
    allocations_left = index;
    has_failed = false;
}

/* Whether it did; none fails from now on. */
static bool json_allocation_failed(void)
{
    allocations_left = SIZE_MAX;
    return has_failed;
}

typedef struct broken_json {
    const char *text;
    size_t size;
    const char *part; /* of the message */
} broken_json;

#define BROKEN(text, part)          \
    {                               \
        text, sizeof text - 1, part \
    }

static const broken_json broken[] = {
    BROKEN("", "unexpected token near end of file"),
    BROKEN("   \n\t ", "near end of file"),
    BROKEN("{", "near end of file"),
    BROKEN("{\"a\"", "':' expected"),
    BROKEN("{\"a\":", "near end of file"),
    BROKEN("{\"a\":1", "'}' expected"),
    BROKEN("{\"a\":1,", "near end of file"),
    BROKEN("{\"a\":1,}", "string or '}' expected"),
    BROKEN("{\"a\" 1}", "':' expected"),
    BROKEN("{a:1}", "string or '}' expected"),
    BROKEN("{1:1}", "string or '}' expected"),
    BROKEN("{'a':1}", "string or '}' expected"),
    BROKEN("{\"a\":1 \"b\":2}", "'}' expected"),
    BROKEN("[", "near end of file"),
    BROKEN("[1", "']' expected"),
    BROKEN("[1,", "near end of file"),
    BROKEN("[1,]", "unexpected token"),
    BROKEN("[1 2]", "']' expected"),
    BROKEN("[1}", "']' expected"),
    BROKEN("]", "unexpected token"),
    BROKEN("1 2", "end of file expected"),
    BROKEN("{} {}", "end of file expected"),
    BROKEN("{}\0", "end of file expected"),
    BROKEN("{\"a\\u0000b\":1}", "NUL byte in object key"),
    BROKEN("{\"a\0b\":1}", "control character 0x0"),
    BROKEN("\"a\nb\"", "unexpected newline"),
    BROKEN("\"a\tb\"", "control character 0x9"),
    BROKEN("\"abc", "premature end of input"),
    BROKEN("\"\\x41\"", "invalid escape"),
    BROKEN("\"\\u12g4\"", "invalid escape"),
    BROKEN("\"\\ud800\\u00g1\"", "invalid escape"),
    BROKEN("{\"a\": NaN, b}",
           "column 12: string or '}' expected near 'b'"), /* columns and words are those of the text, not of its stand-ins */
    BROKEN("[NaN\n, Infinity Infinity]", "line 2, column 19: ']' expected near 'Infinity'"),
    BROKEN("[-Infinity, 1e999 -1e999]", "column 24: ']' expected near '-1e999'"),
    BROKEN("[\"\\ud800\", \"\xc3\xa9\", NaN NaN]", "column 23: ']' expected near 'NaN'"),
    BROKEN("{NaN: 1}", "NUL byte in object key"),
    BROKEN("\"\xff\"", "unable to decode byte 0xff"),
    BROKEN("\"\xc3\"", "unable to decode byte"),
    BROKEN("\"\xc0\x80\"", "unable to decode byte 0xc0"),
    BROKEN("\"\xed\xa0\x80\"", "unable to decode byte 0xed"),
    BROKEN("\"\xf4\x90\x80\x80\"", "unable to decode byte 0xf4"),
    BROKEN("{\"\xfe\":1}", "unable to decode byte 0xfe"),
    BROKEN("{}\xef\xbb\xbf", "end of file expected"), /* a byte order mark is one at the start alone */
    BROKEN("\xef\xbb\xbf\xef\xbb\xbf{}", "invalid token"),
    BROKEN("01", "invalid token"),
    BROKEN("+1", "invalid token"),
    BROKEN("-", "invalid token"),
    BROKEN("1.", "invalid token"),
    BROKEN(".5", "invalid token"),
    BROKEN("1e", "invalid token"),
    BROKEN("0x10", "end of file expected"),
    BROKEN("nan", "invalid token"),
    BROKEN("-NaN", "invalid token"),
    BROKEN("+Infinity", "invalid token"),
    BROKEN("Infinity1", "invalid token"),
    BROKEN("[NaNNaN]", "invalid token"),
    BROKEN("True", "invalid token"),
    BROKEN("nul", "invalid token"),
    BROKEN("1e999x", "near '1e999'"),
    BROKEN("01e999", "invalid token"),
    BROKEN("// note\n{}", "invalid token"),
};

static void broken_texts(void **state)
{
    (void)state;
    assert_true(COUNT(broken) >= 40);
    for (size_t i = 0; i < COUNT(broken); i++) {
        const broken_json *b = &broken[i];
        char *copy = malloc(b->size ? b->size : 1); /* exact size: a sanitizer sees every over-read */
        json_t *root = NULL;
        memcpy(copy, b->text, b->size);
        const clf_status st = clfi_json_parse(copy, b->size, "case.json", &root);
        free(copy);
        CHECK(st == CLF_FORMAT, "case %zu %s: status %s", i, b->text, clf_status_id(st));
        CHECK(strstr(clf_last_error(), "case.json: line ") == clf_last_error() && strstr(clf_last_error(), ", column ") &&
                  strstr(clf_last_error(), b->part),
              "case %zu %s: want \"%s\", got %s", i, b->text, b->part, clf_last_error());
        assert_null(root);
    }
}

static void places(void **state)
{
    (void)state;
    static const char text[] = "{\n  \"a\": 1,\n  \"b\": ?\n}";
    json_t *root;
    CHECK_FAILS(clfi_json_parse(text, sizeof text - 1, "f", &root), CLF_FORMAT, "f: line 3, column 8: invalid token");
}

static void every_truncation(void **state)
{
    (void)state;
    static const char text[] = "{\"a\": [1, -2.5e3, true, null, {\"k\\u00e9\": \"\xf0\x9f\x98\x80\\n\"}], \"b\": {}}";
    json_t *root;
    for (size_t size = 0; size < sizeof text - 1; size++)
        CHECK_FAILS(clfi_json_parse(text, size, "cut", &root), CLF_FORMAT, "cut: line 1, column ");
    CHECK_OK(clfi_json_parse(text, sizeof text - 1, "whole", &root));
    json_decref(root);
}

/* `depth` brackets opened and closed around nothing. */
static clf_status parse_nested(int depth, bool objects, json_t **root)
{
    clf_str text = CLF_STR_INIT;
    for (int i = 0; i < depth; i++)
        CHECK_OK(clfi_str_append_text(&text, objects ? i == depth - 1 ? "{" : "{\"a\":" : "["));
    for (int i = 0; i < depth; i++)
        CHECK_OK(clfi_str_append_char(&text, objects ? '}' : ']'));
    const clf_status st = clfi_json_parse(text.data, text.length, "nested", root);
    clfi_str_free(&text);
    return st;
}

static void depth(void **state)
{
    (void)state;
    json_t *root;
    for (int objects = 0; objects < 2; objects++) {
        CHECK_OK(parse_nested(CLFI_JSON_MAX_DEPTH, objects, &root));
        json_decref(root);
        CHECK_FAILS(parse_nested(CLFI_JSON_MAX_DEPTH + 1, objects, &root), CLF_FORMAT, "nested deeper than 128");
        CHECK_FAILS(parse_nested(1000000, objects, &root), CLF_FORMAT, "nested deeper than 128");
    }
    /* brackets in strings are text */
    static const char text[] = "\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
                               "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"[[[[[[[[[[[[[[[[[[[[\"";
    CHECK_OK(clfi_json_parse(text, sizeof text - 1, "string", &root));
    json_decref(root);
}

static void accepted(void **state)
{
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0",
                                        "\"x\"",
                                        "null",
                                        "true",
                                        " [ ] ",
                                        "{}",
                                        "[1e308, 5e-324, 1e-400]",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "\"\\ud83d\\ude00\"",
                                        "{\"\":{\"\":[]}}",
                                        "\"\xf4\x8f\xbf\xbf\""};
    for (size_t i = 0; i < COUNT(texts); i++) {
        json_t *root;
        CHECK_OK(clfi_json_parse(texts[i], strlen(texts[i]), texts[i], &root));
        json_decref(root);
    }
    json_t *root;
    static const char limits[] =
        "{\"a \\\"9223372036854775808\": 1000000000000000019884624838656, \"b\":[-9223372036854775809,7,\"9223372036854775808\"]}";
    CHECK_OK(clfi_json_parse(limits, sizeof limits - 1, "limits", &root)); /* tokenizers' way to write "no limit" */
    assert_true(json_real_value(json_object_get(root, "a \"9223372036854775808")) == 1e30);
    assert_true(json_real_value(json_array_get(json_object_get(root, "b"), 0)) == -0x1p63);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(root, "b"), 1)), 7);
    assert_string_equal(json_string_value(json_array_get(json_object_get(root, "b"), 2)), "9223372036854775808");
    json_decref(root);
    CHECK_OK(clfi_json_parse("\"a\\u0000b\"", 10, "nul", &root));
    assert_int_equal(json_string_length(root), 3);
    assert_memory_equal(json_string_value(root), "a\0b", 3);
    json_decref(root);
}

/* Python 3's json.loads gives these values, with \ud800 where U+FFFD stands. */
static void python(void **state)
{
    (void)state;
    static const char text[] =
        "\xef\xbb\xbf{\"a\": [NaN, Infinity, -Infinity, 1e999, -1e999, 5], \"a \\\" NaN\": \"NaN Infinity\","
        "\"b\": \"\\u0000N\", \"c\": \"\\u0000\\u0000I\", \"d\": \"\\u0000\", \"e\": [[{\"f\": -Infinity}]],"
        "\"g\": \"\\ud800\\uDC00 \\ud800 \\uDC00\\ud83d\\ude00\\ud800\\u0041\", \"h\": 1, \"\\u0068\": {\"h\": 2, \"h\": 3}}";
    json_t *root, *again;
    const char *const w = "python";
    double number;
    int64_t integer;
    CHECK_OK(clfi_json_parse(text, sizeof text - 1, w, &root));
    const json_t *const a = json_object_get(root, "a");
    const double want[] = {NAN, INFINITY, -INFINITY, INFINITY, -INFINITY};
    assert_int_equal(json_array_size(a), 6);
    for (size_t i = 0; i < COUNT(want); i++) {
        assert_true(json_is_real(json_array_get(a, i)));
        const double got = json_real_value(json_array_get(a, i));
        CHECK(isnan(want[i]) ? isnan(got) : got == want[i], "number %zu: %g", i, got);
    }
    assert_int_equal(json_integer_value(json_array_get(a, 5)), 5);
    assert_string_equal(json_string_value(json_object_get(root, "a \" NaN")), "NaN Infinity");
    assert_int_equal(json_string_length(json_object_get(root, "b")), 2);
    assert_memory_equal(json_string_value(json_object_get(root, "b")), "\0N", 2);
    assert_int_equal(json_string_length(json_object_get(root, "c")), 3);
    assert_memory_equal(json_string_value(json_object_get(root, "c")), "\0\0I", 3);
    assert_int_equal(json_string_length(json_object_get(root, "d")), 1);
    assert_string_equal(json_string_value(json_object_get(root, "g")),
                        "\xf0\x90\x80\x80 \xef\xbf\xbd \xef\xbf\xbd\xf0\x9f\x98\x80\xef\xbf\xbd"
                        "A");
    const json_t *const inner = json_array_get(json_array_get(json_object_get(root, "e"), 0), 0);
    CHECK_OK(clfi_json_get_number(inner, w, "f", -INFINITY, 0, &number));
    CHECK_FAILS(clfi_json_get_number(inner, w, "f", 0, 1, &number), CLF_FORMAT,
                "python: \"f\": expected number from 0 to 1, found real number -inf");
    CHECK_FAILS(clfi_json_get_int(inner, w, "f", 0, 1, &integer), CLF_FORMAT, "found real number -inf");
    CHECK_OK(clfi_json_get_int(json_object_get(root, "h"), w, "h", 0, 9, &integer)); /* of keys that come twice the last counts */
    assert_int_equal(integer, 3);
    again = clfi_json_copy(root);
    assert_true(json_real_value(json_array_get(json_object_get(again, "a"), 1)) == INFINITY);
    assert_ptr_not_equal(json_object_get(again, "a"), a);
    json_decref(again);
    clf_str written = CLF_STR_INIT; /* as json.dumps writes it, and it is read back */
    CHECK_OK(clfi_json_write(root, JSON_COMPACT, "the file", &written));
    assert_non_null(strstr(written.data, "{\"a\":[NaN,Infinity,-Infinity,Infinity,-Infinity,5],\"a \\\" NaN\":\"NaN Infinity\","
                                         "\"b\":\"\\u0000N\",\"c\":\"\\u0000\\u0000I\",\"d\":\"\\u0000\",\"e\":[[{\"f\":-Infinity}]],"));
    CHECK_OK(clfi_json_parse(written.data, written.length, w, &again));
    json_array_clear(json_object_get(root, "a")); /* NaN equals nothing */
    json_array_clear(json_object_get(again, "a"));
    assert_true(json_equal(root, again));
    json_decref(again);
    clfi_str_free(&written);
    CHECK_OK(clfi_json_append_without(text, sizeof text - 1, "h", "members", &written));
    assert_string_equal(written.data, "{\"a\": [null, null, null, null, null, 5], \"a \\\" NaN\": \"NaN Infinity\", \"b\": \"\\u0000N\", "
                                      "\"c\": \"\\u0000\\u0000I\", \"d\": \"\\u0000\", \"e\": [[{\"f\": null}]], "
                                      "\"g\": \"\xf0\x90\x80\x80 \xef\xbf\xbd \xef\xbf\xbd\xf0\x9f\x98\x80\xef\xbf\xbd"
                                      "A\"}");
    clfi_str_free(&written);
    static const char digits[] =
        "{\"x\": [18446744073709551616, -0.10, 1E+5, 1732723200.1234567, -1e999], \"5\": \"\\u0000-5\", \"y\": \"\"}";
    CHECK_OK(clfi_json_append_without(digits, sizeof digits - 1, "y", "members", &written));
    assert_string_equal(written.data, "{\"x\": [18446744073709551616, -0.10, 1E+5, 1732723200.1234567, null], \"5\": \"\\u0000-5\"}");
    clfi_str_clear(&written);
    CHECK_OK(clfi_json_append_without("{\"y\": 1, \"y\": 2}", 16, "y", "members", &written));
    assert_int_equal(written.length, 0);
    clfi_str_free(&written);
    json_decref(root);
    CHECK_OK(clfi_json_parse("NaN", 3, w, &root));
    assert_true(isnan(json_real_value(root)));
    json_decref(root);
}

/* Formats that Python's json module does not write. */
static void strict(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } refused[] = {{"{\"a\":1,\"a\":2}", "duplicate object key"},
                   {"{\"a\":{\"b\":1,\"c\":2,\"b\":3}}", "duplicate object key"},
                   {"{\"\\u0061\":1,\"a\":2}", "duplicate object key"},
                   {"[NaN]", "invalid token near 'NaN'"},
                   {"-Infinity", "invalid token"},
                   {"1e999", "real number overflow"},
                   {"\"\\ud800\"", "invalid Unicode"},
                   {"\xef\xbb\xbf{}", "invalid token"}};
    for (size_t i = 0; i < COUNT(refused); i++) {
        json_t *root = NULL;
        CHECK_FAILS(clfi_json_parse_strict(refused[i].text, strlen(refused[i].text), "s", &root), CLF_FORMAT, refused[i].part);
        assert_null(root);
    }
}

static void encodings(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size;
        const char *name;
    } refused[] = {{"\xff\xfe{\0}\0", 6, "UTF-16LE"},      {"\xfe\xff\0{\0}", 6, "UTF-16BE"}, {"\xff\xfe\0\0{\0\0\0", 8, "UTF-32LE"},
                   {"\0\0\xfe\xff\0\0\0{", 8, "UTF-32BE"}, {"{\0}\0", 4, "UTF-16LE"},         {"\0{\0}", 4, "UTF-16BE"},
                   {"{\0\0\0}\0\0\0", 8, "UTF-32LE"},      {"\0\0\0{\0\0\0}", 8, "UTF-32BE"}};
    for (size_t i = 0; i < COUNT(refused); i++) {
        char part[64];
        json_t *root = NULL;
        snprintf(part, sizeof part, "f.json: %s: expected UTF-8 (iconv -f %s -t UTF-8", refused[i].name, refused[i].name);
        CHECK_FAILS(clfi_json_parse(refused[i].text, refused[i].size, "f.json", &root), CLF_FORMAT, part);
    }
}

/* Each allocation of jansson's that fails gives OUT_OF_MEMORY, and the values before and after are whole. */
static void failing_memory(void **state)
{
    (void)state;
    static const char text[] =
        "{\"key\": [1, 2.5, \"text\", NaN, {\"inner\": null, \"\\ud800\": true}], \"other key\": {\"a\": [[], {}, -Infinity]}}";
    static const char infinite[] =
        "{\"key\": [1, 2.5, \"text\", Infinity, \"\\u0000\", {\"inner\": null, \"more\": true}], \"other key\": {\"a\": [[], {}]}}";
    size_t reads = 0, writes = 0;
    for (bool is_whole = false; !is_whole; reads++) {
        json_t *root = NULL;
        fail_json_allocation(reads);
        const clf_status st = clfi_json_parse(text, sizeof text - 1, "memory", &root);
        is_whole = !json_allocation_failed();
        CHECK(st == (is_whole ? CLF_OK : CLF_OUT_OF_MEMORY), "read %zu: status %s", reads, clf_status_id(st));
        CHECK(is_whole || strstr(clf_last_error(), "not enough memory"), "read %zu: %s", reads, clf_last_error());
        json_decref(root);
    }
    json_t *root;
    clf_str whole = CLF_STR_INIT;
    CHECK_OK(clfi_json_parse(infinite, sizeof infinite - 1, "memory", &root));
    CHECK_OK(clfi_json_write(root, JSON_SORT_KEYS, "whole", &whole));
    for (bool is_whole = false; !is_whole; writes++) {
        clf_str written = CLF_STR_INIT;
        fail_json_allocation(writes);
        const clf_status st = clfi_json_write(root, JSON_SORT_KEYS, "value", &written);
        is_whole = !json_allocation_failed();
        CHECK(st == (is_whole ? CLF_OK : CLF_OUT_OF_MEMORY), "write %zu: status %s", writes, clf_status_id(st));
        if (is_whole)
            assert_string_equal(written.data, whole.data);
        clfi_str_free(&written);
    }
    for (bool is_whole = false; !is_whole;) {
        static size_t copies;
        fail_json_allocation(copies++);
        json_t *copy = clfi_json_copy(root);
        is_whole = !json_allocation_failed();
        CHECK(is_whole ? json_equal(copy, root) : !copy, "copy %zu", copies);
        json_decref(copy);
    }
    for (size_t n = 0; n < 3; n++) { /* one that failed while the value was made, and nobody looked */
        clf_str written = CLF_STR_INIT;
        json_t *list = json_array();
        fail_json_allocation(n);
        for (int k = 0; k < 3; k++)
            json_array_append_new(list, json_integer(k));
        assert_true(json_allocation_failed());
        CHECK_FAILS(clfi_json_write(list, 0, "list", &written), CLF_OUT_OF_MEMORY, "list as JSON: not enough memory");
        CHECK_OK(clfi_json_write(list, 0, "list", &written)); /* which is told once */
        clfi_str_free(&written);
        json_decref(list);
    }
    CHECK(reads > 20 && writes > 3, "%zu allocations of the reader, %zu of the writer", reads, writes);
    json_decref(root);
    clfi_str_free(&whole);
}

static json_t *sample(void)
{
    static const char text[] =
        "{\"int\": 384, \"real\": 1e-12, \"whole\": 3.0, \"yes\": true, \"no\": false, \"text\": \"mean\", \"nul\": \"a\\u0000b\","
        "\"null\": null, \"list\": [1, 2], \"inner\": {\"x\": 1}}";
    json_t *root;
    CHECK_OK(clfi_json_parse(text, sizeof text - 1, "config.json", &root));
    return root;
}

static void getters(void **state)
{
    (void)state;
    json_t *root = sample();
    const char *where = "config.json", *text = NULL;
    const json_t *value = NULL;
    int64_t integer = 0;
    double number = 0;
    bool flag = false;
    CHECK_OK(clfi_json_get_int(root, where, "int", 1, 384, &integer));
    assert_int_equal(integer, 384);
    CHECK_OK(clfi_json_get_number(root, where, "real", 0, 1, &number));
    assert_true(number == 1e-12);
    CHECK_OK(clfi_json_get_number(root, where, "int", 0, 1000, &number));
    assert_true(number == 384);
    CHECK_OK(clfi_json_get_bool(root, where, "yes", &flag));
    assert_true(flag);
    CHECK_OK(clfi_json_get_bool(root, where, "no", &flag));
    assert_false(flag);
    CHECK_OK(clfi_json_get_string(root, where, "text", &text));
    assert_string_equal(text, "mean");
    CHECK_OK(clfi_json_get_array(root, where, "list", &value));
    assert_int_equal(json_array_size(value), 2);
    CHECK_OK(clfi_json_get_object(root, where, "inner", &value));
    CHECK_OK(clfi_json_get_int(value, "config.json: inner", "x", 0, 9, &integer));
    assert_int_equal(integer, 1);
    json_decref(root);
}

static void getter_errors(void **state)
{
    (void)state;
    json_t *root = sample();
    const char *w = "config.json", *text;
    const json_t *value;
    int64_t integer;
    double number;
    bool flag;
    CHECK_FAILS(clfi_json_get_int(root, w, "absent", 0, 9, &integer), CLF_FORMAT,
                "config.json: \"absent\": expected integer, found nothing");
    CHECK_FAILS(clfi_json_get_int(root, w, "int", 0, 9, &integer), CLF_FORMAT, "\"int\": expected integer from 0 to 9, found integer 384");
    CHECK_FAILS(clfi_json_get_int(root, w, "int", 385, 999, &integer), CLF_FORMAT, "expected integer from 385 to 999");
    CHECK_FAILS(clfi_json_get_int(root, w, "whole", 0, 9, &integer), CLF_FORMAT, "found real number 3");
    CHECK_FAILS(clfi_json_get_int(root, w, "text", 0, 9, &integer), CLF_FORMAT, "found string \"mean\"");
    CHECK_FAILS(clfi_json_get_int(root, w, "null", 0, 9, &integer), CLF_FORMAT, "found null");
    CHECK_FAILS(clfi_json_get_int(value = NULL, w, "int", 0, 9, &integer), CLF_FORMAT, "expected an object with \"int\", found nothing");
    CHECK_FAILS(clfi_json_get_int(json_object_get(root, "list"), w, "x", 0, 9, &integer), CLF_FORMAT, "found array of 2");
    CHECK_FAILS(clfi_json_get_number(root, w, "real", 1, 2, &number), CLF_FORMAT, "expected number from 1 to 2, found real number 1e-12");
    CHECK_FAILS(clfi_json_get_number(root, w, "yes", 1, 2, &number), CLF_FORMAT, "found true");
    CHECK_FAILS(clfi_json_get_bool(root, w, "int", &flag), CLF_FORMAT, "expected true or false, found integer 384");
    CHECK_FAILS(clfi_json_get_string(root, w, "no", &text), CLF_FORMAT, "expected string, found false");
    CHECK_FAILS(clfi_json_get_string(root, w, "nul", &text), CLF_FORMAT, "expected string without U+0000");
    CHECK_FAILS(clfi_json_get_object(root, w, "list", &value), CLF_FORMAT, "expected object, found array of 2");
    CHECK_FAILS(clfi_json_get_array(root, w, "inner", &value), CLF_FORMAT, "expected array, found object of 1");
    json_decref(root);
}

static void optional(void **state)
{
    (void)state;
    static const char *const missing[] = {"absent", "null"};
    json_t *root = sample();
    const char *w = "config.json", *text;
    const json_t *value;
    int64_t integer;
    double number;
    bool flag;
    for (size_t i = 0; i < COUNT(missing); i++) {
        CHECK_OK(clfi_json_opt_int(root, w, missing[i], 0, 9, 7, &integer));
        assert_int_equal(integer, 7);
        CHECK_OK(clfi_json_opt_number(root, w, missing[i], 0, 9, 0.5, &number));
        assert_true(number == 0.5);
        CHECK_OK(clfi_json_opt_bool(root, w, missing[i], true, &flag));
        assert_true(flag);
        CHECK_OK(clfi_json_opt_string(root, w, missing[i], "cls", &text));
        assert_string_equal(text, "cls");
        value = root;
        CHECK_OK(clfi_json_opt_object(root, w, missing[i], &value));
        assert_null(value);
        value = root;
        CHECK_OK(clfi_json_opt_array(root, w, missing[i], &value));
        assert_null(value);
    }
    CHECK_OK(clfi_json_opt_int(root, w, "int", 0, 999, 7, &integer));
    assert_int_equal(integer, 384);
    CHECK_OK(clfi_json_opt_number(root, w, "real", 0, 9, 0.5, &number));
    assert_true(number == 1e-12);
    CHECK_OK(clfi_json_opt_bool(root, w, "no", true, &flag));
    assert_false(flag);
    CHECK_OK(clfi_json_opt_string(root, w, "text", "cls", &text));
    assert_string_equal(text, "mean");
    CHECK_OK(clfi_json_opt_object(root, w, "inner", &value));
    assert_int_equal(json_object_size(value), 1);
    CHECK_OK(clfi_json_opt_array(root, w, "list", &value));
    assert_int_equal(json_array_size(value), 2);
    CHECK_FAILS(clfi_json_opt_int(root, w, "text", 0, 9, 7, &integer), CLF_FORMAT, "expected integer from 0 to 9");
    CHECK_FAILS(clfi_json_opt_number(root, w, "text", 0, 9, 7, &number), CLF_FORMAT, "expected number from 0 to 9");
    CHECK_FAILS(clfi_json_opt_bool(root, w, "text", false, &flag), CLF_FORMAT, "expected true or false");
    CHECK_FAILS(clfi_json_opt_string(root, w, "int", "", &text), CLF_FORMAT, "expected string");
    CHECK_FAILS(clfi_json_opt_object(root, w, "int", &value), CLF_FORMAT, "expected object");
    CHECK_FAILS(clfi_json_opt_array(root, w, "int", &value), CLF_FORMAT, "expected array");
    json_decref(root);
}

static void files(void **state)
{
    (void)state;
    char directory[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
    json_t *root;
    temp_directory_make(directory);
    CHECK_FAILS(clfi_json_read(temp_path(directory, "none.json", path), 100, &root), CLF_NOT_FOUND, "none.json");
    CHECK_FAILS(clfi_json_read(directory, 100, &root), CLF_IO, directory);
    temp_file(directory, "a.json", "{\"a\": 1}\n", 9, path);
    CHECK_OK(clfi_json_read(path, 9, &root));
    json_decref(root);
    CHECK_FAILS(clfi_json_read(path, 8, &root), CLF_FORMAT, "larger than 8 bytes");
    temp_file(directory, "empty.json", "", 0, path);
    CHECK_FAILS(clfi_json_read(path, 8, &root), CLF_FORMAT, "empty.json: line 1");
    temp_directory_remove(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_texts),   cmocka_unit_test(places),  cmocka_unit_test(every_truncation), cmocka_unit_test(depth),
        cmocka_unit_test(accepted),       cmocka_unit_test(getters), cmocka_unit_test(getter_errors),    cmocka_unit_test(optional),
        cmocka_unit_test(files),          cmocka_unit_test(python),  cmocka_unit_test(strict),           cmocka_unit_test(encodings),
        cmocka_unit_test(failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
