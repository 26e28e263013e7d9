/* SPDX-License-Identifier: MIT */
/* clformer info: what a model is, and what it takes on the device. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/directory.h"
#include "cli/embedding.h"
#include "cli/json_line.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/unread_keys.h"
#include "clformer/classify.h"
#include "io/checkpoint.h"
#include "model/memory_plan.h"
#include "model/model.h"
#include "op/gemm.h"
#include "text/tokenizer_parts.h"

/* Rows [name, value], in the order in which they are shown; the first failure sticks. */
typedef struct info_rows {
    json_t *rows;
    bool is_whole;
} info_rows;

static void add(info_rows *info, const char *name, json_t *value)
{
    json_t *row = json_pack("[s,o]", name, value);
    info->is_whole = row && json_array_append_new(info->rows, row) == 0 && info->is_whole;
}

static void add_text(info_rows *info, const char *name, const char *text)
{
    add(info, name, cli_text_json(text, strlen(text)));
}

static void add_number(info_rows *info, const char *name, int64_t number)
{
    add(info, name, json_integer((json_int_t)number));
}

static void append_text(info_rows *info, json_t *list, const char *text)
{
    info->is_whole = json_array_append_new(list, cli_text_json(text, strlen(text))) == 0 && info->is_whole;
}

static void add_tasks(info_rows *info, const clf_model *model)
{
    const size_t labels = clf_model_label_count(model);
    json_t *list = json_array();
    static const char *const of_encoders[] = {"embed", "similarity", "search", "attention"};
    for (size_t i = 0; (model->tasks & CLF_TASK_EMBED) && i < COUNT(of_encoders); i++)
        append_text(info, list, of_encoders[i]);
    if (labels > 0)
        append_text(info, list, "classify");
    if (labels == 1)
        append_text(info, list, "rerank");
    if (model->tasks & CLF_TASK_GENERATE)
        append_text(info, list, "generate");
    add(info, "tasks", list);
}

static void add_sizes(info_rows *info, const clf_model_info *model)
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
        add_number(info, rows[i].name, rows[i].value);
}

/* The types that the checkpoint's tensors are stored in: {"F16": 38}. */
static clf_status add_types(info_rows *info, const char *path)
{
    clf_checkpoint *checkpoint;
    clf_checkpoint_tensor tensor;
    CLF_TRY(clfi_checkpoint_open(path, &checkpoint));
    const clf_status st = clfi_checkpoint_load(checkpoint);
    json_t *counts = json_object();
    for (size_t i = 0; st == CLF_OK && clfi_checkpoint_at(checkpoint, i, &tensor); i++) {
        const json_int_t before = json_integer_value(json_object_get(counts, tensor.type_name));
        info->is_whole = json_object_set_new(counts, tensor.type_name, json_integer(before + 1)) == 0 && info->is_whole;
    }
    add(info, "tensors", counts);
    clfi_checkpoint_close(checkpoint);
    return st;
}

/* What each quantised type of a matrix is to the device's products: {"q4_1": "bundles"}, or "float32" where none takes it as stored. */
static void add_quantised(info_rows *info, const clf_context *context, const clf_checkpoint_tensor *tensor, json_t *list)
{
    clf_engine_choice choice;
    if (!tensor->is_weight || tensor->rank != 2 || clfi_weight_type_info(tensor->type)->block_weights == 1)
        return;
    const bool is_taken =
        clfi_gemm_choose_block_form(context, tensor->type, tensor->dim[0], tensor->dim[1], &choice) == CLF_OK && choice.engine;
    info->is_whole =
        json_object_set_new(list, tensor->type_name, json_string(is_taken ? choice.engine->name : "float32")) == 0 && info->is_whole;
}

/* Before anything is loaded: weights, cache and scratch beside the device's memory. */
static clf_status add_plan(info_rows *info, const clf_model *model, const char *path)
{
    const clf_device_info *device = clf_context_device(model->context);
    clf_checkpoint *checkpoint;
    clf_checkpoint_tensor tensor;
    CLF_TRY(clfi_checkpoint_open(path, &checkpoint));
    const clf_status st = clfi_checkpoint_load(checkpoint);
    if (st == CLF_OK) {
        json_t *list = json_object();
        for (size_t i = 0; clfi_checkpoint_at(checkpoint, i, &tensor); i++)
            add_quantised(info, model->context, &tensor, list);
        const clf_memory_plan plan = clfi_memory_plan(model->context, checkpoint, &model->network->config, &model->params);
        add(info, "quantised", list);
        add_number(info, "weight_bytes", (int64_t)plan.weight_bytes);
        add_number(info, "scratch_bytes", (int64_t)plan.scratch_bytes);
        add_number(info, "token_bytes", (int64_t)plan.cache_bytes);
        add_number(info, "context_fits", plan.context);
        add_number(info, "memory_bytes", (int64_t)plan.device_bytes);
        add_number(info, "allocation", (int64_t)device->max_allocation_bytes);
    }
    clfi_checkpoint_close(checkpoint);
    return st;
}

