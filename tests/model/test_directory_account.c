/* SPDX-License-Identifier: MIT */
/* Tests each row of the table of known files and keys on a tiny model's directory. A followed key changes the embeddings or is refused. A
 * harmless one leaves their bits as they are. A refused one is refused by its name. */
#include "model/directory_account.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/checkpoint.h"
#include "model/model.h"
#include "model/sentence_settings.h"
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

/* A tiny encoder with all the files whose keys have rows. */
static void make_model(char folder[TEMP_PATH_BYTES])
{
    static const char tokenizer[] = "{\"tokenizer_class\": \"BertTokenizer\", \"cls_token\": \"<s>\", \"sep_token\": \"</s>\", "
                                    "\"pad_token\": \"<pad>\", \"unk_token\": \"<unk>\", \"mask_token\": \"<unk>\"}";
    temp_directory_make(folder);
    copy(ENCODER, "config.json", folder, "config.json");
    copy(ENCODER, "model.safetensors", folder, "model.safetensors");
    copy(ENCODER, "tokenizer.json", folder, "tokenizer.json");
    copy(SENTENCE, "modules.json", folder, "modules.json");
    copy(SENTENCE, "1_Pooling/config.json", folder, "1_Pooling/config.json");
    copy(SENTENCE, "config_sentence_transformers.json", folder, "config_sentence_transformers.json");
    temp_file_below(folder, "2_Normalize/config.json", "{}", 2);
    temp_file_below(folder, "tokenizer_config.json", tokenizer, strlen(tokenizer));
}

static void write_json(const char *folder, const char *name, const json_t *json)
{
    char *text = json_dumps(json, 0);
    assert_non_null(text);
    temp_file_below(folder, name, text, strlen(text));
    free(text);
}

/* The file of a row in the directory, and where in it the key stands: ": processing_kwargs: text". NULL: not a file of this model. */
static const char *file_of(const clf_account_row *row, const char **inner)
{
    static const char *const plain[] = {CLFI_MODEL_CONFIG, CLFI_SENTENCE_SETTINGS, CLFI_ACCOUNT_TOKENIZER, CLFI_ACCOUNT_SPECIALS,
                                        CLFI_ACCOUNT_ADDED};
    *inner = "";
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (strcmp(row->file, plain[i]) == 0)
            return plain[i];
    if (strcmp(row->file, CLFI_ACCOUNT_WITH_MODULES) == 0)
        return CLFI_SENTENCE_SETTINGS;
    if (strcmp(row->file, "Pooling/config.json") == 0)
        return "1_Pooling/config.json";
    if (strcmp(row->file, "Normalize/config.json") == 0)
        return "2_Normalize/config.json";
    *inner = row->file + strlen(CLFI_TRANSFORMER_SETTINGS);
    return strncmp(row->file, CLFI_TRANSFORMER_SETTINGS, strlen(CLFI_TRANSFORMER_SETTINGS)) == 0 ? "sentence_bert_config.json" : NULL;
}

/* Puts a key into the row's file. */
static void put_key(const char *folder, const char *file, const char *inner, const char *key, json_t *value)
{
    char path[TEMP_PATH_BYTES];
    json_t *root = json_load_file(temp_path(folder, file, path), 0, NULL), *at;
    root = root ? root : json_object();
    for (at = root; inner[0];) {
        char name[64];
        const size_t length = strcspn(inner + 2, ":");
        snprintf(name, sizeof name, "%.*s", (int)length, inner + 2);
        if (!json_object_get(at, name))
            assert_int_equal(json_object_set_new(at, name, json_object()), 0);
        at = json_object_get(at, name);
        inner += 2 + length;
    }
    assert_int_equal(json_object_set_new(at, key, value), 0);
    write_json(folder, file, root);
    json_decref(root);
}

enum { WIDTH = 24, TEXTS = 3 };

