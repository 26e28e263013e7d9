/* SPDX-License-Identifier: MIT */
/* Any bytes as a JSON document: parsed or refused with a reason, then asked for values. */
#include <stdint.h>
#include <stdlib.h>

#include "io/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *root;
    if (clfi_json_parse((const char *)data, size, "fuzz.json", &root) != CLF_OK) {
        if (clf_last_error()[0] == '\0')
            abort();
        return 0;
    }
    int64_t integer = 0;
    double number = 0;
    bool flag;
    const char *text;
    const json_t *value;
    (void)clfi_json_get_int(root, "fuzz.json", "a", -4, 4, &integer);
    (void)clfi_json_opt_number(root, "fuzz.json", "a", -1e9, 1e9, 0.5, &number);
    (void)clfi_json_get_bool(root, "fuzz.json", "a", &flag);
    (void)clfi_json_get_string(root, "fuzz.json", "a", &text);
    (void)clfi_json_get_object(root, "fuzz.json", "a", &value);
    (void)clfi_json_opt_array(root, "fuzz.json", "a", &value);
    if (integer < -4 || integer > 4 || !(number >= -1e9 && number <= 1e9))
        abort();
    json_decref(root);
    return 0;
}
