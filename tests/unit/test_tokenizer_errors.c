/* SPDX-License-Identifier: MIT */
/* Broken and unsupported tokenizer files: each gets a named error. */
#include "support/check.h"

#include <stdio.h>

#include "base/file.h"
#include "base/str.h"
#include "support/temp.h"
#include "text/post_processor.h"
#include "text/tokenizer.h"

/* A small tokenizer.json whose parts the cases replace. */
#define MODEL_HEAD "\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":100,"
#define VOCAB "\"vocab\":{\"[UNK]\":0,\"[CLS]\":1,\"[SEP]\":2,\"a\":3,\"##b\":4}"
#define MODEL "\"model\":{" MODEL_HEAD VOCAB "}"
#define NORMALIZER                                                                                                          \
    "\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,\"handle_chinese_chars\":true,\"strip_accents\":null," \
    "\"lowercase\":true}"
#define PRE "\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"}"
#define FLAGS "\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"special\":true,\"normalized\":"
#define ADDED "\"added_tokens\":[{\"id\":0,\"content\":\"[UNK]\"," FLAGS "false}]"
#define SEQUENCE(which, type) "{\"Sequence\":{\"id\":\"" which "\",\"type_id\":" type "}}"
#define SPECIAL(name) "{\"SpecialToken\":{\"id\":\"" name "\",\"type_id\":0}}"
#define TEMPLATE(single, pair, tokens) \
    "\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[" single "],\"pair\":[" pair "],\"special_tokens\":{" tokens "}}"
#define TOKENS "\"c\":{\"id\":\"c\",\"ids\":[1],\"tokens\":[\"[CLS]\"]}"
#define POST TEMPLATE(SPECIAL("c") "," SEQUENCE("A", "0"), SEQUENCE("A", "0") "," SEQUENCE("B", "1"), TOKENS)
#define FILE_OF(model, normalizer, pre, added, post) "{" model "," normalizer "," pre "," added "," post "}"
#define WITH_MODEL(model) FILE_OF("\"model\":" model, NORMALIZER, PRE, ADDED, POST)
#define WITH_ADDED(added) FILE_OF(MODEL, NORMALIZER, PRE, "\"added_tokens\":" added, POST)
#define WITH_POST(post) FILE_OF(MODEL, NORMALIZER, PRE, ADDED, post)

