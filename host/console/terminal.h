/* SPDX-License-Identifier: MIT */
/* Prints text on a terminal: foreign text, which can neither control nor overflow it, and help in lines of its width. */
#ifndef CLFI_CONSOLE_TERMINAL_H
#define CLFI_CONSOLE_TERMINAL_H

#include <stddef.h>
#include <stdio.h>

/* Columns of the terminal at a descriptor; 80 if it does not report them, 0 if the descriptor is no terminal. */
int cli_terminal_columns(int fd);

/* Prints a line without a newline. Control and direction characters become spaces, ill-formed UTF-8 becomes U+FFFD. columns > 0: a longer
 * text is truncated and ends in an ellipsis. Returns the columns that the text takes. */
int cli_print_line(FILE *stream, const char *text, size_t size, int columns);

/* Prints text in lines of the terminal's width, or 80 columns if the stream is no terminal. The first line begins with `first` spaces, the
 * others with `indent`. */
void cli_print_text(FILE *stream, int first, int indent, const char *text);

/* Prints a command line after two spaces. On a terminal, lines that would be too long are broken by a backslash. */
void cli_print_command(FILE *stream, const char *text);

/* Prints "  NAME  what it is" in lines of the terminal's width. The text begins after `columns` + 3 columns, on the next line if the name
 * is longer. On narrow terminals it begins further left. */
void cli_print_entry(FILE *stream, const char *name, int columns, const char *text);

#endif
