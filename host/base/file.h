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

/* Records errno as the reason, "open PATH: No such file or directory", and returns NOT_FOUND, OUT_OF_MEMORY or IO. */
clf_status clfi_fail_errno(const char *verb, const char *path);

/* Opens a regular file for reading; the caller closes *out. NOT_FOUND: no such file; IO: anything else, also a pipe or a device, which
 * could keep the reader waiting for ever. */
clf_status clfi_file_open_regular(const char *path, int *out);

/* Appends the whole regular file to `out`. FORMAT when it is larger than `limit` bytes; NOT_FOUND and IO as clfi_file_open_regular. */
clf_status clfi_file_read(const char *path, size_t limit, clf_str *out);

/* Appends an open file from its current position to its end; `name` stands for the path in messages. FORMAT, IO. */
clf_status clfi_descriptor_read(int descriptor, const char *name, size_t limit, clf_str *out);

/* clfi_file_read of a text into an empty `out`, without a byte order mark. FORMAT also: an encoding other than UTF-8
 * (base/text_start.h). */
clf_status clfi_text_read(const char *path, size_t limit, clf_str *out);

/* Limit of a model's files that are read whole: JSON files and vocabularies. The largest known tokenizer.json has 33 MB. */
enum { CLFI_MODEL_FILE_BYTES = 256 << 20 };

/* Reads one line of a stream into *line (cleared first), without its newline. *out_any false: the stream has ended. number: the line's
 * number, from 1; line 1 loses a byte order mark. FORMAT: a line longer than `limit` bytes (named by its number), or a line 1 in another
 * encoding than UTF-8 (base/text_start.h). IO: the stream failed. */
clf_status clfi_line_read(FILE *stream, const char *name, size_t number, size_t limit, clf_str *line, bool *out_any);

/* Length of such a line in bytes, without a "\r" at its end. */
size_t clfi_line_length(const clf_str *line);

/* The path that `path` leads to through symbolic links; the last link may name a file that does not exist yet. Newly allocated. IO: the
 * links loop. */
clf_status clfi_path_follow(const char *path, char **out);

/* *out: whether something has this name. A name that cannot be looked up is an error and does not count as absent, so that a file which is
 * there is never ignored. IO: a link leads nowhere, a folder may not be searched, or another error of the system. */
clf_status clfi_file_exists(const char *path, bool *out);

/* directory + "/" + name, newly allocated. *out NULL: nothing there has this name, or `directory` is not a directory (it may be a file that
 * holds a whole model). IO as clfi_file_exists. */
clf_status clfi_file_find(const char *directory, const char *name, char **out);

/* NOT_FOUND: nothing has this name. IO as clfi_file_exists. */
clf_status clfi_file_need(const char *path);

/* Whether both describe the same file with the same size and the same time of change. */
bool clfi_file_is_same(const struct stat *now, const struct stat *then);

/* *out: whether a directory has this name. IO as clfi_file_exists. */
clf_status clfi_directory_exists(const char *path, bool *out);

/* Creates `path` and its missing parents with mode 0700. */
clf_status clfi_make_directories(const char *path);

/* A new directory NAME-XXXXXX in $TMPDIR or /tmp; the caller removes it and frees its path. */
clf_status clfi_temporary_directory(const char *name, char **out);

/* A file that is written beside its destination and renamed over it by commit. If the system allows it, the file has no name until then. */
typedef struct clf_atomic_file {
    FILE *stream;    /* write by clfi_atomic_write and _printf, so that commit knows the reason of what failed */
    char *path;      /* as it was asked for */
    char *target;    /* where its links lead; NULL: a pipe or device */
    char *temporary; /* NULL: a pipe or device */
    int sink;        /* of a pipe or device that gets all bytes at commit; else -1 */
    int fault;       /* errno of the first write that failed; 0: none did */
    bool is_nameless;
    bool is_complete;
    bool is_expendable; /* set after opening if the file can be made again after a crash of the machine: commit doesn't wait for the disk */
} clf_atomic_file;

