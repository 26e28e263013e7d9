/* SPDX-License-Identifier: MIT */
/* Reads a result file: all but the devices, the workloads and the rows. */
#include "report/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "io/json.h"
#include "report/result_parts.h"

static const size_t most_file_bytes = (size_t)256 << 20;
static const size_t most_elements = 20000; /* of one array: ten times as many as all suites on many devices give */

const char *clfi_result_where(const clfi_result *result, const char *array, size_t index, char text[CLFI_RESULT_WHERE_BYTES])
{
    snprintf(text, CLFI_RESULT_WHERE_BYTES, "%.255s: %s[%zu]", result->path, array, index);
    return text;
}

clf_status clfi_result_wrong(const char *where, const char *key, const char *expected, const json_t *found)
{
    char text[CLFI_JSON_FOUND_BYTES];
    CLF_FAIL(CLF_FORMAT, "%s: \"%s\": expected %s, found %s", where, key, expected, clfi_json_found(found, text));
}

clf_status clfi_result_text(const json_t *object, const char *where, const char *key, const char **out)
{
    CLF_TRY(clfi_json_get_string(object, where, key, out));
    return **out ? CLF_OK : clfi_result_wrong(where, key, "a string that is not empty", json_object_get(object, key));
}

clf_status clfi_result_table(const clfi_result *result, const char *key, size_t size, const json_t **array, void *table, size_t *count)
{
    CLF_TRY(clfi_json_get_array(result->document, result->path, key, array));
    if (json_array_size(*array) > most_elements)
        CLF_FAIL(CLF_FORMAT, "%s: \"%s\": expected at most %zu elements, found %zu", result->path, key, most_elements,
                 json_array_size(*array));
    CLF_TRY(clfi_alloc(json_array_size(*array), size, key, table));
    *count = json_array_size(*array);
    return CLF_OK;
}

size_t clfi_result_find_place(const json_t *places, const char *name, size_t none)
{
    const json_t *place = json_object_get(places, name);
    return place ? (size_t)json_integer_value(place) : none;
}

clf_status clfi_result_add_place(const clfi_result *result, json_t **places, const char *name, size_t place)
{
    if (!*places)
        *places = json_object();
    if (json_object_set_new(*places, name, json_integer((json_int_t)place)) != 0)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "%s: names in a result file: not enough memory", result->path);
    return CLF_OK;
}

/* Finds an inner object of the document. where: "<path>: <key>", for messages about the object's members. */
static clf_status section(const clfi_result *result, const char *key, char where[CLFI_RESULT_WHERE_BYTES], const json_t **out)
{
    snprintf(where, CLFI_RESULT_WHERE_BYTES, "%.255s: %s", result->path, key);
    return clfi_json_get_object(result->document, result->path, key, out);
}

static bool is_printable(const char *text)
{
    uint32_t code;
    for (size_t left = strlen(text), size; left; text += size, left -= size) {
        size = clfi_utf8_decode((const unsigned char *)text, left, &code);
        if (!clfi_utf8_is_printable(code))
            return false;
    }
    return true;
}

/* Gives the member a key without control characters. It replaces a member that has this key. */
static clf_status clean_key(json_t *object, const char *key)
{
    char *copy;
    CLF_TRY(clfi_strdup(key, &copy));
    clfi_utf8_make_printable(copy, strlen(copy));
    const int failed = json_object_set(object, copy, json_object_get(object, key));
    free(copy);
    if (failed)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "names of a result file: not enough memory");
    json_object_del(object, key);
    return CLF_OK;
}

static clf_status clean_keys(json_t *object)
{
    json_t *keys = NULL, *inner, *text;
    const char *key;
    size_t i;
    clf_status st = CLF_OK;
    json_object_foreach(object, key, inner) {
        if (is_printable(key))
            continue;
        if (!keys)
            keys = json_array();
        if (json_array_append_new(keys, json_string(key)) != 0)
            st = clfi_fail(CLF_OUT_OF_MEMORY, "names of a result file: not enough memory");
    }
    json_array_foreach(keys, i, text)
        st = st == CLF_OK ? clean_key(object, json_string_value(text)) : st;
    json_decref(keys);
    return st;
}

