/* SPDX-License-Identifier: MIT */
/* Finds and reads the chat template of a model's files. */
#include "model/chat_template.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "io/checkpoint_gguf.h"
#include "io/gguf.h"
#include "io/json.h"
#include "text/tokenizer_files.h"

enum { TEMPLATE_LIMIT_BYTES = 1 << 20 };

static clf_status read_gguf(const char *path, char **out)
{
    static const char key[] = "tokenizer.chat_template";
    clf_gguf_string text;
    clf_gguf *file;
    CLF_TRY(clfi_gguf_open(path, &file));
    clf_status st = CLF_OK;
    if (clfi_gguf_value(file, key)) {
        st = clfi_gguf_get_text(file, key, &text);
        if (st == CLF_OK)
            st = clfi_strndup(text.data, text.length, out);
    }
    clfi_gguf_close(file);
    return st;
}

static clf_status read_text(const char *directory, const char *name, char **out)
{
    clf_str text = CLF_STR_INIT;
    char *path;
    CLF_TRY(clfi_file_find(directory, name, &path));
    if (!path)
        return CLF_OK;
    clf_status st = clfi_text_read(path, TEMPLATE_LIMIT_BYTES, &text);
    if (st == CLF_OK)
        st = clfi_strndup(clfi_str_text(&text), text.length, out);
    clfi_str_free(&text);
    free(path);
    return st;
}

/* A text, or the "default" of a list of {"name", "template"}. */
static const json_t *choose(const json_t *value)
{
    for (size_t i = 0; json_is_array(value) && i < json_array_size(value); i++) {
        const json_t *row = json_array_get(value, i);
        const char *name = json_string_value(json_object_get(row, "name"));
        if (name && strcmp(name, "default") == 0)
            return json_object_get(row, "template");
    }
    return value;
}

static clf_status read_config(const char *directory, char **out)
{
    json_t *config;
    clf_status st = clfi_json_read_in(directory, "tokenizer_config.json", NULL, &config);
    const json_t *text = choose(json_object_get(config, "chat_template"));
    char found[CLFI_JSON_FOUND_BYTES];
    if (st == CLF_OK && text && !json_is_string(text) && !json_is_null(text))
        st = clfi_fail(CLF_FORMAT,
                       "%s/tokenizer_config.json: chat_template: expected a string or a list of {\"name\", \"template\"}, found %s",
                       directory, clfi_json_found(text, found));
    if (st == CLF_OK && json_is_string(text))
        st = clfi_strndup(json_string_value(text), json_string_length(text), out);
    json_decref(config);
    return st;
}

/* The template lies with the tokenizer. transformers reads these places in the opposite order, and the last template found counts. */
static clf_status read_directory(const char *directory, char **out)
{
    char *place;
    CLF_TRY(clfi_tokenizer_place(directory, &place));
    clf_status st = read_text(place, CLFI_CHAT_TEMPLATE_DEFAULT, out);
    if (st == CLF_OK && !*out)
        st = read_text(place, CLFI_CHAT_TEMPLATE, out);
    if (st == CLF_OK && !*out)
        st = read_config(place, out);
    free(place);
    return st;
}

clf_status clfi_chat_template_read(const char *path, char **out)
{
    char *text = NULL;
    if (clfi_is_gguf(path)) {
        CLF_TRY(read_gguf(path, &text));
    } else {
        bool is_directory;
        CLF_TRY(clfi_file_need(path));
        CLF_TRY(clfi_directory_exists(path, &is_directory));
        if (!is_directory)
            CLF_FAIL(CLF_FORMAT, "%s: expected a directory or a GGUF file", path);
        CLF_TRY(read_directory(path, &text));
    }
    if (!text)
        CLF_FAIL(CLF_NOT_FOUND, "%s: no chat template; clformer generate continues prompts without one", path);
    *out = text;
    return CLF_OK;
}
