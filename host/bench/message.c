/* SPDX-License-Identifier: MIT */
/* Bytes and JSON messages over a socket. */
#include "bench/message.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/str.h"
#include "io/json.h"

enum { TICK_MS = 100 }; /* how soon a stop is seen that came just before waiting began */
static const uint64_t most_bytes = UINT64_C(1) << 30;

static clfi_message_end wait_for(int socket, const clfi_patience *patience, uint64_t start_ns)
{
    for (;;) {
        struct pollfd ready = {.fd = socket, .events = POLLIN};
        if (patience->stop && *patience->stop)
            return CLFI_MESSAGE_STOPPED;
        if (patience->seconds > 0 && (double)(clfi_now_ns() - start_ns) > patience->seconds * 1e9)
            return CLFI_MESSAGE_LATE;
        const int count = poll(&ready, 1, TICK_MS);
        if (count > 0)
            return CLFI_MESSAGE_OK;
        if (count < 0 && errno != EINTR) {
            clfi_fail(CLF_IO, "poll of a device's process: %s", strerror(errno));
            return CLFI_MESSAGE_FAILED;
        }
    }
}

static clfi_message_end receive_since(int socket, const clfi_patience *patience, uint64_t start_ns, void *out, size_t size)
{
    for (size_t done = 0; done < size;) {
        const clfi_message_end end = wait_for(socket, patience, start_ns);
        if (end != CLFI_MESSAGE_OK)
            return end;
        const ssize_t count = recv(socket, (char *)out + done, size - done, 0);
        if (count > 0)
            done += (size_t)count;
        else if (count == 0 || errno == ECONNRESET)
            return CLFI_MESSAGE_CLOSED;
        else if (errno != EINTR) {
            clfi_fail(CLF_IO, "recv from a device's process: %s", strerror(errno));
            return CLFI_MESSAGE_FAILED;
        }
    }
    return CLFI_MESSAGE_OK;
}

clfi_message_end clfi_message_receive_bytes(int socket, const clfi_patience *patience, void *out, size_t size)
{
    return receive_since(socket, patience, clfi_now_ns(), out, size);
}

static const char what[] = "message of a device's process";

clfi_message_end clfi_message_send_bytes(int socket, const void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t count = send(socket, (const char *)data + done, size - done, MSG_NOSIGNAL);
        if (count > 0)
            done += (size_t)count;
        else if (errno == EPIPE || errno == ECONNRESET)
            return CLFI_MESSAGE_CLOSED;
        else if (errno == EAGAIN || errno == EWOULDBLOCK) { /* the socket has a limit, SO_SNDTIMEO */
            clfi_fail(CLF_IO, "send to a device's process: it does not read");
            return CLFI_MESSAGE_FAILED;
        } else if (errno != EINTR) {
            clfi_fail(CLF_IO, "send to a device's process: %s", strerror(errno));
            return CLFI_MESSAGE_FAILED;
        }
    }
    return CLFI_MESSAGE_OK;
}

clfi_message_end clfi_message_send(int socket, json_t *message)
{
    clf_str text = CLF_STR_INIT;
    clfi_message_end end = CLFI_MESSAGE_FAILED;
    if (clfi_json_write(message, JSON_COMPACT, what, &text) == CLF_OK) {
        const uint64_t size = text.length;
        end = clfi_message_send_bytes(socket, &size, sizeof size);
    }
    json_decref(message);
    if (end == CLFI_MESSAGE_OK)
        end = clfi_message_send_bytes(socket, text.data, text.length);
    clfi_str_free(&text);
    return end;
}

clfi_message_end clfi_message_receive(int socket, const clfi_patience *patience, json_t **out)
{
    const uint64_t start = clfi_now_ns();
    uint64_t size = 0;
    char *text = NULL;
    clfi_message_end end = receive_since(socket, patience, start, &size, sizeof size);
    if (end != CLFI_MESSAGE_OK)
        return end;
    if (size > most_bytes)
        clfi_fail(CLF_FORMAT, "message of a device's process: %llu bytes, at most %llu", (unsigned long long)size,
                  (unsigned long long)most_bytes);
    if (size > most_bytes || clfi_alloc(size, 1, "message of a device's process", &text) != CLF_OK)
        return CLFI_MESSAGE_FAILED;
    end = receive_since(socket, patience, start, text, size);
    if (end == CLFI_MESSAGE_OK && clfi_json_parse_strict(text, size, what, out) != CLF_OK)
        end = CLFI_MESSAGE_FAILED;
    free(text);
    return end;
}
