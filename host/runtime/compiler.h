/* SPDX-License-Identifier: MIT */
/* A child process that compiles kernels: clformer-compile, started, asked, watched and ended. A driver's compiler that crashes or hangs
 * takes this process with it and not the program. */
#ifndef CLFI_RUNTIME_COMPILER_H
#define CLFI_RUNTIME_COMPILER_H

#include "process/child.h"
#include "runtime/compile_message.h"

enum {
    CLFI_COMPILER_IDLE = 112,      /* the exit status of one that had nothing to do */
    CLFI_COMPILER_IDLE_MS = 10000, /* after which it ends */
};

typedef struct clf_compiler {
    clfi_child child;
    bool is_ready;                                                     /* it has greeted */
    bool is_known;                                                     /* it has compiled for another pool, perhaps for another device */
    uint64_t deadline_ns;                                              /* of the request that it works on */
    char reply[sizeof(clf_compile_header) + CLFI_COMPILE_REPLY_BYTES]; /* so far */
    size_t reply_bytes;
} clf_compiler;

/* How a request stands. */
typedef enum clf_compile_state {
    CLFI_COMPILE_RUNS,    /* no reply yet */
    CLFI_COMPILE_REPLIED, /* *out_word, and the body as a text in c->reply */
    CLFI_COMPILE_LATE,    /* beyond the deadline */
    CLFI_COMPILE_GONE,    /* the process ended */
    CLFI_COMPILE_BROKEN   /* it sent what is no message */
} clf_compile_state;

/* Starts the program at `path`. Its standard input and output are empty; signals of the terminal do not reach it; it ends by itself when
 * its socket closes, so that it never outlives this process. IO: the system refused. */
clf_status clfi_compiler_start(const char *path, clf_compiler *out);

/* Hands it a request, whose time begins now. False: it is gone. */
bool clfi_compiler_ask(clf_compiler *c, const clf_str *request, double seconds);

/* Reads what has come, without waiting. */
clf_compile_state clfi_compiler_look(clf_compiler *c, clf_compile_word *out_word, const char **out_text);

/* Ends the process at once. `how` (CLFI_CHILD_WORDS bytes; NULL: not wanted) receives how it had ended before, and the last line that it
 * wrote. Returns whether it ended by a fault of what ran in it: a signal that a program raises by its own errors, or an exit status. */
bool clfi_compiler_stop(clf_compiler *c, char *how);

#endif
