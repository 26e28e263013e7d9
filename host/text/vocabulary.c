/* SPDX-License-Identifier: MIT */
/* Hash map from tokens to ids (XXH3, linear probing, at most half full) with an index by id. */
#include "text/vocabulary.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "io/json.h"
#include "text/unicode.h"

enum { FIRST_SLOTS = 64, HOLES_PER_TOKEN = 8, HOLES_ALLOWED = 65536 };

void clfi_vocabulary_free(clf_vocabulary *vocabulary)
{
    clfi_str_free(&vocabulary->text);
    free(vocabulary->entries);
    free(vocabulary->slots);
    free(vocabulary->by_id);
    *vocabulary = (clf_vocabulary)CLF_VOCABULARY_INIT;
}

static const char *text_of(const clf_vocabulary *vocabulary, const clf_vocabulary_entry *entry)
{
    return vocabulary->text.data + entry->offset;
}

/* The slot that holds the token, or the free one where it belongs; slots are never all taken. */
static size_t slot_of(const clf_vocabulary *vocabulary, const char *token, size_t size)
{
    const size_t mask = vocabulary->slot_count - 1;
    size_t slot = (size_t)XXH3_64bits(token, size) & mask;
    while (vocabulary->slots[slot]) {
        const clf_vocabulary_entry *entry = &vocabulary->entries[vocabulary->slots[slot] - 1];
        if (entry->size == size && memcmp(text_of(vocabulary, entry), token, size) == 0)
            break;
        slot = (slot + 1) & mask;
    }
    return slot;
}

static clf_status grow_slots(clf_vocabulary *vocabulary)
{
    const size_t count = vocabulary->slot_count ? vocabulary->slot_count * 2 : FIRST_SLOTS;
    uint32_t *slots;
    CLF_TRY(clfi_alloc(count, sizeof *slots, "vocabulary slots", &slots));
    free(vocabulary->slots);
    vocabulary->slots = slots;
    vocabulary->slot_count = count;
    for (size_t i = 0; i < vocabulary->count; i++) {
        const clf_vocabulary_entry *entry = &vocabulary->entries[i];
        slots[slot_of(vocabulary, text_of(vocabulary, entry), entry->size)] = (uint32_t)(i + 1);
    }
    return CLF_OK;
}

clf_status clfi_vocabulary_add(clf_vocabulary *vocabulary, const char *token, size_t size, int64_t id)
{
    if (id < 0 || id > CLFI_VOCABULARY_MAX_ID)
        CLF_FAIL(CLF_FORMAT, "token \"%.*s\": id %lld is outside 0..%d", (int)(size < 80 ? size : 80), token, (long long)id,
                 CLFI_VOCABULARY_MAX_ID);
    if (vocabulary->count * 2 >= vocabulary->slot_count)
        CLF_TRY(grow_slots(vocabulary));
    const size_t slot = slot_of(vocabulary, token, size);
    if (vocabulary->slots[slot]) {
        vocabulary->entries[vocabulary->slots[slot] - 1].id = (int32_t)id;
        return CLF_OK;
    }
    if (vocabulary->count > CLFI_VOCABULARY_MAX_ID)
        CLF_FAIL(CLF_FORMAT, "vocabulary: more than %d tokens", CLFI_VOCABULARY_MAX_ID + 1);
    CLF_TRY(clfi_grow(&vocabulary->entries, &vocabulary->entry_capacity, vocabulary->count + 1, sizeof *vocabulary->entries, "vocabulary"));
    const size_t offset = vocabulary->text.length;
    CLF_TRY(clfi_str_append(&vocabulary->text, token, size));
    CLF_TRY(clfi_str_append_char(&vocabulary->text, '\0'));
    vocabulary->entries[vocabulary->count++] = (clf_vocabulary_entry){offset, size, (int32_t)id};
    vocabulary->slots[slot] = (uint32_t)vocabulary->count;
    if (size > vocabulary->longest)
        vocabulary->longest = size;
    return CLF_OK;
}

