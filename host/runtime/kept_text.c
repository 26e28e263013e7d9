/* SPDX-License-Identifier: MIT */
/* Reads and writes the short texts that the cache keeps for a kernel. */
#include "runtime/kept_text.h"

#include <stdio.h>
#include <string.h>

#include "runtime/cache_file.h"
#include "runtime/kernel_source.h"
#include "runtime/program_cache.h"
#include "runtime/shared.h"

enum { NAME_BYTES = 16 + CLFI_HASH_TEXT_BYTES };

clf_status clfi_kept_find(const clf_context *context, const char *kind, const clf_kernel_spec *spec, clf_kept_key *out)
{
    clf_str source = CLF_STR_INIT;
    *out = (clf_kept_key){.program = "", .kind = kind};
    clf_status st = clfi_kernel_source(context->kernel_dir, spec->own, spec->file, &source);
    if (st == CLF_OK)
        st = clfi_program_cache_key(context, spec, &source, out->program);
    clfi_str_free(&source);
    if (st != CLF_OK)
        out->program[0] = '\0';
    return st;
}

static void name_of(const clf_kept_key *key, char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "%s-%s", key->kind, key->program);
}

bool clfi_kept_read(const clf_context *context, const clf_kept_key *key, char text[CLFI_KEPT_BYTES])
{
    char name[NAME_BYTES];
    clf_str file = CLF_STR_INIT;
    if (!context->shared->cache || !key->program[0])
        return false;
    name_of(key, name);
    const clf_status st =
        clfi_cache_file_read(context->shared->cache, name, key->program, CLFI_CACHE_CONTENT_AT + CLFI_KEPT_BYTES, &file);
    if (st == CLF_OK)
        snprintf(text, CLFI_KEPT_BYTES, "%.*s", (int)(file.length - CLFI_CACHE_CONTENT_AT), file.data + CLFI_CACHE_CONTENT_AT);
    clfi_str_free(&file);
    return st == CLF_OK && text[0] != '\0';
}

void clfi_kept_write(const clf_context *context, const clf_kept_key *key, const char *text)
{
    char name[NAME_BYTES];
    if (!context->shared->cache || !key->program[0])
        return;
    name_of(key, name);
    if (clfi_cache_file_write(context->shared->cache, name, key->program, text, strlen(text)) != CLF_OK)
        clfi_log(context, CLF_LOG_INFO, "%s: %s", key->kind, clf_last_error());
}
