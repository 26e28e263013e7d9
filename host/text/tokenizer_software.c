/* SPDX-License-Identifier: MIT */
/* Reads the version of transformers and the tokenizer's class from a directory's files. */
#include "text/tokenizer_software.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/json.h"
#include "text/tokenizer_pipeline.h"

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* The first number of a version, such as 5 of "5.0.0.dev0"; negative: there is none. */
static long major_of(const json_t *version)
{
    const char *text = json_string_value(version);
    char *end;
    const long number = text ? strtol(text, &end, 10) : -1;
    return text && end > text ? number : -1;
}

clf_status clfi_tokenizer_is_of_five(const char *directory, const json_t *config, bool *out)
{
    static const char model_config[] = "config.json", settings[] = "config_sentence_transformers.json";
    json_t *model = NULL, *sentence = NULL;
    clf_status st;
    CLF_GOTO(clfi_json_read_in(directory, model_config, NULL, &model));
    CLF_GOTO(clfi_json_read_in(directory, settings, NULL, &sentence));
    long major = major_of(json_object_get(model, "transformers_version"));
    if (major < 0)
        major = major_of(json_object_get(json_object_get(sentence, "__version__"), "transformers"));
    *out = major >= 0 ? major >= 5 : json_object_get(config, "backend") != NULL;
done:
    json_decref(model);
    json_decref(sentence);
    return st;
}

/* Whether any part of the value has this type. */
static bool has_type(const json_t *value, const char *type)
{
    const char *key, *own = text_of(value, "type");
    json_t *item;
    bool is_found = own && strcmp(own, type) == 0;
    json_object_foreach((json_t *)value, key, item) is_found = is_found || has_type(item, type);
    for (size_t i = 0; i < json_array_size(value); i++)
        is_found = is_found || has_type(json_array_get(value, i), type);
    return is_found;
}

static bool has_byte_level(const json_t *root)
{
    static const char *const keys[] = {"normalizer", "pre_tokenizer", "post_processor", "decoder"};
    for (size_t i = 0; i < COUNT(keys); i++)
        if (has_type(json_object_get(root, keys[i]), "ByteLevel"))
            return true;
    return false;
}

/* Copies the name of the class that a file names, or else of the model type's class, without "Fast". *out NULL: none. */
static clf_status copy_class(const json_t *config, const json_t *model, const json_t *types, char **out)
{
    static const char end[] = "Fast";
    const char *name = text_of(config, "tokenizer_class"), *type = text_of(model, "model_type");
    *out = NULL;
    if (!name)
        name = text_of(model, "tokenizer_class");
    if (!name && config && type)
        name = text_of(types, type);
    if (!name)
        return CLF_OK;
    CLF_TRY(clfi_strdup(name, out));
    const size_t length = strlen(name), cut = sizeof end - 1;
    if (length > cut && strcmp(name + length - cut, end) == 0)
        (*out)[length - cut] = '\0';
    return CLF_OK;
}

/* Replaces the class for model types whose files on the Hub name a wrong one. */
static clf_status correct_class(const json_t *corrected, const char *model_type, char **name)
{
    const char *right = model_type ? text_of(corrected, model_type) : NULL;
    if (!right)
        return CLF_OK;
    free(*name);
    *name = NULL;
    return clfi_strdup(right, name);
}

static clf_status check_built(const json_t *rows, const char *name)
{
    if (clfi_pipeline_lists(json_object_get(rows, "missing"), name))
        CLF_FAIL(CLF_UNSUPPORTED,
                 "tokenizer_class \"%s\": transformers 5's class cuts texts in its own way, which is not supported (to cut them as "
                 "tokenizer.json "
                 "says, set tokenizer_class to \"PreTrainedTokenizerFast\")",
                 name);
    return CLF_OK;
}

clf_status clfi_tokenizer_pipeline_class(const char *directory, const json_t *config, const json_t *root, char **out)
{
    char *name = NULL;
    json_t *rows = NULL, *model = NULL;
    clf_status st;
    *out = NULL;
    CLF_GOTO(clfi_json_read_in(directory, "config.json", NULL, &model));
    CLF_GOTO(clfi_pipelines_read(&rows));
    CLF_GOTO(copy_class(config, model, json_object_get(rows, "types"), &name));
    if (!name)
        goto done;
    const char *model_type = text_of(model, "model_type");
    const bool is_stored = clfi_pipeline_lists(json_object_get(rows, "stored"), model_type);
    CLF_GOTO(correct_class(json_object_get(rows, "corrected"), model_type, &name));
    if (is_stored || (strcmp(name, "LlamaTokenizer") == 0 && has_byte_level(root))) /* Llama 3 and later */
        goto done;
    CLF_GOTO(check_built(rows, name));
    if (clfi_pipeline_find(rows, name)) {
        *out = name;
        name = NULL;
    }
done:
    free(name);
    json_decref(rows);
    json_decref(model);
    return st;
}
