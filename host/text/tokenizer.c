/* SPDX-License-Identifier: MIT */
/* Tokenizer object: parts, lookup of tokens, and opening a model directory. */
#include "text/tokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/options.h"
#include "io/checkpoint_gguf.h"
#include "io/json.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/tokenizer_gguf.h"
#include "text/tokenizer_marian.h"
#include "text/tokenizer_parts.h"

enum { FILE_LIMIT = 256 << 20 }; /* bytes of any tokenizer file; the largest known vocabularies have 30 MB */

clf_status clfi_tokenizer_create(clf_tokenizer **out)
{
    CLF_TRY(clfi_alloc(1, sizeof **out, "tokenizer", out));
    for (size_t i = 0; i < CLF_TOKEN_ROLE_COUNT; i++)
        (*out)->roles[i] = -1;
    return CLF_OK;
}

void clf_tokenizer_destroy(clf_tokenizer *tokenizer)
{
    if (!tokenizer)
        return;
    if (tokenizer->kind)
        tokenizer->kind->part.destroy(tokenizer->model);
    clfi_chain_free(&tokenizer->normalizers);
    clfi_chain_free(&tokenizer->pre_tokenizers);
    clfi_chain_free(&tokenizer->decoders);
    free(tokenizer->special_ids);
    clfi_added_tokens_free(&tokenizer->added);
    clfi_post_processor_free(&tokenizer->post_processor);
    free(tokenizer);
}

static const clf_vocabulary *vocabulary_of(const clf_tokenizer *tokenizer)
{
    return tokenizer->kind->vocabulary(tokenizer->model);
}

clf_status clfi_tokenizer_add_token(clf_tokenizer *tokenizer, const clf_added_token *token, int64_t want_id, const char *where)
{
    const clf_vocabulary *vocabulary = vocabulary_of(tokenizer);
    clf_added_token copy = *token;
    copy.id = clfi_vocabulary_find(&tokenizer->added.ids, token->content, token->size);
    if (copy.id < 0)
        copy.id = clfi_vocabulary_find(vocabulary, token->content, token->size);
    if (copy.id < 0) {
        int64_t next = (int64_t)vocabulary->count;
        for (size_t i = 0; i < tokenizer->added.count; i++)
            if (tokenizer->added.tokens[i].id >= next)
                next = (int64_t)tokenizer->added.tokens[i].id + 1;
        const char *taken = clfi_vocabulary_token(vocabulary, (int32_t)next);
        if (taken)
            CLF_FAIL(CLF_FORMAT, "%s: added token \"%s\" would get id %lld, which is that of \"%s\"", where, token->content,
                     (long long)next, taken);
        copy.id = (int32_t)next;
    }
    if (want_id >= 0 && want_id != copy.id)
        CLF_FAIL(CLF_FORMAT, "%s: added token \"%s\": expected id %d, found %lld", where, token->content, (int)copy.id, (long long)want_id);
    const clf_status st = clfi_added_tokens_add(&tokenizer->added, &copy);
    return st == CLF_OK ? CLF_OK : clfi_fail_prefix(st, "%s", where);
}

static clf_status check_template(const clf_tokenizer *tokenizer, const clf_template *template, const char *where)
{
    for (size_t i = 0; i < template->count; i++) {
        const clf_template_piece *piece = &template->pieces[i];
        if (piece->kind == CLF_PIECE_TOKEN && !clf_tokenizer_token(tokenizer, piece->id))
            CLF_FAIL(CLF_FORMAT, "%s: post-processor: no token has id %d", where, (int)piece->id);
    }
    return CLF_OK;
}

