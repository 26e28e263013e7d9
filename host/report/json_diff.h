/* SPDX-License-Identifier: MIT */
/* Lists the differences between two JSON values, for messages and comparisons of result files. */
#ifndef CLFI_REPORT_JSON_DIFF_H
#define CLFI_REPORT_JSON_DIFF_H

#include <jansson.h>

#include "base/status.h"

/* Appends {"what", "a", "b"} to `list` for each place in which the values differ, down to the members of objects and arrays. "what" is
 * `where` with the path to the place. An entry has no "a" or no "b" if that side has no value there. A missing value and null are equal,
 * and so are 1 and 1.0. a, b: NULL for no value. OUT_OF_MEMORY. */
clf_status clfi_json_diff(json_t *list, const char *where, const json_t *a, const json_t *b);

#endif
