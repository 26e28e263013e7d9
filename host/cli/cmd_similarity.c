/* SPDX-License-Identifier: MIT */
/* clformer similarity: prints the similarity of every pair of texts, by the measure that the model's files name. */
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/commands.h"
#include "jobs/embedding.h"
#include "console/json_line.h"
#include "console/progress.h"
#include "jobs/scores.h"
#include "console/terminal.h"

static json_t *matrix_json(const float *scores, size_t n)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *row = json_array();
        for (size_t j = 0; j < n; j++)
            json_array_append_new(row, json_real((double)scores[i * n + j]));
        json_array_append_new(rows, row);
    }
    return rows;
}

/* Prints a row of scores for each text, followed by the text. */
static void print_rows(const float *scores, const cli_collection *all)
{
    const size_t n = all->count;
    const int columns = cli_terminal_columns(STDOUT_FILENO), used = n < 10000 ? (int)n * 8 + 1 : INT_MAX;
    for (size_t i = 0; i < n; i++) {
        const size_t start = i ? all->ends[i - 1] : 0;
        for (size_t j = 0; j < n; j++)
            printf("%7.4f ", (double)scores[i * n + j]);
        putchar(' ');
        cli_print_line(stdout, clfi_str_text(&all->bytes) + start, all->ends[i] - start, columns > used ? columns - used : 0);
        putchar('\n');
    }
}

static clf_status print_matrix(const float *scores, const cli_collection *all, int as_json)
{
    const size_t n = all->count;
    for (size_t i = 0; i < n * n; i++)
        if (!isfinite(scores[i]))
            CLF_FAIL(CLF_INTERNAL, "texts %zu and %zu: the similarity is %g", i / n + 1, i % n + 1, (double)scores[i]);
    if (!as_json) {
        print_rows(scores, all);
        return CLF_OK;
    }
    json_t *rows = matrix_json(scores, n);
    return cli_json_print(rows, true, JSON_REAL_PRECISION(9), "similarities");
}

typedef struct similarity_job {
    cli_embedding options;
    int as_json;
} similarity_job;

/* A cli_texts_work. */
static clf_status similarity(void *user, cli_session *session, const char *directory, cli_inputs *inputs, clf_embed_stats *stats)
{
    const similarity_job *job = user;
    cli_collection all = {.rows = NULL};
    float *scores = NULL;
    clf_similarity compare;
    clf_status st;
    CLF_GOTO(cli_session_open_model(session, directory));
    CLF_GOTO(clfi_similarity_read(directory, &compare));
    CLF_GOTO(cli_embed_all(session, &job->options, inputs, cli_collect, &all, stats));
    if (all.count == 1)
        CLF_GOTO(clfi_fail(CLF_INVALID_ARGUMENT, "similarity: expected two texts or more, found one"));
    CLF_GOTO(clfi_alloc(all.count * all.count, sizeof *scores, "similarities", &scores));
    CLF_GOTO(cli_score_matrix(session->context, compare, all.rows, all.count, all.rows, all.count, all.width, scores));
    cli_line_clear();
    CLF_GOTO(print_matrix(scores, &all, job->as_json));
done:
    free(scores);
    cli_collection_free(&all);
    return st;
}

int cmd_similarity(const cli_command *self, int argc, char **argv)
{
    cli_session session = CLI_SESSION_INIT;
    similarity_job job = {.options = CLI_EMBEDDING_INIT};
    const char *file = NULL;
    const cli_option table[] = {
        CLI_INPUTS_OPTION(file),
        {"json", 0, NULL, "print the matrix as a JSON array of rows", CLI_FLAG, &job.as_json},
        CLI_EMBEDDING_OPTIONS(job.options),
        CLI_SESSION_OPTIONS(session),
        CLI_MODEL_OPTIONS(session),
    };
    return cli_run_on_texts(self, table, COUNT(table), argc, argv, &file, &session, similarity, &job);
}
