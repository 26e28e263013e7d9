/* SPDX-License-Identifier: MIT */
/* Files mapped into memory for reading, shared by reference. A file that is truncated or written to meanwhile is an error, never a
 * crash. */
#ifndef CLFI_BASE_FILE_MAP_H
#define CLFI_BASE_FILE_MAP_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/status.h"

typedef struct clf_file_map {
    const uint8_t *data; /* page aligned; NULL when size is 0 */
    size_t size;
    char *path;
    int descriptor; /* -1: the data is the caller's memory */
    struct timespec modified;
    struct guarded_range *guard;
    atomic_size_t references;
} clf_file_map;

/* Maps a regular file privately (pages are loaded on use). *out holds one reference. NOT_FOUND: no such file; IO: anything else.
 *
 * Reading a page that the file no longer has raises SIGBUS, in whichever thread reads: a driver's, where a device uses the file in place.
 * Mapping therefore installs a handler for that signal in the process. For addresses in mapped files it puts a page of zeros
 * there, and clfi_file_map_check reports the change; every other address goes to the handler that was there before. (Reading files instead
 * would copy gigabytes of weights that a CPU uses in place and that the system shares between processes.) */
clf_status clfi_file_map(const char *path, clf_file_map **out);

/* Wraps memory of the caller's, which must outlive the map. `name` stands for the path in messages. OUT_OF_MEMORY. */
clf_status clfi_file_map_borrow(const void *data, size_t size, const char *name, clf_file_map **out);

clf_file_map *clfi_file_map_retain(clf_file_map *map);
void clfi_file_map_release(clf_file_map *map); /* unmaps with the last reference; NULL is a no-op */

/* IO when the file's size or time of change is no longer what it was when it was mapped: what was read since may be wrong. */
clf_status clfi_file_map_check(const clf_file_map *map);

/* Tells the system that bytes [offset, offset+size) will not be read again soon; they stay readable (from the file). */
void clfi_file_map_forget(const clf_file_map *map, size_t offset, size_t size);

#endif
