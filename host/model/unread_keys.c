/* SPDX-License-Identifier: MIT */
/* Keys that nothing reads: the family's reader runs once more, watched. */
#include "model/unread_keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "io/json.h"
#include "io/model_directory.h"
#include "model/directory_account.h"
#include "model/directory_rows.h"
#include "model/generation_config.h"
#include "model/labels.h"
#include "model/sentence_settings.h"
#include "model/similarity.h"

/* Whether the list says that another reader follows it, or that it changes nothing. */
static bool is_idle(const char *file, const char *key)
{
    const clf_account_row *row = clfi_account_find(file, key);
    return row && row->verdict != CLF_ACCOUNT_REFUSED;
}

static bool is_followed(const char *file, const char *key)
{
    const clf_account_row *row = clfi_account_find(file, key);
    return row && row->verdict == CLF_ACCOUNT_FOLLOWED;
}

bool clfi_is_generation_key(const char *key)
{
    return clfi_account_find(CLFI_ACCOUNT_GENERATION, key) || clfi_generation_config_refuses(key);
}

/* Layers that are all of the usual kind. */
static bool is_idle_list(const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *kind = json_string_value(json_array_get(list, i));
        if (!kind || strcmp(kind, "full_attention") != 0)
            return false;
    }
    return json_array_size(list) > 0;
}

/* Whether a key that nothing reads changes no number. */
typedef bool (*idle_function)(const char *key, const json_t *value, int64_t labels);

/* The keys that are not seen, and not idle, null or false either. */
static clf_status list_unread(const json_t *json, const json_t *seen, idle_function changes_nothing, int64_t labels, json_t **out)
{
    json_t *list = json_array(), *value;
    const char *key;
    clf_status st = list ? CLF_OK : clfi_fail(CLF_OUT_OF_MEMORY, "account of keys: not enough memory");
    json_object_foreach((json_t *)json, key, value)
    {
        const bool is_told =
            json_object_get(seen, key) || changes_nothing(key, value, labels) || json_is_null(value) || json_is_false(value);
        if (st == CLF_OK && !is_told && json_array_append_new(list, json_string(key)) != 0)
            st = clfi_fail(CLF_OUT_OF_MEMORY, "account of keys: not enough memory");
    }
    if (st == CLF_OK)
        *out = list;
    else
        json_decref(list);
    return st;
}

static bool is_idle_key(const char *key, const json_t *value, int64_t labels)
{
    return clfi_is_generation_key(key) || is_idle(CLFI_MODEL_CONFIG, key) || is_idle_list(value) ||
           (labels == 0 &&
            (strcmp(key, "id2label") == 0 || strncmp(key, "classifier_", strlen("classifier_")) == 0 || strcmp(key, "problem_type") == 0));
}

/* The keys that reading looks for. */
static clf_status see_config(const json_t *config, const clf_family *family, json_t *seen, int64_t *labels)
{
    clf_network_config network;
    clf_labels read = {.name = NULL};
    clfi_json_watch(config, seen);
    clf_status st = family->read_config(config, &network);
    if (st == CLF_OK)
        st = clfi_labels_count(config, labels);
    if (st == CLF_OK)
        st = clfi_labels_read(config, &read);
    clfi_labels_free(&read);
    clfi_json_watch(NULL, NULL);
    return st;
}

static clf_status make_seen(json_t **out)
{
    *out = json_object();
    return *out ? CLF_OK : clfi_fail(CLF_OUT_OF_MEMORY, "account of keys: not enough memory");
}

clf_status clfi_unread_keys(const json_t *config, const clf_family *family, json_t **out)
{
    json_t *seen;
    int64_t labels = 0;
    CLF_TRY(make_seen(&seen));
    clf_status st = see_config(config, family, seen, &labels);
    if (st == CLF_OK)
        st = list_unread(config, seen, is_idle_key, labels, out);
    json_decref(seen);
    return st;
}

/* A key is followed if it was looked for or the list says so, unknown if it is among the unread, else harmless. */
static clf_status add_keys(const json_t *json, const char *where, const json_t *seen, const json_t *unread, clf_directory_account *account)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)json, key, value)
    {
        json_t **list = json_object_get(seen, key) || is_followed(where, key) ? &account->followed : &account->harmless;
        for (size_t i = 0; i < json_array_size(unread); i++)
            if (strcmp(json_string_value(json_array_get(unread, i)), key) == 0)
                list = &account->unknown;
        if (strcmp(key, CLFI_CONFIG_ARGUMENTS) != 0)
            CLF_TRY(clfi_account_append(list, where, key));
    }
    return CLF_OK;
}

