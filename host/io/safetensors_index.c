/* SPDX-License-Identifier: MIT */
/* Checkpoint directories: one file, or the shards of a model.safetensors.index.json. */
#include "io/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "io/json.h"
#include "io/safetensors_file.h"

static const char single_name[] = "model.safetensors";
static const char index_name[] = "model.safetensors.index.json";
enum { INDEX_MAX_BYTES = 100000000 };

/* A plain file name: the index is untrusted and must not reach other directories. */
static bool plain_name(const char *name)
{
    return name[0] != '\0' && name[0] != '.' && !strpbrk(name, "/\\:");
}

/* Appends the shard unless an earlier entry did; `numbers` maps shard names to their numbers. */
static clf_status add_shard_once(clf_safetensors *file, const char *directory, const char *index_path, const char *name, json_t *numbers)
{
    if (json_object_get(numbers, name))
        return CLF_OK;
    if (file->shard_count == CLFI_SAFETENSORS_MAX_SHARDS)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: more than %d shards", index_path, CLFI_SAFETENSORS_MAX_SHARDS);
    if (json_object_set_new(numbers, name, json_integer((json_int_t)file->shard_count)) != 0)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "%s: table of shards: not enough memory", index_path);
    char *path;
    CLF_TRY(clfi_path_join(directory, name, &path));
    const clf_status st = clfi_safetensors_add_file(file, path);
    free(path);
    return st;
}

static clf_status add_shards(clf_safetensors *file, const char *directory, const char *index_path, const json_t *weight_map,
                             json_t *numbers)
{
    char found[CLFI_JSON_FOUND_BYTES];
    const char *tensor;
    json_t *shard;
    json_object_foreach((json_t *)weight_map, tensor, shard)
    {
        const char *name = json_string_value(shard);
        if (!name || strlen(name) != json_string_length(shard) || !plain_name(name))
            CLF_FAIL(CLF_FORMAT, "%s: \"weight_map\": \"%.200s\": expected a file name without directories, found %s", index_path, tensor,
                     clfi_json_found(shard, found));
        CLF_TRY(add_shard_once(file, directory, index_path, name, numbers));
    }
    return CLF_OK;
}

/* Every listed tensor is in the shard that the index names. */
static clf_status check_places(const clf_safetensors *file, const char *index_path, const json_t *weight_map, const json_t *numbers)
{
    const char *name;
    json_t *shard;
    json_object_foreach((json_t *)weight_map, name, shard)
    {
        const int number = (int)json_integer_value(json_object_get(numbers, json_string_value(shard)));
        const clf_file_tensor *tensor = clfi_safetensors_find(file, name);
        if (!tensor)
            CLF_FAIL(CLF_FORMAT, "%s: \"weight_map\": expected tensor \"%.200s\" in %s, found in no shard", index_path, name,
                     file->shards[number]->path);
        if (tensor->shard != number)
            CLF_FAIL(CLF_FORMAT, "%s: \"weight_map\": expected tensor \"%.200s\" in %s, found in %s", index_path, name,
                     file->shards[number]->path, file->shards[tensor->shard]->path);
    }
    return CLF_OK;
}

static clf_status read_index(clf_safetensors *file, const char *directory, const char *index_path)
{
    clf_status st;
    json_t *root = NULL, *numbers = json_object();
    const json_t *weight_map;
    if (!numbers)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "%s: table of shards: not enough memory", index_path);
    CLF_GOTO(clfi_json_read(index_path, INDEX_MAX_BYTES, &root));
    CLF_GOTO(clfi_json_get_object(root, index_path, "weight_map", &weight_map));
    CLF_GOTO(add_shards(file, directory, index_path, weight_map, numbers));
    CLF_GOTO(clfi_safetensors_sort(file));
    CLF_GOTO(check_places(file, index_path, weight_map, numbers));
done:
    json_decref(root);
    json_decref(numbers);
    return st;
}

static clf_status open_sharded(const char *directory, const char *index_path, clf_safetensors **out)
{
    clf_safetensors *file;
    CLF_TRY(clfi_alloc(1, sizeof *file, "safetensors file", &file));
    const clf_status st = read_index(file, directory, index_path);
    if (st != CLF_OK) {
        clfi_safetensors_close(file);
        return st;
    }
    *out = file;
    return CLF_OK;
}

/* torch's own files are pickles, programs that their reader runs: they are never read. */
static clf_status fail_missing(const char *directory)
{
    static const char *const others[] = {"pytorch_model.bin", "pytorch_model.bin.index.json"};
    for (size_t i = 0; i < COUNT(others); i++) {
        char *path;
        bool exists;
        CLF_TRY(clfi_path_join(directory, others[i], &path));
        const clf_status st = clfi_file_exists(path, &exists);
        free(path);
        CLF_TRY(st);
        if (exists)
            CLF_FAIL(CLF_NOT_FOUND,
                     "%s: found %s without %s, the only file that is read (to convert, run Python in that directory: "
                     "import glob, torch, safetensors.torch as s; s.save_file({k: v.clone() for f in glob.glob('pytorch_model*.bin') for "
                     "k, v in torch.load(f, map_location='cpu', "
                     "weights_only=True).items()}, '%s'))",
                     directory, others[i], single_name, single_name);
    }
    CLF_FAIL(CLF_NOT_FOUND, "%s: expected %s or %s in it, found neither", directory, single_name, index_name);
}

clf_status clfi_safetensors_open_directory(const char *directory, clf_safetensors **out)
{
    clf_status st;
    char *single = NULL, *index = NULL;
    bool has_single, has_index;
    CLF_GOTO(clfi_path_join(directory, single_name, &single));
    CLF_GOTO(clfi_path_join(directory, index_name, &index));
    CLF_GOTO(clfi_file_exists(single, &has_single));
    CLF_GOTO(clfi_file_exists(index, &has_index));
    if (has_single)
        st = clfi_safetensors_open(single, out);
    else if (has_index)
        st = open_sharded(directory, index, out);
    else
        st = fail_missing(directory);
done:
    free(single);
    free(index);
    return st;
}
