/* SPDX-License-Identifier: MIT */
/* clformer attention: draws a layer's attention weights for one text or word, or writes them as a NumPy file or JSON. With --weights it
 * draws those of a file. */
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "cli/attention_map.h"
#include "cli/commands.h"
#include "jobs/inputs.h"
#include "jobs/npy_output.h"
#include "console/progress.h"
#include "jobs/session.h"
#include "console/standard_output.h"
#include "io/json.h"
#include "model/family.h"
#include "model/model_checkpoint.h"

/* In the order of --kind. */
enum { KIND_SELF, KIND_DECODER, KIND_CROSS, NOT_GIVEN = -1 };

#define NOT_GIVEN_LAYER INT64_MIN

typedef struct attention_job {
    cli_session session;
    const char *directory, *text, *heads_text, *batch_text, *weights, *title, *labels, *picture, *npy;
    char *read_text; /* owned; the text if it came from standard input, else NULL */
    int64_t layer;
    size_t max_tokens;
    int as_json, kind, scale, format;
    cli_attention_map map;
    int64_t *heads; /* [head_count]: those chosen by --head */
    size_t head_count;
} attention_job;

/* *out: whether `directory` names an encoder-decoder that pronounces words: a directory of such a model, or "g2p", the built-in model, if
 * no directory has that name. */
static clf_status is_encoder_decoder(const char *directory, bool *out)
{
    clf_checkpoint *checkpoint;
    const clf_family *family;
    CLF_TRY(clfi_directory_exists(directory, out));
    if (!*out) {
        *out = strcmp(directory, "g2p") == 0;
        return CLF_OK;
    }
    *out = false;
    if (clfi_model_checkpoint_open(directory, &checkpoint) != CLF_OK) /* the caller opens it as an encoder next, which reports why */
        return CLF_OK;
    *out = clfi_family_find(clfi_checkpoint_config(checkpoint), CLF_TASK_PRONOUNCE, &family) == CLF_OK;
    clfi_checkpoint_close(checkpoint);
    return CLF_OK;
}

static clf_status compute_word(attention_job *job)
{
    static const clf_pronounce_attention kinds[] = {CLF_PRONOUNCE_ATTENTION_ENCODER, CLF_PRONOUNCE_ATTENTION_DECODER,
                                                    CLF_PRONOUNCE_ATTENTION_CROSS};
    clf_pronouncer *pronouncer;
    bool exists; /* false: the built-in model is meant */
    CLF_TRY(clfi_directory_exists(job->directory, &exists));
    CLF_TRY(cli_session_open(&job->session));
    CLF_TRY(clf_pronouncer_open(job->session.context, exists ? job->directory : NULL, &pronouncer));
    const clf_status st = cli_attention_of_word(pronouncer, job->text, 1, kinds[job->kind], job->layer, &job->map);
    clf_pronouncer_destroy(pronouncer);
    return st;
}

static clf_status compute(attention_job *job)
{
    bool is_pair;
    CLF_TRY(is_encoder_decoder(job->directory, &is_pair));
    if (is_pair)
        return compute_word(job);
    if (job->kind != KIND_SELF)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention: --kind: expected self, found decoder or cross, which only encoder-decoder models have");
    CLF_TRY(cli_session_open_model(&job->session, job->directory));
    return cli_attention_of_text(job->session.work, job->text, job->max_tokens, job->layer, &job->map);
}

static cli_attention_picture picture_of(const attention_job *job)
{
    return (cli_attention_picture){.source = job->weights ? job->weights : job->directory,
                                   .text = job->text,
                                   .title = job->title,
                                   .scale = (cli_heatmap_scale)job->scale,
                                   .format = (cli_heatmap_format)job->format,
                                   .heads = job->heads,
                                   .count = job->head_count};
}

static clf_status stage_npy(const attention_job *job, clf_atomic_file *out)
{
    const cli_attention_map *map = &job->map;
    const int64_t dim[2] = {(int64_t)map->rows, (int64_t)map->columns};
    const size_t matrix = map->rows * map->columns;
    clf_npy_writer *writer;
    CLF_TRY(clfi_npy_writer_open(job->npy, CLF_FILE_F32, 2, dim, &writer));
    for (size_t i = 0; i < job->head_count; i++) {
        const clf_status st = clfi_npy_writer_append(writer, map->values + (size_t)job->heads[i] * matrix, 1);
        if (st != CLF_OK) {
            clfi_npy_writer_abandon(writer);
            return st;
        }
    }
    return clfi_npy_writer_finish(writer, out);
}

static clf_status print_string(const char *text)
{
    json_t *string = json_string(text);
    clf_str quoted = CLF_STR_INIT;
    const clf_status st = clfi_json_write(string, 0, "attention", &quoted);
    json_decref(string);
    fputs(clfi_str_text(&quoted), stdout);
    clfi_str_free(&quoted);
    return st;
}

