/* SPDX-License-Identifier: MIT */
/* Parts of tokenizers by themselves: broken and unusual vocabularies of GGUF files, roles, byte offsets, broken settings. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "clformer/tokenizer.h"
#include "support/temp.h"
#include "support/tokenizer_family.h"
#include "text/tokenizer.h"
#include "text/tokenizer_parts.h"

static clf_text text_of(const char *text)
{
    return (clf_text){text, strlen(text)};
}

static void check_ids(const clf_tokenizer *tokenizer, const char *text, const clf_encode_params *params, const int32_t *want, size_t count)
{
    const clf_text given = text_of(text);
    clf_encoding *got;
    CHECK_OK(clf_encoding_create(&got));
    CHECK_OK(clf_tokenizer_encode(tokenizer, &given, NULL, params, got));
    CHECK(got->length == count, "\"%s\": %zu tokens, want %zu", text, got->length, count);
    for (size_t i = 0; i < count; i++)
        CHECK(got->ids[i] == want[i], "\"%s\": token %zu is %d, want %d", text, i, (int)got->ids[i], (int)want[i]);
    clf_encoding_destroy(got);
}

#define IDS(...) (const int32_t[]){__VA_ARGS__}, COUNT(((const int32_t[]){__VA_ARGS__}))

enum { LLAMA_WORDS = 10, LLAMA_TOKENS = LLAMA_WORDS + 256 };

typedef struct clf_llama {
    clf_text tokens[LLAMA_TOKENS];
    float scores[LLAMA_TOKENS];
    int32_t types[LLAMA_TOKENS];
    char bytes[256][8];
    clf_vocabulary_spec spec;
} clf_llama;

static void make_llama(clf_llama *llama)
{
    static const char *const words[LLAMA_WORDS] = {"<unk>", "<s>", "</s>", "\u2581", "a", "b", "ab", "\u2581a", "\u2581ab", "bb"};
    *llama = (clf_llama){.spec = CLF_VOCABULARY_SPEC_INIT};
    for (size_t i = 0; i < LLAMA_TOKENS; i++) {
        if (i >= LLAMA_WORDS)
            snprintf(llama->bytes[i - LLAMA_WORDS], sizeof llama->bytes[0], "<0x%02X>", (unsigned)(i - LLAMA_WORDS));
        llama->tokens[i] = text_of(i < LLAMA_WORDS ? words[i] : llama->bytes[i - LLAMA_WORDS]);
        llama->types[i] = i == 0 ? CLF_TOKEN_UNKNOWN : i < 3 ? CLF_TOKEN_CONTROL : i < LLAMA_WORDS ? CLF_TOKEN_NORMAL : CLF_TOKEN_BYTE;
        llama->scores[i] = i < LLAMA_WORDS ? -(float)i : 0.0f;
    }
    llama->scores[9] = -1.0f; /* "bb" merges before all others */
    llama->spec.model = "llama";
    llama->spec.tokens = llama->tokens;
    llama->spec.scores = llama->scores;
    llama->spec.types = llama->types;
    llama->spec.token_count = LLAMA_TOKENS;
    llama->spec.bos = 1;
    llama->spec.eos = 2;
    llama->spec.unknown = 0;
    llama->spec.add_bos = 1;
}

