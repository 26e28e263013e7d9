/* SPDX-License-Identifier: MIT */
/* Reads the keys tokenizer.ggml.* of GGUF files into a clf_vocabulary_spec and makes a tokenizer of it. */
#include "text/tokenizer_gguf.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/utf8.h"
#include "io/gguf.h"
#include "io/gguf_keys.h"
#include "io/gguf_token_texts.h"
#include "text/absent_tokens.h"
#include "text/vocabulary_cuts.h"
#include "text/vocabulary_spec.h"

/* Memory that the specification points to, beside the file. */
typedef struct parts {
    clf_text *tokens, *merges;
    float *scores;
    int32_t *types;
    char *model, *pre;
} parts;

static void free_parts(parts *p)
{
    free(p->tokens);
    free(p->merges);
    free(p->scores);
    free(p->types);
    free(p->model);
    free(p->pre);
}

static clf_status fail_kind(const clf_gguf *file, const char *key, const char *expected, const clf_gguf_value *value)
{
    if (!value)
        CLF_FAIL(CLF_FORMAT, "%s: %s: expected %s, there is no such key", clfi_gguf_path(file), key, expected);
    if (value->type != CLF_GGUF_ARRAY)
        CLF_FAIL(CLF_FORMAT, "%s: %s: expected %s, found one %s", clfi_gguf_path(file), key, expected, clfi_gguf_type_name(value->type));
    CLF_FAIL(CLF_FORMAT, "%s: %s: expected %s, found an array of %zu %s", clfi_gguf_path(file), key, expected, value->count,
             clfi_gguf_type_name(value->element));
}

/* *out NULL, *out_count 0: the key is absent and that is allowed. */
static clf_status read_texts(const clf_gguf *file, const char *key, bool is_needed, clf_text **out, size_t *out_count)
{
    const clf_gguf_value *value = clfi_gguf_value(file, key);
    clf_gguf_string *strings;
    if (!value && !is_needed)
        return CLF_OK;
    if (!value || value->type != CLF_GGUF_ARRAY || (value->count && value->element != CLF_GGUF_STRING))
        return fail_kind(file, key, "an array of strings", value);
    CLF_TRY(clfi_alloc(value->count, sizeof *strings, key, &strings));
    clf_status st = clfi_alloc(value->count, sizeof **out, key, out);
    if (st == CLF_OK && !clfi_gguf_strings(value, strings))
        st = fail_kind(file, key, "an array of strings", value);
    for (size_t i = 0; st == CLF_OK && i < value->count; i++)
        (*out)[i] = (clf_text){strings[i].data, strings[i].length};
    free(strings);
    *out_count = value->count;
    return st;
}

static clf_status read_scores(const clf_gguf *file, size_t count, float **out)
{
    static const char key[] = CLFI_GGUF_TOKEN_SCORES;
    const clf_gguf_value *value = clfi_gguf_value(file, key);
    if (!value)
        return CLF_OK;
    if (value->type != CLF_GGUF_ARRAY || value->count != count)
        return fail_kind(file, key, "a number for each token", value);
    CLF_TRY(clfi_alloc(count, sizeof **out, key, out));
    for (size_t i = 0; i < count; i++) {
        double score;
        if (!clfi_gguf_number(value, i, &score))
            return fail_kind(file, key, "a number for each token", value);
        if (!isfinite(score) || fabs(score) > FLT_MAX)
            CLF_FAIL(CLF_FORMAT, "%s: %s[%zu]: expected a finite number, found %g", clfi_gguf_path(file), key, i, score);
        (*out)[i] = (float)score;
    }
    return CLF_OK;
}

static clf_status read_types(const clf_gguf *file, size_t count, int32_t **out)
{
    static const char key[] = CLFI_GGUF_TOKEN_TYPES;
    const clf_gguf_value *value = clfi_gguf_value(file, key);
    if (value && (value->type != CLF_GGUF_ARRAY || value->count != count))
        return fail_kind(file, key, "a whole number for each token", value);
    CLF_TRY(clfi_alloc(count, sizeof **out, key, out));
    for (size_t i = 0; !value && i < count; i++)
        (*out)[i] = CLF_TOKEN_NORMAL;
    if (!value)
        return CLF_OK;
    for (size_t i = 0; i < count; i++) {
        int64_t type;
        if (!clfi_gguf_int(value, i, &type) || type < INT32_MIN || type > INT32_MAX)
            return fail_kind(file, key, "a whole number for each token", value);
        (*out)[i] = (int32_t)type;
    }
    return CLF_OK;
}

static clf_status read_name(const clf_gguf *file, const char *key, char **out)
{
    clf_gguf_string text;
    CLF_TRY(clfi_gguf_get_text(file, key, &text));
    return clfi_strndup(text.data, text.length, out);
}

