/* SPDX-License-Identifier: MIT */
/* Fingerprints of embeddings. */
#include "cli/fingerprint.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/utf8.h"
#include "cli/directory.h"
#include "cli/pool.h"
#include "cli/terminal.h"
#include "io/json.h"
#include "model/sentence_config.h"

#define SCHEMA "clformer-embeddings"

enum { FILE_BYTES = 1 << 30, QUOTED = 80, QUOTED_BEFORE = 20, QUOTE_BYTES = QUOTED + 8 };

static const struct {
    const char *name;
    bool is_number, binds, of_device;
} fields[] = {
#define X(id, name, is_number, binds, of_device) {name, is_number, binds, of_device},
    CLI_FINGERPRINT_FIELDS(X)
#undef X
};

/* What devices differ by in rounding stays far below, what one computes wrong above. */
static const double canary_bound = 1e-2;

/* What files of versions that knew nothing else do not say. */
static const char *const otherwise[CLI_FIELD_COUNT] = {[CLI_FIELD_WEIGHTS] = "stored", [CLI_FIELD_QUANTIZED] = "no"};

#define CANARY(text)          \
    {                         \
        text, sizeof text - 1 \
    }
const clf_text cli_canaries[CLI_CANARIES] = {
    CANARY("The canary sang before the lamp went out."),
    CANARY("In 1869 the table of elements had 63 rows, gaps included."),
    CANARY("Why does warm air rise, and where does it go at night?"),
};

const char *cli_field_name(cli_field field)
{
    return fields[field].name;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with)
{
    const size_t n = strlen(text), m = strlen(with);
    return n >= m && strcmp(text + n - m, with) == 0;
}

/* Which files of a model's directory, and of its modules' folders, say what a vector is. */
static bool is_of_model(const char *name)
{
    return strcmp(name, "config.json") == 0 || strcmp(name, "modules.json") == 0 || ends(name, ".gguf") ||
           (begins(name, "model") && (ends(name, ".safetensors") || ends(name, ".safetensors.index.json")));
}

static bool is_of_tokenizer(const char *name)
{
    return begins(name, "tokenizer") || begins(name, "vocab.") || strcmp(name, "merges.txt") == 0 ||
           strcmp(name, "special_tokens_map.json") == 0;
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
    if (!name[0] || name[0] == '.' || strchr(name, '/'))
        return CLF_OK;
    CLF_TRY(clfi_path_join(directory, name, &path));
    clfi_hasher_add(hasher, name, strlen(name) + 1);
    const clf_status st = clfi_directory_exists(path) ? add_files(hasher, path, is_of_model) : CLF_OK;
    free(path);
    return st;
}

/* What comes after the network lies in folders that modules.json names. */
static clf_status add_modules(clf_hasher *hasher, const char *directory)
{
    static const char file[] = "modules.json";
    json_t *modules;
    clf_status st = CLF_OK;
    CLF_TRY(clfi_sentence_file_read(directory, file, &modules));
    for (size_t i = 0; st == CLF_OK && i < json_array_size(modules); i++) {
        const char *name;
        st = clfi_json_opt_string(json_array_get(modules, i), file, "path", "", &name);
        if (st == CLF_OK)
            st = add_module(hasher, directory, name);
    }
    json_decref(modules);
    return st;
}

static clf_status hash_files(const char *path, bool (*wanted)(const char *), bool has_modules, char **out)
{
    clf_hasher *hasher;
    char text[CLFI_HASH_TEXT_BYTES];
    CLF_TRY(clfi_hasher_create(&hasher));
    const bool is_directory = clfi_directory_exists(path); /* or one file that holds all */
    clf_status st = is_directory ? add_files(hasher, path, wanted) : clfi_hasher_add_file(hasher, path);
    if (st == CLF_OK && is_directory && has_modules)
        st = add_modules(hasher, path);
    clfi_hasher_text(hasher, text);
    clfi_hasher_destroy(hasher);
    return st == CLF_OK ? clfi_strdup(text, out) : st;
}

static clf_status set(cli_fingerprint *f, cli_field field, const char *text)
{
    free(f->field[field]);
    f->field[field] = NULL;
    return clfi_strdup(text, &f->field[field]);
}

static clf_status set_number(cli_fingerprint *f, cli_field field, int64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, number);
    return set(f, field, text);
}

