/* SPDX-License-Identifier: MIT */
/* Keys of tokenizer_config.json that go before tokenizer.json, class by class: ids of transformers 4.57, but that an absent
 * add_prefix_space leaves tokenizer.json its own, as in transformers 5. */
#include "support/check.h"
#include "support/temp.h"
#include "text/tokenizer.h"

#define SPECIAL(id, text)                                                                                                   \
    "{\"id\":" id ",\"content\":\"" text "\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false," \
    "\"special\":true}"
#define BYTES(prefix)                                                                                                                      \
    "{\"added_tokens\":[" SPECIAL("0", "<s>") "," SPECIAL(                                                                                 \
        "1",                                                                                                                               \
        "</s>") "],\"normalizer\":null,\"pre_tokenizer\":"                                                                                 \
                "{\"type\":\"ByteLevel\",\"add_prefix_space\":" prefix ",\"trim_offsets\":true,\"use_regex\":true},\"post_processor\":"    \
                "{\"type\":\"TemplateProcessing\",\"single\":[{\"Sequence\":{\"id\":\"A\",\"type_id\":0}},{\"SpecialToken\":{\"id\":\"</"  \
                "s>\","                                                                                                                    \
                "\"type_id\":0}}],\"pair\":[{\"Sequence\":{\"id\":\"A\",\"type_id\":0}},{\"Sequence\":{\"id\":\"B\",\"type_id\":0}}],"     \
                "\"special_tokens\":{\"</s>\":{\"id\":\"</s>\",\"ids\":[1],\"tokens\":[\"</s>\"]}}},\"decoder\":{\"type\":\"ByteLevel\"}," \
                "\"model\":{\"type\":\"BPE\",\"vocab\":{\"<s>\":0,\"</s>\":1,\"a\":2,\"b\":3,\"<\":4,\"/"                                  \
                "\":5,\"s\":6,\">\":7,\"\\u0120\":8,"                                                                                      \
                "\"<bos>\":9},\"merges\":[]}}"
#define WORDS(lowercase)                                                                                                                 \
    "{\"added_tokens\":[" SPECIAL(                                                                                                       \
        "0",                                                                                                                             \
        "[UNK]") "],\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,"                                                    \
                 "\"handle_chinese_chars\":true,\"strip_accents\":null,\"lowercase\":" lowercase "},\"pre_tokenizer\":"                  \
                 "{\"type\":\"BertPreTokenizer\"},\"post_processor\":null,\"decoder\":null,\"model\":{\"type\":\"WordPiece\","           \
                 "\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":100,\"vocab\":{\"[UNK]\":0," \
                 "\"ab\":1,\"Ab\":2,\"\\u00e9\":3,\"e\":4,\"\\u00c9\":5,\"\\u4e2d\":6,\"\\u6587\":7,\"##\\u6587\":8}}}"

static const char bytes[] = BYTES("false"), bytes_prefix[] = BYTES("true"), lower[] = WORDS("true"), cased[] = WORDS("false");
static const char of_bytes[] = "a b</s>", of_words[] = "Ab \u00c9 \u4e2d\u6587";

enum { IDS = 8 };

typedef struct row {
    const char *tokenizer, *config, *model;
    int32_t ids[IDS];
    size_t count;
} row;

#define CLASS(name) "{\"tokenizer_class\":\"" name "\""
#define ENDS ",\"bos_token\":\"<s>\",\"eos_token\":\"</s>\",\"add_bos_token\":true,\"add_eos_token\":true}"
#define ROW(tokenizer, config, model, ...)                                                        \
    {                                                                                             \
        tokenizer, config, model, {__VA_ARGS__}, sizeof(int32_t[]){__VA_ARGS__} / sizeof(int32_t) \
    }

static void make(char directory[TEMP_PATH_BYTES], const char *tokenizer, const char *config, const char *model)
{
    char path[TEMP_PATH_BYTES];
    temp_directory_make(directory);
    temp_file(directory, "tokenizer.json", tokenizer, strlen(tokenizer), path);
    if (config)
        temp_file(directory, "tokenizer_config.json", config, strlen(config), path);
    temp_file(directory, "config.json", model, strlen(model), path);
}

