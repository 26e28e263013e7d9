/* SPDX-License-Identifier: MIT */
/* Writes and reads the messages between the library and clformer-compile. */
#include "runtime/compile_message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

clf_status clfi_compile_put(clf_str *body, const void *text, size_t length)
{
    const uint64_t size = length;
    CLF_TRY(clfi_str_append(body, &size, sizeof size));
    return clfi_str_append(body, text, length);
}

bool clfi_compile_take(const clf_str *body, size_t *at, const char **out, size_t *out_length)
{
    uint64_t size;
    if (body->length - *at < sizeof size)
        return false;
    memcpy(&size, body->data + *at, sizeof size);
    if (size > body->length - *at - sizeof size)
        return false;
    *out = body->data + *at + sizeof size;
    *out_length = (size_t)size;
    *at += sizeof size + (size_t)size;
    return true;
}

static bool send_bytes(int socket, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        const ssize_t sent = send(socket, at, size, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            return false;
        at += sent > 0 ? sent : 0;
        size -= sent > 0 ? (size_t)sent : 0;
    }
    return true;
}

bool clfi_compile_send(int socket, clf_compile_word word, const void *body, size_t bytes)
{
    const clf_compile_header header = {CLFI_COMPILE_MARK, word, bytes};
    return send_bytes(socket, &header, sizeof header) && send_bytes(socket, body, bytes);
}