static int compare_ids(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static clf_status collect_special(clf_tokenizer *tokenizer)
{
    CLF_TRY(clfi_alloc(tokenizer->added.count, sizeof *tokenizer->special_ids, "special tokens", &tokenizer->special_ids));
    for (size_t i = 0; i < tokenizer->added.count; i++)
        if (tokenizer->added.tokens[i].special)
            tokenizer->special_ids[tokenizer->special_count++] = tokenizer->added.tokens[i].id;
    if (tokenizer->special_count)
        qsort(tokenizer->special_ids, tokenizer->special_count, sizeof *tokenizer->special_ids, compare_ids);
    return CLF_OK;
}

clf_status clfi_tokenizer_finish(clf_tokenizer *tokenizer, const char *where)
{
    const clf_status st = clfi_added_tokens_finish(&tokenizer->added, vocabulary_of(tokenizer)->id_count, &tokenizer->normalizers);
    if (st != CLF_OK)
        return clfi_fail_prefix(st, "%s", where);
    /* an added token may hold the spaces where portions end */
    tokenizer->in_portions = tokenizer->added.normalized.count == 0 && clfi_normalizers_are_local(&tokenizer->normalizers) &&
                             clfi_pre_tokenizers_are_local(&tokenizer->pre_tokenizers);
    tokenizer->needs_spans = clfi_pre_tokenizers_need_spans(&tokenizer->pre_tokenizers);
    CLF_TRY(collect_special(tokenizer));
    CLF_TRY(check_template(tokenizer, &tokenizer->post_processor.single, where));
    return check_template(tokenizer, &tokenizer->post_processor.pair, where);
}

const char *clf_tokenizer_token(const clf_tokenizer *tokenizer, int32_t id)
{
    if (!tokenizer)
        return NULL;
    const char *added = clfi_vocabulary_token(&tokenizer->added.ids, id);
    return added ? added : clfi_vocabulary_token(vocabulary_of(tokenizer), id);
}

int32_t clf_tokenizer_id(const clf_tokenizer *tokenizer, const char *token)
{
    if (!tokenizer || !token)
        return -1;
    const size_t size = strlen(token);
    const int32_t added = clfi_vocabulary_find(&tokenizer->added.ids, token, size);
    return added >= 0 ? added : clfi_vocabulary_find(vocabulary_of(tokenizer), token, size);
}

size_t clf_tokenizer_vocabulary_size(const clf_tokenizer *tokenizer)
{
    if (!tokenizer)
        return 0;
    const size_t own = vocabulary_of(tokenizer)->id_count, added = tokenizer->added.ids.id_count;
    return own > added ? own : added;
}

int clf_tokenizer_is_special(const clf_tokenizer *tokenizer, int32_t id)
{
    return tokenizer && tokenizer->special_count &&
           bsearch(&id, tokenizer->special_ids, tokenizer->special_count, sizeof id, compare_ids) != NULL;
}

size_t clf_tokenizer_added_count(const clf_tokenizer *tokenizer, int pair)
{
    if (!tokenizer)
        return 0;
    return pair ? tokenizer->post_processor.pair.added : tokenizer->post_processor.single.added;
}

int32_t clf_tokenizer_role(const clf_tokenizer *tokenizer, clf_token_role role)
{
    return tokenizer && (unsigned)role < CLF_TOKEN_ROLE_COUNT ? tokenizer->roles[role] : -1;
}

/* "truncation_side" goes before tokenizer.json's own direction, as in transformers. */
static clf_status read_side(const json_t *config, const char *name, clf_tokenizer *tokenizer)
{
    const char *side;
    CLF_TRY(clfi_json_opt_string(config, name, "truncation_side", tokenizer->cuts_left ? "left" : "right", &side));
    tokenizer->cuts_left = strcmp(side, "left") == 0;
    if (!tokenizer->cuts_left && strcmp(side, "right") != 0)
        CLF_FAIL(CLF_FORMAT, "%s: truncation_side: expected \"left\" or \"right\", found \"%s\"", name, side);
    return CLF_OK;
}

/* What tokenizer_config.json tells beside the tokenizer's parts. A token that the vocabulary has not has no role. */
static clf_status read_config(const json_t *config, const char *name, clf_tokenizer *tokenizer)
{
    for (size_t i = 0; i < CLF_TOKEN_ROLE_COUNT; i++)
        tokenizer->roles[i] = clf_tokenizer_id(tokenizer, clfi_named_content(json_object_get(config, clfi_token_role_keys[i])));
    return read_side(config, name, tokenizer);
}

/* Reads directory/name if it exists; *path stays NULL when it does not. */
static clf_status read_if_there(const char *directory, const char *name, char **path, clf_str *text)
{
    char *joined;
    bool exists;
    CLF_TRY(clfi_path_join(directory, name, &joined));
    const clf_status st = clfi_file_exists(joined, &exists);
    if (st != CLF_OK || !exists) {
        free(joined);
        return st;
    }
    *path = joined;
    return clfi_file_read(joined, FILE_LIMIT, text);
}

/* Of a directory without tokenizer.json. config_path NULL: no tokenizer_config.json. */
static clf_status open_older(const char *directory, const char *config_path, const clf_str *config, clf_tokenizer **out)
{
    clf_status st;
    char *path = NULL, *spm = NULL, *vocab = NULL;
    bool has_spm;
    clf_str text = CLF_STR_INIT;
    CLF_GOTO(clfi_path_join(directory, "source.spm", &spm));
    CLF_GOTO(clfi_path_join(directory, "vocab.json", &vocab));
    CLF_GOTO(clfi_file_exists(spm, &has_spm));
    if (has_spm) {
        CLF_GOTO(clfi_tokenizer_open_marian(spm, vocab, out));
        goto done;
    }
    CLF_GOTO(read_if_there(directory, "vocab.txt", &path, &text));
    st = path ? clfi_tokenizer_from_vocabulary(clfi_str_text(&text), text.length, path, config_path ? clfi_str_text(config) : NULL,
                                               config->length, config_path, out)
              : clfi_fail(CLF_NOT_FOUND, "%s: no tokenizer.json and no vocab.txt or source.spm", directory);
done:
    clfi_str_free(&text);
    free(path);
    free(spm);
    free(vocab);
    return st;
}

/* A key of a file of JSON; false where the key or the file is not there. */
static clf_status read_flag(const char *directory, const char *name, const char *key, bool *out)
{
    char *path = NULL;
    clf_str text = CLF_STR_INIT;
    json_t *json = NULL;
    *out = false;
    clf_status st = read_if_there(directory, name, &path, &text);
    if (st == CLF_OK && path)
        st = clfi_json_parse(clfi_str_text(&text), text.length, path, &json);
    if (st == CLF_OK && json)
        st = clfi_json_opt_bool(json, path, key, false, out);
    json_decref(json);
    clfi_str_free(&text);
    free(path);
    return st;
}

/* Puts Lowercase before the other normalizers of tokenizer.json, in their list or in place of none. */
static clf_status put_lowercase(const char *path, json_t *root)
{
    json_t *given = json_object_get(root, "normalizer");
    json_t *chain = json_is_object(given) ? json_pack("{s:s,s:[{s:s},O]}", "type", "Sequence", "normalizers", "type", "Lowercase", given)
                                          : json_pack("{s:s}", "type", "Lowercase");
    if (!chain || json_object_set_new(root, "normalizer", chain) != 0)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "%s: not enough memory", path);
    return CLF_OK;
}

