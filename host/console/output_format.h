/* SPDX-License-Identifier: MIT */
/* Chooses the format of an output by --format or by the extension of its file name. */
#ifndef CLFI_CONSOLE_OUTPUT_FORMAT_H
#define CLFI_CONSOLE_OUTPUT_FORMAT_H

#include <stddef.h>

#include "base/status.h"

enum { CLI_FORMAT_UNSET = -1 };

typedef struct cli_format_end {
    const char *end; /* ".png" */
    int format;      /* index into the choices of --format */
} cli_format_end;

/* *format holds the choice of --format, or CLI_FORMAT_UNSET. If UNSET, and the path has one of the extensions, it becomes the format of
 * that extension. path NULL: no output, nothing changes. choices: of --format, "png|svg". INVALID_ARGUMENT: --format contradicts the path's
 * extension. */
clf_status cli_format_choose(const char *path, const cli_format_end *ends, size_t count, const char *choices, int *format);

#endif
