/* SPDX-License-Identifier: MIT */
/* BPE with a heap of candidates: n characters take n log n steps, however long the word. */
#include "text/bpe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "io/json.h"
#include "text/model_memory.h"
#include "text/token_model.h"

typedef struct clf_merge {
    uint64_t pair; /* ids of left and right; NO_PAIR: free */
    uint32_t rank;
    int32_t id;
} clf_merge;

#define NO_PAIR UINT64_MAX

enum { DROPPED = -1 };      /* id of a symbol that becomes no token */
enum { PART_BYTES = 4096 }; /* a longer word (a text without pre-tokenizer is one) is encoded in parts of at least this size */

struct clf_bpe {
    clf_vocabulary vocabulary;
    char *continuation_prefix, *end_suffix;
    size_t prefix_size, suffix_size;
    size_t longest;  /* bytes of the longest token, at least 1 */
    int32_t unknown; /* -1: none */
    bool fuse_unknown, byte_fallback, ignore_merges, keeps_unknown, first_merge_counts;
    bool parts_at_spaces; /* a long word may be divided before U+2581, SentencePiece's space (do_words_end) */
    int32_t byte_id[256]; /* with byte_fallback; -1: none */
    clf_merge *merges;    /* open addressing, at most half full */
    size_t merge_count, slot_count;
    uint64_t made_ns;
};

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

/* Position, from `from` on, of the first sign that follows a character other than a sign; size: none. */
static size_t find_word(const char *text, size_t size, size_t from)
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
        if (find_word(vocabulary->text.data + entry->offset, entry->size, 0) < entry->size)
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
    while (merges[slot].pair != NO_PAIR && merges[slot].pair != pair)
        slot = (slot + 1) & (slot_count - 1);
    return &merges[slot];
}

static const clf_merge *find_merge(const clf_bpe *bpe, int32_t left, int32_t right)
{
    if (!bpe->slot_count)
        return NULL;
    const clf_merge *merge = slot_of(bpe->merges, bpe->slot_count, pair_of(left, right));
    return merge->pair == NO_PAIR ? NULL : merge;
}

static clf_status grow_merges(clf_bpe *bpe)
{
    const size_t count = bpe->slot_count ? bpe->slot_count * 2 : 256;
    clf_merge *merges;
    CLF_TRY(clfi_alloc(count, sizeof *merges, "merges", &merges));
    for (size_t i = 0; i < count; i++)
        merges[i].pair = NO_PAIR;
    for (size_t i = 0; i < bpe->slot_count; i++)
        if (bpe->merges[i].pair != NO_PAIR)
            *slot_of(merges, count, bpe->merges[i].pair) = bpe->merges[i];
    free(bpe->merges);
    bpe->merges = merges;
    bpe->slot_count = count;
    return CLF_OK;
}

