/* SPDX-License-Identifier: MIT */
/* A thread that accepts the HTTP server's connections. libmicrohttpd can accept by itself, but 0.9.75 may then end the process when it
 * stops accepting. A worker and the stopping thread may both remove the listening socket from the worker's epoll set, and the second
 * removal is fatal. */
#ifndef CLFI_SERVE_ACCEPTOR_H
#define CLFI_SERVE_ACCEPTOR_H

#include <sys/socket.h>

#include "base/status.h"

typedef struct srv_acceptor srv_acceptor;

/* Starts the thread, which passes each connection to `take`; `take` then owns fd, which is non-blocking. On success the acceptor owns the
 * listening socket. IO: the thread or its pipe could not be created. OUT_OF_MEMORY. */
clf_status srv_acceptor_start(int listening, void (*take)(void *user, int fd, const struct sockaddr *address, socklen_t size), void *user,
                              srv_acceptor **out);

/* Ends the thread and closes the listening socket. Then the system refuses connections, unless another process (systemd) also holds the
 * socket. NULL is a no-op. */
void srv_acceptor_stop(srv_acceptor *acceptor);

#endif
