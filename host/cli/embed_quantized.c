/* SPDX-License-Identifier: MIT */
/* Embeddings, then their ranges, then bytes. */
#include "cli/embed_quantized.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "cli/fingerprint.h"
#include "cli/pool.h"
#include "cli/progress.h"
#include "cli/standard_output.h"
#include "io/npy.h"

/* errno tells why it is false. */
static bool print_row(FILE *stream, const cli_quantized_output *output, size_t index, const uint8_t *row, size_t width)
{
    const bool is_signed = cli_quantize_is_signed((cli_quantization)output->kind);
    bool is_done = !output->is_json || fprintf(stream, "{\"index\": %zu, \"embedding\": [", index) >= 0;
    for (size_t i = 0; is_done && i < width; i++)
        is_done = fprintf(stream, "%s%d", i == 0 ? "" : output->is_json ? ", " : " ", is_signed ? (int)(int8_t)row[i] : (int)row[i]) >= 0;
    return is_done && fputs(output->is_json ? "]}\n" : "\n", stream) >= 0;
}

static clf_status write_text(const cli_quantized_output *output, const cli_collection *rows, const float *ranges, uint8_t *row)
{
    const cli_quantization kind = (cli_quantization)output->kind;
    const char *name = output->path ? output->path : "standard output";
    clf_atomic_file file = {.stream = NULL};
    if (output->path)
        CLF_TRY(clfi_output_open(output->path, false, &file));
    FILE *stream = file.stream ? file.stream : stdout;
    for (size_t i = 0; i < rows->count; i++) {
        cli_quantize_row(kind, rows->rows + i * rows->width, rows->width, ranges, row);
        if (!print_row(stream, output, i, row, cli_quantized_width(kind, rows->width))) {
            const clf_status st = clfi_fail_errno("write", name);
            clfi_atomic_abandon(&file);
            return st;
        }
    }
    return file.stream ? clfi_atomic_commit(&file) : cli_output_flush();
}

static clf_status write_npy(const cli_quantized_output *output, const cli_collection *rows, size_t width, const float *ranges, uint8_t *row,
                            cli_fingerprint *made_by)
{
    const cli_quantization kind = (cli_quantization)output->kind;
    const int64_t dim = (int64_t)cli_quantized_width(kind, width);
    clf_npy_writer *npy;
    const clf_file_dtype dtype = cli_quantize_is_signed(kind) ? CLF_FILE_I8 : CLF_FILE_U8;
    CLF_TRY(clfi_npy_writer_open(output->path ? output->path : "-", dtype, 1, &dim, &npy));
    for (size_t i = 0; i < rows->count; i++) {
        cli_quantize_row(kind, rows->rows + i * width, width, ranges, row);
        const clf_status st = clfi_npy_writer_append(npy, row, 1);
        if (st != CLF_OK) {
            clfi_npy_writer_abandon(npy);
            return st;
        }
    }
    return made_by ? cli_fingerprint_commit(made_by, output->path, npy) : clfi_npy_writer_commit(npy);
}

/* With what stands beside the file, if it has a name. */
static clf_status write_npy_of(cli_session *session, const cli_embedding *options, const char *directory,
                               const cli_quantized_output *output, const cli_collection *rows, size_t width, const float *ranges,
                               uint8_t *row)
{
    cli_fingerprint made_by = CLI_FINGERPRINT_INIT;
    clf_status st;
    if (!output->path)
        return write_npy(output, rows, width, ranges, row, NULL);
    CLF_GOTO(cli_fingerprint_take(session, options, directory, &made_by));
    CLF_GOTO(cli_fingerprint_canaries(session, options, &made_by));
    CLF_GOTO(cli_fingerprint_quantized(&made_by, cli_quantize_name((cli_quantization)output->kind), ranges));
    st = write_npy(output, rows, width, ranges, row, &made_by);
done:
    cli_fingerprint_free(&made_by);
    return st;
}

clf_status cli_embed_quantized(cli_session *session, const cli_embedding *options, const char *directory,
                               const cli_quantized_output *output, cli_inputs *inputs, clf_embed_stats *stats)
{
    const cli_quantization kind = (cli_quantization)output->kind;
    cli_collection all = {.rows = NULL};
    float *ranges = NULL;
    uint8_t *row = NULL;
    size_t width;
    clf_status st;
    CLF_GOTO(cli_embedding_width(session, options, &width));
    if (output->ranges)
        CLF_GOTO(cli_quantize_read_ranges(output->ranges, width, &ranges));
    CLF_GOTO(cli_pool_embed(session, options, inputs, cli_collect, &all, stats));
    if (!ranges && cli_quantize_has_ranges(kind)) {
        CLF_GOTO(clfi_alloc(2 * width, sizeof *ranges, "ranges", &ranges));
        CLF_GOTO(cli_quantize_ranges(all.rows, all.count, width, ranges));
    }
    CLF_GOTO(clfi_alloc(cli_quantized_width(kind, width), 1, "quantized embedding", &row));
    cli_line_clear();
    st = output->is_npy ? write_npy_of(session, options, directory, output, &all, width, ranges, row)
                        : write_text(output, &all, ranges, row);
done:
    free(row);
    free(ranges);
    cli_collection_free(&all);
    return st;
}
