/* SPDX-License-Identifier: MIT */
/* The table of routes: which function begins a request of a method and a path. */
#ifndef CLFI_SERVE_ROUTES_H
#define CLFI_SERVE_ROUTES_H

#include "serve/call.h"

typedef struct srv_route {
    const char *method, *path; /* '*' at the end of a path stands for one or more bytes, which become call->rest */
    srv_dialect dialect;
    bool is_open;                  /* answered without the key, while models load, and while the server ends */
    bool (*begin)(srv_call *call); /* fills call->reply or call->job; false: call->error */
} srv_route;

/* The route of a method ("HEAD" counts as "GET") and a path without its query. NULL: none; out_allow then lists the methods of the path, ""
 * if the path is unknown. *out_rest: for call->rest; borrowed from the path. */
const srv_route *srv_routes_find(const char *method, const char *path, const char **out_rest, char *out_allow, size_t allow_size);

/* The dialect of a path; unknown paths have OpenAI's, or Ollama's below /api/. */
srv_dialect srv_routes_dialect(const char *path);

/* The route's number for metrics, below SRV_MOST_ROUTES. NULL: the number of all unknown paths. */
size_t srv_routes_index(const srv_route *route);

/* "POST /v1/embeddings", or "unknown"; NULL: the index is too large. Valid until the thread's next call. */
const char *srv_routes_name(size_t index);

#endif
