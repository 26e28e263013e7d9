/* SPDX-License-Identifier: MIT */
/* Tests that the table of known files and keys (model/directory_account.h) lists what is read. A key of config.json is listed as followed
 * for a family exactly if its reader refuses a value of the wrong type by the key's name. The same holds for the other files that have
 * readers of their own. */
#include <jansson.h>
#include <stdio.h>

#include "io/json.h"
#include "model/directory_account.h"
#include "model/family.h"
#include "model/generation_config.h"
#include "model/labels.h"
#include "model/sentence_settings.h"
#include "model/similarity.h"
#include "support/check.h"
#include "support/temp.h"

enum { KEY_BYTES = 96 };

/* A configuration of each family, and of each of its forms. */
static const struct {
    const char *path, *more;
} bases[] = {{"encoders/bert_older", "{}"},
             {"families/distilbert", "{}"},
             {"families/roberta", "{}"},
             {"families/xlm-roberta", "{}"},
             {"families/camembert", "{}"},
             {"families/mpnet", "{}"},
             {"families/nomic_bert", "{}"},
             {"encoders/nomic_authors", "{}"},
             {"families/modernbert", "{}"},
             {"classifiers/bert", "{}"},
             {"classifiers/modernbert", "{\"id2label\": {\"0\": \"x\"}}"},
             {"../../host/model/g2p", "{}"},
             {"translation/bart", "{}"},
             {"translation/marian", "{}"},
             {"translation/t5", "{}"},
             {"generation/llama", "{}"},
             {"generation/mistral", "{}"},
             {"generation/qwen2", "{}"},
             {"generation/qwen3", "{}"},
             {"generation/gemma", "{}"},
             {"generation/gemma2", "{}"},
             {"generation/gemma3", "{}"},
             {"generation/phi3", "{}"},
             {"generation/gpt2", "{}"},
             {NULL, "{\"model_type\": \"gpt2\", \"hidden_size\": 8, \"intermediate_size\": 32, \"num_attention_heads\": 2, "
                    "\"num_hidden_layers\": 1, \"vocab_size\": 9, \"max_position_embeddings\": 8}"}};

/* Keys that are read only beside others. */
static const struct {
    const char *key, *beside;
} companions[] = {
    {"original_max_position_embeddings", "{\"rope_parameters\": null, \"rope_scaling\": {\"type\": \"longrope\", \"short_factor\": [1]}}"},
    {"layer_types", "{\"use_sliding_window\": true, \"sliding_window\": 4}"},
    {"sliding_window", "{\"use_sliding_window\": true}"},
    {"attention_chunk_size", "{\"sliding_window\": null}"},
    {"hidden_act", "{\"hidden_activation\": null}"},
    {"num_labels", "{\"id2label\": null}"},
    {"forced_bos_token_id", "{\"bos_token_id\": 1}"}};

static void update(json_t *json, const char *text)
{
    json_t *more;
    CHECK_OK(clfi_json_parse(text, strlen(text), "more", &more));
    assert_int_equal(json_object_update(json, more), 0);
    json_decref(more);
}

static void put_companion(json_t *json, const char *key)
{
    for (size_t i = 0; i < sizeof companions / sizeof companions[0]; i++)
        if (strcmp(companions[i].key, key) == 0)
            update(json, companions[i].beside);
}

static json_t *base_of(size_t i)
{
    json_t *json = json_object();
    char path[TEMP_PATH_BYTES];
    if (bases[i].path) {
        json_decref(json);
        snprintf(path, sizeof path, CLF_TEST_DATA "/%s/config.json", bases[i].path);
        CHECK_OK(clfi_json_read(path, 1 << 24, &json));
    }
    update(json, bases[i].more);
    return json;
}

/* The next key of a row into `key`; NULL: there is none. */
static const char *next_key(const char *at, char key[KEY_BYTES])
{
    const size_t length = strcspn(at, " ");
    if (!length)
        return NULL;
    assert_true(length < KEY_BYTES);
    snprintf(key, KEY_BYTES, "%.*s", (int)length, at);
    return at + length + (at[length] == ' ');
}

static clf_status read_all(const json_t *json)
{
    const clf_family *family;
    clf_network_config config;
    clf_labels labels = {.name = NULL};
    clf_status st = clfi_family_find(json, 0, &family);
    if (st == CLF_OK)
        st = family->read_config(json, &config);
    uint64_t roles;
    if (st == CLF_OK)
        st = clfi_bias_roles(json, family->biases, &roles);
    if (st == CLF_OK)
        st = clfi_labels_read(json, &labels);
    clfi_labels_free(&labels);
    return st;
}

static bool is_named(clf_status st, const char *key)
{
    char quoted[KEY_BYTES + 4], plain[KEY_BYTES + 4];
    snprintf(quoted, sizeof quoted, "\"%s\"", key);
    snprintf(plain, sizeof plain, ": %s:", key);
    return st != CLF_OK && (strstr(clf_last_error(), quoted) || strstr(clf_last_error(), plain));
}

