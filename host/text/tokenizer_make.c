/* SPDX-License-Identifier: MIT */
/* Makes parts of a tokenizer.json, and those that all SentencePiece models have in common. */
#include "text/tokenizer_make.h"

#include <stdlib.h>

#include "base/alloc.h"

static const char mark[] = "\xe2\x96\x81"; /* U+2581 */

clf_status clfi_make_set(json_t *object, const char *key, json_t *value)
{
    if (!value || json_object_set_new(object, key, value) != 0)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "not enough memory for %s of a tokenizer", key);
    return CLF_OK;
}

clf_status clfi_make_append(json_t *array, json_t *value)
{
    if (!value || json_array_append_new(array, value) != 0)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "not enough memory for a tokenizer");
    return CLF_OK;
}

clf_status clfi_make_added(json_t *list, const char *token, json_int_t id, bool is_special, bool lstrip)
{
    return clfi_make_append(list, json_pack("{s:I, s:s, s:b, s:b, s:b, s:b, s:b}", "id", id, "content", token, "single_word", 0, "lstrip",
                                            lstrip, "rstrip", 0, "normalized", 0, "special", is_special));
}

clf_status clfi_make_check_pieces(const clf_sentencepiece *spm, const char *name)
{
    if (spm->model != CLFI_SENTENCEPIECE_UNIGRAM || spm->has_byte_fallback)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: model_type %lld%s: expected Unigram (1)", name, (long long)spm->model,
                 spm->has_byte_fallback ? " with bytes" : "");
    if (!spm->adds_prefix || !spm->drops_spaces || !spm->escapes_spaces)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: expected add_dummy_prefix, remove_extra_whitespaces and escape_whitespaces to be true", name);
    for (size_t i = 0; i < spm->count; i++)
        if (spm->pieces[i].type == CLF_PIECE_USER_DEFINED || spm->pieces[i].type > CLF_PIECE_UNUSED)
            CLF_FAIL(CLF_UNSUPPORTED, "%s: piece %zu is of type %lld: expected normal, unknown, control or unused", name, i,
                     (long long)spm->pieces[i].type);
    return CLF_OK;
}

/* Encodes in base64, as tokenizer.json has such tables. */
static clf_status encode_base64(const char *data, size_t size, char **out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text, *at;
    CLF_TRY(clfi_alloc(size / 3 * 4 + 5, 1, "table of normal forms", &text));
    at = text;
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const uint32_t a = (unsigned char)data[i], b = left > 1 ? (unsigned char)data[i + 1] : 0,
                       c = left > 2 ? (unsigned char)data[i + 2] : 0;
        const uint32_t bits = a << 16 | b << 8 | c;
        *at++ = digits[bits >> 18];
        *at++ = digits[bits >> 12 & 63];
        *at++ = left > 1 ? digits[bits >> 6 & 63] : '=';
        *at++ = left > 2 ? digits[bits & 63] : '=';
    }
    *at = 0;
    *out = text;
    return CLF_OK;
}

/* The normalizer for the end of a text: it drops spaces, as SentencePiece does, or all white space, as the converters do. */
static json_t *ending(bool is_own)
{
    return is_own ? json_pack("{s:s, s:{s:s}, s:s}", "type", "Replace", "pattern", "Regex", " +\\z", "content", "")
                  : json_pack("{s:s, s:b, s:b}", "type", "Strip", "strip_left", 0, "strip_right", 1);
}

static clf_status set_normalizer(const clf_sentencepiece *spm, bool is_own, json_t *root)
{
    json_t *list = json_array();
    CLF_TRY(clfi_make_set(root, "normalizer", json_pack("{s:s, s:o}", "type", "Sequence", "normalizers", list)));
    if (spm->charsmap_size) {
        char *text;
        CLF_TRY(encode_base64(spm->charsmap, spm->charsmap_size, &text));
        json_t *precompiled = json_pack("{s:s, s:s, s:b}", "type", "Precompiled", "precompiled_charsmap", text, "longest", is_own);
        free(text);
        CLF_TRY(clfi_make_append(list, precompiled));
    }
    CLF_TRY(clfi_make_append(list, ending(is_own)));
    return clfi_make_append(list, json_pack("{s:s, s:{s:s}, s:s}", "type", "Replace", "pattern", "Regex", " {2,}", "content", mark));
}

clf_status clfi_make_piece_chains(const clf_sentencepiece *spm, bool is_own, json_t *root)
{
    static const char *const keys[] = {"pre_tokenizer", "decoder"};
    CLF_TRY(set_normalizer(spm, is_own, root));
    for (size_t i = 0; i < COUNT(keys); i++)
        CLF_TRY(clfi_make_set(
            root, keys[i],
            json_pack("{s:s, s:s, s:s, s:b}", "type", "Metaspace", "replacement", mark, "prepend_scheme", "always", "split", 1)));
    return CLF_OK;
}