static const struct {
    const char *text;
    clf_status status;
    const char *part;
} json_cases[] = {
    {"", CLF_FORMAT, "x.json"},
    {"{\"model\":", CLF_FORMAT, "line 1"},
    {"[]", CLF_FORMAT, "expected an object"},
    {"{\"model\":{\"vocab\":{\"\xff\":0}}}", CLF_FORMAT, "x.json: line 1"},
    {"{\"model\":{},\"model\":7}", CLF_FORMAT, "\"model\": expected object, found integer 7"}, /* the last of a key counts */
    {"{}", CLF_FORMAT, "\"model\""},
    {WITH_MODEL("{\"type\":\"WordLevel\",\"vocab\":{}}"), CLF_UNSUPPORTED, "type \"WordLevel\"; known are WordPiece, BPE, Unigram"},
    {WITH_MODEL("{\"type\":\"Unigram\"}"), CLF_FORMAT, "\"vocab\""},
    {WITH_MODEL("{\"vocab\":{}}"), CLF_UNSUPPORTED, "type \"\"; known"},
    {WITH_MODEL("{\"type\":3}"), CLF_FORMAT, "\"type\""},
    {WITH_MODEL("{\"type\":\"WordPiece\"}"), CLF_FORMAT, "\"unk_token\""},
    {WITH_MODEL("{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\"}"), CLF_FORMAT, "\"continuing_subword_prefix\""},
    {WITH_MODEL("{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":-1}"),
     CLF_FORMAT, "\"max_input_chars_per_word\""},
    {WITH_MODEL("{" MODEL_HEAD "\"vocab\":[]}"), CLF_FORMAT, "\"vocab\""},
    {WITH_MODEL("{" MODEL_HEAD "\"vocab\":{}}"), CLF_FORMAT, "unknown token \"[UNK]\" is not in the vocabulary of 0 tokens"},
    {WITH_MODEL("{" MODEL_HEAD "\"vocab\":{\"a\":0}}"), CLF_FORMAT, "unknown token \"[UNK]\""},
    {WITH_MODEL("{" MODEL_HEAD "\"vocab\":{\"[UNK]\":\"0\"}}"), CLF_FORMAT, "expected an integer id, found string"},
    {WITH_MODEL("{" MODEL_HEAD "\"vocab\":{\"[UNK]\":0.0}}"), CLF_FORMAT, "expected an integer id, found real"},
    {WITH_MODEL("{" MODEL_HEAD "\"vocab\":{\"[UNK]\":-1}}"), CLF_FORMAT, "id -1 is outside"},
    {WITH_MODEL("{" MODEL_HEAD "\"vocab\":{\"[UNK]\":16777216}}"), CLF_FORMAT, "id 16777216 is outside"},
    {WITH_MODEL("{" MODEL_HEAD "\"vocab\":{\"[UNK]\":9223372036854775807}}"), CLF_FORMAT, "outside"},
    {WITH_MODEL("{" MODEL_HEAD "\"vocab\":{\"[UNK]\":16777215}}"), CLF_FORMAT, "highest id 16777215 with only 1 tokens"},
    {WITH_MODEL("{" MODEL_HEAD "\"vocab\":{\"[UNK]\":0,\"a\":1,\"b\":1}}"), CLF_FORMAT, "share id 1"},
    {WITH_MODEL("{" MODEL_HEAD "\"vocab\":{\"[UNK]\":0,\"a\":1,\"a\":NaN}}"), CLF_FORMAT, "found real number nan"},
    {FILE_OF(MODEL, "\"normalizer\":{\"type\":\"Nix\"}", PRE, ADDED, POST), CLF_UNSUPPORTED,
     "normalizer: type \"Nix\"; known are BertNormalizer, Lowercase, NFC"},
    {FILE_OF(MODEL, "\"normalizer\":7", PRE, ADDED, POST), CLF_FORMAT, "\"normalizer\""},
    {FILE_OF(MODEL, "\"normalizer\":{}", PRE, ADDED, POST), CLF_FORMAT, "normalizer: \"type\""},
    {FILE_OF(MODEL, "\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":1}", PRE, ADDED, POST), CLF_FORMAT, "\"clean_text\""},
    {FILE_OF(MODEL, NORMALIZER, "\"pre_tokenizer\":{\"type\":\"Nix\"}", ADDED, POST), CLF_UNSUPPORTED,
     "pre_tokenizer: type \"Nix\"; known are BertPreTokenizer"},
    {"{" MODEL "," PRE ",\"truncation\":{\"direction\":\"Up\"}}", CLF_FORMAT, "truncation: direction: expected \"Left\" or \"Right\""},
    {WITH_ADDED("{}"), CLF_FORMAT, "\"added_tokens\""},
    {WITH_ADDED("[5]"), CLF_FORMAT, "added_tokens[0]"},
    {WITH_ADDED("[{\"id\":0,\"content\":\"[UNK]\"}]"), CLF_FORMAT, "\"single_word\""},
    {WITH_ADDED("[{\"id\":-2,\"content\":\"[UNK]\"," FLAGS "false}]"), CLF_FORMAT, "\"id\""},
    {WITH_ADDED("[{\"id\":7,\"content\":\"[UNK]\"," FLAGS "false}]"), CLF_FORMAT, "expected id 0, found 7"},
    {WITH_ADDED("[{\"id\":7,\"content\":\"new\"," FLAGS "false}]"), CLF_FORMAT, "expected id 5, found 7"},
    {WITH_ADDED("[{\"id\":5,\"content\":\"\\u0301\"," FLAGS "true}]"), CLF_UNSUPPORTED, "nothing is left"},
    {FILE_OF("\"model\":{" MODEL_HEAD "\"vocab\":{\"[UNK]\":0,\"a\":2}}", NORMALIZER, PRE,
             "\"added_tokens\":[{\"id\":2,\"content\":\"new\"," FLAGS "false}]", "\"post_processor\":null"),
     CLF_FORMAT, "id 2, which is that of \"a\""},
    {WITH_POST("\"post_processor\":{\"type\":\"Nix\"}"), CLF_UNSUPPORTED, "post_processor: type \"Nix\"; known are TemplateProcessing"},
    {WITH_POST("\"post_processor\":{\"type\":\"BertProcessing\",\"sep\":[\"[SEP]\",2],\"cls\":[\"[CLS]\"]}"), CLF_FORMAT,
     "cls: expected [token, id]"},
    {WITH_POST("\"post_processor\":{\"type\":\"BertProcessing\",\"sep\":[\"[SEP]\",2],\"cls\":[\"[CLS]\",99]}"), CLF_FORMAT,
     "no token has id 99"},
    {WITH_POST("\"post_processor\":{\"type\":\"RobertaProcessing\",\"cls\":[\"[CLS]\",1]}"), CLF_FORMAT, "\"sep\""},
    {WITH_POST(TEMPLATE("7", SEQUENCE("A", "0"), TOKENS)), CLF_FORMAT, "post_processor"},
    {WITH_POST(TEMPLATE("{}", SEQUENCE("A", "0"), TOKENS)), CLF_FORMAT, "expected a Sequence or a SpecialToken"},
    {WITH_POST(TEMPLATE(SEQUENCE("C", "0"), SEQUENCE("A", "0"), TOKENS)), CLF_FORMAT, "expected Sequence \"A\" or \"B\""},
    {WITH_POST(TEMPLATE(SEQUENCE("A", "-1"), SEQUENCE("A", "0"), TOKENS)), CLF_FORMAT, "\"type_id\""},
    {WITH_POST(TEMPLATE(SPECIAL("nix"), SEQUENCE("A", "0"), TOKENS)), CLF_FORMAT, "\"nix\""},
    {WITH_POST(TEMPLATE(SPECIAL("c"), SEQUENCE("A", "0"), "\"c\":{\"ids\":[1,\"2\"]}")), CLF_FORMAT, "expected token ids"},
    {WITH_POST(TEMPLATE(SPECIAL("c"), SEQUENCE("A", "0"), TOKENS)), CLF_UNSUPPORTED, "single: expected A once alone"},
    {WITH_POST(TEMPLATE(SEQUENCE("A", "0"), SEQUENCE("A", "0"), TOKENS)), CLF_UNSUPPORTED, "pair: expected A and B once each"},
};

