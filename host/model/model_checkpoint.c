/* SPDX-License-Identifier: MIT */
/* Opens checkpoints of models with adapters, as a form of checkpoint that reads the model's own. */
#include "model/model_checkpoint.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "io/adapter_directory.h"
#include "io/checkpoint_gguf.h"
#include "io/json.h"
#include "io/model_directory.h"
#include "model/adapter_config.h"
#include "model/adapter_plan.h"
#include "model/directory_account.h"

typedef struct adapted {
    clf_checkpoint *base;
    char *directory, *base_directory, *config_path;
    json_t *config; /* adapter_config.json */
    clf_safetensors *file;
    clf_adapter_plan plan;
} adapted;

static void close_adapted(void *state)
{
    adapted *a = state;
    clfi_adapter_plan_clear(&a->plan);
    clfi_safetensors_close(a->file);
    clfi_checkpoint_close(a->base);
    json_decref(a->config);
    free(a->directory);
    free(a->base_directory);
    free(a->config_path);
    free(a);
}

static clf_status open_file(adapted *a)
{
    char *path;
    bool exists = false;
    CLF_TRY(clfi_path_join(a->directory, CLFI_ADAPTER_WEIGHTS, &path));
    clf_status st = clfi_file_exists(path, &exists);
    if (st == CLF_OK && !exists)
        st = clfi_fail(CLF_NOT_FOUND, "%s is missing, but %s is there (save the adapter as safetensors)", path, CLFI_ADAPTER_CONFIG);
    if (st == CLF_OK)
        st = clfi_safetensors_open(path, &a->file);
    free(path);
    return st;
}

static clf_status load(void *state)
{
    adapted *a = state;
    CLF_TRY(clfi_checkpoint_load(a->base));
    CLF_TRY(open_file(a));
    const clf_adapter_source source = {a->base, a->file, a->config, a->config_path};
    return clfi_adapter_plan_make(&source, &a->plan);
}

static bool at(const void *state, size_t index, clf_checkpoint_tensor *out)
{
    const clf_adapter_plan *plan = &((const adapted *)state)->plan;
    if (index >= plan->count)
        return false;
    *out = plan->entries[index].tensor;
    return true;
}

static bool find(const void *state, const char *name, clf_checkpoint_tensor *out)
{
    const clf_adapter_entry *entry = clfi_adapter_plan_find(&((const adapted *)state)->plan, name);
    if (entry)
        *out = entry->tensor;
    return entry != NULL;
}

static clf_status make(const void *state, const clf_checkpoint_tensor *tensor, void **out)
{
    const adapted *a = state;
    const clf_adapter_entry *entry = clfi_adapter_plan_find(&a->plan, tensor->name);
    const bool is_matrix = tensor->rank == 2;
    const clf_adapter_base base = {.type = tensor->type,
                                   .rows = is_matrix ? tensor->dim[0] : 1,
                                   .columns = (int64_t)(tensor->bytes / (size_t)clfi_weight_type_info(tensor->type)->block_bytes) /
                                              (is_matrix && tensor->dim[0] ? tensor->dim[0] : 1),
                                   .own_type = entry->own_type,
                                   .own = entry->replaced ? NULL : entry->data,
                                   .replaced = entry->replaced};
    CLF_TRY(clfi_adapter_merge(tensor->name, &base, entry->changes, entry->change_count, out));
    return clfi_file_map_check(clfi_safetensors_shard_map(a->file, 0));
}

static size_t file_count(const void *state)
{
    return clfi_checkpoint_file_count(((const adapted *)state)->base) + 1;
}

/* The adapter's file is the last. */
static bool is_own(const adapted *a, int file)
{
    return (size_t)file == clfi_checkpoint_file_count(a->base);
}

static const char *file_path(const void *state, int file)
{
    const adapted *a = state;
    return is_own(a, file) ? clfi_safetensors_shard_path(a->file, 0) : clfi_checkpoint_file_path(a->base, file);
}

static clf_file_map *file_map(const void *state, int file)
{
    const adapted *a = state;
    return is_own(a, file) ? clfi_safetensors_shard_map(a->file, 0) : clfi_checkpoint_file_map(a->base, file);
}

static const clf_checkpoint_form form = {"safetensors", load, at, find, file_count, file_path, file_map, close_adapted, make};

/* Takes over the model's checkpoint and the configuration, also on failure. */
static clf_status adapt(const char *directory, const char *base_directory, clf_checkpoint *base, char *config_path, json_t *config,
                        clf_checkpoint **out)
{
    adapted *a;
    clf_status st = clfi_alloc(1, sizeof *a, "adapter", &a);
    if (st != CLF_OK) {
        clfi_checkpoint_close(base);
        json_decref(config);
        free(config_path);
        return st;
    }
    *a = (adapted){.base = base, .config = config, .config_path = config_path};
    st = clfi_strdup(directory, &a->directory);
    if (st == CLF_OK)
        st = clfi_strdup(base_directory, &a->base_directory);
    if (st != CLF_OK) {
        close_adapted(a);
        return st;
    }
    return clfi_checkpoint_create(&form, a, json_incref((json_t *)clfi_checkpoint_config(base)), out);
}

clf_status clfi_model_checkpoint_open(const char *path, clf_checkpoint **out)
{
    char *network = NULL, *base_directory = NULL, *config_path = NULL;
    json_t *config = NULL;
    clf_checkpoint *base = NULL;
    clf_status st;
    CLF_GOTO(clfi_network_directory(path, &network));
    CLF_GOTO(clfi_adapter_base(network, &base_directory));
    CLF_GOTO(clfi_adapter_config_read(network, &config_path, &config));
    CLF_GOTO(clfi_checkpoint_open(base_directory ? base_directory : network, &base));
    if (!clfi_is_gguf(path))
        CLF_GOTO(clfi_account_check(clfi_checkpoint_config(base), CLFI_MODEL_CONFIG, CLFI_MODEL_CONFIG));
    if (config)
        st = adapt(network, base_directory ? base_directory : network, base, config_path, config, out);
    else
        *out = base;
    base = NULL;
    config = NULL;
    config_path = NULL;
done:
    clfi_checkpoint_close(base);
    json_decref(config);
    free(config_path);
    free(base_directory);
    free(network);
    return st;
}

clf_status clfi_model_config_read(const char *directory, json_t **out)
{
    clf_checkpoint *checkpoint;
    CLF_TRY(clfi_model_checkpoint_open(directory, &checkpoint));
    *out = clfi_json_copy(clfi_checkpoint_config(checkpoint));
    clfi_checkpoint_close(checkpoint);
    if (!*out)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "%s: not enough memory", CLFI_MODEL_CONFIG);
    return CLF_OK;
}

bool clfi_checkpoint_adapter(const clf_checkpoint *checkpoint, clf_adapter_info *out)
{
    const adapted *a = clfi_checkpoint_state(checkpoint, &form);
    clf_adapter_info info = {NULL};
    if (!a)
        return false;
    info.directory = a->directory;
    info.base = a->base_directory;
    for (size_t i = 0; i < a->plan.count; i++) {
        info.merged += a->plan.entries[i].change_count > 0;
        info.replaced += a->plan.entries[i].replaced != NULL;
    }
    *out = info;
    return true;
}
