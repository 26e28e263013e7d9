/* SPDX-License-Identifier: MIT */
/* The one line on a terminal's standard error that shows how far a job is. Nothing where that is no terminal, and nothing in a job's first
 * second. It is gone before anything else is printed, and after an interruption. */
#ifndef CLFI_CONSOLE_PROGRESS_H
#define CLFI_CONSOLE_PROGRESS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "clformer/context.h"

typedef struct cli_progress {
    const char *unit; /* "texts"; one of them is this without its s */
    uint64_t start_ns;
    uint64_t build_ns;          /* of the context when the work began: compiling is no part of its rate */
    const clf_context *context; /* NULL: none */
    size_t base;                /* done before the current window */
    double passed;              /* share of all work that was passed over: no part of the rate */
    double from, until;         /* shares of all work where the window begins and ends; NaN: not known */
} cli_progress;

cli_progress cli_progress_start(const char *unit, const clf_context *context);

/* A window of the work begins; it ends where `until` of all is done, 0 to 1 (NaN: nobody knows). */
void cli_progress_window(cli_progress *progress, double until);

/* A clf_progress that never cancels; user is a cli_progress; total: of the window. */
int cli_progress_update(void *user, size_t done, size_t total);

/* The window is over. */
void cli_progress_count(cli_progress *progress, size_t done);

/* Any line: shown once the program has run for a second, and at most ten times a second. */
void cli_line_show(const char *format, ...) CLFI_PRINTF(1, 2);

/* Before anything is printed on the terminal. */
void cli_line_clear(void);

/* Whether standard output ends in an unfinished line, called before its first byte is printed. On a terminal no status line is shown until
 * it ends: that would erase what it says. An interruption ends it. */
void cli_line_keep(bool is_midline);

/* Before a message: the status line is cleared, an unfinished line on the terminal ends. */
void cli_line_end(void);

/* "1 h 5 min", "2 min 10 s", "8 s". */
const char *cli_duration(double seconds, char text[32]);

/* While kernels are compiled for the context, the line says so, and what the context logs to standard error does not stand behind it. */
void cli_progress_watch_builds(clf_context *context);

/* Ctrl-C, SIGTERM and SIGHUP clear the line, say what was kept, and end the program as they would have. */
void cli_interrupts_watch(void);

/* The same signals set *stop to their number instead, for a command that ends its work itself and then exits with 128 + *stop; a second one
 * ends the program at once. */
void cli_interrupts_stop(volatile sig_atomic_t *stop);

/* The ^C that a terminal has shown goes, before a command says itself that it was interrupted. */
void cli_interrupts_clear(void);

/* An interruption waits until it is let go, a second one does not. For work that is over at once. */
void cli_interrupts_hold(bool holds);

/* Whether one waits, for work that can end early. */
bool cli_interrupts_is_waiting(void);

/* Sets what an interruption reports as done, from now on. Before the first call it reports nothing. */
void cli_interrupts_say(const char *format, ...) CLFI_PRINTF(1, 2);

/* A file that an interruption removes, too, from now on, whose name is shorter than PATH_MAX; NULL: none. */
void cli_interrupts_remove(const char *path);

#endif
