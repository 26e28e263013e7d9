/* SPDX-License-Identifier: MIT */
/* WordPiece model: one hash map for pieces that begin a word and one for those that continue it. */
#include "text/wordpiece.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "io/json.h"
#include "text/model_memory.h"
#include "text/token_model.h"

typedef struct clf_wordpiece {
    clf_vocabulary vocabulary;
    clf_vocabulary continuations; /* without their prefix */
    int32_t unknown;
    size_t max_word_characters;
    uint64_t made_ns;
} clf_wordpiece;

static void destroy(void *model)
{
    clf_wordpiece *wordpiece = model;
    if (!wordpiece)
        return;
    clfi_vocabulary_free(&wordpiece->vocabulary);
    clfi_vocabulary_free(&wordpiece->continuations);
    free(wordpiece);
}

static clf_status collect_continuations(clf_wordpiece *wordpiece, const char *prefix)
{
    const clf_vocabulary *vocabulary = &wordpiece->vocabulary;
    const size_t prefix_size = strlen(prefix);
    for (size_t i = 0; i < vocabulary->count; i++) {
        const clf_vocabulary_entry *entry = &vocabulary->entries[i];
        const char *token = vocabulary->text.data + entry->offset;
        if (entry->size >= prefix_size && memcmp(token, prefix, prefix_size) == 0)
            CLF_TRY(clfi_vocabulary_add(&wordpiece->continuations, token + prefix_size, entry->size - prefix_size, entry->id));
    }
    return CLF_OK;
}

clf_status clfi_wordpiece_create(clf_vocabulary *vocabulary, const clf_wordpiece_settings *settings, const char *where, void **out)
{
    clf_wordpiece *wordpiece = NULL;
    clf_status st = clfi_alloc(1, sizeof *wordpiece, "WordPiece model", &wordpiece);
    if (st != CLF_OK) {
        clfi_vocabulary_free(vocabulary);
        return st;
    }
    wordpiece->vocabulary = *vocabulary;
    *vocabulary = (clf_vocabulary)CLF_VOCABULARY_INIT;
    wordpiece->max_word_characters = settings->max_word_characters;
    wordpiece->made_ns = clfi_now_ns();
    wordpiece->unknown = clfi_vocabulary_find(&wordpiece->vocabulary, settings->unknown, strlen(settings->unknown));
    if (wordpiece->unknown < 0)
        st = clfi_fail(CLF_FORMAT, "%s: the unknown token \"%s\" is not in the vocabulary of %zu tokens", where, settings->unknown,
                       wordpiece->vocabulary.count);
    if (st == CLF_OK)
        st = collect_continuations(wordpiece, settings->continuation_prefix);
    if (st != CLF_OK) {
        destroy(wordpiece);
        return st;
    }
    *out = wordpiece;
    return CLF_OK;
}

static clf_status read(const json_t *json, const char *where, void **out)
{
    clf_wordpiece_settings settings = CLF_WORDPIECE_SETTINGS_INIT;
    const json_t *vocab;
    int64_t limit;
    CLF_TRY(clfi_json_get_string(json, where, "unk_token", &settings.unknown));
    CLF_TRY(clfi_json_get_string(json, where, "continuing_subword_prefix", &settings.continuation_prefix));
    CLF_TRY(clfi_json_get_int(json, where, "max_input_chars_per_word", 0, INT64_MAX, &limit));
    CLF_TRY(clfi_json_get_object(json, where, "vocab", &vocab));
    settings.max_word_characters = (size_t)limit;
    clf_vocabulary vocabulary = CLF_VOCABULARY_INIT;
    const clf_status st = clfi_vocabulary_read_json(&vocabulary, vocab, where);
    if (st != CLF_OK) {
        clfi_vocabulary_free(&vocabulary);
        return st;
    }
    return clfi_wordpiece_create(&vocabulary, &settings, where, out);
}

/* Whether the word has more than `limit` characters. */
static bool is_longer(const char *word, size_t size, size_t limit)
{
    size_t characters = 0;
    if (size <= limit)
        return false;
    for (size_t i = 0; i < size; i++)
        if (((unsigned char)word[i] & 0xc0) != 0x80 && ++characters > limit)
            return true;
    return false;
}

static clf_status divide(const clf_wordpiece *wordpiece, const char *word, size_t size, clf_token_list *tokens)
{
    const size_t before = tokens->count;
    if (is_longer(word, size, wordpiece->max_word_characters))
        return clfi_token_append(tokens, wordpiece->unknown, 0, size);
    for (size_t start = 0; start < size;) {
        const clf_vocabulary *pieces = start == 0 ? &wordpiece->vocabulary : &wordpiece->continuations;
        size_t end = size - start > pieces->longest ? start + pieces->longest : size;
        int32_t id = -1;
        for (; end > start; end--) {
            if (end < size && ((unsigned char)word[end] & 0xc0) == 0x80) /* inside a character */
                continue;
            id = clfi_vocabulary_find(pieces, word + start, end - start);
            if (id >= 0)
                break;
        }
        if (id < 0) {
            tokens->count = before;
            return clfi_token_append(tokens, wordpiece->unknown, 0, size);
        }
        CLF_TRY(clfi_token_append(tokens, id, start, end));
        start = end;
    }
    return CLF_OK;
}

static clf_status encode(const void *model, const char *word, size_t size, clf_text_workspace *work, clf_token_list *tokens)
{
    const clf_wordpiece *wordpiece = model;
    clf_model_memory *memory;
    clf_cached_word *slot;
    bool found;
    const size_t first = tokens->count;
    CLF_TRY(clfi_text_workspace_model(work, &memory));
    CLF_TRY(clfi_model_memory_find(memory, wordpiece, wordpiece->made_ns, word, size, tokens, &found, &slot));
    if (found)
        return CLF_OK;
    CLF_TRY(divide(wordpiece, word, size, tokens));
    clfi_model_memory_keep(slot, word, size, tokens, first);
    return CLF_OK;
}

static const clf_vocabulary *vocabulary_of(const void *model)
{
    return &((const clf_wordpiece *)model)->vocabulary;
}

const clf_token_model_kind clfi_wordpiece_kind = {{"WordPiece", read, destroy}, encode, vocabulary_of};
