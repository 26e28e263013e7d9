/* SPDX-License-Identifier: MIT */
/* A child process that compiles kernels for the library: clformer-compile. If the driver's compiler crashes or hangs, only this process
 * ends, not the program. */
#ifndef CLFI_RUNTIME_COMPILER_H
#define CLFI_RUNTIME_COMPILER_H

#include "process/child.h"
#include "runtime/compile_message.h"

enum {
    CLFI_COMPILER_IDLE = 112,      /* exit status of a process that ended because it had nothing to do */
    CLFI_COMPILER_IDLE_MS = 10000, /* a process ends after so long without a request */
};

typedef struct clf_compiler {
    clfi_child child;
    bool is_ready;                                                     /* its greeting (CLFI_COMPILE_HELLO) has come */
    bool is_known;                                                     /* it has compiled for another pool, perhaps for another device */
    uint64_t deadline_ns;                                              /* deadline of its current request */
    char reply[sizeof(clf_compile_header) + CLFI_COMPILE_REPLY_BYTES]; /* what has been received */
    size_t reply_bytes;
} clf_compiler;

/* State of a request. */
typedef enum clf_compile_state {
    CLFI_COMPILE_RUNS,    /* no reply yet */
    CLFI_COMPILE_REPLIED, /* *out_word, and the body as a text in c->reply */
    CLFI_COMPILE_LATE,    /* beyond the deadline */
    CLFI_COMPILE_GONE,    /* the process ended */
    CLFI_COMPILE_BROKEN   /* it sent something that is not a valid message */
} clf_compile_state;

/* Starts the program at `path`. Its standard input and output are empty; signals of the terminal do not reach it; it ends by itself when
 * its socket closes, so that it never outlives this process. IO: the system refused. */
clf_status clfi_compiler_start(const char *path, clf_compiler *out);

/* Sends a request, whose time limit of `seconds` begins now. False: the process is gone or does not read. */
bool clfi_compiler_ask(clf_compiler *c, const clf_str *request, double seconds);

/* Reads without waiting what the process has sent. *out_text is borrowed until the next call. */
clf_compile_state clfi_compiler_look(clf_compiler *c, clf_compile_word *out_word, const char **out_text);

/* Ends the process at once. `how` (CLFI_CHILD_WORDS bytes; NULL: not wanted) receives how the process had ended by itself, and its last
 * line of output. Returns true if it ended by its own fault: by a signal that errors of a program raise, or with an exit status. False if
 * `how` is NULL. */
bool clfi_compiler_stop(clf_compiler *c, char *how);

#endif
