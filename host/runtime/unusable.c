/* SPDX-License-Identifier: MIT */
/* Reads and writes the marks of unusable programs in the cache. */
#include "runtime/unusable.h"

#include <stdio.h>
#include <string.h>

#include "runtime/cache_file.h"
#include "runtime/shared.h"

enum { MOST_BYTES = CLFI_CACHE_CONTENT_AT + 4096, NAME_BYTES = 16 + CLFI_HASH_TEXT_BYTES };

static void name_of(const char *key, char out[NAME_BYTES])
{
    snprintf(out, NAME_BYTES, "unusable-%s", key);
}

clf_status clfi_unusable_find(const clf_context *context, const char *key, clf_str *out)
{
    char name[NAME_BYTES];
    clf_str file = CLF_STR_INIT;
    if (!context->shared->cache)
        return CLF_NOT_FOUND;
    name_of(key, name);
    clf_status st = clfi_cache_file_read(context->shared->cache, name, key, MOST_BYTES, &file);
    if (st == CLF_OK)
        st = clfi_str_append(out, file.data + CLFI_CACHE_CONTENT_AT, file.length - CLFI_CACHE_CONTENT_AT);
    else if (st != CLF_NOT_FOUND && st != CLF_OUT_OF_MEMORY) {
        clfi_log(context, CLF_LOG_INFO, "program cache: %s; the program is tried again", clf_last_error());
        st = CLF_NOT_FOUND;
    }
    clfi_str_free(&file);
    return st;
}

void clfi_unusable_keep(const clf_context *context, const char *key, const char *reason)
{
    char name[NAME_BYTES];
    name_of(key, name);
    if (context->shared->cache && clfi_cache_file_write(context->shared->cache, name, key, reason, strlen(reason)) != CLF_OK)
        clfi_log(context, CLF_LOG_INFO, "program cache: %s", clf_last_error());
}