/* The embeddings of three texts: letters of both cases with accents and others, one with a special token, and a long one. */
static clf_status embed(clf_context *context, const char *folder, float rows[TEXTS * WIDTH])
{
    static const char long_text[] = "the cat sat, the cat sat on a dog and the dog sat on the cat";
    const clf_text texts[TEXTS] = {
        {"the \xc3\x84 Cat \xe4\xb8\xad\xe5\x9b\xbd", 17}, {"cat <s> sat</s>", 15}, {long_text, sizeof long_text - 1}};
    clf_session *session = NULL;
    clf_model *model = NULL;
    memset(rows, 0, TEXTS * WIDTH * sizeof *rows);
    clf_status st = clf_model_open(context, folder, NULL, &model);
    if (st == CLF_OK) {
        assert_true(clf_model_get_info(model)->embedding_width <= WIDTH);
        st = clf_session_create(model, NULL, &session);
    }
    if (st == CLF_OK)
        st = clf_session_embed(session, texts, TEXTS, NULL, rows, NULL);
    clf_session_destroy(session);
    clf_model_destroy(model);
    return st;
}

/* A value of a followed key that is refused, or that changes the embeddings. NULL: its effect needs another kind of model, and the test
 * that is named has it. */
static const struct {
    const char *file, *key, *value, *elsewhere;
} changes[] = {
    {CLFI_TRANSFORMER_SETTINGS, "max_seq_length", "4", NULL},
    {CLFI_TRANSFORMER_SETTINGS, "do_lower_case", "7", NULL},
    {CLFI_TRANSFORMER_SETTINGS, "transformer_task", "\"fill-mask\"", NULL},
    {CLFI_TRANSFORMER_SETTINGS, "module_output_name", "\"pooler_output\"", NULL},
    {CLFI_TRANSFORMER_SETTINGS, "modality_config", "{\"text\": {\"method\": \"encode\"}}", NULL},
    {CLFI_TRANSFORMER_SETTINGS, "config_kwargs", "{\"activation\": \"relu\"}", NULL},
    {CLFI_TRANSFORMER_SETTINGS, "config_args", "{\"activation\": \"relu\"}", NULL},
    {CLFI_TRANSFORMER_SETTINGS, "model_kwargs", "{\"hidden_act\": \"relu\"}", NULL},
    {CLFI_TRANSFORMER_SETTINGS, "model_args", "{\"hidden_act\": \"relu\"}", NULL},
    {CLFI_TRANSFORMER_SETTINGS, "processor_kwargs", "{\"do_lower_case\": false}", NULL},
    {CLFI_TRANSFORMER_SETTINGS, "tokenizer_args", "{\"model_max_length\": 4}", NULL},
    {CLFI_TRANSFORMER_SETTINGS, "processing_kwargs", "{\"text\": {\"max_length\": 4}}", NULL},
    {CLFI_ACCOUNT_TOKENIZER_ARGUMENTS, "model_max_length", "4", NULL},
    {CLFI_ACCOUNT_CONFIG_ARGUMENTS, "*", "5", NULL},
    {CLFI_ACCOUNT_PROCESSING, "text", "{\"max_length\": 4}", NULL},
    {CLFI_ACCOUNT_PROCESSING, "common", "{\"max_length\": 4}", NULL},
    {CLFI_ACCOUNT_TEXT, "max_length", "4", NULL},
    {CLFI_ACCOUNT_MODALITIES, "text", "{\"method\": \"encode\"}", NULL},
    {"Pooling/config.json", "pooling_mode", "\"cls\"", NULL},
    {"Pooling/config.json", "include_prompt", NULL, "cli.test_sentence"},
    {"Pooling/config.json", "*", "null", "unit.sentence_config"}, /* the older keys, without pooling_mode */
    {"Normalize/config.json", "module_input_name", "\"token_embeddings\"", NULL},
    {"Normalize/config.json", "module_output_name", "\"normalized\"", NULL},
    {CLFI_SENTENCE_SETTINGS, "similarity_fn_name", NULL, "cli.test_sentence"},
    {CLFI_ACCOUNT_WITH_MODULES, "model_type", "\"CrossEncoder\"", NULL},
    {CLFI_ACCOUNT_WITH_MODULES, "prompts", "{\"query\": \"zebra \"}", NULL},
    {CLFI_ACCOUNT_WITH_MODULES, "default_prompt_name", "\"passage\"", NULL},
    {CLFI_ACCOUNT_WITH_MODULES, "truncate_dim", "5", NULL},
    {CLFI_ACCOUNT_WITH_MODULES, "activation_fn", NULL, "cli.test_classify"},
    {CLFI_ACCOUNT_TOKENIZER, "tokenizer_class", "\"XLMRobertaTokenizer\"", NULL},
    {CLFI_ACCOUNT_TOKENIZER, "added_tokens_decoder", "{\"61\": {\"content\": \"cat\", \"special\": true}}", NULL},
    {CLFI_ACCOUNT_TOKENIZER, "cls_token", "\"</s>\"", NULL},
    {CLFI_ACCOUNT_TOKENIZER, "sep_token", "\"<s>\"", NULL},
    {CLFI_ACCOUNT_TOKENIZER, "unk_token", "\"z\"", NULL},
    {CLFI_ACCOUNT_TOKENIZER, "do_lower_case", "false", NULL},
    {CLFI_ACCOUNT_TOKENIZER, "strip_accents", "false", NULL},
    {CLFI_ACCOUNT_TOKENIZER, "tokenize_chinese_chars", "false", NULL},
    {CLFI_ACCOUNT_TOKENIZER, "split_special_tokens", "true", NULL},
    {CLFI_ACCOUNT_TOKENIZER, "model_max_length", "4", NULL},
    {CLFI_ACCOUNT_TOKENIZER, "max_len", "4", NULL},
    {CLFI_ACCOUNT_TOKENIZER, "additional_special_tokens", "[\"a\"]", NULL},
    {CLFI_ACCOUNT_TOKENIZER, "extra_special_tokens", "[\"a\"]", NULL},
    {CLFI_ACCOUNT_TOKENIZER, "truncation_side", "\"middle\"", NULL},
    {CLFI_ACCOUNT_TOKENIZER, "chat_control_tokens", "7", NULL},
    {CLFI_ACCOUNT_TOKENIZER, "model_input_names", "7", NULL},
    {CLFI_ACCOUNT_TOKENIZER, "backend bos_token eos_token pad_token mask_token model_specific_special_tokens", NULL,
     "unit.tokenizer_pipeline"},
    {CLFI_ACCOUNT_TOKENIZER, "add_prefix_space trim_offsets add_bos_token add_eos_token legacy", NULL, "unit.tokenizer_class"},
    {CLFI_ACCOUNT_TOKENIZER, "chat_template", NULL, "cli.test_generate"},
    {CLFI_ACCOUNT_TOKENIZER,
     "separate_vocabs clean_up_tokenization_spaces clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output", NULL,
     "cli.test_translate"},
    {CLFI_ACCOUNT_SPECIALS, "*", NULL, "unit.tokenizer_pipeline"},
    {CLFI_ACCOUNT_ADDED, "*", NULL, "unit.tokenizer_pipeline"},
};