static void broken_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(json_cases); i++) {
        clf_tokenizer *tokenizer = NULL;
        CHECK_FAILS(clfi_tokenizer_from_json(json_cases[i].text, strlen(json_cases[i].text), "x.json", &tokenizer), json_cases[i].status,
                    json_cases[i].part);
        CHECK(!tokenizer, "case %zu: output set", i);
        CHECK(strncmp(clf_last_error(), "x.json", 6) == 0, "case %zu: no file name: %s", i, clf_last_error());
    }
}

/* The file that the cases are made from is itself good; so are files without the parts that may be left out. */
static void good_json(void **state)
{
    (void)state;
    static const char *const texts[] = {
        FILE_OF(MODEL, NORMALIZER, PRE, ADDED, POST),
        "{" MODEL "," PRE "}",
        "{\"model\":{\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":100," VOCAB "}," PRE
        ",\"truncation\":{\"max_length\":2},\"padding\":{\"strategy\":{\"Fixed\":9}}}",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        clf_tokenizer *tokenizer;
        clf_encoding got = CLF_ENCODING_INIT;
        CHECK_OK(clfi_tokenizer_from_json(texts[i], strlen(texts[i]), "x.json", &tokenizer));
        CHECK_OK(clfi_tokenizer_encode(tokenizer, "ab a z", 6, NULL, 0, NULL, &got));
        assert_int_equal(got.length, i == 0 ? 5 : 4);
        assert_int_equal(got.ids[got.length - 1], 0);
        assert_int_equal(got.ids[got.length - 3], 4);
        clfi_encoding_free(&got);
        clf_tokenizer_destroy(tokenizer);
    }
}

#define LINES "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n##b\n"

static const struct {
    const char *lines;
    size_t size; /* 0: all */
    const char *config;
    clf_status status;
    const char *part;
} vocabulary_cases[] = {
    {"", 0, NULL, CLF_FORMAT, "v.txt: the unknown token \"[UNK]\""},
    {"a\nb\n", 0, NULL, CLF_FORMAT, "v.txt: the unknown token \"[UNK]\""},
    {"[UNK]\n[SEP]\n", 0, NULL, CLF_FORMAT, "the cls_token \"[CLS]\" is not in the vocabulary"},
    {"[UNK]\n[CLS]\n", 0, NULL, CLF_FORMAT, "the sep_token \"[SEP]\" is not in the vocabulary"},
    {"[UNK]\nab\xff"
     "c\n",
     0, NULL, CLF_FORMAT, "v.txt: line 2 is not UTF-8"},
    {"[UNK]\n\xed\xa0\x80\n", 0, NULL, CLF_FORMAT, "v.txt: line 2 is not UTF-8"},
    {"[UNK]\nx\0y\n", 10, NULL, CLF_FORMAT, "v.txt: line 2 holds U+0000"},
    {LINES, 0, "{", CLF_FORMAT, "c.json: line 1"},
    {LINES, 0, "[]", CLF_FORMAT, "c.json: expected an object"},
    {LINES, 0, "{\"do_lower_case\":\"yes\"}", CLF_FORMAT, "\"do_lower_case\""},
    {LINES, 0, "{\"strip_accents\":0}", CLF_FORMAT, "\"strip_accents\""},
    {LINES, 0, "{\"tokenizer_class\":\"T5Tokenizer\"}", CLF_UNSUPPORTED, "tokenizer_class \"T5Tokenizer\""},
    {LINES, 0, "{\"tokenizer_class\":\"BertJapaneseTokenizer\"}", CLF_UNSUPPORTED, "BertJapaneseTokenizer"},
    {LINES, 0, "{\"unk_token\":\"<unk>\"}", CLF_FORMAT, "unknown token \"<unk>\""},
    {LINES, 0, "{\"unk_token\":5}", CLF_FORMAT, "\"unk_token\""},
    {LINES, 0, "{\"cls_token\":{}}", CLF_FORMAT, "\"content\""},
    {LINES, 0, "{\"added_tokens_decoder\":{\"x\":{}}}", CLF_FORMAT, "expected an id as key"},
    {LINES, 0, "{\"added_tokens_decoder\":{\"1\":7}}", CLF_FORMAT, "expected an object"},
    {LINES, 0, "{\"added_tokens_decoder\":{\"9\":{\"content\":\"new\"}}}", CLF_FORMAT, "expected id 6, found 9"},
};

