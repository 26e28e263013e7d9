/* SPDX-License-Identifier: MIT */
/* The tokenizer object: creation and destruction, added tokens, and answers to questions about tokens. */
#include "text/tokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/tokenizer_parts.h"

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
    json_decref(tokenizer->variables);
    json_decref(tokenizer->chat_tokens);
    json_decref(tokenizer->absent);
    free(tokenizer->pipeline);
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

static clf_status check_template(const clf_tokenizer *tokenizer, const clf_template_processing *template, const char *where)
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
    if (tokenizer->added.normalized.count == 0 && clfi_normalizers_are_local(&tokenizer->normalizers))
        tokenizer->portions = clfi_pre_tokenizers_are_local(&tokenizer->pre_tokenizers)   ? CLF_PORTIONS_BEHIND_SPACES
                              : clfi_pre_tokenizers_cut_words(&tokenizer->pre_tokenizers) ? CLF_PORTIONS_BEFORE_SPACES
                                                                                          : CLF_PORTIONS_NONE;
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

const char *clfi_tokenizer_added(const clf_tokenizer *tokenizer, size_t i, size_t *size, bool *is_special, int32_t *id)
{
    if (i >= tokenizer->added.count)
        return NULL;
    const clf_added_token *token = &tokenizer->added.tokens[i];
    *size = token->size;
    *is_special = token->special;
    *id = token->id;
    return token->content;
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
