/* SPDX-License-Identifier: MIT */
/* Any bytes as tokenizer.json, then any text through it: [tokenizer.json] U+0000 [text] U+0000 [pair]. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "text/tokenizer.h"

/* A text is read up to here: longer ones repeat what happens in shorter ones, and encoding them took nine tenths of the time. */
enum { TEXT_MAX = 512 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A text that its caller refuses for the number of its tokens has as many; another one has its own. */
static void check_enough(const clf_tokenizer *tokenizer, const char *text, size_t size, size_t enough, const clf_encoding *whole)
{
    const clf_encode_options options = {.add_special_tokens = true, .enough_tokens = enough};
    clf_encoding got = CLF_ENCODING_INIT;
    if (clfi_tokenizer_encode(tokenizer, text, size, NULL, 0, &options, &got) != CLF_OK)
        abort();
    if (whole->length - clf_tokenizer_added_count(tokenizer, false) >= enough ? got.length < enough : got.length != whole->length)
        abort();
    clfi_encoding_free(&got);
}

/* Every id has a text, the number of tokens obeys the limit, and a truncated text gives the beginning of the whole. */
static void check_encode(const clf_tokenizer *tokenizer, const char *text, size_t size, const char *pair, size_t pair_size)
{
    clf_encoding whole = CLF_ENCODING_INIT, cut = CLF_ENCODING_INIT;
    clf_encode_options options = CLF_ENCODE_OPTIONS_INIT;
    const clf_status st = clfi_tokenizer_encode(tokenizer, text, size, pair, pair_size, NULL, &whole);
    if (st != CLF_OK && st != CLF_UNSUPPORTED) /* no unknown token, or a pattern that takes too long */
        abort();
    if (st != CLF_OK) {
        clfi_encoding_free(&whole);
        return;
    }
    for (size_t i = 0; i < whole.length; i++)
        if (whole.ids[i] < 0 || (size_t)whole.ids[i] >= clf_tokenizer_vocabulary_size(tokenizer) ||
            !clf_tokenizer_token(tokenizer, whole.ids[i]))
            abort();
    if (!pair)
        check_enough(tokenizer, text, size, 3, &whole);
    options.max_tokens = clf_tokenizer_added_count(tokenizer, pair != NULL) + 3;
    if (clfi_tokenizer_encode(tokenizer, text, size, pair, pair_size, &options, &cut) != CLF_OK)
        abort();
    if (cut.length > options.max_tokens || cut.truncated != (whole.length > options.max_tokens))
        abort();
    if (!cut.truncated && (cut.length != whole.length || (cut.length && memcmp(cut.ids, whole.ids, cut.length * sizeof *cut.ids) != 0)))
        abort();
    clfi_encoding_free(&whole);
    clfi_encoding_free(&cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *json = (const char *)data;
    const char *end = size ? memchr(json, '\0', size) : NULL;
    const size_t json_size = end ? (size_t)(end - json) : size;
    clf_tokenizer *tokenizer;
    if (clfi_tokenizer_from_json(json, json_size, "fuzz.json", &tokenizer) != CLF_OK) {
        if (clf_last_error()[0] == '\0')
            abort();
        return 0;
    }
    const char *text = end ? end + 1 : json; /* without a text of its own, the file's beginning is the text */
    const size_t rest = end ? size - json_size - 1 : json_size < 64 ? json_size : 64;
    const size_t text_size = rest < TEXT_MAX ? rest : TEXT_MAX;
    const char *second = text_size ? memchr(text, '\0', text_size) : NULL;
    const size_t first_size = second ? (size_t)(second - text) : text_size;
    check_encode(tokenizer, text, first_size, second ? second + 1 : NULL, second ? text_size - first_size - 1 : 0);
    clf_tokenizer_destroy(tokenizer);
    return 0;
}