static void llama(void **state)
{
    (void)state;
    enum { BYTE = LLAMA_WORDS };
    clf_llama llama;
    clf_tokenizer *tokenizer;
    clf_token_decoder *decoder;
    clf_text text;
    clf_encode_params params = CLF_ENCODE_PARAMS_INIT;
    make_llama(&llama);
    CHECK_OK(clf_tokenizer_from_vocabulary(&llama.spec, "llama", &tokenizer));
    check_ids(tokenizer, "ab", NULL, IDS(1, 8));
    check_ids(tokenizer, "abb", NULL, IDS(1, 7, 9)); /* the best score, not the leftmost */
    check_ids(tokenizer, "a a", NULL, IDS(1, 7, 7));
    check_ids(tokenizer, "\u00e9", NULL, IDS(1, 3, BYTE + 0xc3, BYTE + 0xa9));
    check_ids(tokenizer, "a</s>b", NULL, IDS(1, 7, 2, 3, 5));
    params.ignore_special = 1;
    params.add_special_tokens = 0;
    check_ids(tokenizer, "</s>", &params, IDS(3, BYTE + '<', BYTE + '/', BYTE + 's', BYTE + '>'));
    assert_int_equal(clf_tokenizer_role(tokenizer, CLF_TOKEN_BOS), 1);
    assert_int_equal(clf_tokenizer_role(tokenizer, CLF_TOKEN_PAD), -1);
    assert_true(clf_tokenizer_is_special(tokenizer, 2) && !clf_tokenizer_is_special(tokenizer, 4));
    CHECK_OK(clf_token_decoder_create(tokenizer, 1, &decoder));
    CHECK_OK(clf_token_decoder_decode(decoder, (const int32_t[]){1, 8, BYTE + 0xc3, BYTE + 0xa9, 7}, 5, &text));
    assert_string_equal(text.data, "ab\u00e9 a");
    CHECK_OK(clf_token_decoder_push(decoder, BYTE + 0xc3, &text));
    assert_int_equal(text.size, 0);
    CHECK_OK(clf_token_decoder_finish(decoder, &text));
    assert_string_equal(text.data, "\ufffd");
    clf_token_decoder_destroy(decoder);
    clf_tokenizer_destroy(tokenizer);

    llama.spec.add_space_prefix = llama.spec.add_bos = 0;
    CHECK_OK(clf_tokenizer_from_vocabulary(&llama.spec, "llama", &tokenizer));
    check_ids(tokenizer, "ab ab", NULL, IDS(6, 8));
    clf_tokenizer_destroy(tokenizer);
}

/* If the merged tokens of several pairs have one score, the leftmost pair is merged first, whichever token has the lower id. */
static void equal_scores(void **state)
{
    (void)state;
    clf_llama llama;
    clf_tokenizer *tokenizer;
    make_llama(&llama);
    llama.tokens[7] = text_of("c");
    llama.tokens[8] = text_of("bc");
    llama.tokens[9] = text_of("ab");
    llama.tokens[6] = text_of("\u2581a\u2581"); /* comes about by no merge */
    llama.scores[8] = llama.scores[9] = -1.0f;
    llama.spec.add_bos = 0;
    CHECK_OK(clf_tokenizer_from_vocabulary(&llama.spec, "llama", &tokenizer));
    check_ids(tokenizer, "abc", NULL, IDS(3, 9, 7));
    clf_tokenizer_destroy(tokenizer);
}

