/* SPDX-License-Identifier: MIT */
/* Token ids against golden files made by Hugging Face's tokenizers (tests/data/tokenizer/make_golden.py), from both kinds of source. */
#include "support/check.h"

#include <jansson.h>
#include <stdio.h>

#include "base/file.h"
#include "base/str.h"
#include "support/base64.h"
#include "support/temp.h"
#include "text/tokenizer.h"

#define DATA CLF_TEST_DATA "/tokenizer"

typedef struct clf_record {
    clf_str text, pair;
    bool has_pair;
    clf_encode_options options;
    int32_t *ids, *type_ids;
    size_t count, type_count;
    bool truncated;
} clf_record;

static void read_file(const char *path, clf_str *out)
{
    clfi_str_clear(out);
    CHECK_OK(clfi_file_read(path, 1 << 24, out));
}

/* Text under `plain` or bytes under `coded`; false when neither is there. */
static bool read_text(const json_t *record, const char *plain, const char *coded, size_t times, clf_str *out)
{
    clf_str once = CLF_STR_INIT;
    const json_t *text = json_object_get(record, plain), *bytes = json_object_get(record, coded);
    clfi_str_clear(out);
    if (text)
        CHECK_OK(clfi_str_append(&once, json_string_value(text), json_string_length(text)));
    else if (bytes)
        append_base64(json_string_value(bytes), &once);
    for (size_t i = 0; i < times; i++)
        CHECK_OK(clfi_str_append(out, clfi_str_text(&once), once.length));
    clfi_str_free(&once);
    return text || bytes;
}

/* Numbers, with [value, count] for a run. */
static int32_t *read_runs(const json_t *runs, size_t *count)
{
    int32_t *values = NULL;
    for (int pass = 0; pass < 2; pass++) {
        *count = 0;
        for (size_t i = 0; i < json_array_size(runs); i++) {
            const json_t *run = json_array_get(runs, i);
            const bool several = json_is_array(run);
            const int32_t value = (int32_t)json_integer_value(several ? json_array_get(run, 0) : run);
            for (json_int_t k = several ? json_integer_value(json_array_get(run, 1)) : 1; k > 0; k--) {
                if (values)
                    values[*count] = value;
                ++*count;
            }
        }
        if (!values)
            values = calloc(*count + 1, sizeof *values);
        assert_non_null(values);
    }
    return values;
}

static void read_record(const json_t *json, clf_record *record)
{
    const json_t *times = json_object_get(json, "n");
    assert_true(read_text(json, "t", "b", times ? (size_t)json_integer_value(times) : 1, &record->text));
    record->has_pair = read_text(json, "p", "q", 1, &record->pair);
    record->options = (clf_encode_options){.add_special_tokens = !json_is_false(json_object_get(json, "s")),
                                           .max_tokens = (size_t)json_integer_value(json_object_get(json, "m"))};
    record->ids = read_runs(json_object_get(json, "i"), &record->count);
    record->type_ids = read_runs(json_object_get(json, "y"), &record->type_count);
    record->truncated = json_is_true(json_object_get(json, "c"));
}

static void check_record(const clf_tokenizer *tokenizer, const clf_record *record, const char *name, size_t line, clf_encoding *got)
{
    const char *pair = record->has_pair ? clfi_str_text(&record->pair) : NULL;
    CHECK_OK(clfi_tokenizer_encode(tokenizer, clfi_str_text(&record->text), record->text.length, pair, record->pair.length,
                                   &record->options, got));
    CHECK(got->length == record->count, "%s:%zu: %zu tokens, want %zu", name, line, got->length, record->count);
    for (size_t i = 0; i < got->length; i++) {
        const int32_t type = record->type_count ? record->type_ids[i] : 0;
        CHECK(got->ids[i] == record->ids[i], "%s:%zu: token %zu is %d, want %d", name, line, i, (int)got->ids[i], (int)record->ids[i]);
        CHECK(got->type_ids[i] == type, "%s:%zu: type of token %zu is %d, want %d", name, line, i, (int)got->type_ids[i], (int)type);
        CHECK((size_t)got->ids[i] < clf_tokenizer_vocabulary_size(tokenizer) && clf_tokenizer_token(tokenizer, got->ids[i]),
              "%s:%zu: token %zu: id %d has no text", name, line, i, (int)got->ids[i]);
    }
    CHECK(got->truncated == record->truncated, "%s:%zu: truncated is %d", name, line, got->truncated);
}

