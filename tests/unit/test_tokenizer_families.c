/* SPDX-License-Identifier: MIT */
/* Tokenizers of the model families against Hugging Face's `tokenizers`: ids, type ids, offsets and decoded text of 2,000 difficult strings
 * each (tests/data/tokenizer/make_families.py). */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/str.h"
#include "clformer/tokenizer.h"
#include "io/json.h"
#include "support/crc.h"
#include "support/difficult_texts.h"
#include "support/temp.h"
#include "support/tokenizer_family.h"
#include "text/tokenizer.h"

#define DATA CLF_TEST_DATA "/tokenizer/families"

static clf_str texts[DIFFICULT_TEXTS];

static clf_text text_of(size_t n)
{
    return (clf_text){clfi_str_text(&texts[n]), texts[n].length};
}

/* The text in pieces, one for each id and the rest. */
static void decode_in_steps(clf_token_decoder *decoder, const clf_encoding *encoding, clf_str *out)
{
    clf_text piece;
    clfi_str_clear(out);
    for (size_t i = 0; i < encoding->length; i++) {
        CHECK_OK(clf_token_decoder_push(decoder, encoding->ids[i], &piece));
        CHECK_OK(clfi_str_append(out, piece.data, piece.size));
    }
    CHECK_OK(clf_token_decoder_finish(decoder, &piece));
    CHECK_OK(clfi_str_append(out, piece.data, piece.size));
}

static uint32_t sum_of(const clf_tokenizer *tokenizer, clf_token_decoder *const decoders[2], size_t n, clf_encoding *encoding)
{
    clf_encode_params params = CLF_ENCODE_PARAMS_INIT;
    const clf_text text = text_of(n), pair = text_of((n + 1) % DIFFICULT_TEXTS);
    clf_str steps = CLF_STR_INIT;
    uint32_t sum = 0;
    params.offsets = CLF_OFFSETS_CHARACTERS;
    CHECK_OK(clf_tokenizer_encode(tokenizer, &text, n % 8 == 7 ? &pair : NULL, &params, encoding));
    for (size_t i = 0; i < encoding->length; i++) {
        sum = crc32_add_i32(sum, encoding->ids[i]);
        sum = crc32_add_i32(sum, encoding->type_ids[i]);
        sum = crc32_add_i32(sum, encoding->special_mask[i]);
        sum = crc32_add_i32(sum, (int32_t)encoding->offsets[i].start);
        sum = crc32_add_i32(sum, (int32_t)encoding->offsets[i].end);
    }
    for (size_t skip = 0; skip < 2; skip++) {
        clf_text whole;
        decode_in_steps(decoders[skip], encoding, &steps);
        CHECK_OK(clf_token_decoder_decode(decoders[skip], encoding->ids, encoding->length, &whole));
        CHECK(whole.size == steps.length && memcmp(whole.data, clfi_str_text(&steps), whole.size) == 0,
              "text %zu: in steps \"%s\", at once \"%s\"", n, clfi_str_text(&steps), whole.data);
        sum = crc32_add(sum, whole.data, whole.size);
        if (skip == 0)
            sum = crc32_add(sum, "\xff", 1);
    }
    clfi_str_free(&steps);
    return sum;
}

static void print_details(const clf_tokenizer *tokenizer, clf_token_decoder *decoder, const clf_encoding *encoding)
{
    clf_text whole;
    for (size_t i = 0; i < encoding->length; i++)
        printf("%d %d %d (%u, %u) '%s'\n", (int)encoding->ids[i], (int)encoding->type_ids[i], (int)encoding->special_mask[i],
               (unsigned)encoding->offsets[i].start, (unsigned)encoding->offsets[i].end, clf_tokenizer_token(tokenizer, encoding->ids[i]));
    CHECK_OK(clf_token_decoder_decode(decoder, encoding->ids, encoding->length, &whole));
    printf("'%s'\n", whole.data);
}

/* Encoding without offsets takes other ways: the same ids. */
static void check_bare(const clf_tokenizer *tokenizer, size_t n, const clf_encoding *want, clf_encoding *got)
{
    const clf_text text = text_of(n), pair = text_of((n + 1) % DIFFICULT_TEXTS);
    CHECK_OK(clf_tokenizer_encode(tokenizer, &text, n % 8 == 7 ? &pair : NULL, NULL, got));
    CHECK(got->length == want->length && (!got->length || memcmp(got->ids, want->ids, got->length * sizeof *got->ids) == 0),
          "text %zu: other ids without offsets", n);
}

