/* SPDX-License-Identifier: MIT */
/* Reads and writes fingerprints, F.json beside F. */
#include <stdlib.h>
#include <string.h>

#include "base/sidecar.h"
#include "jobs/fingerprint_parts.h"
#include "jobs/quantize.h"
#include "io/json.h"

enum { FILE_BYTES = 1 << 30 };

/* The first bytes of every fingerprint, also of a truncated one. */
static const char beginning[] = "{\n \"schema\": \"" CLI_FINGERPRINT_SCHEMA "\"";

static clf_status with_ending(const char *path, char **out)
{
    clf_str name = CLF_STR_INIT;
    const clf_status st = clfi_str_appendf(&name, "%s.json", path);
    *out = name.data;
    return st;
}

/* The fingerprint's path: beside the file that `path` leads to, so that it is found through every link to that file. */
static clf_status beside(const char *path, char **out)
{
    char *real;
    CLF_TRY(clfi_path_follow(path, &real));
    const clf_status st = with_ending(real, out);
    free(real);
    return st;
}

/* Finds the fingerprint for reading. If none is beside the file itself, it looks beside the link: a folder of links may also have links to
 * the fingerprints. *out NULL: there is none. */
static clf_status find_beside(const char *path, char **out)
{
    char *name;
    bool exists;
    *out = NULL;
    for (int i = 0; i < 2; i++) {
        CLF_TRY(i == 0 ? beside(path, &name) : with_ending(path, &name));
        const clf_status st = clfi_file_exists(name, &exists);
        if (st == CLF_OK && exists) {
            *out = name;
            return CLF_OK;
        }
        free(name);
        CLF_TRY(st);
    }
    return CLF_OK;
}

static clf_status write_file(const cli_fingerprint *f, clf_atomic_file *file)
{
    json_t *root;
    CLF_TRY(cli_fingerprint_file_json(f, &root));
    clf_str text = CLF_STR_INIT;
    const clf_status st = clfi_json_write(root, JSON_REAL_PRECISION(9) | JSON_INDENT(1), "a fingerprint", &text);
    json_decref(root);
    if (st == CLF_OK)
        clfi_atomic_printf(file, "%s\n", text.data);
    clfi_str_free(&text);
    return st;
}

/* Whether the file is a fingerprint, and not another file of that name. IO, OUT_OF_MEMORY: it could not be read. */
static clf_status is_fingerprint(const char *name, bool *out)
{
    json_t *root;
    const clf_status st = clfi_json_read(name, FILE_BYTES, &root);
    *out = false;
    if (st != CLF_OK)
        return st == CLF_OUT_OF_MEMORY || st == CLF_IO ? st : CLF_OK;
    const char *schema = json_string_value(json_object_get(root, "schema"));
    *out = schema && strcmp(schema, CLI_FINGERPRINT_SCHEMA) == 0;
    json_decref(root);
    return CLF_OK;
}

/* Whether a fingerprint may be written there: nothing exists, or a fingerprint does, perhaps truncated or reformatted. */
static clf_status check_own(const char *name)
{
    bool is_one = true;
    CLF_TRY(clfi_sidecar_check(name, "{"));
    if (clfi_sidecar_check(name, beginning) != CLF_OK)
        CLF_TRY(is_fingerprint(name, &is_one));
    return is_one ? CLF_OK : clfi_sidecar_check(name, beginning);
}

static clf_status open_own(const char *name, clf_atomic_file *out)
{
    CLF_TRY(check_own(name));
    return clfi_sidecar_open(name, "{", out);
}

clf_status cli_fingerprint_check_place(const char *path)
{
    clf_output_place place;
    char *name = NULL;
    CLF_TRY(clfi_output_find(path, &place));
    if (place != CLF_OUTPUT_FILE)
        return CLF_OK;
    CLF_TRY(beside(path, &name));
    clf_status st = check_own(name);
    if (st == CLF_OK)
        st = clfi_output_check(name, true);
    free(name);
    return st;
}

