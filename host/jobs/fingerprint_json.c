/* SPDX-License-Identifier: MIT */
/* Writes fingerprints as JSON and reads them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "jobs/fingerprint_parts.h"
#include "io/json.h"

static clf_status hex_name(size_t field, clf_str *out)
{
    return clfi_str_appendf(out, "%s_hex", cli_fields[field].name);
}

static clf_status add_bytes(json_t *root, size_t field, const char *text)
{
    clf_str name = CLF_STR_INIT, digits = CLF_STR_INIT;
    clf_status st = hex_name(field, &name);
    for (const unsigned char *at = (const unsigned char *)text; st == CLF_OK && *at; at++)
        st = clfi_str_appendf(&digits, "%02x", (unsigned)*at);
    if (st == CLF_OK && json_object_set_new(root, name.data, json_string(digits.data)) != 0)
        st = clfi_fail(CLF_OUT_OF_MEMORY, "malloc: not enough memory for a fingerprint");
    clfi_str_free(&name);
    clfi_str_free(&digits);
    return st;
}

static clf_status add_fields(json_t *root, const cli_fingerprint *f)
{
    for (size_t i = 0; i < CLI_FIELD_COUNT; i++) {
        const char *text = f->field[i];
        const size_t size = strlen(text);
        json_t *value = cli_fields[i].is_number ? json_integer(strtoll(text, NULL, 10)) : clfi_json_text(text, size);
        if (json_object_set_new(root, cli_fields[i].name, value) != 0)
            CLF_FAIL(CLF_OUT_OF_MEMORY, "malloc: not enough memory for a fingerprint");
        if (!cli_fields[i].is_number && clfi_utf8_check((const unsigned char *)text, size) != size)
            CLF_TRY(add_bytes(root, i, text));
    }
    return CLF_OK;
}

static json_t *vector_json(const float *numbers, size_t count, bool *is_whole)
{
    json_t *vector = json_array();
    for (size_t i = 0; i < count; i++)
        *is_whole &= json_array_append_new(vector, json_real((double)numbers[i])) == 0;
    return vector;
}

static bool add_ranges(json_t *root, const cli_fingerprint *f)
{
    bool is_whole = true;
    if (!f->ranges)
        return true;
    json_t *least = vector_json(f->ranges, f->width, &is_whole), *largest = vector_json(f->ranges + f->width, f->width, &is_whole);
    return json_object_set_new(root, "ranges", json_pack("[o, o]", least, largest)) == 0 && is_whole;
}

static bool add_canaries(json_t *root, const cli_fingerprint *f)
{
    json_t *canaries = json_array();
    bool is_whole = true;
    for (size_t i = 0; i < CLI_CANARIES; i++) {
        json_t *vector = vector_json(f->canaries + i * f->width, f->width, &is_whole);
        is_whole &= json_array_append_new(
                        canaries, json_pack("{s:s%, s:o}", "text", cli_canaries[i].data, cli_canaries[i].size, "vector", vector)) == 0;
    }
    return json_object_set_new(root, "canaries", canaries) == 0 && is_whole;
}

clf_status cli_fingerprint_json(const cli_fingerprint *f, json_t **out)
{
    json_t *root = json_object();
    bool is_whole = json_object_set_new(root, "schema", json_string(CLI_FINGERPRINT_SCHEMA)) == 0;
    clf_status st = add_fields(root, f);
    is_whole &= st == CLF_OK && add_canaries(root, f);
    if (st == CLF_OK && !is_whole)
        st = clfi_fail(CLF_OUT_OF_MEMORY, "malloc: not enough memory for a fingerprint");
    if (st != CLF_OK)
        json_decref(root);
    else
        *out = root;
    return st;
}

clf_status cli_fingerprint_file_json(const cli_fingerprint *f, json_t **out)
{
    json_t *root;
    CLF_TRY(cli_fingerprint_json(f, &root));
    bool is_whole =
        json_object_set_new(root, "rows", json_integer(f->rows)) == 0 && json_object_set_new(root, "data", json_string(f->data)) == 0;
    is_whole &= add_ranges(root, f);
    if (f->texts.length)
        is_whole &= json_object_set_new(root, "texts", json_stringn(f->texts.data, f->texts.length)) == 0;
    if (!is_whole) {
        json_decref(root);
        CLF_FAIL(CLF_OUT_OF_MEMORY, "malloc: not enough memory for a fingerprint");
    }
    *out = root;
    return CLF_OK;
}

static int hex_digit(char digit)
{
    return digit >= '0' && digit <= '9' ? digit - '0' : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Reads a field from hexadecimal digits, two for each byte; no byte may be 0. */