/* All strings against NAME.crc. */
static void check_sums(const clf_tokenizer *tokenizer, const char *name)
{
    char path[512];
    clf_str sums = CLF_STR_INIT;
    clf_token_decoder *decoders[2];
    clf_encoding *encoding, *bare;
    size_t wrong = 0;
    snprintf(path, sizeof path, DATA "/%s.crc", name);
    CHECK_OK(clfi_file_read(path, 1 << 20, &sums));
    assert_int_equal(sums.length, 9 * DIFFICULT_TEXTS);
    CHECK_OK(clf_encoding_create(&encoding));
    CHECK_OK(clf_encoding_create(&bare));
    for (int skip = 0; skip < 2; skip++)
        CHECK_OK(clf_token_decoder_create(tokenizer, skip, &decoders[skip]));
    for (size_t n = 0; n < DIFFICULT_TEXTS; n++) {
        const uint32_t want = (uint32_t)strtoul(sums.data + 9 * n, NULL, 16), got = sum_of(tokenizer, decoders, n, encoding);
        if (want != got && wrong++ == 0) {
            printf("%s, text %zu: '%s'\n", name, n, clfi_str_text(&texts[n]));
            print_details(tokenizer, decoders[0], encoding);
        }
        check_bare(tokenizer, n, encoding, bare);
    }
    CHECK(wrong == 0, "%s: %zu of %d texts differ; see make_families.py --show", name, wrong, DIFFICULT_TEXTS);
    for (int skip = 0; skip < 2; skip++)
        clf_token_decoder_destroy(decoders[skip]);
    clf_encoding_destroy(encoding);
    clf_encoding_destroy(bare);
    clfi_str_free(&sums);
}

/* A text with too many tokens is read until it has enough of them, whichever they are; one with fewer gets its own. */
static void check_enough(const clf_tokenizer *tokenizer, const char *name, const clf_str *text)
{
    clf_encoding whole = CLF_ENCODING_INIT, got = CLF_ENCODING_INIT;
    clf_encode_options options = {.add_special_tokens = false};
    CHECK_OK(clfi_tokenizer_encode(tokenizer, text->data, text->length, NULL, 0, &options, &whole));
    const size_t limits[] = {1, 2, 100, whole.length / 2 + 1, whole.length, whole.length + 1};
    for (size_t i = 0; i < COUNT(limits); i++) {
        const bool fits = whole.length < limits[i];
        options.enough_tokens = limits[i];
        CHECK_OK(clfi_tokenizer_encode(tokenizer, text->data, text->length, NULL, 0, &options, &got));
        CHECK(fits ? got.length == whole.length && (!got.length || memcmp(got.ids, whole.ids, whole.length * sizeof *whole.ids) == 0)
                   : got.length >= limits[i] && got.length <= whole.length,
              "%s: \"%.9s...\" has %zu tokens, with a limit of %zu it has %zu", name, text->data, whole.length, limits[i], got.length);
    }
    clfi_encoding_free(&whole);
    clfi_encoding_free(&got);
}

static void check_long_texts(const clf_tokenizer *tokenizer, const char *name)
{
    enum { LONG = 30000 };
    static const char *const repeated[] = {"a", " ", "a ", "a,", "\u4e2d", "\u2581a"};
    clf_str text = CLF_STR_INIT;
    for (size_t i = 0; i < COUNT(repeated); i++) {
        clfi_str_clear(&text);
        while (text.length < LONG)
            CHECK_OK(clfi_str_append_text(&text, repeated[i]));
        check_enough(tokenizer, name, &text);
    }
    clfi_str_clear(&text);
    for (size_t n = 0; n < DIFFICULT_TEXTS && text.length < LONG; n++)
        CHECK_OK(clfi_str_append(&text, clfi_str_text(&texts[n]), texts[n].length));
    check_enough(tokenizer, name, &text);
    clfi_str_free(&text);
}

static void check_family(const char *name)
{
    clf_tokenizer *tokenizer = tokenizer_family(name);
    check_sums(tokenizer, name);
    check_long_texts(tokenizer, name);
    clf_tokenizer_destroy(tokenizer);
}

static void put(const char *folder, const char *name, const char *text)
{
    temp_file_below(folder, name, text, strlen(text));
}

static void put_json(const char *folder, const char *name, const json_t *json)
{
    char *text = json_dumps(json, 0);
    assert_non_null(text);
    put(folder, name, text);
    free(text);
}

