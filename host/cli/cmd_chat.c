/* SPDX-License-Identifier: MIT */
/* clformer chat: holds a conversation with a language model, in the model's own chat template. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/generation.h"
#include "console/ill_formed.h"
#include "console/progress.h"
#include "jobs/model_notes.h"
#include "jobs/session.h"
#include "console/standard_output.h"
#include "clformer/chat.h"
#include "model/chat_template.h"

enum { LINE_BYTES = 1 << 20 };

static volatile sig_atomic_t is_interrupted; /* by Ctrl-C while an answer is written */

static void interrupt(int number)
{
    (void)number;
    is_interrupted = 1;
}

/* A message of the conversation, which owns the text. */
typedef struct said {
    const char *role; /* a literal */
    char *text;
    size_t size;
} said;

typedef struct chat {
    clf_model *model; /* borrowed */
    clf_session *session;
    clf_sequence *sequence; /* keeps the conversation so far: only a prompt's new tokens are computed */
    bool is_terminal;       /* a person types the questions and reads the answers */
    said *messages;         /* [count]; the system's message comes first, if there is one */
    size_t count, capacity;
    clf_chat_params params;
    clf_generate_params generate;
    clf_str answer;
    clf_status st;        /* first failure of on_token, which prints */
    size_t line, refused; /* number of the current input line; number of refused questions */
    bool is_forgetting;   /* the user was told that old messages are dropped */
} chat;

static clf_status say(chat *c, const char *role, const char *text, size_t size)
{
    CLF_TRY(clfi_grow(&c->messages, &c->capacity, c->count + 1, sizeof *c->messages, "messages"));
    said *message = &c->messages[c->count];
    *message = (said){.role = role, .size = size};
    CLF_TRY(clfi_strndup(text, size, &message->text));
    c->count++;
    return CLF_OK;
}

/* Removes `count` messages from index `first` on. */
static void take_back(chat *c, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++)
        free(c->messages[i].text);
    c->count -= count;
    if (c->count > first)
        memmove(c->messages + first, c->messages + first + count, (c->count - first) * sizeof *c->messages);
}

static clf_status blame_line(const chat *c, clf_status st)
{
    return clfi_fail_prefix(st, "standard input: line %zu: the conversation", c->line);
}

static int on_token(void *user, const clf_generated *step)
{
    chat *c = user;
    if (step->text.size)
        cli_line_keep(true);
    fwrite(step->text.data, 1, step->text.size, stdout);
    if (c->st == CLF_OK)
        c->st = cli_output_flush();
    if (c->st == CLF_OK)
        c->st = clfi_str_append(&c->answer, step->text.data, step->text.size);
    return c->st != CLF_OK || is_interrupted;
}

static void tell_forgetting(chat *c)
{
    if (!c->is_forgetting)
        fprintf(stderr, "clformer: the conversation exceeds the model's %lld positions: its oldest messages are dropped\n",
                (long long)clf_model_get_info(c->model)->max_positions);
    c->is_forgetting = true;
}

/* Makes a request for the answer to all messages. *out_forgotten: how many of the oldest were left out. The caller destroys *out. */
static clf_status make_request(chat *c, size_t *out_forgotten, clf_request **out)
{
    clf_message *messages;
    CLF_TRY(clfi_alloc(c->count, sizeof *messages, "messages", &messages));
    for (size_t i = 0; i < c->count; i++)
        messages[i] = (clf_message){c->messages[i].role, {c->messages[i].text, c->messages[i].size}};
    c->params.generate = &c->generate;
    c->params.forgotten = out_forgotten;
    const clf_status st = clf_session_chat(c->session, messages, c->count, &c->params, on_token, c, out);
    free(messages);
    return st;
}

/* At a terminal Ctrl-C ends the answer, and the conversation goes on; a second one ends the program. */
static clf_status run_request(chat *c, clf_request *request)
{
    struct sigaction before, during = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    clfi_str_clear(&c->answer);
    is_interrupted = 0;
    if (c->is_terminal && sigaction(SIGINT, &during, &before) != 0)
        return clfi_fail_errno("sigaction", "SIGINT");
    const clf_status st = clf_session_run_requests(c->session, &request, 1);
    if (c->is_terminal && sigaction(SIGINT, &before, NULL) != 0)
        return clfi_fail_errno("sigaction", "SIGINT");
    CLF_TRY(st != CLF_OK && clf_request_finish(request) == CLF_FINISH_REFUSED ? blame_line(c, st) : st);
    CLF_TRY(c->st);
    cli_line_clear();
    putchar('\n');
    cli_line_keep(false);
    return CLF_OK;
}

