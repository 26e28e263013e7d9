/* SPDX-License-Identifier: MIT */
/* Writes tokenizers of directories as the keys tokenizer.ggml.* */
#include "text/tokenizer_gguf_put.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/gguf_keys.h"
#include "io/gguf_token_texts.h"
#include "text/tokenizer_files.h"
#include "text/tokenizer_parts.h"
#include "text/vocabulary_export.h"

/* uses[i]: the use that readers of the file infer from the text of token i, if `eos` is the only end token that a key names. */
static clf_status uses_of(const clf_vocabulary_spec *spec, unsigned char **out)
{
    const clf_gguf_named_tokens named = {spec->eos, -1, -1, -1, -1, -1, -1, -1, -1};
    clf_gguf_string *tokens;
    CLF_TRY(clfi_alloc(spec->token_count, sizeof *tokens, "tokens", &tokens));
    const clf_status st = clfi_alloc(spec->token_count, sizeof **out, "uses of tokens", out);
    for (size_t i = 0; st == CLF_OK && i < spec->token_count; i++)
        tokens[i] = (clf_gguf_string){spec->tokens[i].data, spec->tokens[i].size};
    if (st == CLF_OK)
        clfi_gguf_token_uses(tokens, spec->token_count, &named, *out);
    free(tokens);
    return st;
}

/* Puts the end tokens other than eos under the two keys that the format has for them. End tokens that readers recognise by their text need
 * no key, so the others come first. */
static clf_status put_named_ends(const int32_t *ends, size_t count, const unsigned char *uses, clf_vocabulary_spec *spec,
                                 clf_gguf_values *values)
{
    static const char *const keys[] = {CLFI_GGUF_TOKEN_END_OF_TURN, CLFI_GGUF_TOKEN_END_OF_MESSAGE};
    size_t used = 0;
    bool is_among = count == 0;
    for (size_t i = 0; i < count; i++)
        is_among = is_among || ends[i] == spec->eos;
    if (!is_among && spec->add_eos)
        CLF_FAIL(CLF_UNSUPPORTED,
                 "tokenizer.json appends token %d to texts, but it is not in eos_token_id: a GGUF file has one key for both",
                 (int)spec->eos);
    if (!is_among)
        spec->eos = ends[0];
    for (size_t i = 0; i < count; i++)
        if (ends[i] < 0 || (size_t)ends[i] >= spec->token_count)
            CLF_FAIL(CLF_FORMAT, "eos_token_id %d in a vocabulary of %zu tokens", (int)ends[i], spec->token_count);
    for (int is_known = 0; is_known < 2; is_known++)
        for (size_t i = 0; i < count; i++) {
            if (ends[i] == spec->eos || (uses[ends[i]] == CLF_GGUF_TOKEN_ENDS) != is_known || (is_known && used == COUNT(keys)))
                continue;
            if (used == COUNT(keys))
                CLF_FAIL(CLF_UNSUPPORTED,
                         "eos_token_id: %zu tokens end texts: a GGUF file can name three at most, besides those known by their text",
                         count);
            CLF_TRY(clfi_gguf_put_int(values, keys[used++], (uint32_t)ends[i]));
        }
    return CLF_OK;
}

static bool is_end(const int32_t *ends, size_t count, size_t id)
{
    for (size_t i = 0; i < count; i++)
        if ((size_t)ends[i] == id)
            return true;
    return false;
}

static void list_more_ends(const clf_vocabulary_spec *spec, const int32_t *ends, size_t count, const unsigned char *uses,
                           clf_tokenizer_put_notes *out)
{
    size_t used = 0;
    for (size_t i = 0; i < spec->token_count; i++)
        if (uses[i] == CLF_GGUF_TOKEN_ENDS && !is_end(ends, count, i) && used + spec->tokens[i].size + 3 < sizeof out->more_ends)
            used += (size_t)snprintf(out->more_ends + used, sizeof out->more_ends - used, "%s%.*s", used ? ", " : "",
                                     (int)spec->tokens[i].size, spec->tokens[i].data);
}

static clf_status put_ends(const int32_t *ends, size_t count, clf_vocabulary_spec *spec, clf_gguf_values *values,
                           clf_tokenizer_put_notes *out)
{
    unsigned char *uses = NULL;
    clf_status st = uses_of(spec, &uses);
    if (st == CLF_OK)
        st = put_named_ends(ends, count, uses, spec, values);
    if (st == CLF_OK)
        list_more_ends(spec, ends, count, uses, out);
    free(uses);
    return st;
}