clf_status cli_fingerprint_take(const cli_session *session, const cli_embedding *options, const char *directory, cli_fingerprint *out)
{
    static const char *const poolings[CLF_POOLING_COUNT] = {[CLF_POOLING_MEAN] = "mean", [CLF_POOLING_CLS] = "cls",
                                                            [CLF_POOLING_MAX] = "max",   [CLF_POOLING_MEAN_SQRT_LEN] = "mean_sqrt_len",
                                                            [CLF_POOLING_LAST] = "last", [CLF_POOLING_WEIGHTED_MEAN] = "weighted_mean"};
    const clf_model_info *info = clf_model_get_info(session->model);
    const clf_device_info *device = clf_context_device(session->context);
    const clf_embed_params params = cli_embed_params(options);
    CLF_TRY(hash_files(directory, is_of_model, true, &out->field[CLI_FIELD_MODEL]));
    CLF_TRY(hash_files(directory, is_of_tokenizer, false, &out->field[CLI_FIELD_TOKENIZER]));
    const bool as_model = params.pooling == CLF_AS_MODEL;
    const char *name = params.prompt_name ? params.prompt_name : clf_model_default_prompt_name(session->model);
    const char *prompt = params.prompt ? params.prompt : clf_model_prompt(session->model, name);
    size_t width;
    CLF_TRY(clf_model_embedding_width(session->model, &params, &width));
    CLF_TRY(set(out, CLI_FIELD_POOLING,
                as_model && info->poolings > 1 ? "several" : poolings[as_model ? info->pooling : (clf_pooling)params.pooling]));
    CLF_TRY(set(out, CLI_FIELD_NORMALIZE, (params.normalize == CLF_AS_MODEL ? info->normalize : params.normalize) ? "yes" : "no"));
    CLF_TRY(set_number(out, CLI_FIELD_DIMENSIONS, (int64_t)width));
    CLF_TRY(set(out, CLI_FIELD_PROMPT, prompt ? prompt : ""));
    CLF_TRY(set(out, CLI_FIELD_QUANTIZED, otherwise[CLI_FIELD_QUANTIZED]));
    CLF_TRY(set_number(out, CLI_FIELD_MAX_TOKENS, params.max_tokens ? (int64_t)params.max_tokens : info->max_tokens));
    CLF_TRY(set(out, CLI_FIELD_PRECISION, clf_precision_name((clf_precision)session->precision)));
    CLF_TRY(set(out, CLI_FIELD_WEIGHTS, info->weights == CLF_STORAGE_F16 ? "f16" : otherwise[CLI_FIELD_WEIGHTS]));
    CLF_TRY(set(out, CLI_FIELD_ENGINE, info->linear_engine));
    CLF_TRY(set(out, CLI_FIELD_DEVICE, device->name));
    CLF_TRY(set(out, CLI_FIELD_DRIVER, device->driver_version));
    return set(out, CLI_FIELD_VERSION, clf_version());
}

clf_status cli_fingerprint_canaries(cli_session *session, const cli_embedding *options, cli_fingerprint *fingerprint)
{
    const clf_embed_params params = cli_embed_params(options);
    CLF_TRY(clf_model_embedding_width(session->model, &params, &fingerprint->width));
    CLF_TRY(clfi_alloc(CLI_CANARIES * fingerprint->width, sizeof *fingerprint->canaries, "canaries", &fingerprint->canaries));
    const clf_status st = cli_pool_embed_few(session, options, cli_canaries, CLI_CANARIES, fingerprint->canaries);
    return st == CLF_OK ? st : clfi_fail_prefix(st, "the fingerprint's sentences");
}

clf_status cli_fingerprint_quantized(cli_fingerprint *fingerprint, const char *name, const float *ranges)
{
    const size_t numbers = 2 * fingerprint->width;
    CLF_TRY(set(fingerprint, CLI_FIELD_QUANTIZED, name));
    if (!ranges)
        return CLF_OK;
    CLF_TRY(clfi_alloc(numbers, sizeof *ranges, "ranges", &fingerprint->ranges));
    memcpy(fingerprint->ranges, ranges, numbers * sizeof *ranges);
    return CLF_OK;
}

void cli_fingerprint_free(cli_fingerprint *fingerprint)
{
    for (size_t i = 0; i < COUNT(fields); i++) {
        free(fingerprint->field[i]);
        fingerprint->field[i] = NULL;
    }
    free(fingerprint->canaries);
    fingerprint->canaries = NULL;
    free(fingerprint->ranges);
    fingerprint->ranges = NULL;
    clfi_str_free(&fingerprint->texts);
}

