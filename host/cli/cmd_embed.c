/* SPDX-License-Identifier: MIT */
/* clformer embed: writes sentence embeddings as JSON lines, text or a NumPy file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "cli/commands.h"
#include "jobs/embedding.h"
#include "jobs/embed_quantized.h"
#include "jobs/embed_npy.h"
#include "jobs/fingerprint.h"
#include "process/mpirun.h"
#include "console/option_files.h"
#include "console/output_format.h"
#include "jobs/pool.h"
#include "console/progress.h"
#include "jobs/ranks.h"
#include "jobs/shards.h"
#include "console/standard_output.h"
#include "console/terminal.h"
#include "io/npy.h"

/* In the order of --format; unset: the output's name decides. */
enum { FORMAT_JSON, FORMAT_TEXT, FORMAT_NPY, FORMAT_UNSET = CLI_FORMAT_UNSET };
#define FORMATS "json|text|npy"

typedef struct row_writer {
    FILE *stream;     /* JSON lines and text */
    const char *name; /* of the stream, for messages */
    clf_npy_writer *npy;
    int format;
    size_t index;
} row_writer;

typedef struct embed_options {
    cli_embedding embedding;
    const char *file, *output, *shard, *ranges;
    int format, resume, quantize;       /* quantize: a cli_quantization */
    size_t window, shard_index, shards; /* window: in texts; 0: choose_window decides */
    bool is_file_only;                  /* all texts come from --file, a regular file, which can be read again */
} embed_options;

/* Returns false if a write fails; errno has the reason. */
static bool print_row(const row_writer *w, const float *row, size_t width)
{
    bool is_done = w->format != FORMAT_JSON || fprintf(w->stream, "{\"index\": %zu, \"embedding\": [", w->index) >= 0;
    for (size_t c = 0; is_done && c < width; c++) {
        const char *gap = c == 0 ? "" : w->format == FORMAT_JSON ? ", " : " ";
        is_done = fprintf(w->stream, "%s%.9g", gap, (double)row[c]) >= 0;
    }
    return is_done && fputs(w->format == FORMAT_JSON ? "]}\n" : "\n", w->stream) >= 0;
}

static clf_status write_rows(void *user, const cli_embedded *window)
{
    row_writer *w = user;
    const float *rows = window->rows;
    const size_t count = window->count, width = window->width;
    if (w->stream == stdout)
        cli_line_clear();
    if (w->npy)
        return clfi_npy_writer_append(w->npy, rows, count);
    for (size_t i = 0; i < count; i++) {
        if (!print_row(w, rows + i * width, width))
            return clfi_fail_errno("write", w->name);
        w->index++;
        if (w->stream == stdout)
            CLF_TRY(cli_output_done(w->index, "embedding was", "embeddings were"));
    }
    return CLF_OK;
}

static clf_status embed_stream(cli_session *session, const embed_options *o, cli_inputs *inputs, clf_embed_stats *stats)
{
    row_writer w = {.stream = stdout, .name = o->output ? o->output : "standard output", .format = o->format};
    clf_atomic_file file = {.stream = NULL};
    size_t features;
    CLF_TRY(cli_embedding_width(session, &o->embedding, &features));
    const int64_t width = (int64_t)features;
    if (o->format == FORMAT_NPY) {
        CLF_TRY(clfi_npy_writer_open("-", CLF_FILE_F32, 1, &width, &w.npy));
    } else if (o->output) {
        CLF_TRY(clfi_output_open(o->output, false, &file));
        w.stream = file.stream;
    }
    const clf_status st = cli_pool_embed(session, &o->embedding, inputs, write_rows, &w, stats);
    if (st != CLF_OK) {
        clfi_npy_writer_abandon(w.npy);
        clfi_atomic_abandon(&file);
        return st;
    }
    if (w.npy)
        return clfi_npy_writer_commit(w.npy);
    return file.stream ? clfi_atomic_commit(&file) : CLF_OK;
}

/* Sets *window to the one with which an earlier run began the same output. Without such a run *window does not change. */
static clf_status take_kept_window(const embed_options *o, size_t *window)
{
    cli_job job;
    clf_str path = CLF_STR_INIT;
    char *manifest = NULL;
    bool exists;
    clf_status st;
    if (o->shards)
        CLF_GOTO(cli_manifest_path(o->output, &manifest));
    else
        CLF_GOTO(clfi_str_appendf(&path, "%s.part", o->output));
    const char *name = manifest ? manifest : path.data;
    CLF_GOTO(clfi_file_exists(name, &exists));
    if (!exists)
        goto done;
    if (o->shards ? cli_job_read(name, &job) != CLF_OK : cli_part_job(name, &job) != CLF_OK)
        goto done; /* the code that resumes the work reports what is wrong with it */
    *window = job.window_texts;
    cli_job_free(&job);
done:
    free(manifest);
    clfi_str_free(&path);
    return st;
}

