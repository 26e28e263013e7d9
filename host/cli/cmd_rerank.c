/* SPDX-License-Identifier: MIT */
/* clformer rerank: prints texts in the order of a cross-encoder's scores for a query. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "jobs/classifying.h"
#include "cli/commands.h"
#include "jobs/embedding.h"
#include "console/json_line.h"
#include "jobs/pool.h"
#include "console/progress.h"
#include "jobs/reranking.h"
#include "console/terminal.h"
#include "io/json.h"

static clf_status print_json(clf_text query, const cli_collection *texts, const size_t *order, size_t count)
{
    json_t *hits = json_array();
    bool is_whole = hits != NULL;
    for (size_t i = 0; i < count; i++) {
        const clf_text text = cli_collection_text(texts, order[i]);
        const double logit = (double)texts->rows[order[i]];
        is_whole = json_array_append_new(hits, json_pack("{s:I, s:f, s:f, s:o}", "index", (json_int_t)order[i], "logit", logit, "score",
                                                         cli_sigmoid(logit), "text", clfi_json_text(text.data, text.size))) == 0 &&
                   is_whole;
    }
    json_t *line = json_pack("{s:o, s:o}", "query", clfi_json_text(query.data, query.size), "hits", hits);
    return cli_json_print(line, is_whole, JSON_REAL_PRECISION(9), "scores");
}

static void print_table(const cli_collection *texts, const size_t *order, size_t count, int columns)
{
    for (size_t i = 0; i < count; i++) {
        const clf_text text = cli_collection_text(texts, order[i]);
        const double logit = (double)texts->rows[order[i]];
        const int used = printf("%7.4f  %9.4f  %6zu  ", cli_sigmoid(logit), logit, order[i] + 1);
        cli_print_line(stdout, text.data, text.size, columns > used ? columns - used : columns ? 1 : 0);
        putchar('\n');
    }
}

typedef struct rerank_options {
    cli_classifying scoring;
    const char *file;
    size_t top; /* 0: all */
    int as_json, full;
} rerank_options;

static clf_status rerank(cli_session *session, const rerank_options *options, const char *directory, cli_inputs *inputs,
                         clf_embed_stats *stats)
{
    cli_collection texts = {.rows = NULL};
    size_t *order = NULL;
    clf_status st;
    CLF_GOTO(cli_pool_open_model(session, directory));
    cli_interrupts_say("nothing was printed: the order needs the scores of all texts");
    CLF_GOTO(cli_pool_score(session, &options->scoring, inputs, cli_collect, &texts, stats));
    CLF_GOTO(clfi_alloc(texts.count, sizeof *order, "order of texts", &order));
    for (size_t i = 0; i < texts.count; i++)
        order[i] = i;
    cli_order_by_logit(texts.rows, order, texts.count);
    const size_t count = options->top && options->top < texts.count ? options->top : texts.count;
    if (options->as_json)
        CLF_GOTO(print_json(options->scoring.query, &texts, order, count));
    else
        print_table(&texts, order, count, options->full ? 0 : cli_terminal_columns(STDOUT_FILENO));
done:
    free(order);
    cli_collection_free(&texts);
    return st;
}

int cmd_rerank(const cli_command *self, int argc, char **argv)
{
    cli_session session = CLI_SESSION_INIT;
    rerank_options options = {.top = 0};
    int positional;
    const cli_option table[] = {
        CLI_INPUTS_OPTION(options.file),
        {"top", 'k', "N", "print only the best N (default: all)", CLI_SIZE, &options.top},
        {"full", 0, NULL, "print whole texts, even if they are wider than the terminal", CLI_FLAG, &options.full},
        {"json", 0, NULL, "one JSON object: query, and hits with index (from 0), logit, score (its sigmoid) and text", CLI_FLAG,
         &options.as_json},
        CLI_CLASSIFYING_OPTIONS(options.scoring),
        CLI_POOL_SESSION_OPTIONS(session),
        CLI_MODEL_OPTIONS(session),
    };
    cli_inputs *inputs = NULL;
    clf_embed_stats stats = {0};
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK && positional < 2)
        st = cli_refuse(self, "expected a model directory and a query");
    if (st == CLF_OK) {
        options.scoring.query = (clf_text){argv[1], strlen(argv[1])};
        st = cli_inputs_open(argv + 2, positional - 2, options.file, &inputs);
    }
    if (st == CLF_OK)
        st = rerank(&session, &options, argv[0], inputs, &stats);
    return cli_embedding_end(&session, inputs, &stats, st);
}
