/* SPDX-License-Identifier: MIT */
/* Streams of the C library that filter what they write, in the place of stdout and stderr. */
#include "console/terminal_stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"

enum { MOST_CHARACTER = 4, CHUNK = 1024, REPLACEMENT = 0xfffd, ROOM = 1 << 14 };

typedef struct guarded {
    int descriptor;
    unsigned char begun[MOST_CHARACTER]; /* bytes of a character that is not complete yet */
    size_t begun_size;
} guarded;

static guarded output = {.descriptor = STDOUT_FILENO}, error = {.descriptor = STDERR_FILENO};

static bool write_all(int descriptor, const unsigned char *bytes, size_t size)
{
    while (size) {
        const ssize_t written = write(descriptor, bytes, size);
        if (written < 0 && errno != EINTR)
            return false;
        bytes += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

/* Whether text[0..size) may be the beginning of a longer character. */
static bool is_begun(const unsigned char *text, size_t size)
{
    const size_t length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : text[0] >= 0xc0 ? 2 : 1;
    uint32_t code;
    return size < length && clfi_utf8_decode(text, size, &code) == size && text[0] >= 0xc2 && text[0] <= 0xf4;
}

/* Writes the characters of text[0..size), filtered, to the terminal. *out_used: bytes of the text without an incomplete character at its
 * end. */
static bool show(int descriptor, const unsigned char *text, size_t size, size_t *out_used)
{
    unsigned char room[CHUNK + MOST_CHARACTER];
    size_t used = 0, at = 0;
    while (at < size && !is_begun(text + at, size - at)) {
        uint32_t code;
        at += clfi_utf8_decode(text + at, size - at, &code);
        const uint32_t shown = code == CLFI_UTF8_INVALID ? (uint32_t)REPLACEMENT : clfi_utf8_drives_terminal(code) ? ' ' : code;
        used += clfi_utf8_encode(shown, room + used);
        if (used >= CHUNK) {
            if (!write_all(descriptor, room, used))
                return false;
            used = 0;
        }
    }
    *out_used = at;
    return write_all(descriptor, room, used);
}

/* A cookie_write_function_t: returns the bytes that it took, 0 on failure. */
static ssize_t write_guarded(void *cookie, const char *data, size_t size)
{
    guarded *g = cookie;
    const unsigned char *bytes = (const unsigned char *)data;
    size_t at = 0, used;
    while (g->begun_size && at < size) { /* byte by byte until the begun character is whole, or turns out to be none */
        g->begun[g->begun_size++] = bytes[at++];
        if (!show(g->descriptor, g->begun, g->begun_size, &used))
            return 0;
        memmove(g->begun, g->begun + used, g->begun_size - used);
        g->begun_size -= used;
    }
    if (!show(g->descriptor, bytes + at, size - at, &used))
        return 0;
    if (size - at > used) {
        g->begun_size = size - at - used;
        memcpy(g->begun, bytes + at + used, g->begun_size);
    }
    return (ssize_t)size;
}

static FILE *guard(guarded *g)
{
    return isatty(g->descriptor) ? fopencookie(g, "w", (cookie_io_functions_t){.write = write_guarded}) : NULL;
}

void cli_terminal_guard(void)
{
    static char room[ROOM];
    FILE *guarded_output = guard(&output), *guarded_error = guard(&error);
    if (guarded_output) {
        setvbuf(guarded_output, room, _IOLBF, sizeof room);
        stdout = guarded_output;
    }
    if (guarded_error) {
        setvbuf(guarded_error, NULL, _IONBF, 0);
        stderr = guarded_error;
    }
}

void cli_terminal_control(const char *sequence)
{
    fflush(stderr);
    (void)!write_all(STDERR_FILENO, (const unsigned char *)sequence, strlen(sequence));
}

void cli_terminal_finish(void)
{
    static const unsigned char replacement[] = "\xef\xbf\xbd";
    guarded *const both[] = {&output, &error};
    for (size_t i = 0; i < 2; i++)
        if (both[i]->begun_size)
            (void)!write_all(both[i]->descriptor, replacement, sizeof replacement - 1);
    output.begun_size = error.begun_size = 0;
}
