/* SPDX-License-Identifier: MIT */
#include "support/tokenizer_family.h"

#include <stdio.h>

#include "base/file.h"
#include "base/str.h"
#include "support/check.h"

clf_tokenizer *tokenizer_family(const char *name)
{
    char path[512];
    clf_str file = CLF_STR_INIT;
    clf_tokenizer *tokenizer;
    snprintf(path, sizeof path, CLF_TEST_DATA "/tokenizer/families/%s.json", name);
    CHECK_OK(clfi_file_read(path, 1 << 24, &file));
    CHECK_OK(clf_tokenizer_from_json(&(clf_text){file.data, file.length}, name, &tokenizer));
    clfi_str_free(&file);
    return tokenizer;
}