static bool is_read(size_t base, const char *key)
{
    bool found = false;
    for (int i = 0; i < 2; i++) {
        json_t *json = base_of(base);
        put_companion(json, key);
        assert_int_equal(json_object_set_new(json, key, i ? json_pack("[[i]]", 1) : json_pack("{s:{}}", "x")), 0);
        found = found || is_named(read_all(json), key);
        json_decref(json);
    }
    return found;
}

static bool is_listed(const char *type, const char *key)
{
    const clf_account_row *row = clfi_account_find(CLFI_MODEL_CONFIG, type, key);
    const clf_account_row *own = clfi_account_find(CLFI_ACCOUNT_CLASSIFIER, type, key);
    return (row && row->verdict == CLF_ACCOUNT_FOLLOWED) || (own && own->verdict == CLF_ACCOUNT_FOLLOWED);
}

static void check_key(const char *type, const char *key)
{
    bool found = false, has_labels = false;
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
        json_t *json = base_of(i);
        const char *own = json_string_value(json_object_get(json, "model_type"));
        int64_t labels = 0;
        CHECK_OK(clfi_labels_count(json, &labels));
        if (strcmp(own, type) == 0) {
            has_labels = has_labels || labels > 0;
            found = found || is_read(i, key);
        }
        json_decref(json);
    }
    const clf_account_row *row = clfi_account_find(CLFI_MODEL_CONFIG, type, key);
    const bool is_of_classifier = clfi_account_find(CLFI_ACCOUNT_CLASSIFIER, type, key) != NULL;
    if (is_of_classifier && !(row && row->verdict == CLF_ACCOUNT_FOLLOWED) && !has_labels) /* no such base of this family */
        return;
    CHECK(found == is_listed(type, key), "%s: %s: read %d, listed as followed %d", type, key, found, is_listed(type, key));
}

static void config_keys(void **state)
{
    (void)state;
    size_t count, checked = 0;
    const clf_account_row *rows = clfi_account_rows(&count);
    static const char unread[] = "model_type transformers_version tokenizer_class "          /* read before the family is known */
                                 "rope_interleaved rope_frequency_factors norms_hold_one"; /* GGUF files' alone, refused of directories */
    const clf_family *family;
    char key[KEY_BYTES];
    for (size_t f = 0; (family = clfi_family_at(f)); f++)
        for (size_t i = 0; i < count; i++) {
            const bool is_config = strcmp(rows[i].file, CLFI_MODEL_CONFIG) == 0 || strcmp(rows[i].file, CLFI_ACCOUNT_CLASSIFIER) == 0;
            for (const char *at = rows[i].keys; is_config && (at = next_key(at, key));) {
                if (!clfi_account_has(unread, key))
                    check_key(family->model_type, key);
                checked++;
            }
        }
    assert_true(checked > 2000);
}

/* Whether models of both kinds read a key of sentence-transformers' files. */
static bool setting_is_read(const char *key)
{
    bool found = false;
    for (int i = 0; i < 2; i++) {
        clf_sentence_settings settings = {.truncate_dim = 0};
        clf_similarity similarity;
        json_t *json = i ? json_pack("{s:s}", "model_type", "CrossEncoder") : json_object();
        assert_int_equal(json_object_set_new(json, key, json_pack("[i]", 1)), 0);
        found = found || is_named(clfi_similarity_parse(json, &similarity), key);
        found = found || is_named(clfi_sentence_settings_parse(json, 1, &settings), key);
        clfi_sentence_settings_free(&settings);
        json_decref(json);
    }
    return found;
}

static void settings_keys(void **state)
{
    (void)state;
    size_t count, checked = 0;
    const clf_account_row *rows = clfi_account_rows(&count);
    char key[KEY_BYTES];
    for (size_t i = 0; i < count; i++) {
        const bool is_one = strcmp(rows[i].file, CLFI_SENTENCE_SETTINGS) == 0 || strcmp(rows[i].file, CLFI_ACCOUNT_WITH_MODULES) == 0;
        for (const char *at = rows[i].keys; is_one && (at = next_key(at, key)); checked++)
            CHECK(setting_is_read(key) == (rows[i].verdict == CLF_ACCOUNT_FOLLOWED), "%s: %s", rows[i].file, key);
    }
    assert_true(checked > 5);
}

/* A number that differs where what is read differs; -1: refused. */
static double generation_digest(const char *folder, const json_t *generation)
{
    clf_generation_config config;
    json_t *nothing = json_object();
    char *text = json_dumps(generation, 0);
    temp_file_below(folder, CLFI_ACCOUNT_GENERATION, text, strlen(text));
    const clf_status st = clfi_generation_config_read(folder, nothing, &config);
    free(text);
    json_decref(nothing);
    if (st != CLF_OK)
        return -1;
    const double parts[] = {(double)config.end_count,
                            config.start_count * 3.0 + config.start[0] * 5.0,
                            (double)config.banned_count,
                            (double)config.banned_first_count,
                            (double)config.forced_end_count,
                            (double)config.min_length,
                            (double)config.min_new,
                            (double)config.no_repeat_ngram,
                            config.repeat_penalty,
                            config.is_renormalised,
                            (double)config.beams,
                            config.length_penalty,
                            config.stop};
    double sum = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        sum += parts[i] * (double)(7 * i + 1);
    clfi_generation_config_free(&config);
    return sum;
}