static clf_status open_json(const char *path, const clf_str *text, bool lowers, const json_t *config, const char *config_path,
                            clf_tokenizer **out)
{
    json_t *root;
    CLF_TRY(clfi_json_parse(clfi_str_text(text), text->length, path, &root));
    clf_status st = lowers ? put_lowercase(path, root) : CLF_OK;
    if (st == CLF_OK)
        st = clfi_tokenizer_from_parts(root, path, config, config_path, out);
    json_decref(root);
    return st;
}

/* A vocab.txt is BERT's, which lowercases by itself unless it is told not to. */
static clf_status check_lowercase(const json_t *config, const char *name)
{
    bool lowers;
    CLF_TRY(clfi_json_opt_bool(config, name, "do_lower_case", true, &lowers));
    if (!lowers)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: do_lower_case is false and sentence_bert_config.json's is true: expected a tokenizer.json", name);
    return CLF_OK;
}

static clf_status open_any(const char *directory, clf_tokenizer **out)
{
    clf_status st;
    bool lowers;
    char *path = NULL, *config_path = NULL;
    clf_str text = CLF_STR_INIT, config_text = CLF_STR_INIT;
    json_t *config = NULL;
    clf_tokenizer *tokenizer = NULL;
    if (clfi_is_gguf(directory))
        return clfi_tokenizer_open_gguf(directory, out);
    CLF_GOTO(read_if_there(directory, "tokenizer_config.json", &config_path, &config_text));
    if (config_path)
        CLF_GOTO(clfi_json_parse(clfi_str_text(&config_text), config_text.length, config_path, &config));
    CLF_GOTO(read_if_there(directory, "tokenizer.json", &path, &text));
    CLF_GOTO(read_flag(directory, "sentence_bert_config.json", "do_lower_case", &lowers)); /* before the tokenizer's own normalizers */
    if (path) {
        CLF_GOTO(open_json(path, &text, lowers, config, config_path, &tokenizer));
    } else {
        if (lowers && config)
            CLF_GOTO(check_lowercase(config, config_path));
        CLF_GOTO(open_older(directory, config_path, &config_text, &tokenizer));
    }
    if (config)
        CLF_GOTO(read_config(config, config_path, tokenizer));
    *out = tokenizer;
    tokenizer = NULL;
done:
    clf_tokenizer_destroy(tokenizer);
    json_decref(config);
    clfi_str_free(&text);
    clfi_str_free(&config_text);
    free(path);
    free(config_path);
    return st;
}