static clf_status read_bytes(const char *where, size_t field, const char *digits, cli_fingerprint *out)
{
    clf_str bytes = CLF_STR_INIT;
    clf_status st = CLF_OK;
    for (; st == CLF_OK && digits[0]; digits += 2) {
        const int high = hex_digit(digits[0]), low = high < 0 ? -1 : hex_digit(digits[1]);
        if (low < 0 || high + low == 0)
            st = clfi_fail(CLF_FORMAT, "%s: %s_hex: expected two digits from 0 to f for each byte", where, cli_fields[field].name);
        else
            st = clfi_str_append_char(&bytes, (char)(16 * high + low));
    }
    if (st == CLF_OK)
        st = cli_fingerprint_set(out, (cli_field)field, clfi_str_text(&bytes));
    clfi_str_free(&bytes);
    return st;
}

static clf_status read_text(const json_t *root, const char *where, size_t field, cli_fingerprint *out)
{
    const char *text, *digits;
    clf_str name = CLF_STR_INIT;
    clf_status st = hex_name(field, &name);
    if (st == CLF_OK)
        st = clfi_json_opt_string(root, where, name.data, NULL, &digits);
    clfi_str_free(&name);
    CLF_TRY(st);
    if (digits)
        return read_bytes(where, field, digits, out);
    CLF_TRY(cli_fields_otherwise[field] ? clfi_json_opt_string(root, where, cli_fields[field].name, cli_fields_otherwise[field], &text)
                                        : clfi_json_get_string(root, where, cli_fields[field].name, &text));
    return cli_fingerprint_set(out, (cli_field)field, text);
}

static clf_status read_fields(const json_t *root, const char *where, cli_fingerprint *out)
{
    const char *text;
    int64_t number;
    CLF_TRY(clfi_json_get_string(root, where, "schema", &text));
    if (strcmp(text, CLI_FINGERPRINT_SCHEMA) != 0)
        CLF_FAIL(CLF_FORMAT, "%s: expected the schema " CLI_FINGERPRINT_SCHEMA ", found \"%s\"", where, text);
    for (size_t i = 0; i < CLI_FIELD_COUNT; i++) {
        if (!cli_fields[i].is_number) {
            CLF_TRY(read_text(root, where, i, out));
            continue;
        }
        CLF_TRY(clfi_json_get_int(root, where, cli_fields[i].name, 0, INT64_MAX, &number));
        CLF_TRY(cli_fingerprint_set_number(out, (cli_field)i, number));
    }
    return CLF_OK;
}

/* Reads a vector of `width` numbers that are finite in float32. */
static clf_status read_vector(const json_t *vector, const char *where, size_t canary, size_t width, float *out)
{
    char found[CLFI_JSON_FOUND_BYTES];
    if (json_array_size(vector) != width)
        CLF_FAIL(CLF_FORMAT, "%s: canary %zu: expected %zu numbers, found %zu", where, canary + 1, width, json_array_size(vector));
    for (size_t i = 0; i < width; i++) {
        const json_t *number = json_array_get(vector, i);
        out[i] = (float)json_number_value(number);
        if (!json_is_number(number) || !isfinite(out[i]))
            CLF_FAIL(CLF_FORMAT, "%s: canary %zu: number %zu: expected one that float32 holds, found %s", where, canary + 1, i + 1,
                     clfi_json_found(number, found));
    }
    return CLF_OK;
}

static clf_status read_canaries(const json_t *root, const char *where, cli_fingerprint *out)
{
    const json_t *canaries, *vector;
    CLF_TRY(clfi_json_get_array(root, where, "canaries", &canaries));
    for (size_t i = 0; i < CLI_CANARIES; i++) {
        CLF_TRY(clfi_json_get_array(json_array_get(canaries, i), where, "vector", &vector));
        if (!out->canaries) {
            out->width = json_array_size(vector);
            CLF_TRY(clfi_alloc(CLI_CANARIES * out->width, sizeof *out->canaries, "canaries", &out->canaries));
        }
        CLF_TRY(read_vector(vector, where, i, out->width, out->canaries + i * out->width));
    }
    return CLF_OK;
}

clf_status cli_fingerprint_parse(const json_t *root, const char *where, cli_fingerprint *out)
{
    CLF_TRY(read_fields(root, where, out));
    return read_canaries(root, where, out);
}

clf_status cli_fingerprint_file_parse(const json_t *root, const char *where, cli_fingerprint *out)
{
    const char *text;
    CLF_TRY(cli_fingerprint_parse(root, where, out));
    CLF_TRY(clfi_json_get_int(root, where, "rows", 0, INT64_MAX, &out->rows));
    CLF_TRY(clfi_json_get_string(root, where, "data", &text));
    snprintf(out->data, sizeof out->data, "%s", text);
    CLF_TRY(clfi_json_opt_string(root, where, "texts", NULL, &text));
    return text ? clfi_str_append_text(&out->texts, text) : CLF_OK;
}
