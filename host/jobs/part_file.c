/* SPDX-License-Identifier: MIT */
/* Reads and writes part files, which keep windows of embeddings until all are done. */
#include "jobs/part_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/sidecar.h"
#include "io/json.h"

enum { HEADER_BYTES = 1 << 22, MOST_WIDTH = 1 << 20, MAGIC_BYTES = 8 };

static const char window_magic[] = "clf-rows", end_magic[] = "clf-done";

typedef struct record {
    char magic[MAGIC_BYTES];
    uint64_t window, first, count, width; /* in the last record: windows and rows of the whole input, 0, 0 */
    char hash[40];                        /* of these four numbers and of the rows, as text */
} record;

/* ---- The job ---- */

clf_status cli_job_take(cli_session *session, const cli_embedding *options, const char *directory, const char *file, size_t window_texts,
                        size_t shard, size_t shards, cli_job *out)
{
    clf_hasher *hasher = NULL;
    *out = (cli_job){.window_texts = window_texts, .batch_tokens = options->batch_tokens, .shard = shard, .shards = shards};
    clf_status st;
    CLF_GOTO(cli_fingerprint_take(session, options, directory, &out->made_by));
    CLF_GOTO(cli_fingerprint_canaries(session, options, &out->made_by));
    if (!file)
        return CLF_OK;
    CLF_GOTO(clfi_hasher_create(&hasher));
    CLF_GOTO(clfi_hasher_add_file(hasher, file));
    clfi_hasher_text(hasher, out->input);
done:
    clfi_hasher_destroy(hasher);
    if (st != CLF_OK)
        cli_job_free(out);
    return st;
}

void cli_job_free(cli_job *job)
{
    cli_fingerprint_free(&job->made_by);
}

static clf_status copy_job(const cli_job *from, cli_job *out)
{
    *out = *from;
    return cli_fingerprint_copy(&from->made_by, &out->made_by);
}

static clf_status same_number(const char *that, const char *what, size_t before, size_t now)
{
    if (before != now)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s another %s: %zu, here %zu", that, what, before, now);
    return CLF_OK;
}

