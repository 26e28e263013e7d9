/* SPDX-License-Identifier: MIT */
/* Standard output may be a full disk or a closed pipe. */
#ifndef CLFI_CONSOLE_STANDARD_OUTPUT_H
#define CLFI_CONSOLE_STANDARD_OUTPUT_H

#include <stddef.h>

#include "clformer/status.h"

/* Flushes what was printed. IO: this or an earlier write failed. */
clf_status cli_output_flush(void);

/* The results of `count` texts are printed, each in whole lines, and an interruption from now on says so: "5 words were printed" (one,
 * many: the unit). Where it is called behind every line, an interruption tears none. IO as cli_output_flush. */
clf_status cli_output_done(size_t count, const char *one, const char *many);

/* Before anything is printed: to a file or pipe a whole line goes at once, as far as it has room in 64 KiB. */
void cli_output_prepare(void);

/* At the program's end: ends it with exit status 1 where that fails and no command has told. */
void cli_output_check(void);

#endif
