/* SPDX-License-Identifier: MIT */
/* clformer gather: joins the shards of a file of texts into one file of embeddings. Needs no device. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/str.h"
#include "cli/commands.h"
#include "jobs/embedding.h"
#include "console/progress.h"
#include "jobs/shards.h"

typedef struct gathering {
    cli_job job;      /* from the manifest */
    cli_part **parts; /* [shards]; closed except while they are read, since a process may not have so many files open */
    float *rows;
    size_t capacity;
} gathering;

static clf_status open_parts(const char *directory, gathering *g)
{
    size_t missing = 0, first = 0;
    CLF_TRY(clfi_alloc(g->job.shards, sizeof *g->parts, "shards", &g->parts));
    for (size_t i = 0; i < g->job.shards; i++) {
        char *path;
        bool is_there, is_torn;
        CLF_TRY(cli_shard_path(directory, i + 1, g->job.shards, true, &path));
        clf_status st = clfi_file_exists(path, &is_there);
        if (st == CLF_OK && is_there)
            st = cli_part_open_complete(path, &is_torn, &g->parts[i]);
        free(path);
        CLF_TRY(st);
        if (is_there)
            cli_part_rest(g->parts[i]);
        if (!is_there && missing++ == 0)
            first = i + 1;
    }
    if (missing)
        CLF_FAIL(CLF_NOT_FOUND, "%s: %zu of %zu shards are unfinished, the first is %zu (run embed --shard %zu/%zu again)", directory,
                 missing, g->job.shards, first, first, g->job.shards);
    return CLF_OK;
}

static clf_status check_parts(gathering *g)
{
    for (size_t i = 0; i < g->job.shards; i++) {
        CLF_TRY(cli_job_same(g->parts[i]->path, "was begun with", &g->parts[i]->job, &g->job, false));
        if (g->parts[i]->job.shard != i + 1)
            CLF_FAIL(CLF_FORMAT, "%s: expected shard %zu, found shard %zu", g->parts[i]->path, i + 1, g->parts[i]->job.shard);
        CLF_TRY(
            cli_fingerprint_same_canaries(g->parts[i]->path, &g->parts[i]->job.made_by, "the first shard's", &g->parts[0]->job.made_by));
    }
    return CLF_OK;
}

static clf_status next(gathering *g, cli_part *part, cli_embedded *window, bool *out_any)
{
    CLF_TRY(cli_part_wake(part));
    const clf_status st = cli_part_next(part, &g->rows, &g->capacity, window, out_any);
    cli_part_rest(part);
    return st;
}

/* Checks that each part is at its end and records `windows` and `rows`, what all parts held together. */
static clf_status check_ends(gathering *g, uint64_t windows, uint64_t rows)
{
    for (size_t i = 0; i < g->job.shards; i++) {
        cli_embedded window;
        cli_part *part = g->parts[i];
        bool any;
        CLF_TRY(next(g, part, &window, &any));
        if (any || !part->is_complete)
            CLF_FAIL(CLF_FORMAT, "%s: the record after window %llu is damaged or unexpected", part->path,
                     (unsigned long long)part->windows);
        if (part->all_windows != windows || part->all_rows != rows)
            CLF_FAIL(CLF_FORMAT, "%s: expected %llu windows of %llu texts in all shards, found %llu of %llu", part->path,
                     (unsigned long long)part->all_windows, (unsigned long long)part->all_rows, (unsigned long long)windows,
                     (unsigned long long)rows);
    }
    return CLF_OK;
}

static clf_status join(gathering *g, clf_npy_writer *npy)
{
    uint64_t rows = 0, index = 0;
    for (;; index++) {
        cli_embedded window;
        cli_part *part = g->parts[index % g->job.shards];
        bool any;
        CLF_TRY(next(g, part, &window, &any));
        if (!any)
            break;
        if (window.window != index || window.first != rows)
            CLF_FAIL(CLF_FORMAT, "%s: expected window %llu from text %llu, found window %zu from text %zu", part->path,
                     (unsigned long long)index, (unsigned long long)rows, window.window, window.first);
        CLF_TRY(clfi_npy_writer_append(npy, window.rows, window.count));
        rows += window.count;
        cli_line_show("%llu %s", (unsigned long long)rows, clfi_plural(rows, "embedding", "embeddings"));
    }
    return check_ends(g, index, rows);
}

static bool is_same_file(const char *path, const struct stat *other)
{
    struct stat info;
    return stat(path, &info) == 0 && info.st_dev == other->st_dev && info.st_ino == other->st_ino;
}

/* Checks that neither the output nor the fingerprint beside it is one of the inputs, under any name. */
static clf_status check_output(const char *output, const char *manifest, const gathering *g)
{
    struct stat info;
    clf_str beside = CLF_STR_INIT;
    const char *taken = NULL;
    clf_status st = clfi_str_appendf(&beside, "%s.json", output);
    for (int i = 0; st == CLF_OK && !taken && i < 2; i++) {
        if (stat(i == 0 ? output : beside.data, &info) != 0)
            continue;
        taken = is_same_file(manifest, &info) ? manifest : NULL;
        for (size_t s = 0; !taken && s < g->job.shards; s++)
            if (g->parts[s]->known.st_dev == info.st_dev && g->parts[s]->known.st_ino == info.st_ino)
                taken = g->parts[s]->path;
    }
    if (taken)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "-o %s would replace %s, which is read (choose another name)", output, taken);
    clfi_str_free(&beside);
    return st;
}

/* Reads the manifest, opens all parts and checks the output's name. */
static clf_status read_directory(const char *directory, const char *output, gathering *g)
{
    char *path;
    clf_status st;
    CLF_TRY(cli_manifest_path(directory, &path));
    CLF_GOTO(cli_job_read(path, &g->job));
    CLF_GOTO(open_parts(directory, g));
    st = check_output(output, path, g);
done:
    free(path);
    return st;
}

static clf_status gather(const char *directory, const char *output, gathering *g)
{
    clf_npy_writer *npy;
    CLF_TRY(read_directory(directory, output, g));
    CLF_TRY(cli_fingerprint_check_place(output));
    CLF_TRY(check_parts(g));
    cli_interrupts_watch();
    cli_interrupts_say("nothing was written to %s", output);
    const int64_t width = (int64_t)g->parts[0]->job.made_by.width;
    CLF_TRY(clfi_npy_writer_open(output, CLF_FILE_F32, 1, &width, &npy));
    const clf_status st = join(g, npy);
    cli_line_clear();
    if (st != CLF_OK) {
        clfi_npy_writer_abandon(npy);
        return st;
    }
    return cli_fingerprint_commit(&g->parts[0]->job.made_by, output, npy);
}

int cmd_gather(const cli_command *self, int argc, char **argv)
{
    const char *output = NULL;
    gathering g = {.rows = NULL};
    int positional;
    const cli_option table[] = {
        {"output", 'o', "F.npy", "write all embeddings here, and their fingerprint beside it", CLI_OUTPUT, &output},
    };
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK && (positional != 1 || !output))
        st = cli_refuse(self, "expected one directory and -o F.npy");
    if (st == CLF_OK)
        st = gather(argv[0], output, &g);
    for (size_t i = 0; g.parts && i < g.job.shards; i++)
        cli_part_close(g.parts[i]);
    cli_job_free(&g.job);
    free(g.parts);
    free(g.rows);
    return st == CLF_OK ? 0 : cli_fail(st);
}