static clf_status compare_jobs(const char *that, const cli_job *before, const cli_job *now, bool on_one_device)
{
    CLF_TRY(cli_fingerprint_same_work(that, &before->made_by, &now->made_by, on_one_device));
    if (strcmp(before->input, now->input) != 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s other texts (hash %s, here %s)", that, before->input, now->input);
    CLF_TRY(same_number(that, "--window", before->window_texts, now->window_texts));
    CLF_TRY(same_number(that, "--batch-tokens", before->batch_tokens, now->batch_tokens));
    return same_number(that, "number of shards", before->shards, now->shards);
}

clf_status cli_job_same(const char *who, const char *did, const cli_job *before, const cli_job *now, bool on_one_device)
{
    clf_str that = CLF_STR_INIT;
    clf_status st = clfi_str_appendf(&that, "%s %s", who, did);
    if (st == CLF_OK)
        st = compare_jobs(that.data, before, now, on_one_device);
    clfi_str_free(&that);
    return st;
}

clf_status cli_job_text(const cli_job *job, char **out)
{
    json_t *made_by;
    CLF_TRY(cli_fingerprint_json(&job->made_by, &made_by));
    json_t *root = json_pack("{s:s, s:o, s:s, s:I, s:I, s:I, s:I}", "schema", "clformer-part", "made_by", made_by, "input", job->input,
                             "window", (json_int_t)job->window_texts, "batch_tokens", (json_int_t)job->batch_tokens, "shard",
                             (json_int_t)job->shard, "shards", (json_int_t)job->shards);
    clf_str text = CLF_STR_INIT;
    const clf_status st = clfi_json_write(root, JSON_REAL_PRECISION(9) | JSON_COMPACT, "a part's header", &text);
    json_decref(root);
    if (st == CLF_OK)
        *out = text.data;
    else
        clfi_str_free(&text);
    return st;
}

static clf_status read_job(const json_t *root, const char *where, cli_job *out)
{
    const struct {
        const char *name;
        int64_t least, most;
        size_t *to;
    } numbers[] = {{"window", 1, CLI_WINDOW, &out->window_texts},
                   {"batch_tokens", 0, INT64_MAX, &out->batch_tokens},
                   {"shard", 1, CLI_MOST_SHARDS, &out->shard},
                   {"shards", 1, CLI_MOST_SHARDS, &out->shards}};
    const json_t *made_by;
    const char *text;
    int64_t number;
    CLF_TRY(clfi_json_get_string(root, where, "schema", &text));
    if (strcmp(text, "clformer-part") != 0)
        CLF_FAIL(CLF_FORMAT, "%s: expected the schema clformer-part, found \"%s\"", where, text);
    CLF_TRY(clfi_json_get_object(root, where, "made_by", &made_by));
    CLF_TRY(clfi_json_get_string(root, where, "input", &text));
    snprintf(out->input, sizeof out->input, "%s", text);
    for (size_t i = 0; i < COUNT(numbers); i++) {
        CLF_TRY(clfi_json_get_int(root, where, numbers[i].name, numbers[i].least, numbers[i].most, &number));
        *numbers[i].to = (size_t)number;
    }
    return cli_fingerprint_parse(made_by, where, &out->made_by);
}

/* Renames the complete file, unless a file of that name exists. */
static clf_status name_first(clf_atomic_file *file, const char *path)
{
    if (linkat(AT_FDCWD, file->temporary, AT_FDCWD, path, 0) == 0 || errno == EEXIST)
        return CLF_OK;
    return errno == EPERM || errno == ENOTSUP || errno == ENOSYS ? clfi_atomic_commit(file) /* a file system without hard links */
                                                                 : clfi_fail_errno("link to", path);
}

clf_status cli_job_write(const char *path, const cli_job *job)
{
    clf_atomic_file file;
    char *text;
    CLF_TRY(cli_job_text(job, &text));
    clf_status st = clfi_atomic_open_named(path, &file);
    if (st == CLF_OK) {
        clfi_atomic_write(&file, text, strlen(text));
        st = clfi_atomic_complete(&file);
        if (st == CLF_OK)
            st = name_first(&file, path);
        clfi_atomic_abandon(&file);
    }
    free(text);
    return st;
}

/* Releases root. */
static clf_status take_job(json_t *root, const char *where, cli_job *out)
{
    *out = (cli_job){.shard = 0};
    const clf_status st = read_job(root, where, out);
    json_decref(root);
    if (st != CLF_OK)
        cli_job_free(out);
    return st;
}

clf_status cli_job_read(const char *path, cli_job *out)
{
    json_t *root;
    CLF_TRY(clfi_json_read(path, HEADER_BYTES, &root));
    return take_job(root, path, out);
}

clf_status cli_job_parse(const char *text, const char *where, cli_job *out)
{
    json_t *root;
    CLF_TRY(clfi_json_parse(text, strlen(text), where, &root));
    return take_job(root, where, out);
}

/* ---- Bytes ---- */

static clf_status write_all(const cli_part *part, const void *data, size_t size, uint64_t at)
{
    for (size_t done = 0; done < size;) {
        const ssize_t written = pwrite(part->descriptor, (const char *)data + done, size - done, (off_t)(at + done));
        if (written < 0 && errno != EINTR)
            return clfi_fail_errno("write", part->path);
        done += written > 0 ? (size_t)written : 0;
    }
    return CLF_OK;
}

/* *out_whole false: the file ends too early. */
static clf_status read_all(const cli_part *part, void *data, size_t size, uint64_t at, bool *out_whole)
{
    *out_whole = true;
    for (size_t done = 0; done < size;) {
        const ssize_t got = pread(part->descriptor, (char *)data + done, size - done, (off_t)(at + done));
        if (got < 0 && errno != EINTR)
            return clfi_fail_errno("read", part->path);
        if (got == 0) {
            *out_whole = false;
            return CLF_OK;
        }
        done += got > 0 ? (size_t)got : 0;
    }
    return CLF_OK;
}

static clf_status sync_part(const cli_part *part)
{
    if (fdatasync(part->descriptor) != 0 && errno != EINVAL && errno != ENOSYS) /* EINVAL, ENOSYS: the file system cannot sync */
        return clfi_fail_errno("fdatasync", part->path);
    return CLF_OK;
}

static clf_status hash_record(record *r, const float *rows)
{
    clf_hasher *hasher;
    CLF_TRY(clfi_hasher_create(&hasher));
    clfi_hasher_add(hasher, &r->window, 4 * sizeof r->window);
    clfi_hasher_add(hasher, rows, r->count * r->width * sizeof *rows);
    memset(r->hash, 0, sizeof r->hash);
    clfi_hasher_text(hasher, r->hash);
    clfi_hasher_destroy(hasher);
    return CLF_OK;
}

static clf_status append(cli_part *part, const char *magic, record *r, const float *rows)
{
    const size_t bytes = r->count * r->width * sizeof *rows;
    memcpy(r->magic, magic, MAGIC_BYTES);
    CLF_TRY(hash_record(r, rows));
    CLF_TRY(write_all(part, r, sizeof *r, part->end));
    CLF_TRY(write_all(part, rows, bytes, part->end + sizeof *r));
    CLF_TRY(sync_part(part));
    part->end += sizeof *r + bytes;
    return CLF_OK;
}

clf_status cli_part_append(cli_part *part, const cli_embedded *window)
{
    record r = {.window = window->window, .first = window->first, .count = window->count, .width = window->width};
    CLF_TRY(append(part, window_magic, &r, window->rows));
    part->last = window->window;
    part->windows++;
    part->rows += window->count;
    return CLF_OK;
}

clf_status cli_part_complete(cli_part *part, uint64_t all_windows, uint64_t all_rows)
{
    record r = {.window = all_windows, .first = all_rows};
    CLF_TRY(append(part, end_magic, &r, NULL));
    part->is_complete = true;
    return CLF_OK;
}

/* The record at part->end with its rows; *out_good false: there is none that is whole. */
static clf_status read_record(cli_part *part, record *r, float **rows, size_t *capacity, bool *out_good)
{
    const uint64_t width = part->job.made_by.width;
    char hash[sizeof r->hash];
    CLF_TRY(read_all(part, r, sizeof *r, part->end, out_good));
    if (!*out_good)
        return CLF_OK;
    const bool is_end = memcmp(r->magic, end_magic, MAGIC_BYTES) == 0;
    *out_good = is_end ? r->count == 0 && r->width == 0
                       : memcmp(r->magic, window_magic, MAGIC_BYTES) == 0 && r->count > 0 && r->count <= CLI_WINDOW && r->width == width;
    if (!*out_good)
        return CLF_OK;
    const size_t numbers = (size_t)(r->count * r->width);
    CLF_TRY(clfi_grow(rows, capacity, numbers, sizeof **rows, "embeddings of a part"));
    CLF_TRY(read_all(part, *rows, numbers * sizeof **rows, part->end + sizeof *r, out_good));
    if (!*out_good)
        return CLF_OK;
    memcpy(hash, r->hash, sizeof hash);
    CLF_TRY(hash_record(r, *rows));
    *out_good = memcmp(hash, r->hash, sizeof hash) == 0;
    return CLF_OK;
}

clf_status cli_part_next(cli_part *part, float **rows, size_t *capacity, cli_embedded *out, bool *out_any)
{
    record r;
    bool is_good;
    *out_any = false;
    CLF_TRY(read_record(part, &r, rows, capacity, &is_good));
    if (!is_good)
        return CLF_OK;
    if (memcmp(r.magic, end_magic, MAGIC_BYTES) == 0) {
        part->is_complete = true;
        part->all_windows = r.window;
        part->all_rows = r.first;
        return CLF_OK;
    }
    part->end += sizeof r + (uint64_t)r.count * r.width * sizeof **rows;
    part->last = r.window;
    part->windows++;
    part->rows += r.count;
    *out = (cli_embedded){
        .rows = *rows, .count = (size_t)r.count, .width = (size_t)r.width, .window = (size_t)r.window, .first = (size_t)r.first};
    *out_any = true;
    return CLF_OK;
}

/* ---- Opening ---- */

/* Whether the file begins like a part file, even if it is truncated. */
static clf_status check_beginning(const cli_part *part)
{
    bool is_own;
    CLF_TRY(clfi_file_begins(part->descriptor, part->path, "{\"schema\":\"clformer-part\"", &is_own));
    if (!is_own)
        CLF_FAIL(CLF_FORMAT, "%s: not a part file of clformer, so it is not replaced (move it, or choose another place)", part->path);
    return CLF_OK;
}

/* *out_torn: the writing process was ended before the first line was complete. */
static clf_status read_header(cli_part *part, bool *out_torn)
{
    char *text;
    json_t *root = NULL;
    struct stat info;
    *out_torn = false;
    CLF_TRY(check_beginning(part));
    if (fstat(part->descriptor, &info) != 0)
        return clfi_fail_errno("stat", part->path);
    const size_t most = info.st_size < HEADER_BYTES ? (size_t)info.st_size : HEADER_BYTES;
    CLF_TRY(clfi_alloc(most + 1, 1, "a part's header", &text));
    bool is_whole;
    clf_status st;
    CLF_GOTO(read_all(part, text, most, 0, &is_whole));
    const char *newline = memchr(text, '\n', most);
    *out_torn = !newline && most < HEADER_BYTES;
    if (!newline)
        CLF_GOTO(clfi_fail(CLF_FORMAT, "%s: expected a first line of JSON, found no end of line in %zu bytes", part->path, most));
    part->start = part->end = (uint64_t)(newline - text) + 1;
    CLF_GOTO(clfi_json_parse(text, (size_t)(newline - text), part->path, &root));
    CLF_GOTO(read_job(root, part->path, &part->job));
    if (part->job.made_by.width > MOST_WIDTH)
        st =
            clfi_fail(CLF_FORMAT, "%s: expected vectors of at most %d numbers, found %zu", part->path, MOST_WIDTH, part->job.made_by.width);
done:
    json_decref(root);
    free(text);
    return st;
}

static clf_status write_header(cli_part *part)
{
    char *text;
    CLF_TRY(cli_job_text(&part->job, &text));
    const size_t length = strlen(text);
    text[length] = '\n'; /* in the place of the NUL */
    const clf_status st = write_all(part, text, length + 1, 0);
    part->start = part->end = length + 1;
    free(text);
    return st;
}

void cli_part_rewind(cli_part *part)
{
    part->end = part->start;
    part->windows = part->rows = 0;
}

/* Skips all complete records. */
static clf_status recover(cli_part *part)
{
    float *rows = NULL;
    size_t capacity = 0;
    cli_embedded window;
    bool any = true;
    clf_status st = CLF_OK;
    while (st == CLF_OK && any)
        st = cli_part_next(part, &rows, &capacity, &window, &any);
    free(rows);
    return st;
}

/* Opens only a regular file of that name: a link could lead to a foreign file, and a pipe would block. */
static clf_status open_file(cli_part *part, int flags, struct stat *out)
{
    struct stat info, named;
    part->descriptor = open(part->path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0666);
    if (part->descriptor < 0 && errno == ELOOP && lstat(part->path, &info) == 0 && S_ISLNK(info.st_mode))
        CLF_FAIL(CLF_IO, "%s: a link: expected a part file or nothing", part->path);
    if (part->descriptor < 0)
        return clfi_fail_errno("open", part->path);
    if (fstat(part->descriptor, &info) != 0)
        return clfi_fail_errno("stat", part->path);
    if (!S_ISREG(info.st_mode))
        CLF_FAIL(CLF_IO, "%s: not a regular file", part->path);
    *out = info;
    if (flags == O_RDONLY)
        return CLF_OK;
    if (flock(part->descriptor, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? clfi_fail(CLF_IO, "%s: another process writes it", part->path) : CLF_OK; /* a system without locks */
    if (stat(part->path, &named) != 0 || named.st_dev != info.st_dev || named.st_ino != info.st_ino)
        CLF_FAIL(CLF_IO, "%s: another process finished it just now", part->path);
    return CLF_OK;
}

static clf_status new_part(const char *path, int flags, cli_part **out)
{
    cli_part *part;
    CLF_TRY(clfi_alloc(1, sizeof *part, "part file", &part));
    part->descriptor = -1;
    clf_status st = clfi_strdup(path, &part->path);
    if (st == CLF_OK)
        st = open_file(part, flags, &part->known);
    if (st != CLF_OK) {
        cli_part_close(part);
        return st;
    }
    *out = part;
    return CLF_OK;
}

static clf_status start(cli_part *part, const cli_job *job)
{
    CLF_TRY(check_beginning(part));
    if (ftruncate(part->descriptor, 0) != 0)
        return clfi_fail_errno("ftruncate", part->path);
    cli_job_free(&part->job);
    CLF_TRY(copy_job(job, &part->job));
    return write_header(part);
}

clf_status cli_part_check(cli_part *part, const cli_job *job, bool on_one_device)
{
    CLF_TRY(cli_job_same(part->path, "was begun with", &part->job, job, on_one_device));
    if (part->job.shard != job->shard)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: expected shard %zu, found shard %zu", part->path, job->shard, part->job.shard);
    return recover(part);
}

/* Keeps the windows of a file of the same job. A file with an incomplete header holds none. */
static clf_status go_on(cli_part *part, const cli_job *job, bool on_one_device)
{
    bool is_torn;
    const clf_status st = read_header(part, &is_torn);
    if (st != CLF_OK)
        return is_torn ? start(part, job) : st;
    CLF_TRY(cli_part_check(part, job, on_one_device));
    if (!part->is_complete && ftruncate(part->descriptor, (off_t)part->end) != 0)
        return clfi_fail_errno("ftruncate", part->path);
    return CLF_OK;
}

clf_status cli_part_open(const char *path, const cli_job *job, bool keeps, bool on_one_device, cli_part **out)
{
    cli_part *part;
    struct stat info;
    CLF_TRY(new_part(path, O_RDWR | O_CREAT, &part));
    clf_status st = fstat(part->descriptor, &info) == 0 ? CLF_OK : clfi_fail_errno("stat", path);
    if (st == CLF_OK)
        st = keeps && info.st_size > 0 ? go_on(part, job, on_one_device) : start(part, job);
    if (st != CLF_OK) {
        cli_part_close(part);
        return st;
    }
    *out = part;
    return CLF_OK;
}

clf_status cli_part_open_complete(const char *path, bool *out_is_torn, cli_part **out)
{
    cli_part *part;
    *out_is_torn = false;
    CLF_TRY(new_part(path, O_RDONLY, &part));
    const clf_status st = read_header(part, out_is_torn);
    if (st != CLF_OK) {
        cli_part_close(part);
        return st;
    }
    *out = part;
    return CLF_OK;
}

clf_status cli_part_job(const char *path, cli_job *out)
{
    cli_part *part;
    bool is_torn;
    CLF_TRY(cli_part_open_complete(path, &is_torn, &part));
    *out = part->job;
    part->job = (cli_job){.shard = 0};
    cli_part_close(part);
    return CLF_OK;
}

clf_status cli_part_kept(const char *path, uint64_t *out_rows)
{
    cli_part *part;
    bool exists, is_torn;
    clf_status st = CLF_OK;
    *out_rows = 0;
    if (clfi_file_exists(path, &exists) != CLF_OK || !exists || cli_part_open_complete(path, &is_torn, &part) != CLF_OK)
        return CLF_OK;
    if (flock(part->descriptor, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        st = recover(part);
    *out_rows = part->rows;
    cli_part_close(part);
    return st;
}

void cli_part_rest(cli_part *part)
{
    if (part->descriptor >= 0)
        close(part->descriptor);
    part->descriptor = -1;
}

clf_status cli_part_wake(cli_part *part)
{
    const struct stat *then = &part->known;
    struct stat now;
    if (part->descriptor >= 0)
        return CLF_OK;
    CLF_TRY(open_file(part, O_RDONLY, &now));
    if (!clfi_file_is_same(&now, then))
        CLF_FAIL(CLF_IO, "%s: the file changed while it was being read", part->path);
    return CLF_OK;
}

void cli_part_close(cli_part *part)
{
    if (!part)
        return;
    if (part->descriptor >= 0)
        close(part->descriptor);
    cli_job_free(&part->job);
    free(part->path);
    free(part);
}
