/* SPDX-License-Identifier: MIT */
/* The one reader of JSON texts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text_start.h"
#include "io/json.h"
#include "io/json_memory.h"
#include "io/json_python.h"

/* Deepest nesting of brackets outside strings, counted before parsing because jansson's own limit is fixed and ten times as deep.
 * Stops early beyond the limit; *at is where. Broken text gives some number: the parser names its fault. */
static int nesting(const char *text, size_t size, size_t *at)
{
    int depth = 0, deepest = 0;
    bool in_string = false;
    for (size_t i = 0; i < size && deepest <= CLFI_JSON_MAX_DEPTH; i++) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            depth++;
        } else if (c == ']' || c == '}') {
            depth--;
        }
        if (depth > deepest) {
            deepest = depth;
            *at = i;
        }
    }
    return deepest;
}

/* A text's name in messages. is_line: the text is one line, and the name says which. */
typedef struct origin {
    const char *name;
    bool is_line;
} origin;

static clf_status fail_place(const origin *from, size_t line, size_t column, const char *what)
{
    if (from->is_line)
        CLF_FAIL(CLF_FORMAT, "%s, column %zu: %s", from->name, column, what);
    CLF_FAIL(CLF_FORMAT, "%s: line %zu, column %zu: %s", from->name, line, column, what);
}

/* Fails with `what` at the character text[at]. Lines and columns count from 1, columns in characters. */
static clf_status fail_at(const char *text, size_t at, const origin *from, const char *what)
{
    size_t line = 1, column = 1;
    for (size_t i = 0; i < at; i++) {
        column = text[i] == '\n' ? 1 : column + (((unsigned char)text[i] & 0xc0) != 0x80);
        line += text[i] == '\n';
    }
    return fail_place(from, line, column, what);
}

static json_t *load(const char *text, size_t size, size_t flags, json_error_t *error)
{
    const bool failed_before = clfi_json_memory_failed();
    json_t *root = json_loadb(text ? text : "", size, flags | JSON_ALLOW_NUL | JSON_DECODE_ANY, error);
    const bool failed = clfi_json_memory_failed();
    clfi_json_memory_put_back(failed_before);
    if (!failed)
        return root;
    json_decref(root); /* the value may lack members, and the error may name another cause */
    *error = (json_error_t){.position = 0};
    error->text[JSON_ERROR_TEXT_LENGTH - 1] = json_error_out_of_memory;
    return NULL;
}

static clf_status fail(const json_error_t *error, size_t size, const origin *from)
{
    if (json_error_code(error) == json_error_out_of_memory)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "%s: JSON text of %zu bytes: not enough memory", from->name, size);
    return fail_place(from, (size_t)error->line, (size_t)error->column, error->text);
}

/* Reports an error in a rewritten text by its place in the text that was given, with the word that stands there. */
static clf_status fail_rewritten(const json_error_t *error, const char *text, size_t size, const origin *from)
{
    static const char near[] = " near '";
    clf_str before = CLF_STR_INIT;
    size_t end = 0, begin = 0;
    char what[2 * JSON_ERROR_TEXT_LENGTH];
    const char *const word = strstr(error->text, near);
    const size_t word_size = word ? strlen(word) - sizeof near : 0, position = error->position > 0 ? (size_t)error->position : 0;
    clf_status st = clfi_json_rewrite(text, size, false, position, &before, &end);
    clfi_str_clear(&before);
    if (st == CLF_OK)
        st = clfi_json_rewrite(text, size, false, position > word_size ? position - word_size : 0, &before, &begin);
    clfi_str_free(&before);
    CLF_TRY(st);
    if (word)
        snprintf(what, sizeof what, "%.*s%s%.*s'", (int)(word - error->text), error->text, near, (int)(end - begin), text + begin);
    else
        snprintf(what, sizeof what, "%s", error->text);
    size_t last = end > 0 ? end - 1 : 0; /* the column is that of the last character read, as jansson counts */
    while (last > 0 && ((unsigned char)text[last] & 0xc0) == 0x80)
        last--;
    return fail_at(text, last, from, what);
}

