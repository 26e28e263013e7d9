/* SPDX-License-Identifier: MIT */
/* Format of an output: --format, or the end of its name. */
#ifndef CLFI_CONSOLE_OUTPUT_FORMAT_H
#define CLFI_CONSOLE_OUTPUT_FORMAT_H

#include <stddef.h>

#include "base/status.h"

enum { CLI_FORMAT_UNSET = -1 };

typedef struct cli_format_end {
    const char *end; /* ".png" */
    int format;      /* index into the choices of --format */
} cli_format_end;

/* *format: what --format chose, or CLI_FORMAT_UNSET, which becomes what the name stands for, if it has one of these ends. path NULL: no
 * output. INVALID_ARGUMENT: the name promises another format than the one that was chosen ("png|svg" are the choices). */
clf_status cli_format_choose(const char *path, const cli_format_end *ends, size_t count, const char *choices, int *format);

#endif
