/* SPDX-License-Identifier: MIT */
/* Bytes between this process and a child, with a limit of time. */
#ifndef CLFI_PROCESS_SOCKET_H
#define CLFI_PROCESS_SOCKET_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Limits of waiting for a message. */
typedef struct clfi_patience {
    double seconds;                    /* from the call on; 0: for ever */
    const volatile sig_atomic_t *stop; /* nonzero: no longer wanted; NULL: never */
} clfi_patience;

/* How sending or waiting ended. After CLFI_MESSAGE_FAILED clf_last_error() tells more. */
typedef enum clfi_message_end {
    CLFI_MESSAGE_OK,
    CLFI_MESSAGE_CLOSED, /* the other side is gone */
    CLFI_MESSAGE_LATE,
    CLFI_MESSAGE_STOPPED,
    CLFI_MESSAGE_FAILED
} clfi_message_end;

/* All bytes or none that count. The time of a message in several parts begins at start_ns (clfi_now_ns). */
clfi_message_end clfi_message_send_bytes(int socket, const void *data, size_t size);
clfi_message_end clfi_message_receive_bytes(int socket, const clfi_patience *patience, void *out, size_t size);
clfi_message_end clfi_message_receive_since(int socket, const clfi_patience *patience, uint64_t start_ns, void *out, size_t size);

#endif
