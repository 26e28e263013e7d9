/* SPDX-License-Identifier: MIT */
/* Sends and receives JSON messages over a socket. */
#include "bench/message.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/str.h"
#include "io/json.h"

static const uint64_t most_bytes = UINT64_C(1) << 30;

static const char what[] = "message of a device's process";

clfi_message_end clfi_message_send(int socket, json_t *message)
{
    clf_str text = CLF_STR_INIT;
    clfi_message_end end = CLFI_MESSAGE_FAILED;
    if (clfi_json_write(message, JSON_COMPACT, what, &text) == CLF_OK) {
        const uint64_t size = text.length;
        end = clfi_message_send_bytes(socket, &size, sizeof size);
    }
    json_decref(message);
    if (end == CLFI_MESSAGE_OK)
        end = clfi_message_send_bytes(socket, text.data, text.length);
    clfi_str_free(&text);
    return end;
}

clfi_message_end clfi_message_receive(int socket, const clfi_patience *patience, json_t **out)
{
    const uint64_t start = clfi_now_ns();
    uint64_t size = 0;
    char *text = NULL;
    clfi_message_end end = clfi_message_receive_since(socket, patience, start, &size, sizeof size);
    if (end != CLFI_MESSAGE_OK)
        return end;
    if (size > most_bytes)
        clfi_fail(CLF_FORMAT, "message of a device's process: %llu bytes, at most %llu", (unsigned long long)size,
                  (unsigned long long)most_bytes);
    if (size > most_bytes || clfi_alloc(size, 1, "message of a device's process", &text) != CLF_OK)
        return CLFI_MESSAGE_FAILED;
    end = clfi_message_receive_since(socket, patience, start, text, size);
    if (end == CLFI_MESSAGE_OK && clfi_json_parse_strict(text, size, what, out) != CLF_OK)
        end = CLFI_MESSAGE_FAILED;
    free(text);
    return end;
}
