/* SPDX-License-Identifier: MIT */
/* The settings of a sentence encoder: what is absent has its default, what is there and cannot be read is an error. */
#include "model/sentence_config.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"
#include "support/temp.h"

static const char modules[] = "[{\"type\": \"sentence_transformers.models.Transformer\", \"path\": \"\"},"
                              " {\"type\": \"sentence_transformers.models.Pooling\", \"path\": \"1_Pooling\"}]";
static const char cls[] = "{\"pooling_mode_cls_token\": true}";

static void absent(void **state)
{
    (void)state;
    char folder[TEMP_PATH_BYTES];
    clf_sentence_config config;
    temp_directory_make(folder);
    CHECK_OK(clfi_sentence_config_read(folder, CLF_POOLING_MEAN, &config));
    assert_true(config.pooling[0] == CLF_POOLING_MEAN && config.pooling_count == 1 && !config.normalize && config.max_tokens == 0);
    temp_file_below(folder, "modules.json", modules, strlen(modules));
    temp_file_below(folder, "1_Pooling/config.json", cls, strlen(cls));
    CHECK_OK(clfi_sentence_config_read(folder, CLF_POOLING_MEAN, &config));
    assert_true(config.pooling[0] == CLF_POOLING_CLS && config.pooling_count == 1);
    temp_directory_remove(folder);
}

static clf_status read_types(const char *first, const char *second, const char *third, clf_sentence_config *config)
{
    char folder[TEMP_PATH_BYTES], text[1024];
    const int size = snprintf(text, sizeof text,
                              "[{\"type\": \"%s\", \"path\": \"\"}, {\"type\": \"%s\", \"path\": \"1_Pooling\"}, "
                              "{\"type\": \"%s\", \"path\": \"1_Pooling\"}]",
                              first, second, third);
    temp_directory_make(folder);
    temp_file_below(folder, "modules.json", text, (size_t)size);
    temp_file_below(folder, "1_Pooling/config.json", cls, strlen(cls));
    const clf_status st = clfi_sentence_config_read(folder, CLF_POOLING_MEAN, config);
    temp_directory_remove(folder);
    return st;
}

#define OLD "sentence_transformers.models."
#define BASE "sentence_transformers.base.modules."
#define NEW "sentence_transformers.sentence_transformer.modules."

/* Classes as sentence-transformers has named them from version to version, and others that end alike. */
static void types(void **state)
{
    (void)state;
    static const char *const known[][3] = {{OLD "Transformer", OLD "Pooling", OLD "Normalize"},
                                           {OLD "Transformer.Transformer", OLD "Pooling.Pooling", OLD "LayerNorm.LayerNorm"},
                                           {BASE "transformer.Transformer", NEW "pooling.Pooling", BASE "normalize.Normalize"},
                                           {BASE "Transformer", NEW "Pooling", NEW "layer_norm.LayerNorm"}};
    static const char *const foreign[] = {"evil.Pooling",
                                          "Pooling",
                                          OLD "evil.Pooling",
                                          OLD "Pooling.evil",
                                          OLD "pooling.Pooling.Pooling",
                                          "custom_" OLD "Pooling",
                                          OLD "CLIPModel",
                                          OLD "PoolingX",
                                          OLD ""};
    clf_sentence_config config;
    for (size_t i = 0; i < COUNT(known); i++) {
        CHECK_OK(read_types(known[i][0], known[i][1], known[i][2], &config));
        assert_true(config.pooling_count == 1 && config.pooling[0] == CLF_POOLING_CLS && config.module_count == 1);
    }
    for (size_t i = 0; i < COUNT(foreign); i++) {
        CHECK_FAILS(read_types(OLD "Transformer", foreign[i], OLD "Normalize", &config), CLF_UNSUPPORTED, foreign[i]);
        CHECK_FAILS(read_types(OLD "Transformer", OLD "Pooling", foreign[i], &config), CLF_UNSUPPORTED, "LayerNorm, Normalize or Dropout");
    }
}

/* Transformer, Pooling, others; in another order sentence-transformers computes something else, or nothing. */
static void order(void **state)
{
    (void)state;
    static const char *const refused[][3] = {
        {OLD "Normalize", OLD "Transformer", OLD "Pooling"},   {OLD "Transformer", OLD "Normalize", OLD "Pooling"},
        {OLD "Transformer", OLD "Dropout", OLD "Pooling"},     {OLD "Transformer", OLD "Pooling", OLD "Pooling"},
        {OLD "Transformer", OLD "Pooling", OLD "Transformer"}, {OLD "Pooling", OLD "Normalize", OLD "Normalize"}};
    static const char alone[] = "[{\"type\": \"" OLD "Transformer\", \"path\": \"\"}]";
    char folder[TEMP_PATH_BYTES];
    clf_sentence_config config;
    for (size_t i = 0; i < COUNT(refused); i++)
        CHECK_FAILS(read_types(refused[i][0], refused[i][1], refused[i][2], &config), CLF_UNSUPPORTED,
                    "expected one Transformer, then one Pooling");
    temp_directory_make(folder);
    temp_file_below(folder, "modules.json", alone, strlen(alone));
    CHECK_OK(clfi_sentence_config_read(folder, CLF_POOLING_MEAN, &config));
    assert_true(config.pooling_count == 0);
    temp_directory_remove(folder);
}

