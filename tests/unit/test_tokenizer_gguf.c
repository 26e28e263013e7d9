/* SPDX-License-Identifier: MIT */
/* Tokenizers given by their vocabulary, as GGUF files have it, against llama.cpp and `tokenizers`: ids and decoded text of 2,000 difficult
 * strings each (tests/data/tokenizer/make_gguf.py). */
#include "support/check.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "clformer/tokenizer.h"
#include "support/crc.h"
#include "support/difficult_texts.h"
#include "text/tokenizer_parts.h"

#define DATA CLF_TEST_DATA "/tokenizer"

enum { BLOCK = 100, MOST = 2000, MERGE_BYTES = 256 };

static clf_str texts[DIFFICULT_TEXTS];

/* A family's vocabulary in the form that a GGUF file has; the texts are borrowed from the JSON. */
typedef struct vocabulary {
    json_t *json;
    clf_text tokens[MOST], merges[MOST];
    char joined[MOST][MERGE_BYTES];
    float scores[MOST];
    int32_t types[MOST];
    clf_vocabulary_spec spec;
} vocabulary;

static clf_text text_of(const char *text)
{
    return (clf_text){text, strlen(text)};
}

static void read_tokens(vocabulary *v)
{
    const json_t *added = json_object_get(v->json, "added_tokens");
    const char *token;
    json_t *value;
    json_object_foreach(json_object_get(json_object_get(v->json, "model"), "vocab"), token, value)
    {
        const size_t id = (size_t)json_integer_value(value);
        v->tokens[id] = text_of(token);
        v->types[id] = strncmp(token, "<0x", 3) == 0 ? CLF_TOKEN_BYTE : CLF_TOKEN_NORMAL;
        v->spec.token_count = id >= v->spec.token_count ? id + 1 : v->spec.token_count;
    }
    for (size_t i = 0; i < json_array_size(added); i++) {
        const json_t *one = json_array_get(added, i);
        const size_t id = (size_t)json_integer_value(json_object_get(one, "id"));
        if (!json_is_true(json_object_get(one, "special")))
            continue;
        v->tokens[id] = text_of(json_string_value(json_object_get(one, "content")));
        v->types[id] = strcmp(v->tokens[id].data, "<unk>") == 0 ? CLF_TOKEN_UNKNOWN : CLF_TOKEN_CONTROL;
        v->spec.token_count = id >= v->spec.token_count ? id + 1 : v->spec.token_count;
    }
}

/* In SentencePiece's kind of vocabulary, a token's score says how early it is merged. */
static void read_merges(vocabulary *v)
{
    const json_t *model = json_object_get(v->json, "model"), *list = json_object_get(model, "merges"),
                 *ids = json_object_get(model, "vocab");
    char whole[MERGE_BYTES];
    for (size_t i = 0; i < MOST; i++)
        v->scores[i] = v->types[i] == CLF_TOKEN_NORMAL ? -1e4f : 0.0f;
    for (size_t i = json_array_size(list); i-- > 0;) {
        const json_t *pair = json_array_get(list, i);
        const char *left = json_string_value(json_array_get(pair, 0)), *right = json_string_value(json_array_get(pair, 1));
        snprintf(v->joined[i], sizeof v->joined[i], "%s %s", left, right);
        snprintf(whole, sizeof whole, "%s%s", left, right);
        v->merges[i] = text_of(v->joined[i]);
        v->scores[json_integer_value(json_object_get(ids, whole))] = -(float)i;
    }
    v->spec.merge_count = json_array_size(list);
}

