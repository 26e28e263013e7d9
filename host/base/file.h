/* SPDX-License-Identifier: MIT */
/* Files: reading with limits, and writing that leaves either the old file or the complete new one. Mapping: base/file_map.h. */
#ifndef CLFI_BASE_FILE_H
#define CLFI_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/status.h"
#include "base/str.h"

/* NOT_FOUND, OUT_OF_MEMORY or IO by errno, as "open PATH: No such file or directory"; returned. */
clf_status clfi_fail_errno(const char *verb, const char *path);

/* Opens a regular file for reading; the caller closes *out. NOT_FOUND: no such file; IO: anything else, also a pipe or a device, which
 * could keep the reader waiting for ever. */
clf_status clfi_file_open_regular(const char *path, int *out);

/* Appends the whole regular file to `out`. FORMAT when it is larger than `limit` bytes; NOT_FOUND and IO as clfi_file_open_regular. */
clf_status clfi_file_read(const char *path, size_t limit, clf_str *out);

/* The same from where an open file stands; `name` stands for the path in messages. */
clf_status clfi_descriptor_read(int descriptor, const char *name, size_t limit, clf_str *out);

/* clfi_file_read of a text into an empty `out`, without a byte order mark. FORMAT: also another encoding (base/text_start.h). */
clf_status clfi_text_read(const char *path, size_t limit, clf_str *out);

/* Bytes of a model's file that is read whole, at most: its JSON files and vocabularies. The largest known tokenizer.json has 33 MB. */
enum { CLFI_MODEL_FILE_BYTES = 256 << 20 };

/* One line of a stream into *line (cleared before), without its newline; *out_any false: the stream has ended. number: the line's, from 1;
 * the first loses a byte order mark. FORMAT: longer than `limit` bytes, which names the line; another encoding, by the first line
 * (base/text_start.h); IO: the stream failed. */
clf_status clfi_line_read(FILE *stream, const char *name, size_t number, size_t limit, clf_str *line, bool *out_any);

/* Bytes of such a line without a "\r" at its end. */
size_t clfi_line_length(const clf_str *line);

/* The path that `path` leads to through symbolic links; the last link may name a file that does not exist yet. Newly allocated. IO: the
 * links loop. */
clf_status clfi_path_follow(const char *path, char **out);

/* Whether something bears the name. Only a name that is not there is absent, so that no file which someone put there is passed over. IO: a
 * link leads nowhere, a folder may not be searched, or the system cannot tell. */
clf_status clfi_file_exists(const char *path, bool *out);

/* directory + "/" + name, newly allocated; *out NULL: nothing there bears the name, or `directory` is none (but a file, which may hold a
 * whole model). IO as clfi_file_exists. */
clf_status clfi_file_find(const char *directory, const char *name, char **out);

/* NOT_FOUND: nothing bears the name. IO as clfi_file_exists. */
clf_status clfi_file_need(const char *path);

/* Whether a file is the one it was, and neither its size nor its time of change is another. */
bool clfi_file_is_same(const struct stat *now, const struct stat *then);

/* Whether a directory bears the name. IO as clfi_file_exists. */
clf_status clfi_directory_exists(const char *path, bool *out);

/* Creates `path` and its missing parents with mode 0700. */
clf_status clfi_make_directories(const char *path);

/* A new directory NAME-XXXXXX in $TMPDIR or /tmp; the caller removes it and frees its path. */
clf_status clfi_temporary_directory(const char *name, char **out);

/* A file written beside its destination and renamed over it by commit; where the system can, without a name until then. */
typedef struct clf_atomic_file {
    FILE *stream;    /* write by clfi_atomic_write and _printf, so that commit knows the reason of what failed */
    char *path;      /* as it was asked for */
    char *target;    /* where its links lead; NULL: a pipe or device */
    char *temporary; /* NULL: a pipe or device */
    int sink;        /* of a pipe or device that gets all bytes at commit; else -1 */
    int fault;       /* errno of the first write that failed; 0: none did */
    bool is_nameless;
    bool is_complete;
    bool is_expendable; /* set it after opening: commit doesn't wait for the disk, what a crash of the machine loses is made again */
} clf_atomic_file;

