/* SPDX-License-Identifier: MIT */
/* The status line on standard error that shows the progress of a job, and the handling of interruptions. The line appears on terminals
 * only, and not in the first second. It is cleared before anything else is printed, and after an interruption. */
#ifndef CLFI_CONSOLE_PROGRESS_H
#define CLFI_CONSOLE_PROGRESS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "clformer/context.h"

typedef struct cli_progress {
    const char *unit; /* a plural that ends in s: "texts" */
    uint64_t start_ns;
    uint64_t build_ns;          /* of the context when the work began: the rate does not include compiling */
    const clf_context *context; /* NULL: none */
    size_t base;                /* done before the current window */
    double passed;              /* share of all work that was skipped: not counted in the rate */
    double from, until;         /* shares of all work at the window's beginning and end; NaN: unknown */
} cli_progress;

cli_progress cli_progress_start(const char *unit, const clf_context *context);

/* Begins a window of the work, at whose end the share `until` of all work is done, 0 to 1 (NaN: unknown). */
void cli_progress_window(cli_progress *progress, double until);

/* A clf_progress that never cancels; user is a cli_progress; total: of the window. */
int cli_progress_update(void *user, size_t done, size_t total);

/* Ends the window, in which `done` units were done. */
void cli_progress_count(cli_progress *progress, size_t done);

/* Shows a status line, from one second after the first call of this or of cli_progress_watch_builds, at most ten times a second. */
void cli_line_show(const char *format, ...) CLFI_PRINTF(1, 2);

/* Clears the status line; call it before anything is printed on the terminal. */
void cli_line_clear(void);

/* Notes whether standard output ends in an unfinished line; call it before the first byte of that line is printed. On a terminal no status
 * line is shown until it ends, because that would erase it. An interruption ends the unfinished line. */
void cli_line_keep(bool is_midline);

/* Clears the status line and ends an unfinished line on the terminal; call it before a message. */
void cli_line_end(void);

/* "1 h 5 min", "2 min 10 s", "8 s". */
const char *cli_duration(double seconds, char text[32]);

/* Shows on the status line that kernels are being compiled for the context. Log messages of the context get lines of their own. */
void cli_progress_watch_builds(clf_context *context);

/* From now on Ctrl-C, SIGTERM and SIGHUP clear the line, report what was kept, and end the program as they would by default. */
void cli_interrupts_watch(void);

/* The same signals set *stop to their number instead, for a command that ends its work itself and then exits with 128 + *stop; a second one
 * ends the program at once. */
void cli_interrupts_stop(volatile sig_atomic_t *stop);

/* Erases the ^C that a terminal has shown; for a command that itself reports the interruption. */
void cli_interrupts_clear(void);

/* holds true: an interruption waits until the call with false; a second one ends the program at once. For short work. */
void cli_interrupts_hold(bool holds);

/* Whether an interruption waits; for held work that can end early. */
bool cli_interrupts_is_waiting(void);

/* Sets what an interruption reports as done, from now on. Before the first call it reports nothing. */
void cli_interrupts_say(const char *format, ...) CLFI_PRINTF(1, 2);

/* Sets a file that an interruption removes, too; NULL, or a path of PATH_MAX bytes or more: none. */
void cli_interrupts_remove(const char *path);

#endif