static json_t *parsed(const char *text)
{
    json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
    assert_non_null(json);
    return json;
}

typedef struct tally {
    size_t followed, refused, harmless;
} tally;

static void check_followed(clf_context *context, const clf_account_row *row, const char *key, const float *want, tally *counts)
{
    char folder[TEMP_PATH_BYTES];
    float rows[TEXTS * WIDTH];
    size_t i = 0;
    const char *inner, *file = file_of(row, &inner);
    for (; i < sizeof changes / sizeof changes[0]; i++)
        if (strcmp(changes[i].file, row->file) == 0 && (clfi_account_has(changes[i].key, key) || strcmp(changes[i].key, "*") == 0))
            break;
    CHECK(i < sizeof changes / sizeof changes[0], "%s: %s is followed: no value of it is tried", row->file, key);
    if (!changes[i].value || changes[i].elsewhere)
        return;
    make_model(folder);
    put_key(folder, file, inner, strcmp(key, "*") == 0 ? "n_layers" : key, parsed(changes[i].value));
    const clf_status st = embed(context, folder, rows);
    CHECK(st != CLF_OK || memcmp(rows, want, sizeof rows) != 0, "%s: %s: %s changes nothing", row->file, key, changes[i].value);
    temp_directory_remove(folder);
    counts->followed++;
}

