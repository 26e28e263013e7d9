/* SPDX-License-Identifier: MIT */
/* Functions that the workloads of models share: names, identities and parameters of models. */
#include "workload/model_workloads.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/str.h"
#include "io/checkpoint.h"
#include "model/model.h"
#include "model/model_checkpoint.h"
#include "model/network_open.h"

/* The folder "model" of ".../all-MiniLM-L6-v2/model" says nothing, so the name of its parent is taken instead. */
void clfi_model_name(const char *directory, char *out, size_t size)
{
    static const char ending[] = ".gguf";
    size_t end = strlen(directory);
    for (int level = 0; level < 2; level++) {
        while (end > 1 && directory[end - 1] == '/')
            end--;
        if (end > sizeof ending - 1 && memcmp(directory + end - (sizeof ending - 1), ending, sizeof ending - 1) == 0)
            end -= sizeof ending - 1;
        size_t begin = end;
        while (begin > 0 && directory[begin - 1] != '/')
            begin--;
        snprintf(out, size, "%.*s", (int)(end - begin), directory + begin);
        if (strcmp(out, "model") != 0 || begin == 0)
            return;
        end = begin;
    }
}

static clf_status read_sizes(const char *directory, clfi_bench_model *out)
{
    json_t *config = NULL;
    const clf_family *family;
    clf_network_config network;
    clf_status st;
    CLF_GOTO(clfi_model_config_read(directory, &config));
    CLF_GOTO(clfi_family_find(config, CLF_TASK_EMBED | CLF_TASK_GENERATE, &family));
    CLF_GOTO(family->read_config(config, &network));
    if (!(family->tasks & CLF_TASK_EMBED))
        CLF_GOTO(clfi_network_as_encoder(family, &network));
    out->layers = network.encoder.layers;
    out->width = network.encoder.width;
    out->hidden_width = network.encoder.hidden_width;
    out->vocabulary = network.source.vocabulary;
    out->max_positions = network.source.max_positions;
done:
    json_decref(config);
    return st;
}

/* The hash of the file of weights; of several files, one hash over their hashes in order. */
static clf_status hash_weights(const char *path, char out[CLFI_HASH_TEXT_BYTES], json_int_t *bytes)
{
    clf_checkpoint *checkpoint = NULL;
    clf_str hashes = CLF_STR_INIT;
    clf_status st;
    *bytes = 0;
    CLF_GOTO(clfi_model_checkpoint_open(path, &checkpoint));
    CLF_GOTO(clfi_checkpoint_load(checkpoint));
    for (int i = 0; i < (int)clfi_checkpoint_file_count(checkpoint); i++) {
        const clf_file_map *map = clfi_checkpoint_file_map(checkpoint, i);
        clfi_hash(map->data, map->size, out);
        CLF_GOTO(clfi_file_map_check(map));
        *bytes += (json_int_t)map->size;
        CLF_GOTO(clfi_str_appendf(&hashes, "%s", out));
    }
    if (clfi_checkpoint_file_count(checkpoint) > 1)
        clfi_hash(clfi_str_text(&hashes), hashes.length, out);
done:
    clfi_str_free(&hashes);
    clfi_checkpoint_close(checkpoint);
    return st;
}

clf_status clfi_model_identity(const char *directory, const char *name, json_t **out)
{
    char hash[CLFI_HASH_TEXT_BYTES], own_name[CLFI_BENCH_MODEL_NAME];
    json_int_t bytes;
    clfi_model_name(directory, own_name, sizeof own_name);
    CLF_TRY(hash_weights(directory, hash, &bytes));
    *out = json_pack("{s:s, s:s, s:I}", "name", name ? name : own_name, "xxh128", hash, "file_bytes", bytes);
    if (!*out)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "model %s: its description: not enough memory", own_name);
    return CLF_OK;
}

clf_status clfi_model_generates(const char *path, bool *out)
{
    clf_checkpoint *checkpoint;
    const clf_family *family;
    unsigned tasks = 0;
    CLF_TRY(clfi_model_checkpoint_open(path, &checkpoint));
    clf_status st = clfi_family_find(clfi_checkpoint_config(checkpoint), CLF_TASK_EMBED | CLF_TASK_GENERATE, &family);
    if (st == CLF_OK)
        st = clfi_model_tasks(family, path, &tasks);
    clfi_checkpoint_close(checkpoint);
    *out = (tasks & CLF_TASK_GENERATE) != 0;
    return st;
}

clf_status clfi_bench_model_read(const char *directory, clfi_bench_model *out)
{
    *out = (clfi_bench_model){.directory = directory};
    clfi_model_name(directory, out->name, sizeof out->name);
    CLF_TRY(read_sizes(directory, out));
    return clfi_model_identity(directory, out->name, &out->identity);
}

void clfi_bench_model_free(clfi_bench_model *model)
{
    json_decref(model->identity);
    *model = (clfi_bench_model){0};
}

clf_status clfi_model_parameters(size_t size, const char *first, const char *second, void *out, const char **first_copy,
                                 const char **second_copy)
{
    const size_t first_size = first ? strlen(first) + 1 : 0, second_size = second ? strlen(second) + 1 : 0;
    char *memory;
    CLF_TRY(clfi_alloc(1, size + first_size + second_size, "workload", &memory));
    *first_copy = first ? memcpy(memory + size, first, first_size) : NULL;
    *second_copy = second ? memcpy(memory + size + first_size, second, second_size) : NULL;
    memcpy(out, &memory, sizeof memory);
    return CLF_OK;
}

clf_status clfi_model_workload_add(clfi_workload_list *list, clfi_workload *workload, json_t *work, void *parameters)
{
    if (!work) {
        free(parameters);
        CLF_FAIL(CLF_OUT_OF_MEMORY, "workload %s: its description: not enough memory", workload->id);
    }
    workload->suite = workload->suite ? workload->suite : "models";
    workload->work = work;
    workload->parameters = parameters;
    return clfi_workload_list_add(list, workload);
}

void clfi_model_random_ids(size_t batch, size_t tokens, int64_t vocabulary, int32_t *ids, int32_t *offsets)
{
    clfi_random random = {CLFI_MODEL_IDS_SEED};
    for (size_t i = 0; i < batch * tokens; i++)
        ids[i] = (int32_t)clfi_random_below(&random, (size_t)vocabulary);
    for (size_t i = 0; i <= batch; i++)
        offsets[i] = (int32_t)(i * tokens);
}

size_t clfi_model_weights_bytes(uint64_t file_bytes, uint64_t loaded_bytes)
{
    return (size_t)(file_bytes < loaded_bytes ? file_bytes : loaded_bytes);
}
