/* SPDX-License-Identifier: MIT */
/* Hashes a model's files. */
#include "jobs/model_hash.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"
#include "jobs/directory.h"
#include "io/adapter_directory.h"
#include "io/json.h"
#include "io/model_directory.h"
#include "model/sentence_settings.h"
#include "text/tokenizer.h"
#include "text/tokenizer_files.h"

static bool ends(const char *text, const char *with)
{
    const size_t n = strlen(text), m = strlen(with);
    return n >= m && strcmp(text + n - m, with) == 0;
}

/* Whether a file of a model's directory, or of a module's folder, determines the vectors. */
static bool is_of_model(const char *name)
{
    return strcmp(name, "config.json") == 0 || strcmp(name, CLFI_SENTENCE_MODULES) == 0 || strcmp(name, CLFI_ADAPTER_CONFIG) == 0 ||
           ends(name, ".gguf") || ends(name, ".safetensors") || ends(name, ".safetensors.index.json"); /* it may name any of these */
}

/* `add` adds a file's bytes to the hash, or only its size and times, which show that it was replaced. */
typedef struct file_hash {
    clf_hasher *hasher;
    clf_status (*add)(clf_hasher *hasher, const char *path);
} file_hash;

static clf_status add_times(clf_hasher *hasher, const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return clfi_fail_errno("stat", path);
    const int64_t facts[] = {(int64_t)info.st_dev, (int64_t)info.st_ino, (int64_t)info.st_size, (int64_t)info.st_mtim.tv_sec,
                             (int64_t)info.st_mtim.tv_nsec};
    clfi_hasher_add(hasher, facts, sizeof facts);
    return CLF_OK;
}

static clf_status add_file(const file_hash *hash, const char *directory, const char *name)
{
    char *path;
    CLF_TRY(clfi_path_join(directory, name, &path));
    clfi_hasher_add(hash->hasher, name, strlen(name) + 1);
    const clf_status st = hash->add(hash->hasher, path);
    free(path);
    return st;
}

static clf_status add_files(const file_hash *hash, const char *directory, bool (*wanted)(const char *))
{
    char **names = NULL;
    size_t count = 0;
    clf_status st;
    CLF_GOTO(cli_directory_list(directory, wanted, &names, &count));
    for (size_t i = 0; i < count; i++)
        CLF_GOTO(add_file(hash, directory, names[i]));
done:
    cli_directory_list_free(names, count);
    return st;
}

/* Adds the folder of one module: 1_Pooling, 2_Dense. Some modules have none. */
static clf_status add_module(const file_hash *hash, const char *directory, const char *given)
{
    char *path, name[CLFI_MODULE_PATH_BYTES];
    bool exists;
    CLF_TRY(clfi_module_path(given, name));
    if (!name[0])
        return CLF_OK;
    CLF_TRY(clfi_path_join(directory, name, &path));
    clfi_hasher_add(hash->hasher, name, strlen(name) + 1);
    clf_status st = clfi_directory_exists(path, &exists);
    if (st == CLF_OK && exists)
        st = add_files(hash, path, is_of_model);
    free(path);
    return st;
}

/* Adds the modules after the network, in the folders that modules.json names. */
static clf_status add_modules(const file_hash *hash, const char *directory)
{
    static const char file[] = CLFI_SENTENCE_MODULES;
    json_t *modules;
    clf_status st = CLF_OK;
    CLF_TRY(clfi_json_read_in(directory, file, NULL, &modules));
    for (size_t i = 0; st == CLF_OK && i < json_array_size(modules); i++) {
        const char *name;
        st = clfi_json_opt_string(json_array_get(modules, i), file, "path", "", &name);
        if (st == CLF_OK)
            st = add_module(hash, directory, name);
    }
    json_decref(modules);
    return st;
}

/* Adds the step that sentence_bert_config.json puts before the tokenizer. The rest of the file is the model's, or has no effect. */
static clf_status add_lowercase(const file_hash *hash, const char *directory)
{
    static const char part[] = "Lowercase";
    bool lowers;
    CLF_TRY(clfi_tokenizer_lowers(directory, &lowers));
    if (lowers)
        clfi_hasher_add(hash->hasher, part, sizeof part);
    return CLF_OK;
}

/* Adds the settings file of the Transformer module if it has arguments for config.json, which change the network. Its lengths alone are not
 * hashed. */
static clf_status add_arguments(const file_hash *hash, const char *directory)
{
    char *network;
    const char *name, *found;
    const json_t *arguments = NULL;
    json_t *settings;
    CLF_TRY(clfi_network_directory(directory, &network));
    clf_status st = clfi_transformer_settings_read(network, &settings, &name);
    if (st == CLF_OK && settings)
        st = clfi_transformer_arguments(settings, name, "config_kwargs", "config_args", &found, &arguments);
    if (st == CLF_OK && arguments)
        st = add_file(hash, network, name);
    json_decref(settings);
    free(network);
    return st;
}

static clf_status add_model(const file_hash *hash, const char *directory)
{
    CLF_TRY(add_arguments(hash, directory));
    CLF_TRY(add_files(hash, directory, is_of_model));
    return add_modules(hash, directory);
}

static clf_status add_tokenizer(const file_hash *hash, const char *directory)
{
    char *network;
    CLF_TRY(clfi_network_directory(directory, &network));
    const clf_status st = add_files(hash, network, clfi_is_tokenizer_file);
    free(network);
    CLF_TRY(st);
    return add_lowercase(hash, directory);
}

/* Adds the parts of a directory, and if it is an adapter those of its base model. */
static clf_status add_with_base(const file_hash *hash, const char *directory, clf_status (*add_parts)(const file_hash *, const char *))
{
    char *base;
    CLF_TRY(add_parts(hash, directory));
    CLF_TRY(clfi_adapter_base(directory, &base));
    const clf_status st = base ? add_parts(hash, base) : CLF_OK;
    free(base);
    return st;
}

static clf_status add_both(const file_hash *hash, const char *directory)
{
    CLF_TRY(add_model(hash, directory));
    return add_tokenizer(hash, directory);
}

/* Hashes the parts of a directory by add_parts, or the one file that holds everything. */
static clf_status hash_files(const char *path, clf_status (*add_parts)(const file_hash *, const char *),
                             clf_status (*add)(clf_hasher *, const char *), char out[CLFI_HASH_TEXT_BYTES])
{
    file_hash hash = {.add = add};
    bool is_directory;
    CLF_TRY(clfi_directory_exists(path, &is_directory));
    CLF_TRY(clfi_hasher_create(&hash.hasher));
    const clf_status st = is_directory ? add_with_base(&hash, path, add_parts) : add(hash.hasher, path);
    clfi_hasher_text(hash.hasher, out);
    clfi_hasher_destroy(hash.hasher);
    return st;
}

static clf_status hash_contents(const char *path, clf_status (*add_parts)(const file_hash *, const char *), char **out)
{
    char text[CLFI_HASH_TEXT_BYTES];
    CLF_TRY(hash_files(path, add_parts, clfi_hasher_add_file, text));
    return clfi_strdup(text, out);
}

clf_status cli_hash_model(const char *path, char **out)
{
    return hash_contents(path, add_model, out);
}

clf_status cli_hash_tokenizer(const char *path, char **out)
{
    return hash_contents(path, add_tokenizer, out);
}

clf_status cli_model_stamp(const char *path, char out[CLFI_HASH_TEXT_BYTES])
{
    return hash_files(path, add_both, add_times, out);
}
