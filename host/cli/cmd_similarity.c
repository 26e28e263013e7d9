/* SPDX-License-Identifier: MIT */
/* clformer similarity: cosine similarity of every pair of texts. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "cli/commands.h"
#include "cli/embedding.h"
#include "cli/scores.h"

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

static clf_status print_matrix(const float *scores, size_t n, int as_json)
{
    if (!as_json) {
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                printf("%7.4f%s", (double)scores[i * n + j], j + 1 < n ? " " : "\n");
        return CLF_OK;
    }
    json_t *rows = matrix_json(scores, n);
    char *text = json_dumps(rows, JSON_REAL_PRECISION(9));
    json_decref(rows);
    if (!text)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "similarities as JSON");
    puts(text);
    free(text);
    return CLF_OK;
}

static clf_status similarity(cli_session *session, const cli_embedding *options, const char *directory, cli_inputs *inputs, int as_json,
                             clf_embed_stats *stats)
{
    cli_collection all = {.rows = NULL};
    float *scores = NULL;
    clf_status st;
    CLF_GOTO(cli_session_open_model(session, directory));
    CLF_GOTO(cli_embed_all(session, options, inputs, cli_collect, &all, stats));
    CLF_GOTO(clfi_alloc(all.count * all.count, sizeof *scores, "similarities", &scores));
    CLF_GOTO(cli_cosine_matrix(session->context, all.rows, all.count, all.rows, all.count, all.width, scores));
    CLF_GOTO(print_matrix(scores, all.count, as_json));
done:
    free(scores);
    cli_collection_free(&all);
    return st;
}

int cmd_similarity(const cli_command *self, int argc, char **argv)
{
    cli_session session = CLI_SESSION_INIT;
    cli_embedding options = CLI_EMBEDDING_INIT;
    const char *file = NULL;
    int as_json = 0, positional;
    const cli_option table[] = {
        CLI_INPUTS_OPTION(file),
        {"json", 0, NULL, "print the matrix as a JSON array of rows", CLI_FLAG, &as_json},
        CLI_EMBEDDING_OPTIONS(options),
        CLI_SESSION_OPTIONS(session),
    };
    cli_inputs *inputs = NULL;
    clf_embed_stats stats = {0};
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK)
        st = cli_inputs_open_after_model(self, argv, positional, file, &inputs);
    if (st == CLF_OK)
        st = similarity(&session, &options, argv[0], inputs, as_json, &stats);
    return cli_embedding_end(&session, inputs, &stats, st);
}
