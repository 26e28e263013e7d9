/* SPDX-License-Identifier: MIT */
/* Makes tokenizers from a vocabulary: "gpt2" and "llama" of GGUF files. Their small parts are written in tokenizer.json's form and read by
 * the same tables as that file. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/options.h"
#include "base/utf8.h"
#include "io/json.h"
#include "text/bpe.h"
#include "text/tokenizer_parts.h"
#include "text/vocabulary_cuts.h"
#include "text/vocabulary_spec.h"

CLFI_OPTIONS(clf_vocabulary_spec, CLF_VOCABULARY_SPEC_INIT)

#define SPACES "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"\u2581\"}"
#define LLAMA(prefix, strip)                                                                                                        \
    "{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[" prefix SPACES "]},\"decoder\":{\"type\":\"Sequence\",\"decoders\":[" \
    "{\"type\":\"Replace\",\"pattern\":{\"String\":\"\u2581\"},\"content\":\" "                                                     \
    "\"},{\"type\":\"CharacterFallback\"},{\"type\":\"Fuse\"}" strip "]}}"

static const char llama_with_space[] =
    LLAMA("{\"type\":\"Prepend\",\"prepend\":\"\u2581\"},", ",{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":0}");
static const char llama_without_space[] = LLAMA("", "");

static clf_status check_spec(const clf_vocabulary_spec *spec, const char *name)
{
    const int32_t ids[] = {spec->bos, spec->eos, spec->unknown, spec->separator, spec->padding, spec->classification, spec->mask};
    if (!spec->model || (spec->token_count && !spec->tokens) || (spec->merge_count && !spec->merges))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: expected a model, tokens and merges, found NULL", name);
    if (spec->token_count > CLFI_VOCABULARY_MAX_ID + (size_t)1)
        CLF_FAIL(CLF_FORMAT, "%s: %zu tokens: expected at most %d", name, spec->token_count, CLFI_VOCABULARY_MAX_ID + 1);
    for (size_t i = 0; i < COUNT(ids); i++)
        if (ids[i] < -1 || (ids[i] >= 0 && (size_t)ids[i] >= spec->token_count))
            CLF_FAIL(CLF_FORMAT, "%s: special token id %d in a vocabulary of %zu tokens", name, (int)ids[i], spec->token_count);
    if ((spec->add_bos && spec->bos < 0) || (spec->add_eos && spec->eos < 0))
        CLF_FAIL(CLF_FORMAT, "%s: texts get a %s token, and none is named", name, spec->add_bos && spec->bos < 0 ? "bos" : "eos");
    return CLF_OK;
}

static clf_status check_text(const clf_text *text, const char *what, size_t index, const char *name)
{
    if (text->size && !text->data)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: %s %zu: found NULL", name, what, index);
    if (clfi_utf8_check((const unsigned char *)text->data, text->size) != text->size ||
        (text->size && memchr(text->data, '\0', text->size)))
        CLF_FAIL(CLF_FORMAT, "%s: %s %zu is not UTF-8 without U+0000", name, what, index);
    return CLF_OK;
}

static clf_status fill_vocabulary(const clf_vocabulary_spec *spec, const char *name, clf_vocabulary *vocabulary)
{
    for (size_t i = 0; i < spec->token_count; i++) {
        CLF_TRY(check_text(&spec->tokens[i], "token", i, name));
        CLF_TRY(clfi_vocabulary_add(vocabulary, spec->tokens[i].size ? spec->tokens[i].data : "", spec->tokens[i].size, (int64_t)i));
    }
    return clfi_vocabulary_index(vocabulary, 0);
}

static clf_status add_merges(const clf_vocabulary_spec *spec, const char *name, clf_bpe *bpe)
{
    for (size_t i = 0; i < spec->merge_count; i++) {
        const clf_text *merge = &spec->merges[i];
        CLF_TRY(check_text(merge, "merge", i, name));
        const char *space = merge->size > 1 ? memchr(merge->data + 1, ' ', merge->size - 1) : NULL; /* the left one may itself be a space */
        if (!space)
            CLF_FAIL(CLF_FORMAT, "%s: merge %zu: expected two tokens with a space between, found \"%.*s\"", name, i,
                     (int)(merge->size < 80 ? merge->size : 80), merge->data);
        const size_t left = (size_t)(space - merge->data);
        CLF_TRY(clfi_bpe_add_merge(bpe, merge->data, left, space + 1, merge->size - left - 1, (uint32_t)i, name));
    }
    return CLF_OK;
}

