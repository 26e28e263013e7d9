/* SPDX-License-Identifier: MIT */
/* clformer chat: a conversation with a language model in its own chat template. */
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "cli/chat_prompt.h"
#include "cli/commands.h"
#include "cli/generation.h"
#include "console/ill_formed.h"
#include "console/progress.h"
#include "jobs/session.h"
#include "console/standard_output.h"
#include "io/json.h"
#include "model/chat_template.h"
#include "model/model.h"
#include "model/request.h"
#include "template/template.h"

enum { LINE_BYTES = 1 << 20 };

static volatile sig_atomic_t is_interrupted; /* while an answer is written */

static void interrupt(int number)
{
    (void)number;
    is_interrupted = 1;
}

typedef struct chat {
    clf_model *model; /* borrowed */
    clf_session *session;
    clf_sequence *sequence; /* the conversation so far: of a prompt only what is new is computed */
    bool is_terminal;       /* a person asks */
    clf_template *form;
    cli_chat_prompt *prompt;
    json_t *messages; /* cli_chat_message, ... */
    bool has_system;  /* the first of them */
    clf_generate_params params;
    const int32_t *tokens; /* [token_count]: the prompt */
    size_t token_count;
    clf_str answer;
    clf_status st;        /* of printing */
    size_t line, refused; /* of standard input: the one in hand; questions that were */
    bool is_forgetting;   /* which was told */
} chat;

static clf_status out_of_memory(void)
{
    CLF_FAIL(CLF_OUT_OF_MEMORY, "malloc: not enough memory for the conversation");
}

static clf_status say(chat *c, const char *role, const char *text, size_t size)
{
    json_t *message;
    CLF_TRY(cli_chat_message(c->prompt, role, text, size, &message));
    return json_array_append_new(c->messages, message) == 0 ? CLF_OK : out_of_memory();
}

/* The conversation as a prompt with room for an answer, at least a quarter of the positions where it may be as long: what was said first is
 * forgotten where it must be. */
static clf_status make_prompt(chat *c, bool *out_refused)
{
    const size_t positions = (size_t)clf_model_get_info(c->model)->max_positions, first = c->has_system ? 1 : 0;
    const size_t room = c->params.max_tokens < positions / 4 ? c->params.max_tokens : positions / 4;
    for (;;) {
        CLF_TRY(cli_chat_prompt_make(c->prompt, c->messages, &c->tokens, &c->token_count, out_refused));
        if (c->token_count + room <= positions || json_array_size(c->messages) < first + 3)
            return CLF_OK;
        for (int i = 0; i < 2; i++) /* a question and its answer */
            if (json_array_remove(c->messages, first) != 0)
                return out_of_memory();
    }
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

/* The answer to the prompt. At a terminal Ctrl-C ends it and leaves the conversation; a second one ends the program. *out_refused: the
 * prompt is to blame. */
static clf_status generate(chat *c, bool *out_refused)
{
    const clf_prompt prompt = {.ids = c->tokens ? c->tokens : &(const int32_t){0}, .id_count = c->token_count};
    struct sigaction before, during = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    size_t failed = SIZE_MAX;
    c->params.failed_text = &failed;
    is_interrupted = 0;
    if (c->is_terminal && sigaction(SIGINT, &during, &before) != 0)
        return clfi_fail_errno("sigaction", "SIGINT");
    const clf_status st = clfi_generate_prompts(c->session, &prompt, 1, &c->params, on_token, c);
    if (c->is_terminal && sigaction(SIGINT, &before, NULL) != 0)
        return clfi_fail_errno("sigaction", "SIGINT");
    *out_refused = st == CLF_INVALID_ARGUMENT && failed == 0;
    return st != CLF_OK && failed == 0 ? blame_line(c, st) : st;
}

static void tell_forgetting(chat *c)
{
    if (!c->is_forgetting)
        fprintf(stderr, "clformer: the model has %lld positions: what was said first is forgotten\n",
                (long long)clf_model_get_info(c->model)->max_positions);
    c->is_forgetting = true;
}

static clf_status answer(chat *c, clf_text question, bool *out_refused)
{
    CLF_TRY(say(c, "user", question.data, question.size));
    const size_t said = json_array_size(c->messages);
    const clf_status made = make_prompt(c, out_refused);
    if (made != CLF_OK)
        return *out_refused ? blame_line(c, made) : made;
    clfi_str_clear(&c->answer);
    CLF_TRY(generate(c, out_refused));
    CLF_TRY(c->st);
    cli_line_clear();
    putchar('\n');
    cli_line_keep(false);
    if (json_array_size(c->messages) < said)
        tell_forgetting(c);
    return say(c, "assistant", clfi_str_text(&c->answer), c->answer.length);
}

/* A question that has no place is told and leaves the conversation as it was. */
static clf_status ask(chat *c, clf_text question)
{
    bool is_refused = false;
    json_t *before = clfi_json_copy(c->messages);
    if (!before)
        return out_of_memory();
    const clf_status st = answer(c, question, &is_refused);
    if (!is_refused) {
        json_decref(before);
        return st;
    }
    json_decref(c->messages);
    c->messages = before;
    c->refused++;
    cli_line_clear();
    fprintf(stderr, "clformer: %s\n", clf_last_error());
    return CLF_OK;
}

/* Lines of standard input, one question each. */
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

static clf_status open_template(const char *model, clf_template **out)
{
    char *text;
    CLF_TRY(clfi_chat_template_read(model, &text));
    const clf_status st = clfi_template_parse(text, strlen(text), "chat template", out);
    free(text);
    return st;
}

/* *out_refused: how many questions were. */
static clf_status run(cli_session *session, const char *model, const char *system, bool keeps_control, const clf_generate_params *params,
                      size_t *out_refused)
{
    chat c = {.params = *params, .st = CLF_OK, .has_system = system != NULL, .answer = CLF_STR_INIT};
    clf_status st;
    c.is_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    CLF_GOTO(open_template(model, &c.form));
    CLF_GOTO(cli_session_open_model(session, model));
    c.model = session->model;
    CLF_GOTO(clf_session_create(c.model, NULL, &c.session));
    CLF_GOTO(clf_sequence_create(c.session, &c.sequence));
    c.params.sequence = c.sequence;
    CLF_GOTO(cli_chat_prompt_open(c.form, c.model->tokenizer, keeps_control, &c.prompt));
    c.messages = json_array();
    CLF_GOTO(c.messages ? CLF_OK : out_of_memory());
    if (system)
        CLF_GOTO(say(&c, "system", system, strlen(system)));
    CLF_GOTO(converse(&c));
    *out_refused = c.refused;
done:
    json_decref(c.messages);
    cli_chat_prompt_close(c.prompt);
    clf_sequence_destroy(c.sequence);
    clf_session_destroy(c.session);
    clfi_template_destroy(c.form);
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
        {"system", 0, "TEXT", "how the model is to answer", CLI_TEXT, &system},
        {"special", 0, NULL, "control tokens written in a question or in --system are those tokens, and not text like any other", CLI_FLAG,
         &keeps_control},
        CLI_SAMPLING_OPTIONS(options),
        CLI_SESSION_OPTIONS(session),
        CLI_MODEL_OPTIONS(session),
        CLI_CACHE_OPTIONS(session),
    };
    clf_generate_params params;
    clf_text stops[CLI_LIST_MAX];
    options.max_tokens = 512;
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
