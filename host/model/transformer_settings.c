/* SPDX-License-Identifier: MIT */
/* Checks the keys of sentence_bert_config.json that say how sentence-transformers runs the network, and reads its lengths. */
#include "model/transformer_settings.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "io/checkpoint.h"
#include "io/json.h"
#include "model/directory_account.h"
#include "model/labels.h"

enum { WHERE_BYTES = 128 };

clf_status clfi_length_read(const json_t *json, const char *where, const char *key, int64_t *out)
{
    double value = 0;
    CLF_TRY(clfi_json_opt_number(json, where, key, 1, INFINITY, 0, &value));
    if (value > 0)
        *out = value > 1e9 ? 0 : (int64_t)value;
    return CLF_OK;
}

/* A key that may have one of two values: an encoder's or a classifier's. */
typedef struct choice {
    const char *key, *usual, *other;
} choice;

static clf_status check_choice(const json_t *object, const char *where, const choice *row)
{
    const char *value;
    CLF_TRY(clfi_json_opt_string(object, where, row->key, row->usual, &value));
    if (strcmp(value, row->usual) != 0 && strcmp(value, row->other) != 0)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s \"%s\": expected \"%s\" or \"%s\"", where, row->key, value, row->usual, row->other);
    return CLF_OK;
}

/* sentence-transformers 6 writes which function of the network reads a text, and which of its results is taken. */
static clf_status check_modalities(const json_t *settings, const char *name)
{
    static const choice rows[] = {{"method", "forward", "forward"}, {"method_output_name", "last_hidden_state", "logits"}};
    const json_t *modalities, *text;
    char where[WHERE_BYTES];
    CLF_TRY(clfi_json_opt_object(settings, name, "modality_config", &modalities));
    if (!clfi_account_is_set(modalities))
        return CLF_OK;
    snprintf(where, sizeof where, "%s: modality_config", name);
    CLF_TRY(clfi_json_opt_object(modalities, where, "text", &text));
    if (!text)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: expected \"text\": the model does not read plain texts", where);
    snprintf(where, sizeof where, "%s: modality_config: text", name);
    for (size_t i = 0; i < COUNT(rows); i++)
        CLF_TRY(check_choice(text, where, &rows[i]));
    return CLF_OK;
}

static clf_status check_arguments(const json_t *settings, const char *name)
{
    static const char *const rows[][3] = {{"config_kwargs", "config_args", CLFI_ACCOUNT_CONFIG_ARGUMENTS},
                                          {"model_kwargs", "model_args", CLFI_ACCOUNT_MODEL_ARGUMENTS},
                                          {"processor_kwargs", "tokenizer_args", CLFI_ACCOUNT_TOKENIZER_ARGUMENTS}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *found;
        const json_t *object;
        char where[WHERE_BYTES];
        CLF_TRY(clfi_transformer_arguments(settings, name, rows[i][0], rows[i][1], &found, &object));
        snprintf(where, sizeof where, "%s: %s", name, found);
        CLF_TRY(clfi_account_check(object, rows[i][2], where));
    }
    return CLF_OK;
}

/* Refuses false, which would give other tokens or refuse long texts. true, and names of ways to truncate, mean the same as no key. */
static clf_status check_not_false(const json_t *object, const char *where, const char *key)
{
    if (json_is_false(json_object_get(object, key)))
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: false is not supported (leave the key out)", where, key);
    return CLF_OK;
}

static clf_status check_processing(const json_t *settings, const char *name)
{
    static const char *const rows[][2] = {{"text", CLFI_ACCOUNT_TEXT}, {"common", CLFI_ACCOUNT_COMMON}};
    const json_t *processing, *object;
    char where[WHERE_BYTES];
    CLF_TRY(clfi_json_opt_object(settings, name, "processing_kwargs", &processing));
    for (size_t i = 0; processing && i < COUNT(rows); i++) {
        snprintf(where, sizeof where, "%s: processing_kwargs", name);
        CLF_TRY(clfi_json_opt_object(processing, where, rows[i][0], &object));
        snprintf(where, sizeof where, "%s: processing_kwargs: %s", name, rows[i][0]);
        CLF_TRY(clfi_account_check(object, rows[i][1], where));
        CLF_TRY(check_not_false(object, where, "truncation"));
        CLF_TRY(check_not_false(object, where, "add_special_tokens"));
    }
    return CLF_OK;
}

clf_status clfi_transformer_settings_check(const json_t *settings, const char *name)
{
    static const choice rows[] = {{"transformer_task", "feature-extraction", "sequence-classification"},
                                  {"module_output_name", "token_embeddings", "scores"}};
    CLF_TRY(clfi_account_check(settings, CLFI_TRANSFORMER_SETTINGS, name));
    for (size_t i = 0; i < COUNT(rows); i++)
        CLF_TRY(check_choice(settings, name, &rows[i]));
    CLF_TRY(check_modalities(settings, name));
    CLF_TRY(check_arguments(settings, name));
    return check_processing(settings, name);
}

clf_status clfi_transformer_settings_length(const json_t *settings, const char *name, int64_t *out)
{
    const json_t *arguments, *processing, *text = NULL;
    const char *found;
    CLF_TRY(clfi_length_read(settings, name, "max_seq_length", out));
    CLF_TRY(clfi_transformer_arguments(settings, name, "processor_kwargs", "tokenizer_args", &found, &arguments));
    if (arguments)
        CLF_TRY(clfi_length_read(arguments, name, "model_max_length", out));
    CLF_TRY(clfi_json_opt_object(settings, name, "processing_kwargs", &processing));
    if (processing)
        CLF_TRY(clfi_json_opt_object(processing, name, "text", &text));
    return text ? clfi_length_read(text, name, "max_length", out) : CLF_OK;
}

static clf_status check_all(const json_t *arguments, const char *name, const char *found, const json_t *unknown)
{
    for (size_t i = 0; i < json_array_size(unknown); i++) {
        const char *key = json_string_value(json_array_get(unknown, i));
        if (json_object_get(arguments, key))
            CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: %s: unknown key for models of this family (leave it out if it changes nothing)", name, found,
                     key);
    }
    return CLF_OK;
}

clf_status clfi_arguments_check(const char *directory, const json_t *config)
{
    clf_directory_account account = CLF_DIRECTORY_ACCOUNT_INIT;
    const char *name, *found;
    const json_t *arguments = NULL;
    json_t *settings = NULL, *unknown = NULL;
    int64_t labels;
    clf_status st;
    CLF_TRY(clfi_transformer_settings_open(directory, &settings, &name));
    if (settings)
        CLF_GOTO(clfi_transformer_arguments(settings, name, "config_kwargs", "config_args", &found, &arguments));
    if (arguments) {
        CLF_GOTO(clfi_labels_count(config, &labels));
        CLF_GOTO(clfi_account_config(config, labels, &account));
        CLF_GOTO(clfi_account_unknown(&account, CLFI_MODEL_CONFIG, &unknown));
        CLF_GOTO(check_all(arguments, name, found, unknown));
    }
done:
    json_decref(unknown);
    json_decref(settings);
    clfi_directory_account_clear(&account);
    return st;
}