/* Checks every record of golden_<name>.jsonl; returns how many there are. */
static size_t check_file(const clf_tokenizer *tokenizer, const char *name)
{
    char path[512];
    clf_str text = CLF_STR_INIT;
    clf_record record = {.text = CLF_STR_INIT, .pair = CLF_STR_INIT};
    clf_encoding got = CLF_ENCODING_INIT;
    size_t line = 0;
    snprintf(path, sizeof path, DATA "/golden_%s.jsonl", name);
    read_file(path, &text);
    for (const char *at = text.data, *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        if (line++ == 0)
            continue;
        json_error_t error;
        json_t *json = json_loadb(at, (size_t)(end - at), JSON_ALLOW_NUL, &error);
        CHECK(json, "%s:%zu: %s", name, line, error.text);
        read_record(json, &record);
        check_record(tokenizer, &record, name, line, &got);
        free(record.ids);
        free(record.type_ids);
        json_decref(json);
    }
    clfi_str_free(&text);
    clfi_str_free(&record.text);
    clfi_str_free(&record.pair);
    clfi_encoding_free(&got);
    return line - 1;
}

/* The tokenizer.json of a golden file: its first line with the vocabulary put in. */
static char *settings_text(const char *name)
{
    char path[512];
    clf_str vocab = CLF_STR_INIT, file = CLF_STR_INIT;
    read_file(DATA "/vocab.txt", &vocab);
    snprintf(path, sizeof path, DATA "/golden_%s.jsonl", name);
    read_file(path, &file);
    json_t *root = json_loadb(file.data, (size_t)(strchr(file.data, '\n') - file.data), 0, NULL);
    json_t *tokenizer = json_object_get(root, "tokenizer"), *ids = json_object();
    assert_non_null(tokenizer);
    json_int_t id = 0;
    for (char *at = vocab.data, *end; (end = strchr(at, '\n')) != NULL; at = end + 1)
        assert_int_equal(json_object_setn_new(ids, at, (size_t)(end - at), json_integer(id++)), 0);
    assert_int_equal(id, 30522);
    json_object_set_new(json_object_get(tokenizer, "model"), "vocab", ids);
    char *text = json_dumps(tokenizer, JSON_COMPACT);
    assert_non_null(text);
    json_decref(root);
    clfi_str_free(&vocab);
    clfi_str_free(&file);
    return text;
}

static void check_json(const char *name, size_t least)
{
    clf_tokenizer *tokenizer;
    char *text = settings_text(name);
    CHECK_OK(clfi_tokenizer_from_json(text, strlen(text), name, &tokenizer));
    const size_t count = check_file(tokenizer, name);
    CHECK(count >= least, "%s: only %zu records", name, count);
    clf_tokenizer_destroy(tokenizer);
    free(text);
}

static void uncased_from_json(void **state)
{
    (void)state;
    check_json("uncased", 2600);
}

static void variants_from_json(void **state)
{
    (void)state;
    static const char *const names[] = {"cased", "cased_stripped", "accented", "unspaced", "verbatim", "added"};
    for (size_t i = 0; i < COUNT(names); i++)
        check_json(names[i], 220);
}

static void post_processors_from_json(void **state)
{
    (void)state;
    static const char *const names[] = {"bert", "roberta", "plain"};
    for (size_t i = 0; i < COUNT(names); i++)
        check_json(names[i], 200);
}

