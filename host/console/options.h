/* SPDX-License-Identifier: MIT */
/* Command-line options of one command: a table that is parsed, checked and printed as help. */
#ifndef CLFI_CONSOLE_OPTIONS_H
#define CLFI_CONSOLE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "console/option.h"

/* Parses argv[1..argc), options and positional arguments in any order ("--" ends options). Positional arguments are moved to the front of
 * argv; their number goes to *positional. INVALID_ARGUMENT names the option, and for an unknown one the nearest; two outputs that are one
 * file, an output that is read, two that read standard input (console/option_files.h). NOT_FOUND, IO: an output that could not be written.
 * "--help" prints the help and exits with 0, "--help=manual" the same rows as a section of the manual page. */
clf_status cli_parse(const cli_command *command, const cli_option *options, size_t count, int argc, char **argv, int *positional);

/* The same; *before_dashes: how many of the positional arguments stand before "--", -1 where there is none. */
clf_status cli_parse_parts(const cli_command *command, const cli_option *options, size_t count, int argc, char **argv, int *positional,
                           int *before_dashes);

/* INVALID_ARGUMENT, "NAME: <what is wrong>; usage: clformer NAME ARGUMENTS". */
clf_status cli_refuse(const cli_command *command, const char *format, ...) CLFI_PRINTF(2, 3);

/* Index of `value` in "a|b|c", or -1. */
int cli_choice_index(const char *choices, const char *value);

/* The beginning of a command's help: its usage with that word for options (""; " [OPTIONS]"), and what it does; and its end, the examples.
 * Help is printed in lines of the terminal's width (console/terminal.h). */
void cli_print_usage(const cli_command *command, const char *options);
void cli_print_examples(const cli_command *command);

/* The rows of a table of options as help prints them. */
void cli_print_options(const cli_option *options, size_t count);

/* The one of names[0..count) that `word` most likely misspells; NULL: none is near. */
const char *cli_nearest(const char *word, const char *const *names, size_t count);

/* The program's one rule: 0 for OK, 2 for what the command line asks for in vain (INVALID_ARGUMENT), 1 for everything that fails at
 * work. */
int cli_exit_status(clf_status st);

/* Prints "clformer: <reason of the last failure>" to standard error and returns the exit status for `st`. What all processes of an mpirun
 * are refused for is said by the first of them. */
int cli_fail(clf_status st);

/* The same for commands whose refusals begin with a code, "E_SHAPE: ...", nothing before it; a reason without one gets its status's. */
int cli_fail_coded(clf_status st);

/* Whether one of the two has told of an error. */
bool cli_has_failed(void);

#endif