static clf_status create_model(const clf_vocabulary_spec *spec, const clf_bpe_settings *settings, const char *name,
                               clf_tokenizer *tokenizer)
{
    clf_vocabulary vocabulary = CLF_VOCABULARY_INIT;
    clf_bpe *bpe;
    clf_status st = fill_vocabulary(spec, name, &vocabulary);
    if (st != CLF_OK) {
        clfi_vocabulary_free(&vocabulary);
        return st;
    }
    CLF_TRY(clfi_bpe_create(&vocabulary, settings, name, &bpe));
    tokenizer->kind = &clfi_bpe_kind; /* the tokenizer owns the model from here */
    tokenizer->model = bpe;
    return settings->byte_fallback ? clfi_bpe_add_scores(bpe, spec->scores, spec->token_count, name) : add_merges(spec, name, bpe);
}

/* Whether the token leaves the white space beside it even where other tokens take it. */
static bool keeps_space(const char *content)
{
    return strcmp(content, "<unk>") == 0 || strcmp(content, "<s>") == 0 || strcmp(content, "<|endoftext|>") == 0;
}

/* Makes added tokens of control, unknown and the user's own tokens, which are then found in texts. */
static clf_status add_tokens(const clf_vocabulary_spec *spec, const clf_token_strips *strips, const char *name, clf_tokenizer *tokenizer)
{
    for (size_t i = 0; spec->types && i < spec->token_count; i++) {
        const int32_t type = spec->types[i];
        const char *content = clf_tokenizer_token(tokenizer, (int32_t)i);
        if (type != CLF_TOKEN_CONTROL && type != CLF_TOKEN_USER_DEFINED && type != CLF_TOKEN_UNKNOWN)
            continue;
        if (!content || !*content) /* a later token has the same text */
            continue;
        const clf_added_token token = {.content = content,
                                       .size = strlen(content),
                                       .special = type != CLF_TOKEN_USER_DEFINED,
                                       .lstrip = strips->before && strcmp(content, strips->before) == 0,
                                       .rstrip = strips->is_behind && !keeps_space(content),
                                       .strips_ascii = true};
        CLF_TRY(clfi_tokenizer_add_token(tokenizer, &token, -1, name));
    }
    return CLF_OK;
}

static clf_status read_parts(const char *text, const char *name, clf_tokenizer *tokenizer)
{
    json_t *root;
    CLF_TRY(clfi_json_parse(text, strlen(text), name, &root));
    const clf_status st = clfi_tokenizer_read_chains(root, name, tokenizer);
    json_decref(root);
    return st;
}

static clf_status build_gpt2(const clf_vocabulary_spec *spec, bool drops_first, const char *name, clf_tokenizer *tokenizer)
{
    const clf_vocabulary_cut *cut = clfi_vocabulary_cut_find(spec->pre ? spec->pre : CLFI_VOCABULARY_CUT_DEFAULT);
    tokenizer->assumes_cut = !spec->pre;
    if (cut) {
        const clf_bpe_settings settings = {.continuation_prefix = "",
                                           .end_suffix = "",
                                           .keeps_unknown = !drops_first,
                                           .first_merge_counts = true,
                                           .ignore_merges = cut->ignore_merges};
        CLF_TRY(create_model(spec, &settings, name, tokenizer));
        return read_parts(cut->parts, name, tokenizer);
    }
    clf_str names = CLF_STR_INIT;
    clf_status st = clfi_vocabulary_cut_names(&names);
    if (st == CLF_OK)
        st = clfi_fail(CLF_UNSUPPORTED, "%s: pre-tokenizer \"%s\"; known are %s", name, spec->pre, clfi_str_text(&names));
    clfi_str_free(&names);
    return st;
}

