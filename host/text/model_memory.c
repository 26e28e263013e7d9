/* SPDX-License-Identifier: MIT */
/* The cache has one place for each hash: a new word replaces the old one there. */
#include "text/model_memory.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/alloc.h"

void clfi_model_memory_free(clf_model_memory *memory)
{
    if (!memory)
        return;
    free(memory->symbols);
    free(memory->heap);
    free(memory->paths);
    clfi_str_free(&memory->text);
    free(memory->cached);
    free(memory);
}

static clf_status claim(clf_model_memory *memory, const void *model, uint64_t made_ns)
{
    if (!memory->cached)
        CLF_TRY(clfi_alloc(CLFI_CACHED_WORDS, sizeof *memory->cached, "words", &memory->cached));
    else if (memory->owner != model || memory->owner_made_ns != made_ns)
        memset(memory->cached, 0, CLFI_CACHED_WORDS * sizeof *memory->cached);
    memory->owner = model;
    memory->owner_made_ns = made_ns;
    return CLF_OK;
}

clf_status clfi_model_memory_find(clf_model_memory *memory, const void *model, uint64_t made_ns, const char *word, size_t size,
                                  clf_token_list *tokens, bool *found, clf_cached_word **slot)
{
    *found = false;
    *slot = NULL;
    if (size > CLFI_CACHED_BYTES)
        return CLF_OK;
    if (memory->owner != model || memory->owner_made_ns != made_ns)
        CLF_TRY(claim(memory, model, made_ns));
    clf_cached_word *cached = &memory->cached[XXH3_64bits(word, size) % CLFI_CACHED_WORDS];
    *slot = cached;
    if (cached->size != size || memcmp(cached->bytes, word, size) != 0)
        return CLF_OK;
    for (size_t i = 0; i < cached->count; i++)
        CLF_TRY(clfi_token_append(tokens, cached->id[i], cached->start[i], cached->end[i]));
    *found = true;
    return CLF_OK;
}

void clfi_model_memory_keep(clf_cached_word *slot, const char *word, size_t size, const clf_token_list *tokens, size_t first)
{
    if (!slot || tokens->count - first > CLFI_CACHED_TOKENS)
        return;
    slot->size = (uint8_t)size;
    slot->count = (uint8_t)(tokens->count - first);
    memcpy(slot->bytes, word, size);
    for (size_t i = 0; i < slot->count; i++) {
        slot->id[i] = tokens->tokens[first + i].id;
        slot->start[i] = (uint8_t)tokens->tokens[first + i].start;
        slot->end[i] = (uint8_t)tokens->tokens[first + i].end;
    }
}
