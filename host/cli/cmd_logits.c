/* SPDX-License-Identifier: MIT */
/* clformer logits: writes a language model's logits of the token after each text as a NumPy file. */
#include <stdlib.h>

#include "base/alloc.h"
#include "cli/commands.h"
#include "cli/generation.h"
#include "jobs/inputs.h"
#include "jobs/npy_output.h"
#include "console/progress.h"
#include "jobs/session.h"

typedef struct logit_rows {
    float *values;
    size_t count, capacity; /* counted in numbers, not rows */
} logit_rows;

static clf_status run_window(clf_session *session, const cli_inputs *inputs, clf_generate_params params, size_t vocabulary,
                             cli_progress *progress, logit_rows *all)
{
    size_t more, need, failed = SIZE_MAX;
    params.failed_text = &failed;
    params.progress = cli_progress_update;
    params.progress_user = progress;
    cli_progress_window(progress, cli_inputs_share(inputs));
    if (!clfi_mul_size(inputs->count, vocabulary, &more) || !clfi_add_size(all->count, more, &need))
        CLF_FAIL(CLF_OUT_OF_MEMORY, "E_OVERFLOW: logits of %zu texts", inputs->count);
    CLF_TRY(clfi_grow(&all->values, &all->capacity, need, sizeof *all->values, "logits"));
    CLF_TRY(
        cli_inputs_blame(inputs, &failed, clf_session_logits(session, inputs->texts, inputs->count, &params, all->values + all->count)));
    cli_progress_count(progress, inputs->count);
    all->count = need;
    return CLF_OK;
}

static clf_status logits(cli_session *session, const char *model, cli_inputs *inputs, const clf_generate_params *params, const char *output)
{
    logit_rows all = {.values = NULL};
    CLF_TRY(cli_session_open_model(session, model));
    const int64_t vocabulary = clf_model_get_info(session->model)->vocabulary;
    cli_progress progress = cli_progress_start("texts", session->context);
    clf_status st;
    size_t long_texts = 0;
    clf_generate_params watched = *params;
    watched.long_texts = &long_texts;
    cli_interrupts_say("nothing was written to %s", output);
    do {
        st = cli_inputs_next(inputs);
        if (st == CLF_OK && inputs->count > 0)
            st = run_window(session->work, inputs, watched, (size_t)vocabulary, &progress, &all);
    } while (st == CLF_OK && inputs->count > 0);
    if (st == CLF_OK)
        st = cli_npy_write(output, CLF_FILE_F32, 2, (int64_t[]){(int64_t)all.count / vocabulary, vocabulary}, all.values);
    cli_line_clear();
    cli_generation_tell_long(session->model, long_texts);
    free(all.values);
    return st;
}

int cmd_logits(const cli_command *self, int argc, char **argv)
{
    cli_session session = CLI_SESSION_INIT;
    cli_generation options = CLI_GENERATION_INIT;
    const char *file = NULL, *output = NULL;
    int positional;
    const cli_option table[] = {
        CLI_INPUTS_OPTION(file),
        {"output", 'o', "L.npy", "write one row of logits per text: for the token that follows it", CLI_OUTPUT, &output},
        CLI_GENERATION_OPTIONS(options),
        CLI_SESSION_OPTIONS(session),
        CLI_MODEL_OPTIONS(session),
        CLI_CACHE_OPTIONS(session),
    };
    cli_inputs *inputs = NULL;
    clf_generate_params params;
    clf_text stops[CLI_LIST_MAX];
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK && (positional < 1 || !output))
        st = cli_refuse(self, "expected a model and -o L.npy");
    if (st == CLF_OK)
        st = cli_generation_params(&options, stops, &params);
    if (st == CLF_OK)
        st = cli_inputs_open_after_model(self, argv, positional, file, &inputs);
    if (st == CLF_OK)
        st = logits(&session, argv[0], inputs, &params, output);
    const int status = st == CLF_OK ? 0 : cli_fail(st);
    cli_inputs_close(inputs);
    st = cli_session_close(&session, NULL);
    return status ? status : st == CLF_OK ? 0 : cli_fail(st);
}
