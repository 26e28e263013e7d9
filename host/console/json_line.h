/* SPDX-License-Identifier: MIT */
/* Prints JSON results on standard output. */
#ifndef CLFI_CONSOLE_JSON_LINE_H
#define CLFI_CONSOLE_JSON_LINE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"

/* Prints value as clfi_json_write writes it with these flags, and a newline; takes over the reference, also on failure. what: name for the
 * error, "similarities". OUT_OF_MEMORY, also if the caller lacked memory for it: value NULL or is_whole false. */
clf_status cli_json_print(json_t *value, bool is_whole, size_t flags, const char *what);

#endif
