/* SPDX-License-Identifier: MIT */
/* Files: read-only mapping, whole-file reading, and writing that leaves either the old file or the complete new one. */
#ifndef CLFI_BASE_FILE_H
#define CLFI_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "base/str.h"

typedef struct clf_file_map {
    const uint8_t *data; /* page aligned; NULL when size is 0 */
    size_t size;
} clf_file_map;

/* Maps a regular file privately (pages are loaded on use). NOT_FOUND: no such file; IO: anything else. Release with clfi_file_unmap. */
clf_status clfi_file_map(const char *path, clf_file_map *out);
void clfi_file_unmap(clf_file_map *map);

/* Tells the system that bytes [offset, offset+size) will not be read again soon; they stay readable (from the file). */
void clfi_file_map_forget(const clf_file_map *map, size_t offset, size_t size);

/* Appends the whole file (pipe or regular) to `out`. FORMAT when it is larger than `limit` bytes. */
clf_status clfi_file_read(const char *path, size_t limit, clf_str *out);

bool clfi_file_exists(const char *path);
bool clfi_directory_exists(const char *path);

/* Creates `path` and its missing parents with mode 0700. */
clf_status clfi_make_directories(const char *path);

/* A file written beside its destination and renamed over it by commit; where the system can, without a name until then. */
typedef struct clf_atomic_file {
    FILE *stream; /* write here */
    char *path;
    char *temporary;
    bool is_nameless;
} clf_atomic_file;

clf_status clfi_atomic_open(const char *path, clf_atomic_file *out);
clf_status clfi_atomic_commit(clf_atomic_file *file); /* flushes, checks every write, renames; closes in any case */
void clfi_atomic_abandon(clf_atomic_file *file);      /* removes the temporary; no-op after commit */

/* The three steps at once. */
clf_status clfi_file_write(const char *path, const void *data, size_t size);

/* directory + "/" + name, newly allocated. */
clf_status clfi_path_join(const char *directory, const char *name, char **out);

/* $XDG_<...> or its default below $HOME, then "/clformer": e.g. ("XDG_CACHE_HOME", ".cache"). NOT_FOUND when HOME is unset too. */
clf_status clfi_user_directory(const char *variable, const char *home_default, char **out);

#endif
