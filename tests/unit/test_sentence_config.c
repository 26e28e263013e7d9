/* SPDX-License-Identifier: MIT */
/* The settings of a sentence encoder: what is absent has its default, what is there and cannot be read is an error. */
#include "model/sentence_config.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(absent), cmocka_unit_test(unreadable)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