/* RoBERTa's vocab.json and merges.txt are what its tokenizer.json holds. */
static void roberta_files(void **state)
{
    (void)state;
    char folder[TEMP_PATH_BYTES];
    clf_tokenizer *tokenizer;
    clf_str merges = CLF_STR_INIT;
    json_t *root, *pair, *vocab;
    const char *added = "<mask>";
    size_t i;
    temp_directory_make(folder);
    CHECK_OK(clfi_json_read(DATA "/roberta.json", 1 << 24, &root));
    vocab = json_object_get(json_object_get(root, "model"), "vocab");
    assert_int_equal(json_object_set_new(vocab, added, json_integer((json_int_t)json_object_size(vocab))), 0);
    put_json(folder, "vocab.json", vocab);
    CHECK_OK(clfi_str_appendf(&merges, "#version: 0.2\n"));
    json_array_foreach(json_object_get(json_object_get(root, "model"), "merges"), i, pair) CHECK_OK(
        clfi_str_appendf(&merges, "%s %s\n", json_string_value(json_array_get(pair, 0)), json_string_value(json_array_get(pair, 1))));
    put(folder, "merges.txt", clfi_str_text(&merges));
    CHECK_FAILS(clf_tokenizer_open(folder, &tokenizer), CLF_UNSUPPORTED, "expected RobertaTokenizer, BartTokenizer");
    put(folder, "config.json", "{\"model_type\": \"gpt2\"}");
    CHECK_FAILS(clf_tokenizer_open(folder, &tokenizer), CLF_UNSUPPORTED, "\"gpt2\" without tokenizer.json");
    put(folder, "tokenizer_config.json", "{\"tokenizer_class\": \"RobertaTokenizerFast\", \"add_prefix_space\": true}");
    CHECK_OK(clf_tokenizer_open(folder, &tokenizer));
    check_sums(tokenizer, "roberta");
    clf_tokenizer_destroy(tokenizer);
    put(folder, "tokenizer_config.json", "{\"tokenizer_class\": \"RobertaTokenizer\", \"sep_token\": \"[SEP]\"}");
    CHECK_FAILS(clf_tokenizer_open(folder, &tokenizer), CLF_FORMAT, "vocab.json: \"[SEP]\": expected integer, found nothing");
    put(folder, "tokenizer_config.json", "{\"tokenizer_class\": \"CamembertTokenizer\"}");
    CHECK_FAILS(clf_tokenizer_open(folder, &tokenizer), CLF_NOT_FOUND, "no sentencepiece.bpe.model, which CamembertTokenizer needs");
    put(folder, "tokenizer_config.json", "{\"tokenizer_class\": \"RobertaTokenizer\"}");
    put(folder, "merges.txt", "#version: 0.2\na b c\n");
    CHECK_FAILS(clf_tokenizer_open(folder, &tokenizer), CLF_FORMAT, "merges.txt: line 2: expected two tokens");
    static const char with_nul[] = "#version: 0.2\n\n\0a b\n";
    temp_file_below(folder, "merges.txt", with_nul, sizeof with_nul - 1);
    CHECK_FAILS(clf_tokenizer_open(folder, &tokenizer), CLF_FORMAT, "merges.txt: line 3: expected text, found a NUL");
    temp_directory_remove(folder);
    clfi_str_free(&merges);
    json_decref(root);
}

/* One file of pieces, two ways in which fairseq's models number them. */
static void pieces(void **state)
{
    (void)state;
    static const struct {
        const char *config, *sums;
    } rows[] = {{"{\"model_type\": \"xlm-roberta\"}", "xlm_roberta"}, {"{\"model_type\": \"camembert\"}", "camembert"}};
    char folder[TEMP_PATH_BYTES];
    clf_tokenizer *tokenizer;
    clf_str bytes = CLF_STR_INIT;
    CHECK_OK(clfi_file_read(DATA "/pieces/sentencepiece.bpe.model", 1 << 24, &bytes));
    temp_directory_make(folder);
    temp_file_below(folder, "sentencepiece.bpe.model", bytes.data, bytes.length);
    for (size_t i = 0; i < COUNT(rows); i++) {
        put(folder, "config.json", rows[i].config);
        CHECK_OK(clf_tokenizer_open(folder, &tokenizer));
        check_sums(tokenizer, rows[i].sums);
        clf_tokenizer_destroy(tokenizer);
    }
    bytes.data[2]++; /* the first piece's size */
    temp_file_below(folder, "sentencepiece.bpe.model", bytes.data, bytes.length);
    assert_int_not_equal(clf_tokenizer_open(folder, &tokenizer), CLF_OK);
    temp_directory_remove(folder);
    clfi_str_free(&bytes);
}

#define FAMILY(name)               \
    static void name(void **state) \
    {                              \
        (void)state;               \
        check_family(#name);       \
    }

FAMILY(wordpiece)
FAMILY(gpt2)
FAMILY(roberta)
FAMILY(llama3)
FAMILY(qwen2)
FAMILY(smollm)
FAMILY(llama2)
FAMILY(unigram)
FAMILY(unigram_bytes)
FAMILY(clip)
FAMILY(edited)
FAMILY(characters)
FAMILY(cut_default)
FAMILY(precompiled)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wordpiece),   cmocka_unit_test(gpt2),        cmocka_unit_test(roberta),       cmocka_unit_test(llama3),
        cmocka_unit_test(qwen2),       cmocka_unit_test(smollm),      cmocka_unit_test(llama2),        cmocka_unit_test(unigram),
        cmocka_unit_test(clip),        cmocka_unit_test(edited),      cmocka_unit_test(unigram_bytes), cmocka_unit_test(characters),
        cmocka_unit_test(cut_default), cmocka_unit_test(precompiled), cmocka_unit_test(roberta_files), cmocka_unit_test(pieces),
    };
    read_difficult_texts(texts);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free_difficult_texts(texts);
    return failed;
}
