/* SPDX-License-Identifier: MIT */
/* clformer info: describes a model, and the memory that it takes on the device. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/commands.h"
#include "jobs/directory.h"
#include "jobs/embedding.h"
#include "cli/info_language.h"
#include "console/model_files.h"
#include "console/progress.h"
#include "console/terminal.h"
#include "cli/model_card.h"
#include "model/directory_account.h"
#include "clformer/classify.h"
#include "io/adapter_directory.h"
#include "io/checkpoint.h"
#include "io/checkpoint_gguf.h"
#include "io/json.h"
#include "model/model.h"
#include "model/model_checkpoint.h"
#include "model/sentence_settings.h"
#include "text/tokenizer_parts.h"

static void add_tasks(cli_info_rows *info, const clf_model *model)
{
    const size_t labels = clf_model_label_count(model);
    json_t *list = json_array();
    static const char *const of_encoders[] = {"embed", "similarity", "search", "attention"};
    for (size_t i = 0; (model->tasks & CLF_TASK_EMBED) && i < COUNT(of_encoders); i++)
        cli_info_append(info, list, of_encoders[i]);
    if (labels > 0)
        cli_info_append(info, list, "classify");
    if (labels == 1)
        cli_info_append(info, list, "rerank");
    if (model->tasks & CLF_TASK_GENERATE)
        cli_info_append(info, list, "generate");
    cli_info_add(info, "tasks", list);
}

static void add_sizes(cli_info_rows *info, const clf_model_info *model)
{
    const struct {
        const char *name;
        int64_t value;
    } rows[] = {{"layers", model->layers},
                {"width", model->width},
                {"hidden_width", model->hidden_width},
                {"heads", model->heads},
                {"vocabulary", model->vocabulary},
                {"token_types", model->type_vocabulary},
                {"positions", model->max_positions},
                {"max_tokens", model->max_tokens},
                {"parameters", model->parameters}};
    for (size_t i = 0; i < COUNT(rows); i++)
        cli_info_number(info, rows[i].name, rows[i].value);
}

static void add_chain(cli_info_rows *info, const char *name, const clf_chain *chain)
{
    json_t *list = json_array();
    for (size_t i = 0; i < chain->count; i++)
        cli_info_append(info, list, chain->parts[i].kind->type);
    cli_info_add(info, name, list);
}

/* Appends a template in the notation of TemplateProcessing: "[CLS]:0 $A:0 [SEP]:0". */
static clf_status append_template(cli_info_rows *info, json_t *list, const clf_tokenizer *tokenizer,
                                  const clf_template_processing *template)
{
    clf_str text = CLF_STR_INIT;
    clf_status st = CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < template->count; i++) {
        const clf_template_piece *piece = &template->pieces[i];
        const char *token = piece->kind == CLF_PIECE_FIRST    ? "$A"
                            : piece->kind == CLF_PIECE_SECOND ? "$B"
                                                              : clf_tokenizer_token(tokenizer, piece->id);
        st = clfi_str_appendf(&text, "%s%s:%d", i ? " " : "", token ? token : "?", (int)piece->type_id);
    }
    if (st == CLF_OK)
        cli_info_append(info, list, clfi_str_text(&text));
    clfi_str_free(&text);
    return st;
}

/* Adds where the tokenizer's parts come from: tokenizer.json or, for some files, the class that transformers 5 uses instead. */
static clf_status add_origin(cli_info_rows *info, const clf_tokenizer *tokenizer)
{
    clf_str text = CLF_STR_INIT;
    if (tokenizer->pipeline)
        CLF_TRY(clfi_str_appendf(&text, "%s of transformers 5", tokenizer->pipeline));
    cli_info_text(info, "tokenizer_from", tokenizer->pipeline ? clfi_str_text(&text) : "its own file");
    clfi_str_free(&text);
    return CLF_OK;
}

/* Adds the tokenizer's parts in the order in which a text passes them. */
static clf_status add_tokenizer(cli_info_rows *info, const clf_tokenizer *tokenizer)
{
    CLF_TRY(add_origin(info, tokenizer));
    json_t *templates = json_array();
    clf_status st = append_template(info, templates, tokenizer, &tokenizer->post_processor.single);
    if (st == CLF_OK)
        st = append_template(info, templates, tokenizer, &tokenizer->post_processor.pair);
    add_chain(info, "normalizer", &tokenizer->normalizers);
    add_chain(info, "pre_tokenizer", &tokenizer->pre_tokenizers);
    cli_info_text(info, "token_model", tokenizer->kind->part.type);
    cli_info_add(info, "post_processor", templates);
    add_chain(info, "decoder", &tokenizer->decoders);
    return st;
}

static bool is_module(const json_t *modules, const char *name)
{
    bool is_found = false;
    for (size_t i = 0; i < json_array_size(modules) && !is_found; i++) {
        const char *path = json_string_value(json_object_get(json_array_get(modules, i), "path"));
        char folder[CLFI_MODULE_PATH_BYTES];
        is_found = path && clfi_module_path(path, folder) == CLF_OK && strcmp(folder, name) == 0;
    }
    return is_found;
}