clf_status clfi_account_config(const json_t *config, const clf_family *family, clf_directory_account *account)
{
    json_t *seen, *unread = NULL;
    int64_t labels = 0;
    CLF_TRY(make_seen(&seen));
    clf_status st = see_config(config, family, seen, &labels);
    if (st == CLF_OK)
        st = list_unread(config, seen, is_idle_key, labels, &unread);
    if (st == CLF_OK)
        st = add_keys(config, CLFI_MODEL_CONFIG, seen, unread, account);
    json_decref(unread);
    json_decref(seen);
    return st;
}

static clf_status check_all(const json_t *arguments, const char *name, const char *found, const json_t *unread)
{
    for (size_t i = 0; i < json_array_size(unread); i++) {
        const char *key = json_string_value(json_array_get(unread, i));
        if (json_object_get(arguments, key))
            CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: %s: models of this family have no such key (leave it out if it changes nothing)", name,
                     found, key);
    }
    return CLF_OK;
}

clf_status clfi_arguments_check(const char *directory, const json_t *config, const clf_family *family)
{
    char *network;
    const char *name, *found;
    const json_t *arguments = NULL;
    json_t *settings = NULL, *unread = NULL;
    clf_status st;
    CLF_TRY(clfi_network_directory(directory, &network));
    CLF_GOTO(clfi_transformer_settings_read(network, &settings, &name));
    if (settings)
        CLF_GOTO(clfi_transformer_arguments(settings, name, "config_kwargs", "config_args", &found, &arguments));
    if (arguments) {
        CLF_GOTO(clfi_unread_keys(config, family, &unread));
        CLF_GOTO(check_all(arguments, name, found, unread));
    }
done:
    json_decref(unread);
    json_decref(settings);
    free(network);
    return st;
}

/* Of config_sentence_transformers.json: versions, and types that numbers are kept in, which are float32 here. */
static bool is_idle_setting(const char *key, const json_t *value, int64_t labels)
{
    (void)value;
    (void)labels;
    return is_idle(CLFI_SENTENCE_SETTINGS, key);
}

/* The keys that reading looks for; a similarity that is refused was looked for too. */
static clf_status see_settings(const json_t *json, const clf_sentence_config *config, int64_t labels, json_t *seen)
{
    clf_sentence_settings settings = {.truncate_dim = 0};
    clf_similarity similarity;
    clfi_json_watch(json, seen);
    clf_status st = clfi_similarity_parse(json, &similarity);
    if (st == CLF_UNSUPPORTED)
        st = CLF_OK;
    if (st == CLF_OK && config->has_modules)
        st = clfi_sentence_settings_parse(json, labels, &settings);
    clfi_json_watch(NULL, NULL);
    clfi_sentence_settings_free(&settings);
    return st;
}

/* Both may be NULL. */
static clf_status read_settings(const char *directory, const clf_sentence_config *config, int64_t labels, json_t **out,
                                clf_directory_account *account)
{
    json_t *json = NULL, *seen, *unread = NULL;
    CLF_TRY(make_seen(&seen));
    clf_status st = clfi_json_read_in(directory, CLFI_SENTENCE_SETTINGS, NULL, &json);
    if (st == CLF_OK && json)
        st = see_settings(json, config, labels, seen);
    if (st == CLF_OK)
        st = list_unread(json, seen, is_idle_setting, labels, &unread);
    if (st == CLF_OK && account)
        st = add_keys(json, CLFI_SENTENCE_SETTINGS, seen, unread, account);
    if (st == CLF_OK && out)
        *out = json_incref(unread);
    json_decref(unread);
    json_decref(json);
    json_decref(seen);
    return st;
}

clf_status clfi_unread_settings(const char *directory, const clf_sentence_config *config, int64_t labels, json_t **out)
{
    return read_settings(directory, config, labels, out, NULL);
}

clf_status clfi_account_settings(const char *directory, const clf_sentence_config *config, int64_t labels, clf_directory_account *account)
{
    return read_settings(directory, config, labels, NULL, account);
}
