/* SPDX-License-Identifier: MIT */
/* A temporary directory for the files of one test. */
#ifndef CLF_TEST_TEMP_H
#define CLF_TEST_TEMP_H

#include <stddef.h>

enum { TEMP_PATH_BYTES = 512 };

/* Creates a fresh directory below $TMPDIR or /tmp; fails the test when it cannot. */
void temp_directory_make(char path[TEMP_PATH_BYTES]);

/* Removes it with all that is in it. */
void temp_directory_remove(const char *path);

/* The same directory as cmocka fixtures. */
extern char temp_root[TEMP_PATH_BYTES];
int temp_setup(void **state);
int temp_teardown(void **state);

/* directory/name into `path`, which is returned. */
const char *temp_path(const char *directory, const char *name, char path[TEMP_PATH_BYTES]);

/* Writes the bytes to directory/name and gives the path as temp_path does. */
const char *temp_file(const char *directory, const char *name, const void *data, size_t size, char path[TEMP_PATH_BYTES]);

/* Writes the bytes to root/path, a path of several directories, which are made. */
void temp_file_below(const char *root, const char *path, const void *data, size_t size);

/* The entries of a directory besides "." and "..". */
size_t temp_directory_entries(const char *path);

#endif
