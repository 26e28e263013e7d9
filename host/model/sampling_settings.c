/* SPDX-License-Identifier: MIT */
/* Finds the sampling settings in generation_config.json and in GGUF's metadata. */
#include "model/sampling_settings.h"

#include <math.h>
#include <string.h>

#include "io/adapter_directory.h"
#include "io/checkpoint_gguf.h"
#include "io/gguf.h"
#include "io/gguf_keys.h"
#include "io/json.h"
#include "model/directory_account.h"

static clf_status put(json_t **settings, const char *key, size_t length, json_t *value)
{
    if (!*settings)
        *settings = json_object();
    if (json_object_setn_new(*settings, key, length, value) != 0)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "sampling settings: not enough memory");
    return CLF_OK;
}

static clf_status find_in_directory(const char *path, json_t **out)
{
    static const char keys[] = "do_sample temperature top_k top_p min_p top_h typical_p epsilon_cutoff eta_cutoff";
    char *place = NULL;
    json_t *config = NULL, *value;
    const char *key;
    clf_status st;
    CLF_GOTO(clfi_adapter_place(path, NULL, 0, &place));
    CLF_GOTO(clfi_json_read_in(place, "generation_config.json", NULL, &config));
    if (!json_is_true(json_object_get(config, "do_sample")))
        goto done;
    json_object_foreach(config, key, value) if (clfi_account_has(keys, key) && clfi_account_is_set(value))
        CLF_GOTO(put(out, key, strlen(key), clfi_json_copy(value)));
done:
    free(place);
    json_decref(config);
    return st;
}

/* Whether this key of the file is a setting that has an effect: methods that are off by default are off with 0. */
static bool is_setting(const clf_gguf_value *value)
{
    static const char prefix[] = CLFI_GGUF_SAMPLING, followed[] = "penalty_repeat penalty_last_n", idle[] = "mirostat xtc_probability";
    const size_t length = sizeof prefix - 1;
    double number;
    char name[64];
    if (value->key.length < length || memcmp(value->key.data, prefix, length) != 0)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)(value->key.length - length), value->key.data + length);
    return !clfi_account_has(followed, name) &&
           !(clfi_account_has(idle, name) && value->type != CLF_GGUF_ARRAY && clfi_gguf_number(value, 0, &number) && number == 0);
}

static json_t *json_of(const clf_gguf_value *value)
{
    clf_gguf_string text;
    double number;
    int64_t whole;
    if (value->type == CLF_GGUF_ARRAY)
        return json_array();
    if (clfi_gguf_text(value, &text))
        return clfi_json_text(text.data, text.length);
    if (clfi_gguf_int(value, 0, &whole))
        return json_integer(whole);
    return clfi_gguf_number(value, 0, &number) && isfinite(number) ? json_real(number) : json_null();
}

static clf_status find_in_gguf(const char *path, json_t **out)
{
    clf_gguf *file;
    clf_status st = CLF_OK;
    CLF_TRY(clfi_gguf_open(path, &file));
    for (size_t i = 0; st == CLF_OK && i < clfi_gguf_value_count(file); i++) {
        const clf_gguf_value *value = clfi_gguf_value_at(file, i);
        if (is_setting(value))
            st = put(out, value->key.data, value->key.length, json_of(value));
    }
    clfi_gguf_close(file);
    return st;
}

clf_status clfi_sampling_settings(const char *path, json_t **out)
{
    json_t *found = NULL;
    const clf_status st = clfi_is_gguf(path) ? find_in_gguf(path, &found) : find_in_directory(path, &found);
    if (st == CLF_OK)
        *out = found;
    else
        json_decref(found);
    return st;
}