static void print_row(const float *row, size_t length)
{
    putchar('[');
    for (size_t i = 0; i < length; i++)
        printf("%s%.9g", i ? ", " : "", (double)row[i]);
    putchar(']');
}

static clf_status print_strings(const char *key, char *const *labels, size_t count)
{
    printf(", \"%s\": [", key);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", stdout);
        CLF_TRY(print_string(labels[i]));
    }
    putchar(']');
    return CLF_OK;
}

/* {"layer", "tokens": [T] or else "queries": [Q] and "keys": [K], "heads": [H], "weights": [H][Q][K]} */
static clf_status print_json(const attention_job *job)
{
    const cli_attention_map *map = &job->map;
    printf("{\"layer\": %lld", (long long)job->layer);
    if (job->kind != KIND_CROSS)
        CLF_TRY(print_strings("tokens", map->column_labels, map->columns));
    else {
        CLF_TRY(print_strings("queries", map->row_labels, map->rows));
        CLF_TRY(print_strings("keys", map->column_labels, map->columns));
    }
    fputs(", \"heads\": [", stdout);
    for (size_t h = 0; h < job->head_count; h++)
        printf("%s%lld", h ? ", " : "", (long long)job->heads[h]);
    fputs("], \"weights\": [", stdout);
    for (size_t h = 0; h < job->head_count; h++)
        for (size_t i = 0; i < map->rows; i++) {
            fputs(i ? ",\n" : h ? ",\n[" : "\n[", stdout);
            print_row(map->values + ((size_t)job->heads[h] * map->rows + i) * map->columns, map->columns);
            fputs(i + 1 == map->rows ? "]" : "", stdout);
        }
    puts("]}");
    return CLF_OK;
}

/* Writes all outputs or none: JSON is printed when the files are complete and only need their names. */
static clf_status write_outputs(const attention_job *job)
{
    const cli_attention_picture drawn = picture_of(job);
    clf_atomic_file npy = {.stream = NULL}, picture = {.stream = NULL};
    clf_status st;
    if (job->npy)
        CLF_GOTO(stage_npy(job, &npy));
    if (job->picture)
        CLF_GOTO(cli_attention_stage(&job->map, &drawn, job->picture, &picture));
    if (job->as_json) {
        CLF_GOTO(clfi_atomic_complete(&npy));
        CLF_GOTO(clfi_atomic_complete(&picture));
        cli_line_clear();
        CLF_GOTO(print_json(job));
        CLF_GOTO(cli_output_flush());
    }
    st = job->npy ? cli_npy_commit(&npy, job->picture ? &picture : NULL) : clfi_atomic_commit(&picture);
done:
    clfi_atomic_abandon(&npy);
    clfi_atomic_abandon(&picture);
    return st;
}

/* Fails if a weight that the model computed is infinite or NaN, as embeddings are checked. */
static clf_status check_finite(const cli_attention_map *map)
{
    const size_t matrix = map->rows * map->columns;
    for (size_t i = 0; i < map->heads * matrix; i++)
        if (!isfinite(map->values[i]))
            CLF_FAIL(CLF_INTERNAL, "attention: the weights are not finite: head %zu, row %zu, column %zu is %g", i / matrix,
                     i % matrix / map->columns, i % map->columns, (double)map->values[i]);
    return CLF_OK;
}

/* A file's weights need no model and no device, and are drawn as they are. */
static clf_status run_file(attention_job *job)
{
    if (!job->picture)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention: --weights needs a picture to write: -o F.png or -o F.svg");
    if (job->npy || job->as_json || job->max_tokens || job->layer != NOT_GIVEN_LAYER || job->kind != NOT_GIVEN)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention: --weights excludes --layer, --kind, --max-tokens, --npy and --json, which need a model");
    CLF_TRY(cli_session_refuse_options(&job->session, "attention --weights", "a model and a text"));
    CLF_TRY(cli_attention_of_file(job->weights, job->batch_text, job->heads_text, job->labels, &job->map));
    const cli_attention_picture drawn = picture_of(job);
    return cli_attention_draw(&job->map, &drawn, job->picture);
}

