/* SPDX-License-Identifier: MIT */
/* The lists of texts: https://github.com/ggml-org/llama.cpp/blob/master/src/llama-vocab.cpp (llama_vocab::impl::load). */
#include "io/gguf_token_texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/gguf_keys.h"

enum { MOST_TEXTS = 8 };

static const char *const ends[] = {
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|flush|>",
    "<|calls|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "</s>",
    "<|eom_id|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "<eos>",
    "<turn|>",
    "<|tool_response>",
    "<\uff5cend\u2581of\u2581sentence\uff5c>",
    "[e~[",
};

/* Channels of a text that are shown. */
static const char *const shown[] = {"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"};

/* Tokens of filling in the middle. Each sort has one token: that of its key, or else the first with one of its texts. The last three end a
 * text. */
static const struct {
    const char *keys[2]; /* the second: its older name */
    size_t place;
    bool ends;
    const char *texts[MOST_TEXTS];
} fills[] = {
    {{CLFI_GGUF_TOKEN_FILL "pre_token_id", CLFI_GGUF_TOKEN_OLD_FILL "prefix_token_id"},
     offsetof(clf_gguf_named_tokens, fill_prefix),
     false,
     {"<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<\uff5cfim\u2581begin\uff5c>", "<PRE>", "\u2581<PRE>", "<|code_prefix|>",
      "<|prefix|>"}},
    {{CLFI_GGUF_TOKEN_FILL "suf_token_id", CLFI_GGUF_TOKEN_OLD_FILL "suffix_token_id"},
     offsetof(clf_gguf_named_tokens, fill_suffix),
     false,
     {"<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<\uff5cfim\u2581hole\uff5c>", "<SUF>", "\u2581<SUF>", "<|code_suffix|>",
      "<|suffix|>"}},
    {{CLFI_GGUF_TOKEN_FILL "mid_token_id", CLFI_GGUF_TOKEN_OLD_FILL "middle_token_id"},
     offsetof(clf_gguf_named_tokens, fill_middle),
     false,
     {"<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<\uff5cfim\u2581end\uff5c>", "<MID>", "\u2581<MID>", "<|code_middle|>",
      "<|middle|>"}},
    {{CLFI_GGUF_TOKEN_FILL "pad_token_id"},
     offsetof(clf_gguf_named_tokens, fill_pad),
     true,
     {"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"}},
    {{CLFI_GGUF_TOKEN_FILL "rep_token_id"},
     offsetof(clf_gguf_named_tokens, fill_repository),
     true,
     {"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"}},
    {{CLFI_GGUF_TOKEN_FILL "sep_token_id"}, offsetof(clf_gguf_named_tokens, fill_separator), true, {"<|file_sep|>"}},
};

static int32_t *place_of(clf_gguf_named_tokens *named, size_t place)
{
    return (int32_t *)(void *)((char *)named + place);
}

/* Some writers store the largest number for "none". */
static clf_status read_id(const clf_gguf *file, const char *key, int32_t *out)
{
    int64_t id;
    if (!key || !clfi_gguf_value(file, key))
        return CLF_OK;
    CLF_TRY(clfi_gguf_get_int(file, key, -1, UINT32_MAX, &id));
    *out = id >= 0 && id <= INT32_MAX ? (int32_t)id : -1;
    return CLF_OK;
}

/* Reads the id of a token that ends texts. An id outside the vocabulary is refused, because it would never end one. */
static clf_status read_end(const clf_gguf *file, const char *key, int32_t *out)
{
    const clf_gguf_value *tokens = clfi_gguf_value(file, CLFI_GGUF_TOKEN_TOKENS);
    CLF_TRY(read_id(file, key, out));
    if (tokens && *out >= 0 && (uint64_t)*out >= tokens->count)
        CLF_FAIL(CLF_FORMAT, "%s: %s is %d: expected one of the %zu tokens", clfi_gguf_path(file), key, (int)*out, tokens->count);
    return CLF_OK;
}