static clf_status build_llama(const clf_vocabulary_spec *spec, const char *name, clf_tokenizer *tokenizer)
{
    clf_bpe_settings settings = {.continuation_prefix = "", .end_suffix = "", .fuse_unknown = true, .byte_fallback = true};
    char *unknown = NULL;
    if (!spec->scores)
        CLF_FAIL(CLF_FORMAT, "%s: a llama vocabulary without scores", name);
    if (spec->unknown >= 0) {
        const clf_text *token = &spec->tokens[spec->unknown];
        CLF_TRY(check_text(token, "token", (size_t)spec->unknown, name));
        CLF_TRY(clfi_strndup(token->data, token->size, &unknown));
    }
    settings.unknown = unknown;
    const clf_status st = create_model(spec, &settings, name, tokenizer);
    free(unknown);
    return st == CLF_OK ? read_parts(spec->add_space_prefix ? llama_with_space : llama_without_space, name, tokenizer) : st;
}

static clf_status build(const clf_vocabulary_spec *spec, const clf_token_strips *strips, const char *name, clf_tokenizer *tokenizer)
{
    CLF_TRY(check_spec(spec, name));
    if (strcmp(spec->model, "gpt2") == 0)
        CLF_TRY(build_gpt2(spec, strips->drops_first, name, tokenizer));
    else if (strcmp(spec->model, "llama") == 0)
        CLF_TRY(build_llama(spec, name, tokenizer));
    else
        CLF_FAIL(CLF_UNSUPPORTED, "%s: tokenizer model \"%s\"; known are gpt2 and llama", name, spec->model);
    CLF_TRY(add_tokens(spec, strips, name, tokenizer));
    clfi_post_processor_free(&tokenizer->post_processor);
    CLF_TRY(clfi_post_processor_around(spec->add_bos ? spec->bos : -1, spec->add_eos ? spec->eos : -1, &tokenizer->post_processor));
    tokenizer->roles[CLF_TOKEN_BOS] = spec->bos;
    tokenizer->roles[CLF_TOKEN_EOS] = spec->eos;
    tokenizer->roles[CLF_TOKEN_UNK] = spec->unknown;
    tokenizer->roles[CLF_TOKEN_SEP] = spec->separator;
    tokenizer->roles[CLF_TOKEN_PAD] = spec->padding;
    tokenizer->roles[CLF_TOKEN_CLS] = spec->classification;
    tokenizer->roles[CLF_TOKEN_MASK] = spec->mask;
    return clfi_tokenizer_finish(tokenizer, name);
}

clf_status clfi_tokenizer_from_spec(const clf_vocabulary_spec *spec, const clf_token_strips *strips, const char *name, clf_tokenizer **out)
{
    clf_tokenizer *tokenizer;
    CLF_TRY(clfi_tokenizer_create(&tokenizer));
    const clf_status st = build(spec, strips, name, tokenizer);
    if (st == CLF_OK)
        *out = tokenizer;
    else
        clf_tokenizer_destroy(tokenizer);
    return st;
}

clf_status clf_tokenizer_from_vocabulary(const clf_vocabulary_spec *spec, const char *name, clf_tokenizer **out)
{
    const clf_token_strips none = {.before = NULL};
    clf_vocabulary_spec own;
    if (!spec || !name || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tokenizer: expected a vocabulary, a name and a place for the tokenizer, found NULL");
    CLF_TRY(clf_vocabulary_spec_read(spec, &own));
    return clfi_tokenizer_from_spec(&own, &none, name, out);
}
