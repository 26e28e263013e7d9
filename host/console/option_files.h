/* SPDX-License-Identifier: MIT */
/* The files that a command line names: no output may be lost in another one or replace what is read, and one alone reads standard input. */
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

/* All rows of its table. INVALID_ARGUMENT names two of them. NOT_FOUND, IO: an output that could not be written. */
clf_status cli_files_check(const cli_line *line);

/* Checks an output that is no row of the table. `name` ("--output") is for the message. INVALID_ARGUMENT: the file is another output of
 * the table, or one that is read. IO. */
clf_status cli_output_is_alone(const cli_line *line, const char *name, const char *path);
clf_status cli_output_replaces_none(const cli_line *line, const char *name, const char *path);

#endif
