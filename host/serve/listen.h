/* SPDX-License-Identifier: MIT */
/* Opens the server's listening socket, or takes systemd's, and sends messages to the service manager. */
#ifndef CLFI_SERVE_LISTEN_H
#define CLFI_SERVE_LISTEN_H

#include <stdbool.h>

#include "base/str.h"

/* *out: a non-blocking socket that listens; the caller closes it. Appends its URL to *address, "http://127.0.0.1:8080", also for port 0,
 * which takes a free port. A socket that systemd passes (LISTEN_FDS, sd_listen_fds(3)) is used in place of host and port. IO names the port
 * or the host, and the reason. INVALID_ARGUMENT: a port above 65535. OUT_OF_MEMORY. */
clf_status srv_listen(const char *host, size_t port, int *out, clf_str *address);

/* Sends "READY=1" and the like to $NOTIFY_SOCKET (sd_notify(3)). Without that variable it does nothing. */
void srv_notify(const char *state);

/* Whether the listening socket is reached from this machine alone, over TCP. */
bool srv_is_loopback(int fd);

#endif
