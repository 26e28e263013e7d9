/* SPDX-License-Identifier: MIT */
/* JSON on standard output. */
#ifndef CLFI_CONSOLE_JSON_LINE_H
#define CLFI_CONSOLE_JSON_LINE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"

/* Prints value as clfi_json_write does with these flags, and a newline; takes value, also where it fails. value NULL or is_whole false:
 * there was no memory to make it. what: its name for the error, "similarities". CLF_OUT_OF_MEMORY. */
clf_status cli_json_print(json_t *value, bool is_whole, size_t flags, const char *what);

#endif
