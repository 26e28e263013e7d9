/* SPDX-License-Identifier: MIT */
#include "text/absent_tokens.h"

#include <string.h>

clf_status clfi_absent_tokens_add(const char *content, const char *name, const char *key, clf_tokenizer *tokenizer)
{
    if (!content[0] || clf_tokenizer_id(tokenizer, content) >= 0)
        return CLF_OK;
    if (!tokenizer->absent)
        tokenizer->absent = json_object();
    if (json_object_set_new(tokenizer->absent, content, json_sprintf("%s: %s", name, key)) != 0)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "%s: not enough memory for the tokens that it names", name);
    return CLF_OK;
}

/* value: a token as the configuration writes it. */
static clf_status add(const json_t *value, const char *name, const char *key, clf_tokenizer *tokenizer)
{
    const char *content = clfi_named_content(value);
    return content ? clfi_absent_tokens_add(content, name, key, tokenizer) : CLF_OK;
}

static clf_status add_all(const json_t *list, const char *name, const char *key, clf_tokenizer *tokenizer)
{
    const char *inner;
    json_t *value;
    size_t i;
    json_array_foreach(list, i, value) CLF_TRY(add(value, name, key, tokenizer));
    if (!json_object_get(list, "content"))
        json_object_foreach((json_t *)list, inner, value) CLF_TRY(add(value, name, inner, tokenizer));
    return CLF_OK;
}

clf_status clfi_absent_tokens_read(const json_t *config, const char *name, clf_tokenizer *tokenizer)
{
    static const char *const lists[] = {"additional_special_tokens", "extra_special_tokens", "model_specific_special_tokens",
                                        "added_tokens_decoder"};
    static const char end[] = "_token";
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)config, key, value)
    {
        const size_t length = strlen(key), tail = sizeof end - 1;
        if (length > tail && strcmp(key + length - tail, end) == 0)
            CLF_TRY(add(value, name, key, tokenizer));
    }
    for (size_t i = 0; i < COUNT(lists); i++)
        CLF_TRY(add_all(json_object_get(config, lists[i]), name, lists[i], tokenizer));
    return CLF_OK;
}

clf_status clfi_absent_tokens_check(const clf_tokenizer *tokenizer, const char *text, size_t start, size_t end, size_t size)
{
    const char *content;
    size_t length;
    json_t *where;
    json_object_keylen_foreach(tokenizer->absent, content, length, where)
    {
        const size_t last = size - end < length - 1 ? size : end + length - 1;
        if (memmem(text + start, last - start, content, length))
            CLF_FAIL(CLF_UNSUPPORTED,
                     "the text holds \"%.80s\", which %s names as a token: the vocabulary has none (transformers would append it: "
                     "list it under added_tokens of tokenizer.json, or remove the key)",
                     content, json_string_value(where));
    }
    return CLF_OK;
}
