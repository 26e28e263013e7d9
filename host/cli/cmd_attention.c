/* SPDX-License-Identifier: MIT */
/* clformer attention: the attention weights of a layer for one text, as a picture, a NumPy file or JSON. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/heatmap.h"
#include "cli/session.h"
#include "io/npy.h"
#include "model/model.h"

typedef struct attention_job {
    cli_session session;
    const char *directory, *text, *heads_text, *picture, *npy;
    int64_t layer;
    size_t max_tokens;
    int as_json;
    clf_encoding encoding;
    int64_t *heads; /* [head_count] */
    size_t head_count;
    float *weights; /* [head_count, length, length] */
} attention_job;

/* "0-11", "3", "0,2,5-7": numbers below `limit`, in the order given. */
static clf_status read_heads(attention_job *job, int64_t limit)
{
    const char *at = job->heads_text;
    size_t capacity = 0;
    if (!at) {
        CLF_TRY(clfi_grow(&job->heads, &capacity, (size_t)limit, sizeof *job->heads, "heads"));
        for (int64_t h = 0; h < limit; h++)
            job->heads[job->head_count++] = h;
        return CLF_OK;
    }
    for (;; at++) {
        char *end;
        const int64_t first = *at >= '0' && *at <= '9' ? strtoll(at, &end, 10) : -1;
        int64_t last = first;
        if (first >= 0 && *end == '-')
            last = end[1] >= '0' && end[1] <= '9' ? strtoll(end + 1, &end, 10) : -1;
        if (first < 0 || last < first || last >= limit || (*end && *end != ','))
            CLF_FAIL(CLF_INVALID_ARGUMENT, "--head \"%s\": expected numbers and ranges like 0,2,5-7 among 0 to %lld", job->heads_text,
                     (long long)limit - 1);
        CLF_TRY(clfi_grow(&job->heads, &capacity, job->head_count + (size_t)(last - first) + 1, sizeof *job->heads, "heads"));
        for (int64_t h = first; h <= last; h++)
            job->heads[job->head_count++] = h;
        if (!*end)
            return CLF_OK;
        at = end;
    }
}

static clf_status tokenize(attention_job *job)
{
    const clf_model *model = job->session.model;
    const size_t limit = job->max_tokens ? job->max_tokens : (size_t)model->info.max_tokens;
    const clf_encode_options options = {.add_special_tokens = true, .max_tokens = limit};
    CLF_TRY(clfi_tokenizer_encode(model->tokenizer, job->text, strlen(job->text), NULL, 0, &options, &job->encoding));
    if (job->encoding.length == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention: the text has no tokens");
    if (job->encoding.truncated)
        fprintf(stderr, "clformer: the text was longer than %zu tokens and cut there\n", limit);
    return CLF_OK;
}

/* The weights of the chosen heads, on the host. */
static clf_status compute(attention_job *job)
{
    const size_t matrix = job->encoding.length * job->encoding.length;
    const clf_model_info *info = clf_model_get_info(job->session.model);
    clf_tensor *tensor;
    float *all = NULL;
    clf_status st;
    CLF_TRY(clf_model_attention_ids(job->session.model, job->encoding.ids, job->encoding.type_ids, job->encoding.length, job->layer, &tensor));
    CLF_GOTO(clfi_alloc((size_t)info->heads * matrix, sizeof *all, "attention weights", &all));
    CLF_GOTO(clfi_alloc(job->head_count * matrix, sizeof *job->weights, "attention weights", &job->weights));
    CLF_GOTO(clf_tensor_read_f32(tensor, all, (size_t)info->heads * matrix));
    for (size_t i = 0; i < job->head_count; i++)
        memcpy(job->weights + i * matrix, all + (size_t)job->heads[i] * matrix, matrix * sizeof *all);
done:
    free(all);
    clf_tensor_destroy(tensor);
    return st;
}

static const char *token_text(const attention_job *job, size_t i)
{
    const char *text = clfi_tokenizer_token(job->session.model->tokenizer, job->encoding.ids[i]);
    return text ? text : "?";
}

static clf_status draw(const attention_job *job)
{
    const char **labels = NULL, **names = NULL;
    char (*numbers)[32] = NULL;
    char title[64];
    clf_status st;
    const size_t length = job->encoding.length;
    CLF_GOTO(clfi_alloc(length, sizeof *labels, "labels", &labels));
    CLF_GOTO(clfi_alloc(job->head_count, sizeof *names, "labels", &names));
    CLF_GOTO(clfi_alloc(job->head_count, sizeof *numbers, "labels", &numbers));
    for (size_t i = 0; i < length; i++)
        labels[i] = token_text(job, i);
    for (size_t i = 0; i < job->head_count; i++) {
        snprintf(numbers[i], sizeof *numbers, "head %lld", (long long)job->heads[i]);
        names[i] = numbers[i];
    }
    snprintf(title, sizeof title, "Attention weights, layer %lld", (long long)job->layer);
    const cli_heatmap map = {.title = title,
                             .row_axis = "queries",
                             .column_axis = "keys",
                             .count = job->head_count,
                             .names = names,
                             .rows = length,
                             .columns = length,
                             .row_labels = labels,
                             .column_labels = labels,
                             .values = job->weights};
    st = cli_heatmap_write(&map, job->picture);
done:
    free(labels);
    free(names);
    free(numbers);
    return st;
}

static clf_status print_string(const char *text)
{
    json_t *string = json_string(text);
    char *quoted = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    json_decref(string);
    if (!quoted)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "attention as JSON");
    fputs(quoted, stdout);
    free(quoted);
    return CLF_OK;
}

