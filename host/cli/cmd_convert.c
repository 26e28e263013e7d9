/* SPDX-License-Identifier: MIT */
/* clformer convert: writes the model of a directory or GGUF file as a GGUF file with weights of another type. --check compares logits. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "cli/commands.h"
#include "console/model_files.h"
#include "console/option_files.h"
#include "console/progress.h"
#include "jobs/session.h"
#include "clformer/generate.h"
#include "io/checkpoint_gguf.h"
#include "io/gguf_convert.h"
#include "model/gguf_export.h"

/* Checks that the output does not replace the model, whose weights may be more precise. A GGUF file may lie in the folder of its model. */
static clf_status check_is_other(const char *from, const char *to)
{
    bool is_directory;
    CLF_TRY(clfi_directory_exists(from, &is_directory));
    if (!(is_directory && clfi_is_gguf(to)) && cli_is_read_from(from, to))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "convert: %s: expected another name: this file is read, and would be replaced", to);
    return CLF_OK;
}

static void show_progress(void *user, size_t done, size_t total)
{
    enum { MILLION = 1000000 };
    cli_progress_update(user, (done + MILLION - 1) / MILLION, (total + MILLION - 1) / MILLION);
}

static clf_status convert_file(const char *from, const char *to, const clf_gguf_file_type *type, const clf_gguf_progress *progress,
                               clf_gguf_converted *done)
{
    clf_gguf *file;
    CLF_TRY(clfi_gguf_open(from, &file));
    clf_status st = CLF_OK;
    for (size_t i = 1; st == CLF_OK && i < clfi_gguf_part_count(file); i++)
        st = check_is_other(clfi_gguf_part_path(file, (int)i), to);
    if (st == CLF_OK)
        st = clfi_gguf_convert(file, type, to, progress, done);
    clfi_gguf_close(file);
    return st;
}

static clf_status convert(const char *from, const char *to, const char *weights)
{
    const clf_gguf_file_type *type;
    clf_gguf_exported done = {.positions = 0};
    CLF_TRY(clfi_gguf_file_type_find(weights, &type));
    bool is_directory;
    CLF_TRY(clfi_directory_exists(from, &is_directory));
    cli_progress shown = cli_progress_start("million weights", NULL);
    const clf_gguf_progress progress = {show_progress, &shown};
    cli_progress_window(&shown, 1);
    cli_interrupts_watch();
    cli_interrupts_say("nothing was written to %s", to);
    if (is_directory)
        CLF_TRY(clfi_gguf_export(from, type, to, &progress, &done));
    else
        CLF_TRY(convert_file(from, to, type, &progress, &done.tensors));
    cli_line_clear();
    cli_interrupts_say("%s is written", to);
    fprintf(stderr, "%zu %s as %s, %zu as %s, %.1f MB\n", done.tensors.changed, clfi_plural(done.tensors.changed, "tensor", "tensors"),
            weights, done.tensors.kept, clfi_plural(done.tensors.kept, "it was", "they were"), (double)done.tensors.bytes / 1e6);
    if (done.positions > 0)
        fprintf(stderr,
                "valid for texts of at most %lld tokens, the window of the layers' attention, because GGUF cannot store the window\n",
                (long long)done.positions);
    if (done.tokenizer.absent > 0)
        fprintf(stderr,
                "tokens of the configuration that the vocabulary lacks: %zu (clformer refuses texts that hold one, other programs may "
                "split it)\n",
                done.tokenizer.absent);
    if (done.tokenizer.leaves_nfc)
        fprintf(stderr, "texts are not normalised: the model's tokenizer composes characters first (NFC), which GGUF cannot store\n");
    if (done.tokenizer.more_ends[0])
        fprintf(stderr, "texts also end at %s: readers of GGUF end texts at tokens of these names, the model's own files do not\n",
                done.tokenizer.more_ends);
    return CLF_OK;
}

/* Computes the logits of the token after the text. *out_count: size of the vocabulary. The caller frees *out, also after a failure. */
static clf_status read_logits(cli_session *session, const char *model, const char *text, float **out, size_t *out_count)
{
    CLF_TRY(cli_session_open_model(session, model));
    *out_count = (size_t)clf_model_get_info(session->model)->vocabulary;
    CLF_TRY(clfi_alloc(*out_count, sizeof **out, "logits", out));
    return clf_session_logits(session->work, &(clf_text){text, strlen(text)}, 1, NULL, *out);
}

static size_t largest(const float *logits, size_t count)
{
    size_t most = 0;
    for (size_t i = 0; i < count; i++)
        most = logits[i] > logits[most] ? i : most;
    return most;
}

static clf_status check(cli_session *session, const char *from, const char *to, const char *text)
{
    float *before = NULL, *after = NULL;
    size_t count = 0, count_after = 0;
    double worst = 0, squares = 0;
    clf_status st;
    CLF_GOTO(read_logits(session, from, text, &before, &count));
    CLF_GOTO(read_logits(session, to, text, &after, &count_after));
    if (count != count_after)
        CLF_GOTO(clfi_fail(CLF_INTERNAL, "convert: %zu logits before, %zu after", count, count_after));
    for (size_t i = 0; i < count; i++) {
        const double difference = fabs((double)after[i] - (double)before[i]);
        worst = difference > worst ? difference : worst;
        squares += difference * difference;
    }
    printf("logits differ by at most %.3g (root mean square %.3g); the most probable token is %s\n", worst, sqrt(squares / (double)count),
           largest(before, count) == largest(after, count) ? "the same" : "another");
done:
    free(before);
    free(after);
    return st;
}

int cmd_convert(const cli_command *self, int argc, char **argv)
{
    cli_session session = CLI_SESSION_INIT;
    const char *weights = "q8_0", *text = NULL;
    int positional;
    const cli_option table[] = {
        {"weights", 'w', "TYPE", "type of matrices: f32, f16, q8_0 (default), q4_0 (embedding and head q8_0), q4_k_m, q5_k_m or q6_k",
         CLI_TEXT, &weights},
        {"check", 0, "TEXT", "run both models on this text and report how much their logits differ", CLI_TEXT, &text},
        CLI_SESSION_OPTIONS(session),
    };
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK && positional != 2)
        st = cli_refuse(self, "expected a model and a file to write, found %d", positional);
    if (st == CLF_OK && !argv[1][0])
        st = clfi_fail(CLF_INVALID_ARGUMENT, "convert: expected the name of the file to write, found \"\"");
    if (st == CLF_OK && text && !text[0])
        st = clfi_fail(CLF_INVALID_ARGUMENT, "convert: --check: expected a text, found \"\"");
    if (st == CLF_OK && !text)
        st = cli_session_refuse_options(&session, self->name, "--check TEXT: without it convert needs no device");
    if (st == CLF_OK)
        st = clfi_output_check(argv[1], text != NULL);
    if (st == CLF_OK)
        st = cli_output_is_alone(&(cli_line){self, table, COUNT(table), argv, positional}, "argument", argv[1]);
    if (st == CLF_OK)
        st = check_is_other(argv[0], argv[1]);
    if (st == CLF_OK)
        st = convert(argv[0], argv[1], weights);
    if (st == CLF_OK && text)
        st = check(&session, argv[0], argv[1], text);
    const int status = st == CLF_OK ? 0 : cli_fail(st);
    st = cli_session_close(&session, NULL);
    return status ? status : st == CLF_OK ? 0 : cli_fail(st);
}
