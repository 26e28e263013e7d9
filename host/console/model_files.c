/* SPDX-License-Identifier: MIT */
/* Recognises a model's files by their names, or as the same files on disk (device and inode). */
#include "console/model_files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/status.h"
#include "io/adapter_directory.h"
#include "io/checkpoint.h"
#include "io/model_directory.h"
#include "model/sentence_settings.h"
#include "text/tokenizer_files.h"

bool cli_is_model_file(const char *name)
{
    static const char *const names[] = {
        CLFI_MODEL_CONFIG,        CLFI_SENTENCE_MODULES, CLFI_SENTENCE_SETTINGS, "model.safetensors", "model.safetensors.index.json",
        "generation_config.json", "chat_template.jinja", CLFI_ADAPTER_CONFIG,    CLFI_ADAPTER_WEIGHTS};
    int shard, shards, length = 0;
    const char *end = strrchr(name, '.');
    for (size_t i = 0; i < COUNT(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    if (clfi_is_tokenizer_file(name) || clfi_is_transformer_settings(name))
        return true;
    if (sscanf(name, "model-%d-of-%d.safetensors%n", &shard, &shards, &length) == 2 && length && !name[length])
        return true;
    return end && strcmp(end, ".gguf") == 0;
}

/* An index may name any *.safetensors. */
static bool may_be_read(const char *name)
{
    const char *end = strrchr(name, '.');
    return cli_is_model_file(name) || (end && strcmp(end, ".safetensors") == 0);
}

static bool is_one_file(const struct stat *a, const struct stat *b)
{
    return S_ISREG(a->st_mode) && a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether the target is `input` itself, or a file in the folder `input` that a model may be read from. */
static bool is_of(const struct stat *target, const char *input)
{
    struct stat info;
    DIR *folder;
    if (stat(input, &info) != 0)
        return false;
    bool is_read = is_one_file(&info, target);
    if (!S_ISDIR(info.st_mode) || (folder = opendir(input)) == NULL)
        return is_read;
    for (const struct dirent *entry; !is_read && (entry = readdir(folder)) != NULL;)
        is_read = may_be_read(entry->d_name) && fstatat(dirfd(folder), entry->d_name, &info, 0) == 0 && is_one_file(&info, target);
    closedir(folder);
    return is_read;
}

bool cli_is_read_from(const char *input, const char *path)
{
    struct stat target;
    char *base = NULL;
    if (stat(path, &target) != 0)
        return false;
    bool is_read = is_of(&target, input);
    if (!is_read && clfi_adapter_base(input, &base) == CLF_OK && base) /* a failure is reported when the model is opened */
        is_read = is_of(&target, base);
    free(base);
    return is_read;
}