/* Strings and keys of the file are printed on terminals and pages. Control characters, which would act there, are replaced by '?'. */
static clf_status clean_strings(json_t *value)
{
    size_t i;
    const char *key;
    json_t *inner;
    if (json_is_string(value)) {
        char *copy;
        CLF_TRY(clfi_strndup(json_string_value(value), json_string_length(value), &copy));
        clfi_utf8_make_printable(copy, json_string_length(value));
        const int failed = json_string_setn(value, copy, json_string_length(value));
        free(copy);
        if (failed)
            CLF_FAIL(CLF_OUT_OF_MEMORY, "names of a result file: not enough memory");
    }
    CLF_TRY(clean_keys(value));
    json_array_foreach(value, i, inner)
        CLF_TRY(clean_strings(inner));
    json_object_foreach(value, key, inner)
        CLF_TRY(clean_strings(inner));
    return CLF_OK;
}

static clf_status read_frame(clfi_result *result)
{
    const char *schema;
    int64_t version;
    CLF_TRY(clfi_json_get_string(result->document, result->path, "schema", &schema));
    if (strcmp(schema, CLFI_RESULT_SCHEMA) != 0)
        return clfi_result_wrong(result->path, "schema", "\"" CLFI_RESULT_SCHEMA "\"", json_object_get(result->document, "schema"));
    CLF_TRY(clfi_json_get_int(result->document, result->path, "schema_version", 0, INT64_MAX, &version));
    if (version != CLFI_RESULT_VERSION)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: \"schema_version\": expected %d, found %lld (another version of clformer wrote the file)",
                 result->path, CLFI_RESULT_VERSION, (long long)version);
    CLF_TRY(clfi_json_get_bool(result->document, result->path, "complete", &result->complete));
    return clfi_result_text(result->document, result->path, "created", &result->created);
}

/* Checks that the values of the environment variables are strings. */
static clf_status check_environment(const json_t *object, const char *where)
{
    char inner[CLFI_RESULT_WHERE_BYTES + 16];
    const json_t *variables;
    const char *name;
    json_t *value;
    CLF_TRY(clfi_json_opt_object(object, where, "environment", &variables));
    snprintf(inner, sizeof inner, "%s.environment", where);
    json_object_foreach((json_t *)variables, name, value)
        if (!json_is_string(value))
            return clfi_result_wrong(inner, name, "a string", value);
    return CLF_OK;
}

static clf_status read_settings(clfi_result *result)
{
    clfi_result_settings *s = &result->settings;
    char where[CLFI_RESULT_WHERE_BYTES];
    const json_t *object;
    size_t i;
    json_t *suite;
    CLF_TRY(section(result, "settings", where, &object));
    CLF_TRY(clfi_json_get_array(object, where, "suites", &s->suites));
    json_array_foreach((json_t *)s->suites, i, suite)
        if (!json_is_string(suite))
            return clfi_result_wrong(where, "suites", "an array of strings", suite);
    CLF_TRY(clfi_json_get_bool(object, where, "quick", &s->quick));
    CLF_TRY(clfi_json_get_int(object, where, "seed", INT64_MIN, INT64_MAX, &s->seed));
    CLF_TRY(clfi_json_get_number(object, where, "min_seconds", 0, CLFI_RESULT_MOST, &s->min_seconds));
    CLF_TRY(clfi_json_get_int(object, where, "min_samples", 1, INT64_MAX, &s->min_samples));
    CLF_TRY(check_environment(object, where));
    return clfi_json_opt_int(object, where, "warm_up", 0, INT64_MAX, -1, &s->warm_up);
}

static clf_status read_origin(clfi_result *result)
{
    char where[CLFI_RESULT_WHERE_BYTES];
    const json_t *object;
    CLF_TRY(section(result, "library", where, &object));
    CLF_TRY(clfi_result_text(object, where, "version", &result->library.version));
    CLF_TRY(clfi_result_text(object, where, "commit", &result->library.commit));
    CLF_TRY(clfi_result_text(object, where, "clblast", &result->library.clblast));
    CLF_TRY(section(result, "host", where, &object));
    CLF_TRY(clfi_result_text(object, where, "cpu", &result->host.cpu));
    CLF_TRY(clfi_result_text(object, where, "os", &result->host.os));
    CLF_TRY(clfi_result_text(object, where, "kernel", &result->host.kernel));
    CLF_TRY(clfi_json_get_int(object, where, "logical_cores", 1, INT64_MAX, &result->host.logical_cores));
    return clfi_json_get_int(object, where, "memory_bytes", 0, INT64_MAX, &result->host.memory_bytes);
}

