/* SPDX-License-Identifier: MIT */
/* Types of a command and of a row in its table of options. */
#ifndef CLFI_CONSOLE_OPTION_H
#define CLFI_CONSOLE_OPTION_H

#include <stdbool.h>
#include <stddef.h>

typedef enum cli_kind {
    CLI_FLAG,     /* int *: set to 1 */
    CLI_TEXT,     /* const char ** */
    CLI_INPUT,    /* const char **: a file or a model's folder that the command reads */
    CLI_TEXTS,    /* const char **: a file of texts, or "-" for standard input, which only one can read */
    CLI_OUTPUT,   /* const char **: what the command will write: a file, pipe, device or "-"; checked before the work */
    CLI_IN_PLACE, /* const char **: as CLI_OUTPUT, but it may replace an input, because all inputs are read before it is written */
    CLI_FILE,     /* const char **: as CLI_OUTPUT, but a regular file only */
    CLI_LIST,     /* cli_list *: a text each time it is given */
    CLI_INPUTS,   /* cli_list *: a CLI_INPUT each time it is given */
    CLI_CORPORA,  /* cli_list *: a CLI_TEXTS each time it is given */
    CLI_SIZE,     /* size_t *: a whole number, at least 1 */
    CLI_INTEGER,  /* int64_t *: a whole number of any sign */
    CLI_NUMBER,   /* double *: a finite number within float32's range */
    CLI_CHOICE    /* int *: index into `choices`, "a|b|c" */
} cli_kind;

enum { CLI_LIST_MAX = 32, CLI_EXAMPLES = 2 };

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

/* A command. Its own function builds its table of options, since the targets live there. */
typedef struct cli_command {
    const char *name;
    const char *arguments; /* "MODEL_DIR [TEXT ...]" */
    const char *summary;
    int (*run)(const struct cli_command *self, int argc, char **argv); /* returns the exit status */
    int first_file, last_file; /* positional arguments, from 1, that are files or models' folders to read; 0: none */
    int first_text;   /* first positional argument, from 1, that is a text, like all after it ("-": standard input's lines); 0: none */
    bool shares_work; /* the processes of one mpirun divide the work; false: mpirun is refused, since each would do all of it */
    const char *examples[CLI_EXAMPLES]; /* command lines without the program's name, which help and the manual page show */
} cli_command;

#endif
