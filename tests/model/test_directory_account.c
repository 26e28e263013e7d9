/* SPDX-License-Identifier: MIT */
/* Every row of the account of files and keys does what it says: a tiny model's directory with the key, or the file, added loads or is
 * refused by the key's name. */
#include "model/directory_account.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/directory_rows.h"
#include "model/model.h"
#include "support/check.h"
#include "support/device.h"
#include "support/temp.h"

#define ENCODER CLF_TEST_DATA "/families/distilbert/"
#define SENTENCE CLF_TEST_DATA "/sentence/last/"

static void copy(const char *from, const char *name, const char *folder, const char *as)
{
    char path[TEMP_PATH_BYTES];
    static char bytes[1 << 20];
    FILE *file = fopen(temp_path(from, name, path), "rb");
    CHECK(file != NULL, "%s", path);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    assert_true(size > 0 && size < sizeof bytes);
    fclose(file);
    temp_file_below(folder, as, bytes, size);
}

static void make_model(char folder[TEMP_PATH_BYTES])
{
    temp_directory_make(folder);
    copy(ENCODER, "config.json", folder, "config.json");
    copy(ENCODER, "model.safetensors", folder, "model.safetensors");
    copy(ENCODER, "tokenizer.json", folder, "tokenizer.json");
    copy(SENTENCE, "modules.json", folder, "modules.json");
    copy(SENTENCE, "1_Pooling/config.json", folder, "1_Pooling/config.json");
}

static void write_json(const char *folder, const char *name, const json_t *json)
{
    char *text = json_dumps(json, 0);
    assert_non_null(text);
    temp_file_below(folder, name, text, strlen(text));
    free(text);
}

/* Puts a key into the row's file: config.json's own object, or the file of the Transformer, or an object inside. */
static void put_key(const char *folder, const clf_account_row *row, const char *key)
{
    char path[TEMP_PATH_BYTES];
    json_t *root = json_object(), *at;
    const char *file = "sentence_bert_config.json", *inner = row->file + strlen(CLFI_TRANSFORMER_SETTINGS);
    if (strcmp(row->file, CLFI_MODEL_CONFIG) == 0) {
        json_decref(root);
        root = json_load_file(temp_path(folder, file = CLFI_MODEL_CONFIG, path), 0, NULL);
        inner = "";
    }
    at = root;
    while (inner[0]) { /* ": processing_kwargs: text" */
        char name[64];
        const size_t length = strcspn(inner + 2, ":");
        snprintf(name, sizeof name, "%.*s", (int)length, inner + 2);
        json_t *made = json_object();
        assert_int_equal(json_object_set_new(at, name, made), 0);
        at = made;
        inner += 2 + length;
    }
    json_t *value = row->verdict == CLF_ACCOUNT_REFUSED ? json_pack("{s:s}", "quant_method", "gptq") : json_true();
    if (json_object_get(at, key)) /* with a value of the type that it has */
        json_decref(value);
    else
        assert_int_equal(json_object_set_new(at, key, value), 0);
    write_json(folder, file, root);
    json_decref(root);
}

static bool is_read(const clf_account_row *row)
{
    return strcmp(row->file, CLFI_MODEL_CONFIG) == 0 ||
           strncmp(row->file, CLFI_TRANSFORMER_SETTINGS, strlen(CLFI_TRANSFORMER_SETTINGS)) == 0;
}

/* Other rows than those of the model's two files: they are checked by their own readers' tests. */
static void rows_hold(void **state)
{
    clf_context *context = *state;
    size_t count, refused = 0, loaded = 0;
    const clf_account_row *rows = clfi_account_rows(&count);
    for (size_t i = 0; i < count; i++) {
        const clf_account_row *row = &rows[i];
        const char *key = strcmp(row->key, "*") == 0 ? "some_key" : row->key;
        char folder[TEMP_PATH_BYTES];
        clf_model *model = NULL;
        const bool is_of_others = strcmp(key, "model_type") == 0 || strstr(row->file, ": modality_config"); /* fails by what is beside it */
        CHECK(row->reason && row->reason[0] && row->file[0], "row %zu of %s: %s has no reason", i, row->file, row->key);
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(rows[k].file, row->file) != 0 || strcmp(rows[k].key, row->key) != 0, "%s: %s comes twice", row->file, row->key);
        if (!key[0] || !is_read(row) || row->verdict == CLF_ACCOUNT_FOLLOWED || is_of_others)
            continue;
        make_model(folder);
        put_key(folder, row, key);
        if (row->verdict == CLF_ACCOUNT_REFUSED) {
            CHECK_FAILS(clfi_model_describe(context, folder, NULL, &model), CLF_UNSUPPORTED, key);
            CHECK(strstr(clf_last_error(), row->reason) || strstr(clf_last_error(), "config_kwargs"), "%s", clf_last_error());
            refused++;
        } else {
            const clf_status st = clfi_model_describe(context, folder, NULL, &model);
            CHECK(st == CLF_OK, "%s: %s: %s", row->file, key, clf_last_error());
            loaded++;
        }
        clf_model_destroy(model);
        temp_directory_remove(folder);
    }
    assert_true(refused > 10 && loaded > 100);
}

/* A value that asks for nothing is never refused; a file without a row and a key without a row have none. */
static void unset(void **state)
{
    (void)state;
    json_t *object = json_pack("{s:n, s:b, s:{}, s:[]}", "query_length", "document_length", 0, "query_expansion", "tokenizer_name_or_path");
    CHECK_OK(clfi_account_check(object, CLFI_TRANSFORMER_SETTINGS, "x.json"));
    json_decref(object);
    assert_null(clfi_account_find(CLFI_TRANSFORMER_SETTINGS, "some_key"));
    assert_null(clfi_account_file("some_file"));
    assert_true(clfi_account_file("preprocessor_config.json")->verdict == CLF_ACCOUNT_HARMLESS);
}

/* A key of a module's own file that nothing reads is listed with its file. */
static void unknown(void **state)
{
    (void)state;
    char folder[TEMP_PATH_BYTES];
    clf_directory_account account = CLF_DIRECTORY_ACCOUNT_INIT;
    static const char settings[] = "{\"max_seq_length\": 8, \"unpad_inputs\": true, \"new_key\": 1, \"no_key\": null}";
    static const char pooling[] = "{\"pooling_mode_cls_token\": true, \"word_embedding_dimension\": 24, \"rounding\": 2}";
    make_model(folder);
    temp_file_below(folder, "sentence_bert_config.json", settings, strlen(settings));
    temp_file_below(folder, "1_Pooling/config.json", pooling, strlen(pooling));
    CHECK_OK(clfi_account_modules(folder, &account));
    assert_int_equal(json_array_size(account.unknown), 2);
    assert_string_equal(json_string_value(json_array_get(account.unknown, 0)), "sentence_bert_config.json: new_key");
    assert_string_equal(json_string_value(json_array_get(account.unknown, 1)), "1_Pooling/config.json: rounding");
    assert_int_equal(json_array_size(account.followed), 2);
    assert_int_equal(json_array_size(account.harmless), 3);
    clfi_directory_account_clear(&account);
    temp_directory_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_hold), cmocka_unit_test(unset), cmocka_unit_test(unknown)};
    return cmocka_run_group_tests_name("model.directory_account", tests, device_setup, device_teardown);
}
