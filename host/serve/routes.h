/* SPDX-License-Identifier: MIT */
/* The table of routes. */
#ifndef CLFI_SERVE_ROUTES_H
#define CLFI_SERVE_ROUTES_H

#include "serve/call.h"

typedef struct srv_route {
    const char *method, *path; /* a path that ends with '*' takes what begins so; `rest` is what stands there */
    srv_dialect dialect;
    bool is_open;                  /* without the key, and while models load */
    bool (*begin)(srv_call *call); /* fills the reply, or call->job; false: call->error */
} srv_route;

/* The route of a method ("HEAD" counts as "GET") and a path without its query. NULL: none; *out_allow then says which methods the path has,
 * "" where it is unknown. *out_rest: for call->rest. */
const srv_route *srv_routes_find(const char *method, const char *path, const char **out_rest, char *out_allow, size_t allow_size);

/* The dialect of a path that may be unknown. */
srv_dialect srv_routes_dialect(const char *path);

/* A number for counting, below SRV_MOST_ROUTES; of NULL that of all unknown paths. */
size_t srv_routes_index(const srv_route *route);

/* "POST /v1/embeddings"; "unknown". */
const char *srv_routes_name(size_t index);

#endif
