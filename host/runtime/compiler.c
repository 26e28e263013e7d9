/* SPDX-License-Identifier: MIT */
/* Starts one compiling process, sends it requests, reads its replies and ends it. */
#include "runtime/compiler.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/clock.h"
#include "clformer/context.h"

clf_status clfi_compiler_start(const char *path, clf_compiler *out)
{
    clfi_child child;
    CLF_TRY(clfi_child_start(path, CLFI_COMPILE_SOCKET, &child));
    memset(out, 0, sizeof *out);
    out->child = child;
    return CLF_OK;
}

bool clfi_compiler_ask(clf_compiler *c, const clf_str *request, double seconds)
{
    const struct timeval limit = {(time_t)seconds, (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6) + 1};
    c->deadline_ns = clfi_now_ns() + (uint64_t)(seconds * 1e9);
    setsockopt(c->child.socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return clfi_compile_send(c->child.socket, CLFI_COMPILE_REQUEST, request->data, request->length);
}

/* Takes the first message from c->reply if it is whole. A greeting is checked and skipped. The text of a reply stays valid until more is
 * read. */
static clf_compile_state read_message(clf_compiler *c, clf_compile_word *out_word, const char **out_text)
{
    clf_compile_header header;
    if (c->reply_bytes < sizeof header)
        return CLFI_COMPILE_RUNS;
    memcpy(&header, c->reply, sizeof header);
    if (header.mark != CLFI_COMPILE_MARK || header.word > CLFI_COMPILE_USELESS || header.bytes >= CLFI_COMPILE_REPLY_BYTES)
        return CLFI_COMPILE_BROKEN;
    const size_t bytes = (size_t)header.bytes, whole = sizeof header + bytes;
    if (c->reply_bytes < whole)
        return CLFI_COMPILE_RUNS;
    const bool is_greeting = header.word == CLFI_COMPILE_HELLO;
    if (is_greeting == c->is_ready)
        return CLFI_COMPILE_BROKEN;
    if (is_greeting) {
        if (bytes != strlen(clf_version()) || memcmp(c->reply + sizeof header, clf_version(), bytes) != 0)
            return CLFI_COMPILE_BROKEN;
        c->is_ready = true;
        c->reply_bytes -= whole;
        memmove(c->reply, c->reply + whole, c->reply_bytes);
        return read_message(c, out_word, out_text);
    }
    if (c->reply_bytes > whole || header.word == CLFI_COMPILE_REQUEST)
        return CLFI_COMPILE_BROKEN;
    c->reply[whole] = '\0';
    c->reply_bytes = 0;
    *out_word = (clf_compile_word)header.word;
    *out_text = c->reply + sizeof header;
    return CLFI_COMPILE_REPLIED;
}

clf_compile_state clfi_compiler_look(clf_compiler *c, clf_compile_word *out_word, const char **out_text)
{
    for (;;) {
        const ssize_t got = recv(c->child.socket, c->reply + c->reply_bytes, sizeof c->reply - 1 - c->reply_bytes, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return clfi_now_ns() > c->deadline_ns ? CLFI_COMPILE_LATE : CLFI_COMPILE_RUNS;
        if (got <= 0)
            return CLFI_COMPILE_GONE;
        c->reply_bytes += (size_t)got;
        const clf_compile_state state = read_message(c, out_word, out_text);
        if (state != CLFI_COMPILE_RUNS)
            return state;
    }
}

bool clfi_compiler_stop(clf_compiler *c, char *how)
{
    bool is_fault = false;
    if (c->child.process == 0)
        return false;
    if (how)
        is_fault = clfi_child_end(&c->child, CLFI_COMPILER_IDLE, how);
    else
        clfi_child_stop(&c->child);
    memset(c, 0, sizeof *c);
    return is_fault;
}