/* Adds the directory's files and folders that nothing reads: those that the account says to be harmless, and the unknown ones. */
static clf_status add_unknown(cli_info_rows *info, const char *path)
{
    char **names = NULL;
    size_t count = 0;
    json_t *unknown = json_array(), *harmless = json_array(), *modules = NULL;
    clf_status st = CLF_OK;
    bool is_directory, has_adapter = false;
    CLF_GOTO(clfi_json_read_in(path, CLFI_SENTENCE_MODULES, NULL, &modules));
    CLF_GOTO(clfi_directory_exists(path, &is_directory));
    if (is_directory)
        CLF_GOTO(cli_directory_list(path, NULL, &names, &count));
    for (size_t i = 0; i < count; i++)
        has_adapter |= strcmp(names[i], CLFI_ADAPTER_CONFIG) == 0;
    for (size_t i = 0; i < count; i++) {
        const clf_account_row *row = clfi_account_file(names[i]);
        if (strcmp(names[i], CLFI_ADAPTER_WEIGHTS) == 0 ? has_adapter : cli_is_model_file(names[i]) || is_module(modules, names[i]))
            continue;
        cli_info_append(info, row && row->verdict == CLF_ACCOUNT_HARMLESS ? harmless : unknown, names[i]);
    }
done:
    cli_info_add(info, "files_harmless", harmless);
    cli_info_add(info, "unknown", unknown);
    json_decref(modules);
    cli_directory_list_free(names, count);
    return st;
}

/* Reads the model's files and adds their keys to the account. */
static clf_status read_account(const clf_model *model, const char *path, clf_directory_account *account)
{
    clf_checkpoint *checkpoint;
    CLF_TRY(clfi_model_checkpoint_open(path, &checkpoint));
    const clf_status st = clfi_account_config(clfi_checkpoint_config(checkpoint), (int64_t)model->labels.count, account);
    clfi_checkpoint_close(checkpoint);
    CLF_TRY(st);
    if (clfi_is_gguf(path))
        return CLF_OK;
    CLF_TRY(clfi_account_tokenizer(path, account));
    if (model->tasks & CLF_TASK_GENERATE)
        return CLF_OK;
    CLF_TRY(clfi_account_settings(path, account));
    return clfi_account_modules(path, account);
}

/* Adds a row with the keys of one file that nothing reads. */
static clf_status add_unread(cli_info_rows *info, const char *name, const clf_directory_account *account, const char *file)
{
    json_t *keys;
    CLF_TRY(clfi_account_unknown(account, file, &keys));
    cli_info_add(info, name, keys);
    return CLF_OK;
}

/* Adds the account of the keys in the model's files: followed, harmless, or read by nothing. */
static clf_status add_account(cli_info_rows *info, const clf_model *model, const char *path)
{
    clf_directory_account account = CLF_DIRECTORY_ACCOUNT_INIT;
    clf_status st = read_account(model, path, &account);
    if (st == CLF_OK)
        st = add_unread(info, "unread_keys", &account, CLFI_MODEL_CONFIG);
    if (st == CLF_OK && !(model->tasks & CLF_TASK_GENERATE))
        st = add_unread(info, "unread_settings", &account, CLFI_SENTENCE_SETTINGS);
    const struct {
        const char *name;
        json_t *list;
    } rows[] = {{"keys_followed", account.followed}, {"keys_harmless", account.harmless}, {"keys_unknown", account.unknown}};
    for (size_t i = 0; st == CLF_OK && i < COUNT(rows); i++)
        cli_info_add(info, rows[i].name, rows[i].list ? json_incref(rows[i].list) : json_array());
    clfi_directory_account_clear(&account);
    return st;
}

static void add_sentence(cli_info_rows *info, const clf_model *model)
{
    static const char *const poolings[CLF_POOLING_COUNT] = {[CLF_POOLING_MEAN] = "mean", [CLF_POOLING_CLS] = "cls",
                                                            [CLF_POOLING_MAX] = "max",   [CLF_POOLING_MEAN_SQRT_LEN] = "mean_sqrt_len",
                                                            [CLF_POOLING_LAST] = "last", [CLF_POOLING_WEIGHTED_MEAN] = "weighted_mean"};
    static const char *const modules[] = {
        [CLF_MODULE_DENSE] = "Dense", [CLF_MODULE_LAYER_NORM] = "LayerNorm", [CLF_MODULE_NORMALIZE] = "Normalize"};
    const clf_sentence_config *config = &model->sentence.config;
    const char *standard = clf_model_default_prompt_name(model);
    json_t *pooling = json_array(), *after = json_array(), *prompts = json_object();
    for (size_t i = 0; i < config->pooling_count; i++)
        cli_info_append(info, pooling, poolings[config->pooling[i]]);
    for (size_t i = 0; i < config->module_count; i++)
        cli_info_append(info, after, modules[config->module[i].kind]);
    for (size_t i = 0; i < clf_model_prompt_count(model); i++) {
        const char *name = clf_model_prompt_name(model, i), *text = clf_model_prompt(model, name);
        info->is_whole = json_object_set_new(prompts, name, clfi_json_text(text, strlen(text))) == 0 && info->is_whole;
    }
    cli_info_number(info, "embedding_width", model->info.embedding_width);
    cli_info_add(info, "pooling", pooling);
    cli_info_add(info, "modules_after", after);
    cli_info_add(info, "prompts", prompts);
    if (standard)
        cli_info_text(info, "default_prompt", standard);
}