static bool is_standard_output(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

static clf_status check_outputs(attention_job *job)
{
    if (!job->picture && job->format != CLI_FORMAT_UNSET)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention: --format needs -o");
    CLF_TRY(cli_heatmap_choose_format(job->picture, &job->format));
    if (job->picture && job->format == CLI_FORMAT_UNSET)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention: --output %s: expected a name that ends in .png or .svg, or --format", job->picture);
    if (is_standard_output(job->picture) + is_standard_output(job->npy) + job->as_json > 1)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention: only one of -o -, --npy - and --json can use standard output");
    return CLF_OK;
}

/* Reads the text "-": the only line of standard input. */
static clf_status read_standard_input(attention_job *job)
{
    cli_inputs *inputs;
    CLF_TRY(cli_inputs_open(NULL, 0, "-", &inputs));
    inputs->tells_nothing = true;
    clf_status st = cli_inputs_next(inputs);
    if (st == CLF_OK && inputs->count != 1)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "attention: standard input: expected one line, found %s",
                       inputs->count ? "several texts" : "no text");
    if (st == CLF_OK)
        st = clfi_strndup(inputs->texts[0].data, inputs->texts[0].size, &job->read_text);
    if (st == CLF_OK && strlen(job->read_text) != inputs->texts[0].size)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "attention: standard input: line 1 has a NUL character");
    if (st == CLF_OK)
        job->text = job->read_text;
    cli_inputs_close(inputs);
    return st;
}

static clf_status run(attention_job *job)
{
    CLF_TRY(check_outputs(job));
    if (job->weights)
        return run_file(job);
    if (job->batch_text || job->labels)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention: --%s needs --weights", job->batch_text ? "batch" : "labels");
    if (!job->picture && !job->npy && !job->as_json)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention: no output was asked for (give -o F.png, -o F.svg, --npy F or --json)");
    if (job->title && !job->picture)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention: --title needs -o");
    if (strcmp(job->text, "-") == 0)
        CLF_TRY(read_standard_input(job));
    job->layer = job->layer == NOT_GIVEN_LAYER ? 0 : job->layer;
    job->kind = job->kind == NOT_GIVEN ? KIND_SELF : job->kind;
    CLF_TRY(compute(job));
    CLF_TRY(check_finite(&job->map));
    CLF_TRY(cli_read_numbers("--head", job->heads_text, (int64_t)job->map.heads, &job->heads, &job->head_count));
    return write_outputs(job);
}

int cmd_attention(const cli_command *self, int argc, char **argv)
{
    attention_job job = {
        .session = CLI_SESSION_INIT, .layer = NOT_GIVEN_LAYER, .kind = NOT_GIVEN, .scale = CLI_SCALE_SHARED, .format = CLI_FORMAT_UNSET};
    int positional;
    const cli_option table[] = {
        {"output", 'o', "F", "draw heat maps; - is standard output", CLI_OUTPUT, &job.picture},
        {"format", 0, CLI_HEATMAP_FORMATS, "format of the picture (default: by -o's name)", CLI_CHOICE, &job.format},
        {"layer", 0, "L", "layer, counted from 0 (default: 0)", CLI_INTEGER, &job.layer},
        {"head", 0, "H", "heads from 0: all (default), or numbers and ranges, 0,2,5-7", CLI_TEXT, &job.heads_text},
        {"kind", 0, "self|decoder|cross",
         "which attention: self of an encoder (default); of an encoder-decoder also decoder, and cross from decoder to encoder", CLI_CHOICE,
         &job.kind},
        {"scale", 0, "sqrt|head|shared", "colour scale: square root, each head's own maximum, or one maximum for all heads (default)",
         CLI_CHOICE, &job.scale},
        {"weights", 0, "W.npy",
         "draw the weights in this file [Q,K], [H,Q,K], [N,Q,K] or [N,H,Q,K], without a model and a text; numbers below 0 are blue",
         CLI_INPUT, &job.weights},
        {"batch", 0, "N", "batch entries of a file [N,H,Q,K] or [N,Q,K], written as for --head (default: all)", CLI_TEXT, &job.batch_text},
        {"labels", 0, "F",
         "text file that names the queries, then the keys of --weights, one per line; one list is enough if both have the same number",
         CLI_INPUT, &job.labels},
        {"title", 0, "TEXT", "title of the picture (default: model or file, and layer); \"\": none", CLI_TEXT, &job.title},
        {"npy", 0, "F", "write the weights as float32 NumPy file [heads, queries, keys]", CLI_OUTPUT, &job.npy},
        {"json", 0, NULL, "print tokens and weights as JSON", CLI_FLAG, &job.as_json},
        {"max-tokens", 0, "N", "cut a longer text (default: the model's maximum)", CLI_SIZE, &job.max_tokens},
        CLI_SESSION_OPTIONS(job.session),
    };
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK && job.weights && positional > 0)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "attention: unexpected argument \"%s\": --weights needs no model and no text", argv[0]);
    if (st == CLF_OK && !job.weights && positional != 2)
        st = cli_refuse(self, "expected a model directory and one text");
    if (st == CLF_OK && !job.weights) {
        job.directory = argv[0];
        job.text = argv[1];
    }
    if (st == CLF_OK)
        st = run(&job);
    const int status = st == CLF_OK ? 0 : cli_fail(st);
    cli_attention_free(&job.map);
    free(job.heads);
    free(job.read_text);
    st = cli_session_close(&job.session, NULL);
    return status ? status : st == CLF_OK ? 0 : cli_fail(st);
}
