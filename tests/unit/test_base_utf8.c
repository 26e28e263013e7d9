/* SPDX-License-Identifier: MIT */
/* UTF-8, exhaustively: every scalar value against iconv, and every short byte sequence against the set of all encodings. */
#include "base/utf8.h"

#include <iconv.h>
#include <stdlib.h>

#include "support/check.h"

enum { SCALARS = 0x110000 - 0x800 };

typedef struct encodings {
    uint32_t *code;        /* all scalar values, rising */
    unsigned char *text;   /* their encodings, one after the other */
    uint8_t *prefix[4];    /* prefix[n][k]: the n bytes that spell the big-endian number k begin a longer encoding */
} encodings;

static int setup(void **state)
{
    encodings *e = calloc(1, sizeof *e);
    e->code = malloc(SCALARS * sizeof *e->code);
    e->text = calloc(SCALARS, 4);
    for (int n = 1; n < 4; n++)
        e->prefix[n] = calloc((size_t)1 << 8 * n, 1);
    uint32_t next = 0;
    for (size_t i = 0; i < SCALARS; i++, next++) {
        if (next == 0xd800)
            next = 0xe000;
        e->code[i] = next;
    }
    iconv_t converter = iconv_open("UTF-8", "UTF-32LE");
    char *in = (char *)e->code, *out = (char *)e->text;
    size_t in_left = SCALARS * sizeof *e->code, out_left = SCALARS * (size_t)4;
    const size_t result = iconv(converter, &in, &in_left, &out, &out_left);
    iconv_close(converter);
    *state = e;
    return result == 0 && in_left == 0 ? 0 : -1;
}

static int teardown(void **state)
{
    encodings *e = *state;
    for (int n = 1; n < 4; n++)
        free(e->prefix[n]);
    free(e->code);
    free(e->text);
    free(e);
    return 0;
}

static void every_scalar(void **state)
{
    encodings *e = *state;
    const unsigned char *want = e->text;
    for (size_t i = 0; i < SCALARS; i++) {
        unsigned char got[4];
        uint32_t code;
        const size_t bytes = clfi_utf8_encode(e->code[i], got);
        CHECK(bytes >= 1 && bytes <= 4 && memcmp(got, want, bytes) == 0, "encode U+%04X", e->code[i]);
        CHECK(clfi_utf8_decode(want, bytes, &code) == bytes && code == e->code[i], "decode U+%04X", e->code[i]);
        CHECK(clfi_utf8_decode(want, 4, &code) == bytes && code == e->code[i], "decode U+%04X and more", e->code[i]);
        uint32_t number = 0;
        for (size_t n = 1; n < bytes; n++) {
            number = number << 8 | want[n - 1];
            e->prefix[n][number] = 1;
        }
        want += bytes;
    }
    const size_t total = (size_t)(want - e->text);
    assert_int_equal(clfi_utf8_check(e->text, total), total);
    assert_int_equal(clfi_utf8_check(e->text, total - 1), total - 4);
}

/* Bytes that decoding must consume: a whole encoding (*valid), or the longest beginning of one, or else one byte. */
static size_t expected(const encodings *e, const unsigned char *text, size_t size, bool *valid)
{
    uint32_t number = 0;
    size_t n = 0;
    while (n < 3 && n < size) {
        number = number << 8 | text[n];
        if (!e->prefix[n + 1][number])
            break;
        n++;
    }
    /* text[0..n) begins encodings; with one more continuation byte it may be one */
    const bool first = n == 0 && text[0] < 0x80;
    const bool completes = n > 0 && n < size && (text[n] & 0xc0) == 0x80 &&
                           (n == 3 || !e->prefix[n + 1][number]) && ((text[0] >= 0xf0) == (n == 3)) &&
                           ((text[0] >= 0xe0 && text[0] < 0xf0) == (n == 2));
    *valid = first || completes;
    return *valid ? n + 1 : n ? n : 1;
}

static void check_sequence(const encodings *e, const unsigned char *text, size_t size)
{
    bool valid;
    uint32_t code;
    const size_t want = expected(e, text, size, &valid);
    const size_t got = clfi_utf8_decode(text, size, &code);
    CHECK(got == want && (code != CLFI_UTF8_INVALID) == valid, "%02x %02x %02x %02x, %zu bytes: consumed %zu, want %zu", text[0], text[1],
          text[2], text[3], size, got, want);
}

static void every_sequence(void **state)
{
    static const unsigned char fourth[] = {0x00, 0x41, 0x7f, 0x80, 0x9a, 0xbf, 0xc0, 0xff};
    encodings *e = *state;
    unsigned char text[4] = {0};
    for (unsigned a = 0; a < 256; a++) {
        text[0] = (unsigned char)a;
        check_sequence(e, text, 1);
        for (unsigned b = 0; b < 256; b++) {
            text[1] = (unsigned char)b;
            check_sequence(e, text, 2);
            for (unsigned c = 0; c < 256; c++) {
                text[2] = (unsigned char)c;
                check_sequence(e, text, 3);
                for (size_t d = 0; a >= 0xee && d < sizeof fourth; d++) {
                    text[3] = fourth[d];
                    check_sequence(e, text, 4);
                }
                text[3] = 0;
            }
            text[2] = 0;
        }
        text[1] = 0;
    }
}

static void check_finds_the_fault(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size, at;
    } cases[] = {
        {"", 0, 0},           {"abc", 3, 3},         {"a\0b", 3, 3},         {"ab\xff", 3, 2},
        {"a\xc3", 2, 1},      {"\xc3\xa9\xc3", 3, 2}, {"\xc0\x80", 2, 0},     {"x\xed\xa0\x80", 4, 1},
        {"\xf0\x9f\x98", 3, 0}, {"\xf4\x90\x80\x80", 4, 0}, {"a\x80", 2, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK(clfi_utf8_check((const unsigned char *)cases[i].text, cases[i].size) == cases[i].at, "case %zu", i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scalar), /* fills the prefix sets for the next */
        cmocka_unit_test(every_sequence),
        cmocka_unit_test(check_finds_the_fault),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