static void add_labels(cli_info_rows *info, const clf_model *model)
{
    static const char *const problems[] = {
        [CLF_PROBLEM_SINGLE_LABEL] = "single_label", [CLF_PROBLEM_MULTI_LABEL] = "multi_label", [CLF_PROBLEM_REGRESSION] = "regression"};
    json_t *labels = json_array();
    for (size_t i = 0; i < clf_model_label_count(model); i++)
        cli_info_append(info, labels, clf_model_label(model, i));
    cli_info_add(info, "labels", labels);
    if (clf_model_label_count(model))
        cli_info_text(info, "problem", problems[clf_model_problem(model)]);
}

/* Adds the languages that the model was trained for, if its card names them. */
static clf_status add_languages(cli_info_rows *info, const char *path)
{
    json_t *languages;
    CLF_TRY(cli_card_languages(path, &languages));
    if (languages)
        cli_info_add(info, "languages", languages);
    return CLF_OK;
}

static clf_status collect(cli_session *session, const char *path, cli_info_rows *info)
{
    const clf_model *model = session->model;
    clf_context_stats stats;
    cli_info_text(info, "family", model->info.architecture);
    add_tasks(info, model);
    CLF_TRY(add_languages(info, path));
    add_sizes(info, &model->info);
    CLF_TRY(cli_info_types(info, path));
    CLF_TRY(cli_info_adapter(info, path));
    cli_info_text(info, "weights", model->params.weights == CLF_STORAGE_F16 ? "f16" : "stored");
    CLF_TRY(cli_info_plan(info, model, path));
    if (model->tasks & CLF_TASK_GENERATE)
        CLF_TRY(cli_info_generation(info, model, path));
    CLF_TRY(add_tokenizer(info, model->tokenizer));
    if (model->tasks & CLF_TASK_EMBED)
        add_sentence(info, model);
    add_labels(info, model);
    CLF_TRY(add_unknown(info, path));
    CLF_TRY(add_account(info, model, path));
    clf_context_get_stats(session->context, &stats);
    cli_info_text(info, "device", clf_context_device(session->context)->name);
    cli_info_number(info, "file_bytes", (int64_t)model->info.file_bytes);
    cli_info_number(info, "device_bytes", (int64_t)stats.peak_device_bytes);
    cli_info_number(info, "mapped_bytes", (int64_t)stats.mapped_bytes);
    return CLF_OK;
}

/* Collects the plan of a model that does not fit the device and returns true. If the model should fit, returns false, and the last error is
 * still that of opening it. */
static bool tell_plan(const cli_session *session, const char *path, cli_info_rows *info)
{
    clf_str reason = CLF_STR_INIT;
    bool is_told = false;
    const bool is_kept = clfi_str_append(&reason, clf_last_error(), strlen(clf_last_error())) == CLF_OK;
    const bool is_read = cli_info_unopened(info, session, path, &is_told) == CLF_OK;
    if (!is_told && is_kept)
        clfi_fail(CLF_OUT_OF_MEMORY, "%s", clfi_str_text(&reason));
    clfi_str_free(&reason);
    return is_read && is_told;
}

static clf_status tell(cli_session *session, const char *path, int as_json)
{
    cli_info_rows info = {json_array(), true};
    clf_status st;
    if (!info.rows)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "info: not enough memory");
    if ((st = cli_session_open_model(session, path)) == CLF_OK)
        CLF_GOTO(collect(session, path, &info));
    else if (st != CLF_OUT_OF_MEMORY || !session->context || !tell_plan(session, path, &info))
        goto done;
    cli_line_clear();
    st = cli_info_print(&info, as_json != 0);
done:
    json_decref(info.rows);
    return st;
}

int cmd_info(const cli_command *self, int argc, char **argv)
{
    cli_session session = CLI_SESSION_INIT;
    int as_json = 0, positional;
    const cli_option table[] = {
        {"json", 0, NULL, "print one JSON object", CLI_FLAG, &as_json},
        CLI_SESSION_OPTIONS(session),
        CLI_MODEL_OPTIONS(session),
        CLI_CACHE_OPTIONS(session),
    };
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK && positional != 1)
        st = cli_refuse(self, "expected one model");
    if (st == CLF_OK)
        st = tell(&session, argv[0], as_json);
    return cli_embedding_end(&session, NULL, NULL, st);
}
