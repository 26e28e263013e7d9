/* SPDX-License-Identifier: MIT */
/* Adds the tokens that tokenizer_config.json names. */
#include <stdio.h>
#include <string.h>

#include "io/json.h"
#include "text/tokenizer_parts.h"

enum { WHERE_BYTES = 512 };

const char *const clfi_token_role_keys[CLF_TOKEN_ROLE_COUNT] = {
    [CLF_TOKEN_BOS] = "bos_token", [CLF_TOKEN_EOS] = "eos_token", [CLF_TOKEN_UNK] = "unk_token",   [CLF_TOKEN_SEP] = "sep_token",
    [CLF_TOKEN_PAD] = "pad_token", [CLF_TOKEN_CLS] = "cls_token", [CLF_TOKEN_MASK] = "mask_token",
};

const char *clfi_named_content(const json_t *value)
{
    return json_string_value(json_is_object(value) ? json_object_get(value, "content") : value);
}

bool clfi_named_is_role(const json_t *config, const char *content)
{
    for (size_t i = 0; i < CLF_TOKEN_ROLE_COUNT; i++) {
        const char *named = clfi_named_content(json_object_get(config, clfi_token_role_keys[i]));
        if (named && strcmp(named, content) == 0)
            return true;
    }
    return false;
}

/* Adds a token unless it was added or the vocabulary lacks it. Flags that an object lacks have the defaults of `tokenizers`: false, but
 * `normalized` is true for tokens that are not special. */
static clf_status add(const json_t *value, bool is_special, const char *where, clf_tokenizer *tokenizer)
{
    clf_added_token token = {.content = clfi_named_content(value), .special = is_special, .normalized = false};
    if (!token.content || clfi_vocabulary_find(&tokenizer->added.ids, token.content, strlen(token.content)) >= 0 ||
        clf_tokenizer_id(tokenizer, token.content) < 0)
        return CLF_OK;
    token.size = strlen(token.content);
    if (json_is_object(value)) {
        bool special;
        CLF_TRY(clfi_json_opt_bool(value, where, "special", false, &special));
        CLF_TRY(clfi_json_opt_bool(value, where, "single_word", false, &token.single_word));
        CLF_TRY(clfi_json_opt_bool(value, where, "lstrip", false, &token.lstrip));
        CLF_TRY(clfi_json_opt_bool(value, where, "rstrip", false, &token.rstrip));
        CLF_TRY(clfi_json_opt_bool(value, where, "normalized", !special && !is_special, &token.normalized));
        token.special = is_special || special;
    }
    return clfi_tokenizer_add_token(tokenizer, &token, -1, where);
}

clf_status clfi_tokenizer_add_named(const json_t *config, const char *name, clf_tokenizer *tokenizer)
{
    static const char *const lists[] = {"additional_special_tokens", "extra_special_tokens"};
    char where[WHERE_BYTES];
    const char *key;
    json_t *value;
    size_t index;
    json_object_foreach(json_object_get(config, "added_tokens_decoder"), key, value)
    {
        const char *content = clfi_named_content(value);
        snprintf(where, sizeof where, "%s: added_tokens_decoder: %.40s", name, key);
        CLF_TRY(add(value, content && clfi_named_is_role(config, content), where, tokenizer));
    }
    for (size_t i = 0; i < CLF_TOKEN_ROLE_COUNT; i++) {
        snprintf(where, sizeof where, "%s: %s", name, clfi_token_role_keys[i]);
        CLF_TRY(add(json_object_get(config, clfi_token_role_keys[i]), true, where, tokenizer));
    }
    for (size_t i = 0; i < COUNT(lists); i++) {
        const json_t *list = json_object_get(config, lists[i]);
        snprintf(where, sizeof where, "%s: %s", name, lists[i]);
        json_array_foreach(list, index, value) CLF_TRY(add(value, true, where, tokenizer));
        json_object_foreach((json_t *)list, key, value) CLF_TRY(add(value, true, where, tokenizer));
    }
    return CLF_OK;
}
