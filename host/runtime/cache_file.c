/* SPDX-License-Identifier: MIT */
/* Reads and writes files of the cache, checks their hash and key. */
#include "runtime/cache_file.h"

#include <stdbool.h>
#include <string.h>

enum { HASH_DIGITS = CLFI_HASH_TEXT_BYTES - 1, HASH_AT = 8, KEY_AT = HASH_AT + HASH_DIGITS };

const char clfi_cache_mark[HASH_AT + 1] = "CLFPROG2";

/* Whether the file is intact and belongs to this key. */
static bool is_sound(const clf_str *file, const char *key)
{
    char hash[CLFI_HASH_TEXT_BYTES];
    if (file->length <= CLFI_CACHE_CONTENT_AT || memcmp(file->data, clfi_cache_mark, HASH_AT) != 0)
        return false;
    clfi_hash(file->data + KEY_AT, file->length - KEY_AT, hash);
    return memcmp(file->data + HASH_AT, hash, HASH_DIGITS) == 0 && memcmp(file->data + KEY_AT, key, HASH_DIGITS) == 0;
}

clf_status clfi_cache_file_read(const clf_private_directory *directory, const char *name, const char *key, size_t most, clf_str *out)
{
    CLF_TRY(clfi_private_directory_read(directory, name, most, out));
    if (!is_sound(out, key))
        CLF_FAIL(CLF_FORMAT, "%s is damaged or belongs to another key", name);
    return CLF_OK;
}

clf_status clfi_cache_file_write(const clf_private_directory *directory, const char *name, const char *key, const void *content,
                                 size_t size)
{
    char hash[CLFI_HASH_TEXT_BYTES];
    clf_str file = CLF_STR_INIT;
    clf_status st = clfi_str_appendf(&file, "%s%0*d%s", clfi_cache_mark, HASH_DIGITS, 0, key);
    if (st == CLF_OK)
        st = clfi_str_append(&file, content, size);
    if (st == CLF_OK) {
        clfi_hash(file.data + KEY_AT, file.length - KEY_AT, hash);
        memcpy(file.data + HASH_AT, hash, HASH_DIGITS);
        st = clfi_private_directory_write(directory, name, file.data, file.length);
    }
    clfi_str_free(&file);
    return st;
}
