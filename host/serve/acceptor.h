/* SPDX-License-Identifier: MIT */
/* The thread that accepts connections. libmicrohttpd can accept by itself. In 0.9.75 its workers and whoever tells them to stop accepting
 * may both take the listening socket out of a worker's set, and the second one ends the process. */
#ifndef CLFI_SERVE_ACCEPTOR_H
#define CLFI_SERVE_ACCEPTOR_H

#include <sys/socket.h>

#include "base/status.h"

typedef struct srv_acceptor srv_acceptor;

/* Hands each connection to `take`, which owns it. The listening socket is the acceptor's from then on. IO: no thread. */
clf_status srv_acceptor_start(int listening, void (*take)(void *user, int fd, const struct sockaddr *address, socklen_t size), void *user,
                              srv_acceptor **out);

/* Closes the listening socket: further connections are refused by the system. NULL is a no-op. */
void srv_acceptor_stop(srv_acceptor *acceptor);

#endif
