/* SPDX-License-Identifier: MIT */
/* Reads the head of a request, which is its first line and its headers, from libmicrohttpd. */
#ifndef CLFI_SERVE_HEAD_H
#define CLFI_SERVE_HEAD_H

#include <microhttpd.h>

#include "serve/headers.h"

/* Reads the headers of a complete head. method, version: as libmicrohttpd passes them to its handler. target: as it passes it to its URI
 * logger, with strlen(target) at that time. False: libmicrohttpd ignores bytes of the head, so that a proxy may read it differently. */
bool srv_head_read(struct MHD_Connection *connection, const char *method, const char *target, size_t target_size, const char *version,
                   srv_headers *out);

/* Whether the headers that have come so far have a malformed Content-Length, or one beside Transfer-Encoding. */
bool srv_head_has_bad_length(struct MHD_Connection *connection);

#endif
