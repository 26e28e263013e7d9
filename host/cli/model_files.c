/* SPDX-License-Identifier: MIT */
/* A model's files by name, and by what they are. */
#include "cli/model_files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "cli/directory.h"
#include "io/checkpoint.h"
#include "model/sentence_settings.h"
#include "text/tokenizer_files.h"

bool cli_is_model_file(const char *name)
{
    static const char *const names[] = {CLFI_MODEL_CONFIG,           CLFI_SENTENCE_MODULES, CLFI_SENTENCE_SETTINGS,
                                        "sentence_bert_config.json", "model.safetensors",   "model.safetensors.index.json",
                                        "generation_config.json",    "chat_template.jinja"};
    int shard, shards, length = 0;
    const char *end = strrchr(name, '.');
    for (size_t i = 0; i < COUNT(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    if (clfi_is_tokenizer_file(name))
        return true;
    if (sscanf(name, "model-%d-of-%d.safetensors%n", &shard, &shards, &length) == 2 && length && !name[length])
        return true;
    return end && strcmp(end, ".gguf") == 0;
}

static bool is_one_file(const struct stat *a, const struct stat *b)
{
    return S_ISREG(a->st_mode) && a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool cli_is_read_from(const char *input, const char *path)
{
    struct stat target, info;
    DIR *folder;
    if (stat(path, &target) != 0 || stat(input, &info) != 0)
        return false;
    bool is_read = is_one_file(&info, &target);
    if (!S_ISDIR(info.st_mode) || (folder = opendir(input)) == NULL)
        return is_read;
    for (const struct dirent *entry; !is_read && (entry = readdir(folder)) != NULL;)
        is_read = cli_is_model_file(entry->d_name) && fstatat(dirfd(folder), entry->d_name, &info, 0) == 0 && is_one_file(&info, &target);
    closedir(folder);
    return is_read;
}

static void add_times(clf_hasher *hasher, const char *path, const struct stat *info)
{
    const int64_t facts[] = {(int64_t)info->st_dev, (int64_t)info->st_ino, (int64_t)info->st_size, (int64_t)info->st_mtim.tv_sec,
                             (int64_t)info->st_mtim.tv_nsec};
    clfi_hasher_add(hasher, path, strlen(path) + 1);
    clfi_hasher_add(hasher, facts, sizeof facts);
}

static clf_status add_folder(clf_hasher *hasher, const char *folder, bool is_top);

/* Of a folder only what the model's own files may name: its folders. */
static clf_status add_entry(clf_hasher *hasher, const char *folder, const char *name, bool is_top)
{
    char *path;
    struct stat info;
    CLF_TRY(clfi_path_join(folder, name, &path));
    clf_status st = CLF_OK;
    if (stat(path, &info) != 0)
        st = cli_is_model_file(name) ? clfi_fail_errno("stat", path) : CLF_OK;
    else if (S_ISDIR(info.st_mode))
        st = is_top ? add_folder(hasher, path, false) : CLF_OK;
    else if (cli_is_model_file(name))
        add_times(hasher, path, &info);
    free(path);
    return st;
}

static clf_status add_folder(clf_hasher *hasher, const char *folder, bool is_top)
{
    char **names = NULL;
    size_t count = 0;
    clf_status st;
    CLF_GOTO(cli_directory_list(folder, NULL, &names, &count));
    for (size_t i = 0; i < count; i++)
        CLF_GOTO(add_entry(hasher, folder, names[i], is_top));
done:
    cli_directory_list_free(names, count);
    return st;
}

clf_status cli_model_files_stamp(const char *path, char out[CLFI_HASH_TEXT_BYTES])
{
    struct stat info;
    clf_hasher *hasher;
    if (stat(path, &info) != 0)
        return clfi_fail_errno("stat", path);
    CLF_TRY(clfi_hasher_create(&hasher));
    clf_status st = CLF_OK;
    if (S_ISDIR(info.st_mode))
        st = add_folder(hasher, path, true);
    else
        add_times(hasher, path, &info);
    clfi_hasher_text(hasher, out);
    clfi_hasher_destroy(hasher);
    return st;
}