static void broken_specs(void **state)
{
    (void)state;
    static clf_llama llama;
    clf_tokenizer *tokenizer = NULL;
#define BROKEN(change, status, part)                                                                 \
    do {                                                                                             \
        make_llama(&llama);                                                                          \
        change;                                                                                      \
        CHECK_FAILS(clf_tokenizer_from_vocabulary(&llama.spec, "x.gguf", &tokenizer), status, part); \
        CHECK(strncmp(clf_last_error(), "x.gguf", 6) == 0, "no file name: %s", clf_last_error());    \
    } while (0)
    const clf_text broken = {"\xff", 1}, merge = text_of("a b"), none = text_of("ab"), lost = text_of("a x");
    BROKEN(llama.spec.model = "rwkv", CLF_UNSUPPORTED, "model \"rwkv\"; known are gpt2 and llama");
    BROKEN((llama.spec.model = "gpt2", llama.spec.pre = "superbpe"), CLF_UNSUPPORTED,
           "\"superbpe\"; known are default, gpt-2, llama-bpe, qwen2, smollm");
    BROKEN(llama.spec.scores = NULL, CLF_FORMAT, "without scores");
    BROKEN(llama.scores[7] = INFINITY, CLF_FORMAT, "token 7 has no finite score");
    BROKEN(llama.scores[7] = -INFINITY, CLF_FORMAT, "token 7 has no finite score");
    BROKEN(llama.scores[7] = NAN, CLF_FORMAT, "token 7 has no finite score");
    BROKEN(llama.tokens[5] = broken, CLF_FORMAT, "token 5 is not UTF-8");
    BROKEN(llama.spec.eos = LLAMA_TOKENS, CLF_FORMAT, "special token id 266");
    BROKEN(llama.spec.bos = -1, CLF_FORMAT, "texts get a bos token");
    BROKEN((llama.spec.model = "gpt2", llama.spec.merges = &none, llama.spec.merge_count = 1), CLF_FORMAT, "merge 0: expected two tokens");
    BROKEN((llama.spec.model = "gpt2", llama.spec.merges = &lost, llama.spec.merge_count = 1), CLF_FORMAT,
           "\"x\" is not in the vocabulary");
    assert_null(tokenizer);
    make_llama(&llama);
    llama.spec.model = "gpt2";
    llama.spec.add_bos = 0;
    llama.spec.merges = &merge;
    llama.spec.merge_count = 1;
    CHECK_OK(clf_tokenizer_from_vocabulary(&llama.spec, "x.gguf", &tokenizer));
    check_ids(tokenizer, "abba", NULL, IDS(6, 5, 4));
    clf_tokenizer_destroy(tokenizer);
}

/* Llama 3 has 128,000 tokens and its few control tokens behind them. */
static void late_control_tokens(void **state)
{
    enum { COUNT_OF_TOKENS = 140000, DIGITS = 8 };
    char(*texts)[DIGITS] = calloc(COUNT_OF_TOKENS, sizeof *texts);
    clf_text *tokens = calloc(COUNT_OF_TOKENS, sizeof *tokens);
    int32_t *types = calloc(COUNT_OF_TOKENS, sizeof *types);
    clf_vocabulary_spec spec = CLF_VOCABULARY_SPEC_INIT;
    clf_tokenizer *tokenizer;
    (void)state;
    assert_true(texts && tokens && types);
    for (size_t i = 0; i < COUNT_OF_TOKENS; i++) {
        snprintf(texts[i], sizeof texts[i], "%zx", i + 0x100000);
        tokens[i] = text_of(texts[i]);
        types[i] = i + 1 < COUNT_OF_TOKENS ? CLF_TOKEN_NORMAL : CLF_TOKEN_CONTROL;
    }
    spec.model = "gpt2";
    spec.pre = "llama-bpe";
    spec.tokens = tokens;
    spec.token_count = COUNT_OF_TOKENS;
    spec.types = types;
    CHECK_OK(clf_tokenizer_from_vocabulary(&spec, "late", &tokenizer));
    check_ids(tokenizer, texts[COUNT_OF_TOKENS - 1], NULL, (const int32_t[]){COUNT_OF_TOKENS - 1}, 1);
    clf_tokenizer_destroy(tokenizer);
    free(types);
    free(tokens);
    free(texts);
}

/* --- offsets in bytes --- */

static void byte_offsets(void **state)
{
    (void)state;
    static const char given[] = "\u00e9 \xff\xf0\x9f\x98\x80z";
    clf_tokenizer *tokenizer = tokenizer_family("smollm");
    clf_encode_params params = CLF_ENCODE_PARAMS_INIT;
    clf_encoding *got;
    params.offsets = CLF_OFFSETS_BYTES;
    CHECK_OK(clf_encoding_create(&got));
    CHECK_OK(clf_tokenizer_encode(tokenizer, &(clf_text){given, sizeof given - 1}, NULL, &params, got));
    size_t end = 0;
    for (size_t i = 0; i < got->length; i++) { /* whole characters of the given bytes, in order */
        const clf_offsets o = got->offsets[i];
        CHECK(o.start <= o.end && o.end <= sizeof given - 1 && o.end >= end, "token %zu: %u to %u", i, (unsigned)o.start, (unsigned)o.end);
        CHECK(o.start == 0 || o.start == 2 || o.start == 3 || o.start == 4 || o.start == 8, "token %zu starts at %u", i, (unsigned)o.start);
        end = o.end;
    }
    assert_int_equal(end, sizeof given - 1);
    clf_encoding_destroy(got);
    clf_tokenizer_destroy(tokenizer);
}

