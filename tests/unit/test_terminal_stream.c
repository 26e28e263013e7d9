/* SPDX-License-Identifier: MIT */
/* Tests that a terminal gets harmless text, however it is cut into writes, and that a file gets each byte. */
#include "console/terminal_stream.h"

#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "support/check.h"

enum { MOST = 1 << 16, END_MARK = 0x04 }; /* the filter lets no such byte through */

/* Reads from a pipe until its writers are gone, and from a terminal until END_MARK, which is left out. */
static size_t drain(int reader, bool on_terminal, unsigned char *out)
{
    size_t size = 0;
    for (ssize_t got; size < MOST && (got = read(reader, out + size, MOST - size)) > 0;) {
        size += (size_t)got;
        if (on_terminal && out[size - 1] == END_MARK)
            return size - 1;
    }
    assert_false(on_terminal);
    return size;
}

/* A process that writes text[0..size) in pieces to its standard output or error, which is `writer`. */
static pid_t start(int reader, int writer, const unsigned char *text, size_t size, size_t piece, bool to_error)
{
    const pid_t child = fork();
    if (child)
        return child;
    close(reader);
    dup2(writer, STDOUT_FILENO);
    dup2(writer, STDERR_FILENO);
    close(writer);
    cli_terminal_guard();
    FILE *stream = to_error ? stderr : stdout;
    for (size_t at = 0; at < size; at += piece) {
        fwrite(text + at, 1, size - at < piece ? size - at : piece, stream);
        if (piece < 1000)
            fflush(stream);
    }
    fflush(stream);
    cli_terminal_finish();
    _exit(ferror(stream) || (isatty(STDOUT_FILENO) && write(STDOUT_FILENO, &(char){END_MARK}, 1) != 1));
}

static size_t shown(const unsigned char *text, size_t size, size_t piece, bool to_error, bool on_terminal, unsigned char *out)
{
    int ends[2], status = -1;
    if (on_terminal) {
        struct termios raw = {0};
        cfmakeraw(&raw);
        assert_int_equal(openpty(&ends[0], &ends[1], NULL, &raw, NULL), 0);
    } else {
        assert_int_equal(pipe(ends), 0);
    }
    const pid_t child = start(ends[0], ends[1], text, size, piece, to_error);
    if (!on_terminal) /* a terminal that all writers have closed may lose what nobody has read yet */
        close(ends[1]);
    const size_t got = drain(ends[0], on_terminal, out);
    close(ends[0]);
    if (on_terminal)
        close(ends[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    return got;
}

static void check_text(const char *text, size_t size, const char *wanted)
{
    static unsigned char got[MOST];
    for (size_t piece = 1; piece <= size + 1; piece++) {
        for (int to_error = 0; to_error < 2; to_error++) {
            const size_t length = shown((const unsigned char *)text, size, piece, to_error, true, got);
            CHECK(length == strlen(wanted) && memcmp(got, wanted, length) == 0, "pieces of %zu: %zu bytes \"%.*s\", want \"%s\"", piece,
                  length, (int)length, got, wanted);
        }
    }
    CHECK(shown((const unsigned char *)text, size, 3, false, false, got) == size && memcmp(got, text, size) == 0,
          "a pipe gets other bytes than \"%s\"", text);
}

static void test_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {"plain\ttext\n", "plain\ttext\n"},
        {"\x1b]0;title\x07\x1b[2J\r\b\x7f.", " ]0;title  [2J   ."},
        {"\xc2\x9b"
         "31m\xc2\x80\xc2\x9f\xc2\xa0",
         " 31m  \xc2\xa0"},
        {"a\xe2\x80\xae"
         "b\xe2\x81\xa6"
         "c\xe2\x81\xa9\xe2\x80\xaa\xe2\x80\x8f",
         "a b c  \xe2\x80\x8f"},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xe0\xb8\x81", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xe0\xb8\x81"},
        {"\xff\xc3(\xe2\x82(\xf0\x9f\x98(\xed\xa0\x80.",
         "\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd(\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd."},
        {"end\xe2\x82", "end\xef\xbf\xbd"},
        {"", ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        check_text(cases[i].text, strlen(cases[i].text), cases[i].wanted);
    check_text("a\0b", 3, "a b");
}

/* Whatever the bytes, the terminal gets well-formed UTF-8 that does not drive it. */
static void test_random_bytes(void **state)
{
    (void)state;
    static unsigned char text[4000], got[MOST];
    uint32_t random = 1;
    for (size_t round = 0; round < 8; round++) {
        for (size_t i = 0; i < sizeof text; i++) {
            random = random * 1664525 + 1013904223;
            text[i] = round % 2 ? (unsigned char)(random >> 24) : (unsigned char)("\x1b\xc2\x9b\xe2\x80\xae\xf0\x90 "[random >> 29]);
        }
        const size_t size = shown(text, sizeof text, 1 + round * 300, false, true, got);
        CHECK(size > sizeof text / 2 && clfi_utf8_check(got, size) == size, "round %zu: %zu bytes, UTF-8 up to %zu", round, size,
              clfi_utf8_check(got, size));
        for (size_t at = 0; at < size;) {
            uint32_t code;
            at += clfi_utf8_decode(got + at, size - at, &code);
            CHECK(!clfi_utf8_drives_terminal(code), "round %zu: U+%04X", round, code);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_texts), cmocka_unit_test(test_random_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
