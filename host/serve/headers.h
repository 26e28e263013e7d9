/* SPDX-License-Identifier: MIT */
/* Reads the headers of a request, and refuses those that servers and proxies could read differently. */
#ifndef CLFI_SERVE_HEADERS_H
#define CLFI_SERVE_HEADERS_H

#include <stdint.h>

#include "serve/error.h"

enum { SRV_HEADER_BYTES = 24 << 10, SRV_URI_BYTES = 8 << 10 };

typedef struct srv_headers {
    size_t bytes, hosts, lengths, codings;
    uint64_t length; /* Content-Length */
    bool is_bad_name, is_bad_value, is_bad_length, is_chunked, is_coded; /* coded: a content coding other than identity */
    bool expects, expects_other, is_json, has_type;
    const char *host, *origin, *authorization; /* borrowed; NULL: none */
} srv_headers;

/* Takes one header; start from zeros. value NULL: "". */
void srv_headers_take(srv_headers *headers, const char *name, const char *value);

/* Refuses what is no proper message: no Host (is_modern: HTTP 1.1), two, Content-Length with Transfer-Encoding, two or bad lengths, an
 * unknown coding or expectation, too many bytes. Names with spaces, values with control characters, and a length or a coding that goes on
 * in the next line are refused too. The connection ends then. */
bool srv_headers_check(const srv_headers *headers, bool is_modern, srv_error *error);

/* Refuses bodies that are no JSON by their type or coding. */
bool srv_headers_check_type(const srv_headers *headers, srv_error *error);

/* "Bearer KEY" is the key; takes as long for any other of its length. */
bool srv_headers_have_key(const srv_headers *headers, const char *key);

/* Whether a page of another site asks: its origin is neither the host that it asks nor `allowed` ("*": any; NULL: none). */
bool srv_headers_are_foreign(const srv_headers *headers, const char *allowed);

#endif