static clf_status put_spec(const clf_vocabulary_spec *spec, clf_gguf_values *values)
{
    const bool is_llama = strcmp(spec->model, "llama") == 0;
    const struct {
        const char *key;
        int32_t id;
    } ids[] = {{CLFI_GGUF_TOKEN_BOS, spec->bos},
               {CLFI_GGUF_TOKEN_EOS, spec->eos},
               {CLFI_GGUF_TOKEN_UNKNOWN, spec->unknown},
               {CLFI_GGUF_TOKEN_PADDING, spec->padding},
               {CLFI_GGUF_TOKEN_CLASS, spec->classification},
               {CLFI_GGUF_TOKEN_MASK, spec->mask}};
    CLF_TRY(clfi_gguf_put_text(values, CLFI_GGUF_TOKEN_MODEL, spec->model));
    CLF_TRY(clfi_gguf_put_text(values, CLFI_GGUF_TOKEN_PRE, is_llama ? "default" : spec->pre));
    CLF_TRY(clfi_gguf_put_texts(values, CLFI_GGUF_TOKEN_TOKENS, spec->tokens, spec->token_count));
    CLF_TRY(clfi_gguf_put_ints(values, CLFI_GGUF_TOKEN_TYPES, spec->types, spec->token_count));
    if (is_llama)
        CLF_TRY(clfi_gguf_put_numbers(values, CLFI_GGUF_TOKEN_SCORES, spec->scores, spec->token_count));
    else
        CLF_TRY(clfi_gguf_put_texts(values, CLFI_GGUF_TOKEN_MERGES, spec->merges, spec->merge_count));
    for (size_t i = 0; i < COUNT(ids); i++)
        if (ids[i].id >= 0)
            CLF_TRY(clfi_gguf_put_int(values, ids[i].key, (uint32_t)ids[i].id));
    CLF_TRY(clfi_gguf_put_bool(values, CLFI_GGUF_TOKEN_ADD_BOS, spec->add_bos));
    CLF_TRY(clfi_gguf_put_bool(values, CLFI_GGUF_TOKEN_ADD_EOS, spec->add_eos));
    return is_llama ? clfi_gguf_put_bool(values, CLFI_GGUF_TOKEN_ADD_SPACE, spec->add_space_prefix) : CLF_OK;
}

static clf_status put_absent(const json_t *absent, clf_gguf_values *values)
{
    const char *content;
    size_t length, count = 0;
    json_t *where;
    clf_text *texts;
    if (json_object_size(absent) == 0)
        return CLF_OK;
    CLF_TRY(clfi_alloc(json_object_size(absent), sizeof *texts, "tokens", &texts));
    json_object_keylen_foreach((json_t *)absent, content, length, where)
    {
        texts[count++] = (clf_text){content, length};
    }
    const clf_status st = clfi_gguf_put_texts(values, CLFI_GGUF_TOKEN_ABSENT, texts, count);
    free(texts);
    return st;
}

clf_status clfi_tokenizer_put_gguf(const char *directory, size_t rows, int32_t bos, const int32_t *ends, size_t end_count,
                                   clf_gguf_values *values, clf_tokenizer_put_notes *out)
{
    clf_vocabulary_export export = CLF_VOCABULARY_EXPORT_INIT;
    char *place;
    *out = (clf_tokenizer_put_notes){.leaves_nfc = false};
    CLF_TRY(clfi_tokenizer_place(directory, &place));
    clf_status st = clfi_vocabulary_export(place, rows, &export);
    free(place);
    if (st == CLF_OK && export.spec.bos < 0 && bos >= 0 && (size_t)bos < rows)
        export.spec.bos = bos;
    if (st == CLF_OK)
        st = put_ends(ends, end_count, &export.spec, values, out);
    if (st == CLF_OK)
        st = put_spec(&export.spec, values);
    if (st == CLF_OK)
        st = put_absent(export.tokenizer->absent, values);
    out->absent = export.tokenizer ? json_object_size(export.tokenizer->absent) : 0;
    out->leaves_nfc = export.leaves_nfc;
    clfi_vocabulary_export_free(&export);
    return st;
}