/* *out_refused true: no request can be made with this question, which is removed from the conversation. */
static clf_status answer(chat *c, clf_text question, bool *out_refused)
{
    size_t forgotten = 0;
    clf_request *request;
    CLF_TRY(say(c, "user", question.data, question.size));
    clf_status st = make_request(c, &forgotten, &request);
    *out_refused = st == CLF_INVALID_ARGUMENT;
    if (*out_refused) {
        take_back(c, c->count - 1, 1);
        return blame_line(c, st);
    }
    CLF_TRY(st);
    st = run_request(c, request);
    clf_request_destroy(request);
    CLF_TRY(st);
    if (forgotten > 0) {
        take_back(c, strcmp(c->messages[0].role, "system") == 0, forgotten);
        tell_forgetting(c);
    }
    return say(c, "assistant", clfi_str_text(&c->answer), c->answer.length);
}

/* Answers a question. A refused question is reported on standard error and does not change the conversation. */
static clf_status ask(chat *c, clf_text question)
{
    bool is_refused = false;
    const clf_status st = answer(c, question, &is_refused);
    if (!is_refused)
        return st;
    c->refused++;
    cli_line_clear();
    fprintf(stderr, "clformer: %s\n", clf_last_error());
    return CLF_OK;
}

/* Reads standard input to its end, one question per line. Empty lines are skipped. */
static clf_status converse(chat *c)
{
    clf_str line = CLF_STR_INIT;
    cli_ill_formed ill_formed = {0};
    clf_status st = CLF_OK;
    for (bool any = true; st == CLF_OK && any;) {
        if (c->is_terminal) {
            cli_line_keep(true);
            fputs("> ", stdout);
        }
        st = cli_output_flush();
        if (st == CLF_OK)
            st = clfi_line_read(stdin, "standard input", ++c->line, LINE_BYTES, &line, &any);
        if (any) /* the terminal showed the newline that the person typed */
            cli_line_keep(false);
        const clf_text question = {clfi_str_text(&line), clfi_line_length(&line)};
        cli_ill_formed_meet(&ill_formed, question.data, question.size, c->line);
        if (st == CLF_OK && any && question.size > 0)
            st = ask(c, question);
    }
    if (c->is_terminal)
        putchar('\n');
    cli_line_keep(false);
    cli_ill_formed_say(&ill_formed, "standard input");
    clfi_str_free(&line);
    return st;
}

/* Checks that the model's files have a chat template, before a large model is loaded. */
static clf_status check_template(const char *model)
{
    char *text = NULL;
    const clf_status st = clfi_chat_template_read(model, &text);
    free(text);
    return st;
}

/* *out_refused: number of refused questions. */
static clf_status run(cli_session *session, const char *model, const char *system, bool keeps_control, const clf_generate_params *params,
                      size_t *out_refused)
{
    chat c = {.params = CLF_CHAT_PARAMS_INIT, .generate = *params, .st = CLF_OK, .answer = CLF_STR_INIT};
    clf_status st;
    c.is_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    c.params.keeps_control = keeps_control;
    c.params.forgets = true;
    CLF_GOTO(check_template(model));
    CLF_GOTO(cli_session_open_model(session, model));
    if (params->temperature == 0.0f)
        cli_sampling_note(model, cli_note_print, NULL);
    c.model = session->model;
    c.session = session->work;
    CLF_GOTO(clf_sequence_create(c.session, &c.sequence));
    c.generate.sequence = c.sequence;
    if (system)
        CLF_GOTO(say(&c, "system", system, strlen(system)));
    CLF_GOTO(converse(&c));
    *out_refused = c.refused;
done:
    take_back(&c, 0, c.count);
    free(c.messages);
    clf_sequence_destroy(c.sequence);
    clfi_str_free(&c.answer);
    return st;
}

int cmd_chat(const cli_command *self, int argc, char **argv)
{
    cli_session session = CLI_SESSION_INIT;
    cli_generation options = CLI_GENERATION_INIT;
    const char *system = NULL;
    size_t refused = 0;
    int keeps_control = 0, positional;
    const cli_option table[] = {
        {"system", 0, "TEXT", "system message: how the model should answer", CLI_TEXT, &system},
        {"special", 0, NULL, "read special tokens written in questions and --system as tokens, not as text", CLI_FLAG, &keeps_control},
        CLI_SAMPLING_OPTIONS(options, "512"),
        CLI_SESSION_OPTIONS(session),
        CLI_MODEL_OPTIONS(session),
        CLI_CACHE_OPTIONS(session),
    };
    clf_generate_params params;
    clf_text stops[CLI_LIST_MAX];
    options.max_tokens = 512;
    session.sequences = 1;
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK && positional != 1)
        st = cli_refuse(self, "expected one model, found %d; questions come from standard input", positional);
    if (st == CLF_OK)
        st = cli_generation_params(&options, stops, &params);
    if (st == CLF_OK)
        st = run(&session, argv[0], system, keeps_control, &params, &refused);
    const int status = st == CLF_OK ? refused > 0 : cli_fail(st);
    st = cli_session_close(&session, NULL);
    return status ? status : st == CLF_OK ? 0 : cli_fail(st);
}