/* A download that has come in part: the mean would be another model's embedding. */
static void missing(void **state)
{
    (void)state;
    char folder[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
    clf_sentence_config config;
    temp_directory_make(folder);
    temp_file_below(folder, "modules.json", modules, strlen(modules));
    CHECK_FAILS(clfi_sentence_config_read(folder, CLF_POOLING_MEAN, &config), CLF_NOT_FOUND, "1_Pooling/config.json is missing");
    assert_int_equal(mkdir(temp_path(folder, "1_Pooling", path), 0700), 0);
    CHECK_FAILS(clfi_sentence_config_read(folder, CLF_POOLING_MEAN, &config), CLF_NOT_FOUND, "1_Pooling/config.json is missing");
    temp_directory_remove(folder);
}

/* Each of the files in turn as a link to nowhere, a link to itself, a folder and a pipe. */
static void unreadable(void **state)
{
    (void)state;
    static const char *const names[] = {"modules.json", "1_Pooling", "1_Pooling/config.json", "sentence_bert_config.json",
                                        "tokenizer_config.json"};
    for (size_t i = 0; i < COUNT(names); i++) {
        for (int kind = 0; kind < 4; kind++) {
            char folder[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
            clf_sentence_config config;
            if (kind > 1 && i == 1) /* itself a folder */
                continue;
            temp_directory_make(folder);
            if (i != 0)
                temp_file_below(folder, "modules.json", modules, strlen(modules));
            if (i > 2)
                temp_file_below(folder, "1_Pooling/config.json", cls, strlen(cls));
            if (i == 2)
                assert_int_equal(mkdir(temp_path(folder, "1_Pooling", path), 0700), 0);
            temp_path(folder, names[i], path);
            const char *base = strrchr(path, '/') + 1;
            assert_int_equal(kind == 0   ? symlink("nowhere", path)
                             : kind == 1 ? symlink(base, path)
                             : kind == 2 ? mkdir(path, 0700)
                                         : mkfifo(path, 0600),
                             0);
            alarm(10);
            CHECK_FAILS(clfi_sentence_config_read(folder, CLF_POOLING_MEAN, &config), CLF_IO, names[i]);
            alarm(0);
            temp_directory_remove(folder);
        }
    }
}

static void write_text(const char *folder, const char *name, const char *text)
{
    temp_file_below(folder, name, text, strlen(text));
}

static int64_t max_tokens(const char *folder)
{
    clf_sentence_config config;
    CHECK_OK(clfi_sentence_config_read(folder, CLF_POOLING_MEAN, &config));
    return config.max_tokens;
}

/* The names that the Transformer's file has had, from the last that is looked for to the first: each goes before those that are there
 * already, unless it is empty. And of the tokenizer's own length. */
static void older_names(void **state)
{
    (void)state;
    static const char *const names[] = {"xlnet", "xlm-roberta", "albert", "camembert", "distilbert", "roberta", "bert"};
    char folder[TEMP_PATH_BYTES], name[64], text[64];
    temp_directory_make(folder);
    write_text(folder, "tokenizer_config.json", "{\"max_len\": 9}");
    assert_int_equal(max_tokens(folder), 9);
    write_text(folder, "tokenizer_config.json", "{\"max_len\": 9, \"model_max_length\": 11}");
    assert_int_equal(max_tokens(folder), 11);
    for (int i = 0; i < (int)COUNT(names); i++) {
        snprintf(name, sizeof name, "sentence_%s_config.json", names[i]);
        write_text(folder, name, "{}");
        assert_int_equal(max_tokens(folder), i ? 20 + i - 1 : 11);
        snprintf(text, sizeof text, "{\"max_seq_length\": %d}", 20 + i);
        write_text(folder, name, text);
        assert_int_equal(max_tokens(folder), 20 + i);
    }
    write_text(folder, name, "[8]");
    clf_sentence_config config;
    CHECK_FAILS(clfi_sentence_config_read(folder, CLF_POOLING_MEAN, &config), CLF_FORMAT, "sentence_bert_config.json: expected an object");
    temp_directory_remove(folder);
}

/* The network's own directory inside the model's, as older versions wrote it, in every spelling; the model's is not looked at then. */
static void network_directory(void **state)
{
    (void)state;
    static const char form[] = "[{\"type\": \"sentence_transformers.models.Transformer\", \"path\": \"%s\"},"
                               " {\"type\": \"sentence_transformers.models.Pooling\", \"path\": \"./1_Pooling/\"}]";
    static const struct {
        const char *path;
        int length;
    } rows[] = {{"", 7}, {".", 7}, {"./", 7}, {"0_Transformer", 8}, {"./0_Transformer/", 8}, {".//0_Transformer//", 8}};
    static const char *const refused[] = {"..", "../0_Transformer", "/0_Transformer", "/", "a/b", "0_Transformer/../.."};
    char folder[TEMP_PATH_BYTES], text[512];
    clf_sentence_config config;
    temp_directory_make(folder);
    write_text(folder, "1_Pooling/config.json", cls);
    write_text(folder, "tokenizer_config.json", "{\"max_len\": 7}");
    write_text(folder, "0_Transformer/sentence_roberta_config.json", "{\"max_seq_length\": 8}");
    for (size_t i = 0; i < COUNT(rows); i++) {
        snprintf(text, sizeof text, form, rows[i].path);
        write_text(folder, "modules.json", text);
        assert_int_equal(max_tokens(folder), rows[i].length);
    }
    for (size_t i = 0; i < COUNT(refused); i++) {
        snprintf(text, sizeof text, form, refused[i]);
        write_text(folder, "modules.json", text);
        CHECK_FAILS(clfi_sentence_config_read(folder, CLF_POOLING_MEAN, &config), CLF_FORMAT, "is not a plain directory name");
    }
    temp_directory_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(absent),           cmocka_unit_test(types),      cmocka_unit_test(order),
                                       cmocka_unit_test(missing),          cmocka_unit_test(unreadable), cmocka_unit_test(older_names),
                                       cmocka_unit_test(network_directory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
