/* SPDX-License-Identifier: MIT */
/* Two command lines for each command and each op, which --help and the manual page show. */
#ifndef CLFI_CLI_EXAMPLES_H
#define CLFI_CLI_EXAMPLES_H

enum { CLI_EXAMPLES = 2 };

/* The CLI_EXAMPLES command lines of "embed" or "op softmax", without the program's name; NULL: there are none. */
const char *const *cli_examples_of(const char *command);

#endif
