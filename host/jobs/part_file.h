/* SPDX-License-Identifier: MIT */
/* A part file: windows of embeddings that survive the process. One line of JSON that tells the job, then a record per window, each with the
 * hash of its bytes, and at the end one that says that nothing is missing. A process that is killed leaves a torn record at worst, which
 * the next one cuts off. Records are in the machine's byte order. */
#ifndef CLFI_JOBS_PART_FILE_H
#define CLFI_JOBS_PART_FILE_H

#include <sys/stat.h>

#include "jobs/fingerprint.h"

enum { CLI_MOST_SHARDS = 99999 };

/* Everything beside the model that determines the bytes of the windows. */
typedef struct cli_job {
    cli_fingerprint made_by;
    char input[CLFI_HASH_TEXT_BYTES]; /* hash of the file of texts */
    char *engines;                    /* that were forced */
    size_t window_texts, batch_tokens;
    size_t shard, shards; /* 1 of 1: all windows */
} cli_job;

/* The job of embedding `file` (NULL: texts that cannot be read again) with an open model. Release with
 * cli_job_free. */
clf_status cli_job_take(cli_session *session, const cli_embedding *options, const char *directory, const char *file, size_t window_texts,
                        size_t shard, size_t shards, cli_job *out);

void cli_job_free(cli_job *job);

/* INVALID_ARGUMENT names what differs, so that one must not go on with the other's windows: "WHO was begun with another ..." where that is
 * what `who` did. */
clf_status cli_job_same(const char *who, const char *did, const cli_job *before, const cli_job *now, bool on_one_device);

/* The job as a file of its own, whole or not at all, where nothing has the name yet: of several writers the first one's stays. Reading:
 * NOT_FOUND, IO, FORMAT. */
clf_status cli_job_write(const char *path, const cli_job *job);
clf_status cli_job_read(const char *path, cli_job *out);

/* The same as text, for another process; the caller frees it. */
clf_status cli_job_text(const cli_job *job, char **out);
clf_status cli_job_parse(const char *text, const char *where, cli_job *out);

typedef struct cli_part {
    char *path;
    int descriptor;    /* -1: it rests */
    struct stat known; /* the file, when it was opened first */
    cli_job job;
    uint64_t start;                 /* of the first record */
    uint64_t end;                   /* where the next record goes, or is */
    uint64_t windows, rows;         /* recorded; of a part that is read: so far */
    uint64_t last;                  /* index of the last window; meaningless where there is none */
    bool is_complete;               /* the last record says so */
    uint64_t all_windows, all_rows; /* of the whole input, where it is complete */
} cli_part;

/* Creates the file with the job. With `keeps` an existing file goes on: its torn end is cut off, and its windows are kept if they belong to
 * the same job. IO: another process has it open, a link or no regular file. FORMAT: a file that this program did not write, which is left
 * alone. The job is copied. */
clf_status cli_part_open(const char *path, const cli_job *job, bool keeps, bool on_one_device, cli_part **out);

/* For reading only; the job is the file's own. IO, FORMAT as above; *out_is_torn: FORMAT because the file ends within its first line. */
clf_status cli_part_open_complete(const char *path, bool *out_is_torn, cli_part **out);

/* Reads the part's windows: part->is_complete tells whether it has them all and its end. INVALID_ARGUMENT: it is of another job or another
 * shard. */
clf_status cli_part_check(cli_part *part, const cli_job *job, bool on_one_device);

/* Closes the part's file until the part wakes, so that there may be more parts than a process may have open files. IO (on waking): the
 * file was changed or replaced meanwhile. */
void cli_part_rest(cli_part *part);
clf_status cli_part_wake(cli_part *part);

/* Reads the job that a part file belongs to; the caller releases it. Otherwise as cli_part_open_complete. */
clf_status cli_part_job(const char *path, cli_job *out);
void cli_part_close(cli_part *part); /* NULL is a no-op */

/* *out_rows: embeddings that a part file of that name keeps. 0: there is none, it is no part file, or another process writes it, which
 * is told where it is opened for writing. */
clf_status cli_part_kept(const char *path, uint64_t *out_rows);

/* The next window is on the disk when this returns. */
clf_status cli_part_append(cli_part *part, const cli_embedded *window);
clf_status cli_part_complete(cli_part *part, uint64_t all_windows, uint64_t all_rows);

/* A part is read from its beginning: each call gives the next window, its rows in *rows, which grows and which the caller frees; *out_any
 * false at the end. texts are NULL. FORMAT: a record is broken. */
void cli_part_rewind(cli_part *part);
clf_status cli_part_next(cli_part *part, float **rows, size_t *capacity, cli_embedded *out, bool *out_any);

#endif