static clf_status read_models(clfi_result *result)
{
    char where[CLFI_RESULT_WHERE_BYTES];
    const json_t *array;
    CLF_TRY(clfi_result_table(result, "models", sizeof *result->models, &array, &result->models, &result->model_count));
    for (size_t i = 0; i < result->model_count; i++) {
        clfi_result_model *model = &result->models[i];
        const json_t *object = json_array_get(array, i);
        clfi_result_where(result, "models", i, where);
        CLF_TRY(clfi_result_text(object, where, "name", &model->name));
        model->hash_kind = json_object_get(object, "xxh128") ? "xxh128" : "sha256";
        CLF_TRY(clfi_json_opt_string(object, where, model->hash_kind, NULL, &model->hash));
        CLF_TRY(clfi_json_opt_int(object, where, "file_bytes", 0, INT64_MAX, 0, &model->file_bytes));
    }
    return CLF_OK;
}

static clf_status read_not_measured(clfi_result *result)
{
    char where[CLFI_RESULT_WHERE_BYTES];
    const json_t *array;
    CLF_TRY(clfi_result_table(result, "not_measured", sizeof *result->not_measured, &array, &result->not_measured,
                              &result->not_measured_count));
    for (size_t i = 0; i < result->not_measured_count; i++) {
        clfi_result_where(result, "not_measured", i, where);
        CLF_TRY(clfi_result_text(json_array_get(array, i), where, "what", &result->not_measured[i].what));
        CLF_TRY(clfi_result_text(json_array_get(array, i), where, "why", &result->not_measured[i].why));
    }
    return CLF_OK;
}

static clf_status read_all(clfi_result *result)
{
    char found[CLFI_JSON_FOUND_BYTES];
    if (!json_is_object(result->document))
        CLF_FAIL(CLF_FORMAT, "%s: expected an object, found %s", result->path, clfi_json_found(result->document, found));
    CLF_TRY(clean_strings(result->document));
    CLF_TRY(read_frame(result));
    CLF_TRY(read_settings(result));
    CLF_TRY(read_origin(result));
    CLF_TRY(read_models(result));
    CLF_TRY(clfi_result_read_devices(result));
    CLF_TRY(clfi_result_read_workloads(result));
    CLF_TRY(clfi_result_read_rows(result));
    return read_not_measured(result);
}

clf_status clfi_result_take(json_t *document, const char *name, clfi_result *out)
{
    *out = (clfi_result){.document = document};
    clf_status st = clfi_strdup(name, &out->path);
    if (st == CLF_OK)
        clfi_utf8_make_printable(out->path, strlen(out->path));
    if (st == CLF_OK)
        st = read_all(out);
    if (st != CLF_OK)
        clfi_result_free(out);
    return st;
}

clf_status clfi_result_read(const char *path, clfi_result *out)
{
    json_t *document;
    *out = (clfi_result){0};
    CLF_TRY(clfi_json_read(path, most_file_bytes, &document));
    return clfi_result_take(document, path, out);
}

void clfi_result_free(clfi_result *result)
{
    for (size_t i = 0; i < result->row_count; i++) {
        clfi_samples_free(&result->rows[i].wall_ms);
        clfi_samples_free(&result->rows[i].device_ms);
        free(result->rows[i].round_samples);
    }
    free(result->models);
    free(result->devices);
    free(result->workloads);
    free(result->rows);
    free(result->not_measured);
    free(result->path);
    json_decref(result->workload_places);
    json_decref(result->device_places);
    json_decref(result->row_places);
    json_decref(result->document);
    *result = (clfi_result){0};
}

double clfi_result_limit(const clfi_result_device *device, const char *name)
{
    const json_t *value = json_object_get(device->limits, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}