static void check_refused(clf_context *context, const clf_account_row *row, const char *key, tally *counts)
{
    static const char *const values[] = {"{\"quant_method\": \"gptq\"}", "true", "7", "\"x\""};
    const char *inner, *file = file_of(row, &inner);
    const bool is_every = strcmp(key, "*") == 0;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char folder[TEMP_PATH_BYTES];
        clf_model *model = NULL;
        make_model(folder);
        put_key(folder, file, inner, is_every ? "some_key" : key, parsed(values[i]));
        CHECK_FAILS(clfi_model_describe(context, folder, NULL, &model), CLF_UNSUPPORTED, is_every ? "some_key" : key);
        CHECK(strstr(clf_last_error(), row->reason) || strstr(clf_last_error(), "config_kwargs") || strstr(clf_last_error(), "gptq"), "%s",
              clf_last_error());
        temp_directory_remove(folder);
    }
    counts->refused++;
}

/* Values of all types, and the embeddings keep their bits. */
static void check_harmless(clf_context *context, const clf_account_row *row, const char *key, const float *want, tally *counts)
{
    static const char *const values[] = {"true", "3", "\"x\""};
    const char *inner, *file = file_of(row, &inner);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char folder[TEMP_PATH_BYTES];
        float rows[TEXTS * WIDTH];
        make_model(folder);
        if (strcmp(row->file, CLFI_ACCOUNT_MODALITIES) == 0) /* a model of texts */
            put_key(folder, file, inner, "text", json_object());
        put_key(folder, file, inner, strcmp(key, "*") == 0 ? "some_key" : key, parsed(values[i]));
        const clf_status st = embed(context, folder, rows);
        CHECK(st == CLF_OK, "%s: %s: %s", row->file, key, clf_last_error());
        CHECK(memcmp(rows, want, sizeof rows) == 0, "%s: %s: %s changes the embeddings", row->file, key, values[i]);
        temp_directory_remove(folder);
    }
    counts->harmless++;
}

/* unit.account_keys tries what the families read, and the keys of generating. */
static void rows_hold(void **state)
{
    clf_context *context = *state;
    size_t count;
    tally counts = {0};
    const clf_account_row *rows = clfi_account_rows(&count);
    char folder[TEMP_PATH_BYTES];
    float want[TEXTS * WIDTH];
    make_model(folder);
    CHECK_OK(embed(context, folder, want));
    temp_directory_remove(folder);
    for (size_t i = 0; i < count; i++) {
        const clf_account_row *row = &rows[i];
        const char *inner;
        char key[96];
        const bool is_config = strcmp(row->file, CLFI_MODEL_CONFIG) == 0;
        if (!file_of(row, &inner) || (row->types && !clfi_account_has(row->types, "distilbert")) ||
            (is_config && row->verdict == CLF_ACCOUNT_FOLLOWED))
            continue;
        for (const char *at = row->keys; *at; at += strcspn(at, " "), at += *at == ' ') {
            snprintf(key, sizeof key, "%.*s", (int)strcspn(at, " "), at);
            const bool is_typed = clfi_account_has("architectures id2label num_labels sentence_transformers truncation add_special_tokens "
                                                   "model_type __version__",
                                                   key); /* read, so that another type is refused */
            if (row->verdict == CLF_ACCOUNT_FOLLOWED)
                check_followed(context, row, key, want, &counts);
            else if (row->verdict == CLF_ACCOUNT_REFUSED && !is_typed)
                check_refused(context, row, key, &counts);
            else if (row->verdict == CLF_ACCOUNT_HARMLESS && !is_typed)
                check_harmless(context, row, key, want, &counts);
        }
    }
    assert_true(counts.refused > 10 && counts.harmless > 150 && counts.followed > 35);
}

/* A value that asks for nothing is never refused; false is a value among the arguments of a call. */
static void unset(void **state)
{
    (void)state;
    json_t *object = json_pack("{s:n, s:b, s:{}, s:[]}", "query_length", "document_length", 0, "query_expansion", "tokenizer_name_or_path");
    CHECK_OK(clfi_account_check(object, CLFI_TRANSFORMER_SETTINGS, "x.json"));
    json_decref(object);
    object = json_pack("{s:b}", "do_lower_case", 0);
    CHECK_FAILS(clfi_account_check(object, CLFI_ACCOUNT_TOKENIZER_ARGUMENTS, "x.json"), CLF_UNSUPPORTED, "x.json: do_lower_case");
    json_decref(object);
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
