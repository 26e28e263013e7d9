/* SPDX-License-Identifier: MIT */
/* Sends and receives JSON messages between the program and the process that holds a device. A message is eight bytes of length, then the
 * text. */
#ifndef CLFI_BENCH_MESSAGE_H
#define CLFI_BENCH_MESSAGE_H

#include <jansson.h>

#include "process/socket.h"

/* Releases the message in any case. */
clfi_message_end clfi_message_send(int socket, json_t *message);

/* *out: the caller releases it. */
clfi_message_end clfi_message_receive(int socket, const clfi_patience *patience, json_t **out);

#endif