/* *out: the key's id. If the key is absent or names no token: `standard` if there is such a token, else -1 (none). */
static clf_status read_id(const clf_gguf *file, const char *key, int32_t standard, size_t count, int32_t *out)
{
    int64_t id;
    CLF_TRY(clfi_gguf_opt_int(file, key, -1, UINT32_MAX, -1, &id));
    if (id < 0 || id > INT32_MAX) /* some writers store UINT32_MAX for none */
        id = standard >= 0 && (size_t)standard < count ? standard : -1;
    *out = (int32_t)id;
    return CLF_OK;
}

/* Reads the special tokens. The defaults are llama.cpp's: SentencePiece's own ids of its first three tokens, and a bos token if the model
 * or its pre-tokenizer has one. A pre-tokenizer that has one needs the token's id. */
static clf_status read_specials(const clf_gguf *file, clf_vocabulary_spec *spec)
{
    enum { UNKNOWN, BOS, EOS, NONE = -1 };
    const bool is_llama = strcmp(spec->model, "llama") == 0;
    const clf_vocabulary_cut *cut = !is_llama && spec->pre ? clfi_vocabulary_cut_find(spec->pre) : NULL;
    const size_t count = spec->token_count;
    bool bos, eos, space;
    CLF_TRY(read_id(file, CLFI_GGUF_TOKEN_BOS, is_llama ? BOS : NONE, count, &spec->bos));
    CLF_TRY(read_id(file, CLFI_GGUF_TOKEN_EOS, is_llama ? EOS : NONE, count, &spec->eos));
    CLF_TRY(read_id(file, CLFI_GGUF_TOKEN_UNKNOWN, is_llama ? UNKNOWN : NONE, count, &spec->unknown));
    CLF_TRY(read_id(file, CLFI_GGUF_TOKEN_SEPARATOR, NONE, count, &spec->separator));
    CLF_TRY(read_id(file, CLFI_GGUF_TOKEN_PADDING, NONE, count, &spec->padding));
    CLF_TRY(read_id(file, CLFI_GGUF_TOKEN_CLASS, NONE, count, &spec->classification));
    CLF_TRY(read_id(file, CLFI_GGUF_TOKEN_MASK, NONE, count, &spec->mask));
    CLF_TRY(clfi_gguf_opt_bool(file, CLFI_GGUF_TOKEN_ADD_BOS, (is_llama && spec->bos >= 0) || (cut && cut->add_bos), &bos));
    CLF_TRY(clfi_gguf_opt_bool(file, CLFI_GGUF_TOKEN_ADD_EOS, false, &eos));
    CLF_TRY(clfi_gguf_opt_bool(file, CLFI_GGUF_TOKEN_ADD_SPACE, is_llama, &space));
    spec->add_bos = bos;
    spec->add_eos = eos;
    spec->add_space_prefix = space;
    return CLF_OK;
}

/* Corrects the types of tokens whose text says more than the type in the file. */
static clf_status correct_types(const clf_gguf *file, size_t count, int32_t *types)
{
    static const int32_t by_use[] = {[CLF_GGUF_TOKEN_ENDS] = CLF_TOKEN_CONTROL,
                                     [CLF_GGUF_TOKEN_CONTROL] = CLF_TOKEN_CONTROL,
                                     [CLF_GGUF_TOKEN_USER] = CLF_TOKEN_USER_DEFINED,
                                     [CLF_GGUF_TOKEN_SHOWN_END] = CLF_TOKEN_USER_DEFINED,
                                     [CLF_GGUF_TOKEN_NORMAL] = CLF_TOKEN_NORMAL};
    const clf_gguf_value *value = clfi_gguf_value(file, CLFI_GGUF_TOKEN_TOKENS);
    clf_gguf_named_tokens named;
    clf_gguf_string *tokens = NULL;
    unsigned char *uses = NULL;
    clf_status st;
    CLF_TRY(clfi_gguf_named_tokens(file, &named));
    CLF_GOTO(clfi_alloc(count, sizeof *tokens, "tokens", &tokens));
    CLF_GOTO(clfi_alloc(count, sizeof *uses, "uses of tokens", &uses));
    if (value && value->count == count && clfi_gguf_strings(value, tokens))
        clfi_gguf_token_uses(tokens, count, &named, uses);
    for (size_t i = 0; i < count; i++)
        if (by_use[uses[i]])
            types[i] = by_use[uses[i]];
done:
    free(tokens);
    free(uses);
    return st;
}

static bool contains(const clf_gguf_string *text, const char *part)
{
    const size_t size = strlen(part);
    for (size_t i = 0; i + size <= text->length; i++)
        if (strncasecmp(text->data + i, part, size) == 0)
            return true;
    return false;
}

