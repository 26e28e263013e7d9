/* SPDX-License-Identifier: MIT */
/* Quantizes embeddings and writes them: window by window where the ranges are known or not needed, else after the last embedding. */
#include "jobs/embed_quantized.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "jobs/fingerprint.h"
#include "jobs/pool.h"
#include "console/progress.h"
#include "console/standard_output.h"
#include "io/npy.h"

typedef struct quantized_writer {
    const cli_quantized_output *output;
    cli_quantization kind;
    float *ranges;           /* NULL: not known yet, or the kind has none */
    uint8_t *row;            /* one quantized embedding */
    clf_npy_writer *npy;     /* NULL: text */
    clf_atomic_file file;    /* stream NULL: standard output */
    size_t index;            /* of the next row */
    cli_fingerprint made_by; /* taken before the work; kind and ranges are added at the end */
} quantized_writer;

/* False: errno has the reason. */
static bool print_row(const quantized_writer *w, FILE *stream, size_t width)
{
    const bool is_signed = cli_quantize_is_signed(w->kind), is_json = w->output->is_json;
    bool is_done = !is_json || fprintf(stream, "{\"index\": %zu, \"embedding\": [", w->index) >= 0;
    for (size_t i = 0; is_done && i < width; i++)
        is_done = fprintf(stream, "%s%d", i == 0 ? "" : is_json ? ", " : " ", is_signed ? (int)(int8_t)w->row[i] : (int)w->row[i]) >= 0;
    return is_done && fputs(is_json ? "]}\n" : "\n", stream) >= 0;
}

/* A cli_embedding_sink. */
static clf_status write_rows(void *user, const cli_embedded *window)
{
    quantized_writer *w = user;
    FILE *stream = w->file.stream ? w->file.stream : stdout;
    const bool is_printed = !w->npy && stream == stdout;
    if (is_printed)
        cli_line_clear();
    for (size_t i = 0; i < window->count; i++) {
        cli_quantize_row(w->kind, window->rows + i * window->width, window->width, w->ranges, w->row);
        if (w->npy)
            CLF_TRY(clfi_npy_writer_append(w->npy, w->row, 1));
        else if (!print_row(w, stream, cli_quantized_width(w->kind, window->width)))
            return clfi_fail_errno("write", w->output->path ? w->output->path : "standard output");
        w->index++;
        if (is_printed)
            CLF_TRY(cli_output_done(w->index, "embedding was", "embeddings were"));
    }
    return CLF_OK;
}

static clf_status open_writer(quantized_writer *w, size_t width)
{
    const int64_t dim = (int64_t)cli_quantized_width(w->kind, width);
    CLF_TRY(clfi_alloc((size_t)dim, 1, "quantized embedding", &w->row));
    if (w->output->is_npy)
        return clfi_npy_writer_open(w->output->path ? w->output->path : "-", cli_quantized_dtype(w->kind), 1, &dim, &w->npy);
    return w->output->path ? clfi_output_open(w->output->path, false, &w->file) : CLF_OK;
}

/* Commits the .npy file, and if it has a name its fingerprint. */
static clf_status commit_npy(quantized_writer *w)
{
    clf_npy_writer *npy = w->npy;
    if (w->output->path)
        CLF_TRY(cli_fingerprint_quantized(&w->made_by, cli_quantize_name(w->kind), w->ranges));
    w->npy = NULL;
    return w->output->path ? cli_fingerprint_commit(&w->made_by, w->output->path, npy) : clfi_npy_writer_commit(npy);
}

/* Keeps all embeddings until their ranges are known. */
static clf_status embed_then_write(cli_session *session, const cli_embedding *options, quantized_writer *w, cli_inputs *inputs,
                                   size_t width, clf_embed_stats *stats)
{
    cli_collection all = {.rows = NULL};
    clf_status st;
    CLF_GOTO(cli_pool_embed(session, options, inputs, cli_collect, &all, stats));
    CLF_GOTO(clfi_alloc(2 * width, sizeof *w->ranges, "ranges", &w->ranges));
    CLF_GOTO(cli_quantize_ranges(all.rows, all.count, width, w->ranges));
    st = write_rows(w, &(cli_embedded){.rows = all.rows, .count = all.count, .width = width});
done:
    cli_collection_free(&all);
    return st;
}

clf_status cli_embed_quantized(cli_session *session, const cli_embedding *options, const char *directory,
                               const cli_quantized_output *output, cli_inputs *inputs, clf_embed_stats *stats)
{
    quantized_writer w = {.output = output, .kind = (cli_quantization)output->kind, .made_by = CLI_FINGERPRINT_INIT};
    size_t width;
    clf_status st;
    CLF_TRY(cli_embedding_width(session, options, &width));
    if (output->ranges)
        CLF_TRY(cli_quantize_read_ranges(output->ranges, width, &w.ranges));
    CLF_GOTO(open_writer(&w, width));
    if (w.npy && output->path) {
        CLF_GOTO(cli_fingerprint_take(session, options, directory, &w.made_by));
        CLF_GOTO(cli_fingerprint_canaries(session, options, &w.made_by));
    }
    CLF_GOTO(w.ranges || !cli_quantize_has_ranges(w.kind) ? cli_pool_embed(session, options, inputs, write_rows, &w, stats)
                                                          : embed_then_write(session, options, &w, inputs, width, stats));
    if (w.npy)
        st = commit_npy(&w);
    else if (w.file.stream)
        st = clfi_atomic_commit(&w.file);
done:
    if (st != CLF_OK) { /* nothing appears */
        clfi_npy_writer_abandon(w.npy);
        clfi_atomic_abandon(&w.file);
    }
    cli_fingerprint_free(&w.made_by);
    free(w.row);
    free(w.ranges);
    return st;
}
