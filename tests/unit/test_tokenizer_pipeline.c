/* SPDX-License-Identifier: MIT */
/* Files of transformers 5 and of older versions: the pipeline of the tokenizer's class, or tokenizer.json's. The ids are those of
 * transformers 5.24 (tests/data/tokenizer/make_classes.py). */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/str.h"
#include "clformer/tokenizer.h"
#include "io/json.h"
#include "support/temp.h"
#include "text/tokenizer.h"
#include "text/tokenizer_parts.h"
#include "text/tokenizer_pipeline.h"

#define DATA CLF_TEST_DATA "/tokenizer"

static void write_json(const char *folder, const char *name, const json_t *value)
{
    clf_str text = CLF_STR_INIT;
    CHECK_OK(clfi_json_write(value, 0, name, &text));
    temp_file_below(folder, name, clfi_str_text(&text), text.length);
    clfi_str_free(&text);
}

/* The directory of a row, with another version of transformers if that is not NULL. */
static void make(const char *folder, const json_t *row, const char *version)
{
    json_t *tokenizer, *model = json_copy(json_object_get(row, "model"));
    char path[512];
    snprintf(path, sizeof path, DATA "/families/%s.json", json_string_value(json_object_get(row, "tokenizer")));
    CHECK_OK(clfi_json_read(path, CLFI_MODEL_FILE_BYTES, &tokenizer));
    if (json_object_get(row, "edit"))
        assert_int_equal(json_object_update(tokenizer, json_object_get(row, "edit")), 0);
    if (version)
        assert_int_equal(json_object_set_new(model, "transformers_version", json_string(version)), 0);
    write_json(folder, "tokenizer.json", tokenizer);
    if (json_object_get(row, "config"))
        write_json(folder, "tokenizer_config.json", json_object_get(row, "config"));
    write_json(folder, "config.json", model);
    json_decref(tokenizer);
    json_decref(model);
}

static bool has_ids(const json_t *want, const clf_encoding *got)
{
    bool is_equal = json_array_size(want) == got->length;
    for (size_t i = 0; i < got->length && is_equal; i++)
        is_equal = json_integer_value(json_array_get(want, i)) == got->ids[i];
    return is_equal;
}

static clf_text text_at(const json_t *list, size_t i)
{
    return (clf_text){json_string_value(json_array_get(list, i)), json_string_length(json_array_get(list, i))};
}

static void check_row(const json_t *head, const json_t *row, const char *folder, size_t line)
{
    const clf_encode_params params = CLF_ENCODE_PARAMS_INIT;
    const json_t *texts = json_object_get(head, "texts"), *ids = json_object_get(row, "ids"), *decoded = json_object_get(row, "decoded");
    clf_tokenizer *tokenizer;
    clf_token_decoder *decoder;
    clf_encoding got = CLF_ENCODING_INIT;
    if (json_object_get(row, "error")) {
        CHECK_FAILS(clf_tokenizer_open(folder, &tokenizer), CLF_UNSUPPORTED, "which transformers 5's class");
        return;
    }
    CHECK_OK(clf_tokenizer_open(folder, &tokenizer));
    CHECK_OK(clf_token_decoder_create(tokenizer, false, &decoder));
    const char *class = json_string_value(json_object_get(row, "class"));
    CHECK(tokenizer->pipeline != NULL || strcmp(class, "TokenizersBackend") == 0, "line %zu: tokenizer.json's, want %s", line, class);
    for (size_t i = 0; i < json_array_size(texts); i++) {
        const clf_text text = text_at(texts, i), want = text_at(decoded, i);
        clf_text whole;
        if (!json_is_array(json_array_get(ids, i)))
            continue;
        CHECK_OK(clf_tokenizer_encode(tokenizer, &text, NULL, &params, &got));
        CHECK(has_ids(json_array_get(ids, i), &got), "line %zu: text %zu: other ids", line, i);
        CHECK_OK(clf_token_decoder_decode(decoder, got.ids, got.length, &whole));
        CHECK(whole.size == want.size && memcmp(whole.data, want.data, want.size) == 0, "line %zu: text %zu: decoded \"%s\", want \"%s\"",
              line, i, whole.data, want.data);
    }
    const clf_text first = text_at(json_object_get(head, "pair"), 0), second = text_at(json_object_get(head, "pair"), 1);
    CHECK_OK(clf_tokenizer_encode(tokenizer, &first, &second, &params, &got));
    CHECK(has_ids(json_object_get(row, "pair"), &got), "line %zu: pair: other ids", line);
    clfi_encoding_free(&got);
    clf_token_decoder_destroy(decoder);
    clf_tokenizer_destroy(tokenizer);
}

/* Every row of pipelines.json comes at least once. */
static void check_all_came(const json_t *came)
{
    json_t *rows;
    CHECK_OK(clfi_pipelines_read(&rows));
    const json_t *classes = json_object_get(rows, "classes");
    for (size_t i = 0; i < json_array_size(classes); i++) {
        const json_t *names = json_object_get(json_array_get(classes, i), "names");
        bool is_found = false;
        for (size_t k = 0; k < json_array_size(names); k++)
            is_found = is_found || json_object_get(came, json_string_value(json_array_get(names, k)));
        CHECK(is_found, "%s: no line of classes.jsonl has it", json_string_value(json_array_get(names, 0)));
    }
    json_decref(rows);
}