/* The end of texts where no key names one: SentencePiece's own id; -1: none. llama.cpp has such a default for BPE too, GPT-2's comma. */
static int32_t standard_end(const clf_gguf *file)
{
    enum { EOS = 2 };
    static const char llama[] = "llama";
    const clf_gguf_value *model = clfi_gguf_value(file, CLFI_GGUF_TOKEN_MODEL), *tokens = clfi_gguf_value(file, CLFI_GGUF_TOKEN_TOKENS);
    clf_gguf_string name;
    const bool is_llama =
        model && clfi_gguf_text(model, &name) && name.length == sizeof llama - 1 && memcmp(name.data, llama, name.length) == 0;
    return is_llama && tokens && tokens->count > EOS ? EOS : -1;
}

clf_status clfi_gguf_named_tokens(const clf_gguf *file, clf_gguf_named_tokens *out)
{
    *out = (clf_gguf_named_tokens){-1, -1, -1, -1, -1, -1, -1, -1, -1};
    CLF_TRY(read_end(file, CLFI_GGUF_TOKEN_EOS, &out->eos));
    if (out->eos < 0)
        out->eos = standard_end(file);
    CLF_TRY(read_end(file, CLFI_GGUF_TOKEN_END_OF_TURN, &out->end_of_turn));
    CLF_TRY(read_end(file, CLFI_GGUF_TOKEN_END_OF_MESSAGE, &out->end_of_message));
    for (size_t i = 0; i < COUNT(fills); i++)
        for (size_t k = 0; k < COUNT(fills[i].keys); k++)
            CLF_TRY(read_id(file, fills[i].keys[k], place_of(out, fills[i].place)));
    return CLF_OK;
}

static bool is_text(const clf_gguf_string *token, const char *text)
{
    return token->length == strlen(text) && memcmp(token->data, text, token->length) == 0;
}

static bool is_among(const clf_gguf_string *token, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count && texts[i]; i++)
        if (is_text(token, texts[i]))
            return true;
    return false;
}

/* All texts of the lists begin with one of these, and none is longer. */
static bool may_be_special(const clf_gguf_string *token)
{
    enum { LONGEST = 40 };
    return token->length > 2 && token->length <= LONGEST && (strchr("<[_", token->data[0]) || (unsigned char)token->data[0] == 0xe2);
}

/* If a vocabulary has all texts of `present`, the token `victim` does not end a text. */
static const struct {
    const char *present[2], *victim;
    clf_gguf_token_use use;
} exceptions[] = {
    {{"<|return|>", "<|call|>"}, "<|end|>", CLF_GGUF_TOKEN_USER}, /* what ends a channel */
    {{"<|return|>", "<|calls|>"}, "<|end|>", CLF_GGUF_TOKEN_USER},
    {{"<|call|>", "<|flush|>"}, "<|end|>", CLF_GGUF_TOKEN_USER},
    {{"<|calls|>", "<|flush|>"}, "<|end|>", CLF_GGUF_TOKEN_USER},
    {{"<|tool_response>", "<|tool_response>"}, "</s>", CLF_GGUF_TOKEN_NORMAL},
};

static bool does_end(unsigned char use)
{
    return use == CLF_GGUF_TOKEN_ENDS || use == CLF_GGUF_TOKEN_NAMED_END || use == CLF_GGUF_TOKEN_SHOWN_END;
}

/* The use of a token that a key names as an end, beside what its text says. */
static unsigned char named_end(unsigned char use)
{
    if (use == CLF_GGUF_TOKEN_ENDS)
        return use;
    return use == CLF_GGUF_TOKEN_USER || use == CLF_GGUF_TOKEN_SHOWN_END ? CLF_GGUF_TOKEN_SHOWN_END : CLF_GGUF_TOKEN_NAMED_END;
}

static size_t find_end(const clf_gguf_string *tokens, size_t count, const unsigned char *uses, const char *text)
{
    size_t i = 0;
    while (i < count && !(does_end(uses[i]) && is_text(&tokens[i], text)))
        i++;
    return i;
}

static void name_fill(const clf_gguf_string *tokens, size_t count, size_t fill, const clf_gguf_named_tokens *named, unsigned char *uses)
{
    int32_t id;
    memcpy(&id, (const char *)named + fills[fill].place, sizeof id);
    const bool has_key = id >= 0;
    for (size_t i = 0; id < 0 && i < count; i++)
        if (may_be_special(&tokens[i]) && is_among(&tokens[i], fills[fill].texts, MOST_TEXTS))
            id = (int32_t)i;
    if (id < 0 || (size_t)id >= count || uses[id] == CLF_GGUF_TOKEN_ENDS || (has_key && !fills[fill].ends))
        return;
    uses[id] = has_key ? named_end(uses[id]) : fills[fill].ends ? CLF_GGUF_TOKEN_ENDS : CLF_GGUF_TOKEN_CONTROL;
}

