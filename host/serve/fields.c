/* SPDX-License-Identifier: MIT */
/* Reads the fields of requests with checks of type and range. */
#include "serve/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "io/json.h"
#include "io/json_memory.h"

const json_t *srv_field(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return value && !json_is_null(value) ? value : NULL;
}

bool srv_refuse_field(const json_t *object, const char *key, const char *what, srv_error *error)
{
    char found[CLFI_JSON_FOUND_BYTES];
    return srv_refuse(error, SRV_FAULT_INVALID, key, "%s: expected %s, found %s", key, what,
                      clfi_json_found(srv_field(object, key), found));
}

bool srv_read_bool(const json_t *object, const char *key, bool standard, bool *out, srv_error *error)
{
    const json_t *value = srv_field(object, key);
    if (value && !json_is_boolean(value))
        return srv_refuse_field(object, key, "true or false", error);
    *out = value ? json_is_true(value) : standard;
    return true;
}

bool srv_read_int(const json_t *object, const char *key, int64_t least, int64_t most, int64_t standard, int64_t *out, srv_error *error)
{
    const json_t *value = srv_field(object, key);
    char what[80];
    if (value && (!json_is_integer(value) || json_integer_value(value) < least || json_integer_value(value) > most)) {
        if (least == INT64_MIN)
            snprintf(what, sizeof what, "a whole number of 64 bits");
        else if (most == INT64_MAX)
            snprintf(what, sizeof what, "a whole number, at least %lld", (long long)least);
        else
            snprintf(what, sizeof what, "a whole number from %lld to %lld", (long long)least, (long long)most);
        return srv_refuse_field(object, key, what, error);
    }
    *out = value ? json_integer_value(value) : standard;
    return true;
}

bool srv_read_number(const json_t *object, const char *key, double least, double most, double standard, double *out, srv_error *error)
{
    const json_t *value = srv_field(object, key);
    char what[80];
    if (value && (!json_is_number(value) || !(json_number_value(value) >= least && json_number_value(value) <= most))) {
        snprintf(what, sizeof what, "a number from %g to %g", least, most);
        return srv_refuse_field(object, key, what, error);
    }
    *out = value ? json_number_value(value) : standard;
    return true;
}

bool srv_read_word(const json_t *object, const char *key, const char **out, srv_error *error)
{
    const json_t *value = srv_field(object, key);
    if (value && (!json_is_string(value) || strlen(json_string_value(value)) != json_string_length(value)))
        return srv_refuse_field(object, key, json_is_string(value) ? "a text without U+0000" : "a text", error);
    *out = value ? json_string_value(value) : NULL;
    return true;
}

bool srv_read_ids(const json_t *ids, size_t vocabulary, const char *param, const char *where, const char *hint, int32_t *out,
                  srv_error *error)
{
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const json_t *id = json_array_get(ids, i);
        char found[CLFI_JSON_FOUND_BYTES];
        if (!json_is_integer(id) || json_integer_value(id) < 0 || json_integer_value(id) >= (json_int_t)vocabulary)
            return srv_refuse(error, SRV_FAULT_INVALID, param,
                              "%s: token id %zu is outside the model's vocabulary of %zu: found %s: the ids come from another tokenizer%s",
                              where, i, vocabulary, clfi_json_found(id, found), hint);
        out[i] = (int32_t)json_integer_value(id);
    }
    return true;
}

clf_text srv_text(const json_t *string)
{
    return (clf_text){json_string_value(string), json_string_length(string)};
}

bool srv_is_word(const json_t *value, const char *word)
{
    const size_t size = strlen(word);
    return json_is_string(value) && json_string_length(value) == size && memcmp(json_string_value(value), word, size) == 0;
}

