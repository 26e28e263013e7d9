/* SPDX-License-Identifier: MIT */
/* Standard output may be a full disk or a closed pipe. */
#ifndef CLFI_CLI_STANDARD_OUTPUT_H
#define CLFI_CLI_STANDARD_OUTPUT_H

#include "clformer/status.h"

/* What was printed, to where it goes. IO: this or something printed before failed. */
clf_status cli_output_flush(void);

/* At the program's end: ends it with exit status 1 where that fails and no command has told. */
void cli_output_check(void);

#endif