/* --- broken parts --- */

#define MODEL "\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},\"merges\":[\"a b\"]}"
#define BPE(rest) "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1}," rest "}}"
#define NORMALIZER(json) "{" MODEL ",\"normalizer\":" json "}"
#define PRE(json) "{" MODEL ",\"pre_tokenizer\":" json "}"
#define DECODER(json) "{" MODEL ",\"decoder\":" json "}"
#define UNIGRAM(rest) "{\"model\":{\"type\":\"Unigram\"," rest "}}"

static const struct {
    const char *text;
    clf_status status;
    const char *part;
} cases[] = {
    {BPE("\"merges\":[7]"), CLF_FORMAT, "merges[0]: expected two tokens, found integer"},
    {BPE("\"merges\":[\"ab\"]"), CLF_FORMAT, "merges[0]: expected two tokens"},
    {BPE("\"merges\":[\"a b\"]"), CLF_FORMAT, "\"ab\" is not in the vocabulary"},
    {BPE("\"merges\":[[\"a\",\"c\"]]"), CLF_FORMAT, "\"c\" is not in the vocabulary"},
    {BPE("\"merges\":[],\"dropout\":0.1"), CLF_UNSUPPORTED, "dropout 0.1"},
    {BPE("\"merges\":[],\"unk_token\":\"c\""), CLF_FORMAT, "unknown token \"c\""},
    {BPE("\"merges\":[[\"a\",\"b\"]],\"continuing_subword_prefix\":\"##\""), CLF_FORMAT, "shorter than the prefix"},
    {BPE("\"merges\":null"), CLF_FORMAT, "\"merges\""},
    {BPE("\"merges\":{}"), CLF_FORMAT, "\"merges\""},
    {BPE("\"merges\":[null]"), CLF_FORMAT, "merges[0]: expected two tokens, found null"},
    {BPE("\"merges\":[[]]"), CLF_FORMAT, "merges[0]: expected two tokens"},
    {BPE("\"merges\":[[\"a\",1]]"), CLF_FORMAT, "merges[0]: expected two tokens"},
    {BPE("\"merges\":[[\"a\",\"b\",\"a\"]]"), CLF_FORMAT, "merges[0]: expected two tokens"},
    {BPE("\"merges\":[\"c a\"]"), CLF_FORMAT, "\"c\" is not in the vocabulary"},
    {BPE("\"merges\":[],\"unk_token\":7"), CLF_FORMAT, "\"unk_token\""},
    {"{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":2147483648},\"merges\":[]}}", CLF_FORMAT, "id 2147483648 is outside"},
    {"{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":99999999999999999999},\"merges\":[]}}", CLF_FORMAT,
     "expected an integer id, found real number"},
    {"{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1e999},\"merges\":[]}}", CLF_FORMAT,
     "\"b\": expected an integer id, found real number inf"},
    {"{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"a\":-1},\"merges\":[]}}", CLF_FORMAT, "\"a\""},
    {"{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":0},\"merges\":[]}}", CLF_FORMAT, "share id 0"},
    {"{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":null},\"merges\":[]}}", CLF_FORMAT, "expected an integer id, found null"},
    {UNIGRAM("\"vocab\":{}"), CLF_FORMAT, "\"vocab\""},
    {UNIGRAM("\"vocab\":[null]"), CLF_FORMAT, "vocab[0]: expected [token, score], found null"},
    {UNIGRAM("\"vocab\":[[1,\"a\"]]"), CLF_FORMAT, "vocab[0]: expected [token, score]"},
    {UNIGRAM("\"vocab\":[[\"a\",\"1\"]]"), CLF_FORMAT, "vocab[0]: expected [token, score]"},
    {UNIGRAM("\"vocab\":[[\"a\",1.0]],\"unk_id\":-1"), CLF_FORMAT, "\"unk_id\""},
    {UNIGRAM("\"vocab\":[[\"a\",1.0]],\"unk_id\":4294967296"), CLF_FORMAT, "\"unk_id\""},
    {UNIGRAM("\"vocab\":[[\"a\",1.0]],\"unk_id\":\"a\""), CLF_FORMAT, "\"unk_id\""},
    {NORMALIZER("{\"type\":\"Sequence\",\"normalizers\":{}}"), CLF_FORMAT, "\"normalizers\""},
    {NORMALIZER("[]"), CLF_FORMAT, "\"normalizer\""},
    {PRE("{\"type\":\"Sequence\",\"pretokenizers\":null}"), CLF_FORMAT, "\"pretokenizers\""},
    {DECODER("{\"type\":\"Sequence\",\"decoders\":[null]}"), CLF_FORMAT, "expected an object"},
    {DECODER("true"), CLF_FORMAT, "\"decoder\""},
    {UNIGRAM("\"vocab\":[[\"a\"]]"), CLF_FORMAT, "vocab[0]: expected [token, score]"},
    {UNIGRAM("\"vocab\":[[\"a\",1.0]],\"unk_id\":1"), CLF_FORMAT, "unknown token 1 with 1 tokens"},
    {NORMALIZER("{\"type\":\"Sequence\"}"), CLF_FORMAT, "\"normalizers\""},
    {NORMALIZER("{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Sequence\",\"normalizers\":[3]}]}"), CLF_FORMAT, "expected an object"},
    {NORMALIZER("{\"type\":\"Replace\",\"content\":\"\",\"pattern\":{}}"), CLF_FORMAT, "expected a String or a Regex"},
    {NORMALIZER("{\"type\":\"Replace\",\"content\":\"\",\"pattern\":{\"Regex\":\"(\"}}"), CLF_FORMAT, "regular expression"},
    {NORMALIZER("{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"!\"}"), CLF_FORMAT, "not base64"},
    {NORMALIZER("{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"AAAA\"}"), CLF_FORMAT, "a trie of 0 bytes"},
    {NORMALIZER("{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"/////w==\"}"), CLF_FORMAT, "a trie of 4294967295 bytes"},
    {PRE("{\"type\":\"Split\",\"behavior\":\"Isolate\",\"pattern\":{\"String\":\" \"}}"), CLF_UNSUPPORTED,
     "behavior \"Isolate\"; known are Removed"},
    {PRE("{\"type\":\"Metaspace\",\"replacement\":\"ab\"}"), CLF_FORMAT, "expected one character"},
    {PRE("{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"last\"}"), CLF_UNSUPPORTED, "prepend_scheme \"last\""},
    {PRE("{\"type\":\"Digits\"}"), CLF_FORMAT, "\"individual_digits\""},
    {DECODER("{\"type\":\"CTC\"}"), CLF_UNSUPPORTED, "decoder: type \"CTC\"; known are WordPiece, ByteLevel, Metaspace"},
    {DECODER("{\"type\":\"Strip\",\"content\":\"\",\"start\":0,\"stop\":0}"), CLF_FORMAT, "expected one character"},
    {DECODER("{\"type\":\"BPEDecoder\",\"suffix\":\"\"}"), CLF_FORMAT, "suffix"},
};

static void broken_parts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        clf_tokenizer *tokenizer = NULL;
        const clf_text json = text_of(cases[i].text);
        CHECK_FAILS(clf_tokenizer_from_json(&json, "x.json", &tokenizer), cases[i].status, cases[i].part);
        CHECK(!tokenizer && strncmp(clf_last_error(), "x.json", 6) == 0, "case %zu: no file name: %s", i, clf_last_error());
    }
}

