/* SPDX-License-Identifier: MIT */
/* Lists the names of files in a directory. */
#ifndef CLFI_JOBS_DIRECTORY_H
#define CLFI_JOBS_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* Lists the names for which `wanted` returns true (NULL: all but hidden ones), sorted by their bytes. The caller sets *names to NULL and
 * *count to 0 before, and frees the names by cli_directory_list_free, also after a failure. NOT_FOUND, IO, OUT_OF_MEMORY. */
clf_status cli_directory_list(const char *directory, bool (*wanted)(const char *name), char ***names, size_t *count);
void cli_directory_list_free(char **names, size_t count);

#endif