/* Chooses the window if --window is not given. For shards the choice ignores devices, since machines that share a file must agree on it. */
static clf_status choose_window(const cli_session *session, const embed_options *o, const cli_ranks *ranks, cli_inputs *inputs)
{
    size_t rank, ranked;
    inputs->window_texts = o->window;
    if (o->window)
        return CLF_OK;
    cli_ranks_place(ranks, &rank, &ranked);
    inputs->window_texts = cli_inputs_window(inputs, o->shards ? o->shards : ranked * cli_pool_size(session), CLI_WINDOW);
    return o->shards || o->resume ? take_kept_window(o, &inputs->window_texts) : CLF_OK;
}

static clf_status embed(cli_session *session, const embed_options *o, const char *directory, cli_inputs *inputs, cli_ranks *ranks,
                        clf_embed_stats *stats)
{
    CLF_TRY(cli_pool_open_model(session, directory));
    CLF_TRY(choose_window(session, o, ranks, inputs));
    if (o->shards) {
        cli_job job;
        CLF_TRY(cli_job_take(session, &o->embedding, directory, o->file, inputs->window_texts, o->shard_index, o->shards, &job));
        const clf_status st = cli_embed_shard(session, &o->embedding, &job, inputs, o->output, stats);
        cli_job_free(&job);
        return st;
    }
    if (o->output)
        cli_interrupts_say("nothing was written to %s", o->output);
    if (o->quantize) {
        const cli_quantized_output output = {o->quantize, o->ranges, o->output, o->format == FORMAT_NPY, o->format == FORMAT_JSON};
        return cli_embed_quantized(session, &o->embedding, directory, &output, inputs, stats);
    }
    if (ranks)
        return cli_ranks_embed(ranks, session, &o->embedding, directory, o->file, inputs, o->output, stats);
    return o->format == FORMAT_NPY && o->output
               ? cli_embed_npy(session, &o->embedding, directory, inputs, o->is_file_only ? o->file : NULL, o->output, o->resume, stats)
               : embed_stream(session, o, inputs, stats);
}

/* Chooses the format by --format or the output's name, which must not contradict each other. */
static clf_status choose_format(const char *output, int *format)
{
    static const cli_format_end known[] = {{".npy", FORMAT_NPY}, {".json", FORMAT_JSON}, {".jsonl", FORMAT_JSON}};
    CLF_TRY(cli_format_choose(output, known, COUNT(known), FORMATS, format));
    if (*format == FORMAT_UNSET)
        *format = FORMAT_JSON;
    if (*format == FORMAT_NPY && (!output || strcmp(output, "-") == 0) && cli_terminal_columns(STDOUT_FILENO) > 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--format npy: standard output is a terminal; give -o F.npy");
    return CLF_OK;
}

static bool is_regular(const char *path)
{
    struct stat info;
    return path && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Whether a run may put files beside this output: its fingerprint and kept windows. */
static bool is_regular_or_new(const char *path)
{
    return path && strcmp(path, "-") != 0 && (is_regular(path) || access(path, F_OK) != 0);
}

/* Checks the combination of options. */
static clf_status check_options(embed_options *o, bool has_texts)
{
    if (o->file && strcmp(o->file, "-") != 0 && access(o->file, R_OK) != 0)
        return clfi_fail_errno("open", o->file);
    o->is_file_only = !has_texts && is_regular(o->file);
    if (o->output && !o->output[0])
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--output: expected the name of a file to write, found \"\"");
    if (o->window > CLI_WINDOW)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--window: expected at most %d, found %zu", CLI_WINDOW, o->window);
    if (o->quantize && (o->shard || o->resume))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--quantize excludes --shard and --resume, which keep float32");
    if (o->ranges && !cli_quantize_has_ranges((cli_quantization)o->quantize))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--ranges needs --quantize int8 or uint8");
    if (o->shard && cli_mpirun_size() > 1)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "embed under mpirun: --shard: expected none, since mpirun's processes share the work themselves");
    if (o->shard) {
        CLF_TRY(cli_shard_parse(o->shard, &o->shard_index, &o->shards));
        if (!o->output || o->format != FORMAT_UNSET || !o->is_file_only)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "--shard: expected -o DIR, no --format, and all texts in a file: --file F");
        return CLF_OK; /* --resume changes nothing: a shard always resumes */
    }
    if (o->output)
        CLF_TRY(clfi_output_check(o->output, false));
    CLF_TRY(choose_format(o->output, &o->format));
    if (o->format == FORMAT_NPY && o->output)
        CLF_TRY(cli_fingerprint_check_place(o->output));
    const bool is_new_npy = o->format == FORMAT_NPY && is_regular_or_new(o->output) && o->is_file_only;
    if (cli_mpirun_size() > 1 && (!is_new_npy || o->resume || o->quantize))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "embed under mpirun: expected -o F.npy, all texts in a file: --file F, no --resume, no --quantize");
    if (o->resume && !is_new_npy)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--resume: expected -o F.npy, and all texts in a file: --file F");
    return is_new_npy && !o->resume && !o->quantize ? cli_embed_npy_check(o->output) : CLF_OK;
}

