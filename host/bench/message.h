/* SPDX-License-Identifier: MIT */
/* What goes over a socket between the program and the process that holds a device: bytes, or JSON messages: eight bytes of length, then the
 * text. */
#ifndef CLFI_BENCH_MESSAGE_H
#define CLFI_BENCH_MESSAGE_H

#include <jansson.h>
#include <signal.h>

#include "base/status.h"

/* What ends waiting for a message early. */
typedef struct clfi_patience {
    double seconds;                    /* from the call on; 0: for ever */
    const volatile sig_atomic_t *stop; /* nonzero: no longer wanted; NULL: never */
} clfi_patience;

/* How waiting ended; of CLFI_MESSAGE_FAILED clf_last_error() tells more. */
typedef enum clfi_message_end {
    CLFI_MESSAGE_OK,
    CLFI_MESSAGE_CLOSED, /* the other side is gone */
    CLFI_MESSAGE_LATE,
    CLFI_MESSAGE_STOPPED,
    CLFI_MESSAGE_FAILED
} clfi_message_end;

/* All bytes; a reason of the system's other than the other side's end is CLFI_MESSAGE_FAILED. */
clfi_message_end clfi_message_send_bytes(int socket, const void *data, size_t size);
clfi_message_end clfi_message_receive_bytes(int socket, const clfi_patience *patience, void *out, size_t size);

/* Releases the message in any case. */
clfi_message_end clfi_message_send(int socket, json_t *message);

/* *out: the caller releases it. */
clfi_message_end clfi_message_receive(int socket, const clfi_patience *patience, json_t **out);

#endif
