/* SPDX-License-Identifier: MIT */
/* Texts of a command, from arguments, a file or standard input, read in windows so that memory does not grow with the file. */
#ifndef CLFI_CLI_INPUTS_H
#define CLFI_CLI_INPUTS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/str.h"
#include "cli/options.h"
#include "clformer/model.h"

enum { CLI_WINDOW = 4096 };

typedef struct cli_inputs {
    char **arguments; /* after the file; "-" stands for the lines of standard input */
    int argument_count;
    FILE *stream;      /* the file being read; NULL = none */
    const char *name;  /* its name for messages */
    bool is_jsonl, owns_stream;
    size_t line_number;
    char *line; /* getline's */
    size_t line_capacity;
    clf_str bytes; /* the window's texts, one after another */
    clf_text texts[CLI_WINDOW];
    size_t count;
} cli_inputs;

/* arguments: borrowed. file: one text per line (a last "\r" of a line is dropped); a name that ends in .jsonl holds a JSON string, or an
 * object with "text", per line; "-" = standard input; NULL = none. INVALID_ARGUMENT: no text at all was asked for. */
clf_status cli_inputs_open(char **arguments, int argument_count, const char *file, cli_inputs **out);
void cli_inputs_close(cli_inputs *inputs);

/* The row of --file for a command's option table. */
#define CLI_INPUTS_OPTION(file) \
    {"file", 'f', "F", "one text per line; in a .jsonl file a JSON string or an object with \"text\" per line", CLI_TEXT, &(file)}

/* The texts of a command `MODEL_DIR [TEXT ...]` with that option. INVALID_ARGUMENT: no directory, or no text at all. */
clf_status cli_inputs_open_after_model(const cli_command *command, char **positional, int count, const char *file, cli_inputs **out);

/* Fills texts[0..count) with the next window; count 0 at the end. The texts live until the next call. */
clf_status cli_inputs_next(cli_inputs *inputs);

#endif