/* Vocabularies without a token that a text may be divided into. */
static void no_usable_token(void **state)
{
    static const char *const texts[] = {UNIGRAM("\"vocab\":[[\"a\",null]],\"unk_id\":0"), UNIGRAM("\"vocab\":[[\"\",0.0]],\"unk_id\":0"),
                                        UNIGRAM("\"vocab\":[],\"unk_id\":null")};
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        clf_tokenizer *tokenizer = NULL;
        clf_encoding got = CLF_ENCODING_INIT;
        const clf_encode_options options = CLF_ENCODE_OPTIONS_INIT;
        CHECK_OK(clfi_tokenizer_from_json(texts[i], strlen(texts[i]), "x.json", &tokenizer));
        const clf_status st = clfi_tokenizer_encode(tokenizer, "ab", 2, NULL, 0, &options, &got);
        if (i == 2)
            CHECK(st == CLF_UNSUPPORTED && strstr(clf_last_error(), "\"a\" is not in the vocabulary"), "%s", clf_last_error());
        else
            CHECK(st == CLF_OK && got.length == 1 && got.ids[0] == 0, "case %zu: %zu ids", i, got.length);
        clfi_encoding_free(&got);
        clf_tokenizer_destroy(tokenizer);
    }
}

/* Sequences in each other and brackets end with a message, however many. */
static void deep_parts(void **state)
{
    static const char opening[] = "{\"type\":\"Sequence\",\"normalizers\":[";
    static const int depths[] = {100, 1000, 100000};
    (void)state;
    for (size_t i = 0; i < COUNT(depths); i++) {
        clf_str json = CLF_STR_INIT;
        clf_tokenizer *tokenizer;
        CHECK_OK(clfi_str_append_text(&json, "{" MODEL ",\"normalizer\":"));
        for (int j = 0; j < depths[i]; j++)
            CHECK_OK(clfi_str_append_text(&json, opening));
        CHECK_OK(clfi_str_append_text(&json, "{\"type\":\"NFC\"}"));
        for (int j = 0; j < depths[i]; j++)
            CHECK_OK(clfi_str_append_text(&json, "]}"));
        CHECK_OK(clfi_str_append_text(&json, "}"));
        CHECK_FAILS(clfi_tokenizer_from_json(json.data, json.length, "x.json", &tokenizer), CLF_FORMAT, "x.json");
        clfi_str_free(&json);
    }
}