static void classes_of_five(void **state)
{
    (void)state;
    clf_str text = CLF_STR_INIT;
    json_t *head = NULL, *came = json_object();
    size_t line = 0;
    CHECK_OK(clfi_text_read(DATA "/classes.jsonl", CLFI_MODEL_FILE_BYTES, &text));
    for (const char *at = clfi_str_text(&text), *end; (end = strchr(at, '\n')) != NULL; at = end + 1, line++) {
        json_t *row;
        char folder[TEMP_PATH_BYTES];
        CHECK_OK(clfi_json_parse(at, (size_t)(end - at), "classes.jsonl", &row));
        if (!head) {
            head = row;
            continue;
        }
        temp_directory_make(folder);
        make(folder, row, NULL);
        check_row(head, row, folder, line);
        if (json_object_get(row, "class"))
            json_object_set_new(came, json_string_value(json_object_get(row, "class")), json_true());
        temp_directory_remove(folder);
        json_decref(row);
    }
    CHECK(line > 100, "%zu lines", line);
    check_all_came(came);
    json_decref(came);
    json_decref(head);
    clfi_str_free(&text);
}

static json_t *row_of(const char *tokenizer, const char *class)
{
    return json_pack("{s:s, s:{s:s}, s:{s:s}}", "tokenizer", tokenizer, "config", "tokenizer_class", class, "model", "model_type", "llama");
}

/* Which class's parts are taken; "": tokenizer.json's. */
static void check_pipeline(const char *folder, const char *want)
{
    clf_tokenizer *tokenizer;
    CHECK_OK(clf_tokenizer_open(folder, &tokenizer));
    assert_string_equal(tokenizer->pipeline ? tokenizer->pipeline : "", want);
    clf_tokenizer_destroy(tokenizer);
}

static void versions(void **state)
{
    (void)state;
    static const char class[] = "XLMRobertaTokenizer";
    static const struct {
        const char *version, *class;
    } rows[] = {{"4.57.3", ""},    {"5.0.0", class}, {"5.0.0.dev0", class}, {"5.24.0", class}, {"12.1", class},
                {"4.99.0rc5", ""}, {"", ""},         {"five", ""},          {"-5", ""},        {NULL, ""}};
    static const char sentence[] = "{\"__version__\": {\"transformers\": \"%s\"}}", backend[] =
                                                                                        "{\"tokenizer_class\": \"XLMRobertaTokenizer\", "
                                                                                        "\"backend\": \"tokenizers\"}";
    char folder[TEMP_PATH_BYTES], text[256];
    json_t *row = row_of("unigram", class);
    temp_directory_make(folder);
    for (size_t i = 0; i < COUNT(rows); i++) {
        make(folder, row, rows[i].version);
        check_pipeline(folder, rows[i].class);
    }
    for (size_t i = 0; i < COUNT(rows) && rows[i].version; i++) { /* in the place of config.json's, which is not there */
        snprintf(text, sizeof text, sentence, rows[i].version);
        temp_file_below(folder, "config_sentence_transformers.json", text, strlen(text));
        check_pipeline(folder, rows[i].class);
    }
    temp_file_below(folder, "config_sentence_transformers.json", "{}", 2);
    temp_file_below(folder, "tokenizer_config.json", backend, sizeof backend - 1);
    check_pipeline(folder, class);
    make(folder, row, "4.57.3");
    temp_file_below(folder, "tokenizer_config.json", backend, sizeof backend - 1);
    check_pipeline(folder, "");
    temp_directory_remove(folder);
    json_decref(row);
}

/* Classes whose pipeline is not supported are refused, for files of transformers 5 alone. A lone tokenizer.json is accepted. */
static void refused(void **state)
{
    (void)state;
    char folder[TEMP_PATH_BYTES];
    clf_tokenizer *tokenizer;
    json_t *rows, *row;
    CHECK_OK(clfi_pipelines_read(&rows));
    const json_t *missing = json_object_get(rows, "missing"), *stored = json_object_get(rows, "stored");
    temp_directory_make(folder);
    for (size_t i = 0; i < json_array_size(missing); i++) {
        row = row_of("gpt2", json_string_value(json_array_get(missing, i)));
        make(folder, row, "5.1.0");
        CHECK_FAILS(clf_tokenizer_open(folder, &tokenizer), CLF_UNSUPPORTED, "cuts texts in its own way, which is not supported");
        make(folder, row, "4.1.0");
        check_pipeline(folder, "");
        json_decref(row);
    }
    for (size_t i = 0; i < json_array_size(stored); i++) {
        row = row_of("gpt2", "LlamaTokenizer");
        assert_int_equal(json_object_set(json_object_get(row, "model"), "model_type", json_array_get(stored, i)), 0);
        make(folder, row, "5.1.0");
        check_pipeline(folder, "");
        json_decref(row);
    }
    row = row_of("unigram", "XLMRobertaTokenizer");
    json_object_set_new(json_object_get(row, "config"), "add_prefix_space", json_integer(1));
    make(folder, row, "5.1.0");
    CHECK_FAILS(clf_tokenizer_open(folder, &tokenizer), CLF_FORMAT, "\"add_prefix_space\": expected true or false");
    json_decref(row);
    row = row_of("wordpiece", "BertTokenizer");
    json_object_set_new(json_object_get(row, "config"), "cls_token", json_string("<none>"));
    make(folder, row, "5.1.0");
    CHECK_FAILS(clf_tokenizer_open(folder, &tokenizer), CLF_FORMAT, "cls_token: expected a token of the vocabulary, found \"<none>\"");
    temp_directory_remove(folder);
    temp_directory_make(folder);
    json_object_del(row, "config");
    json_object_set_new(json_object_get(row, "model"), "model_type", json_string("bert"));
    make(folder, row, "5.1.0");
    check_pipeline(folder, "");
    json_decref(row);
    temp_directory_remove(folder);
    json_decref(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(classes_of_five), cmocka_unit_test(versions), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
