/* SPDX-License-Identifier: MIT */
/* Builds the pipelines of transformers 5's tokenizer classes. */
#include "text/tokenizer_pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/json.h"
#include "text/tokenizer_make.h"
#include "text/tokenizer_parts.h"

/* pipelines.json (pipelines.S) */
extern const char clfi_pipelines[] __attribute__((visibility("hidden")));
extern const char clfi_pipelines_end[] __attribute__((visibility("hidden")));

clf_status clfi_pipelines_read(json_t **out)
{
    return clfi_json_parse_strict(clfi_pipelines, (size_t)(clfi_pipelines_end - clfi_pipelines), "pipelines.json", out);
}

static clf_status out_of_memory(void)
{
    CLF_FAIL(CLF_OUT_OF_MEMORY, "not enough memory for the parts of a tokenizer");
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

bool clfi_pipeline_lists(const json_t *list, const char *name)
{
    for (size_t i = 0; name && i < json_array_size(list); i++)
        if (strcmp(json_string_value(json_array_get(list, i)), name) == 0)
            return true;
    return false;
}

const json_t *clfi_pipeline_find(const json_t *rows, const char *name)
{
    const json_t *classes = json_object_get(rows, "classes");
    for (size_t i = 0; i < json_array_size(classes); i++)
        if (clfi_pipeline_lists(json_object_get(json_array_get(classes, i), "names"), name))
            return json_array_get(classes, i);
    return NULL;
}

/* The sources of the values that replace "@key" and "#key" in a row's parts. */
typedef struct pipeline {
    const json_t *row, *root;
    json_t *config;
    const char *path, *config_path;
} pipeline;

/* The place of a token in the vocabulary, or its id among the added tokens; -1: neither. */
static int64_t find_id(const pipeline *p, const char *token)
{
    const json_t *vocabulary = json_object_get(json_object_get(p->root, "model"), "vocab"), *id = json_object_get(vocabulary, token);
    const json_t *added = json_object_get(p->root, "added_tokens");
    if (json_is_integer(id))
        return json_integer_value(id);
    for (size_t i = 0; i < json_array_size(vocabulary); i++) {
        const char *content = json_string_value(json_array_get(json_array_get(vocabulary, i), 0));
        if (content && strcmp(content, token) == 0)
            return (int64_t)i;
    }
    for (size_t i = 0; i < json_array_size(added); i++) {
        const char *content = text_of(json_array_get(added, i), "content");
        if (content && strcmp(content, token) == 0)
            return json_integer_value(json_object_get(json_array_get(added, i), "id"));
    }
    return -1;
}

static bool is_token_key(const char *key)
{
    static const char end[] = "_token";
    const size_t length = strlen(key);
    return length > sizeof end - 1 && strcmp(key + length - (sizeof end - 1), end) == 0;
}

static clf_status read_flag(const pipeline *p, const char *key, bool *out)
{
    const bool standard = json_is_true(json_object_get(json_object_get(p->row, "standards"), key));
    return clfi_json_opt_bool(p->config, p->config_path, key, json_is_true(json_object_get(p->row, "null_is_standard")) && standard, out);
}

static bool is_of_type(const json_t *model, const char *type)
{
    const char *own = text_of(model, "type");
    return own && strcmp(own, type) == 0;
}

/* The Precompiled normalizer of tokenizer.json, alone or the first of its Sequence; JSON's null if there is none. A new reference. */
static json_t *find_charsmap(const json_t *root)
{
    const json_t *normalizer = json_object_get(root, "normalizer"), *list = json_object_get(normalizer, "normalizers");
    const json_t *found = is_of_type(normalizer, "Precompiled") ? normalizer : NULL;
    for (size_t i = 0; i < json_array_size(list) && !found; i++)
        found = is_of_type(json_array_get(list, i), "Precompiled") ? json_array_get(list, i) : NULL;
    return found ? json_incref((json_t *)found) : json_null();
}

static json_t *make_scheme(bool prefix, const char *name)
{
    return json_string(prefix ? name : "never");
}

static clf_status make_id(const pipeline *p, const char *key, json_t **out)
{
    const char *content = clfi_named_content(json_object_get(p->config, key));
    const int64_t id = content ? find_id(p, content) : -1;
    if (id < 0)
        CLF_FAIL(CLF_FORMAT, "%s: %s: expected a token of the vocabulary, found \"%.80s\"", p->config_path, key, content ? content : "");
    *out = json_integer((json_int_t)id);
    return CLF_OK;
}

/* Makes the value for "@name". *out NULL: the part is left out. */
static clf_status make_value(const pipeline *p, const char *name, json_t **out)
{
    bool prefix = false, is_on = false;
    *out = NULL;
    if (is_token_key(name)) {
        const char *content = clfi_named_content(json_object_get(p->config, name));
        *out = content ? json_string(content) : json_null();
        return CLF_OK;
    }
    if (strcmp(name, "charsmap") == 0) {
        *out = find_charsmap(p->root);
        return CLF_OK;
    }
    if (strcmp(name, "unk_index") == 0) {
        const char *unk = clfi_named_content(json_object_get(p->config, "unk_token"));
        const int64_t id = unk ? find_id(p, unk) : 0;
        *out = json_integer(id > 0 ? (json_int_t)id : 0);
        return CLF_OK;
    }
    if (strcmp(name, "strip_accents") == 0 && json_is_null(json_object_get(p->config, name))) {
        *out = json_null();
        return CLF_OK;
    }
    const bool is_scheme = strcmp(name, "always") == 0 || strcmp(name, "first") == 0 || strcmp(name, "llama") == 0;
    if (is_scheme || strcmp(name, "strip") == 0) {
        CLF_TRY(read_flag(p, "add_prefix_space", &prefix));
        if (!is_scheme && !prefix)
            return CLF_OK;
        if (strcmp(name, "llama") == 0)
            CLF_TRY(clfi_json_opt_bool(p->config, p->config_path, "legacy", false, &is_on));
        *out = is_scheme ? make_scheme(prefix, strcmp(name, "llama") != 0 ? name
                                               : is_on                    ? "always"
                                                                          : "first")
                         : json_pack("{s:s, s:s, s:i, s:i}", "type", "Strip", "content", " ", "start", 1, "stop", 0);
        return CLF_OK;
    }
    CLF_TRY(read_flag(p, name, &is_on));
    *out = json_boolean(is_on);
    return CLF_OK;
}

static clf_status make_part(const pipeline *p, const json_t *from, json_t **out);

static clf_status make_array(const pipeline *p, const json_t *from, json_t *to)
{
    for (size_t i = 0; i < json_array_size(from); i++) {
        json_t *item;
        CLF_TRY(make_part(p, json_array_get(from, i), &item));
        if (item)
            CLF_TRY(clfi_make_append(to, item));
    }
    return CLF_OK;
}

static clf_status make_object(const pipeline *p, const json_t *from, json_t *to)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)from, key, value)
    {
        const char *content = key[0] == '@' ? clfi_named_content(json_object_get(p->config, key + 1)) : key;
        json_t *item;
        CLF_TRY(make_part(p, value, &item));
        if (content)
            CLF_TRY(clfi_make_set(to, content, item));
        else
            json_decref(item);
    }
    return CLF_OK;
}