/* Sixty-five parts, in Sequences inside each other. */
static void too_many_parts(void **state)
{
    (void)state;
    clf_str json = CLF_STR_INIT;
    clf_tokenizer *tokenizer;
    CHECK_OK(clfi_str_append_text(&json, "{" MODEL ",\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"}"));
    for (int i = 0; i < 64; i++)
        CHECK_OK(clfi_str_append_text(&json, ",{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"}]}"));
    CHECK_OK(clfi_str_append_text(&json, "]}}"));
    CHECK_FAILS(clfi_tokenizer_from_json(json.data, json.length, "x.json", &tokenizer), CLF_FORMAT, "more than 64 parts");
    clfi_str_free(&json);
}

static void unknown_without_token(void **state)
{
    (void)state;
    static const char json[] = UNIGRAM("\"vocab\":[[\"a\",-1.0]]");
    clf_tokenizer *tokenizer;
    clf_encoding *encoding;
    const clf_text known = text_of("aa"), unknown = text_of("ab");
    CHECK_OK(clf_tokenizer_from_json(&(clf_text){json, sizeof json - 1}, "x.json", &tokenizer));
    CHECK_OK(clf_encoding_create(&encoding));
    CHECK_OK(clf_tokenizer_encode(tokenizer, &known, NULL, NULL, encoding));
    assert_int_equal(encoding->length, 2);
    CHECK_FAILS(clf_tokenizer_encode(tokenizer, &unknown, NULL, NULL, encoding), CLF_UNSUPPORTED, "\"b\" is not in the vocabulary");
    clf_encoding_destroy(encoding);
    clf_tokenizer_destroy(tokenizer);
}

