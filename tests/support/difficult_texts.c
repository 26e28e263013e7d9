/* SPDX-License-Identifier: MIT */
/* Reads the file of difficult texts for tests of tokenizers. Each line is a JSON string, or an object with Base64 for a text that is not
 * UTF-8. */
#include "support/difficult_texts.h"

#include <jansson.h>

#include "base/file.h"
#include "support/base64.h"
#include "support/check.h"

void read_difficult_texts(clf_str texts[DIFFICULT_TEXTS])
{
    clf_str file = CLF_STR_INIT;
    CHECK_OK(clfi_file_read(CLF_TEST_DATA "/tokenizer/families/texts.jsonl", 1 << 24, &file));
    const char *at = file.data;
    for (size_t i = 0; i < DIFFICULT_TEXTS; i++) {
        const char *end = strchr(at, '\n');
        json_error_t error;
        json_t *json = json_loadb(at, end ? (size_t)(end - at) : 0, JSON_ALLOW_NUL | JSON_DECODE_ANY, &error);
        CHECK(json, "text %zu: %s", i, error.text);
        texts[i] = (clf_str)CLF_STR_INIT;
        if (json_is_string(json))
            CHECK_OK(clfi_str_append(&texts[i], json_string_value(json), json_string_length(json)));
        else
            append_base64(json_string_value(json_object_get(json, "b")), &texts[i]);
        json_decref(json);
        at = end + 1;
    }
    clfi_str_free(&file);
}

void free_difficult_texts(clf_str texts[DIFFICULT_TEXTS])
{
    for (size_t i = 0; i < DIFFICULT_TEXTS; i++)
        clfi_str_free(&texts[i]);
}