static void check_vocabulary(const char *name, const char *config)
{
    clf_tokenizer *tokenizer;
    clf_str vocab = CLF_STR_INIT;
    read_file(DATA "/vocab.txt", &vocab);
    CHECK_OK(clfi_tokenizer_from_vocabulary(vocab.data, vocab.length, "vocab.txt", config, config ? strlen(config) : 0,
                                            "tokenizer_config.json", &tokenizer));
    assert_true(check_file(tokenizer, name) >= 220);
    clf_tokenizer_destroy(tokenizer);
    clfi_str_free(&vocab);
}

static void all_from_vocabulary(void **state)
{
    (void)state;
    check_vocabulary("uncased", NULL);
    check_vocabulary("uncased", "{\"do_lower_case\": true, \"unk_token\": \"[UNK]\", \"strip_accents\": null, "
                                "\"tokenizer_class\": \"BertTokenizer\"}");
    check_vocabulary("cased", "{\"do_lower_case\": false, \"cls_token\": {\"content\": \"[CLS]\", \"lstrip\": false}}");
    check_vocabulary("cased_stripped", "{\"do_lower_case\": false, \"strip_accents\": true}");
    check_vocabulary("accented", "{\"do_lower_case\": true, \"strip_accents\": false, \"tokenizer_class\": \"DistilBertTokenizerFast\"}");
}

static void directory(void **state)
{
    (void)state;
    char name[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
    clf_tokenizer *tokenizer;
    CHECK_OK(clf_tokenizer_open(DATA, &tokenizer)); /* vocab.txt alone */
    assert_true(check_file(tokenizer, "uncased") > 2600);
    clf_tokenizer_destroy(tokenizer);

    temp_directory_make(name);
    char *text = settings_text("cased");
    temp_file(name, "tokenizer.json", text, strlen(text), path);
    CHECK_OK(clf_tokenizer_open(name, &tokenizer));
    assert_true(check_file(tokenizer, "cased") > 400);
    clf_tokenizer_destroy(tokenizer);
    free(text);

    temp_file(name, "vocab.txt", "nonsense", 8, path); /* tokenizer.json goes first */
    CHECK_OK(clf_tokenizer_open(name, &tokenizer));
    assert_int_equal(clf_tokenizer_vocabulary_size(tokenizer), 30522);
    clf_tokenizer_destroy(tokenizer);
    temp_directory_remove(name);
}

static void tokens_and_ids(void **state)
{
    (void)state;
    clf_tokenizer *tokenizer;
    char *text = settings_text("added");
    CHECK_OK(clfi_tokenizer_from_json(text, strlen(text), "added", &tokenizer));
    assert_string_equal(clf_tokenizer_token(tokenizer, 101), "[CLS]");
    assert_string_equal(clf_tokenizer_token(tokenizer, 7592), "hello");
    assert_string_equal(clf_tokenizer_token(tokenizer, 30522), "<x>");
    assert_null(clf_tokenizer_token(tokenizer, -1));
    assert_null(clf_tokenizer_token(tokenizer, 1 << 20));
    assert_int_equal(clf_tokenizer_id(tokenizer, "hello"), 7592);
    assert_int_equal(clf_tokenizer_id(tokenizer, "##ing"), 2075);
    assert_int_equal(clf_tokenizer_id(tokenizer, "<x>"), 30522);
    assert_int_equal(clf_tokenizer_id(tokenizer, "no such token"), -1);
    assert_int_equal(clf_tokenizer_vocabulary_size(tokenizer), 30534);
    assert_int_equal(clf_tokenizer_added_count(tokenizer, false), 2);
    assert_int_equal(clf_tokenizer_added_count(tokenizer, true), 3);
    clf_tokenizer_destroy(tokenizer);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uncased_from_json), cmocka_unit_test(variants_from_json), cmocka_unit_test(post_processors_from_json),
        cmocka_unit_test(all_from_vocabulary), cmocka_unit_test(directory), cmocka_unit_test(tokens_and_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