/* Links are followed to the file they name, which keeps its mode and, where the system allows, its owner. NOT_FOUND: the folder does not
 * exist. IO: not a regular file, or one that this user may not write. */
clf_status clfi_atomic_open(const char *path, clf_atomic_file *out);

/* clfi_atomic_open, but the temporary file has a name, out->temporary, from the beginning, so that other processes can write it. */
clf_status clfi_atomic_open_named(const char *path, clf_atomic_file *out);

/* commit reports the first failure of these two, with its reason. They return false after a failure, so that a long output may stop. */
bool clfi_atomic_write(clf_atomic_file *file, const void *data, size_t size);
bool clfi_atomic_printf(clf_atomic_file *file, const char *format, ...) CLFI_PRINTF(2, 3);

/* Flushes, checks every write and syncs, so that only the renaming can still fail in commit. A pipe or device has got all bytes then.
 * Does nothing for a file that is complete. After a failure nothing is left, and abandon is a no-op. */
clf_status clfi_atomic_complete(clf_atomic_file *file);
clf_status clfi_atomic_commit(clf_atomic_file *file); /* completes and renames; closes in any case */

/* Commits two outputs that belong together. A file is complete before a pipe or device gets its bytes, which cannot be taken back. Both are
 * complete before a file gets its name. If the second of two files cannot be renamed, the first renaming is undone: the file that it
 * replaced is kept until both have their names. Closes both in any case. */
clf_status clfi_atomic_commit_pair(clf_atomic_file *file, clf_atomic_file *beside);
void clfi_atomic_abandon(clf_atomic_file *file); /* removes the temporary, also a complete one; no-op after commit */

/* For a signal handler that ends the process: removes the temporary files that have a name. */
void clfi_atomic_remove_named(void);

/* clfi_atomic_open for output that a user named. It may also be a pipe, a device or "-" (standard output, also by its other names). These
 * get the bytes as they come, or at commit with `seeks`, for formats whose beginning is written last. Opening a pipe waits for its
 * reader. */
clf_status clfi_output_open(const char *path, bool seeks, clf_atomic_file *out);

/* clfi_output_open, write, commit. */
clf_status clfi_output_write(const char *path, const void *data, size_t size);

/* Kind of an output: a file that is replaced when all is written; a pipe or device, which gets each byte once; standard output, by
 * any name. find returns IO for a directory or links that loop. */
typedef enum clf_output_place { CLF_OUTPUT_FILE, CLF_OUTPUT_STREAM, CLF_OUTPUT_STANDARD } clf_output_place;
clf_status clfi_output_find(const char *path, clf_output_place *out);

/* Opens a file without a name in the folder of `path`, for temporary data of this process. *out -1: it failed, with NOT_FOUND or IO. */
clf_status clfi_spool_open(const char *path, int *out);

/* Checks before the work what clfi_output_open would refuse after it; creates nothing. is_file true: pipes, devices and "-" are refused. */
clf_status clfi_output_check(const char *path, bool is_file);

/* *out_same: two outputs by these names would be one file, pipe or standard output, in which one of them is lost. IO as above. */
clf_status clfi_outputs_are_same(const char *a, const char *b, bool *out_same);

/* clfi_atomic_open, write, commit. */
clf_status clfi_file_write(const char *path, const void *data, size_t size);

/* The directory that holds path, for opening; newly allocated. */
clf_status clfi_path_directory(const char *path, char **out);

/* directory + "/" + name, newly allocated. */
clf_status clfi_path_join(const char *directory, const char *name, char **out);

/* The path, below the working directory if it is relative, newly allocated. It stays right when the caller changes that directory. */
clf_status clfi_path_absolute(const char *path, char **out);

/* $XDG_<...> or its default below $HOME, then "/clformer": e.g. ("XDG_CACHE_HOME", ".cache"). NOT_FOUND when HOME is unset too. */
clf_status clfi_user_directory(const char *variable, const char *home_default, char **out);

#endif
