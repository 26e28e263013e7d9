/* SPDX-License-Identifier: MIT */
/* Collects the rows of clformer info about a model's files, its memory plan and language models. */
#include "cli/info_language.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "model/directory_account.h"
#include "clformer/generate.h"
#include "io/checkpoint_gguf.h"
#include "io/gguf.h"
#include "io/gguf_file_type.h"
#include "io/gguf_values.h"
#include "io/json.h"
#include "model/chat_template.h"
#include "model/model.h"
#include "model/model_checkpoint.h"
#include "model/sampling_settings.h"
#include "op/gemm.h"

/* Adds the number of tensors of each type: {"F16": 38}. */
static void add_types(cli_info_rows *info, const clf_checkpoint *checkpoint)
{
    clf_checkpoint_tensor tensor;
    json_t *counts = json_object();
    for (size_t i = 0; clfi_checkpoint_at(checkpoint, i, &tensor); i++) {
        const json_int_t before = json_integer_value(json_object_get(counts, tensor.type_name));
        info->is_whole = json_object_set_new(counts, tensor.type_name, json_integer(before + 1)) == 0 && info->is_whole;
    }
    cli_info_add(info, "tensors", counts);
}

static clf_status open_loaded(const char *path, clf_checkpoint **out)
{
    clf_checkpoint *made;
    CLF_TRY(clfi_model_checkpoint_open(path, &made));
    const clf_status st = clfi_checkpoint_load(made);
    if (st == CLF_OK)
        *out = made;
    else
        clfi_checkpoint_close(made);
    return st;
}

clf_status cli_info_types(cli_info_rows *info, const char *path)
{
    clf_checkpoint *checkpoint;
    CLF_TRY(open_loaded(path, &checkpoint));
    add_types(info, checkpoint);
    clfi_checkpoint_close(checkpoint);
    return CLF_OK;
}

clf_status cli_info_adapter(cli_info_rows *info, const char *path)
{
    clf_checkpoint *checkpoint;
    clf_adapter_info adapter;
    CLF_TRY(open_loaded(path, &checkpoint));
    if (clfi_checkpoint_adapter(checkpoint, &adapter)) {
        json_t *row = json_object();
        const bool is_whole = json_object_set_new(row, "type", json_string("LORA")) == 0 &&
                              json_object_set_new(row, "model", clfi_json_text(adapter.base, strlen(adapter.base))) == 0 &&
                              json_object_set_new(row, "merged", json_integer((json_int_t)adapter.merged)) == 0 &&
                              json_object_set_new(row, "replaced", json_integer((json_int_t)adapter.replaced)) == 0;
        info->is_whole = is_whole && info->is_whole;
        cli_info_add(info, "adapter", row);
    }
    clfi_checkpoint_close(checkpoint);
    return CLF_OK;
}

/* Sets the engine that multiplies the tensor's quantised type: {"q4_1": "bundles"}; "float32": no engine takes the type as stored. */
static void add_quantised(cli_info_rows *info, const clf_context *context, const clf_checkpoint_tensor *tensor, json_t *list)
{
    clf_engine_choice choice;
    if (!tensor->is_weight || tensor->rank != 2 || clfi_weight_type_info(tensor->type)->block_weights == 1)
        return;
    const bool is_taken =
        clfi_gemm_choose_block_form(context, tensor->type, tensor->dim[0], tensor->dim[1], &choice) == CLF_OK && choice.engine;
    info->is_whole =
        json_object_set_new(list, tensor->type_name, json_string(is_taken ? choice.engine->name : "float32")) == 0 && info->is_whole;
}

static void add_plan(cli_info_rows *info, const clf_context *context, const clf_checkpoint *checkpoint, const clf_memory_plan *plan)
{
    json_t *list = json_object();
    clf_checkpoint_tensor tensor;
    for (size_t i = 0; clfi_checkpoint_at(checkpoint, i, &tensor); i++)
        add_quantised(info, context, &tensor, list);
    cli_info_add(info, "quantised", list);
    cli_info_number(info, "weight_bytes", (int64_t)plan->weight_bytes);
    if (plan->copied_bytes)
        cli_info_number(info, "copied_bytes", (int64_t)plan->copied_bytes);
    cli_info_number(info, "scratch_bytes", (int64_t)plan->scratch_bytes);
    if (plan->cache_bytes)
        cli_info_number(info, "token_bytes", (int64_t)plan->cache_bytes);
    if (plan->positions)
        cli_info_number(info, "context_fits", plan->context);
    cli_info_number(info, "memory_bytes", (int64_t)plan->device_bytes);
    cli_info_number(info, "allocation", (int64_t)clf_context_device(context)->max_allocation_bytes);
}

clf_status cli_info_plan(cli_info_rows *info, const clf_model *model, const char *path)
{
    clf_checkpoint *checkpoint;
    CLF_TRY(open_loaded(path, &checkpoint));
    add_plan(info, model->context, checkpoint, clf_model_get_memory_plan(model));
    clfi_checkpoint_close(checkpoint);
    return CLF_OK;
}