static void print_row(const float *row, size_t length)
{
    putchar('[');
    for (size_t i = 0; i < length; i++)
        printf(isfinite(row[i]) ? "%s%.9g" : "%snull", i ? ", " : "", (double)row[i]); /* JSON has no word for what is not finite */
    putchar(']');
}

/* {"layer", "tokens": [T], "heads": [H], "weights": [H][T][T]} */
static clf_status print_json(const attention_job *job)
{
    const size_t length = job->encoding.length;
    printf("{\"layer\": %lld, \"tokens\": [", (long long)job->layer);
    for (size_t i = 0; i < length; i++) {
        fputs(i ? ", " : "", stdout);
        CLF_TRY(print_string(token_text(job, i)));
    }
    fputs("], \"heads\": [", stdout);
    for (size_t h = 0; h < job->head_count; h++)
        printf("%s%lld", h ? ", " : "", (long long)job->heads[h]);
    fputs("], \"weights\": [", stdout);
    for (size_t h = 0; h < job->head_count; h++)
        for (size_t i = 0; i < length; i++) {
            fputs(i ? ",\n" : h ? ",\n[" : "\n[", stdout);
            print_row(job->weights + (h * length + i) * length, length);
            fputs(i + 1 == length ? "]" : "", stdout);
        }
    puts("]}");
    return CLF_OK;
}

static clf_status run(attention_job *job)
{
    if (job->picture && !cli_heatmap_can_write(job->picture))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention: --output %s: expected a name that ends in .png or .svg", job->picture);
    if (!job->picture && !job->npy && !job->as_json)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention: nothing to write: give -o F.png, -o F.svg, --npy F or --json");
    CLF_TRY(cli_session_open_model(&job->session, job->directory));
    CLF_TRY(read_heads(job, clf_model_get_info(job->session.model)->heads));
    CLF_TRY(tokenize(job));
    CLF_TRY(compute(job));
    const int64_t length = (int64_t)job->encoding.length;
    if (job->npy)
        CLF_TRY(clfi_npy_write(job->npy, CLF_FILE_F32, 3, (int64_t[]){(int64_t)job->head_count, length, length}, job->weights));
    if (job->picture)
        CLF_TRY(draw(job));
    return job->as_json ? print_json(job) : CLF_OK;
}

int cmd_attention(const cli_command *self, int argc, char **argv)
{
    attention_job job = {.session = CLI_SESSION_INIT, .encoding = CLF_ENCODING_INIT};
    int positional;
    const cli_option table[] = {
        {"output", 'o', "F", "draw heat maps: a name that ends in .png or .svg", CLI_TEXT, &job.picture},
        {"layer", 0, "L", "counted from 0 (default: 0)", CLI_INTEGER, &job.layer},
        {"head", 0, "H", "heads from 0: numbers and ranges, 0,2,5-7 (default: all)", CLI_TEXT, &job.heads_text},
        {"npy", 0, "F", "write the weights as float32 NumPy file [heads, queries, keys]", CLI_TEXT, &job.npy},
        {"json", 0, NULL, "print tokens and weights as JSON", CLI_FLAG, &job.as_json},
        {"max-tokens", 0, "N", "cut a longer text (default: the model's maximum)", CLI_SIZE, &job.max_tokens},
        CLI_SESSION_OPTIONS(job.session),
    };
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK && positional != 2)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "attention: expected a model directory and one text; usage: clformer attention %s", self->arguments);
    if (st == CLF_OK) {
        job.directory = argv[0];
        job.text = argv[1];
        st = run(&job);
    }
    const int status = st == CLF_OK ? 0 : cli_fail(st);
    clfi_encoding_free(&job.encoding);
    free(job.heads);
    free(job.weights);
    st = cli_session_close(&job.session, NULL);
    return status ? status : st == CLF_OK ? 0 : cli_fail(st);
}