static clf_status put_merge(clf_bpe *bpe, int32_t left, int32_t right, uint32_t rank, int32_t id)
{
    if (bpe->merge_count * 2 >= bpe->slot_count)
        CLF_TRY(grow_merges(bpe));
    clf_merge *merge = slot_of(bpe->merges, bpe->slot_count, pair_of(left, right));
    if (merge->pair != NO_PAIR && bpe->first_merge_counts)
        return CLF_OK;
    bpe->merge_count += merge->pair == NO_PAIR;
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

/* --- encoding --- */

static clf_status add_symbol(clf_model_memory *memory, size_t *count, int32_t id, size_t size)
{
    CLF_TRY(clfi_grow(&memory->symbols, &memory->symbol_capacity, *count + 1, sizeof *memory->symbols, "word"));
    const int32_t at = (int32_t)*count;
    memory->symbols[(*count)++] = (clf_symbol){id, at - 1, at + 1, (uint32_t)size};
    return CLF_OK;
}

/* Unknown characters that wait for the next known one. */
typedef struct clf_unknown_run {
    bool is_open;
    size_t size;
} clf_unknown_run;

static clf_status add_unknown(const clf_bpe *bpe, clf_model_memory *memory, size_t bytes, clf_unknown_run *run, size_t *count)
{
    if (bpe->unknown < 0) /* dropped here, so that its neighbours may merge, or behind the merges */
        return bpe->keeps_unknown ? add_symbol(memory, count, DROPPED, bytes) : CLF_OK;
    if (run->is_open && bpe->fuse_unknown) {
        run->size += bytes;
        return CLF_OK;
    }
    if (run->is_open)
        CLF_TRY(add_symbol(memory, count, bpe->unknown, run->size));
    *run = (clf_unknown_run){true, bytes};
    return CLF_OK;
}

/* Adds the tokens of a character's bytes, if each of them has one. As in the reference, they don't end a run of unknown characters. */
static clf_status add_bytes(const clf_bpe *bpe, clf_model_memory *memory, const char *text, size_t size, bool *done, size_t *count)
{
    *done = false;
    for (size_t i = 0; i < size; i++)
        if (bpe->byte_id[(unsigned char)text[i]] < 0)
            return CLF_OK;
    for (size_t i = 0; i < size; i++)
        CLF_TRY(add_symbol(memory, count, bpe->byte_id[(unsigned char)text[i]], 1));
    *done = true;
    return CLF_OK;
}

/* Adds what the vocabulary's form of the character has: the prefix, and the suffix if it is the word's last. */
static clf_status decorate(const clf_bpe *bpe, clf_model_memory *memory, bool first, bool last, const char **text, size_t *size)
{
    if ((first || !bpe->prefix_size) && (!last || !bpe->suffix_size))
        return CLF_OK;
    clfi_str_clear(&memory->text);
    if (!first)
        CLF_TRY(clfi_str_append(&memory->text, bpe->continuation_prefix, bpe->prefix_size));
    CLF_TRY(clfi_str_append(&memory->text, *text, *size));
    if (last)
        CLF_TRY(clfi_str_append(&memory->text, bpe->end_suffix, bpe->suffix_size));
    *text = memory->text.data;
    *size = memory->text.length;
    return CLF_OK;
}

static clf_status begin_word(const clf_bpe *bpe, clf_model_memory *memory, const char *word, size_t size, size_t *count)
{
    clf_unknown_run run = {false, 0};
    *count = 0;
    for (size_t at = 0; at < size;) {
        uint32_t code;
        const size_t step = clfi_utf8_decode((const unsigned char *)word + at, size - at, &code);
        const char *text = word + at;
        size_t text_size = step;
        CLF_TRY(decorate(bpe, memory, at == 0, at + step == size, &text, &text_size));
        at += step;
        const int32_t id = clfi_vocabulary_find(&bpe->vocabulary, text, text_size);
        if (id >= 0) {
            if (run.is_open)
                CLF_TRY(add_symbol(memory, count, bpe->unknown, run.size));
            run.is_open = false;
            CLF_TRY(add_symbol(memory, count, id, step));
            continue;
        }
        bool done = false;
        if (bpe->byte_fallback)
            CLF_TRY(add_bytes(bpe, memory, text, text_size, &done, count));
        if (!done)
            CLF_TRY(add_unknown(bpe, memory, step, &run, count));
    }
    if (run.is_open)
        CLF_TRY(add_symbol(memory, count, bpe->unknown, run.size));
    if (*count)
        memory->symbols[*count - 1].next = -1;
    return CLF_OK;
}

static bool comes_first(const clf_merge_candidate *a, const clf_merge_candidate *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->position < b->position;
}

static clf_status push(const clf_bpe *bpe, clf_model_memory *memory, int32_t position)
{
    const clf_symbol *left = &memory->symbols[position];
    const clf_merge *merge = left->next < 0 ? NULL : find_merge(bpe, left->id, memory->symbols[left->next].id);
    if (!merge)
        return CLF_OK;
    CLF_TRY(clfi_grow(&memory->heap, &memory->heap_capacity, memory->heap_count + 1, sizeof *memory->heap, "merges of a word"));
    const clf_merge_candidate candidate = {merge->rank, position, merge->id};
    size_t at = memory->heap_count++;
    for (; at > 0 && comes_first(&candidate, &memory->heap[(at - 1) / 2]); at = (at - 1) / 2)
        memory->heap[at] = memory->heap[(at - 1) / 2];
    memory->heap[at] = candidate;
    return CLF_OK;
}

static clf_merge_candidate pop(clf_model_memory *memory)
{
    clf_merge_candidate *heap = memory->heap;
    const clf_merge_candidate best = heap[0], last = heap[--memory->heap_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < memory->heap_count; at = child) {
        child += child + 1 < memory->heap_count && comes_first(&heap[child + 1], &heap[child]);
        if (!comes_first(&heap[child], &last))
            break;
        heap[at] = heap[child];
    }
    heap[at] = last;
    return best;
}

static clf_status merge_all(const clf_bpe *bpe, clf_model_memory *memory, size_t count)
{
    memory->heap_count = 0;
    for (size_t i = 0; i < count; i++)
        CLF_TRY(push(bpe, memory, (int32_t)i));
    while (memory->heap_count) {
        const clf_merge_candidate best = pop(memory);
        clf_symbol *left = &memory->symbols[best.position];
        if (left->size == 0 || left->next < 0)
            continue;
        clf_symbol *right = &memory->symbols[left->next];
        const clf_merge *merge = find_merge(bpe, left->id, right->id);
        if (!merge || merge->id != best.id) /* the pair is another one by now */
            continue;
        left->id = best.id;
        left->size += right->size;
        left->next = right->next;
        right->size = 0;
        if (left->next >= 0)
            memory->symbols[left->next].previous = best.position;
        if (left->previous >= 0)
            CLF_TRY(push(bpe, memory, left->previous));
        CLF_TRY(push(bpe, memory, best.position));
    }
    return CLF_OK;
}

/* Whether a word has `enough` tokens however its `count` characters merge. */
static bool has_enough(const clf_bpe *bpe, const clf_model_memory *memory, size_t count, size_t enough)
{
    size_t known = 0; /* bytes; unknown characters do not merge */
    for (size_t i = 0; i < count && known / bpe->longest < enough; i++)
        known += memory->symbols[i].id == bpe->unknown ? 0 : memory->symbols[i].size;
    return known / bpe->longest >= enough;
}

/* Tokens of bytes [start, end) of a word. */
static clf_status divide(const clf_bpe *bpe, clf_text_workspace *work, clf_model_memory *memory, const char *word, size_t start, size_t end,
                         clf_token_list *tokens)
{
    size_t count, at = start;
    CLF_TRY(begin_word(bpe, memory, word + start, end - start, &count));
    if (work->is_refused_then && end - start > PART_BYTES && has_enough(bpe, memory, count, work->enough - tokens->count))
        count = work->enough - tokens->count;
    else
        CLF_TRY(merge_all(bpe, memory, count));
    for (size_t i = 0; i < count; i++) {
        const clf_symbol *symbol = &memory->symbols[i];
        if (symbol->size && symbol->id != DROPPED)
            CLF_TRY(clfi_token_append(tokens, symbol->id, at, at + symbol->size));
        at += symbol->size;
    }
    return CLF_OK;
}

static clf_status encode(const void *model, const char *word, size_t size, clf_text_workspace *work, clf_token_list *tokens)
{
    const clf_bpe *bpe = model;
    clf_model_memory *memory;
    clf_cached_word *slot;
    bool found;
    const size_t first = tokens->count;
    if (size > INT32_MAX)
        CLF_FAIL(CLF_UNSUPPORTED, "a word of %zu bytes: expected at most %d", size, INT32_MAX);
    CLF_TRY(clfi_text_workspace_model(work, &memory));
    CLF_TRY(clfi_model_memory_find(memory, bpe, bpe->made_ns, word, size, tokens, &found, &slot));
    if (found)
        return CLF_OK;
    const int32_t whole = bpe->ignore_merges ? clfi_vocabulary_find(&bpe->vocabulary, word, size) : -1;
    if (whole >= 0) {
        CLF_TRY(clfi_token_append(tokens, whole, 0, size));
    } else {
        for (size_t start = 0, end; start < size && tokens->count < work->enough; start = end) {
            end = bpe->parts_at_spaces && size - start > PART_BYTES ? find_word(word, size, start + PART_BYTES) : size;
            CLF_TRY(divide(bpe, work, memory, word, start, end, tokens));
        }
    }
    clfi_model_memory_keep(slot, word, size, tokens, first);
    return CLF_OK;
}

static const clf_vocabulary *vocabulary_of(const void *model)
{
    return &((const clf_bpe *)model)->vocabulary;
}

const clf_token_model_kind clfi_bpe_kind = {{"BPE", read, destroy}, encode, vocabulary_of};