void clfi_gguf_token_uses(const clf_gguf_string *tokens, size_t count, const clf_gguf_named_tokens *named, unsigned char *uses)
{
    const int32_t keys[] = {named->eos, named->end_of_turn, named->end_of_message};
    for (size_t i = 0; i < count; i++) {
        uses[i] = CLF_GGUF_TOKEN_PLAIN;
        if (!may_be_special(&tokens[i]))
            continue;
        if (is_among(&tokens[i], ends, COUNT(ends)))
            uses[i] = CLF_GGUF_TOKEN_ENDS;
        else if (is_among(&tokens[i], shown, COUNT(shown)))
            uses[i] = CLF_GGUF_TOKEN_USER;
    }
    for (size_t i = 0; i < COUNT(fills); i++)
        name_fill(tokens, count, i, named, uses);
    for (size_t i = 0; i < COUNT(keys); i++)
        if (keys[i] >= 0 && (size_t)keys[i] < count)
            uses[keys[i]] = named_end(uses[keys[i]]);
    for (size_t i = 0; i < COUNT(exceptions); i++) {
        const size_t victim = find_end(tokens, count, uses, exceptions[i].victim);
        if (victim < count && find_end(tokens, count, uses, exceptions[i].present[0]) < count &&
            find_end(tokens, count, uses, exceptions[i].present[1]) < count)
            uses[victim] = (unsigned char)exceptions[i].use;
    }
}

typedef struct id_list {
    int32_t *ids;
    size_t count, capacity;
} id_list;

static clf_status add_id(id_list *list, int32_t id)
{
    CLF_TRY(clfi_grow(&list->ids, &list->capacity, list->count + 1, sizeof *list->ids, "end tokens"));
    list->ids[list->count++] = id;
    return CLF_OK;
}

static bool is_id_among(int32_t id, const int32_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

static clf_status list_ends(const clf_gguf_value *value, const clf_gguf_named_tokens *named, clf_gguf_string *tokens, unsigned char *uses,
                            id_list *list)
{
    const int32_t keys[] = {named->eos, named->end_of_turn, named->end_of_message};
    const size_t count = value && clfi_gguf_strings(value, tokens) ? value->count : 0;
    clfi_gguf_token_uses(tokens, count, named, uses);
    for (size_t i = 0; i < COUNT(keys); i++)
        if (keys[i] >= 0 && !is_id_among(keys[i], keys, i) && ((size_t)keys[i] >= count || does_end(uses[keys[i]])))
            CLF_TRY(add_id(list, keys[i]));
    for (size_t i = 0; i < count; i++)
        if (does_end(uses[i]) && !is_id_among((int32_t)i, keys, COUNT(keys)))
            CLF_TRY(add_id(list, (int32_t)i));
    return CLF_OK;
}

clf_status clfi_gguf_end_tokens(const clf_gguf *file, int32_t **out, size_t *out_count)
{
    const clf_gguf_value *value = clfi_gguf_value(file, CLFI_GGUF_TOKEN_TOKENS);
    const size_t count = value && value->element == CLF_GGUF_STRING && value->count <= INT32_MAX ? value->count : 0;
    clf_gguf_named_tokens named;
    clf_gguf_string *tokens = NULL;
    unsigned char *uses = NULL;
    id_list list = {NULL, 0, 0};
    clf_status st;
    CLF_TRY(clfi_gguf_named_tokens(file, &named));
    CLF_GOTO(clfi_alloc(count, sizeof *tokens, "tokens", &tokens));
    CLF_GOTO(clfi_alloc(count, sizeof *uses, "uses of tokens", &uses));
    CLF_GOTO(list_ends(count ? value : NULL, &named, tokens, uses, &list));
    *out = list.ids;
    *out_count = list.count;
    list.ids = NULL;
done:
    free(list.ids);
    free(tokens);
    free(uses);
    return st;
}