clf_status cli_fingerprint_commit(cli_fingerprint *fingerprint, const char *path, clf_npy_writer *writer)
{
    char *name = NULL;
    clf_atomic_file array = {.stream = NULL}, file = {.stream = NULL};
    clf_status st;
    if (!clfi_npy_writer_told(writer, &fingerprint->rows, fingerprint->data))
        return clfi_npy_writer_commit(writer);
    CLF_GOTO(beside(path, &name));
    CLF_GOTO(open_own(name, &file));
    CLF_GOTO(write_file(fingerprint, &file));
    st = clfi_npy_writer_finish(writer, &array);
    writer = NULL;
    if (st == CLF_OK)
        st = clfi_atomic_commit_pair(&array, &file);
done:
    clfi_npy_writer_abandon(writer);
    clfi_atomic_abandon(&file);
    free(name);
    return st;
}

clf_status cli_fingerprint_commit_file(const cli_fingerprint *fingerprint, const char *path, clf_atomic_file *array)
{
    char *name = NULL;
    clf_atomic_file file = {.stream = NULL};
    clf_status st;
    CLF_GOTO(beside(path, &name));
    CLF_GOTO(open_own(name, &file));
    CLF_GOTO(write_file(fingerprint, &file));
    st = clfi_atomic_commit_pair(array, &file);
done:
    clfi_atomic_abandon(array);
    clfi_atomic_abandon(&file);
    free(name);
    return st;
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

/* The hash covers only the data, so the header is checked here: it could give the bytes another meaning. */
static clf_status check_form(const char *path, const char *where, const clf_npy *npy, const cli_fingerprint *f)
{
    const char *name = f->field[CLI_FIELD_QUANTIZED];
    cli_quantization kind = CLI_QUANTIZE_NO;
    if (name && !cli_quantize_from_name(name, &kind))
        CLF_FAIL(CLF_FORMAT, "%s: quantization: expected no, int8, uint8, binary or ubinary, found \"%s\"", where, name);
    const clf_file_dtype want = cli_quantized_dtype(kind);
    if (npy->rank != 2 || !npy->contiguous || npy->swapped || npy->dtype != want)
        CLF_FAIL(CLF_FORMAT, "%s: expected rows of %s in C order, as embed wrote them", path,
                 want == CLF_FILE_F32  ? "float32"
                 : want == CLF_FILE_U8 ? "uint8"
                                       : "int8");
    return CLF_OK;
}

static clf_status check_file(const char *path, const char *where, const clf_npy *npy, const cli_fingerprint *f)
{
    char hash[CLFI_HASH_TEXT_BYTES];
    const int64_t rows = npy->rank ? npy->dim[0] : 0;
    CLF_TRY(check_form(path, where, npy, f));
    clfi_hash(npy->data, npy->count * clfi_file_dtype_bytes(npy->dtype), hash);
    if (rows != f->rows)
        CLF_FAIL(CLF_FORMAT, "%s: describes %lld rows, %s has %lld", where, (long long)f->rows, path, (long long)rows);
    if (strcmp(hash, f->data) != 0)
        CLF_FAIL(CLF_FORMAT, "%s: describes other numbers (hash %s) than %s holds (%s)", where, f->data, path, hash);
    return CLF_OK;
}

clf_status cli_fingerprint_is_of_search(const char *path, bool *out)
{
    json_t *root = NULL;
    clf_str text = CLF_STR_INIT;
    char *name = NULL;
    bool exists;
    clf_status st;
    *out = false;
    CLF_GOTO(beside(path, &name));
    CLF_GOTO(clfi_file_exists(name, &exists));
    if (!exists)
        goto done;
    CLF_GOTO(clfi_file_read(name, FILE_BYTES, &text));
    if (text.length < strlen(beginning) || memcmp(text.data, beginning, strlen(beginning)) != 0)
        goto done;
    *out = true;
    if (clfi_json_parse(text.data, text.length, name, &root) == CLF_OK)
        *out = json_string_length(json_object_get(root, "texts")) > 0;
done:
    json_decref(root);
    clfi_str_free(&text);
    free(name);
    return st;
}

clf_status cli_fingerprint_read(const char *path, const clf_npy *npy, cli_fingerprint *out, bool *out_found)
{
    char *name = NULL;
    json_t *root = NULL;
    clf_status st;
    *out_found = false;
    CLF_GOTO(find_beside(path, &name));
    if (!name)
        goto done;
    *out_found = true;
    CLF_GOTO(clfi_json_read(name, FILE_BYTES, &root));
    CLF_GOTO(cli_fingerprint_file_parse(root, name, out));
    CLF_GOTO(check_file(path, name, npy, out));
done:
    json_decref(root);
    free(name);
    return st;
}