static void check_rows(const row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char directory[TEMP_PATH_BYTES];
        clf_tokenizer *tokenizer;
        clf_encoding got = CLF_ENCODING_INIT;
        const row *r = &rows[i];
        const char *text = r->tokenizer == lower || r->tokenizer == cased ? of_words : of_bytes;
        make(directory, r->tokenizer, r->config, r->model);
        CHECK_OK(clf_tokenizer_open(directory, &tokenizer));
        CHECK_OK(clfi_tokenizer_encode(tokenizer, text, strlen(text), NULL, 0, &(clf_encode_options)CLF_ENCODE_OPTIONS_INIT, &got));
        CHECK(got.length == r->count, "%s %s: %zu ids, want %zu", r->config, r->model, got.length, r->count);
        for (size_t k = 0; k < r->count; k++)
            CHECK(got.ids[k] == r->ids[k], "%s %s: id %zu is %d, want %d", r->config, r->model, k, (int)got.ids[k], (int)r->ids[k]);
        clfi_encoding_free(&got);
        clf_tokenizer_destroy(tokenizer);
        temp_directory_remove(directory);
    }
}

static void ends(void **state)
{
    (void)state;
    static const row rows[] = {
        ROW(bytes, CLASS("LlamaTokenizer") ENDS, "{}", 0, 2, 8, 3, 1, 1),
        ROW(bytes, CLASS("LlamaTokenizerFast") ENDS, "{}", 0, 2, 8, 3, 1, 1),
        ROW(bytes, CLASS("CodeLlamaTokenizerFast") ENDS, "{}", 0, 2, 8, 3, 1, 1),
        ROW(bytes, CLASS("PreTrainedTokenizerFast") ENDS, "{}", 2, 8, 3, 1, 1),
        ROW(bytes, CLASS("GPT2Tokenizer") ENDS, "{}", 2, 8, 3, 1, 1),
        ROW(bytes, CLASS("Qwen2Tokenizer") ENDS, "{}", 2, 8, 3, 1, 1),
        ROW(bytes, CLASS("LlamaTokenizer") "}", "{}", 0, 2, 8, 3, 1),
        ROW(bytes, CLASS("LlamaTokenizer") ",\"add_bos_token\":false}", "{}", 2, 8, 3, 1),
        ROW(bytes, CLASS("LlamaTokenizer") ",\"add_bos_token\":false,\"add_eos_token\":true}", "{}", 2, 8, 3, 1, 1),
        ROW(bytes, CLASS("GemmaTokenizer") "}", "{}", 9, 2, 8, 3, 1),
        ROW(bytes, CLASS("GemmaTokenizer") ",\"bos_token\":\"a\",\"eos_token\":{\"content\":\"</s>\"},\"add_eos_token\":true}", "{}", 2, 2,
            8, 3, 1, 1),
        ROW(bytes, CLASS("CohereTokenizer") ",\"bos_token\":\"<s>\"}", "{}", 0, 2, 8, 3, 1),
        ROW(bytes, CLASS("GPTNeoXTokenizer") ",\"bos_token\":\"<s>\"}", "{}", 2, 8, 3, 1),
        ROW(bytes, "{}", "{\"model_type\":\"llama\"}", 0, 2, 8, 3, 1),
        ROW(bytes, "{}", "{\"model_type\":\"qwen2\"}", 2, 8, 3, 1, 1),
        ROW(bytes, "{}", "{\"model_type\":\"qwen2\",\"tokenizer_class\":\"LlamaTokenizerFast\"}", 0, 2, 8, 3, 1),
    };
    check_rows(rows, COUNT(rows));
}

/* tokenizer.json alone is what it says. */
static void alone(void **state)
{
    (void)state;
    static const row rows[] = {
        ROW(bytes, NULL, "{\"model_type\":\"llama\"}", 2, 8, 3, 1, 1),
        ROW(bytes_prefix, NULL, "{\"model_type\":\"gpt2\"}", 8, 2, 8, 3, 1, 1),
        ROW(cased, NULL, "{\"model_type\":\"bert\"}", 2, 5, 6, 7),
    };
    check_rows(rows, COUNT(rows));
}

