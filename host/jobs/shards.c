/* SPDX-License-Identifier: MIT */
/* Embeds one shard of a file of texts into a part file. */
#include "jobs/shards.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "jobs/pool.h"
#include "console/progress.h"

clf_status cli_shard_parse(const char *text, size_t *out_shard, size_t *out_shards)
{
    char *end = NULL, *last = NULL;
    const unsigned long shard = text[0] >= '0' && text[0] <= '9' ? strtoul(text, &end, 10) : 0;
    const unsigned long shards = end && *end == '/' && end[1] >= '0' && end[1] <= '9' ? strtoul(end + 1, &last, 10) : 0;
    if (shard < 1 || shard > shards || shards > CLI_MOST_SHARDS || *last)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--shard: expected i/N with i from 1 to N, N at most %d, found \"%s\"", CLI_MOST_SHARDS, text);
    *out_shard = shard;
    *out_shards = shards;
    return CLF_OK;
}

clf_status cli_manifest_path(const char *directory, char **out)
{
    return clfi_path_join(directory, "manifest.json", out);
}

clf_status cli_shard_path(const char *directory, size_t shard, size_t shards, bool is_done, char **out)
{
    char name[64];
    snprintf(name, sizeof name, "shard-%05zu-of-%05zu.%s", shard, shards, is_done ? "done" : "part");
    return clfi_path_join(directory, name, out);
}

/* The first shard writes the manifest; the others compare their job with it. */
static clf_status agree(const char *directory, const cli_job *job)
{
    char *path;
    bool exists;
    cli_job first = {.shard = 0};
    CLF_TRY(cli_manifest_path(directory, &path));
    clf_status st;
    CLF_GOTO(clfi_file_exists(path, &exists));
    if (!exists)
        CLF_GOTO(cli_job_write(path, job));
    CLF_GOTO(cli_job_read(path, &first));
    st = cli_job_same(path, "was begun with", &first, job, false);
done:
    cli_job_free(&first);
    free(path);
    return st;
}

typedef struct shard_run {
    const cli_inputs *inputs;
    cli_part *part;
} shard_run;

static bool wants(void *user, size_t window)
{
    const shard_run *run = user;
    const cli_part *part = run->part;
    return window % part->job.shards == part->job.shard - 1 && !(part->windows && window <= part->last);
}

static clf_status keep(void *user, const cli_embedded *window)
{
    const shard_run *run = user;
    cli_part *part = run->part;
    CLF_TRY(cli_inputs_check_stays(run->inputs));
    CLF_TRY(cli_part_append(part, window));
    cli_interrupts_say("%llu %s kept in %s: the same command continues", (unsigned long long)part->rows,
                       clfi_plural(part->rows, "embedding is", "embeddings are"), part->path);
    return CLF_OK;
}

static clf_status complete(cli_session *session, const cli_embedding *options, cli_inputs *inputs, cli_part *part, const char *done_path,
                           clf_embed_stats *stats)
{
    shard_run run = {inputs, part};
    inputs->wants = wants;
    inputs->wants_user = &run;
    if (!part->is_complete) {
        CLF_TRY(cli_pool_embed(session, options, inputs, keep, &run, stats));
        CLF_TRY(cli_part_complete(part, inputs->windows, inputs->total + inputs->count));
    }
    if (rename(part->path, done_path) != 0)
        return clfi_fail_errno("rename to", done_path);
    return CLF_OK;
}

/* *out_is_torn: the file ends within its first line, so it holds no window. *out_is_complete: nothing is missing. */
static clf_status check_done(const char *done_path, const cli_job *job, bool *out_is_torn, bool *out_is_complete)
{
    cli_part *part;
    *out_is_complete = false;
    const clf_status opened = cli_part_open_complete(done_path, out_is_torn, &part);
    if (opened != CLF_OK)
        return *out_is_torn ? CLF_OK : opened;
    const clf_status st = cli_part_check(part, job, false);
    *out_is_complete = part->is_complete;
    cli_part_close(part);
    return st;
}

/* *out: whether the shard is done. A .done file that is damaged, for example by a disk, becomes a .part file again and is completed. */
static clf_status find_done(const char *done_path, const char *path, const cli_job *job, bool *out)
{
    bool is_torn;
    CLF_TRY(clfi_file_exists(done_path, out));
    if (!*out)
        return CLF_OK;
    CLF_TRY(check_done(done_path, job, &is_torn, out));
    if (*out)
        return CLF_OK;
    cli_line_clear();
    fprintf(stderr, "clformer: %s: incomplete; %s\n", done_path, is_torn ? "the shard starts over" : "its undamaged records are kept");
    return rename(done_path, path) == 0 ? CLF_OK : clfi_fail_errno("rename to", path);
}

clf_status cli_embed_shard(cli_session *session, const cli_embedding *options, const cli_job *job, cli_inputs *inputs,
                           const char *directory, clf_embed_stats *stats)
{
    char *path = NULL, *done_path = NULL;
    cli_part *part = NULL;
    bool is_done;
    clf_status st;
    CLF_GOTO(cli_inputs_check_stays(inputs)); /* the job's hash of the file was made after the file was opened */
    CLF_GOTO(clfi_make_directories(directory));
    CLF_GOTO(agree(directory, job));
    CLF_GOTO(cli_shard_path(directory, job->shard, job->shards, false, &path));
    CLF_GOTO(cli_shard_path(directory, job->shard, job->shards, true, &done_path));
    CLF_GOTO(find_done(done_path, path, job, &is_done));
    if (is_done)
        goto done;
    CLF_GOTO(cli_part_open(path, job, true, false, &part));
    st = complete(session, options, inputs, part, done_path, stats);
done:
    cli_part_close(part);
    free(path);
    free(done_path);
    return st;
}
