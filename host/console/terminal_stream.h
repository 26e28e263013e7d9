/* SPDX-License-Identifier: MIT */
/* Makes text safe for a terminal: bytes of models, files and users can neither move its cursor nor change its state. */
#ifndef CLFI_CONSOLE_TERMINAL_STREAM_H
#define CLFI_CONSOLE_TERMINAL_STREAM_H

/* From now on standard output and standard error, if they are terminals, show control characters and those that turn the direction of
 * text as a space each, ill-formed UTF-8 as U+FFFD; newline and tab stay. A character may come in several writes. Streams that are no
 * terminals get each byte. Call it before anything is printed. */
void cli_terminal_guard(void);

/* Writes the program's own control sequence to standard error, unfiltered, after what has been printed there. */
void cli_terminal_control(const char *sequence);

/* At the program's end: the beginning of a character that never got its end is shown as U+FFFD. */
void cli_terminal_finish(void);

#endif