clf_status clfi_vocabulary_index(clf_vocabulary *vocabulary, size_t known)
{
    size_t id_count = 0;
    for (size_t i = 0; i < vocabulary->count; i++)
        if ((size_t)vocabulary->entries[i].id >= id_count)
            id_count = (size_t)vocabulary->entries[i].id + 1;
    if (id_count > known + HOLES_PER_TOKEN * vocabulary->count + HOLES_ALLOWED)
        CLF_FAIL(CLF_FORMAT, "vocabulary: highest id %zu with only %zu tokens", id_count - 1, vocabulary->count);
    free(vocabulary->by_id);
    vocabulary->by_id = NULL;
    CLF_TRY(clfi_alloc(id_count, sizeof *vocabulary->by_id, "vocabulary index", &vocabulary->by_id));
    vocabulary->id_count = id_count;
    for (size_t i = 0; i < vocabulary->count; i++) {
        const clf_vocabulary_entry *entry = &vocabulary->entries[i];
        uint32_t *place = &vocabulary->by_id[entry->id];
        if (*place)
            CLF_FAIL(CLF_FORMAT, "vocabulary: tokens \"%.80s\" and \"%.80s\" share id %d",
                     text_of(vocabulary, &vocabulary->entries[*place - 1]), text_of(vocabulary, entry), (int)entry->id);
        *place = (uint32_t)(i + 1);
    }
    return CLF_OK;
}

int32_t clfi_vocabulary_find(const clf_vocabulary *vocabulary, const char *token, size_t size)
{
    if (vocabulary->slot_count == 0 || size > vocabulary->longest)
        return -1;
    const uint32_t entry = vocabulary->slots[slot_of(vocabulary, token, size)];
    return entry ? vocabulary->entries[entry - 1].id : -1;
}

const char *clfi_vocabulary_token(const clf_vocabulary *vocabulary, int32_t id)
{
    if (id < 0 || (size_t)id >= vocabulary->id_count || vocabulary->by_id[id] == 0)
        return NULL;
    return text_of(vocabulary, &vocabulary->entries[vocabulary->by_id[id] - 1]);
}

/* Length of the line without white space at its end. */
static size_t trimmed(const char *line, size_t size)
{
    size_t end = 0;
    for (size_t i = 0; i < size;) {
        uint32_t code;
        i += clfi_utf8_decode((const unsigned char *)line + i, size - i, &code);
        if (!(clfi_char_properties(code).flags & CLFI_CHAR_WHITESPACE))
            end = i;
    }
    return end;
}

clf_status clfi_vocabulary_parse_lines(clf_vocabulary *vocabulary, const char *text, size_t size, const char *name)
{
    int64_t id = 0;
    for (size_t start = 0; start < size; id++) {
        const char *line = text + start;
        const char *newline = memchr(line, '\n', size - start);
        const size_t length = newline ? (size_t)(newline - line) : size - start;
        if (clfi_utf8_check((const unsigned char *)line, length) != length)
            CLF_FAIL(CLF_FORMAT, "%s: line %lld is not UTF-8", name, (long long)id + 1);
        if (memchr(line, '\0', length))
            CLF_FAIL(CLF_FORMAT, "%s: line %lld holds U+0000", name, (long long)id + 1);
        const clf_status st = clfi_vocabulary_add(vocabulary, line, trimmed(line, length), id);
        if (st != CLF_OK)
            return clfi_fail_prefix(st, "%s", name);
        start += length + (newline != NULL);
    }
    return CLF_OK;
}

clf_status clfi_vocabulary_read_json(clf_vocabulary *vocabulary, const json_t *json, const char *where)
{
    const char *token;
    json_t *value;
    json_object_foreach((json_t *)json, token, value)
    {
        if (!json_is_integer(value)) {
            char found[CLFI_JSON_FOUND_BYTES];
            CLF_FAIL(CLF_FORMAT, "%s: vocab: \"%s\": expected an integer id, found %s", where, token, clfi_json_found(value, found));
        }
        const clf_status st = clfi_vocabulary_add(vocabulary, token, strlen(token), json_integer_value(value));
        if (st != CLF_OK)
            return clfi_fail_prefix(st, "%s: vocab", where);
    }
    const clf_status st = clfi_vocabulary_index(vocabulary, 0);
    return st == CLF_OK ? CLF_OK : clfi_fail_prefix(st, "%s", where);
}
