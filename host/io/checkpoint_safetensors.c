/* SPDX-License-Identifier: MIT */
/* Checkpoints of safetensors: a directory as Hugging Face lays it out, or the same files in memory. */
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "io/checkpoint_gguf.h"
#include "io/json.h"
#include "io/model_directory.h"
#include "io/safetensors.h"

typedef struct storage {
    char *directory;  /* NULL: memory */
    const char *name; /* names the memory in messages */
    const void *data;
    size_t bytes;
    clf_safetensors *file; /* NULL until it is loaded */
} storage;

static void close_storage(void *state)
{
    storage *s = state;
    clfi_safetensors_close(s->file);
    free(s->directory);
    free(s);
}

static clf_status load(void *state)
{
    storage *s = state;
    return s->directory ? clfi_safetensors_open_directory(s->directory, &s->file)
                        : clfi_safetensors_parse(s->data, s->bytes, s->name, &s->file);
}

/* False: tensor is NULL. */
static bool describe(const clf_file_tensor *tensor, clf_checkpoint_tensor *out)
{
    static const struct {
        clf_file_dtype from;
        clf_weight_type to;
    } types[] = {{CLF_FILE_F32, CLF_WEIGHT_F32}, {CLF_FILE_F16, CLF_WEIGHT_F16}, {CLF_FILE_BF16, CLF_WEIGHT_BF16}};
    if (!tensor)
        return false;
    *out = (clf_checkpoint_tensor){.name = tensor->name,
                                   .type_name = clfi_file_dtype_name(tensor->dtype),
                                   .rank = tensor->rank,
                                   .data = tensor->data,
                                   .bytes = tensor->bytes,
                                   .offset = tensor->offset,
                                   .file = tensor->shard};
    _Static_assert((int)CLFI_CHECKPOINT_MAX_RANK >= (int)CLFI_SAFETENSORS_MAX_RANK, "sizes of every rank fit");
    memcpy(out->dim, tensor->dim, sizeof tensor->dim);
    for (size_t i = 0; i < COUNT(types); i++) {
        if (types[i].from == tensor->dtype) {
            out->is_weight = true;
            out->type = types[i].to;
        }
    }
    return true;
}

static bool at(const void *state, size_t index, clf_checkpoint_tensor *out)
{
    return describe(clfi_safetensors_at(((const storage *)state)->file, index), out);
}

static bool find(const void *state, const char *name, clf_checkpoint_tensor *out)
{
    return describe(clfi_safetensors_find(((const storage *)state)->file, name), out);
}

static size_t file_count(const void *state)
{
    return clfi_safetensors_shard_count(((const storage *)state)->file);
}

static const char *file_path(const void *state, int file)
{
    return clfi_safetensors_shard_path(((const storage *)state)->file, file);
}

static clf_file_map *file_map(const void *state, int file)
{
    return clfi_safetensors_shard_map(((const storage *)state)->file, file);
}

static const clf_checkpoint_form form = {"safetensors", load, at, find, file_count, file_path, file_map, close_storage, NULL};

static clf_status read_config(const char *directory, json_t **out)
{
    char *path;
    bool exists;
    CLF_TRY(clfi_directory_exists(directory, &exists));
    if (!exists)
        CLF_FAIL(CLF_NOT_FOUND, "model directory %s: %s", directory,
                 access(directory, F_OK) == 0 ? "not a directory: expected one with config.json" : "no such directory");
    CLF_TRY(clfi_path_join(directory, CLFI_MODEL_CONFIG, &path));
    const clf_status st = clfi_json_read(path, CLFI_MODEL_FILE_BYTES, out);
    free(path);
    return st;
}

/* Puts the keys of config_kwargs, in sentence-transformers' file beside config.json, over config.json's own before anything reads them. */
static clf_status put_arguments(const char *directory, json_t *config)
{
    const char *name, *found;
    const json_t *arguments = NULL;
    json_t *settings;
    CLF_TRY(clfi_transformer_settings_read(directory, &settings, &name));
    clf_status st = settings ? clfi_transformer_arguments(settings, name, "config_kwargs", "config_args", &found, &arguments) : CLF_OK;
    if (st == CLF_OK && arguments && json_is_object(config) &&
        (json_object_update(config, (json_t *)arguments) != 0 || json_object_set(config, CLFI_CONFIG_ARGUMENTS, (json_t *)arguments) != 0))
        st = clfi_fail(CLF_OUT_OF_MEMORY, "%s: not enough memory", name);
    json_decref(settings);
    return st;
}

/* A Gemma 3 that also reads pictures: text_config describes the part that reads text. Keys with transformers' usual values are left out
 * there, so they are added. */
static clf_status take_text_part(json_t **config)
{
    const char *type = json_string_value(json_object_get(*config, "model_type"));
    const json_t *text = json_object_get(*config, "text_config");
    if (!type || strcmp(type, "gemma3") != 0 || !json_is_object(text))
        return CLF_OK;
    json_t *made = clfi_json_copy(text);
    json_t *usual = json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "hidden_size", 2304, "intermediate_size", 9216,
                              "num_hidden_layers", 26, "num_attention_heads", 8, "num_key_value_heads", 4, "head_dim", 256, "vocab_size",
                              262208, "max_position_embeddings", 131072);
    const bool is_made = made && usual && json_object_set_new(made, "model_type", json_string("gemma3_text")) == 0 &&
                         json_object_update_missing(made, usual) == 0 && json_object_update_missing(made, *config) == 0;
    json_decref(usual);
    if (!is_made) {
        json_decref(made);
        CLF_FAIL(CLF_OUT_OF_MEMORY, "%s: not enough memory", CLFI_MODEL_CONFIG);
    }
    json_decref(*config);
    *config = made;
    return CLF_OK;
}

clf_status clfi_checkpoint_open(const char *path, clf_checkpoint **out)
{
    storage *s;
    json_t *config = NULL;
    if (clfi_is_gguf(path))
        return clfi_checkpoint_open_gguf(path, out);
    CLF_TRY(clfi_alloc(1, sizeof *s, "checkpoint", &s));
    clf_status st = clfi_network_directory(path, &s->directory);
    if (st == CLF_OK)
        st = read_config(s->directory, &config);
    if (st == CLF_OK)
        st = put_arguments(s->directory, config);
    if (st == CLF_OK)
        st = take_text_part(&config);
    if (st != CLF_OK) {
        json_decref(config);
        close_storage(s);
        return st;
    }
    return clfi_checkpoint_create(&form, s, config, out);
}

clf_status clfi_checkpoint_open_memory(const char *name, const void *config, size_t config_bytes, const void *weights, size_t weight_bytes,
                                       clf_checkpoint **out)
{
    storage *s;
    json_t *json;
    CLF_TRY(clfi_json_parse(config, config_bytes, name, &json));
    const clf_status st = clfi_alloc(1, sizeof *s, "checkpoint", &s);
    if (st != CLF_OK) {
        json_decref(json);
        return st;
    }
    *s = (storage){.name = name, .data = weights, .bytes = weight_bytes};
    return clfi_checkpoint_create(&form, s, json, out);
}
