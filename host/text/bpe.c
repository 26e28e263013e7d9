/* SPDX-License-Identifier: MIT */
/* Makes BPE models, and reads them from tokenizer.json. */
#include "text/bpe_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "io/json.h"
#include "text/model_memory.h"
#include "text/token_model.h"

static void destroy(void *model)
{
    clf_bpe *bpe = model;
    if (!bpe)
        return;
    clfi_vocabulary_free(&bpe->vocabulary);
    free(bpe->continuation_prefix);
    free(bpe->end_suffix);
    free(bpe->merges);
    free(bpe);
}

static const char sign[] = "\u2581";
enum { SIGN_SIZE = sizeof sign - 1 };

size_t clfi_bpe_find_word(const char *text, size_t size, size_t from)
{
    for (const char *at = text + from; at < text + size; at += SIGN_SIZE) {
        at = memmem(at, size - (size_t)(at - text), sign, SIGN_SIZE);
        if (!at)
            return size;
        const size_t place = (size_t)(at - text);
        if (place > 0 && (place < SIGN_SIZE || memcmp(at - SIGN_SIZE, sign, SIGN_SIZE) != 0))
            return place;
    }
    return size;
}

/* Whether U+2581 is a token and no token has it after another character. No merge then crosses the beginning of a word, and a long text
 * may be divided there. */
static bool do_words_end(const clf_vocabulary *vocabulary)
{
    if (clfi_vocabulary_find(vocabulary, sign, SIGN_SIZE) < 0)
        return false;
    for (size_t i = 0; i < vocabulary->count; i++) {
        const clf_vocabulary_entry *entry = &vocabulary->entries[i];
        if (clfi_bpe_find_word(vocabulary->text.data + entry->offset, entry->size, 0) < entry->size)
            return false;
    }
    return true;
}

static clf_status take_settings(const clf_bpe_settings *settings, const char *where, clf_bpe *bpe)
{
    const clf_vocabulary *vocabulary = &bpe->vocabulary;
    bpe->longest = 1;
    for (size_t i = 0; i < vocabulary->count; i++)
        bpe->longest = vocabulary->entries[i].size > bpe->longest ? vocabulary->entries[i].size : bpe->longest;
    bpe->fuse_unknown = settings->fuse_unknown;
    bpe->byte_fallback = settings->byte_fallback;
    bpe->ignore_merges = settings->ignore_merges;
    bpe->keeps_unknown = settings->keeps_unknown;
    bpe->first_merge_counts = settings->first_merge_counts;
    bpe->prefix_size = strlen(settings->continuation_prefix);
    bpe->suffix_size = strlen(settings->end_suffix);
    bpe->unknown = settings->unknown ? clfi_vocabulary_find(vocabulary, settings->unknown, strlen(settings->unknown)) : -1;
    if (settings->unknown && bpe->unknown < 0)
        CLF_FAIL(CLF_FORMAT, "%s: the unknown token \"%s\" is not in the vocabulary of %zu tokens", where, settings->unknown,
                 vocabulary->count);
    for (unsigned byte = 0; byte < 256; byte++) {
        char token[8];
        bpe->byte_id[byte] = clfi_vocabulary_find(vocabulary, token, (size_t)snprintf(token, sizeof token, "<0x%02X>", byte));
    }
    bpe->parts_at_spaces = bpe->unknown >= 0 && bpe->prefix_size == 0 && bpe->suffix_size == 0 && !bpe->ignore_merges;
    bpe->parts_at_spaces = bpe->parts_at_spaces && do_words_end(vocabulary);
    CLF_TRY(clfi_strdup(settings->continuation_prefix, &bpe->continuation_prefix));
    return clfi_strdup(settings->end_suffix, &bpe->end_suffix);
}

clf_status clfi_bpe_create(clf_vocabulary *vocabulary, const clf_bpe_settings *settings, const char *where, clf_bpe **out)
{
    clf_bpe *bpe = NULL;
    clf_status st = clfi_alloc(1, sizeof *bpe, "BPE model", &bpe);
    if (st != CLF_OK) {
        clfi_vocabulary_free(vocabulary);
        return st;
    }
    bpe->vocabulary = *vocabulary;
    *vocabulary = (clf_vocabulary)CLF_VOCABULARY_INIT;
    bpe->made_ns = clfi_now_ns();
    st = take_settings(settings, where, bpe);
    if (st == CLF_OK)
        *out = bpe;
    else
        destroy(bpe);
    return st;
}

/* --- merges --- */

