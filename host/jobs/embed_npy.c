/* SPDX-License-Identifier: MIT */
/* Writes embeddings into a NumPy file, and each finished window of texts into a part file, which --resume reads. */
#include "jobs/embed_npy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "jobs/part_file.h"
#include "jobs/pool.h"
#include "console/progress.h"

typedef struct npy_output {
    clf_npy_writer *npy;
    cli_job job;
    bool keeps; /* finished windows also go into the part file */
    char *part_path;
    cli_part *part; /* NULL: not opened yet */
    cli_inputs *inputs;
    size_t next; /* first window that the part file did not hold */
} npy_output;

static clf_status write_window(void *user, const cli_embedded *window)
{
    npy_output *out = user;
    CLF_TRY(clfi_npy_writer_append(out->npy, window->rows, window->count));
    const bool is_only_one = out->inputs->windows == 1 && cli_inputs_are_read(out->inputs); /* nothing to resume */
    if (!out->keeps || (!out->part && is_only_one))
        return CLF_OK;
    CLF_TRY(cli_inputs_check_stays(out->inputs));
    if (!out->part)
        CLF_TRY(cli_part_open(out->part_path, &out->job, false, true, &out->part));
    CLF_TRY(cli_part_append(out->part, window));
    cli_interrupts_say("%llu %s kept in %s: embed --resume continues", (unsigned long long)out->part->rows,
                       clfi_plural(out->part->rows, "embedding is", "embeddings are"), out->part_path);
    return CLF_OK;
}

static bool is_missing(void *user, size_t window)
{
    const npy_output *out = user;
    return window >= out->next;
}

/* Copies the windows of the part file into the output. */
static clf_status take_part(npy_output *out)
{
    float *rows = NULL;
    size_t capacity = 0;
    bool exists, any = true;
    clf_status st;
    CLF_GOTO(clfi_file_exists(out->part_path, &exists));
    if (!exists)
        goto done;
    CLF_GOTO(cli_part_open(out->part_path, &out->job, true, true, &out->part));
    cli_part_rewind(out->part);
    for (;;) {
        cli_embedded window;
        CLF_GOTO(cli_part_next(out->part, &rows, &capacity, &window, &any));
        if (!any)
            break;
        if (window.window != out->next)
            CLF_GOTO(clfi_fail(CLF_FORMAT, "%s: expected window %zu, found %zu", out->part_path, out->next + 1, window.window + 1));
        CLF_GOTO(clfi_npy_writer_append(out->npy, window.rows, window.count));
        out->next++;
    }
done:
    free(rows);
    return st;
}

static clf_status run(cli_session *session, const cli_embedding *options, npy_output *out, const char *output, bool resumes,
                      clf_embed_stats *stats)
{
    clf_str name = CLF_STR_INIT;
    size_t features;
    CLF_TRY(cli_embedding_width(session, options, &features));
    const int64_t width = (int64_t)features;
    CLF_TRY(clfi_npy_writer_open(output, CLF_FILE_F32, 1, &width, &out->npy));
    const clf_status named = clfi_str_appendf(&name, "%s.part", output);
    out->part_path = name.data;
    CLF_TRY(named);
    if (resumes)
        CLF_TRY(take_part(out));
    out->inputs->wants = is_missing;
    out->inputs->wants_user = out;
    CLF_TRY(cli_pool_embed(session, options, out->inputs, write_window, out, stats));
    clf_npy_writer *npy = out->npy;
    out->npy = NULL;
    CLF_TRY(cli_fingerprint_commit(&out->job.made_by, output, npy));
    if (out->part && unlink(out->part_path) != 0)
        return clfi_fail_errno("remove", out->part_path);
    return CLF_OK;
}

clf_status cli_embed_npy_check(const char *output)
{
    clf_str path = CLF_STR_INIT;
    uint64_t rows = 0;
    clf_status st = clfi_str_appendf(&path, "%s.part", output);
    if (st == CLF_OK)
        st = cli_part_kept(path.data, &rows);
    if (st == CLF_OK && rows)
        st =
            clfi_fail(CLF_INVALID_ARGUMENT, "%s keeps %llu %s of an interrupted run (--resume continues it; remove the file to start over)",
                      path.data, (unsigned long long)rows, clfi_plural(rows, "embedding", "embeddings"));
    clfi_str_free(&path);
    return st;
}

clf_status cli_embed_npy(cli_session *session, const cli_embedding *options, const char *directory, cli_inputs *inputs, const char *file,
                         const char *output, bool resumes, clf_embed_stats *stats)
{
    npy_output out = {.inputs = inputs, .keeps = file != NULL};
    CLF_TRY(cli_job_take(session, options, directory, file, inputs->window_texts, 1, 1, &out.job));
    clf_status st = file ? cli_inputs_check_stays(inputs) : CLF_OK; /* the hash must be that of the file as it was opened */
    if (st == CLF_OK)
        st = run(session, options, &out, output, resumes, stats);
    if (st != CLF_OK && out.part && out.part->rows && access(out.part_path, F_OK) == 0) { /* another process may have finished the job */
        cli_line_clear();
        fprintf(stderr, "clformer: %llu %s kept in %s: embed --resume continues\n", (unsigned long long)out.part->rows,
                clfi_plural(out.part->rows, "embedding is", "embeddings are"), out.part_path);
    }
    if (st != CLF_OK && out.part && !out.part->rows)
        unlink(out.part_path);
    clfi_npy_writer_abandon(out.npy);
    cli_part_close(out.part);
    cli_job_free(&out.job);
    free(out.part_path);
    return st;
}
