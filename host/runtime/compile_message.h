/* SPDX-License-Identifier: MIT */
/* Messages between the library and clformer-compile, the program that compiles kernels for it. Both ends come from
 * one build and run on one machine, so that numbers are sent in the machine's byte order. A message is a header and a body. */
#ifndef CLFI_RUNTIME_COMPILE_MESSAGE_H
#define CLFI_RUNTIME_COMPILE_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Kind of a message. */
typedef enum clf_compile_word {
    CLFI_COMPILE_HELLO,    /* from the compiler program, once after its start; body: clf_version() */
    CLFI_COMPILE_REQUEST,  /* to the program; body: texts in the order of write_request (outside_build.c) */
    CLFI_COMPILE_DONE,     /* the binary is in the cache; body: empty */
    CLFI_COMPILE_REJECTED, /* the driver reported an error in the source; body: its messages */
    CLFI_COMPILE_USELESS   /* this device's programs cannot be compiled by another program; body: why */
} clf_compile_word;

typedef struct clf_compile_header {
    uint32_t mark;  /* CLFI_COMPILE_MARK */
    uint32_t word;  /* clf_compile_word */
    uint64_t bytes; /* of the body */
} clf_compile_header;

#define CLFI_COMPILE_MARK 0x434c4643u

enum {
    CLFI_COMPILE_SOCKET = 3,             /* descriptor of the program's end of the socket */
    CLFI_COMPILE_REPLY_BYTES = 4096,     /* a reply's body is shorter */
    CLFI_COMPILE_REQUEST_BYTES = 1 << 26 /* most bytes of a request's body */
};

/* Appends a text to a body, which is a list of texts, each with its length in front. OUT_OF_MEMORY. */
clf_status clfi_compile_put(clf_str *body, const void *text, size_t length);

/* Returns the next text, borrowed from the body; *at begins at 0. False: there is none. */
bool clfi_compile_take(const clf_str *body, size_t *at, const char **out, size_t *out_length);

/* Sends a whole message. False: the other end is gone, or took nothing within the socket's time limit. Raises no signal. */
bool clfi_compile_send(int socket, clf_compile_word word, const void *body, size_t bytes);

#endif
