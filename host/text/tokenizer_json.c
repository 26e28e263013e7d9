/* SPDX-License-Identifier: MIT */
/* Reads tokenizer.json, the file of Hugging Face's `tokenizers`. */
#include <stdio.h>
#include <string.h>

#include "io/json.h"
#include "text/decoder.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/tokenizer_parts.h"

enum { WHERE_BYTES = 512 };

/* "<file>: <part>", for the messages of the getters. */
static const char *part(char where[WHERE_BYTES], const char *name, const char *what)
{
    snprintf(where, WHERE_BYTES, "%s: %s", name, what);
    return where;
}

/* Reads the model. Older files have no "type" in it: a WordPiece model is then recognised by its prefix. */
static clf_status read_model(const json_t *root, const char *name, clf_tokenizer *tokenizer)
{
    char where[WHERE_BYTES];
    const json_t *model;
    const char *type;
    CLF_TRY(clfi_json_get_object(root, name, "model", &model));
    part(where, name, "model");
    const char *standard = json_object_get(model, "continuing_subword_prefix") && !json_object_get(model, "merges") ? "WordPiece" : NULL;
    CLF_TRY(clfi_json_opt_string(model, where, "type", standard, &type));
    const clf_part_kind *kind = clfi_part_find(&clfi_token_models, type ? type : "");
    if (!kind)
        return clfi_part_unknown(&clfi_token_models, where, type ? type : "");
    CLF_TRY(kind->read(model, where, &tokenizer->model));
    tokenizer->kind = (const clf_token_model_kind *)kind;
    return CLF_OK;
}

static clf_status read_chain(const json_t *root, const char *name, const char *key, const clf_part_table *table, clf_chain *chain)
{
    char where[WHERE_BYTES];
    const json_t *json;
    CLF_TRY(clfi_json_opt_object(root, name, key, &json));
    return clfi_chain_read(json, part(where, name, key), table, chain);
}

clf_status clfi_tokenizer_read_chains(const json_t *root, const char *name, clf_tokenizer *tokenizer)
{
    char where[WHERE_BYTES];
    const json_t *post_processor;
    CLF_TRY(read_chain(root, name, "normalizer", &clfi_normalizers, &tokenizer->normalizers));
    CLF_TRY(read_chain(root, name, "pre_tokenizer", &clfi_pre_tokenizers, &tokenizer->pre_tokenizers));
    CLF_TRY(read_chain(root, name, "decoder", &clfi_decoders, &tokenizer->decoders));
    tokenizer->has_decoder = json_is_object(json_object_get(root, "decoder"));
    CLF_TRY(clfi_json_opt_object(root, name, "post_processor", &post_processor));
    return clfi_post_processor_read(post_processor, part(where, name, "post_processor"), &tokenizer->post_processor);
}

static clf_status read_added_token(const json_t *json, const char *where, clf_tokenizer *tokenizer)
{
    clf_added_token token = {0};
    int64_t id;
    CLF_TRY(clfi_json_get_int(json, where, "id", 0, INT32_MAX, &id));
    CLF_TRY(clfi_json_get_string(json, where, "content", &token.content));
    CLF_TRY(clfi_json_get_bool(json, where, "single_word", &token.single_word));
    CLF_TRY(clfi_json_get_bool(json, where, "lstrip", &token.lstrip));
    CLF_TRY(clfi_json_get_bool(json, where, "rstrip", &token.rstrip));
    CLF_TRY(clfi_json_get_bool(json, where, "normalized", &token.normalized));
    CLF_TRY(clfi_json_get_bool(json, where, "special", &token.special));
    token.size = strlen(token.content);
    return token.size ? clfi_tokenizer_add_token(tokenizer, &token, id, where) : CLF_OK;
}

static clf_status read_added_tokens(const json_t *root, const char *name, clf_tokenizer *tokenizer)
{
    const json_t *tokens;
    CLF_TRY(clfi_json_opt_array(root, name, "added_tokens", &tokens));
    for (size_t i = 0; i < json_array_size(tokens); i++) {
        char where[WHERE_BYTES];
        snprintf(where, sizeof where, "%s: added_tokens[%zu]", name, i);
        CLF_TRY(read_added_token(json_array_get(tokens, i), where, tokenizer));
    }
    return CLF_OK;
}

/* Reads the direction of "truncation"; the caller chooses the number of tokens. */
static clf_status read_direction(const json_t *root, const char *name, clf_tokenizer *tokenizer)
{
    char where[WHERE_BYTES];
    const json_t *truncation;
    const char *direction;
    CLF_TRY(clfi_json_opt_object(root, name, "truncation", &truncation));
    if (!truncation)
        return CLF_OK;
    CLF_TRY(clfi_json_opt_string(truncation, part(where, name, "truncation"), "direction", "Right", &direction));
    tokenizer->cuts_left = strcmp(direction, "Left") == 0;
    if (!tokenizer->cuts_left && strcmp(direction, "Right") != 0)
        CLF_FAIL(CLF_FORMAT, "%s: direction: expected \"Left\" or \"Right\", found \"%s\"", where, direction);
    return CLF_OK;
}

static clf_status read_all(const json_t *root, const char *name, const json_t *config, const char *config_name, clf_tokenizer *tokenizer)
{
    CLF_TRY(read_direction(root, name, tokenizer));
    CLF_TRY(read_model(root, name, tokenizer));
    CLF_TRY(clfi_tokenizer_read_chains(root, name, tokenizer));
    CLF_TRY(read_added_tokens(root, name, tokenizer));
    if (config)
        CLF_TRY(clfi_tokenizer_add_named(config, config_name, tokenizer));
    return clfi_tokenizer_finish(tokenizer, name);
}

clf_status clfi_tokenizer_from_parts(const json_t *root, const char *name, const json_t *config, const char *config_name,
                                     clf_tokenizer **out)
{
    clf_tokenizer *tokenizer;
    CLF_TRY(clfi_tokenizer_create(&tokenizer));
    const clf_status st = read_all(root, name, config, config_name, tokenizer);
    if (st == CLF_OK)
        *out = tokenizer;
    else
        clf_tokenizer_destroy(tokenizer);
    return st;
}

clf_status clfi_tokenizer_from_json(const char *text, size_t size, const char *name, clf_tokenizer **out)
{
    json_t *root;
    CLF_TRY(clfi_json_parse(text, size, name, &root));
    clfi_unigram_read_as_tokenizers(root);
    const clf_status st = clfi_tokenizer_from_parts(root, name, NULL, NULL, out);
    json_decref(root);
    return st;
}