static void refused(void **state)
{
    (void)state;
    static const struct {
        const char *config, *message;
    } rows[] = {
        {CLASS("LlamaTokenizer") ",\"bos_token\":null}",
         "tokenizer_config.json: add_bos_token is true: expected a token of the vocabulary as bos_token, found none"},
        {CLASS("GemmaTokenizer") ",\"add_eos_token\":true}",
         "tokenizer_config.json: add_eos_token is true: expected a token of the vocabulary as eos_token, found <eos>"},
        {CLASS("LlamaTokenizer") ",\"add_bos_token\":1}", "tokenizer_config.json: \"add_bos_token\": expected true or false"},
        {CLASS("GPT2Tokenizer") ",\"add_prefix_space\":\"\"}", "tokenizer_config.json: \"add_prefix_space\": expected true or false"},
        {"{\"split_special_tokens\":5}", "tokenizer_config.json: \"split_special_tokens\": expected true or false"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char directory[TEMP_PATH_BYTES];
        clf_tokenizer *tokenizer = NULL;
        make(directory, bytes, rows[i].config, "{}");
        CHECK_FAILS(clf_tokenizer_open(directory, &tokenizer), CLF_FORMAT, rows[i].message);
        assert_null(tokenizer);
        temp_directory_remove(directory);
    }
}

static void prefix_space(void **state)
{
    (void)state;
    static const row rows[] = {
        ROW(bytes, CLASS("PreTrainedTokenizerFast") ",\"add_prefix_space\":true}", "{}", 8, 2, 8, 3, 1, 1),
        ROW(bytes, CLASS("GPT2Tokenizer") ",\"add_prefix_space\":true}", "{}", 8, 2, 8, 3, 1, 1),
        ROW(bytes, CLASS("Qwen2Tokenizer") ",\"add_prefix_space\":true}", "{}", 8, 2, 8, 3, 1, 1),
        ROW(bytes, CLASS("RobertaTokenizer") ",\"add_prefix_space\":true}", "{}", 8, 2, 8, 3, 1, 1),
        ROW(bytes_prefix, CLASS("PreTrainedTokenizerFast") ",\"add_prefix_space\":false}", "{}", 2, 8, 3, 1, 1),
        ROW(bytes_prefix, CLASS("PreTrainedTokenizerFast") "}", "{}", 8, 2, 8, 3, 1, 1),
        ROW(bytes_prefix, CLASS("PreTrainedTokenizerFast") ",\"add_prefix_space\":null}", "{}", 8, 2, 8, 3, 1, 1),
        ROW(bytes_prefix, CLASS("LlamaTokenizer") ",\"add_bos_token\":false}", "{}", 8, 2, 8, 3, 1),
    };
    check_rows(rows, COUNT(rows));
}

static void special_tokens(void **state)
{
    (void)state;
    static const row rows[] = {
        ROW(bytes, CLASS("PreTrainedTokenizerFast") ",\"split_special_tokens\":true}", "{}", 2, 8, 3, 4, 5, 6, 7, 1),
        ROW(bytes, CLASS("PreTrainedTokenizerFast") ",\"split_special_tokens\":false}", "{}", 2, 8, 3, 1, 1),
    };
    check_rows(rows, COUNT(rows));
}

/* Tokens that the configuration or the class names and the vocabulary lacks: transformers adds them behind it. */
static void absent_tokens(void **state)
{
    (void)state;
    static const struct {
        const char *tokenizer, *config, *model, *text, *message; /* NULL: it is encoded */
    } rows[] = {
        {bytes, CLASS("PreTrainedTokenizerFast") ",\"pad_token\":\"a<\"}", "{}", "b a<b", "\"a<\", which "},
        {bytes, CLASS("PreTrainedTokenizerFast") ",\"pad_token\":\"a<\"}", "{}", "b a", NULL},
        {bytes, CLASS("PreTrainedTokenizerFast") ",\"pad_token\":{\"content\":\"a<\"}}", "{}", "a<", ": pad_token names as a token"},
        {bytes, CLASS("PreTrainedTokenizerFast") ",\"image_token\":\"a<\"}", "{}", "a<", ": image_token names"},
        {bytes, CLASS("PreTrainedTokenizerFast") ",\"additional_special_tokens\":[\"b\",\"a<\"]}", "{}", "a<", "additional_special_tokens"},
        {bytes, CLASS("PreTrainedTokenizerFast") ",\"extra_special_tokens\":{\"x\":\"a<\"}}", "{}", "a<", ": x names"},
        {bytes, CLASS("PreTrainedTokenizerFast") ",\"added_tokens_decoder\":{\"77\":{\"content\":\"a<\"}}}", "{}", "a<", ": 77 names"},
        {bytes, CLASS("PreTrainedTokenizerFast") ",\"pad_token\":\"a<\",\"split_special_tokens\":true}", "{}", "a<", NULL},
        {bytes, CLASS("PreTrainedTokenizerFast") ",\"pad_token\":\"\",\"cls_token\":null,\"sep_token\":5}", "{}", "a<", NULL},
        {lower, CLASS("LlamaTokenizer") "}", "{\"model_type\":\"bert\",\"transformers_version\":\"5.24.0\"}", "ab<s>", ": bos_token names"},
        {lower, CLASS("LlamaTokenizer") "}", "{\"model_type\":\"bert\",\"transformers_version\":\"5.24.0\"}", "ab <unk>",
         ": unk_token names"},
        {lower, CLASS("LlamaTokenizer") "}", "{\"model_type\":\"bert\",\"transformers_version\":\"5.24.0\"}", "ab", NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char directory[TEMP_PATH_BYTES];
        clf_tokenizer *tokenizer;
        clf_encoding got = CLF_ENCODING_INIT;
        const clf_encode_options options = CLF_ENCODE_OPTIONS_INIT;
        make(directory, rows[i].tokenizer, rows[i].config, rows[i].model);
        CHECK_OK(clf_tokenizer_open(directory, &tokenizer));
        const clf_status st = clfi_tokenizer_encode(tokenizer, rows[i].text, strlen(rows[i].text), NULL, 0, &options, &got);
        CHECK(st == (rows[i].message ? CLF_UNSUPPORTED : CLF_OK), "row %zu: status %d", i, (int)st);
        CHECK(!rows[i].message || strstr(clf_last_error(), rows[i].message), "row %zu: %s", i, clf_last_error());
        clfi_encoding_free(&got);
        clf_tokenizer_destroy(tokenizer);
        temp_directory_remove(directory);
    }
}

static void cases(void **state)
{
    (void)state;
    static const row rows[] = {
        ROW(lower, CLASS("BertTokenizer") ",\"do_lower_case\":false}", "{}", 2, 5, 6, 7),
        ROW(lower, CLASS("DistilBertTokenizerFast") ",\"do_lower_case\":false}", "{}", 2, 5, 6, 7),
        ROW(lower, CLASS("ElectraTokenizer") ",\"do_lower_case\":false}", "{}", 2, 5, 6, 7),
        ROW(lower, CLASS("MobileBertTokenizer") ",\"do_lower_case\":false}", "{}", 2, 5, 6, 7),
        ROW(lower, CLASS("MPNetTokenizer") ",\"do_lower_case\":false}", "{}", 2, 5, 6, 7),
        ROW(lower, CLASS("PreTrainedTokenizerFast") ",\"do_lower_case\":false}", "{}", 1, 4, 6, 7),
        ROW(lower, "{\"do_lower_case\":false}", "{\"model_type\":\"bert\"}", 2, 5, 6, 7),
        ROW(cased, CLASS("BertTokenizer") "}", "{}", 1, 4, 6, 7),
        ROW(lower, CLASS("BertTokenizer") ",\"strip_accents\":false}", "{}", 1, 3, 6, 7),
        ROW(lower, CLASS("BertTokenizer") ",\"do_lower_case\":false,\"strip_accents\":true}", "{}", 2, 0, 6, 7),
        ROW(lower, CLASS("BertTokenizer") ",\"tokenize_chinese_chars\":false}", "{}", 1, 4, 6, 8),
        ROW(lower, CLASS("MPNetTokenizer") ",\"tokenize_chinese_chars\":false}", "{}", 1, 4, 6, 7),
    };
    check_rows(rows, COUNT(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ends),         cmocka_unit_test(alone),          cmocka_unit_test(refused),
                                       cmocka_unit_test(prefix_space), cmocka_unit_test(special_tokens), cmocka_unit_test(cases),
                                       cmocka_unit_test(absent_tokens)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
