/* SPDX-License-Identifier: MIT */
/* Finds what a model's files ask for and the program does not follow, and words it. */
#include "jobs/model_notes.h"

#include <jansson.h>
#include <stdio.h>

#include "base/str.h"
#include "console/options.h"
#include "console/progress.h"
#include "io/checkpoint_gguf.h"
#include "io/gguf_keys.h"
#include "model/directory_account.h"
#include "model/model.h"
#include "model/sampling_settings.h"
#include "text/tokenizer_parts.h"
#include "text/vocabulary_cuts.h"

void cli_note_print(void *unused, const char *note)
{
    (void)unused;
    cli_line_clear();
    fprintf(stderr, "clformer: %s\n", note);
}

void cli_tokenizer_note(const clf_tokenizer *tokenizer, const char *path, cli_note_sink say, void *user)
{
    clf_str note = CLF_STR_INIT;
    if (tokenizer && tokenizer->assumes_cut &&
        clfi_str_appendf(&note,
                         "%s: " CLFI_GGUF_TOKEN_PRE " is missing: texts are split as \"" CLFI_VOCABULARY_CUT_DEFAULT
                         "\", which may differ from the model's training (convert the model again)",
                         path) == CLF_OK)
        say(user, clfi_str_text(&note));
    clfi_str_free(&note);
}

static void account_notes(const char *path, cli_note_sink say, void *user)
{
    clf_directory_account account = CLF_DIRECTORY_ACCOUNT_INIT;
    clf_str note = CLF_STR_INIT;
    const size_t count = clfi_account_modules(path, &account) == CLF_OK ? json_array_size(account.unknown) : 0;
    for (size_t i = 0; i < count; i++) {
        clfi_str_clear(&note);
        if (clfi_str_appendf(&note, "%s: %s: unknown key ignored (results may differ from those that it asks for)", path,
                             json_string_value(json_array_get(account.unknown, i))) == CLF_OK)
            say(user, clfi_str_text(&note));
    }
    clfi_str_free(&note);
    clfi_directory_account_clear(&account);
}

/* llama.cpp ends texts of such files at a token that has the end's id in one old vocabulary. */
static void end_note(const clf_model *model, const char *path, cli_note_sink say, void *user)
{
    enum { OLD_END = 11 };
    const size_t count = model->generation.end_count;
    clf_str note = CLF_STR_INIT;
    if (!(model->tasks & CLF_TASK_GENERATE) || !clfi_is_gguf(path) || clf_tokenizer_role(model->tokenizer, CLF_TOKEN_EOS) >= 0)
        return;
    if (clfi_str_appendf(&note,
                         "%s: " CLFI_GGUF_TOKEN_EOS " is missing: texts end at %zu %s known by %s text (llama.cpp also ends them at token "
                         "%d)",
                         path, count, clfi_plural(count, "token that is", "tokens that are"), clfi_plural(count, "its", "their"),
                         OLD_END) == CLF_OK)
        say(user, clfi_str_text(&note));
    clfi_str_free(&note);
}

void cli_model_notes(const clf_model *model, const char *path, cli_note_sink say, void *user)
{
    end_note(model, path, say, user);
    cli_tokenizer_note(model->tokenizer, path, say, user);
    account_notes(path, say, user);
}

static clf_status append_setting(const char *key, const json_t *value, clf_str *note)
{
    enum { SHOWN = 80 };
    if (json_is_number(value))
        return clfi_str_appendf(note, "%s %.6g", key, json_number_value(value));
    if (json_is_string(value))
        return clfi_str_appendf(note, "%s \"%.*s\"", key, SHOWN, json_string_value(value));
    return clfi_str_append_text(note, key);
}

static clf_status word_settings(const char *path, const json_t *settings, clf_str *note)
{
    const char *key, *between = ": its sampling settings are ignored: ";
    json_t *value;
    CLF_TRY(clfi_str_append_text(note, path));
    json_object_foreach((json_t *)settings, key, value)
    {
        CLF_TRY(clfi_str_append_text(note, between));
        CLF_TRY(append_setting(key, value, note));
        between = ", ";
    }
    return clfi_str_append_text(note, " (the most probable tokens are taken unless a temperature is given)");
}

void cli_sampling_note(const char *path, cli_note_sink say, void *user)
{
    json_t *settings = NULL;
    clf_str note = CLF_STR_INIT;
    if (clfi_sampling_settings(path, &settings) == CLF_OK && settings && word_settings(path, settings, &note) == CLF_OK)
        say(user, clfi_str_text(&note));
    clfi_str_free(&note);
    json_decref(settings);
}
