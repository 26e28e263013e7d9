/* SPDX-License-Identifier: MIT */
/* Buffers and checks standard output, which may be a full disk or a closed pipe, for commands that print results. */
#ifndef CLFI_CONSOLE_STANDARD_OUTPUT_H
#define CLFI_CONSOLE_STANDARD_OUTPUT_H

#include <stddef.h>

#include "clformer/status.h"

/* Flushes what was printed. IO: this or an earlier write failed. */
clf_status cli_output_flush(void);

/* Flushes the results of `count` texts, which are whole lines. An interruption from now on reports "5 words printed" (one, many: the unit).
 * If this is called after every line, an interruption tears no line in a file. IO as cli_output_flush. */
clf_status cli_output_done(size_t count, const char *one, const char *many);

/* Call it before anything is printed. It buffers files and pipes by 64 KiB, so that a flushed line up to that size is written at once, and
 * guards terminals (cli_terminal_guard). */
void cli_output_prepare(void);

/* At the program's end: flushes. If a write has failed and no command has reported a failure, it reports that and exits with status 1. */
void cli_output_check(void);

#endif
