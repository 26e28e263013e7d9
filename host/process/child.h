/* SPDX-License-Identifier: MIT */
/* Starts, watches and ends child processes. Only this folder does so. */
#ifndef CLFI_PROCESS_CHILD_H
#define CLFI_PROCESS_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "process/socket.h"

typedef struct clfi_child {
    pid_t process; /* 0: there is no child */
    int socket;    /* this process's end; the child has the other */
    int words;     /* file in memory that receives the child's standard error (clfi_child_start); -1: none */
} clfi_child;

#define CLFI_CHILD_INIT \
    {                   \
        0, -1, -1       \
    }

enum { CLFI_CHILD_WORDS = 400 }; /* bytes of the text that clfi_child_end writes */

/* Forks a process that runs serve(socket, user) on a copy of the memory and ends when serve returns. It ignores SIGINT. On Linux
 * it is also killed when the thread that called this function ends. IO: the system refused. */
clf_status clfi_child_fork(void (*serve)(int socket, const void *user), const void *user, clfi_child *out);

/* Starts the program at `path`, with the other end of the socket as its descriptor `socket` (from 3 to CLFI_CHILD_SOCKETS - 1). Its
 * standard input and output are /dev/null; signals of the terminal do not reach it. IO: the system refused. */
enum { CLFI_CHILD_SOCKETS = 16 };
clf_status clfi_child_start(const char *path, int socket, clfi_child *out);

/* The functions below leave *child as CLFI_CHILD_INIT when the child has ended. */

/* Returns without waiting whether the child has ended by itself. If so, *out_status is its status from waitpid, or -1 if another part of
 * this process has already taken that. child->process must not be 0. */
bool clfi_child_has_ended(clfi_child *child, int *out_status);

/* Kills the child and waits for its end; no-op if child->process is 0. */
void clfi_child_stop(clfi_child *child);

/* Gives the child one second to end by itself, then kills it. `how` (CLFI_CHILD_WORDS bytes) receives how it ended and the last line of its
 * standard error. Returns true if it ended by its own fault: by a signal that errors of a program raise, or with an exit status other than
 * `idle`. child->process must not be 0. */
bool clfi_child_end(clfi_child *child, int idle, char *how);

/* Ends the child after a message failed with `end`, and returns DEVICE. The message says how the child ended (CLFI_MESSAGE_CLOSED), keeps
 * the system's reason (CLFI_MESSAGE_FAILED), or is "interrupted". */
clf_status clfi_child_lost(clfi_child *child, clfi_message_end end);

#endif
