/* SPDX-License-Identifier: MIT */
/* Texts that are not UTF-8: their ill-formed parts count as U+FFFD, which is said once a file. */
#ifndef CLFI_CONSOLE_ILL_FORMED_H
#define CLFI_CONSOLE_ILL_FORMED_H

#include <stddef.h>

typedef struct cli_ill_formed {
    size_t lines, first; /* how many lines there were, and the number of the first of them */
} cli_ill_formed;

/* A line of a file, by its number from 1. */
void cli_ill_formed_meet(cli_ill_formed *seen, const char *text, size_t size, size_t line);

/* Each line of a whole text. */
void cli_ill_formed_meet_all(cli_ill_formed *seen, const char *text, size_t size);

/* Says on standard error what was met, if anything, and forgets it. name: the file's, for the message. */
void cli_ill_formed_say(cli_ill_formed *seen, const char *name);

#endif
