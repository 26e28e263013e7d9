/* SPDX-License-Identifier: MIT */
/* The server's log on standard error: one line for each request and each event, as text or as JSON. It never contains texts, paths or
 * keys of requests. */
#ifndef CLFI_SERVE_LOG_H
#define CLFI_SERVE_LOG_H

#include "serve/http.h"

typedef struct srv_log {
    bool is_json;
} srv_log;

/* log: a srv_log. */
void srv_log_event(void *log, const char *text);
void srv_log_access(void *log, const srv_access *access);

#endif