static vocabulary *read_vocabulary(const char *family, const char *pre, bool has_space)
{
    char path[512];
    json_error_t error;
    vocabulary *v = calloc(1, sizeof *v);
    assert_non_null(v);
    snprintf(path, sizeof path, DATA "/families/%s.json", family);
    v->json = json_load_file(path, JSON_ALLOW_NUL, &error);
    CHECK(v->json, "%s: %s", path, error.text);
    v->spec = (clf_vocabulary_spec)CLF_VOCABULARY_SPEC_INIT;
    read_tokens(v);
    read_merges(v);
    v->spec.model = pre ? "gpt2" : "llama";
    v->spec.pre = pre && strcmp(pre, "default") == 0 ? NULL : pre; /* texts of a file without the key are split so */
    v->spec.tokens = v->tokens;
    v->spec.types = v->types;
    v->spec.scores = v->scores;
    v->spec.merges = v->merges;
    v->spec.merge_count = pre ? v->spec.merge_count : 0;
    v->spec.unknown = pre ? -1 : 0;
    v->spec.add_space_prefix = has_space;
    return v;
}

static uint32_t sum_of(const clf_tokenizer *tokenizer, clf_token_decoder *decoder, size_t first)
{
    clf_encoding *encoding;
    clf_text decoded;
    uint32_t sum = 0;
    CHECK_OK(clf_encoding_create(&encoding));
    for (size_t n = first; n < first + BLOCK; n++) {
        const clf_text text = {clfi_str_text(&texts[n]), texts[n].length};
        CHECK_OK(clf_tokenizer_encode(tokenizer, &text, NULL, NULL, encoding));
        for (size_t i = 0; i < encoding->length; i++)
            sum = crc32_add_i32(sum, encoding->ids[i]);
        CHECK_OK(clf_token_decoder_decode(decoder, encoding->ids, encoding->length, &decoded));
        sum = crc32_add(sum, decoded.data, decoded.size);
    }
    clf_encoding_destroy(encoding);
    return sum;
}

static const struct {
    const char *name, *family, *pre;
    bool has_space;
} rows[] = {
    {"smollm", "smollm", "smollm", true},           {"gpt-2", "gpt2", "gpt-2", true},
    {"llama-bpe", "llama3", "llama-bpe", true},     {"qwen2", "qwen2", "qwen2", true},
    {"default", "cut_default", "default", true},    {"llama", "llama2", NULL, true},
    {"llama-without-space", "llama2", NULL, false},
};

static void kinds(void **state)
{
    clf_str file = CLF_STR_INIT;
    (void)state;
    CHECK_OK(clfi_file_read(DATA "/gguf.crc", 1 << 16, &file));
    const char *at = file.data;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const size_t length = strlen(rows[i].name);
        clf_tokenizer *tokenizer;
        clf_token_decoder *decoder;
        vocabulary *v = read_vocabulary(rows[i].family, rows[i].pre, rows[i].has_space);
        CHECK(strncmp(at, rows[i].name, length) == 0 && at[length] == ' ', "gguf.crc: expected %s", rows[i].name);
        at += length;
        CHECK_OK(clf_tokenizer_from_vocabulary(&v->spec, rows[i].name, &tokenizer));
        CHECK_OK(clf_token_decoder_create(tokenizer, 0, &decoder));
        for (size_t first = 0; first < DIFFICULT_TEXTS; first += BLOCK) {
            char *end;
            const uint32_t want = (uint32_t)strtoul(at, &end, 16);
            CHECK(end == at + 9 && want == sum_of(tokenizer, decoder, first), "%s: texts %zu to %zu: other ids or text", rows[i].name,
                  first, first + BLOCK - 1);
            at = end;
        }
        at++; /* the line's end */
        clf_token_decoder_destroy(decoder);
        clf_tokenizer_destroy(tokenizer);
        json_decref(v->json);
        free(v);
    }
    clfi_str_free(&file);
}

/* The difficult texts as a single one, with words between them, of a length that is taken in many portions. */
static clf_str long_text(void)
{
    clf_str all = CLF_STR_INIT;
    for (size_t n = 0; n < DIFFICULT_TEXTS; n++) {
        CHECK_OK(clfi_str_append(&all, texts[n].data, texts[n].length));
        CHECK_OK(clfi_str_append_text(&all, n % 3 ? " a1 b" : n % 2 ? "it's x \n y" : "7 8"));
    }
    return all;
}

