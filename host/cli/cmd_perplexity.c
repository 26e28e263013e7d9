/* SPDX-License-Identifier: MIT */
/* clformer perplexity: prints how well a language model predicts a text. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text_start.h"
#include "cli/commands.h"
#include "cli/generation.h"
#include "jobs/inputs.h"
#include "console/progress.h"
#include "jobs/session.h"

enum { DEFAULT_WINDOW = 512, LIMIT_BYTES = 1 << 30 };

/* name: the text's file, for messages. window: in tokens; 0: the default. */
static clf_status perplexity(cli_session *session, const char *model, const clf_text *text, const char *name, size_t window,
                             const clf_generate_params *params, int as_json)
{
    double value;
    size_t tokens, failed = SIZE_MAX;
    CLF_TRY(cli_session_open_model(session, model));
    if (!window) {
        const int64_t positions = clf_model_get_info(session->model)->max_positions;
        window = positions < DEFAULT_WINDOW ? (size_t)positions : DEFAULT_WINDOW;
    }
    cli_progress progress = cli_progress_start("tokens", session->context);
    cli_progress_window(&progress, 1);
    clf_generate_params watched = *params;
    watched.progress = cli_progress_update;
    watched.progress_user = &progress;
    watched.failed_text = &failed;
    cli_interrupts_say("nothing was printed: perplexity needs the whole text");
    const clf_status st = clf_session_perplexity(session->work, text, window, &watched, &value, &tokens);
    if (st != CLF_OK)
        return failed == 0 ? cli_contents_blame(name, st) : st;
    cli_line_clear();
    if (as_json)
        printf("{\"perplexity\":%.9g,\"tokens\":%zu,\"window\":%zu}\n", value, tokens, window);
    else
        printf("%.6f\n", value);
    return CLF_OK;
}

/* Reads a file, a pipe or, for "-", standard input. *out_name: its name in messages. */
static clf_status read_text(const char *file, clf_str *out, const char **out_name)
{
    const bool is_stdin = strcmp(file, "-") == 0;
    const int descriptor = is_stdin ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return clfi_fail_errno("open", file);
    const char *name = *out_name = is_stdin ? "standard input" : file;
    cli_ill_formed ill_formed = {0};
    clf_status st = clfi_descriptor_read(descriptor, name, LIMIT_BYTES, out);
    if (!is_stdin)
        close(descriptor);
    if (st == CLF_OK)
        st = clfi_text_skip_mark(name, out);
    cli_ill_formed_meet_all(&ill_formed, clfi_str_text(out), out->length);
    if (st == CLF_OK)
        cli_ill_formed_say(&ill_formed, name);
    return st == CLF_OK && out->length == 0 ? clfi_fail(CLF_FORMAT, "%s: expected a text, found an empty file", name) : st;
}

int cmd_perplexity(const cli_command *self, int argc, char **argv)
{
    cli_session session = CLI_SESSION_INIT;
    cli_generation options = CLI_GENERATION_INIT;
    const char *file = NULL, *name = NULL;
    size_t window = 0;
    int as_json = 0, positional;
    const cli_option table[] = {
        {"file", 'f', "F", "file of the text; - is standard input", CLI_TEXTS, &file},
        {"window", 'w', "N", "tokens per window; the first one of each is not predicted (default: 512, or the model's positions if fewer)",
         CLI_SIZE, &window},
        {"json", 0, NULL, "print {\"perplexity\":...,\"tokens\":...,\"window\":...}", CLI_FLAG, &as_json},
        CLI_GENERATION_OPTIONS(options),
        CLI_SESSION_OPTIONS(session),
        CLI_MODEL_OPTIONS(session),
        CLI_CACHE_OPTIONS(session),
    };
    clf_str bytes = CLF_STR_INIT;
    clf_generate_params params;
    clf_text stops[CLI_LIST_MAX];
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK && (positional != 1 || !file))
        st = cli_refuse(self, !file ? "expected --file" : "expected one model, found %d", positional);
    if (st == CLF_OK)
        st = cli_generation_params(&options, stops, &params);
    if (st == CLF_OK)
        st = read_text(file, &bytes, &name);
    if (st == CLF_OK) {
        const clf_text text = {clfi_str_text(&bytes), bytes.length};
        st = perplexity(&session, argv[0], &text, name, window, &params, as_json);
    }
    const int status = st == CLF_OK ? 0 : cli_fail(st);
    clfi_str_free(&bytes);
    st = cli_session_close(&session, NULL);
    return status ? status : st == CLF_OK ? 0 : cli_fail(st);
}
