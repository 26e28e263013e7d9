/* SPDX-License-Identifier: MIT */
/* By which files a model and its tokenizer are known. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "cli/directory.h"
#include "cli/fingerprint_parts.h"
#include "io/json.h"
#include "model/sentence_settings.h"
#include "text/tokenizer.h"
#include "text/tokenizer_files.h"

static bool ends(const char *text, const char *with)
{
    const size_t n = strlen(text), m = strlen(with);
    return n >= m && strcmp(text + n - m, with) == 0;
}

/* Which files of a model's directory, and of its modules' folders, say what a vector is. */
static bool is_of_model(const char *name)
{
    return strcmp(name, "config.json") == 0 || strcmp(name, CLFI_SENTENCE_MODULES) == 0 || ends(name, ".gguf") ||
           ends(name, ".safetensors") || ends(name, ".safetensors.index.json"); /* an index may name any */
}

static clf_status add_file(clf_hasher *hasher, const char *directory, const char *name)
{
    char *path;
    CLF_TRY(clfi_path_join(directory, name, &path));
    clfi_hasher_add(hasher, name, strlen(name) + 1);
    const clf_status st = clfi_hasher_add_file(hasher, path);
    free(path);
    return st;
}

static clf_status add_files(clf_hasher *hasher, const char *directory, bool (*wanted)(const char *))
{
    char **names = NULL;
    size_t count = 0;
    clf_status st;
    CLF_GOTO(cli_directory_list(directory, wanted, &names, &count));
    for (size_t i = 0; i < count; i++)
        CLF_GOTO(add_file(hasher, directory, names[i]));
done:
    cli_directory_list_free(names, count);
    return st;
}

/* The folder of one module: 1_Pooling, 2_Dense. Some modules have none. */
static clf_status add_module(clf_hasher *hasher, const char *directory, const char *name)
{
    char *path;
    bool exists;
    if (!name[0] || name[0] == '.' || strchr(name, '/'))
        return CLF_OK;
    CLF_TRY(clfi_path_join(directory, name, &path));
    clfi_hasher_add(hasher, name, strlen(name) + 1);
    clf_status st = clfi_directory_exists(path, &exists);
    if (st == CLF_OK && exists)
        st = add_files(hasher, path, is_of_model);
    free(path);
    return st;
}

/* What comes after the network lies in folders that modules.json names. */
static clf_status add_modules(clf_hasher *hasher, const char *directory)
{
    static const char file[] = CLFI_SENTENCE_MODULES;
    json_t *modules;
    clf_status st = CLF_OK;
    CLF_TRY(clfi_json_read_in(directory, file, NULL, &modules));
    for (size_t i = 0; st == CLF_OK && i < json_array_size(modules); i++) {
        const char *name;
        st = clfi_json_opt_string(json_array_get(modules, i), file, "path", "", &name);
        if (st == CLF_OK)
            st = add_module(hasher, directory, name);
    }
    json_decref(modules);
    return st;
}

/* What sentence_bert_config.json puts before the tokenizer; the rest of the file is the model's, or binds nobody. */
static clf_status add_lowercase(clf_hasher *hasher, const char *directory)
{
    static const char part[] = "Lowercase";
    bool lowers;
    CLF_TRY(clfi_tokenizer_lowers(directory, &lowers));
    if (lowers)
        clfi_hasher_add(hasher, part, sizeof part);
    return CLF_OK;
}

/* more: what a directory has beside its files. */
static clf_status hash_files(const char *path, bool (*wanted)(const char *), clf_status (*more)(clf_hasher *, const char *), char **out)
{
    clf_hasher *hasher;
    char text[CLFI_HASH_TEXT_BYTES];
    bool is_directory; /* or one file that holds all */
    CLF_TRY(clfi_directory_exists(path, &is_directory));
    CLF_TRY(clfi_hasher_create(&hasher));
    clf_status st = is_directory ? add_files(hasher, path, wanted) : clfi_hasher_add_file(hasher, path);
    if (st == CLF_OK && is_directory)
        st = more(hasher, path);
    clfi_hasher_text(hasher, text);
    clfi_hasher_destroy(hasher);
    return st == CLF_OK ? clfi_strdup(text, out) : st;
}

clf_status cli_fingerprint_hash_model(const char *path, char **out)
{
    return hash_files(path, is_of_model, add_modules, out);
}

clf_status cli_fingerprint_hash_tokenizer(const char *path, char **out)
{
    return hash_files(path, clfi_is_tokenizer_file, add_lowercase, out);
}