typedef struct id_list {
    int32_t *ids;
    size_t count, capacity;
} id_list;

static clf_status append_id(void *user, int32_t id)
{
    id_list *list = user;
    CLF_TRY(clfi_grow(&list->ids, &list->capacity, list->count + 1, sizeof *list->ids, "ids"));
    list->ids[list->count++] = id;
    return CLF_OK;
}

static void append_all(const clf_tokenizer *tokenizer, const char *text, size_t size, id_list *out)
{
    clf_encoding *encoding;
    CHECK_OK(clf_encoding_create(&encoding));
    CHECK_OK(clf_tokenizer_encode(tokenizer, &(clf_text){text, size}, NULL, NULL, encoding));
    for (size_t i = 0; i < encoding->length; i++)
        CHECK_OK(append_id(out, encoding->ids[i]));
    clf_encoding_destroy(encoding);
}

static void check_same(const char *name, const char *how, const id_list *got, const id_list *want)
{
    size_t same = 0;
    while (same < got->count && same < want->count && got->ids[same] == want->ids[same])
        same++;
    CHECK(got->count == want->count && same == want->count, "%s: %s: %zu tokens of %zu and %zu are the same", name, how, same, got->count,
          want->count);
}

static bool is_word_end(const char *text, size_t at)
{
    const char *letters = "abcdefghijklmnopqrstuvwxyz0123456789";
    return text[at] == ' ' && strchr(letters, text[at - 1]) && text[at - 1] && strchr(letters, text[at + 1]) && text[at + 1];
}

/* A long text in portions has the tokens of the whole, and of portions between other words; so have those that are handed on one by one. */
static void portions(void **state)
{
    clf_str text = long_text();
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        vocabulary *v = read_vocabulary(rows[i].family, rows[i].pre, rows[i].has_space);
        const clf_encode_options options = CLF_ENCODE_OPTIONS_INIT;
        id_list whole = {0}, got = {0}, streamed = {0}, words = {0};
        clf_encoding memory = CLF_ENCODING_INIT;
        clf_tokenizer *tokenizer;
        v->spec.add_eos = 1;
        v->spec.eos = 1;
        CHECK_OK(clf_tokenizer_from_vocabulary(&v->spec, rows[i].name, &tokenizer));
        append_all(tokenizer, text.data, text.length, &got);
        CHECK(got.count > 20000, "%s: %zu tokens", rows[i].name, got.count);
        CHECK_OK(clfi_tokenizer_stream(tokenizer, &(clf_text){text.data, text.length}, &options, &memory, append_id, &streamed));
        check_same(rows[i].name, "one by one", &streamed, &got);
        CHECK((tokenizer->portions == CLF_PORTIONS_BEFORE_SPACES) == (rows[i].pre && strcmp(rows[i].pre, "default") != 0), "%s: portions",
              rows[i].name);
        tokenizer->portions = CLF_PORTIONS_NONE;
        append_all(tokenizer, text.data, text.length, &whole);
        check_same(rows[i].name, "in portions", &got, &whole);
        for (size_t start = 0, end; rows[i].pre || !rows[i].has_space ? start < text.length : false; start = end) {
            for (end = start + 100; end < text.length && !is_word_end(text.data, end);)
                end++;
            end = end < text.length ? end : text.length;
            append_all(tokenizer, text.data + start, end - start, &words);
            words.count -= end < text.length; /* the token behind each text */
        }
        if (words.count)
            check_same(rows[i].name, "in portions of a few words", &words, &whole);
        clf_tokenizer_destroy(tokenizer);
        clfi_encoding_free(&memory);
        free(whole.ids);
        free(got.ids);
        free(streamed.ids);
        free(words.ids);
        json_decref(v->json);
        free(v);
    }
    clfi_str_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kinds), cmocka_unit_test(portions)};
    read_difficult_texts(texts);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free_difficult_texts(texts);
    return failed;
}