static void add_chain(info_rows *info, const char *name, const clf_chain *chain)
{
    json_t *list = json_array();
    for (size_t i = 0; i < chain->count; i++)
        append_text(info, list, chain->parts[i].kind->type);
    add(info, name, list);
}

/* In the notation of TemplateProcessing: "[CLS]:0 $A:0 [SEP]:0". */
static clf_status append_template(info_rows *info, json_t *list, const clf_tokenizer *tokenizer, const clf_template *template)
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
        append_text(info, list, clfi_str_text(&text));
    clfi_str_free(&text);
    return st;
}

/* The chain in the order in which a text passes it. */
static clf_status add_tokenizer(info_rows *info, const clf_tokenizer *tokenizer)
{
    json_t *templates = json_array();
    clf_status st = append_template(info, templates, tokenizer, &tokenizer->post_processor.single);
    if (st == CLF_OK)
        st = append_template(info, templates, tokenizer, &tokenizer->post_processor.pair);
    add_chain(info, "normalizer", &tokenizer->normalizers);
    add_chain(info, "pre_tokenizer", &tokenizer->pre_tokenizers);
    add_text(info, "token_model", tokenizer->kind->part.type);
    add(info, "post_processor", templates);
    add_chain(info, "decoder", &tokenizer->decoders);
    return st;
}

