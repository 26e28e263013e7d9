/* SPDX-License-Identifier: MIT */
/* Reads members of JSON objects with checks of type and range. */
#include "io/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *clfi_json_found(const json_t *value, char text[CLFI_JSON_FOUND_BYTES])
{
    enum { SHOWN = 40 };
    const size_t room = CLFI_JSON_FOUND_BYTES;
    if (!value) {
        snprintf(text, room, "nothing");
        return text;
    }
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        snprintf(text, room, "object of %zu", json_object_size(value));
        break;
    case JSON_ARRAY:
        snprintf(text, room, "array of %zu", json_array_size(value));
        break;
    case JSON_STRING:
        snprintf(text, room, "string \"%.*s\"%s", SHOWN, json_string_value(value), json_string_length(value) > SHOWN ? "..." : "");
        break;
    case JSON_INTEGER:
        snprintf(text, room, "integer %" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        snprintf(text, room, "real number %.9g", json_real_value(value));
        break;
    case JSON_TRUE:
        snprintf(text, room, "true");
        break;
    case JSON_FALSE:
        snprintf(text, room, "false");
        break;
    case JSON_NULL:
        snprintf(text, room, "null");
        break;
    }
    return text;
}

static clf_status fail_type(const json_t *value, const char *where, const char *key, const char *expected)
{
    char found[CLFI_JSON_FOUND_BYTES];
    CLF_FAIL(CLF_FORMAT, "%s: \"%s\": expected %s, found %s", where, key, expected, clfi_json_found(value, found));
}

/* Gives the value of the key to *out; NULL if it is missing or null and not required. */
static clf_status lookup(const json_t *object, const char *where, const char *key, bool required, const char *expected, const json_t **out)
{
    char found[CLFI_JSON_FOUND_BYTES];
    *out = NULL;
    if (!json_is_object(object))
        CLF_FAIL(CLF_FORMAT, "%s: expected an object with \"%s\", found %s", where, key, clfi_json_found(object, found));
    const json_t *value = json_object_get(object, key);
    if (value && (required || !json_is_null(value))) {
        *out = value;
        return CLF_OK;
    }
    if (required)
        return fail_type(NULL, where, key, expected);
    return CLF_OK;
}

static clf_status read_int(const json_t *value, const char *where, const char *key, int64_t min, int64_t max, int64_t *out)
{
    char expected[CLFI_JSON_FOUND_BYTES];
    const int64_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < min || number > max) {
        snprintf(expected, sizeof expected, "integer from %" PRId64 " to %" PRId64, min, max);
        return fail_type(value, where, key, expected);
    }
    *out = number;
    return CLF_OK;
}

static clf_status read_number(const json_t *value, const char *where, const char *key, double min, double max, double *out)
{
    char expected[CLFI_JSON_FOUND_BYTES];
    const double number = json_number_value(value);
    if (!json_is_number(value) || !(number >= min && number <= max)) {
        snprintf(expected, sizeof expected, "number from %g to %g", min, max);
        return fail_type(value, where, key, expected);
    }
    *out = number;
    return CLF_OK;
}

static clf_status read_bool(const json_t *value, const char *where, const char *key, bool *out)
{
    if (!json_is_boolean(value))
        return fail_type(value, where, key, "true or false");
    *out = json_is_true(value);
    return CLF_OK;
}

static clf_status read_string(const json_t *value, const char *where, const char *key, const char **out)
{
    if (!json_is_string(value))
        return fail_type(value, where, key, "string");
    const char *text = json_string_value(value);
    if (strlen(text) != json_string_length(value))
        return fail_type(value, where, key, "string without U+0000");
    *out = text;
    return CLF_OK;
}

static clf_status read_container(const json_t *value, const char *where, const char *key, json_type type, const json_t **out)
{
    if (json_typeof(value) != type)
        return fail_type(value, where, key, type == JSON_OBJECT ? "object" : "array");
    *out = value;
    return CLF_OK;
}

clf_status clfi_json_get_int(const json_t *object, const char *where, const char *key, int64_t min, int64_t max, int64_t *out)
{
    const json_t *value;
    CLF_TRY(lookup(object, where, key, true, "integer", &value));
    return read_int(value, where, key, min, max, out);
}

clf_status clfi_json_get_number(const json_t *object, const char *where, const char *key, double min, double max, double *out)
{
    const json_t *value;
    CLF_TRY(lookup(object, where, key, true, "number", &value));
    return read_number(value, where, key, min, max, out);
}

clf_status clfi_json_get_bool(const json_t *object, const char *where, const char *key, bool *out)
{
    const json_t *value;
    CLF_TRY(lookup(object, where, key, true, "true or false", &value));
    return read_bool(value, where, key, out);
}

clf_status clfi_json_get_string(const json_t *object, const char *where, const char *key, const char **out)
{
    const json_t *value;
    CLF_TRY(lookup(object, where, key, true, "string", &value));
    return read_string(value, where, key, out);
}

clf_status clfi_json_get_object(const json_t *object, const char *where, const char *key, const json_t **out)
{
    const json_t *value;
    CLF_TRY(lookup(object, where, key, true, "object", &value));
    return read_container(value, where, key, JSON_OBJECT, out);
}

clf_status clfi_json_get_array(const json_t *object, const char *where, const char *key, const json_t **out)
{
    const json_t *value;
    CLF_TRY(lookup(object, where, key, true, "array", &value));
    return read_container(value, where, key, JSON_ARRAY, out);
}

clf_status clfi_json_opt_int(const json_t *object, const char *where, const char *key, int64_t min, int64_t max, int64_t standard,
                             int64_t *out)
{
    const json_t *value;
    CLF_TRY(lookup(object, where, key, false, "", &value));
    if (value)
        return read_int(value, where, key, min, max, out);
    *out = standard;
    return CLF_OK;
}

clf_status clfi_json_opt_number(const json_t *object, const char *where, const char *key, double min, double max, double standard,
                                double *out)
{
    const json_t *value;
    CLF_TRY(lookup(object, where, key, false, "", &value));
    if (value)
        return read_number(value, where, key, min, max, out);
    *out = standard;
    return CLF_OK;
}

clf_status clfi_json_opt_bool(const json_t *object, const char *where, const char *key, bool standard, bool *out)
{
    const json_t *value;
    CLF_TRY(lookup(object, where, key, false, "", &value));
    if (value)
        return read_bool(value, where, key, out);
    *out = standard;
    return CLF_OK;
}

clf_status clfi_json_opt_string(const json_t *object, const char *where, const char *key, const char *standard, const char **out)
{
    const json_t *value;
    CLF_TRY(lookup(object, where, key, false, "", &value));
    if (value)
        return read_string(value, where, key, out);
    *out = standard;
    return CLF_OK;
}

clf_status clfi_json_opt_object(const json_t *object, const char *where, const char *key, const json_t **out)
{
    const json_t *value;
    CLF_TRY(lookup(object, where, key, false, "", &value));
    if (value)
        return read_container(value, where, key, JSON_OBJECT, out);
    *out = NULL;
    return CLF_OK;
}

clf_status clfi_json_opt_array(const json_t *object, const char *where, const char *key, const json_t **out)
{
    const json_t *value;
    CLF_TRY(lookup(object, where, key, false, "", &value));
    if (value)
        return read_container(value, where, key, JSON_ARRAY, out);
    *out = NULL;
    return CLF_OK;
}