static void broken_vocabulary(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(vocabulary_cases); i++) {
        clf_tokenizer *tokenizer = NULL;
        const char *lines = vocabulary_cases[i].lines, *config = vocabulary_cases[i].config;
        const size_t size = vocabulary_cases[i].size ? vocabulary_cases[i].size : strlen(lines);
        CHECK_FAILS(clfi_tokenizer_from_vocabulary(lines, size, "v.txt", config, config ? strlen(config) : 0, "c.json", &tokenizer),
                    vocabulary_cases[i].status, vocabulary_cases[i].part);
        CHECK(!tokenizer, "case %zu: output set", i);
    }
}

static void listed_tokens(void **state)
{
    (void)state;
    static const char config[] = "{\"added_tokens_decoder\":{\"7\":{\"content\":\"Two\"},\"1\":{\"content\":\"[UNK]\",\"special\":true},"
                                 "\"6\":{\"content\":\"<one>\",\"special\":true,\"lstrip\":true}},\"mask_token\":\"<one>\"}";
    clf_tokenizer *tokenizer;
    clf_encoding got = CLF_ENCODING_INIT;
    CHECK_OK(clfi_tokenizer_from_vocabulary(LINES, strlen(LINES), "v.txt", config, strlen(config), "c.json", &tokenizer));
    CHECK_OK(clfi_tokenizer_encode(tokenizer, "ab <one>TWO", 11, NULL, 0, NULL, &got));
    static const int32_t want[] = {2, 4, 5, 6, 7, 3};
    assert_int_equal(got.length, COUNT(want));
    assert_memory_equal(got.ids, want, sizeof want);
    assert_int_equal(clf_tokenizer_vocabulary_size(tokenizer), 8);
    clfi_encoding_free(&got);
    clf_tokenizer_destroy(tokenizer);
}