/* The white space that tokens of this file take along. No key says it: as in llama.cpp, the names of the model, its architecture and its
 * pre-tokenizer decide. */
static clf_token_strips strips_of(const clf_gguf *file)
{
    static const struct {
        const char *key, *part;
        clf_token_strips strips;
    } rows[] = {
        {CLFI_GGUF_TOKEN_PRE, "jina-v2-de", {.before = "<mask>"}},
        {CLFI_GGUF_TOKEN_PRE, "jina-v2-es", {.before = "<mask>"}},
        {CLFI_GGUF_TOKEN_PRE, "jina-v2-code", {.before = "<mask>"}},
        {CLFI_GGUF_ARCHITECTURE, "nomic-bert-moe", {.before = "<mask>"}},
        {CLFI_GGUF_ARCHITECTURE, "jina-bert-v3", {.before = "<mask>"}},
        {CLFI_GGUF_NAME, "phi-3", {.is_behind = true}},
        {CLFI_GGUF_NAME, "phi3", {.is_behind = true}},
        {CLFI_GGUF_NAME, "modern-bert", {.before = "[MASK]"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        clf_gguf_string text;
        const clf_gguf_value *value = clfi_gguf_value(file, rows[i].key);
        if (value && clfi_gguf_text(value, &text) && contains(&text, rows[i].part))
            return rows[i].strips;
    }
    return (clf_token_strips){.before = NULL};
}

static clf_status read_spec(const clf_gguf *file, parts *p, clf_vocabulary_spec *spec)
{
    CLF_TRY(read_name(file, CLFI_GGUF_TOKEN_MODEL, &p->model));
    if (clfi_gguf_value(file, CLFI_GGUF_TOKEN_PRE))
        CLF_TRY(read_name(file, CLFI_GGUF_TOKEN_PRE, &p->pre));
    CLF_TRY(read_texts(file, CLFI_GGUF_TOKEN_TOKENS, true, &p->tokens, &spec->token_count));
    CLF_TRY(read_texts(file, CLFI_GGUF_TOKEN_MERGES, strcmp(p->model, "gpt2") == 0, &p->merges, &spec->merge_count));
    CLF_TRY(read_scores(file, spec->token_count, &p->scores));
    CLF_TRY(read_types(file, spec->token_count, &p->types));
    CLF_TRY(correct_types(file, spec->token_count, p->types));
    spec->model = p->model;
    spec->pre = p->pre;
    spec->tokens = p->tokens;
    spec->merges = p->merges;
    spec->scores = p->scores;
    spec->types = p->types;
    return read_specials(file, spec);
}

/* Reads the tokens that `clformer convert` recorded as named and absent. Texts that hold one are refused, as before the conversion. */
static clf_status read_absent(const clf_gguf *file, clf_tokenizer *tokenizer)
{
    clf_text *texts = NULL;
    size_t count = 0;
    clf_status st = read_texts(file, CLFI_GGUF_TOKEN_ABSENT, false, &texts, &count);
    for (size_t i = 0; st == CLF_OK && i < count; i++) {
        char *content = NULL;
        if (clfi_utf8_check((const unsigned char *)texts[i].data, texts[i].size) != texts[i].size)
            st = clfi_fail(CLF_FORMAT, "%s: %s[%zu]: expected UTF-8", clfi_gguf_path(file), CLFI_GGUF_TOKEN_ABSENT, i);
        if (st == CLF_OK)
            st = clfi_strndup(texts[i].data, texts[i].size, &content);
        if (st == CLF_OK)
            st = clfi_absent_tokens_add(content, clfi_gguf_path(file), CLFI_GGUF_TOKEN_ABSENT, tokenizer);
        free(content);
    }
    free(texts);
    return st;
}

clf_status clfi_tokenizer_of_gguf(const clf_gguf *file, clf_tokenizer **out)
{
    clf_vocabulary_spec spec = CLF_VOCABULARY_SPEC_INIT;
    parts p = {.model = NULL};
    clf_tokenizer *made = NULL;
    clf_status st = read_spec(file, &p, &spec);
    if (st == CLF_OK) {
        const clf_token_strips strips = strips_of(file);
        st = clfi_tokenizer_from_spec(&spec, &strips, clfi_gguf_path(file), &made);
    }
    if (st == CLF_OK)
        st = read_absent(file, made);
    if (st == CLF_OK)
        *out = made;
    else
        clf_tokenizer_destroy(made);
    free_parts(&p);
    return st;
}

clf_status clfi_tokenizer_open_gguf(const char *path, clf_tokenizer **out)
{
    clf_gguf *file;
    CLF_TRY(clfi_gguf_open(path, &file));
    const clf_status st = clfi_tokenizer_of_gguf(file, out);
    clfi_gguf_close(file);
    return st;
}
