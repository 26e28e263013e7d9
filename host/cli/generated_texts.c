/* SPDX-License-Identifier: MIT */
/* Generates texts for clformer generate and translate: reads prompts in windows and prints the texts in the prompts' order as they come. */
#include "cli/generated_texts.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/str.h"
#include "jobs/inputs.h"
#include "jobs/model_notes.h"
#include "console/json_line.h"
#include "console/progress.h"
#include "console/standard_output.h"
#include "console/terminal.h"
#include "model/model.h"

/* State of one prompt's text. */
typedef struct answer {
    clf_str text;
    int32_t *tokens;
    size_t count, capacity;
    clf_finish finish;
} answer;

typedef struct job {
    const cli_generating *what;
    bool on_terminal;        /* standard output is a terminal, perhaps that of the progress line */
    answer *answers;         /* [count], of the window's prompts */
    size_t count, printed;   /* printed: whole answers so far, in order */
    size_t finished, tokens; /* texts and tokens of the window, printed or not */
    size_t before;           /* texts of earlier windows, which are all printed */
    size_t refused;          /* number of refused prompts of the window */
    const cli_inputs *inputs;
    clf_status st;          /* first failure of on_token */
    cli_progress *progress; /* in tokens, over all windows */
} job;

static const char *const finishes[] = {"interrupted", "stop", "length", "stop", "refused"};

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

/* Sets what an interruption reports as printed, for prompts of a file: a single text shows by itself how far it is. begun: number of texts
 * that are printed in part. */
static void say_printed(const cli_generating *what, size_t texts, size_t begun)
{
    const char *were = clfi_plural(texts, "text was", "texts were");
    if (what->file && begun)
        cli_interrupts_say("%zu %s printed, and the beginnings of %zu more", texts, were, begun);
    else if (what->file)
        cli_interrupts_say("%zu %s printed", texts, were);
}

/* Prints what the order allows by now: finished texts whole, then, except as JSON, the beginning of the first unfinished one. */
static clf_status print_ready(job *j)
{
    while (j->printed < j->count) {
        answer *a = &j->answers[j->printed];
        if (a->finish == CLF_FINISH_NONE && (j->what->as_json || a->text.length == 0))
            break;
        if (j->on_terminal)
            cli_line_clear();
        if (j->what->as_json) {
            CLF_TRY(print_json(a));
        } else {
            cli_line_keep(true);
            fwrite(clfi_str_text(&a->text), 1, a->text.length, stdout);
            clfi_str_clear(&a->text);
            if (a->finish != CLF_FINISH_NONE)
                putchar('\n');
        }
        CLF_TRY(cli_output_flush());
        cli_line_keep(a->finish == CLF_FINISH_NONE);
        if (a->finish == CLF_FINISH_NONE) {
            say_printed(j->what, j->before + j->printed, 1);
            break;
        }
        j->printed++;
        say_printed(j->what, j->before + j->printed, 0);
    }
    return CLF_OK;
}

static bool has_begun(const answer *a)
{
    return a->finish != CLF_FINISH_NONE || a->count > 0;
}

/* Prints what an interrupted or failed window has beyond what is printed, unfinished texts too, up to the last text that has begun. */
static clf_status print_rest(job *j)
{
    size_t whole = j->before + j->printed, begun = 0, end = j->count;
    while (end > j->printed && !has_begun(&j->answers[end - 1]))
        end--;
    for (; j->printed < end; j->printed++) {
        const answer *a = &j->answers[j->printed];
        if (j->on_terminal)
            cli_line_clear();
        if (j->what->as_json)
            CLF_TRY(print_json(a));
        else
            printf("%s\n", clfi_str_text(&a->text));
        whole += a->finish != CLF_FINISH_NONE;
        begun += a->finish == CLF_FINISH_NONE;
    }
    CLF_TRY(cli_output_flush());
    say_printed(j->what, whole, begun);
    return CLF_OK;
}

/* Says why a prompt gets no text. */
static void say_refused(job *j, size_t prompt)
{
    j->refused++;
    (void)cli_inputs_blame(j->inputs, &prompt, CLF_INVALID_ARGUMENT);
    cli_line_end();
    fprintf(stderr, "clformer: %s\n", clf_last_error());
}

static clf_status note(job *j, const clf_generated *step)
{
    answer *a = &j->answers[step->prompt];
    if (step->finish == CLF_FINISH_REFUSED)
        say_refused(j, step->prompt);
    CLF_TRY(clfi_str_append(&a->text, step->text.data, step->text.size));
    if (step->token >= 0) {
        CLF_TRY(clfi_grow(&a->tokens, &a->capacity, a->count + 1, sizeof *a->tokens, "tokens"));
        a->tokens[a->count++] = step->token;
        j->tokens++;
    }
    a->finish = step->finish;
    j->finished += step->finish != CLF_FINISH_NONE;
    CLF_TRY(print_ready(j));
    /* The total is estimated from the mean length of finished texts; 0: none is finished. */
    cli_progress_update(j->progress, j->tokens, j->finished ? j->tokens * j->count / j->finished : 0);
    return CLF_OK;
}