clf_status clf_tokenizer_open(const char *directory, clf_tokenizer **out)
{
    if (!directory || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tokenizer: expected a directory and a place for the tokenizer, found NULL");
    return open_any(directory, out);
}

clf_status clf_tokenizer_open_target(const char *directory, clf_tokenizer **out)
{
    char *spm = NULL, *vocab = NULL;
    bool is_separate = false; /* which transformers takes for false where it is absent */
    clf_status st;
    if (!directory || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tokenizer: expected a directory and a place for the tokenizer, found NULL");
    if (!clfi_is_gguf(directory))
        CLF_TRY(read_flag(directory, "tokenizer_config.json", "separate_vocabs", &is_separate));
    if (!is_separate)
        return open_any(directory, out);
    CLF_GOTO(clfi_path_join(directory, "target.spm", &spm));
    CLF_GOTO(clfi_path_join(directory, "target_vocab.json", &vocab));
    CLF_GOTO(clfi_tokenizer_open_marian(spm, vocab, out));
done:
    free(spm);
    free(vocab);
    return st;
}

clf_status clf_tokenizer_from_json(const clf_text *json, const char *name, clf_tokenizer **out)
{
    if (!json || (!json->data && json->size) || !name || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tokenizer: expected a text, a name and a place for the tokenizer, found NULL");
    return clfi_tokenizer_from_json(json->data ? json->data : "", json->size, name, out);
}

CLFI_OPTIONS(clf_encode_params, CLF_ENCODE_PARAMS_INIT)

clf_status clf_encoding_create(clf_encoding **out)
{
    if (!out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "encoding: expected a place for it, found NULL");
    return clfi_alloc(1, sizeof **out, "encoding", out);
}

void clf_encoding_destroy(clf_encoding *encoding)
{
    if (encoding)
        clfi_encoding_free(encoding);
    free(encoding);
}

clf_status clf_tokenizer_encode(const clf_tokenizer *tokenizer, const clf_text *text, const clf_text *pair, const clf_encode_params *params,
                                clf_encoding *out)
{
    clf_encode_params own;
    if (!tokenizer || !text || !out || (text->size && !text->data) || (pair && pair->size && !pair->data))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tokenizer: expected a tokenizer, a text and an encoding, found NULL");
    CLF_TRY(clf_encode_params_read(params, &own));
    if (own.offsets < CLF_OFFSETS_NONE || own.offsets > CLF_OFFSETS_BYTES)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tokenizer: offsets %d: expected a clf_offset_unit", (int)own.offsets);
    const clf_encode_options options = {.add_special_tokens = own.add_special_tokens != 0,
                                        .max_tokens = own.max_tokens,
                                        .ignore_special = own.ignore_special != 0,
                                        .offsets = own.offsets};
    return clfi_tokenizer_encode(tokenizer, text->data, text->size, pair ? (pair->data ? pair->data : "") : NULL, pair ? pair->size : 0,
                                 &options, out);
}