static bool is_neutral(const json_t *value, const srv_unbuilt *row)
{
    switch (row->neutral) {
    case SRV_ONLY_FALSE:
        return json_is_false(value);
    case SRV_ONLY_TRUE:
        return json_is_true(value);
    case SRV_ONLY_ONE:
        return json_is_number(value) && json_number_value(value) == 1;
    case SRV_ONLY_ZERO:
        return json_is_number(value) && json_number_value(value) == 0;
    case SRV_ONLY_EMPTY:
        return ((json_is_array(value) || json_is_object(value)) && json_array_size(value) + json_object_size(value) == 0) ||
               (json_is_string(value) && json_string_length(value) == 0);
    case SRV_ONLY_TEXT_FORMAT:
        return srv_is_word(json_object_get(value, "type"), "text");
    case SRV_ONLY_NO_TOOLS:
        return srv_is_word(value, "none") || srv_is_word(value, "auto");
    case SRV_ONLY_FLOAT:
        return srv_is_word(value, "float");
    case SRV_ONLY_RIGHT:
        return json_string_length(value) == 5 && strcasecmp(json_string_value(value), "right") == 0;
    case SRV_ONLY_ABSENT:
        return false;
    }
    return false;
}

bool srv_check_unbuilt(const json_t *object, const srv_unbuilt *rows, size_t count, srv_error *error)
{
    static const char *const neutral[] = {[SRV_ONLY_FALSE] = "false",
                                          [SRV_ONLY_TRUE] = "true",
                                          [SRV_ONLY_ONE] = "1",
                                          [SRV_ONLY_ZERO] = "0",
                                          [SRV_ONLY_EMPTY] = "an empty value",
                                          [SRV_ONLY_TEXT_FORMAT] = "{\"type\": \"text\"}",
                                          [SRV_ONLY_NO_TOOLS] = "\"none\" or \"auto\"",
                                          [SRV_ONLY_FLOAT] = "\"float\"",
                                          [SRV_ONLY_RIGHT] = "\"right\"",
                                          [SRV_ONLY_ABSENT] = "null"};
    for (size_t i = 0; i < count; i++) {
        const json_t *value = srv_field(object, rows[i].key);
        char found[CLFI_JSON_FOUND_BYTES];
        if (value && !is_neutral(value, &rows[i]))
            return srv_refuse(error, SRV_FAULT_INVALID, rows[i].key, "%s: not supported: expected %s (or leave the field out), found %s",
                              rows[i].key, neutral[rows[i].neutral], clfi_json_found(value, found));
    }
    return true;
}

/* Whether strict JSON was refused for a number that is too large. Python reads it as a real number, perhaps infinity, which the field's
 * reader then refuses by name. */
static bool is_number_fault(const char *message)
{
    return strstr(message, "too big integer") || strstr(message, "real number overflow");
}

bool srv_parse_body(const char *text, size_t size, size_t most_bytes, json_t **out, size_t *out_bytes, srv_error *error)
{
    json_t *root;
    clf_json_account account;
    static const char name[] = "the request's body", mark[] = "\ufeff"; /* some editors and languages begin texts with it */
    if (size >= sizeof mark - 1 && memcmp(text, mark, sizeof mark - 1) == 0) {
        text += sizeof mark - 1;
        size -= sizeof mark - 1;
    }
    if (size == 0)
        return srv_refuse(error, SRV_FAULT_INVALID, NULL, "%s: expected a JSON object, found nothing", name);
    clfi_json_account_begin(&account, (int64_t)most_bytes);
    clf_status st = clfi_json_parse_strict(text, size, name, &root);
    if (st == CLF_FORMAT && is_number_fault(clf_last_error()))
        st = clfi_json_parse(text, size, name, &root);
    clfi_json_account_end();
    if (account.is_over)
        return srv_refuse(error, SRV_FAULT_BODY, NULL, "%s: its JSON values need more than %zu bytes of memory: send fewer", name,
                          most_bytes);
    if (st == CLF_OUT_OF_MEMORY)
        return srv_refuse(error, SRV_FAULT_OVERLOADED, NULL, "not enough memory for the request");
    if (st != CLF_OK)
        return srv_refuse(error, SRV_FAULT_INVALID, NULL, "%s", clf_last_error());
    if (!json_is_object(root)) {
        char found[CLFI_JSON_FOUND_BYTES];
        srv_refuse(error, SRV_FAULT_INVALID, NULL, "%s: expected a JSON object, found %s", name, clfi_json_found(root, found));
        json_decref(root);
        return false;
    }
    *out = root;
    *out_bytes = (size_t)account.alive;
    return true;
}
