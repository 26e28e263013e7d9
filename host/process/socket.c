/* SPDX-License-Identifier: MIT */
/* Sends and receives bytes between this process and a child. */
#include "process/socket.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"

enum { TICK_MS = 100 }; /* the wait looks at the stop and the time limit at least this often */

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
            clfi_fail(CLF_IO, "waiting for a process: poll: %s", strerror(errno));
            return CLFI_MESSAGE_FAILED;
        }
    }
}

clfi_message_end clfi_message_receive_since(int socket, const clfi_patience *patience, uint64_t start_ns, void *out, size_t size)
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
            clfi_fail(CLF_IO, "receiving from a process: recv: %s", strerror(errno));
            return CLFI_MESSAGE_FAILED;
        }
    }
    return CLFI_MESSAGE_OK;
}

clfi_message_end clfi_message_receive_bytes(int socket, const clfi_patience *patience, void *out, size_t size)
{
    return clfi_message_receive_since(socket, patience, clfi_now_ns(), out, size);
}

clfi_message_end clfi_message_send_bytes(int socket, const void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t count = send(socket, (const char *)data + done, size - done, MSG_NOSIGNAL);
        if (count > 0)
            done += (size_t)count;
        else if (errno == EPIPE || errno == ECONNRESET)
            return CLFI_MESSAGE_CLOSED;
        else if (errno == EAGAIN || errno == EWOULDBLOCK) { /* the socket has a limit, SO_SNDTIMEO */
            clfi_fail(CLF_IO, "sending to a process: it no longer reads");
            return CLFI_MESSAGE_FAILED;
        } else if (errno != EINTR) {
            clfi_fail(CLF_IO, "sending to a process: send: %s", strerror(errno));
            return CLFI_MESSAGE_FAILED;
        }
    }
    return CLFI_MESSAGE_OK;
}