static clf_status plan_unopened(cli_info_rows *info, clf_context *context, clf_checkpoint *checkpoint, const char *path,
                                const clf_model_params *params, bool *told)
{
    const clf_family *family;
    clf_memory_plan plan;
    CLF_TRY(clfi_model_plan(context, checkpoint, path, params, &family, &plan));
    *told = clfi_memory_plan_check(context, &plan) != CLF_OK;
    if (!*told)
        return CLF_OK;
    cli_info_text(info, "family", family->model_type);
    cli_info_text(info, "does_not_fit", clf_last_error());
    add_types(info, checkpoint);
    cli_info_text(info, "weights", params->weights == CLF_STORAGE_F16 ? "f16" : "stored");
    add_plan(info, context, checkpoint, &plan);
    cli_info_text(info, "device", clf_context_device(context)->name);
    cli_info_number(info, "file_bytes", (int64_t)clfi_checkpoint_file_bytes(checkpoint));
    return CLF_OK;
}

clf_status cli_info_unopened(cli_info_rows *info, const cli_session *session, const char *path, bool *told)
{
    const clf_model_params params = cli_session_model_params(session);
    clf_checkpoint *checkpoint;
    *told = false;
    CLF_TRY(open_loaded(path, &checkpoint));
    const clf_status st = plan_unopened(info, session->context, checkpoint, path, &params, told);
    clfi_checkpoint_close(checkpoint);
    return st;
}

static clf_status add_metadata(cli_info_rows *info, const char *path)
{
    static const char name_key[] = "general.name";
    clf_gguf *file;
    clf_gguf_string name;
    int64_t type;
    clf_status st = CLF_OK;
    CLF_TRY(clfi_gguf_open(path, &file));
    if (clfi_gguf_value(file, name_key)) {
        CLF_GOTO(clfi_gguf_get_text(file, name_key, &name));
        cli_info_add(info, "name", clfi_json_text(name.data, name.length));
    }
    CLF_GOTO(clfi_gguf_opt_int(file, CLFI_GGUF_FILE_TYPE, 0, INT32_MAX, -1, &type));
    if (type >= 0 && clfi_gguf_file_type_name(type))
        cli_info_text(info, "file_type", clfi_gguf_file_type_name(type));
    else if (type >= 0)
        cli_info_number(info, "file_type", type);
done:
    clfi_gguf_close(file);
    return st;
}

static clf_status add_template(cli_info_rows *info, const char *path)
{
    char *text = NULL;
    const clf_status st = clfi_chat_template_read(path, &text);
    free(text);
    if (st != CLF_OK && st != CLF_NOT_FOUND)
        return st;
    cli_info_text(info, "chat_template", st == CLF_OK ? "yes" : "no");
    return CLF_OK;
}

/* Whether a model without an encoder ignores the key: a rule of a beam search, if the file asks for a search. */
static bool is_search_ignored(const clf_model *model, const json_t *config, const char *key)
{
    const bool is_rule = clfi_account_has("num_beams length_penalty early_stopping renormalize_logits", key);
    return is_rule && !model->network->config.decoder.has_source && json_integer_value(json_object_get(config, "num_beams")) > 1;
}

/* Adds the keys of generation_config.json that no command follows, such as those of sampling: commands take the most probable token unless
 * their options say otherwise. */
static clf_status append_ignored(cli_info_rows *info, const clf_model *model, const char *path, json_t **list)
{
    json_t *config = NULL, *value;
    const char *key;
    CLF_TRY(clfi_json_read_in(path, "generation_config.json", NULL, &config));
    if (config)
        *list = json_array();
    json_object_foreach(config, key, value)
    {
        const bool is_followed = clfi_account_generates(key) && !is_search_ignored(model, config, key);
        if (!json_is_null(value) && !json_is_false(value) && !is_followed)
            cli_info_append(info, *list, key);
    }
    json_decref(config);
    return CLF_OK;
}

/* The same for the keys of a GGUF file. */
static clf_status append_ignored_of_gguf(cli_info_rows *info, const char *path, json_t **list)
{
    json_t *settings, *value;
    const char *key;
    CLF_TRY(clfi_sampling_settings(path, &settings));
    *list = json_array();
    json_object_foreach(settings, key, value) cli_info_append(info, *list, key);
    json_decref(settings);
    return CLF_OK;
}

static clf_status add_ignored(cli_info_rows *info, const clf_model *model, const char *path)
{
    json_t *list = NULL;
    const clf_status st = clfi_is_gguf(path) ? append_ignored_of_gguf(info, path, &list) : append_ignored(info, model, path, &list);
    if (list)
        cli_info_add(info, "generation_ignored", list);
    return st;
}

clf_status cli_info_generation(cli_info_rows *info, const clf_model *model, const char *path)
{
    size_t count;
    const int32_t *ends = clf_model_end_tokens(model, &count);
    const clf_tokenizer *tokenizer = model->target ? model->target : model->tokenizer;
    if (clfi_is_gguf(path))
        CLF_TRY(add_metadata(info, path));
    CLF_TRY(add_template(info, path));
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const char *token = clf_tokenizer_token(tokenizer, ends[i]);
        cli_info_append(info, list, token ? token : "?");
    }
    cli_info_add(info, "end_tokens", list);
    return add_ignored(info, model, path);
}
