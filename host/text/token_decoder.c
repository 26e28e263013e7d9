/* SPDX-License-Identifier: MIT */
/* Decodes token ids to text by the tokenizer's chain of decoders. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "text/decoder.h"
#include "text/tokenizer_parts.h"

struct clf_token_decoder {
    const clf_tokenizer *tokenizer;
    clf_decoding decoding;
    clf_str text;
    bool skip_special;
};

static clf_status begin(clf_token_decoder *decoder)
{
    const clf_tokenizer *tokenizer = decoder->tokenizer;
    return clfi_decoding_begin(&decoder->decoding, tokenizer->has_decoder ? &tokenizer->decoders : NULL, &decoder->text);
}

clf_status clf_token_decoder_create(const clf_tokenizer *tokenizer, int skip_special, clf_token_decoder **out)
{
    clf_token_decoder *decoder;
    if (!tokenizer || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "token decoder: expected a tokenizer and a place for the decoder, found NULL");
    CLF_TRY(clfi_alloc(1, sizeof *decoder, "token decoder", &decoder));
    decoder->tokenizer = tokenizer;
    decoder->skip_special = skip_special != 0;
    const clf_status st = begin(decoder);
    if (st != CLF_OK)
        clf_token_decoder_destroy(decoder);
    else
        *out = decoder;
    return st;
}

void clf_token_decoder_destroy(clf_token_decoder *decoder)
{
    if (!decoder)
        return;
    clfi_decoding_free(&decoder->decoding);
    clfi_str_free(&decoder->text);
    free(decoder);
}

/* As in the reference, the written text decides: a special token whose text normalizers change is not skipped if the new text is no special
 * token. */
static bool is_skipped(const clf_token_decoder *decoder, int32_t id, const char *text)
{
    const clf_tokenizer *tokenizer = decoder->tokenizer;
    if (!decoder->skip_special || !clf_tokenizer_is_special(tokenizer, id))
        return false;
    return clf_tokenizer_is_special(tokenizer, clfi_vocabulary_find(&tokenizer->added.ids, text, strlen(text))) != 0;
}

static clf_status push(clf_token_decoder *decoder, int32_t id)
{
    const char *added = clfi_added_token_text(&decoder->tokenizer->added, id);
    const char *token = added ? added : clf_tokenizer_token(decoder->tokenizer, id);
    if (!token || is_skipped(decoder, id, token))
        return CLF_OK;
    return clfi_decoding_push(&decoder->decoding, token, strlen(token));
}

static clf_status check(const clf_token_decoder *decoder, const clf_text *text)
{
    if (!decoder || !text)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "token decoder: expected a decoder and a place for the text, found NULL");
    return CLF_OK;
}

static void give(const clf_token_decoder *decoder, clf_text *text)
{
    *text = (clf_text){clfi_str_text(&decoder->text), decoder->text.length};
}

clf_status clf_token_decoder_push(clf_token_decoder *decoder, int32_t id, clf_text *text)
{
    CLF_TRY(check(decoder, text));
    clfi_str_clear(&decoder->text);
    CLF_TRY(push(decoder, id));
    give(decoder, text);
    return CLF_OK;
}

clf_status clf_token_decoder_finish(clf_token_decoder *decoder, clf_text *text)
{
    CLF_TRY(check(decoder, text));
    clfi_str_clear(&decoder->text);
    CLF_TRY(clfi_decoding_finish(&decoder->decoding));
    CLF_TRY(begin(decoder));
    give(decoder, text);
    return CLF_OK;
}

clf_status clf_token_decoder_decode(clf_token_decoder *decoder, const int32_t *ids, size_t count, clf_text *text)
{
    CLF_TRY(check(decoder, text));
    if (!ids && count)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "token decoder: expected %zu ids, found NULL", count);
    clfi_str_clear(&decoder->text);
    CLF_TRY(begin(decoder));
    for (size_t i = 0; i < count; i++)
        CLF_TRY(push(decoder, ids[i]));
    CLF_TRY(clfi_decoding_finish(&decoder->decoding));
    CLF_TRY(begin(decoder));
    give(decoder, text);
    return CLF_OK;
}
