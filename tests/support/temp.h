/* SPDX-License-Identifier: MIT */
/* Makes a temporary directory for the files of one test. */
#ifndef CLF_TEST_TEMP_H
#define CLF_TEST_TEMP_H

#include <stddef.h>

enum { TEMP_PATH_BYTES = 512 };

/* Creates a new directory in $TMPDIR or /tmp; fails the test if it cannot. */
void temp_directory_make(char path[TEMP_PATH_BYTES]);

/* Removes the directory and everything in it. */
void temp_directory_remove(const char *path);

/* cmocka fixtures that make and remove temp_root. */
extern char temp_root[TEMP_PATH_BYTES];
int temp_setup(void **state);
int temp_teardown(void **state);

/* Writes directory/name to `path`, and returns `path`. */
const char *temp_path(const char *directory, const char *name, char path[TEMP_PATH_BYTES]);

/* Writes the bytes to the file directory/name; `path` and the result as in temp_path. */
const char *temp_file(const char *directory, const char *name, const void *data, size_t size, char path[TEMP_PATH_BYTES]);

/* Writes the bytes to root/path, and makes the directories of `path` that are missing. */
void temp_file_below(const char *root, const char *path, const void *data, size_t size);

/* The number of entries of a directory, without "." and "..". */
size_t temp_directory_entries(const char *path);

#endif