/* White space between a token that takes it from behind itself and one that takes it from before belongs to the first alone. */
static void shared_space(void **state)
{
    (void)state;
    static const char json[] =
        "{\"added_tokens\":[{\"id\":3,\"content\":\"<x>\",\"single_word\":false,\"lstrip\":false,\"rstrip\":true,\"normalized\":false,"
        "\"special\":true},{\"id\":4,\"content\":\"<y>\",\"single_word\":false,\"lstrip\":true,\"rstrip\":false,\"normalized\":false,"
        "\"special\":true}]," MODEL "}";
    const clf_text given = text_of("a<x> <y>b");
    static const int32_t ids[] = {0, 3, 4, 1};
    static const clf_offsets want[] = {{0, 1}, {1, 5}, {5, 8}, {8, 9}};
    clf_tokenizer *tokenizer;
    clf_encoding *got;
    clf_encode_params params = CLF_ENCODE_PARAMS_INIT;
    params.offsets = CLF_OFFSETS_BYTES;
    CHECK_OK(clf_tokenizer_from_json(&(clf_text){json, sizeof json - 1}, "x.json", &tokenizer));
    CHECK_OK(clf_encoding_create(&got));
    CHECK_OK(clf_tokenizer_encode(tokenizer, &given, NULL, &params, got));
    assert_int_equal(got->length, COUNT(ids));
    for (size_t i = 0; i < COUNT(ids); i++)
        CHECK(got->ids[i] == ids[i] && got->offsets[i].start == want[i].start && got->offsets[i].end == want[i].end,
              "token %zu: %d at %u to %u", i, (int)got->ids[i], (unsigned)got->offsets[i].start, (unsigned)got->offsets[i].end);
    clf_encoding_destroy(got);
    clf_tokenizer_destroy(tokenizer);
}

/* An added token of white space that takes white space from both sides: the one before has taken all of it, or a part. */
static void space_tokens(void **state)
{
    (void)state;
    static const struct {
        const char *sides, *text;
        size_t count;
        clf_offsets want[3];
    } rows[] = {{"\"lstrip\":true,\"rstrip\":true", "  b", 2, {{0, 2}, {2, 3}}},
                {"\"lstrip\":false,\"rstrip\":true", "  b", 3, {{0, 2}, {1, 2}, {2, 3}}},
                {"\"lstrip\":true,\"rstrip\":false", "a  ", 3, {{0, 1}, {1, 2}, {2, 3}}}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        clf_tokenizer *tokenizer;
        clf_encoding *got;
        clf_str json = CLF_STR_INIT;
        clf_encode_params params = CLF_ENCODE_PARAMS_INIT;
        const clf_text text = text_of(rows[i].text);
        params.offsets = CLF_OFFSETS_CHARACTERS;
        CHECK_OK(clfi_str_appendf(&json,
                                  "{\"added_tokens\":[{\"id\":3,\"content\":\" \",\"single_word\":false,%s,\"normalized\":false,"
                                  "\"special\":true}]," MODEL "}",
                                  rows[i].sides));
        CHECK_OK(clf_tokenizer_from_json(&(clf_text){json.data, json.length}, "x.json", &tokenizer));
        CHECK_OK(clf_encoding_create(&got));
        CHECK_OK(clf_tokenizer_encode(tokenizer, &text, NULL, &params, got));
        assert_int_equal(got->length, rows[i].count);
        for (size_t k = 0; k < got->length; k++)
            CHECK(got->offsets[k].start == rows[i].want[k].start && got->offsets[k].end == rows[i].want[k].end,
                  "row %zu, token %zu: %u to %u", i, k, (unsigned)got->offsets[k].start, (unsigned)got->offsets[k].end);
        clf_encoding_destroy(got);
        clf_tokenizer_destroy(tokenizer);
        clfi_str_free(&json);
    }
}

/* "a" + "aa" and "aa" + "a" are equally good; the last bits of the scores decide. `tokenizers` reads -1.2337412925446323 as the double next
 * to it. */
