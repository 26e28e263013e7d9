/* SPDX-License-Identifier: MIT */
/* Tokenizers of directories as the keys tokenizer.ggml.* */
#include "text/tokenizer_gguf_put.h"

#include <string.h>

#include "io/gguf_keys.h"
#include "text/vocabulary_export.h"

/* Tokens behind the first that end texts have names of their own. */
static clf_status put_ends(const int32_t *ends, size_t count, clf_vocabulary_spec *spec, clf_gguf_values *values)
{
    static const char *const keys[] = {CLFI_GGUF_TOKEN_END_OF_TURN, CLFI_GGUF_TOKEN_END_OF_MESSAGE};
    size_t used = 0;
    bool is_among = count == 0;
    for (size_t i = 0; i < count; i++)
        is_among = is_among || ends[i] == spec->eos;
    if (!is_among && spec->add_eos)
        CLF_FAIL(CLF_UNSUPPORTED, "tokenizer.json puts token %d behind texts, and it is none that ends them: a GGUF file has one for both",
                 (int)spec->eos);
    if (!is_among)
        spec->eos = ends[0];
    for (size_t i = 0; i < count; i++) {
        if (ends[i] < 0 || (size_t)ends[i] >= spec->token_count)
            CLF_FAIL(CLF_FORMAT, "eos_token_id %d in a vocabulary of %zu tokens", (int)ends[i], spec->token_count);
        if (ends[i] == spec->eos)
            continue;
        if (used == COUNT(keys))
            CLF_FAIL(CLF_UNSUPPORTED, "eos_token_id: %zu tokens end texts: a GGUF file has three at most", count);
        CLF_TRY(clfi_gguf_put_int(values, keys[used++], (uint32_t)ends[i]));
    }
    return CLF_OK;
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
               {CLFI_GGUF_TOKEN_PADDING, spec->padding}};
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

clf_status clfi_tokenizer_put_gguf(const char *directory, size_t rows, int32_t bos, const int32_t *ends, size_t end_count,
                                   clf_gguf_values *values, bool *out_leaves_nfc)
{
    clf_vocabulary_export export = CLF_VOCABULARY_EXPORT_INIT;
    clf_status st = clfi_vocabulary_export(directory, rows, &export);
    if (st == CLF_OK && export.spec.bos < 0 && bos >= 0 && (size_t)bos < rows)
        export.spec.bos = bos;
    if (st == CLF_OK)
        st = put_ends(ends, end_count, &export.spec, values);
    if (st == CLF_OK)
        st = put_spec(&export.spec, values);
    *out_leaves_nfc = export.leaves_nfc;
    clfi_vocabulary_export_free(&export);
    return st;
}
