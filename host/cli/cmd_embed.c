/* SPDX-License-Identifier: MIT */
/* clformer embed: sentence embeddings as JSON lines, text or a NumPy file. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/embedding.h"
#include "io/npy.h"

enum { FORMAT_JSON, FORMAT_TEXT };

typedef struct writer {
    FILE *stream; /* JSON lines and text */
    clf_npy_writer *npy;
    int format;
    size_t index;
} writer;

static clf_status write_rows(void *user, const clf_text *texts, size_t count, const float *rows, size_t width)
{
    writer *w = user;
    (void)texts;
    if (w->npy)
        return clfi_npy_writer_append(w->npy, rows, count);
    for (size_t i = 0; i < count; i++, w->index++) {
        if (w->format == FORMAT_JSON)
            fprintf(w->stream, "{\"index\": %zu, \"embedding\": [", w->index);
        for (size_t c = 0; c < width; c++) {
            const float value = rows[i * width + c];
            const char *gap = c == 0 ? "" : w->format == FORMAT_JSON ? ", " : " ";
            if (w->format == FORMAT_JSON && !isfinite(value)) /* JSON has no word for it */
                fprintf(w->stream, "%snull", gap);
            else
                fprintf(w->stream, "%s%.9g", gap, (double)value);
        }
        fputs(w->format == FORMAT_JSON ? "]}\n" : "\n", w->stream);
    }
    if (ferror(w->stream))
        CLF_FAIL(CLF_IO, "writing the embeddings failed");
    return CLF_OK;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static clf_status embed(cli_session *session, const cli_embedding *options, const char *directory, cli_inputs *inputs, const char *output,
                        int format, clf_embed_stats *stats)
{
    writer w = {.stream = stdout, .format = format};
    clf_atomic_file file = {.stream = NULL};
    CLF_TRY(cli_session_open_model(session, directory));
    const int64_t width = clf_model_get_info(session->model)->width;
    if (output && ends_with(output, ".npy")) {
        CLF_TRY(clfi_npy_writer_open(output, CLF_FILE_F32, 1, &width, &w.npy));
    } else if (output) {
        CLF_TRY(clfi_atomic_open(output, &file));
        w.stream = file.stream;
    }
    const clf_status st = cli_embed_all(session, options, inputs, write_rows, &w, stats);
    if (st != CLF_OK) {
        clfi_npy_writer_abandon(w.npy);
        clfi_atomic_abandon(&file);
        return st;
    }
    if (w.npy)
        return clfi_npy_writer_commit(w.npy);
    return file.stream ? clfi_atomic_commit(&file) : CLF_OK;
}

int cmd_embed(const cli_command *self, int argc, char **argv)
{
    cli_session session = CLI_SESSION_INIT;
    cli_embedding options = CLI_EMBEDDING_INIT;
    const char *file = NULL, *output = NULL;
    int format = FORMAT_JSON, positional;
    const cli_option table[] = {
        CLI_INPUTS_OPTION(file),
        {"output", 'o', "F", "write here instead of standard output; a name that ends in .npy gives float32 [n, C]", CLI_TEXT, &output},
        {"format", 0, "json|text", "JSON lines (default), or numbers with spaces between", CLI_CHOICE, &format},
        CLI_EMBEDDING_OPTIONS(options),
        CLI_SESSION_OPTIONS(session),
    };
    cli_inputs *inputs = NULL;
    clf_embed_stats stats = {0};
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK)
        st = cli_inputs_open_after_model(self, argv, positional, file, &inputs);
    if (st == CLF_OK)
        st = embed(&session, &options, argv[0], inputs, output, format, &stats);
    return cli_embedding_end(&session, inputs, &stats, st);
}