/* Parses a text that is not strict JSON, but may be Python's. `first` is the error of the strict reading. */
static clf_status parse_rewritten(const char *text, size_t size, const origin *from, const json_error_t *first, json_t **out)
{
    clf_str rewritten = CLF_STR_INIT;
    json_error_t error;
    size_t read;
    json_t *root = NULL;
    clf_status st = clfi_json_rewrite(text, size, false, SIZE_MAX, &rewritten, &read);
    if (st == CLF_OK && rewritten.length == size && memcmp(clfi_str_text(&rewritten), text ? text : "", size) == 0)
        st = fail(first, size, from);
    else if (st == CLF_OK && !(root = load(rewritten.data, rewritten.length, 0, &error)))
        st = json_error_code(&error) == json_error_out_of_memory ? fail(&error, size, from) : fail_rewritten(&error, text, size, from);
    clfi_str_free(&rewritten);
    if (st == CLF_OK)
        st = clfi_json_restore(&root);
    if (st == CLF_OK)
        *out = root;
    return st;
}

static clf_status check_depth(const char *text, size_t size, const origin *from)
{
    size_t at = 0;
    char what[64];
    if (nesting(text, size, &at) <= CLFI_JSON_MAX_DEPTH)
        return CLF_OK;
    snprintf(what, sizeof what, "nested deeper than %d", CLFI_JSON_MAX_DEPTH);
    return fail_at(text, at, from, what);
}

static clf_status parse(const char *text, size_t size, const origin *from, json_t **out)
{
    size_t skip;
    json_error_t error;
    CLF_TRY(clfi_text_start(text, size, from->name, &skip));
    text += skip;
    size -= skip;
    CLF_TRY(check_depth(text, size, from));
    json_t *root = load(text, size, 0, &error);
    if (!root && json_error_code(&error) != json_error_out_of_memory)
        return parse_rewritten(text, size, from, &error, out);
    if (!root)
        return fail(&error, size, from);
    *out = root;
    return CLF_OK;
}

clf_status clfi_json_parse(const char *text, size_t size, const char *name, json_t **out)
{
    return parse(text, size, &(origin){name, false}, out);
}

clf_status clfi_json_parse_line(const char *text, size_t size, const char *name, json_t **out)
{
    return parse(text, size, &(origin){name, true}, out);
}

clf_status clfi_json_append_without(const char *text, size_t size, const char *key, const char *what, clf_str *out)
{
    clf_str rewritten = CLF_STR_INIT, marked = CLF_STR_INIT;
    json_t *object = NULL;
    json_error_t error;
    size_t skip, read;
    clf_status st;
    CLF_GOTO(clfi_text_start(text, size, what, &skip));
    CLF_GOTO(clfi_json_rewrite(text + skip, size - skip, true, SIZE_MAX, &rewritten, &read));
    if (!(object = load(rewritten.data, rewritten.length, 0, &error)))
        CLF_GOTO(fail(&error, size, &(origin){what, true}));
    json_object_del(object, key); /* fails only if there is no such member */
    if (json_object_size(object) > 0) {
        CLF_GOTO(clfi_json_write(object, 0, what, &marked));
        CLF_GOTO(clfi_json_append_restored(marked.data, out));
    }
done:
    json_decref(object);
    clfi_str_free(&marked);
    clfi_str_free(&rewritten);
    return st;
}

clf_status clfi_json_parse_strict(const char *text, size_t size, const char *name, json_t **out)
{
    const origin from = {name, false};
    json_error_t error;
    CLF_TRY(check_depth(text, size, &from));
    json_t *root = load(text, size, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        return fail(&error, size, &from);
    *out = root;
    return CLF_OK;
}

clf_status clfi_json_read(const char *path, size_t limit_bytes, json_t **out)
{
    clf_str text = CLF_STR_INIT;
    clf_status st = clfi_file_read(path, limit_bytes, &text);
    if (st == CLF_OK)
        st = clfi_json_parse(clfi_str_text(&text), text.length, path, out);
    clfi_str_free(&text);
    return st;
}

clf_status clfi_json_read_in(const char *directory, const char *name, char **out_path, json_t **out)
{
    char *path;
    *out = NULL;
    CLF_TRY(clfi_file_find(directory, name, &path));
    const clf_status st = path ? clfi_json_read(path, CLFI_MODEL_FILE_BYTES, out) : CLF_OK;
    if (out_path)
        *out_path = path;
    else
        free(path);
    return st;
}
