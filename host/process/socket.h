/* SPDX-License-Identifier: MIT */
/* Sends bytes between this process and a child, and receives them with a time limit. */
#ifndef CLFI_PROCESS_SOCKET_H
#define CLFI_PROCESS_SOCKET_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Limits of waiting for a message. */
typedef struct clfi_patience {
    double seconds;                    /* from the start of the message; 0: no limit */
    const volatile sig_atomic_t *stop; /* the wait ends when *stop is nonzero; NULL: never */
} clfi_patience;

/* How sending or waiting ended. */
typedef enum clfi_message_end {
    CLFI_MESSAGE_OK,      /* all bytes were sent or received */
    CLFI_MESSAGE_CLOSED,  /* the other side is gone */
    CLFI_MESSAGE_LATE,    /* the time limit has passed; receiving only */
    CLFI_MESSAGE_STOPPED, /* *stop became nonzero; receiving only */
    CLFI_MESSAGE_FAILED   /* clf_last_error() has the reason */
} clfi_message_end;

/* Send or receive `size` bytes. Unless the result is CLFI_MESSAGE_OK, some of them may have passed and the connection is of no more use.
 * clfi_message_receive_since is for the parts of one message: its time limit counts from start_ns (clfi_now_ns), not from the call. */
clfi_message_end clfi_message_send_bytes(int socket, const void *data, size_t size);
clfi_message_end clfi_message_receive_bytes(int socket, const clfi_patience *patience, void *out, size_t size);
clfi_message_end clfi_message_receive_since(int socket, const clfi_patience *patience, uint64_t start_ns, void *out, size_t size);

#endif