/* Copies a value of the row and replaces "@key" and "#key" in it. *out NULL: it is left out. */
static clf_status make_part(const pipeline *p, const json_t *from, json_t **out)
{
    const char *text = json_string_value(from);
    *out = NULL;
    if (text && text[0] == '@')
        CLF_TRY(make_value(p, text + 1, out));
    else if (text && text[0] == '#' && is_token_key(text)) /* not WordPiece's "##" */
        CLF_TRY(make_id(p, text + 1, out));
    if (*out || (text && text[0] == '@'))
        return CLF_OK;
    json_t *made = json_is_object(from) ? json_object() : json_is_array(from) ? json_array() : json_incref((json_t *)from);
    clf_status st = made ? CLF_OK : out_of_memory();
    if (st == CLF_OK && json_is_object(from))
        st = make_object(p, from, made);
    else if (st == CLF_OK && json_is_array(from))
        st = make_array(p, from, made);
    if (st != CLF_OK) {
        json_decref(made);
        return st;
    }
    *out = made;
    return CLF_OK;
}

/* Puts the row's defaults into the configuration. If it names a token by text alone, the token gets the flags of the row, such as lstrip of
 * a mask. */
static clf_status put_standards(const pipeline *p)
{
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(p->row, "standards"), key, value)
    {
        json_t *own = json_object_get(p->config, key);
        if (!own) {
            CLF_TRY(clfi_make_set(p->config, key, json_incref(value)));
        } else if (json_is_object(value) && json_is_string(own)) {
            json_t *token = json_copy(value);
            const clf_status st = clfi_make_set(token, "content", json_incref(own));
            if (st != CLF_OK) {
                json_decref(token);
                return st;
            }
            CLF_TRY(clfi_make_set(p->config, key, token)); /* frees the text */
        }
    }
    return CLF_OK;
}

/* Turns [["a", -1.0], ...] into {"a": 0, ...}, the form of the other models. */
static clf_status number_pieces(const json_t *pieces, json_t **out)
{
    json_t *numbers = json_object();
    clf_status st = numbers ? CLF_OK : out_of_memory();
    for (size_t i = 0; st == CLF_OK && i < json_array_size(pieces); i++) {
        const json_t *piece = json_array_get(pieces, i);
        const char *content = json_string_value(json_is_array(piece) ? json_array_get(piece, 0) : piece);
        st = content ? clfi_make_set(numbers, content, json_integer((json_int_t)i))
                     : clfi_fail(CLF_FORMAT, "tokenizer.json: model: vocab: piece %zu has no text", i);
    }
    if (st == CLF_OK)
        *out = numbers;
    else
        json_decref(numbers);
    return st;
}

