/* SPDX-License-Identifier: MIT */
/* Tokenizer object: parts, lookup of tokens, and opening a model directory. */
#include "text/tokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "text/tokenizer_parts.h"

enum { FILE_LIMIT = 256 << 20 }; /* bytes of any tokenizer file; the largest known vocabularies have 30 MB */

clf_status clfi_tokenizer_create(clf_tokenizer **out)
{
    return clfi_alloc(1, sizeof **out, "tokenizer", out);
}

void clfi_tokenizer_destroy(clf_tokenizer *tokenizer)
{
    if (!tokenizer)
        return;
    if (tokenizer->kind)
        tokenizer->kind->destroy(tokenizer->model);
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
        if (piece->kind == CLF_PIECE_TOKEN && !clfi_tokenizer_token(tokenizer, piece->id))
            CLF_FAIL(CLF_FORMAT, "%s: post-processor: no token has id %d", where, (int)piece->id);
    }
    return CLF_OK;
}

clf_status clfi_tokenizer_finish(clf_tokenizer *tokenizer, const char *where)
{
    const clf_status st = clfi_added_tokens_finish(&tokenizer->added, &tokenizer->normalizer);
    if (st != CLF_OK)
        return clfi_fail_prefix(st, "%s", where);
    CLF_TRY(check_template(tokenizer, &tokenizer->post_processor.single, where));
    return check_template(tokenizer, &tokenizer->post_processor.pair, where);
}

const char *clfi_tokenizer_token(const clf_tokenizer *tokenizer, int32_t id)
{
    const char *added = clfi_vocabulary_token(&tokenizer->added.ids, id);
    return added ? added : clfi_vocabulary_token(vocabulary_of(tokenizer), id);
}

int32_t clfi_tokenizer_id(const clf_tokenizer *tokenizer, const char *token)
{
    const size_t size = strlen(token);
    const int32_t added = clfi_vocabulary_find(&tokenizer->added.ids, token, size);
    return added >= 0 ? added : clfi_vocabulary_find(vocabulary_of(tokenizer), token, size);
}

size_t clfi_tokenizer_vocabulary_size(const clf_tokenizer *tokenizer)
{
    const size_t own = vocabulary_of(tokenizer)->id_count, added = tokenizer->added.ids.id_count;
    return own > added ? own : added;
}

size_t clfi_tokenizer_added_count(const clf_tokenizer *tokenizer, bool pair)
{
    return pair ? tokenizer->post_processor.pair.added : tokenizer->post_processor.single.added;
}

/* Reads directory/name if it exists; *path stays NULL when it does not. */
static clf_status read_if_there(const char *directory, const char *name, char **path, clf_str *text)
{
    char *joined;
    CLF_TRY(clfi_path_join(directory, name, &joined));
    if (!clfi_file_exists(joined)) {
        free(joined);
        return CLF_OK;
    }
    *path = joined;
    return clfi_file_read(joined, FILE_LIMIT, text);
}

clf_status clfi_tokenizer_open(const char *directory, clf_tokenizer **out)
{
    clf_status st;
    char *path = NULL, *config_path = NULL;
    clf_str text = CLF_STR_INIT, config = CLF_STR_INIT;
    CLF_GOTO(read_if_there(directory, "tokenizer.json", &path, &text));
    if (path) {
        st = clfi_tokenizer_from_json(clfi_str_text(&text), text.length, path, out);
        goto done;
    }
    CLF_GOTO(read_if_there(directory, "vocab.txt", &path, &text));
    if (!path) {
        st = clfi_fail(CLF_NOT_FOUND, "%s: no tokenizer.json and no vocab.txt", directory);
        goto done;
    }
    CLF_GOTO(read_if_there(directory, "tokenizer_config.json", &config_path, &config));
    st = clfi_tokenizer_from_vocabulary(clfi_str_text(&text), text.length, path, config_path ? clfi_str_text(&config) : NULL, config.length,
                                        config_path, out);
done:
    clfi_str_free(&text);
    clfi_str_free(&config);
    free(path);
    free(config_path);
    return st;
}
