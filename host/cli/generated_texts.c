/* SPDX-License-Identifier: MIT */
/* Texts as they come: prompts read in windows, pieces printed in the prompts' order. */
#include "cli/generated_texts.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cli/inputs.h"
#include "cli/json_line.h"
#include "cli/progress.h"
#include "cli/standard_output.h"

/* What is known of one prompt's text. */
typedef struct answer {
    clf_str text;
    int32_t *tokens;
    size_t count, capacity;
    clf_finish finish;
} answer;

typedef struct job {
    bool as_json;
    answer *answers;       /* of the window */
    size_t count, printed; /* answers printed so far, in order */
    bool is_open;          /* a streamed text has begun */
    clf_status st;
} job;

static const char *const finishes[] = {"", "stop", "length", "stop"};

static clf_status print_json(const answer *a)
{
    json_t *tokens = json_array(), *line;
    for (size_t i = 0; tokens && i < a->count; i++)
        if (json_array_append_new(tokens, json_integer(a->tokens[i])) != 0) {
            json_decref(tokens);
            tokens = NULL; /* reported below */
        }
    line = json_pack("{s:o,s:s%,s:s}", "tokens", tokens, "text", clfi_str_text(&a->text), a->text.length, "finish", finishes[a->finish]);
    return cli_json_print(line, true, JSON_COMPACT, "texts");
}

/* Everything that may be printed by now: the first unfinished text as far as it is, finished ones behind it whole. */
static clf_status print_ready(job *j)
{
    while (j->printed < j->count) {
        answer *a = &j->answers[j->printed];
        if (a->finish == CLF_FINISH_NONE && (j->as_json || a->text.length == 0))
            break;
        cli_line_clear();
        if (j->as_json) {
            CLF_TRY(print_json(a));
        } else {
            cli_interrupts_end_line(a->finish == CLF_FINISH_NONE);
            fwrite(clfi_str_text(&a->text), 1, a->text.length, stdout);
            clfi_str_clear(&a->text);
            if (a->finish != CLF_FINISH_NONE)
                putchar('\n');
        }
        CLF_TRY(cli_output_flush());
        if (a->finish == CLF_FINISH_NONE)
            break;
        j->printed++;
    }
    return CLF_OK;
}

static clf_status note(job *j, const clf_generated *step)
{
    answer *a = &j->answers[step->prompt];
    CLF_TRY(clfi_str_append(&a->text, step->text.data, step->text.size));
    if (step->token >= 0) {
        CLF_TRY(clfi_grow(&a->tokens, &a->capacity, a->count + 1, sizeof *a->tokens, "tokens"));
        a->tokens[a->count++] = step->token;
    }
    a->finish = step->finish;
    return print_ready(j);
}

static int on_token(void *user, const clf_generated *step)
{
    job *j = user;
    if (j->st == CLF_OK)
        j->st = note(j, step);
    return j->st != CLF_OK;
}

static void clear_answers(job *j)
{
    for (size_t i = 0; i < j->count; i++) {
        clfi_str_free(&j->answers[i].text);
        free(j->answers[i].tokens);
    }
    free(j->answers);
    j->answers = NULL;
    j->count = 0;
}

static void print_stats(const cli_session *session, size_t tokens, uint64_t ns)
{
    if (session->stats)
        fprintf(stderr, "generate        %.1f ms (%zu tokens, %.1f tokens/s with their prompts)\n", (double)ns / 1e6, tokens,
                ns ? (double)tokens * 1e9 / (double)ns : 0.0);
}

static clf_status generate_window(clf_session *session, const cli_inputs *inputs, clf_generate_params params, bool as_json, size_t *tokens)
{
    job j = {.as_json = as_json, .st = CLF_OK};
    size_t failed = SIZE_MAX;
    params.failed_text = &failed;
    CLF_TRY(clfi_alloc(inputs->count, sizeof *j.answers, "texts", &j.answers));
    j.count = inputs->count;
    clf_status st = cli_inputs_blame(inputs, &failed, clf_generate(session, inputs->texts, inputs->count, &params, on_token, &j));
    if (st == CLF_OK)
        st = j.st;
    for (size_t i = 0; i < j.count; i++)
        *tokens += j.answers[i].count;
    clear_answers(&j);
    return st;
}

static clf_status generate_all(const cli_session *session, cli_inputs *inputs, const clf_generate_params *params, bool as_json)
{
    clf_session *own;
    CLF_TRY(clf_session_create(session->model, NULL, &own));
    const uint64_t start = clfi_now_ns();
    size_t tokens = 0;
    clf_status st;
    do {
        st = cli_inputs_next(inputs);
        if (st == CLF_OK && inputs->count > 0)
            st = generate_window(own, inputs, *params, as_json, &tokens);
    } while (st == CLF_OK && inputs->count > 0);
    if (st == CLF_OK)
        print_stats(session, tokens, clfi_now_ns() - start);
    clf_session_destroy(own);
    return st;
}

int cli_generated_texts(cli_session *session, const cli_generating *what, clf_status (*open_model)(cli_session *session, const char *model),
                        int count, char **argv, clf_status st)
{
    cli_inputs *inputs = NULL;
    clf_generate_params params;
    clf_text stops[CLI_LIST_MAX];
    if (st == CLF_OK)
        st = cli_generation_params(&what->options, stops, &params);
    if (st == CLF_OK)
        st = cli_inputs_open(argv + 1, count - 1, what->file, &inputs);
    if (st == CLF_OK)
        st = open_model(session, argv[0]);
    if (st == CLF_OK)
        st = generate_all(session, inputs, &params, what->as_json);
    const int status = st == CLF_OK ? 0 : cli_fail(st);
    cli_inputs_close(inputs);
    st = cli_session_close(session, NULL);
    return status ? status : st == CLF_OK ? 0 : cli_fail(st);
}
