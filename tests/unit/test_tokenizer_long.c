/* SPDX-License-Identifier: MIT */
/* Texts that grow, and words of a million letters: their time and memory are bounded. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "support/operand.h"
#include "support/tokenizer_family.h"
#include "text/tokenizer.h"
#include "text/tokenizer_parts.h"

/* Parts that double a text again and again end with an error, not with all memory. */
static void bounded_growth(void **state)
{
    static const struct {
        const char *list, *part;
    } rows[] = {
        {"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[",
         "{\"type\":\"Replace\",\"pattern\":{\"String\":\"a\"},\"content\":\"aa\"}"},
        {"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[",
         "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"a|^\"},\"content\":\"aba\"}"},
        {"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[", "{\"type\":\"ByteLevel\"}"},
        {"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[",
         "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}"},
        {"decoder\":{\"type\":\"Sequence\",\"decoders\":[", "{\"type\":\"Replace\",\"pattern\":{\"String\":\"a\"},\"content\":\"aa\"}"},
    };
    static const char given[] = "a\u00e9a";
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        clf_str json = CLF_STR_INIT;
        clf_tokenizer *tokenizer;
        clf_encoding *encoding;
        clf_token_decoder *decoder;
        clf_text text = {given, sizeof given - 1};
        CHECK_OK(
            clfi_str_appendf(&json, "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"\u00e9\":1},\"merges\":[]},\"%s", rows[i].list));
        for (int k = 0; k < 64; k++)
            CHECK_OK(clfi_str_appendf(&json, "%s%s", k ? "," : "", rows[i].part));
        CHECK_OK(clfi_str_append_text(&json, "]}}"));
        CHECK_OK(clf_tokenizer_from_json(&(clf_text){json.data, json.length}, "growing", &tokenizer));
        CHECK_OK(clf_encoding_create(&encoding));
        CHECK_OK(clf_token_decoder_create(tokenizer, 0, &decoder));
        if (i + 1 < COUNT(rows))
            CHECK_FAILS(clf_tokenizer_encode(tokenizer, &text, NULL, NULL, encoding), CLF_UNSUPPORTED, "at most 64 times the text");
        else
            CHECK_FAILS(clf_token_decoder_decode(decoder, (const int32_t[]){0, 1, 0}, 3, &text), CLF_UNSUPPORTED, "64 times");
        clf_token_decoder_destroy(decoder);
        clf_encoding_destroy(encoding);
        clf_tokenizer_destroy(tokenizer);
        clfi_str_free(&json);
    }
}

/* A million letters take no longer than a million words. */
static void long_words(void **state)
{
    (void)state;
    static const char *const names[] = {"gpt2", "llama2", "unigram", "wordpiece", "clip"};
    const size_t length = long_text_bytes();
    char *letters = malloc(length);
    assert_non_null(letters);
    for (size_t i = 0; i < COUNT(names); i++) {
        clf_tokenizer *tokenizer = tokenizer_family(names[i]);
        clf_encoding *encoding;
        CHECK_OK(clf_encoding_create(&encoding));
        for (const char *unit = "a -\t\n7"; *unit; unit++) {
            memset(letters, *unit, length);
            CHECK_OK(clf_tokenizer_encode(tokenizer, &(clf_text){letters, length}, NULL, NULL, encoding));
        }
        clf_encoding_destroy(encoding);
        clf_tokenizer_destroy(tokenizer);
    }
    free(letters);
}

/* A word of `size` bytes with characters of the alphabet, at random. Returns the bytes it has. */
static size_t make_word(const char *alphabet, uint64_t seed, size_t size, char *out)
{
    const char *characters[64];
    size_t count = 0, at = 0;
    for (const char *c = alphabet; *c; c++)
        if (((unsigned char)*c & 0xc0) != 0x80)
            characters[count++] = c;
    characters[count] = alphabet + strlen(alphabet);
    for (;;) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const size_t which = (size_t)(seed >> 33) % count, bytes = (size_t)(characters[which + 1] - characters[which]);
        if (at + bytes > size)
            return at;
        memcpy(out + at, characters[which], bytes);
        at += bytes;
    }
}

/* The first tokens of a long word are found without the rest of it, and are those of the whole word. */
static void beginnings_of_words(void **state)
{
    static const struct {
        const char *family;
        bool is_bounded; /* for the first alphabets, whose characters are all known */
    } rows[] = {{"gpt2", true}, {"llama2", true}, {"smollm", true}, {"unigram", true}, {"unigram_bytes", true}, {"clip", false}};
    static const char *const alphabets[] = {"etaoinshr", "ab", "a", "0123456789abcdef", "a\u00e9\u4e16\U0001f600b"};
    enum { KNOWN = 4 };
    static const size_t limits[] = {1, 7, 100, 513};
    const size_t size = 1 << 20;
    char *word = malloc(size);
    (void)state;
    assert_non_null(word);
    for (size_t i = 0; i < COUNT(rows); i++) {
        clf_tokenizer *tokenizer = tokenizer_family(rows[i].family);
        for (size_t k = 0; k < COUNT(alphabets); k++) {
            const size_t bytes = make_word(alphabets[k], i + 1, size, word);
            clf_text_workspace whole = {.enough = SIZE_MAX};
            CHECK_OK(tokenizer->kind->encode(tokenizer->model, word, bytes, &whole, &whole.tokens[0]));
            for (size_t limit = 0; limit < COUNT(limits); limit++) {
                clf_text_workspace work = {.enough = limits[limit]};
                CHECK_OK(tokenizer->kind->encode(tokenizer->model, word, bytes, &work, &work.tokens[0]));
                const clf_token_list *got = &work.tokens[0], *want = &whole.tokens[0];
                const size_t count = want->count < limits[limit] ? want->count : limits[limit];
                CHECK(got->count >= count, "%s, alphabet %zu: %zu tokens, want %zu", rows[i].family, k, got->count, count);
                CHECK(memcmp(got->tokens, want->tokens, count * sizeof *got->tokens) == 0, "%s, alphabet %zu: the first %zu tokens differ",
                      rows[i].family, k, count);
                const size_t used = work.model->symbol_capacity + work.model->path_capacity;
                CHECK(used < size / 2 || k >= KNOWN || !rows[i].is_bounded, "%s, alphabet %zu, %zu tokens: memory for %zu characters",
                      rows[i].family, k, count, used);
                clfi_text_workspace_free(&work);
            }
            clfi_text_workspace_free(&whole);
        }
        clf_tokenizer_destroy(tokenizer);
    }
    free(word);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bounded_growth), cmocka_unit_test(long_words),
                                       cmocka_unit_test(beginnings_of_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