/* Checks that neither the output nor a file beside it is another output or an input. */
static clf_status check_outputs(const cli_line *line, const embed_options *o)
{
    static const char *const ends[] = {"", ".json", ".part"};
    const bool has_none_beside = o->format != FORMAT_NPY || !is_regular_or_new(o->output);
    clf_str name = CLF_STR_INIT;
    clf_status st = CLF_OK;
    if (!o->output || o->shards)
        return CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < (has_none_beside ? 1 : COUNT(ends)); i++) {
        clfi_str_clear(&name);
        CLF_GOTO(clfi_str_appendf(&name, "%s%s", o->output, ends[i]));
        CLF_GOTO(cli_output_is_alone(line, "--output", name.data));
        CLF_GOTO(cli_output_replaces_none(line, "--output", name.data));
    }
done:
    clfi_str_free(&name);
    return st;
}

int cmd_embed(const cli_command *self, int argc, char **argv)
{
    cli_session session = CLI_SESSION_INIT;
    embed_options o = {.embedding = CLI_EMBEDDING_INIT, .format = FORMAT_UNSET};
    int positional;
    const cli_option table[] = {
        CLI_INPUTS_OPTION(o.file),
        {"output", 'o', "F", "output file (default: standard output); a name that ends in .npy gives float32 [n, C]", CLI_TEXT, &o.output},
        {"format", 0, FORMATS, "JSON lines, numbers separated by spaces, or a NumPy file (default: by -o's name, else json)", CLI_CHOICE,
         &o.format},
        {"quantize", 0, "no|int8|uint8|binary|ubinary", "store one byte or one bit per dimension, as sentence-transformers does",
         CLI_CHOICE, &o.quantize},
        {"ranges", 0, "F.npy",
         "with --quantize int8 or uint8: minimum and maximum of each dimension, float32 [2, C] (default: those of the texts)", CLI_INPUT,
         &o.ranges},
        {"resume", 0, NULL, "resume an interrupted run from F.npy.part", CLI_FLAG, &o.resume},
        {"shard", 0, "i/N", "embed every N-th window from the i-th (1 to N) into a part file in the directory -o; see clformer gather",
         CLI_TEXT, &o.shard},
        {"window", 0, "N", "texts per window (default and maximum: 4096; fewer when several processes share a small file)", CLI_SIZE,
         &o.window},
        CLI_EMBEDDING_OPTIONS(o.embedding),
        CLI_POOL_SESSION_OPTIONS(session),
        CLI_MODEL_OPTIONS(session),
    };
    cli_inputs *inputs = NULL;
    clf_embed_stats stats = {0};
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK)
        st = check_options(&o, positional > 1);
    if (st == CLF_OK)
        st = check_outputs(&(cli_line){self, table, COUNT(table), argv, positional}, &o);
    if (st == CLF_OK)
        st = cli_inputs_open_after_model(self, argv, positional, o.file, &inputs);
    cli_ranks *ranks = NULL;
    if (st == CLF_OK && !o.shards)
        st = cli_ranks_open(&session, &ranks);
    if (st == CLF_OK) {
        inputs->stays = o.shards || o.format == FORMAT_NPY; /* the file must not change: its hash is kept with the embeddings */
        st = embed(&session, &o, argv[0], inputs, ranks, &stats);
    }
    cli_ranks_abort(ranks, st);
    const int status = cli_embedding_end(&session, inputs, &stats, st);
    cli_ranks_close(ranks);
    return status;
}