static clf_status check_vocabulary(const pipeline *p, const char *class_name)
{
    const json_t *vocabulary = json_object_get(json_object_get(p->root, "model"), "vocab");
    const bool is_unigram = is_of_type(json_object_get(json_object_get(p->row, "parts"), "model"), "Unigram");
    if (!json_is_array(vocabulary) && (is_unigram || !json_is_object(vocabulary)))
        CLF_FAIL(CLF_UNSUPPORTED, "%s: model: vocab: expected %s, which transformers 5's class %s takes", p->path,
                 is_unigram ? "the pieces and scores of a Unigram" : "tokens", class_name);
    return CLF_OK;
}

/* Puts the vocabulary and the merges of tokenizer.json into the class's model, in that model's form. */
static clf_status put_vocabulary(const pipeline *p, json_t *model)
{
    const json_t *own = json_object_get(p->root, "model"), *vocabulary = json_object_get(own, "vocab"),
                 *merges = json_object_get(own, "merges");
    json_t *made = NULL;
    if (!is_of_type(model, "Unigram") && json_is_array(vocabulary))
        CLF_TRY(number_pieces(vocabulary, &made));
    else
        made = json_incref((json_t *)vocabulary);
    CLF_TRY(clfi_make_set(model, "vocab", made));
    if (!is_of_type(model, "BPE"))
        return CLF_OK;
    return clfi_make_set(model, "merges", merges ? json_incref((json_t *)merges) : json_array());
}

static int compare_ids(const void *a, const void *b)
{
    const json_int_t x = json_integer_value(json_object_get(*(json_t *const *)a, "id")),
                     y = json_integer_value(json_object_get(*(json_t *const *)b, "id"));
    return (x > y) - (x < y);
}

static clf_status make_added(const pipeline *p, const char *key, const json_t *token, json_t *list)
{
    const char *content = clfi_named_content(token);
    char *end;
    bool is_special, single_word, lstrip, rstrip, normalized;
    const long long id = strtoll(key, &end, 10);
    if (!content || end == key || *end)
        CLF_FAIL(CLF_FORMAT, "%s: added_tokens_decoder: \"%.40s\": expected a token with its id as key", p->config_path, key);
    CLF_TRY(clfi_json_opt_bool(token, p->config_path, "special", false, &is_special));
    CLF_TRY(clfi_json_opt_bool(token, p->config_path, "single_word", false, &single_word));
    CLF_TRY(clfi_json_opt_bool(token, p->config_path, "lstrip", false, &lstrip));
    CLF_TRY(clfi_json_opt_bool(token, p->config_path, "rstrip", false, &rstrip));
    CLF_TRY(clfi_json_opt_bool(token, p->config_path, "normalized", !is_special, &normalized));
    is_special = is_special || clfi_named_is_role(p->config, content);
    return clfi_make_append(list,
                            json_pack("{s:I, s:s, s:b, s:b, s:b, s:b, s:b}", "id", (json_int_t)id, "content", content, "single_word",
                                      single_word, "lstrip", lstrip, "rstrip", rstrip, "normalized", normalized, "special", is_special));
}

/* Replaces root's "added_tokens" by those of tokenizer_config.json, sorted by id. */
static clf_status put_added(const pipeline *p, json_t *root)
{
    const char *key;
    json_t *value, *list = json_array(), *sorted = json_array();
    json_t **tokens = NULL;
    clf_status st = list && sorted ? CLF_OK : out_of_memory();
    if (st == CLF_OK)
        json_object_foreach(json_object_get(p->config, "added_tokens_decoder"), key, value) CLF_GOTO(make_added(p, key, value, list));
    const size_t count = json_array_size(list);
    if (st == CLF_OK && count)
        CLF_GOTO(clfi_alloc(count, sizeof(json_t *), "added tokens", &tokens));
    for (size_t i = 0; tokens && i < count; i++)
        tokens[i] = json_array_get(list, i);
    if (tokens)
        qsort(tokens, count, sizeof(json_t *), compare_ids);
    for (size_t i = 0; tokens && i < count; i++)
        CLF_GOTO(clfi_make_append(sorted, json_incref(tokens[i])));
    if (st == CLF_OK)
        st = clfi_make_set(root, "added_tokens", json_incref(sorted));
done:
    free(tokens);
    json_decref(sorted);
    json_decref(list);
    return st;
}

static clf_status put_parts(const pipeline *p, const char *class_name, bool is_listed, json_t *root)
{
    json_t *parts;
    CLF_TRY(check_vocabulary(p, class_name));
    CLF_TRY(put_standards(p));
    if (is_listed)
        CLF_TRY(put_added(p, root));
    CLF_TRY(make_part(p, json_object_get(p->row, "parts"), &parts));
    clf_status st = put_vocabulary(p, json_object_get(parts, "model"));
    if (st == CLF_OK && json_object_update(root, parts) != 0)
        st = out_of_memory();
    json_decref(parts);
    return st;
}

clf_status clfi_tokenizer_pipeline_put(const char *class_name, json_t *config, const char *config_path, bool is_listed, json_t *root,
                                       const char *path)
{
    json_t *rows;
    CLF_TRY(clfi_pipelines_read(&rows));
    const pipeline p = {clfi_pipeline_find(rows, class_name), root, config, path, config_path};
    const clf_status st = put_parts(&p, class_name, is_listed, root);
    json_decref(rows);
    return st;
}
