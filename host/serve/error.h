/* SPDX-License-Identifier: MIT */
/* Why the server refuses a request or fails at it: one list of reasons, with the status and the words that each dialect has for them. */
#ifndef CLFI_SERVE_ERROR_H
#define CLFI_SERVE_ERROR_H

#include <stdbool.h>

#include "base/status.h"

/* id; HTTP status, type and code (NULL: none) as OpenAI has them, for all routes but TEI's; HTTP status and error_type of TEI's routes.
 * Clients repeat requests by themselves after 408, 409, 429 and 5xx. So a request that can never succeed gets another status, except for
 * NOT_BUILT, where RFC 9112 asks for 501. LEFT is not sent: the client closed the connection, and only the log and the metrics count it. */
#define SRV_FAULT_MAP(X)                                                                    \
    X(INVALID, 400, "invalid_request_error", NULL, 422, "validation")                       \
    X(EMPTY, 400, "invalid_request_error", NULL, 400, "empty")                              \
    X(TOO_LONG, 400, "invalid_request_error", "context_length_exceeded", 413, "validation") \
    X(TOKENIZER, 400, "invalid_request_error", NULL, 422, "tokenizer")                      \
    X(NO_MODEL, 404, "invalid_request_error", "model_not_found", 404, "validation")         \
    X(NO_ROUTE, 404, "invalid_request_error", "unknown_url", 404, "validation")             \
    X(METHOD, 405, "invalid_request_error", "method_not_allowed", 405, "validation")        \
    X(MESSAGE, 400, "invalid_request_error", "bad_http", 400, "validation")                 \
    X(NOT_BUILT, 501, "invalid_request_error", "unknown_coding", 501, "validation")         \
    X(EXPECTATION, 417, "invalid_request_error", "unknown_expectation", 417, "validation")  \
    X(BODY, 413, "invalid_request_error", "body_too_large", 413, "validation")              \
    X(URI, 414, "invalid_request_error", "uri_too_long", 414, "validation")                 \
    X(HEADERS, 431, "invalid_request_error", "headers_too_large", 431, "validation")        \
    X(MEDIA, 415, "invalid_request_error", "unsupported_media_type", 415, "validation")     \
    X(ORIGIN, 403, "invalid_request_error", "foreign_origin", 403, "validation")            \
    X(KEY, 401, "authentication_error", "invalid_api_key", 401, "validation")               \
    X(OVERLOADED, 429, "rate_limit_error", "overloaded", 429, "overloaded")                 \
    X(BACKEND, 500, "server_error", NULL, 424, "backend")                                   \
    X(DEVICE, 503, "server_error", "device_lost", 503, "unhealthy")                         \
    X(UNREADY, 503, "server_error", "not_ready", 503, "unhealthy")                          \
    X(LATE, 504, "server_error", "timeout", 504, "backend")                                 \
    X(LEFT, 499, "invalid_request_error", "client_left", 499, "backend")

typedef enum srv_fault {
    SRV_FAULT_NONE,
#define SRV_ENUM_ROW(id, status, type, code, tei_status, word) SRV_FAULT_##id,
    SRV_FAULT_MAP(SRV_ENUM_ROW)
#undef SRV_ENUM_ROW
        SRV_FAULT_COUNT
} srv_fault;

typedef struct srv_fault_words {
    int status;
    const char *type, *code;
    int tei_status;
    const char *tei_word;
} srv_fault_words;

/* The row of a fault other than NONE. */
const srv_fault_words *srv_fault_row(srv_fault fault);

enum { SRV_MESSAGE_BYTES = 600, SRV_PARAM_BYTES = 64 };

typedef struct srv_error {
    srv_fault fault;
    char param[SRV_PARAM_BYTES]; /* the field that caused it; "": none */
    char message[SRV_MESSAGE_BYTES];
} srv_error;

/* Fills *error and returns false. param: the field that caused it; NULL: none. Unprintable bytes of message and param become '?'. */
bool srv_refuse(srv_error *error, srv_fault fault, const char *param, const char *format, ...) CLFI_PRINTF(4, 5);

/* As srv_refuse, with the fault that fits the library's status and with clf_last_error as the message. */
bool srv_refuse_status(srv_error *error, clf_status status, const char *param);

/* Whether the status means that the device failed, so that another device may succeed. */
bool srv_is_loss(clf_status status);

#endif