clf_status cli_fingerprint_copy(const cli_fingerprint *from, cli_fingerprint *out)
{
    clf_status st = CLF_OK;
    *out = (cli_fingerprint)CLI_FINGERPRINT_INIT;
    for (size_t i = 0; st == CLF_OK && i < COUNT(fields); i++)
        st = set(out, (cli_field)i, from->field[i]);
    out->width = from->width;
    if (st == CLF_OK)
        st = clfi_alloc(CLI_CANARIES * from->width, sizeof *out->canaries, "canaries", &out->canaries);
    if (st == CLF_OK)
        memcpy(out->canaries, from->canaries, CLI_CANARIES * from->width * sizeof *out->canaries);
    else
        cli_fingerprint_free(out);
    return st;
}

/* ---- The file ---- */

static clf_status beside(const char *path, char **out)
{
    clf_str name = CLF_STR_INIT;
    const clf_status st = clfi_str_appendf(&name, "%s.json", path);
    *out = name.data;
    return st;
}

static clf_status hex_name(size_t field, clf_str *out)
{
    return clfi_str_appendf(out, "%s_hex", fields[field].name);
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
    for (size_t i = 0; i < COUNT(fields); i++) {
        const char *text = f->field[i];
        const size_t size = strlen(text);
        json_t *value = fields[i].is_number ? json_integer(strtoll(text, NULL, 10)) : cli_text_json(text, size);
        if (json_object_set_new(root, fields[i].name, value) != 0)
            CLF_FAIL(CLF_OUT_OF_MEMORY, "malloc: not enough memory for a fingerprint");
        if (!fields[i].is_number && clfi_utf8_check((const unsigned char *)text, size) != size)
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
    bool is_whole = json_object_set_new(root, "schema", json_string(SCHEMA)) == 0;
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

static clf_status write_file(const cli_fingerprint *f, clf_atomic_file *file)
{
    json_t *root;
    CLF_TRY(cli_fingerprint_json(f, &root));
    bool is_whole =
        json_object_set_new(root, "rows", json_integer(f->rows)) == 0 && json_object_set_new(root, "data", json_string(f->data)) == 0;
    is_whole &= add_ranges(root, f);
    if (f->texts.length)
        is_whole &= json_object_set_new(root, "texts", json_stringn(f->texts.data, f->texts.length)) == 0;
    char *text = is_whole ? json_dumps(root, JSON_REAL_PRECISION(9) | JSON_INDENT(1)) : NULL;
    json_decref(root);
    if (!text)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "malloc: not enough memory for a fingerprint");
    clfi_atomic_printf(file, "%s\n", text);
    free(text);
    return CLF_OK;
}

clf_status cli_fingerprint_check_place(const char *path)
{
    clf_output_place place;
    char *name = NULL;
    CLF_TRY(clfi_output_find(path, &place));
    if (place != CLF_OUTPUT_FILE)
        return CLF_OK;
    CLF_TRY(beside(path, &name));
    const clf_status st = clfi_output_check(name, true);
    free(name);
    return st;
}

clf_status cli_fingerprint_commit(cli_fingerprint *fingerprint, const char *path, clf_npy_writer *writer)
{
    char *name = NULL;
    clf_atomic_file file = {.stream = NULL};
    clf_status st;
    if (!clfi_npy_writer_told(writer, &fingerprint->rows, fingerprint->data))
        return clfi_npy_writer_commit(writer);
    CLF_GOTO(beside(path, &name));
    CLF_GOTO(clfi_atomic_open(name, &file));
    CLF_GOTO(write_file(fingerprint, &file));
    st = clfi_npy_writer_commit_beside(writer, &file);
    writer = NULL;
done:
    clfi_npy_writer_abandon(writer);
    clfi_atomic_abandon(&file);
    free(name);
    return st;
}

clf_status cli_fingerprint_rename(cli_fingerprint *fingerprint, const char *temporary, const char *path)
{
    char *name = NULL;
    clf_atomic_file file = {.stream = NULL};
    clf_status st;
    CLF_GOTO(beside(path, &name));
    CLF_GOTO(clfi_atomic_open(name, &file));
    CLF_GOTO(write_file(fingerprint, &file));
    if (rename(temporary, path) != 0)
        CLF_GOTO(clfi_fail_errno("rename to", path));
    st = clfi_atomic_commit(&file);
done:
    clfi_atomic_abandon(&file);
    free(name);
    return st;
}

/* Whether the file is a fingerprint, and not what somebody else keeps under such a name. OUT_OF_MEMORY: nobody knows. */
static clf_status is_fingerprint(const char *name, bool *out)
{
    json_t *root;
    const clf_status st = clfi_json_read(name, FILE_BYTES, &root);
    *out = false;
    if (st != CLF_OK)
        return st == CLF_OUT_OF_MEMORY ? st : CLF_OK;
    const char *schema = json_string_value(json_object_get(root, "schema"));
    *out = schema && strcmp(schema, SCHEMA) == 0;
    json_decref(root);
    return CLF_OK;
}

clf_status cli_fingerprint_beside(const char *path, char **out)
{
    clf_output_place place;
    char *name = NULL;
    bool is_one;
    *out = NULL;
    CLF_TRY(clfi_output_find(path, &place));
    if (place != CLF_OUTPUT_FILE)
        return CLF_OK;
    CLF_TRY(beside(path, &name));
    const clf_status st = is_fingerprint(name, &is_one);
    if (st == CLF_OK && is_one)
        *out = name;
    else
        free(name);
    return st;
}

static int hex_digit(char digit)
{
    return digit >= '0' && digit <= '9' ? digit - '0' : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Digits of the field's bytes, each two of them one that is not 0. */
static clf_status read_bytes(const char *where, size_t field, const char *digits, cli_fingerprint *out)
{
    clf_str bytes = CLF_STR_INIT;
    clf_status st = CLF_OK;
    for (; st == CLF_OK && digits[0]; digits += 2) {
        const int high = hex_digit(digits[0]), low = high < 0 ? -1 : hex_digit(digits[1]);
        if (low < 0 || high + low == 0)
            st = clfi_fail(CLF_FORMAT, "%s: %s_hex: expected two digits from 0 to f for each byte", where, fields[field].name);
        else
            st = clfi_str_append_char(&bytes, (char)(16 * high + low));
    }
    if (st == CLF_OK)
        st = set(out, (cli_field)field, clfi_str_text(&bytes));
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
    CLF_TRY(otherwise[field] ? clfi_json_opt_string(root, where, fields[field].name, otherwise[field], &text)
                             : clfi_json_get_string(root, where, fields[field].name, &text));
    return set(out, (cli_field)field, text);
}

static clf_status read_fields(const json_t *root, const char *where, cli_fingerprint *out)
{
    const char *text;
    int64_t number;
    CLF_TRY(clfi_json_get_string(root, where, "schema", &text));
    if (strcmp(text, SCHEMA) != 0)
        CLF_FAIL(CLF_FORMAT, "%s: expected the schema " SCHEMA ", found \"%s\"", where, text);
    for (size_t i = 0; i < COUNT(fields); i++) {
        if (!fields[i].is_number) {
            CLF_TRY(read_text(root, where, i, out));
            continue;
        }
        CLF_TRY(clfi_json_get_int(root, where, fields[i].name, 0, INT64_MAX, &number));
        CLF_TRY(set_number(out, (cli_field)i, number));
    }
    return CLF_OK;
}

/* A vector of numbers that float32 holds. */
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

static clf_status read_file(const json_t *root, const char *where, cli_fingerprint *out)
{
    const char *text;
    CLF_TRY(cli_fingerprint_parse(root, where, out));
    CLF_TRY(clfi_json_get_int(root, where, "rows", 0, INT64_MAX, &out->rows));
    CLF_TRY(clfi_json_get_string(root, where, "data", &text));
    snprintf(out->data, sizeof out->data, "%s", text);
    CLF_TRY(clfi_json_opt_string(root, where, "texts", NULL, &text));
    return text ? clfi_str_append_text(&out->texts, text) : CLF_OK;
}

static clf_status check_file(const char *path, const char *where, const clf_npy *npy, const cli_fingerprint *f)
{
    char hash[CLFI_HASH_TEXT_BYTES];
    const int64_t rows = npy->rank ? npy->dim[0] : 0;
    clfi_hash(npy->data, npy->count * clfi_file_dtype_bytes(npy->dtype), hash);
    if (rows != f->rows)
        CLF_FAIL(CLF_FORMAT, "%s: tells of %lld rows, %s has %lld", where, (long long)f->rows, path, (long long)rows);
    if (strcmp(hash, f->data) != 0)
        CLF_FAIL(CLF_FORMAT, "%s: tells of other numbers (hash %s) than %s holds (%s)", where, f->data, path, hash);
    return CLF_OK;
}

clf_status cli_fingerprint_read(const char *path, const clf_npy *npy, cli_fingerprint *out, bool *out_found)
{
    char *name = NULL;
    json_t *root = NULL;
    clf_status st;
    CLF_GOTO(beside(path, &name));
    CLF_GOTO(clfi_file_exists(name, out_found));
    if (!*out_found)
        goto done;
    CLF_GOTO(clfi_json_read(name, FILE_BYTES, &root));
    CLF_GOTO(read_file(root, name, out));
    CLF_GOTO(check_file(path, name, npy, out));
done:
    json_decref(root);
    free(name);
    return st;
}

clf_status cli_fingerprint_options(const char *path, const cli_fingerprint *of_file, cli_embedding *out)
{
    /* in the order of --pooling */
    static const char *const names[] = {"cls", "max", "mean", "mean_sqrt_len", "last", "weighted_mean", "several"};
    *out = (cli_embedding)CLI_EMBEDDING_INIT;
    out->pooling = (int)COUNT(names);
    for (size_t i = 0; i < COUNT(names); i++)
        if (strcmp(of_file->field[CLI_FIELD_POOLING], names[i]) == 0)
            out->pooling = (int)i;
    if (out->pooling == (int)COUNT(names))
        CLF_FAIL(CLF_FORMAT, "%s.json: pooling: expected cls, max, mean, mean_sqrt_len, last, weighted_mean or several, found \"%s\"", path,
                 of_file->field[CLI_FIELD_POOLING]);
    out->dimensions = (size_t)strtoull(of_file->field[CLI_FIELD_DIMENSIONS], NULL, 10);
    out->prompt = of_file->field[CLI_FIELD_PROMPT];
    out->normalize = strcmp(of_file->field[CLI_FIELD_NORMALIZE], "yes") == 0;
    out->max_tokens = (size_t)strtoull(of_file->field[CLI_FIELD_MAX_TOKENS], NULL, 10);
    return CLF_OK;
}

static bool is_inside(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80; /* a character of UTF-8 */
}

/* What a message shows of a text: all of it, or of one of two long ones what is around the place where they differ. */
static const char *quote(const char *text, const char *other, char out[QUOTE_BYTES])
{
    size_t from = 0;
    while (text[from] && text[from] == other[from])
        from++;
    from = strlen(text) <= QUOTED && strlen(other) <= QUOTED ? 0 : from > QUOTED_BEFORE ? from - QUOTED_BEFORE : 0;
    while (from && is_inside(text[from]))
        from--;
    size_t size = strlen(text + from);
    const bool is_cut = size > QUOTED;
    for (size = is_cut ? QUOTED : size; is_cut && size && is_inside(text[from + size]);)
        size--;
    snprintf(out, QUOTE_BYTES, "%s%.*s%s", from ? "..." : "", (int)size, text + from, is_cut ? "..." : "");
    return out;
}

clf_status cli_fingerprint_same_work(const char *that, const cli_fingerprint *before, const cli_fingerprint *now, bool on_one_device)
{
    char a[QUOTE_BYTES], b[QUOTE_BYTES];
    for (size_t i = 0; i < COUNT(fields); i++)
        if ((on_one_device || !fields[i].of_device) && strcmp(before->field[i], now->field[i]) != 0)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "%s another %s: \"%s\", here \"%s\"", that, fields[i].name,
                     quote(before->field[i], now->field[i], a), quote(now->field[i], before->field[i], b));
    return CLF_OK;
}

clf_status cli_fingerprint_same_canaries(const char *who, const cli_fingerprint *own, const char *whose, const cli_fingerprint *wanted)
{
    double largest = 0, difference = 0;
    for (size_t i = 0; own->width == wanted->width && i < CLI_CANARIES * own->width; i++) {
        largest = fmax(largest, fabs((double)wanted->canaries[i]));
        difference = fmax(difference, fabs((double)own->canaries[i] - (double)wanted->canaries[i]));
    }
    if (own->width != wanted->width || !(difference <= canary_bound * largest))
        CLF_FAIL(CLF_FORMAT, "%s: its device (%s) gives other canaries than %s (%s): they differ by %g", who, own->field[CLI_FIELD_DEVICE],
                 whose, wanted->field[CLI_FIELD_DEVICE], difference);
    return CLF_OK;
}

clf_status cli_fingerprint_match(const char *path, const cli_fingerprint *of_file, const cli_fingerprint *now)
{
    char a[QUOTE_BYTES], b[QUOTE_BYTES];
    for (size_t i = 0; i < COUNT(fields); i++)
        if (fields[i].binds && strcmp(of_file->field[i], now->field[i]) != 0)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: its embeddings cannot be compared with this model's: %s was \"%s\", now it is \"%s\"", path,
                     fields[i].name, quote(of_file->field[i], now->field[i], a), quote(now->field[i], of_file->field[i], b));
    return CLF_OK;
}
