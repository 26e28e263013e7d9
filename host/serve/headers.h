/* SPDX-License-Identifier: MIT */
/* Reads the headers of a request, and refuses those that servers and proxies could read differently. */
#ifndef CLFI_SERVE_HEADERS_H
#define CLFI_SERVE_HEADERS_H

#include <stdint.h>

#include "serve/error.h"

enum { SRV_HEADER_BYTES = 24 << 10, SRV_URI_BYTES = 8 << 10 };

typedef struct srv_headers {
    size_t bytes, hosts, lengths, codings; /* of all headers; numbers of Host, Content-Length and Transfer-Encoding headers */
    uint64_t length;                       /* Content-Length */
    bool is_bad_name, is_bad_value, is_bad_length, is_chunked, is_coded; /* coded: a content coding other than identity */
    bool expects, expects_other, is_json, has_type; /* expects: 100-continue; other: any other expectation; has_type: Content-Type */
    const char *host, *origin, *authorization;      /* borrowed; NULL: none */
} srv_headers;

/* Adds one header; *headers starts as zeros and borrows from value. value NULL stands for "". */
void srv_headers_take(srv_headers *headers, const char *name, const char *value);

/* Refuses a malformed message; the caller then ends the connection. At most SRV_HEADER_BYTES are allowed, names of plain characters, and
 * values without control characters. HTTP 1.1 (is_modern) needs one Host, HTTP 1.0 may have none. A message may have one Content-Length, a
 * number, or in HTTP 1.1 one Transfer-Encoding, "chunked". The only expectation is "100-continue". */
bool srv_headers_check(const srv_headers *headers, bool is_modern, srv_error *error);

/* Refuses compressed bodies, and a Content-Type other than application/json. A missing Content-Type is accepted. */
bool srv_headers_check_type(const srv_headers *headers, srv_error *error);

/* Whether Authorization is "Bearer KEY" with this key. The time depends on the length of the client's key, not on its content. */
bool srv_headers_have_key(const srv_headers *headers, const char *key);

/* Whether browsers may send this text as the header Origin: scheme://host or scheme://host:port, without a path or a slash at the end, or
 * "null". */
bool srv_origin_is_valid(const char *origin);

/* Whether the text is a list of names of headers, as browsers send it in Access-Control-Request-Headers. NULL is none. */
bool srv_is_name_list(const char *text);

/* Whether a web page of another site sent the request: it has an Origin, which is neither its Host nor `allowed` ("*": any; NULL: none).
 * is_local: the server answers this machine alone, without a key. Then an Origin http://NAME is foreign also as the Host, because another
 * site can let its name mean this machine (DNS rebinding). localhost, addresses, and https behind a proxy stay allowed. */
bool srv_headers_are_foreign(const srv_headers *headers, const char *allowed, bool is_local);

#endif
