/* SPDX-License-Identifier: MIT */
/* Keeps finished windows of embeddings in a part file, so that another process can continue an interrupted run. The file has one line of
 * JSON that describes the job, a record per window with a hash of its bytes, and a last record that says that nothing is missing. A process
 * that is killed leaves at worst a torn record, which the next process cuts off. Records are in the machine's byte order. */
#ifndef CLFI_JOBS_PART_FILE_H
#define CLFI_JOBS_PART_FILE_H

#include <sys/stat.h>

#include "jobs/fingerprint.h"

enum { CLI_MOST_SHARDS = 99999 };

/* Everything that determines the bytes of the windows. */
typedef struct cli_job {
    cli_fingerprint made_by;
    char input[CLFI_HASH_TEXT_BYTES]; /* hash of the file of texts; "": they came from no file */
    size_t window_texts, batch_tokens;
    size_t shard, shards; /* 1 of 1: all windows */
} cli_job;

/* The job of embedding `file` (NULL: texts that cannot be read again) with the session's open model: computes the canaries and hashes the
 * files. Release with cli_job_free. */
clf_status cli_job_take(cli_session *session, const cli_embedding *options, const char *directory, const char *file, size_t window_texts,
                        size_t shard, size_t shards, cli_job *out);

void cli_job_free(cli_job *job);

/* Checks that windows of one job may complete the other. INVALID_ARGUMENT names the first difference, "WHO DID another ...": `did` is for
 * example "was begun with". The numbers of the shards may differ. Fields of the device count only `on_one_device`. */
clf_status cli_job_same(const char *who, const char *did, const cli_job *before, const cli_job *now, bool on_one_device);

/* Writes the job as a file of its own, whole or not at all. A file that has the name already stays: the first of several writers wins,
 * except on file systems without hard links. Reading: NOT_FOUND, IO, FORMAT. */
clf_status cli_job_write(const char *path, const cli_job *job);
clf_status cli_job_read(const char *path, cli_job *out);

/* The job as text for another process, which the caller frees, and back. FORMAT: the text is not a job; `where` comes first in messages. */
clf_status cli_job_text(const cli_job *job, char **out);
clf_status cli_job_parse(const char *text, const char *where, cli_job *out);

typedef struct cli_part {
    char *path;
    int descriptor;    /* -1: closed by cli_part_rest */
    struct stat known; /* the file as it was when it was first opened */
    cli_job job;
    uint64_t start;                 /* offset of the first record */
    uint64_t end;                   /* offset of the next record to write or read */
    uint64_t windows, rows;         /* recorded; after cli_part_rewind: read so far */
    uint64_t last;                  /* index of the last window; meaningless where there is none */
    bool is_complete;               /* the last record says so */
    uint64_t all_windows, all_rows; /* of the whole input; set when the last record is read */
} cli_part;

/* Creates the file with the job, which is copied. An existing part file is emptied; with `keeps` its windows stay, and a torn end is cut
 * off. INVALID_ARGUMENT: with `keeps`, it belongs to another job or shard. IO: another process writes it, or it is a link or not a regular
 * file. FORMAT: this program did not write the file, which is left alone. */
clf_status cli_part_open(const char *path, const cli_job *job, bool keeps, bool on_one_device, cli_part **out);

/* Opens a part file for reading only; part->job is the file's own. NOT_FOUND; IO, FORMAT as above. *out_is_torn true: FORMAT because the
 * file ends within its first line. */
clf_status cli_part_open_complete(const char *path, bool *out_is_torn, cli_part **out);

/* Reads all windows of the part; then part->is_complete says whether nothing is missing. INVALID_ARGUMENT: the part belongs to another job
 * or shard. */
clf_status cli_part_check(cli_part *part, const cli_job *job, bool on_one_device);

/* Closes the part's file until the part wakes, so that there may be more parts than a process may have open files. IO (on waking): the
 * file was changed or replaced meanwhile. */
void cli_part_rest(cli_part *part);
clf_status cli_part_wake(cli_part *part);

/* Reads the job that a part file belongs to; the caller releases it. Otherwise as cli_part_open_complete. */
clf_status cli_part_job(const char *path, cli_job *out);
void cli_part_close(cli_part *part); /* NULL is a no-op */

/* *out_rows: number of embeddings that a part file of that name keeps. 0: there is no such file, it is not a part file, or another process
 * writes it; cli_part_open reports the last two. */
clf_status cli_part_kept(const char *path, uint64_t *out_rows);

/* Appends a window, or the record that nothing is missing. It is on the disk when the call returns. IO, OUT_OF_MEMORY. */
clf_status cli_part_append(cli_part *part, const cli_embedded *window);
clf_status cli_part_complete(cli_part *part, uint64_t all_windows, uint64_t all_rows);

/* Reads a part from its beginning: rewind, then each call of next returns one window. Its rows are in *rows [*capacity], which grows as
 * needed and which the caller frees; its texts are NULL. *out_any false: no window is left, or the next record is broken; then
 * part->is_complete says whether nothing is missing. IO, OUT_OF_MEMORY. */
void cli_part_rewind(cli_part *part);
clf_status cli_part_next(cli_part *part, float **rows, size_t *capacity, cli_embedded *out, bool *out_any);

#endif
