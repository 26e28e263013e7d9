/* SPDX-License-Identifier: MIT */
/* Command-line options of one command: a table that is parsed, checked and printed as help. */
#ifndef CLFI_CONSOLE_OPTIONS_H
#define CLFI_CONSOLE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "console/option.h"

/* Parses argv[1..argc), options and positional arguments in any order ("--" ends options). Positional arguments are moved to the front of
 * argv; their number goes to *positional. INVALID_ARGUMENT names the option, and for an unknown one the nearest. It also stands for
 * mpirun with a command that does not share work, and for files that conflict (cli_files_check). NOT_FOUND, IO: as cli_files_check.
 * "--help" prints the help and exits with 0, "--help=manual" the same rows as a section of the manual page. */
clf_status cli_parse(const cli_command *command, const cli_option *options, size_t count, int argc, char **argv, int *positional);

/* As cli_parse. *before_dashes: number of positional arguments before "--"; -1: there is no "--". */
clf_status cli_parse_parts(const cli_command *command, const cli_option *options, size_t count, int argc, char **argv, int *positional,
                           int *before_dashes);

/* Fails with INVALID_ARGUMENT, "NAME: <what is wrong>; usage: clformer NAME ARGUMENTS". */
clf_status cli_refuse(const cli_command *command, const char *format, ...) CLFI_PRINTF(2, 3);

/* Index of `value` in "a|b|c", or -1. */
int cli_choice_index(const char *choices, const char *value);

/* Print the beginning of a command's help, usage and summary, and its end, the examples. options: the usage's word for options, "" or
 * " [OPTIONS]". Lines have the terminal's width (console/terminal.h). */
void cli_print_usage(const cli_command *command, const char *options);
void cli_print_examples(const cli_command *command);

/* Prints the rows of a table of options for help. */
void cli_print_options(const cli_option *options, size_t count);

/* The name of names[0..count) that is nearest to the misspelt `word`; NULL: none is near. */
const char *cli_nearest(const char *word, const char *const *names, size_t count);

/* The program's exit status: 0 for OK, 2 for a wrong command line (INVALID_ARGUMENT), 1 for any other failure. */
int cli_exit_status(clf_status st);

/* Prints "clformer: <reason of the last failure>" to standard error and returns the exit status for `st`. For an INVALID_ARGUMENT under
 * mpirun, other processes than the first wait, so that mpirun ends them before they print the same. */
int cli_fail(clf_status st);

/* As cli_fail, but the line begins with a code, "E_SHAPE: ...", and not with "clformer:". A reason without a code gets its status's. */
int cli_fail_coded(clf_status st);

/* Whether cli_fail or cli_fail_coded has been called. */
bool cli_has_failed(void);

#endif
