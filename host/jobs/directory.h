/* SPDX-License-Identifier: MIT */
/* Lists a directory. */
#ifndef CLFI_JOBS_DIRECTORY_H
#define CLFI_JOBS_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* The names in it for which `wanted` holds (NULL: all but hidden ones), sorted; starts from names NULL, count 0. The caller frees them,
 * also after a failure. */
clf_status cli_directory_list(const char *directory, bool (*wanted)(const char *name), char ***names, size_t *count);
void cli_directory_list_free(char **names, size_t count);

#endif