/* source.spm and vocab.json as they should not be. */
static void marian_files(void **state)
{
#define PIECE          \
    "\x0a\x08\x0a\x01" \
    "a"                \
    "\x15\x00\x00\x80\xbf"
#define VOCABULARY "{\"</s>\":0,\"<unk>\":1,\"a\":2}"
    static const struct {
        const char *spm;
        size_t size;
        const char *vocabulary, *message;
        clf_status status;
    } rows[] = {
        {"", 0, VOCABULARY, "found no pieces", CLF_FORMAT},
        {"\x0a\x09\x0a\x01"
         "a",
         5, VOCABULARY, "byte 2: a field is cut short", CLF_FORMAT},
        {"\x0a\x03\x0a\x02"
         "a",
         5, VOCABULARY, "cut short", CLF_FORMAT},
        {"\x0b", 1, VOCABULARY, "a field of kind 3", CLF_FORMAT},
        {"\x08\x01", 2, VOCABULARY, "field 1 is of kind 0, expected 2", CLF_FORMAT},
        {"\x0a\x02\x08\x01", 4, VOCABULARY, "field 1 is of kind 0, expected 2", CLF_FORMAT},
        {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", 11, VOCABULARY, "more than 64 bits", CLF_FORMAT},
        {"\x0a\x05\x15\x00\x00\x80\xbf", 7, VOCABULARY, "piece 0 has no text", CLF_FORMAT},
        {"\x0a\x08\x0a\x01"
         "a"
         "\x15\x00\x00\x80\x7f",
         10, VOCABULARY, "not finite", CLF_FORMAT},
        {PIECE "\x12\x02\x18\x02", 14, VOCABULARY, "model_type 2: expected Unigram", CLF_UNSUPPORTED},
        {PIECE "\x12\x03\x98\x02\x01", 15, VOCABULARY, "with bytes", CLF_UNSUPPORTED},
        {PIECE "\x1a\x02\x18\x00", 14, VOCABULARY, "add_dummy_prefix", CLF_UNSUPPORTED},
        {"\x0a\x05\x0a\x01"
         "a"
         "\x18\x04",
         7, VOCABULARY, "piece 0 is of type 4", CLF_UNSUPPORTED},
        {PIECE, 10, "[]", "</s>", CLF_FORMAT},
        {PIECE, 10, "{\"</s>\":0,\"a\":1}", "<unk>", CLF_FORMAT},
        {PIECE, 10, "{\"</s>\":0,\"<unk>\":1,\"a\":1}", "expected ids from 0 to 2", CLF_FORMAT},
        {PIECE, 10, "{\"</s>\":0,\"<unk>\":1,\"a\":\"x\"}", "expected ids from 0 to 2", CLF_FORMAT},
    };
    (void)state;
    char directory[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
    clf_tokenizer *tokenizer = NULL;
    clf_encoding got = CLF_ENCODING_INIT;
    clf_encode_options options = CLF_ENCODE_OPTIONS_INIT;
    temp_directory_make(directory);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        temp_file(directory, "vocab.json", rows[i].vocabulary, strlen(rows[i].vocabulary), path);
        temp_file(directory, "source.spm", rows[i].spm, rows[i].size, path);
        CHECK_FAILS(clf_tokenizer_open(directory, &tokenizer), rows[i].status, rows[i].message);
    }
    temp_file(directory, "vocab.json", "{\"</s>\":0,\"<unk>\":1,\"a\":2,\"ab\":3,\">>x<<\":4}",
              strlen("{\"</s>\":0,\"<unk>\":1,\"a\":2,\"ab\":3,\">>x<<\":4}"), path);
    temp_file(directory, "source.spm", PIECE "\x0a\x0a\x0a\x03\xe2\x96\x81\x15\x00\x00\x80\xbf", 22, path);
    CHECK_OK(clf_tokenizer_open(directory, &tokenizer));
    CHECK_OK(clfi_tokenizer_encode(tokenizer, ">>x<< aab ", 10, NULL, 0, &options, &got));
    static const int32_t want[] = {4, 1, 2, 2, 1, 0}; /* the mark of a space has no id, "ab" is the target's alone */
    assert_int_equal(got.length, sizeof want / sizeof want[0]);
    assert_memory_equal(got.ids, want, sizeof want);
    clfi_encoding_free(&got);
    clf_tokenizer_destroy(tokenizer);
    temp_directory_remove(directory);
}

static void directories(void **state)
{
    (void)state;
    char directory[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
    clf_tokenizer *tokenizer = NULL;
    temp_directory_make(directory);
    CHECK_FAILS(clf_tokenizer_open(directory, &tokenizer), CLF_NOT_FOUND, "no tokenizer.json and no vocab.txt");
    CHECK_FAILS(clf_tokenizer_open(temp_path(directory, "nowhere", path), &tokenizer), CLF_NOT_FOUND, "nowhere");
    temp_file(directory, "vocab.txt", LINES, strlen(LINES), path);
    temp_file(directory, "tokenizer_config.json", "{]", 2, path);
    CHECK_FAILS(clf_tokenizer_open(directory, &tokenizer), CLF_FORMAT, "/tokenizer_config.json: line 1");
    temp_file(directory, "tokenizer.json", "{]", 2, path);
    temp_file(directory, "tokenizer_config.json", "{}", 2, path);
    CHECK_FAILS(clf_tokenizer_open(directory, &tokenizer), CLF_FORMAT, "/tokenizer.json: line 1");
    assert_null(tokenizer);
    temp_directory_remove(directory);
}

static void encode_limits(void **state)
{
    (void)state;
    clf_tokenizer *tokenizer;
    clf_encoding got = CLF_ENCODING_INIT;
    clf_encode_options options = CLF_ENCODE_OPTIONS_INIT;
    CHECK_OK(clfi_tokenizer_from_vocabulary(LINES, strlen(LINES), "v.txt", NULL, 0, NULL, &tokenizer));
    options.max_tokens = 1;
    CHECK_FAILS(clfi_tokenizer_encode(tokenizer, "a", 1, NULL, 0, &options, &got), CLF_INVALID_ARGUMENT,
                "max_tokens 1: expected at least 2");
    options.max_tokens = 2;
    CHECK_FAILS(clfi_tokenizer_encode(tokenizer, "a", 1, "a", 1, &options, &got), CLF_INVALID_ARGUMENT,
                "max_tokens 2: expected at least 3");
    CHECK_OK(clfi_tokenizer_encode(tokenizer, "a", 1, NULL, 0, &options, &got));
    assert_true(got.length == 2 && got.truncated);
    CHECK_OK(clfi_tokenizer_encode(tokenizer, NULL, 0, NULL, 0, &options, &got)); /* no text: the special tokens alone */
    assert_true(got.length == 2 && !got.truncated);
    options = (clf_encode_options){.add_special_tokens = false};
    CHECK_OK(clfi_tokenizer_encode(tokenizer, "", 0, "", 0, &options, &got));
    assert_int_equal(got.length, 0);
    clfi_encoding_free(&got);
    options.repeats_first = true; /* pairs of "ab a" with several texts */
    for (size_t length = 0; length <= 8; length += 2) {
        clf_encoding want = CLF_ENCODING_INIT;
        clf_encode_options once = options;
        options.max_tokens = once.max_tokens = 3;
        once.repeats_first = false;
        CHECK_OK(clfi_tokenizer_encode(tokenizer, "ab a", 4, "a b a a ", length, &once, &want));
        CHECK_OK(
            clfi_tokenizer_encode(tokenizer, length ? NULL : "ab a", length ? 0 : 4, "a b a a ", length, length ? &options : &once, &got));
        assert_true(got.length == 3 && want.length == 3 && memcmp(got.ids, want.ids, 3 * sizeof *got.ids) == 0);
        clfi_encoding_free(&want);
    }
    clfi_encoding_free(&got);
    clf_tokenizer_destroy(tokenizer);
    clf_tokenizer_destroy(NULL);
}

/* A pair is read only as far as its truncation needs, and is truncated as one that was read to its ends. */
static void pair_limits(void **state)
{
    (void)state;
    enum { MOST = 9 };
    static const char texts[2][2 * MOST + 1] = {"a a a a a a a a a ", "b b b b b b b b b "};
    clf_tokenizer *tokenizer;
    clf_encoding got = CLF_ENCODING_INIT;
    CHECK_OK(clfi_tokenizer_from_vocabulary(LINES "b\n", strlen(LINES "b\n"), "v.txt", NULL, 0, NULL, &tokenizer));
    for (size_t room = 1; room < MOST; room++)
        for (size_t i = 0; i <= MOST * MOST; i++) {
            size_t first = i / MOST, second = i % MOST, found = 0;
            const clf_encode_options options = {.max_tokens = room};
            CHECK_OK(clfi_tokenizer_encode(tokenizer, texts[0], 2 * first, texts[1], 2 * second, &options, &got));
            clfi_truncate_pair(room, &first, &second);
            while (found < got.length && got.ids[found] == clf_tokenizer_id(tokenizer, "a"))
                found++;
            CHECK(got.length == first + second && found == first, "texts %zu: %zu tokens, %zu of the first: expected %zu and %zu", i,
                  got.length, found, first + second, first);
        }
    clfi_encoding_free(&got);
    clf_tokenizer_destroy(tokenizer);
}

/* tokenizer_config.json's side before tokenizer.json's direction, as transformers has it; from the left the last tokens stay. */
static void sides(void **state)
{
    (void)state;
    static const struct {
        const char *direction, *config;
        bool is_left;
    } rows[] = {
        {"", NULL, false},
        {"", "{}", false},
        {"", "{\"truncation_side\":\"left\"}", true},
        {",\"truncation\":{\"direction\":\"Left\",\"max_length\":9}", NULL, true},
        {",\"truncation\":{\"direction\":\"Left\"}", "{\"truncation_side\":\"right\"}", false},
        {",\"truncation\":{\"direction\":\"Right\"}", "{\"truncation_side\":\"left\"}", true},
        {",\"truncation\":null", "{\"truncation_side\":null}", false},
    };
    char directory[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES], text[2048];
    static char longer[200001]; /* is divided portion by portion */
    for (size_t i = 0; i < sizeof longer; i++)
        longer[i] = i % 2 ? ' ' : 'a';
    for (size_t i = 0; i < COUNT(rows); i++) {
        clf_tokenizer *tokenizer;
        clf_encoding got = CLF_ENCODING_INIT;
        const clf_encode_options four = {.add_special_tokens = true, .max_tokens = 4, .offsets = CLF_OFFSETS_BYTES};
        clf_encode_options pair = {.add_special_tokens = false, .max_tokens = 2, .offsets = CLF_OFFSETS_BYTES};
        temp_directory_make(directory);
        snprintf(text, sizeof text, "{" MODEL "," PRE "," POST "%s}", rows[i].direction);
        temp_file(directory, "tokenizer.json", text, strlen(text), path);
        if (rows[i].config)
            temp_file(directory, "tokenizer_config.json", rows[i].config, strlen(rows[i].config), path);
        CHECK_OK(clf_tokenizer_open(directory, &tokenizer));
        CHECK_OK(clfi_tokenizer_encode(tokenizer, "a z a ab", 8, NULL, 0, &four, &got)); /* a [UNK] a a ##b */
        CHECK(got.length == 4 && got.truncated && got.offsets[1].start == (rows[i].is_left ? 4 : 0) &&
                  got.offsets[3].end == (rows[i].is_left ? 8 : 5),
              "row %zu: %zu tokens, at %d", i, got.length, (int)got.offsets[1].start);
        CHECK_OK(clfi_tokenizer_encode(tokenizer, "a z", 3, "z ab", 4, &pair, &got)); /* one of each */
        CHECK(got.length == 2 && got.truncated && got.offsets[0].start == (rows[i].is_left ? 2 : 0) &&
                  got.offsets[1].start == (rows[i].is_left ? 3 : 0),
              "row %zu: a pair: %zu tokens, at %d and %d", i, got.length, (int)got.offsets[0].start, (int)got.offsets[1].start);
        CHECK_OK(clfi_tokenizer_encode(tokenizer, longer, sizeof longer, NULL, 0, &four, &got));
        CHECK(got.length == 4 && got.truncated && got.offsets[3].end == (rows[i].is_left ? sizeof longer : 5),
              "row %zu: a long text: %zu tokens, to %u", i, got.length, (unsigned)got.offsets[3].end);
        clfi_encoding_free(&got);
        clf_tokenizer_destroy(tokenizer);
        temp_directory_remove(directory);
    }
}

/* A tokenizer whose special tokens are named in other files than tokenizer.json. */
static const char unnamed_json[] =
    "{\"added_tokens\":[{\"id\":0,\"content\":\"[UNK]\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false,"
    "\"special\":true}],\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,\"handle_chinese_chars\":true,"
    "\"strip_accents\":null,\"lowercase\":true},\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},"
    "\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true},"
    "\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":100,"
    "\"vocab\":{\"[UNK]\":0,\"[\":1,\"]\":2,\"mask\":3,\"[MASK]\":4,\"a\":5,\"[PAD]\":6,\"<x>\":7}}}";
static const char named_text[] = "a [MASK] a[mask] [PAD] <x> [NEW]";

enum { NAMED_IDS = 20 };

/* Ids of the text and what is special with these files, of which NULL is not there. */
static void check_named(const char *directory, const char *const files[3], const int32_t ids[NAMED_IDS], bool mask, bool x)
{
    static const char *const names[] = {"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"};
    char path[TEMP_PATH_BYTES];
    clf_tokenizer *tokenizer = NULL;
    clf_encoding got = CLF_ENCODING_INIT;
    size_t want = NAMED_IDS;
    while (ids[want - 1] == 0)
        want--;
    for (size_t j = 0; j < COUNT(names); j++) {
        remove(temp_path(directory, names[j], path));
        if (files[j])
            temp_file(directory, names[j], files[j], strlen(files[j]), path);
    }
    const char *row = files[0] ? files[0] : files[1];
    CHECK_OK(clf_tokenizer_open(directory, &tokenizer));
    CHECK_OK(clfi_tokenizer_encode(tokenizer, named_text, strlen(named_text), NULL, 0, &(clf_encode_options)CLF_ENCODE_OPTIONS_INIT, &got));
    CHECK(got.length == want, "%s: %zu ids, want %zu", row, got.length, want);
    for (size_t j = 0; j < want; j++)
        CHECK(got.ids[j] == ids[j], "%s: id %zu is %d, want %d", row, j, (int)got.ids[j], (int)ids[j]);
    CHECK(clf_tokenizer_is_special(tokenizer, 4) == mask && clf_tokenizer_is_special(tokenizer, 7) == x, "%s", row);
    assert_int_equal(clf_tokenizer_vocabulary_size(tokenizer), 8);
    clfi_encoding_free(&got);
    clf_tokenizer_destroy(tokenizer);
}

/* Tokens that only tokenizer_config.json names: ids of transformers 5.23, but that "[NEW]", which the vocabulary has not, is none. */
static void named_tokens(void **state)
{
    (void)state;
    static const struct {
        const char *config;
        int32_t ids[NAMED_IDS];
        bool mask, x; /* are special */
    } rows[] = {
        {"{}", {5, 1, 3, 2, 5, 1, 3, 2, 1, 0, 2, 0, 0, 0, 1, 0, 2}, false, false},
        {"{\"mask_token\":\"[MASK]\"}", {5, 4, 5, 1, 3, 2, 1, 0, 2, 0, 0, 0, 1, 0, 2}, true, false},
        {"{\"unk_token\":\"[MASK]\"}", {5, 4, 5, 1, 3, 2, 1, 0, 2, 0, 0, 0, 1, 0, 2}, true, false},
        {"{\"mask_token\":\"[MASK]\",\"pad_token\":\"[PAD]\",\"unk_token\":null}", {5, 4, 5, 1, 3, 2, 6, 0, 0, 0, 1, 0, 2}, true, false},
        {"{\"mask_token\":{\"__type\":\"AddedToken\",\"content\":\"[MASK]\",\"lstrip\":true,\"rstrip\":false,\"normalized\":true,"
         "\"single_word\":false,\"special\":false}}",
         {5, 4, 5, 4, 1, 0, 2, 0, 0, 0, 1, 0, 2},
         true,
         false},
        {"{\"additional_special_tokens\":[\"<x>\"]}", {5, 1, 3, 2, 5, 1, 3, 2, 1, 0, 2, 7, 1, 0, 2}, false, true},
        {"{\"extra_special_tokens\":[\"<x>\"]}", {5, 1, 3, 2, 5, 1, 3, 2, 1, 0, 2, 7, 1, 0, 2}, false, true},
        {"{\"extra_special_tokens\":{\"x_token\":\"<x>\"}}", {5, 1, 3, 2, 5, 1, 3, 2, 1, 0, 2, 7, 1, 0, 2}, false, true},
        {"{\"added_tokens_decoder\":{\"7\":{\"content\":\"<x>\",\"lstrip\":false,\"rstrip\":false,\"normalized\":false,"
         "\"single_word\":false,\"special\":false}}}",
         {5, 1, 3, 2, 5, 1, 3, 2, 1, 0, 2, 7, 1, 0, 2},
         false,
         false},
        {"{\"mask_token\":null,\"pad_token\":\"\",\"additional_special_tokens\":null}",
         {5, 1, 3, 2, 5, 1, 3, 2, 1, 0, 2, 0, 0, 0, 1, 0, 2},
         false,
         false},
    };
    char directory[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
    clf_tokenizer *tokenizer = NULL;
    temp_directory_make(directory);
    temp_file(directory, "tokenizer.json", unnamed_json, strlen(unnamed_json), path);
    for (size_t i = 0; i < COUNT(rows); i++)
        check_named(directory, (const char *const[3]){rows[i].config}, rows[i].ids, rows[i].mask, rows[i].x);
    static const char broken[] = "{\"mask_token\":{\"content\":\"[MASK]\",\"lstrip\":5}}";
    temp_file(directory, "tokenizer_config.json", broken, strlen(broken), path);
    CHECK_FAILS(clf_tokenizer_open(directory, &tokenizer), CLF_FORMAT,
                "tokenizer_config.json: mask_token: \"lstrip\": expected true or false");
    temp_directory_remove(directory);
}

/* The same of directories before added_tokens_decoder. */
static void older_tokens(void **state)
{
    (void)state;
    static const struct {
        const char *files[3];
        int32_t ids[NAMED_IDS];
        bool mask;
    } rows[] = {
        {{NULL, "{\"mask_token\":{\"content\":\"[MASK]\",\"normalized\":false}}"}, {5, 4, 5, 1, 3, 2, 1, 0, 2, 0, 0, 0, 1, 0, 2}, true},
        {{"{\"mask_token\":\"[PAD]\"}", "{\"mask_token\":\"[MASK]\"}"}, {5, 4, 5, 1, 3, 2, 1, 0, 2, 0, 0, 0, 1, 0, 2}, true},
        {{"{\"added_tokens_decoder\":{}}", "{\"mask_token\":\"[MASK]\"}", "{\"<x>\":7}"},
         {5, 1, 3, 2, 5, 1, 3, 2, 1, 0, 2, 0, 0, 0, 1, 0, 2},
         false},
        {{"{}", NULL, "{\"<x>\":7}"}, {5, 1, 3, 2, 5, 1, 3, 2, 1, 0, 2, 7, 1, 0, 2}, false},
        {{NULL, "{\"mask_token\":\"[MASK]\"}", "{\"[MASK]\":4,\"<x>\":7}"}, {5, 4, 5, 1, 3, 2, 1, 0, 2, 7, 1, 0, 2}, true},
    };
    static const char *const broken[][3] = {
        {"added_tokens.json", "{\"<x>\":\"7\"}", "added_tokens.json: \"<x>\": expected a token id, found"},
        {"special_tokens_map.json", "[]", "special_tokens_map.json: expected an object, found"},
        {"special_tokens_map.json", "{", "special_tokens_map.json: line 1"},
    };
    char directory[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
    clf_tokenizer *tokenizer = NULL;
    temp_directory_make(directory);
    temp_file(directory, "tokenizer.json", unnamed_json, strlen(unnamed_json), path);
    for (size_t i = 0; i < COUNT(rows); i++)
        check_named(directory, rows[i].files, rows[i].ids, rows[i].mask, false);
    for (size_t i = 0; i < COUNT(broken); i++) {
        temp_file(directory, broken[i][0], broken[i][1], strlen(broken[i][1]), path);
        CHECK_FAILS(clf_tokenizer_open(directory, &tokenizer), CLF_FORMAT, broken[i][2]);
    }
    temp_directory_remove(directory);
}

/* A long text in portions gives the ids of the whole; an encoding used before keeps its memory. */
static void portions_and_reuse(void **state)
{
    (void)state;
    enum { WORDS = 20000 };
    clf_tokenizer *tokenizer;
    clf_encoding got = CLF_ENCODING_INIT;
    clf_str text = CLF_STR_INIT;
    CHECK_OK(clfi_tokenizer_from_vocabulary(LINES, strlen(LINES), "v.txt", NULL, 0, NULL, &tokenizer));
    for (int i = 0; i < WORDS; i++)
        CHECK_OK(clfi_str_append_text(&text, i % 7 ? "ab "
                                                   : "A\xcc\x81"
                                                     "b\n")); /* both are the tokens a, ##b */
    CHECK_OK(clfi_tokenizer_encode(tokenizer, text.data, text.length, NULL, 0, NULL, &got));
    assert_int_equal(got.length, 2 * WORDS + 2);
    for (size_t i = 1; i + 1 < got.length; i++)
        CHECK(got.ids[i] == (i % 2 ? 4 : 5), "token %zu is %d", i, (int)got.ids[i]);
    const int32_t *ids = got.ids;
    const clf_encode_options options = {.add_special_tokens = true, .max_tokens = 500};
    CHECK_OK(clfi_tokenizer_encode(tokenizer, text.data, text.length, NULL, 0, &options, &got));
    assert_true(got.length == 500 && got.truncated && got.ids == ids);
    clfi_encoding_free(&got);
    clfi_str_free(&text);
    clf_tokenizer_destroy(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_json),   cmocka_unit_test(good_json),    cmocka_unit_test(broken_vocabulary),
        cmocka_unit_test(listed_tokens), cmocka_unit_test(marian_files), cmocka_unit_test(directories),
        cmocka_unit_test(encode_limits), cmocka_unit_test(pair_limits),  cmocka_unit_test(portions_and_reuse),
        cmocka_unit_test(sides),         cmocka_unit_test(named_tokens), cmocka_unit_test(older_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