/* Another value changes what is read, or is refused; of a harmless key none does. */
static void generation_keys(void **state)
{
    (void)state;
    static const char *const values[] = {"3", "0.5", "true", "[[5]]", "[5]", "\"never\""};
    size_t count, checked = 0;
    const clf_account_row *rows = clfi_account_rows(&count);
    char key[KEY_BYTES], folder[TEMP_PATH_BYTES];
    temp_directory_make(folder);
    for (size_t i = 0; i < count; i++)
        for (const char *at = rows[i].keys; strcmp(rows[i].file, CLFI_ACCOUNT_GENERATION) == 0 && (at = next_key(at, key)); checked++) {
            bool is_changed = false;
            json_t *json = json_object();
            put_companion(json, key);
            const double before = generation_digest(folder, json);
            for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
                json_t *value;
                CHECK_OK(clfi_json_parse(values[k], strlen(values[k]), "value", &value));
                assert_int_equal(json_object_set_new(json, key, value), 0);
                is_changed = is_changed || generation_digest(folder, json) != before;
            }
            json_decref(json);
            CHECK(is_changed == (rows[i].verdict == CLF_ACCOUNT_FOLLOWED), "%s: %s", rows[i].file, key);
        }
    assert_true(checked > 15);
    temp_directory_remove(folder);
}

/* The methods of quantisation are refused by their names, and so is one that nobody knows. */
static void quantization(void **state)
{
    (void)state;
    size_t count, checked = 0;
    const clf_account_row *rows = clfi_account_rows(&count);
    char key[KEY_BYTES], named[2 * KEY_BYTES];
    for (size_t i = 0; i < count; i++)
        for (const char *at = rows[i].keys; strcmp(rows[i].file, CLFI_ACCOUNT_QUANTIZATION) == 0 && (at = next_key(at, key)); checked++) {
            json_t *json = json_pack("{s:{s:s}}", "quantization_config", "quant_method", key);
            snprintf(named, sizeof named, "quantization_config: quant_method \"%s\"", key);
            CHECK_FAILS(clfi_account_check(json, CLFI_MODEL_CONFIG, "config.json"), CLF_UNSUPPORTED, named);
            CHECK(strstr(clf_last_error(), rows[i].reason) != NULL, "%s: %s", key, clf_last_error());
            json_decref(json);
        }
    json_t *older = json_pack("{s:{s:b}}", "quantization_config", "load_in_8bit", 1);
    CHECK_FAILS(clfi_account_check(older, CLFI_MODEL_CONFIG, "config.json"), CLF_UNSUPPORTED, "quant_method \"bitsandbytes\"");
    json_decref(older);
    json_t *unnamed = json_pack("{s:{s:i}}", "quantization_config", "bits", 4);
    CHECK_FAILS(clfi_account_check(unnamed, CLFI_MODEL_CONFIG, "config.json"), CLF_UNSUPPORTED, "quantization_config: weights of this");
    json_decref(unnamed);
    assert_true(checked > 25);
}

/* No key comes twice for a file and a type, every row has its reason, and every type is a family's. */
static void rows_are_well_formed(void **state)
{
    (void)state;
    size_t count;
    const clf_account_row *rows = clfi_account_rows(&count);
    char key[KEY_BYTES], type[KEY_BYTES];
    for (size_t i = 0; i < count; i++) {
        CHECK(rows[i].file[0] && rows[i].reason[0], "row %zu", i);
        for (const char *at = rows[i].types ? rows[i].types : ""; (at = next_key(at, type));) {
            bool is_known = false;
            const clf_family *family;
            for (size_t f = 0; (family = clfi_family_at(f)); f++)
                is_known = is_known || strcmp(family->model_type, type) == 0;
            CHECK(is_known, "%s: %s", rows[i].file, type);
        }
        for (const char *at = rows[i].keys; (at = next_key(at, key));)
            for (size_t k = 0; k < i; k++) {
                const bool is_same = strcmp(rows[k].file, rows[i].file) == 0 && !rows[k].types == !rows[i].types;
                CHECK(!is_same || rows[i].types || !clfi_account_has(rows[k].keys, key), "%s: %s comes twice", rows[i].file, key);
            }
    }
    assert_null(clfi_account_find(CLFI_TRANSFORMER_SETTINGS, NULL, "some_key"));
    assert_null(clfi_account_file("some_file"));
    assert_true(clfi_account_file("preprocessor_config.json")->verdict == CLF_ACCOUNT_HARMLESS);
    assert_true(clfi_account_has("a bc", "bc") && !clfi_account_has("a bc", "b") && !clfi_account_has("", "b"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(config_keys), cmocka_unit_test(settings_keys), cmocka_unit_test(generation_keys),
                                       cmocka_unit_test(quantization), cmocka_unit_test(rows_are_well_formed)};
    return cmocka_run_group_tests_name("unit.account_keys", tests, NULL, NULL);
}
