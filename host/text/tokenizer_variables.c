/* SPDX-License-Identifier: MIT */
/* Makes the variables with special tokens that chat templates see. */
#include "text/tokenizer_variables.h"

#include <string.h>

#include "text/tokenizer.h"
#include "text/tokenizer_parts.h"

/* Tokenizer classes of chat models, with the tokens that they have if no file names them (transformers 5). */
static const struct {
    const char *names[6]; /* of the class, and of the model types that have it */
    const char *tokens[CLF_TOKEN_ROLE_COUNT];
} classes[] = {
#define END "<|endoftext|>"
    {{"LlamaTokenizer", "CodeLlamaTokenizer"}, {[CLF_TOKEN_UNK] = "<unk>", [CLF_TOKEN_BOS] = "<s>", [CLF_TOKEN_EOS] = "</s>"}},
    {{"Qwen2Tokenizer", "qwen2", "qwen3"}, {[CLF_TOKEN_UNK] = END, [CLF_TOKEN_EOS] = END, [CLF_TOKEN_PAD] = END}},
    {{"GPT2Tokenizer", "gpt2"}, {[CLF_TOKEN_UNK] = END, [CLF_TOKEN_BOS] = END, [CLF_TOKEN_EOS] = END}},
    {{"GPTNeoXTokenizer", "gpt_neox"},
     {[CLF_TOKEN_UNK] = END, [CLF_TOKEN_BOS] = END, [CLF_TOKEN_EOS] = END, [CLF_TOKEN_PAD] = "<|padding|>"}},
    {{"GemmaTokenizer", "gemma", "gemma2", "gemma3", "gemma3_text"},
     {[CLF_TOKEN_UNK] = "<unk>",
      [CLF_TOKEN_BOS] = "<bos>",
      [CLF_TOKEN_EOS] = "<eos>",
      [CLF_TOKEN_PAD] = "<pad>",
      [CLF_TOKEN_MASK] = "<mask>"}},
    {{"CohereTokenizer", "cohere"},
     {[CLF_TOKEN_UNK] = "<UNK>",
      [CLF_TOKEN_BOS] = "<BOS_TOKEN>",
      [CLF_TOKEN_EOS] = "<|END_OF_TURN_TOKEN|>",
      [CLF_TOKEN_PAD] = "<PAD>",
      [CLF_TOKEN_CLS] = "<CLS>",
      [CLF_TOKEN_SEP] = "<SEP>",
      [CLF_TOKEN_MASK] = "<MASK_TOKEN>"}},
#undef END
};

static clf_status out_of_memory(void)
{
    CLF_FAIL(CLF_OUT_OF_MEMORY, "out of memory: special tokens of a tokenizer");
}

/* Adds the token's text; a value that is no token is left out. */
static clf_status put(json_t *to, const char *name, const json_t *value)
{
    const char *content = clfi_named_content(value);
    return !content || json_object_set_new(to, name, json_string(content)) == 0 ? CLF_OK : out_of_memory();
}

static clf_status put_all(json_t *to, const json_t *named)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)named, name, value) CLF_TRY(put(to, name, value));
    return CLF_OK;
}

static clf_status put_standards(json_t *to, const json_t *config, const char *class_name)
{
    for (size_t i = 0; i < COUNT(classes); i++)
        for (size_t k = 0; k < COUNT(classes[i].names) && classes[i].names[k]; k++)
            for (size_t role = 0; role < CLF_TOKEN_ROLE_COUNT && strcmp(classes[i].names[k], class_name) == 0; role++)
                if (classes[i].tokens[role] && !json_object_get(config, clfi_token_role_keys[role]) &&
                    json_object_set_new(to, clfi_token_role_keys[role], json_string(classes[i].tokens[role])) != 0)
                    return out_of_memory();
    return CLF_OK;
}

static clf_status put_config(json_t *to, const json_t *config)
{
    static const char *const objects[] = {"additional_special_tokens", "extra_special_tokens", "model_specific_special_tokens"};
    static const char end[] = "_token";
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)config, name, value)
    {
        const size_t length = strlen(name);
        if (length >= sizeof end - 1 && strcmp(name + length - (sizeof end - 1), end) == 0)
            CLF_TRY(put(to, name, value));
    }
    for (size_t i = 0; i < COUNT(objects); i++)
        CLF_TRY(put_all(to, json_object_get(config, objects[i])));
    return CLF_OK;
}

clf_status clfi_tokenizer_read_variables(const json_t *config, const char *class_name, json_t **out)
{
    json_t *variables = json_object();
    clf_status st = variables ? put_standards(variables, config, class_name) : out_of_memory();
    if (st == CLF_OK)
        st = put_config(variables, config);
    if (st == CLF_OK)
        *out = variables;
    else
        json_decref(variables);
    return st;
}

const json_t *clfi_tokenizer_chat_tokens(const clf_tokenizer *tokenizer)
{
    return tokenizer->chat_tokens;
}

clf_status clfi_tokenizer_variables(const clf_tokenizer *tokenizer, json_t **out)
{
    json_t *variables = tokenizer->variables ? json_copy(tokenizer->variables) : json_object();
    bool is_whole = variables && json_object_size(variables) >= json_object_size(tokenizer->variables);
    for (size_t i = 0; i < CLF_TOKEN_ROLE_COUNT && !tokenizer->variables; i++) {
        const char *text = clf_tokenizer_token(tokenizer, tokenizer->roles[i]);
        is_whole = is_whole && (!text || json_object_set_new(variables, clfi_token_role_keys[i], json_string(text)) == 0);
    }
    if (!is_whole) {
        json_decref(variables);
        return out_of_memory();
    }
    *out = variables;
    return CLF_OK;
}