static int on_token(void *user, const clf_generated *step)
{
    job *j = user;
    if (j->what->as_json) /* an interruption waits until the tokens so far are printed */
        cli_interrupts_hold(true);
    if (j->st == CLF_OK)
        j->st = note(j, step);
    if (j->st == CLF_OK && cli_interrupts_is_waiting()) {
        j->st = print_rest(j);
        cli_interrupts_hold(false); /* ends the program */
    }
    return j->st != CLF_OK;
}

/* Prints what was generated before a failure, whose message stays the last error. A single text is printed as it comes. */
static void keep_rest(job *j)
{
    char reason[CLFI_REASON_BYTES];
    if (!j->what->as_json && !j->what->file)
        return;
    clfi_reason_keep(reason);
    j->st = print_rest(j);
    cli_line_keep(false);
    clfi_reason_restore(reason);
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
        fprintf(stderr, "generate        %.1f ms (%zu %s, %.1f tokens/s with their prompts)\n", (double)ns / 1e6, tokens,
                clfi_plural(tokens, "token", "tokens"), ns ? (double)tokens * 1e9 / (double)ns : 0.0);
}

static clf_status generate_window(clf_session *session, const cli_inputs *inputs, clf_generate_params params, const cli_generating *what,
                                  cli_progress *progress, size_t *refused)
{
    job j = {.what = what,
             .on_terminal = cli_terminal_columns(STDOUT_FILENO) > 0,
             .before = inputs->total,
             .inputs = inputs,
             .st = CLF_OK,
             .progress = progress};
    size_t failed = SIZE_MAX;
    params.failed_text = &failed;
    params.skip_refused = what->file != NULL;
    CLF_TRY(clfi_alloc(inputs->count, sizeof *j.answers, "texts", &j.answers));
    j.count = inputs->count;
    cli_progress_window(progress, cli_inputs_share(inputs));
    clf_status st = cli_inputs_blame(inputs, &failed, clf_session_generate(session, inputs->texts, inputs->count, &params, on_token, &j));
    if (st != CLF_OK && j.st == CLF_OK)
        keep_rest(&j);
    if (st == CLF_OK)
        st = j.st;
    cli_interrupts_hold(false);
    cli_progress_count(progress, j.tokens);
    *refused += j.refused;
    clear_answers(&j);
    return st;
}

static clf_status generate_all(const cli_session *session, cli_inputs *inputs, const clf_generate_params *params,
                               const cli_generating *what, size_t *refused)
{
    cli_progress progress = cli_progress_start("tokens", session->context);
    say_printed(what, 0, 0);
    clf_status st;
    size_t long_texts = 0;
    clf_generate_params watched = *params;
    watched.long_texts = &long_texts;
    do {
        st = cli_inputs_next(inputs);
        if (st == CLF_OK && inputs->count > 0)
            st = generate_window(session->work, inputs, watched, what, &progress, refused);
    } while (st == CLF_OK && inputs->count > 0);
    cli_line_clear();
    cli_generation_tell_long(session->model, long_texts);
    if (st == CLF_OK)
        print_stats(session, progress.base, clfi_now_ns() - progress.start_ns);
    return st;
}

int cli_generated_texts(cli_session *session, const cli_generating *what, clf_status (*open_model)(cli_session *session, const char *model),
                        int count, char **argv, clf_status st)
{
    cli_inputs *inputs = NULL;
    clf_generate_params params;
    clf_text stops[CLI_LIST_MAX];
    size_t refused = 0;
    if (st == CLF_OK)
        st = cli_generation_params(&what->options, stops, &params);
    if (st == CLF_OK)
        st = cli_inputs_open(argv + 1, count - 1, what->file, &inputs);
    session->sequences = what->options.batch;
    if (st == CLF_OK)
        st = open_model(session, argv[0]);
    if (st == CLF_OK && params.temperature == 0.0f && params.beams <= 1)
        cli_sampling_note(argv[0], cli_note_print, NULL);
    if (st == CLF_OK)
        st = generate_all(session, inputs, &params, what, &refused);
    const int status = st == CLF_OK ? refused > 0 : cli_fail(st);
    cli_inputs_close(inputs);
    st = cli_session_close(session, NULL);
    return status ? status : st == CLF_OK ? 0 : cli_fail(st);
}
