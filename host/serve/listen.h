/* SPDX-License-Identifier: MIT */
/* The socket that the server listens on: systemd's, or one of its own; and what the service manager is told. */
#ifndef CLFI_SERVE_LISTEN_H
#define CLFI_SERVE_LISTEN_H

#include "base/str.h"

/* *out: listens; *address: "http://127.0.0.1:8080" as it came out. A socket that systemd hands over (LISTEN_FDS, sd_listen_fds(3)) goes
 * before host and port. IO names the port and the reason. INVALID_ARGUMENT: a port above 65535. */
clf_status srv_listen(const char *host, size_t port, int *out, clf_str *address);

/* Sends "READY=1" and the like to $NOTIFY_SOCKET (sd_notify(3)); nothing where there is none. */
void srv_notify(const char *state);

#endif