static void equal_ways(void **state)
{
    (void)state;
    const clf_text json =
        text_of(UNIGRAM("\"unk_id\":0,\"vocab\":[[\"<unk>\",0.0],[\"a\",-3.4256715734902423],[\"aa\",-1.2337412925446323],[\"b\","
                        "-0.16118947934913397],[\"bb\",-7.427519821518265],[\"ab\",-4.81910011823763],[\"ba\",-0.4831294681912839],[\"c\","
                        "-5.098499964328715]]"));
    clf_tokenizer *tokenizer;
    CHECK_OK(clf_tokenizer_from_json(&json, "x.json", &tokenizer));
    check_ids(tokenizer, "xxcaaaaab", NULL, IDS(0, 7, 1, 2, 2, 3));
    check_ids(tokenizer, "xxcaaa", NULL, IDS(0, 7, 1, 2));
    clf_tokenizer_destroy(tokenizer);
}

/* The unknown token is worse than the worst token by SentencePiece's 10. */
static void unknown_penalty(void **state)
{
    (void)state;
    /* The worst token is "w", -20: an unknown character -30. "xab": "xa" and "b" are -19.5 - 20, "x" and "ab" -30 - 10. */
    static const char *const json[] = {
        UNIGRAM("\"unk_id\":0,\"vocab\":[[\"<unk>\",0.0],[\"w\",-20.0],[\"xa\",-19.5],[\"b\",-20.0],[\"ab\",-10.0]]"),
        UNIGRAM("\"unk_id\":0,\"vocab\":[[\"<unk>\",0.0],[\"w\",-20.0],[\"xa\",-19.5],[\"b\",-20.0],[\"ab\",-9.0]]")};
    for (size_t i = 0; i < COUNT(json); i++) {
        clf_tokenizer *tokenizer;
        const clf_text text = text_of(json[i]);
        CHECK_OK(clf_tokenizer_from_json(&text, "x.json", &tokenizer));
        if (i == 0)
            check_ids(tokenizer, "xab", NULL, IDS(2, 3));
        else
            check_ids(tokenizer, "xab", NULL, IDS(0, 4));
        clf_tokenizer_destroy(tokenizer);
    }
}

static void roles(void **state)
{
    (void)state;
    static const char config[] = "{\"bos_token\":\"a\",\"eos_token\":{\"content\":\"ab\"},\"pad_token\":null,\"sep_token\":\"nowhere\"}";
    char directory[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
    clf_tokenizer *tokenizer;
    temp_directory_make(directory);
    temp_file(directory, "tokenizer.json", "{" MODEL "}", strlen("{" MODEL "}"), path);
    temp_file(directory, "tokenizer_config.json", config, strlen(config), path);
    CHECK_OK(clf_tokenizer_open(directory, &tokenizer));
    assert_int_equal(clf_tokenizer_role(tokenizer, CLF_TOKEN_BOS), 0);
    assert_int_equal(clf_tokenizer_role(tokenizer, CLF_TOKEN_EOS), 2);
    assert_int_equal(clf_tokenizer_role(tokenizer, CLF_TOKEN_PAD), -1);
    assert_int_equal(clf_tokenizer_role(tokenizer, CLF_TOKEN_SEP), -1);
    clf_tokenizer_destroy(tokenizer);
    temp_directory_remove(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llama),
        cmocka_unit_test(equal_scores),
        cmocka_unit_test(shared_space),
        cmocka_unit_test(space_tokens),
        cmocka_unit_test(equal_ways),
        cmocka_unit_test(unknown_penalty),
        cmocka_unit_test(broken_specs),
        cmocka_unit_test(late_control_tokens),
        cmocka_unit_test(byte_offsets),
        cmocka_unit_test(broken_parts),
        cmocka_unit_test(too_many_parts),
        cmocka_unit_test(no_usable_token),
        cmocka_unit_test(deep_parts),
        cmocka_unit_test(roles),
        cmocka_unit_test(unknown_without_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