/* Whether clformer reads files of this name in a model's directory. */
static bool is_known_file(const char *name)
{
    static const char *const names[] = {"added_tokens.json",
                                        "config.json",
                                        "config_sentence_transformers.json",
                                        "generation_config.json",
                                        "model.safetensors",
                                        "model.safetensors.index.json",
                                        "merges.txt",
                                        "modules.json",
                                        "sentence_bert_config.json",
                                        "special_tokens_map.json",
                                        "tokenizer.json",
                                        "tokenizer_config.json",
                                        "vocab.txt",
                                        "vocab.json",
                                        "sentencepiece.bpe.model",
                                        "source.spm",
                                        "target.spm",
                                        "chat_template.jinja"};
    int shard, shards, length = 0;
    const char *end = strrchr(name, '.');
    for (size_t i = 0; i < COUNT(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    if (sscanf(name, "model-%d-of-%d.safetensors%n", &shard, &shards, &length) == 2 && length && !name[length])
        return true;
    return end && strcmp(end, ".gguf") == 0;
}

static bool is_module(const json_t *modules, const char *name)
{
    bool is_found = false;
    for (size_t i = 0; i < json_array_size(modules) && !is_found; i++) {
        const char *path = json_string_value(json_object_get(json_array_get(modules, i), "path"));
        is_found = path && strcmp(path, name) == 0;
    }
    return is_found;
}

/* The directory's files and folders that nothing reads: what they ask for does not happen. */
static clf_status add_unknown(info_rows *info, const char *path)
{
    char **names = NULL;
    size_t count = 0;
    json_t *list = json_array(), *modules = NULL;
    clf_status st = CLF_OK;
    if (clfi_directory_exists(path)) {
        CLF_GOTO(clfi_sentence_file_read(path, "modules.json", &modules));
        CLF_GOTO(cli_directory_list(path, NULL, &names, &count));
    }
    for (size_t i = 0; i < count; i++)
        if (!is_known_file(names[i]) && !is_module(modules, names[i]))
            append_text(info, list, names[i]);
done:
    add(info, "unknown", list);
    json_decref(modules);
    cli_directory_list_free(names, count);
    return st;
}

/* The keys of config.json, and of a GGUF file's architecture, that nothing reads. */
static clf_status add_unread(info_rows *info, const clf_model *model, const char *path)
{
    clf_checkpoint *checkpoint;
    json_t *keys = NULL;
    CLF_TRY(clfi_checkpoint_open(path, &checkpoint));
    const clf_status st = cli_unread_keys(clfi_checkpoint_config(checkpoint), model->family, &keys);
    clfi_checkpoint_close(checkpoint);
    if (st == CLF_OK)
        add(info, "unread_keys", keys);
    return st;
}

/* Of language models: generation_config.json's keys that no command follows, such as those of sampling: the most probable token is taken
 * unless the options say otherwise. */
static clf_status add_ignored(info_rows *info, const char *path)
{
    json_t *config = NULL, *list, *value;
    const char *key;
    if (!clfi_directory_exists(path))
        return CLF_OK;
    CLF_TRY(clfi_sentence_file_read(path, "generation_config.json", &config));
    list = config ? json_array() : NULL;
    json_object_foreach(config, key, value)
    {
        if (!json_is_null(value) && !json_is_false(value) && !cli_is_generation_key(key))
            append_text(info, list, key);
    }
    if (config)
        add(info, "generation_ignored", list);
    json_decref(config);
    return CLF_OK;
}

static void add_sentence(info_rows *info, const clf_model *model)
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
        append_text(info, pooling, poolings[config->pooling[i]]);
    for (size_t i = 0; i < config->module_count; i++)
        append_text(info, after, modules[config->module[i].kind]);
    for (size_t i = 0; i < clf_model_prompt_count(model); i++) {
        const char *name = clf_model_prompt_name(model, i), *text = clf_model_prompt(model, name);
        info->is_whole = json_object_set_new(prompts, name, cli_text_json(text, strlen(text))) == 0 && info->is_whole;
    }
    add_number(info, "embedding_width", model->info.embedding_width);
    add(info, "pooling", pooling);
    add(info, "modules_after", after);
    add(info, "prompts", prompts);
    if (standard)
        add_text(info, "default_prompt", standard);
}

static void add_labels(info_rows *info, const clf_model *model)
{
    static const char *const problems[] = {
        [CLF_PROBLEM_SINGLE_LABEL] = "single_label", [CLF_PROBLEM_MULTI_LABEL] = "multi_label", [CLF_PROBLEM_REGRESSION] = "regression"};
    json_t *labels = json_array();
    for (size_t i = 0; i < clf_model_label_count(model); i++)
        append_text(info, labels, clf_model_label(model, i));
    add(info, "labels", labels);
    if (clf_model_label_count(model))
        add_text(info, "problem", problems[clf_model_problem(model)]);
}

static clf_status collect(cli_session *session, const char *path, info_rows *info)
{
    const clf_model *model = session->model;
    clf_context_stats stats;
    add_text(info, "family", model->info.architecture);
    add_tasks(info, model);
    add_sizes(info, &model->info);
    CLF_TRY(add_types(info, path));
    add_text(info, "weights", model->params.weights == CLF_STORAGE_F16 ? "f16" : "stored");
    if (model->family->tasks & CLF_TASK_GENERATE)
        CLF_TRY(add_plan(info, model, path));
    if (model->tasks & CLF_TASK_GENERATE)
        CLF_TRY(add_ignored(info, path));
    CLF_TRY(add_tokenizer(info, model->tokenizer));
    if (model->tasks & CLF_TASK_EMBED)
        add_sentence(info, model);
    add_labels(info, model);
    CLF_TRY(add_unknown(info, path));
    CLF_TRY(add_unread(info, model, path));
    clf_context_get_stats(session->context, &stats);
    add_text(info, "device", clf_context_device(session->context)->name);
    add_number(info, "file_bytes", (int64_t)model->info.file_bytes);
    add_number(info, "device_bytes", (int64_t)stats.peak_device_bytes);
    add_number(info, "mapped_bytes", (int64_t)stats.mapped_bytes);
    return CLF_OK;
}

static clf_status print_json(const info_rows *info)
{
    json_t *object = json_object();
    bool is_whole = info->is_whole && object;
    for (size_t i = 0; i < json_array_size(info->rows); i++) {
        const json_t *row = json_array_get(info->rows, i);
        is_whole = json_object_set(object, json_string_value(json_array_get(row, 0)), json_array_get(row, 1)) == 0 && is_whole;
    }
    return cli_json_print(object, is_whole, JSON_PRESERVE_ORDER, "info");
}

static void print_value(const json_t *value)
{
    if (json_is_integer(value))
        printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else
        cli_print_line(stdout, json_string_value(value), json_string_length(value), 0);
}

static clf_status print_text(const info_rows *info)
{
    if (!info->is_whole)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "info");
    for (size_t i = 0; i < json_array_size(info->rows); i++) {
        const json_t *row = json_array_get(info->rows, i), *value = json_array_get(row, 1);
        const char *key;
        json_t *item;
        size_t shown = 0;
        printf("%-16s ", json_string_value(json_array_get(row, 0)));
        for (size_t k = 0; k < json_array_size(value); k++) {
            fputs(shown++ ? ", " : "", stdout);
            print_value(json_array_get(value, k));
        }
        json_object_foreach((json_t *)value, key, item)
        {
            fputs(shown++ ? ", " : "", stdout);
            cli_print_line(stdout, key, strlen(key), 0);
            fputs(json_is_string(item) ? " \"" : " ", stdout);
            print_value(item);
            fputs(json_is_string(item) ? "\"" : "", stdout);
        }
        if (json_is_array(value) || json_is_object(value))
            fputs(shown ? "" : "none", stdout);
        else
            print_value(value);
        putchar('\n');
    }
    return CLF_OK;
}

static clf_status tell(cli_session *session, const char *path, int as_json)
{
    info_rows info = {json_array(), true};
    clf_status st;
    if (!info.rows)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "info");
    CLF_GOTO(cli_session_open_model(session, path));
    CLF_GOTO(collect(session, path, &info));
    cli_line_clear();
    st = as_json ? print_json(&info) : print_text(&info);
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
