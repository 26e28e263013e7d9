/* SPDX-License-Identifier: MIT */
/* Foreign text on a terminal: its width, and lines that can neither drive nor overflow it. */
#ifndef CLFI_CONSOLE_TERMINAL_H
#define CLFI_CONSOLE_TERMINAL_H

#include <stddef.h>
#include <stdio.h>

/* Columns of the terminal behind a descriptor, 80 where it doesn't tell; 0 when it is none. */
int cli_terminal_columns(int fd);

/* One line without its newline: control and direction characters become spaces, ill-formed UTF-8 becomes U+FFFD. columns > 0: a longer text
 * is cut and ends in an ellipsis. Returns the columns that it takes. */
int cli_print_line(FILE *stream, const char *text, size_t size, int columns);

/* Text for people, in lines of the terminal's width, 80 where the stream is none: the first begins with `first` spaces, the others with
 * `indent`. */
void cli_print_text(FILE *stream, int first, int indent, const char *text);

/* A command to be typed, behind two spaces; on a terminal in lines of its width that end in a backslash. */
void cli_print_command(FILE *stream, const char *text);

/* "  NAME  what it is" to the stream, the text from column `columns` + 3 on in lines of that width, below a longer name. */
void cli_print_entry(FILE *stream, const char *name, int columns, const char *text);

#endif
