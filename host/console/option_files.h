/* SPDX-License-Identifier: MIT */
/* Checks the files of a command line: outputs are different files, none replaces an input, and at most one input is standard input. */
#ifndef CLFI_CONSOLE_OPTION_FILES_H
#define CLFI_CONSOLE_OPTION_FILES_H

#include "base/status.h"
#include "console/option.h"

/* A command line as it was parsed. */
typedef struct cli_line {
    const cli_command *command;
    const cli_option *options;
    size_t count;
    char **arguments; /* the positional ones */
    int argument_count;
} cli_line;

/* Checks the files of all rows and arguments. INVALID_ARGUMENT names the two that conflict. NOT_FOUND, IO: an output that could not be
 * written, or that must be a regular file and is a pipe or device. */
clf_status cli_files_check(const cli_line *line);

/* Both check an output that is no row of the table. `name` ("--output") is for the message. INVALID_ARGUMENT: the path is also an output of
 * the table (is_alone; also IO), or it is an input (replaces_none). */
clf_status cli_output_is_alone(const cli_line *line, const char *name, const char *path);
clf_status cli_output_replaces_none(const cli_line *line, const char *name, const char *path);

#endif