static uint64_t pair_of(int32_t left, int32_t right)
{
    return (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
}

static clf_merge *slot_of(clf_merge *merges, size_t slot_count, uint64_t pair)
{
    size_t slot = (size_t)((pair * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (slot_count - 1);
    while (merges[slot].pair != CLF_NO_PAIR && merges[slot].pair != pair)
        slot = (slot + 1) & (slot_count - 1);
    return &merges[slot];
}

const clf_merge *clfi_bpe_find_merge(const clf_bpe *bpe, int32_t left, int32_t right)
{
    if (!bpe->slot_count)
        return NULL;
    const clf_merge *merge = slot_of(bpe->merges, bpe->slot_count, pair_of(left, right));
    return merge->pair == CLF_NO_PAIR ? NULL : merge;
}

static clf_status grow_merges(clf_bpe *bpe)
{
    const size_t count = bpe->slot_count ? bpe->slot_count * 2 : 256;
    clf_merge *merges;
    CLF_TRY(clfi_alloc(count, sizeof *merges, "merges", &merges));
    for (size_t i = 0; i < count; i++)
        merges[i].pair = CLF_NO_PAIR;
    for (size_t i = 0; i < bpe->slot_count; i++)
        if (bpe->merges[i].pair != CLF_NO_PAIR)
            *slot_of(merges, count, bpe->merges[i].pair) = bpe->merges[i];
    free(bpe->merges);
    bpe->merges = merges;
    bpe->slot_count = count;
    return CLF_OK;
}

static bool is_byte(const clf_bpe *bpe, int32_t id)
{
    unsigned byte;
    const char *text = clfi_vocabulary_token(&bpe->vocabulary, id);
    return text && sscanf(text, "<0x%2X>", &byte) == 1 && bpe->byte_id[byte] == id;
}

static clf_status put_merge(clf_bpe *bpe, int32_t left, int32_t right, uint32_t rank, int32_t id)
{
    bpe->merges_bytes = bpe->merges_bytes || (bpe->byte_fallback && (is_byte(bpe, left) || is_byte(bpe, right)));
    if (bpe->merge_count * 2 >= bpe->slot_count)
        CLF_TRY(grow_merges(bpe));
    clf_merge *merge = slot_of(bpe->merges, bpe->slot_count, pair_of(left, right));
    if (merge->pair != CLF_NO_PAIR && bpe->first_merge_counts)
        return CLF_OK;
    bpe->merge_count += merge->pair == CLF_NO_PAIR;
    *merge = (clf_merge){pair_of(left, right), rank, id};
    return CLF_OK;
}

static clf_status merge_token(const clf_bpe *bpe, const char *token, size_t size, const char *where, int32_t *id)
{
    *id = clfi_vocabulary_find(&bpe->vocabulary, token, size);
    if (*id < 0)
        CLF_FAIL(CLF_FORMAT, "%s: merges: \"%.*s\" is not in the vocabulary", where, (int)(size < 80 ? size : 80), token);
    return CLF_OK;
}

clf_status clfi_bpe_add_merge(clf_bpe *bpe, const char *left, size_t left_size, const char *right, size_t right_size, uint32_t rank,
                              const char *where)
{
    int32_t left_id, right_id, id;
    CLF_TRY(merge_token(bpe, left, left_size, where, &left_id));
    CLF_TRY(merge_token(bpe, right, right_size, where, &right_id));
    if (right_size < bpe->prefix_size)
        CLF_FAIL(CLF_FORMAT, "%s: merges: \"%.80s\" is shorter than the prefix \"%s\"", where, right, bpe->continuation_prefix);
    clf_str both = CLF_STR_INIT;
    clf_status st = clfi_str_append(&both, left, left_size);
    if (st == CLF_OK)
        st = clfi_str_append(&both, right + bpe->prefix_size, right_size - bpe->prefix_size);
    if (st == CLF_OK)
        st = merge_token(bpe, both.data, both.length, where, &id);
    if (st == CLF_OK)
        st = put_merge(bpe, left_id, right_id, rank, id);
    clfi_str_free(&both);
    return st;
}

typedef struct clf_scored {
    float score;
    const clf_vocabulary_entry *entry;
} clf_scored;

/* Best score first; of equal scores the lower id. */
static int compare_scores(const void *a, const void *b)
{
    const clf_scored *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->entry->id < y->entry->id ? -1 : x->entry->id > y->entry->id;
}

clf_status clfi_bpe_add_scores(clf_bpe *bpe, const float *scores, size_t count, const char *where)
{
    enum { LONGEST = 256 }; /* bytes; longer tokens get no merges (no known vocabulary has longer ones that merges make) */
    const clf_vocabulary *vocabulary = &bpe->vocabulary;
    clf_scored *order;
    CLF_TRY(clfi_alloc(vocabulary->count, sizeof *order, "token scores", &order));
    clf_status st = CLF_OK;
    size_t used = 0;
    for (size_t i = 0; st == CLF_OK && i < vocabulary->count; i++) {
        const clf_vocabulary_entry *entry = &vocabulary->entries[i];
        if ((size_t)entry->id >= count || !isfinite(scores[entry->id]))
            st = clfi_fail(CLF_FORMAT, "%s: token %d has no finite score", where, (int)entry->id);
        else if (entry->size > 1 && entry->size <= LONGEST)
            order[used++] = (clf_scored){scores[entry->id], entry};
    }
    if (used)
        qsort(order, used, sizeof *order, compare_scores);
    uint32_t rank = 0;
    for (size_t i = 0; st == CLF_OK && i < used; i++) {
        const clf_vocabulary_entry *entry = order[i].entry;
        const char *token = vocabulary->text.data + entry->offset;
        rank += i > 0 && order[i].score != order[i - 1].score; /* equal scores: the leftmost pair first */
        for (size_t cut = 1; st == CLF_OK && cut < entry->size; cut++) {
            const int32_t left = clfi_vocabulary_find(vocabulary, token, cut);
            const int32_t right = left < 0 ? -1 : clfi_vocabulary_find(vocabulary, token + cut, entry->size - cut);
            if (right >= 0)
                st = put_merge(bpe, left, right, rank, entry->id);
        }
    }
    free(order);
    return st;
}

/* --- reading --- */

static clf_status read_merge(const json_t *json, const char *where, size_t index, clf_bpe *bpe)
{
    if (json_is_array(json) && json_array_size(json) == 2 && json_is_string(json_array_get(json, 0)) &&
        json_is_string(json_array_get(json, 1))) {
        const json_t *left = json_array_get(json, 0), *right = json_array_get(json, 1);
        return clfi_bpe_add_merge(bpe, json_string_value(left), json_string_length(left), json_string_value(right),
                                  json_string_length(right), (uint32_t)index, where);
    }
    const char *text = json_string_value(json), *space = text ? strchr(text, ' ') : NULL;
    if (!space) {
        char found[CLFI_JSON_FOUND_BYTES];
        CLF_FAIL(CLF_FORMAT, "%s: merges[%zu]: expected two tokens, found %s", where, index, clfi_json_found(json, found));
    }
    return clfi_bpe_add_merge(bpe, text, (size_t)(space - text), space + 1, json_string_length(json) - (size_t)(space - text) - 1,
                              (uint32_t)index, where);
}

static clf_status read_settings(const json_t *json, const char *where, clf_bpe_settings *settings)
{
    double dropout;
    CLF_TRY(clfi_json_opt_number(json, where, "dropout", 0.0, 1.0, 0.0, &dropout));
    if (dropout > 0.0)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: dropout %g: expected none", where, dropout);
    CLF_TRY(clfi_json_opt_string(json, where, "unk_token", NULL, &settings->unknown));
    CLF_TRY(clfi_json_opt_string(json, where, "continuing_subword_prefix", "", &settings->continuation_prefix));
    CLF_TRY(clfi_json_opt_string(json, where, "end_of_word_suffix", "", &settings->end_suffix));
    CLF_TRY(clfi_json_opt_bool(json, where, "fuse_unk", false, &settings->fuse_unknown));
    CLF_TRY(clfi_json_opt_bool(json, where, "byte_fallback", false, &settings->byte_fallback));
    return clfi_json_opt_bool(json, where, "ignore_merges", false, &settings->ignore_merges);
}

static clf_status read(const json_t *json, const char *where, void **out)
{
    clf_bpe_settings settings = {.unknown = NULL};
    const json_t *vocab, *merges;
    clf_vocabulary vocabulary = CLF_VOCABULARY_INIT;
    clf_bpe *bpe = NULL;
    CLF_TRY(read_settings(json, where, &settings));
    CLF_TRY(clfi_json_get_object(json, where, "vocab", &vocab));
    CLF_TRY(clfi_json_get_array(json, where, "merges", &merges));
    clf_status st = clfi_vocabulary_read_json(&vocabulary, vocab, where);
    if (st != CLF_OK) {
        clfi_vocabulary_free(&vocabulary);
        return st;
    }
    CLF_TRY(clfi_bpe_create(&vocabulary, &settings, where, &bpe));
    for (size_t i = 0; st == CLF_OK && i < json_array_size(merges); i++)
        st = read_merge(json_array_get(merges, i), where, i, bpe);
    if (st == CLF_OK)
        *out = bpe;
    else
        destroy(bpe);
    return st;
}

static const clf_vocabulary *vocabulary_of(const void *model)
{
    return &((const clf_bpe *)model)->vocabulary;
}

const clf_token_model_kind clfi_bpe_kind = {{"BPE", read, destroy}, clfi_bpe_encode, vocabulary_of};