/* Links are followed to the file they name, which keeps its mode and, where the system allows, its owner. IO: not a regular file, or one
 * that this user may not write. */
clf_status clfi_atomic_open(const char *path, clf_atomic_file *out);

/* The same, but out->temporary is a name of its own from the beginning, by which other processes can write the file. */
clf_status clfi_atomic_open_named(const char *path, clf_atomic_file *out);

/* commit reports the first failure of these two, with its reason. They return false after a failure, so that a long output may stop. */
bool clfi_atomic_write(clf_atomic_file *file, const void *data, size_t size);
bool clfi_atomic_printf(clf_atomic_file *file, const char *format, ...) CLFI_PRINTF(2, 3);

/* Flushes, checks every write and syncs, so that only the renaming can still fail in commit. A pipe or device has got all bytes then.
 * Does nothing for a file that is complete. After a failure nothing is left, and abandon is a no-op. */
clf_status clfi_atomic_complete(clf_atomic_file *file);
clf_status clfi_atomic_commit(clf_atomic_file *file); /* completes and renames; closes in any case */

/* Two outputs that belong together. Both are complete before the first gets its name. A file gets it before a pipe or device, which cannot
 * be taken back. Where one cannot get its name, the other gives its own back. Closes both in any case. */
clf_status clfi_atomic_commit_pair(clf_atomic_file *file, clf_atomic_file *beside);
void clfi_atomic_abandon(clf_atomic_file *file); /* removes the temporary, also a complete one; no-op after commit */

/* For a signal handler that ends the process: removes the temporary files that have a name. */
void clfi_atomic_remove_named(void);

/* The same for output that a user named. It may also be a pipe, a device or "-" (standard output, also by its other names). Such output is
 * written as the bytes come, or at commit with `seeks`, for formats whose beginning is written last. Waits until a pipe is read. */
clf_status clfi_output_open(const char *path, bool seeks, clf_atomic_file *out);

/* clfi_output_open, write, commit. */
clf_status clfi_output_write(const char *path, const void *data, size_t size);

/* Kind of an output: a file that is replaced when all is written; a pipe or device, which gets each byte once; standard output, by
 * any name. IO: a directory, links that loop. */
typedef enum clf_output_place { CLF_OUTPUT_FILE, CLF_OUTPUT_STREAM, CLF_OUTPUT_STANDARD } clf_output_place;
clf_status clfi_output_find(const char *path, clf_output_place *out);

/* A file without a name in the folder of `path`, for what a process keeps meanwhile; -1 where it fails. NOT_FOUND, IO. */
clf_status clfi_spool_open(const char *path, int *out);

/* Tells before the work what clfi_output_open would refuse after it; creates nothing. `is_file`: pipes, devices and "-" won't do. */
clf_status clfi_output_check(const char *path, bool is_file);

/* *out_same: two outputs by these names would be one file, pipe or standard output, in which one of them is lost. IO as above. */
clf_status clfi_outputs_are_same(const char *a, const char *b, bool *out_same);

/* clfi_atomic_open, write, commit. */
clf_status clfi_file_write(const char *path, const void *data, size_t size);

/* The directory that holds path, for opening; newly allocated. */
clf_status clfi_path_directory(const char *path, char **out);

/* directory + "/" + name, newly allocated. */
clf_status clfi_path_join(const char *directory, const char *name, char **out);

/* $XDG_<...> or its default below $HOME, then "/clformer": e.g. ("XDG_CACHE_HOME", ".cache"). NOT_FOUND when HOME is unset too. */
clf_status clfi_user_directory(const char *variable, const char *home_default, char **out);

#endif
