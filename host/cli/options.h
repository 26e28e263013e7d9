/* SPDX-License-Identifier: MIT */
/* Command-line options of one command: a table that is parsed, checked and printed as help. */
#ifndef CLFI_CLI_OPTIONS_H
#define CLFI_CLI_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef enum cli_kind {
    CLI_FLAG,    /* int *: set to 1 */
    CLI_TEXT,    /* const char ** */
    CLI_LIST,    /* cli_list *: a text each time it is given */
    CLI_SIZE,    /* size_t *: a whole number, at least 1 */
    CLI_INTEGER, /* int64_t *: a whole number of any sign */
    CLI_NUMBER,  /* double *: finite */
    CLI_CHOICE   /* int *: index into `choices`, "a|b|c" */
} cli_kind;

enum { CLI_LIST_MAX = 32 };

typedef struct cli_list {
    const char *items[CLI_LIST_MAX];
    size_t count;
} cli_list;

typedef struct cli_option {
    const char *name;    /* "max-tokens" */
    char letter;         /* 'o', or 0 */
    const char *metavar; /* "N"; for CLI_CHOICE the choices "a|b|c"; NULL for flags */
    const char *help;
    cli_kind kind;
    void *target;
} cli_option;

/* What a command is; its table of options is built in its own function, where the targets live. */
typedef struct cli_command {
    const char *name;
    const char *arguments; /* "MODEL_DIR [TEXT ...]" */
    const char *summary;
    int (*run)(const struct cli_command *self, int argc, char **argv); /* returns the exit status */
} cli_command;

/* Parses argv[1..argc), options and positional arguments in any order ("--" ends options). Positional arguments are moved to the front of
 * argv; their number goes to *positional. INVALID_ARGUMENT names the option. "--help" prints the help and exits with 0. */
clf_status cli_parse(const cli_command *command, const cli_option *options, size_t count, int argc, char **argv, int *positional);

/* The rows of a table of options as help prints them, one line each. */
void cli_print_options(const cli_option *options, size_t count);

/* Prints "clformer: <reason of the last failure>" to standard error and returns the exit status for `st`: 2 for what the caller can
 * correct on the command line (INVALID_ARGUMENT), else 1. */
int cli_fail(clf_status st);

#endif
