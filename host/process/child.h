/* SPDX-License-Identifier: MIT */
/* Child processes: started, watched and ended. This folder alone does so. */
#ifndef CLFI_PROCESS_CHILD_H
#define CLFI_PROCESS_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "process/socket.h"

typedef struct clfi_child {
    pid_t process; /* 0: none */
    int socket;    /* this end; the other is the child's */
    int words;     /* a file in memory: what a program that was started writes to its standard error; -1: none */
} clfi_child;

#define CLFI_CHILD_INIT \
    {                   \
        0, -1, -1       \
    }

enum { CLFI_CHILD_WORDS = 400 }; /* bytes of a text that tells how a child ended */

/* A process that runs serve(socket, user) on memory as it is now, and ends when that returns or when this process does. IO: the system
 * refused. */
clf_status clfi_child_fork(void (*serve)(int socket, const void *user), const void *user, clfi_child *out);

/* The program at `path`, with the other end of the socket as its descriptor `socket` (from 3 to CLFI_CHILD_SOCKETS - 1). Its standard input
 * and output are empty; signals of the terminal do not reach it. IO: the system refused. */
enum { CLFI_CHILD_SOCKETS = 16 };
clf_status clfi_child_start(const char *path, int socket, clfi_child *out);

/* Whether it has ended by itself, without waiting; *out_status as waitpid tells it, -1 where somebody else has asked before. It is none
 * then. */
bool clfi_child_has_ended(clfi_child *child, int *out_status);

/* Ends it at once; no-op where there is none. */
void clfi_child_stop(clfi_child *child);

/* The same, after it was given a moment to end by itself. `how` (CLFI_CHILD_WORDS bytes) tells how it ended, and the last line that it
 * wrote. Whether it ended by a fault: a signal that a program raises by its own errors, or an exit status other than `idle`. */
bool clfi_child_end(clfi_child *child, int idle, char *how);

/* Why bytes did not pass, as DEVICE: what the child died of, or the system's reason. It is none then. */
clf_status clfi_child_lost(clfi_child *child, clfi_message_end end);

#endif
