/* SPDX-License-Identifier: MIT */
/* Counts the lines of a file that are not UTF-8, for one warning per file. Commands read their ill-formed bytes as U+FFFD. */
#ifndef CLFI_CONSOLE_ILL_FORMED_H
#define CLFI_CONSOLE_ILL_FORMED_H

#include <stddef.h>

typedef struct cli_ill_formed {
    size_t lines, first; /* how many lines there were, and the number of the first of them */
} cli_ill_formed;

/* Checks a line of a file. line: its number, from 1. */
void cli_ill_formed_meet(cli_ill_formed *seen, const char *text, size_t size, size_t line);

/* Checks each line of a whole text. */
void cli_ill_formed_meet_all(cli_ill_formed *seen, const char *text, size_t size);

/* Prints a warning to standard error if a line was ill-formed, and resets *seen. name: of the file, for the message. */
void cli_ill_formed_say(cli_ill_formed *seen, const char *name);

#endif
