/* SPDX-License-Identifier: MIT */
/* BPE with a heap of candidates: n characters take n log n steps, however long the word. */
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "text/bpe_model.h"

enum { DROPPED = -1 };      /* id of a symbol that becomes no token */
enum { PART_BYTES = 4096 }; /* a longer word (a text without pre-tokenizer is one) is encoded in parts of at least this size */

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
    const clf_merge *merge = left->next < 0 ? NULL : clfi_bpe_find_merge(bpe, left->id, memory->symbols[left->next].id);
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
        const clf_merge *merge = clfi_bpe_find_merge(bpe, left->id, right->id);
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

/* ---- The beginning of a long word ---- */

/* The tail of a part, in which its tokens are encoded anew for each place where the part may end. */
static size_t tail_bytes(const clf_bpe *bpe)
{
    enum { MORE = 64 };
    return 2 * bpe->longest + MORE;
}

static bool is_boundary(const char *text, size_t at)
{
    return ((unsigned char)text[at] & 0xc0) != 0x80;
}

/* Merges text[0..size) and returns its symbols in memory->symbols. *out_whole: each byte belongs to a symbol, and none is unknown. */
static clf_status merge_part(const clf_bpe *bpe, clf_model_memory *memory, const char *text, size_t size, size_t *out_count,
                             bool *out_whole)
{
    size_t sum = 0;
    bool is_known = true;
    CLF_TRY(begin_word(bpe, memory, text, size, out_count));
    for (size_t i = 0; i < *out_count; i++) {
        sum += memory->symbols[i].size;
        is_known = is_known && memory->symbols[i].id != DROPPED && memory->symbols[i].id != bpe->unknown;
    }
    *out_whole = is_known && sum == size;
    return merge_all(bpe, memory, *out_count);
}

/* Whether the token `anchor` and those before it are the word's, wherever its own tokens have a boundary in the last bytes of its part. */
static clf_status check_anchor(const clf_bpe *bpe, clf_model_memory *memory, const char *word, size_t part, const clf_token *anchor,
                               bool *out)
{
    enum { CHARACTER = 4 };
    *out = true;
    for (size_t end = part - bpe->longest - CHARACTER; end < part && *out; end++) {
        size_t count;
        bool is_whole;
        if (!is_boundary(word, end))
            continue;
        CLF_TRY(merge_part(bpe, memory, word + anchor->start, end - anchor->start, &count, &is_whole));
        *out = is_whole && memory->symbols[0].id == anchor->id && memory->symbols[0].size == anchor->end - anchor->start;
    }
    return CLF_OK;
}

/* Appends the word's first `wanted` tokens if word[0..part) decides them. */
static clf_status try_part(const clf_bpe *bpe, clf_model_memory *memory, const char *word, size_t part, size_t wanted,
                           clf_token_list *tokens, bool *out)
{
    const size_t first = tokens->count;
    size_t count, at = 0, anchor;
    bool is_whole;
    while (!is_boundary(word, part))
        part--;
    CLF_TRY(merge_part(bpe, memory, word, part, &count, &is_whole));
    for (size_t i = 0; i < count && is_whole; at += memory->symbols[i++].size)
        if (memory->symbols[i].size)
            CLF_TRY(clfi_token_append(tokens, memory->symbols[i].id, at, at + memory->symbols[i].size));
    for (anchor = tokens->count; anchor > first && tokens->tokens[anchor - 1].start + tail_bytes(bpe) > part;)
        anchor--;
    *out = is_whole && anchor > first + wanted;
    if (*out) {
        const clf_token last = tokens->tokens[anchor - 1];
        CLF_TRY(check_anchor(bpe, memory, word, part, &last, out));
    }
    tokens->count = *out ? first + wanted : first;
    return CLF_OK;
}

/* Appends the first `wanted` tokens of a word that is so long that its beginning is worth a look. *out: they are certain.
 *
 * Merges compare neighbours alone. So tokens that begin those of a word are also those of their own text, and tokens follow each other in a
 * word if each two neighbours are the tokens of their own text. Hence, if all places where the word's tokens may have a boundary at the end
 * of a part give the same tokens before `anchor`, these are the word's. */
static clf_status encode_beginning(const clf_bpe *bpe, clf_model_memory *memory, const char *word, size_t size, size_t wanted,
                                   clf_token_list *tokens, bool *out)
{
    enum { TOKEN_BYTES = 16, SHARE = 4 }; /* a part and its tails are at most a share of the word's work */
    const size_t tails = (bpe->longest + 1) * (tail_bytes(bpe) + bpe->longest);
    *out = false;
    if (bpe->prefix_size || bpe->suffix_size || bpe->merges_bytes || wanted > size / TOKEN_BYTES)
        return CLF_OK;
    for (size_t part = PART_BYTES + TOKEN_BYTES * wanted; part + tails < size / SHARE && !*out; part *= 2)
        CLF_TRY(try_part(bpe, memory, word, part, wanted, tokens, out));
    return CLF_OK;
}

/* Tokens of bytes [start, end) of a word. */
static clf_status divide(const clf_bpe *bpe, clf_text_workspace *work, clf_model_memory *memory, const char *word, size_t start, size_t end,
                         clf_token_list *tokens)
{
    const size_t before = tokens->count;
    size_t count, at = start;
    bool is_done = false;
    if (work->enough < SIZE_MAX)
        CLF_TRY(encode_beginning(bpe, memory, word + start, end - start, work->enough - before, tokens, &is_done));
    for (size_t i = before; i < tokens->count; i++) {
        tokens->tokens[i].start += (uint32_t)start;
        tokens->tokens[i].end += (uint32_t)start;
    }
    if (is_done)
        return CLF_OK;
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

clf_status clfi_bpe_encode(const void *model, const char *word, size_t size, clf_text_workspace *work, clf_token_list *tokens)
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
            end = bpe->parts_at_spaces && size - start > PART_BYTES ? clfi_bpe_find_word(word, size, start + PART_BYTES) : size;
            CLF_TRY(divide(bpe, work, memory, word, start, end, tokens));
        }
    }
    clfi_model_memory_keep(slot, word, size, tokens, first);
    return CLF_OK;
}
