/* SPDX-License-Identifier: MIT */
/* clformer classify: prints the best label of each text or pair of texts, and with --json the logits of all labels. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jobs/classifying.h"
#include "cli/commands.h"
#include "jobs/embedding.h"
#include "console/json_line.h"
#include "console/progress.h"
#include "console/standard_output.h"
#include "console/terminal.h"

typedef struct classify_job {
    cli_classifying options;
    const clf_model *model;
    int as_json;
    int columns; /* width of the terminal; 0: standard output is not a terminal */
    size_t printed;
} classify_job;

/* {"label": "POSITIVE", "score": 0.98, "logits": [-1.9, 2.1]} */
static clf_status print_json(const clf_model *model, size_t best, const float *logits, const float *scores, size_t labels)
{
    json_t *array = json_array();
    bool is_whole = array != NULL;
    for (size_t k = 0; k < labels; k++)
        is_whole = json_array_append_new(array, json_real((double)logits[k])) == 0 && is_whole;
    const char *label = clf_model_label(model, best);
    json_t *line = json_pack("{s:s, s:f, s:o}", "label", label, "score", (double)scores[best], "logits", array);
    return cli_json_print(line, is_whole, JSON_REAL_PRECISION(9), "labels");
}

/* Prints the score, the label and the text. The two texts of a pair share what is left of the terminal's width. */
static void print_row(const classify_job *job, const char *label, float score, clf_text first, clf_text second)
{
    enum { LABEL_COLUMNS = 16 };
    static const char between[] = "  |  ";
    int used = printf("%7.4f  ", (double)score);
    const int width = cli_print_line(stdout, label, strlen(label), 0);
    used += width + printf("%*s", width < LABEL_COLUMNS ? LABEL_COLUMNS - width + 2 : 2, "");
    const int left = job->columns > used ? job->columns - used : job->columns ? 1 : 0;
    const int both = left - (int)strlen(between), half = both < 2 ? left != 0 : both / 2;
    used = cli_print_line(stdout, first.data, first.size, second.data ? half : left);
    if (second.data) {
        fputs(between, stdout);
        cli_print_line(stdout, second.data, second.size, both > used ? both - used : left != 0);
    }
    putchar('\n');
}

/* A cli_classifying_sink. */
static clf_status print_window(void *user, const cli_inputs *inputs, const float *logits, const float *scores, size_t labels)
{
    classify_job *job = user;
    cli_line_clear();
    for (size_t i = 0; i < inputs->count; i++, logits += labels, scores += labels) {
        size_t best = 0;
        for (size_t k = 1; k < labels; k++)
            best = scores[k] > scores[best] ? k : best;
        if (job->as_json)
            CLF_TRY(print_json(job->model, best, logits, scores, labels));
        else
            print_row(job, clf_model_label(job->model, best), scores[best], inputs->texts[i], inputs->seconds[i]);
        CLF_TRY(cli_output_done(++job->printed, "text was", "texts were"));
    }
    return CLF_OK;
}

/* A cli_texts_work. */
static clf_status classify(void *user, cli_session *session, const char *directory, cli_inputs *inputs, clf_embed_stats *stats)
{
    classify_job *job = user;
    inputs->takes_pairs = true;
    CLF_TRY(cli_session_open_model(session, directory));
    job->model = session->model;
    job->columns = cli_terminal_columns(STDOUT_FILENO);
    return cli_classify_all(session, &job->options, inputs, print_window, job, stats);
}

int cmd_classify(const cli_command *self, int argc, char **argv)
{
    cli_session session = CLI_SESSION_INIT;
    classify_job job = {.as_json = 0};
    const char *file = NULL;
    const cli_option table[] = {
        {"file", 'f', "F", "one text per line; in a .jsonl file a JSON string, an object with \"text\", or an array of two texts per line",
         CLI_TEXTS, &file},
        {"json", 0, NULL, "print one object per text: label, score, logits", CLI_FLAG, &job.as_json},
        CLI_CLASSIFYING_OPTIONS(job.options),
        CLI_SESSION_OPTIONS(session),
        CLI_MODEL_OPTIONS(session),
    };
    return cli_run_on_texts(self, table, COUNT(table), argc, argv, &file, &session, classify, &job);
}
