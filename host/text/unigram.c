/* SPDX-License-Identifier: MIT */
/* Unigram language model: divides a word into tokens so that the sum of their scores is highest. Source: Kudo 2018 (arXiv:1804.10959);
 * SentencePiece's search with a score for unknown characters. The tokens are a trie, kept as a hash map from (node, byte) to node, on which
 * the best path through a word is found from its start (Viterbi). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "io/json.h"
#include "text/model_memory.h"
#include "text/token_model.h"

/* An edge of the trie. Node 0 is the root, so no edge leads to it: child 0 marks a free slot. */
typedef struct clf_trie_edge {
    uint32_t parent_byte; /* parent * 256 + byte */
    uint32_t child;
} clf_trie_edge;

enum { TRIE_NODES_MAX = 1 << 24 };

typedef struct clf_unigram {
    clf_vocabulary vocabulary;
    double *scores; /* by id */
    clf_trie_edge *edges;
    size_t edge_slots;
    int32_t *node_id; /* token that ends at the node, -1: none */
    size_t node_count, node_capacity;
    double unknown_score;
    size_t longest;  /* bytes of the longest token */
    int32_t unknown; /* -1: none */
    bool byte_fallback;
    int32_t byte_id[256];
    uint64_t made_ns;
} clf_unigram;

static void destroy(void *model)
{
    clf_unigram *unigram = model;
    if (!unigram)
        return;
    clfi_vocabulary_free(&unigram->vocabulary);
    free(unigram->scores);
    free(unigram->edges);
    free(unigram->node_id);
    free(unigram);
}

/* --- trie --- */

static clf_trie_edge *edge_of(clf_trie_edge *edges, size_t slots, uint32_t parent_byte)
{
    size_t slot = (size_t)(((uint64_t)parent_byte * UINT64_C(0x9e3779b97f4a7c15)) >> 24) & (slots - 1);
    while (edges[slot].child && edges[slot].parent_byte != parent_byte)
        slot = (slot + 1) & (slots - 1);
    return &edges[slot];
}

static clf_status add_node(clf_unigram *unigram)
{
    if (unigram->node_count == TRIE_NODES_MAX)
        CLF_FAIL(CLF_UNSUPPORTED, "vocabulary: its tokens have more than %d distinct prefixes", TRIE_NODES_MAX);
    CLF_TRY(clfi_grow(&unigram->node_id, &unigram->node_capacity, unigram->node_count + 1, sizeof *unigram->node_id, "token trie"));
    unigram->node_id[unigram->node_count++] = -1;
    return CLF_OK;
}

static clf_status grow_edges(clf_unigram *unigram)
{
    const size_t slots = unigram->edge_slots ? unigram->edge_slots * 2 : 1024;
    clf_trie_edge *edges;
    CLF_TRY(clfi_alloc(slots, sizeof *edges, "token trie", &edges));
    for (size_t i = 0; i < unigram->edge_slots; i++)
        if (unigram->edges[i].child)
            *edge_of(edges, slots, unigram->edges[i].parent_byte) = unigram->edges[i];
    free(unigram->edges);
    unigram->edges = edges;
    unigram->edge_slots = slots;
    return CLF_OK;
}

static clf_status trie_add(clf_unigram *unigram, const char *token, size_t size, int32_t id)
{
    uint32_t node = 0;
    for (size_t i = 0; i < size; i++) {
        if (unigram->node_count * 2 >= unigram->edge_slots)
            CLF_TRY(grow_edges(unigram));
        const uint32_t key = node << 8 | (unsigned char)token[i];
        clf_trie_edge *edge = edge_of(unigram->edges, unigram->edge_slots, key);
        if (!edge->child) {
            CLF_TRY(add_node(unigram));
            *edge = (clf_trie_edge){key, (uint32_t)unigram->node_count - 1};
        }
        node = edge->child;
    }
    unigram->node_id[node] = id;
    unigram->longest = size > unigram->longest ? size : unigram->longest;
    return CLF_OK;
}

/* --- making --- */

static clf_status build(clf_unigram *unigram, const double *scores, size_t count, const char *where)
{
    enum { UNKNOWN_PENALTY = 10 }; /* as in SentencePiece: an unknown character scores this much less than the worst token */
    const clf_vocabulary *vocabulary = &unigram->vocabulary;
    double least = INFINITY;
    if (unigram->unknown >= 0 && (size_t)unigram->unknown >= count)
        CLF_FAIL(CLF_FORMAT, "%s: unknown token %d with %zu tokens", where, (int)unigram->unknown, count);
    CLF_TRY(clfi_alloc(count, sizeof *unigram->scores, "token scores", &unigram->scores));
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(scores[i]) && scores[i] != -INFINITY)
            CLF_FAIL(CLF_FORMAT, "%s: the score of token %zu is not finite", where, i);
        unigram->scores[i] = scores[i];
        least = isfinite(scores[i]) && scores[i] < least ? scores[i] : least;
    }
    unigram->unknown_score = (isfinite(least) ? least : 0.0) - UNKNOWN_PENALTY;
    CLF_TRY(add_node(unigram));
    CLF_TRY(grow_edges(unigram)); /* the vocabulary may have no token with a finite score */
    for (size_t i = 0; i < vocabulary->count; i++) {
        const clf_vocabulary_entry *entry = &vocabulary->entries[i];
        if (isfinite(scores[entry->id]))
            CLF_TRY(trie_add(unigram, vocabulary->text.data + entry->offset, entry->size, entry->id));
    }
    for (unsigned byte = 0; byte < 256; byte++) {
        char token[8];
        unigram->byte_id[byte] = clfi_vocabulary_find(vocabulary, token, (size_t)snprintf(token, sizeof token, "<0x%02X>", byte));
    }
    return CLF_OK;
}

/* Takes over the vocabulary, whose ids are 0 .. count-1, also when it fails, and leaves it empty. scores[i] belongs to id i; encoding never
 * chooses a token with score -INFINITY. unknown: id for text that is not in the vocabulary; -1: such a text is refused. With byte_fallback
 * such text becomes the tokens "<0x00>" .. "<0xFF>" of its bytes, if all are there. FORMAT: another score is not finite, or `unknown` is
 * outside the vocabulary. */
static clf_status create(clf_vocabulary *vocabulary, const double *scores, size_t count, int32_t unknown, bool byte_fallback,
                         const char *where, clf_unigram **out)
{
    clf_unigram *unigram = NULL;
    clf_status st = clfi_alloc(1, sizeof *unigram, "Unigram model", &unigram);
    if (st != CLF_OK) {
        clfi_vocabulary_free(vocabulary);
        return st;
    }
    unigram->vocabulary = *vocabulary;
    *vocabulary = (clf_vocabulary)CLF_VOCABULARY_INIT;
    unigram->unknown = unknown;
    unigram->byte_fallback = byte_fallback;
    unigram->made_ns = clfi_now_ns();
    st = build(unigram, scores, count, where);
    if (st == CLF_OK)
        *out = unigram;
    else
        destroy(unigram);
    return st;
}

/* Reads "vocab": [["token", score], ...]; the place in the list is the id. A token with score null is only decoded. */
static clf_status read_vocabulary(const json_t *vocab, const char *where, clf_vocabulary *vocabulary, double *scores)
{
    for (size_t i = 0; i < json_array_size(vocab); i++) {
        const json_t *row = json_array_get(vocab, i), *token = json_array_get(row, 0), *score = json_array_get(row, 1);
        const bool is_score = json_is_null(score) || (json_is_number(score) && isfinite(json_number_value(score)));
        if (json_array_size(row) != 2 || !json_is_string(token) || !is_score) {
            char found[CLFI_JSON_FOUND_BYTES];
            CLF_FAIL(CLF_FORMAT, "%s: vocab[%zu]: expected [token, score], found %s", where, i, clfi_json_found(row, found));
        }
        scores[i] = json_is_null(score) ? -INFINITY : json_number_value(score);
        CLF_TRY(clfi_vocabulary_add(vocabulary, json_string_value(token), json_string_length(token), (int64_t)i));
    }
    return clfi_vocabulary_index(vocabulary, 0);
}

/* A number: digits * 10^power. */
typedef struct decimal {
    uint64_t digits;
    int power;
} decimal;

__extension__ typedef unsigned __int128 uint128;

/* Finds the shortest decimal number that is read as x; of several, the nearest to x. It rounds x * 10^decimals to a whole number, with
 * x = mantissa / 2^shift, and accepts it if it is at most half a unit of the mantissa away. It does not use printf, which is slow: some
 * vocabularies have 250,000 scores. False: x is below 2^-9 or not below 2^52, or it is a power of two, whose neighbour below is nearer than
 * that above. */
static bool find_digits(double x, decimal *out)
{
    enum { MANTISSA_BITS = 53, MOST_SHIFT = 62, MOST_DECIMALS = 19 };
    int exponent;
    const uint64_t mantissa = (uint64_t)ldexp(frexp(x, &exponent), MANTISSA_BITS);
    const int shift = MANTISSA_BITS - exponent;
    uint64_t power = 1; /* 10^decimals */
    if (shift < 1 || shift > MOST_SHIFT || mantissa == UINT64_C(1) << (MANTISSA_BITS - 1))
        return false;
    const uint128 unit = (uint128)1 << shift;
    for (int decimals = 0; decimals <= MOST_DECIMALS; decimals++, power *= 10) {
        const uint128 exact = (uint128)mantissa * power, above = exact + unit / 2;
        uint64_t digits = (uint64_t)(above >> shift);
        digits -= above % unit == 0 && digits % 2; /* a tie is rounded to an even number */
        const uint128 rounded = (uint128)digits << shift, difference = rounded > exact ? rounded - exact : exact - rounded;
        if (2 * difference < power || (2 * difference == power && mantissa % 2 == 0)) {
            *out = (decimal){digits, -decimals};
            return true;
        }
    }
    return false;
}

/* Does the same for any finite number that is not negative. */
static decimal print_digits(double x)
{
    enum { LEAST_DIGITS = 15, MOST_DIGITS = 17 };
    char text[32];
    for (int digits = LEAST_DIGITS; digits <= MOST_DIGITS; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, x);
        if (strtod(text, NULL) == x)
            break;
    }
    char *const exponent = strchr(text, 'e'), *end = exponent;
    while (end[-1] == '0')
        end--;
    decimal out = {(uint64_t)(text[0] - '0'), atoi(exponent + 1) - (end > text + 2 ? (int)(end - text) - 2 : 0)};
    for (const char *c = text + 2; c < end; c++)
        out.digits = out.digits * 10 + (uint64_t)(*c - '0');
    return out;
}

static double power_of_ten(int power)
{
    enum { LARGEST_EXACT = 22 }; /* up to 10^22 all products are whole numbers that a double holds */
    char text[16];
    double product = 1;
    if (power > LARGEST_EXACT) {
        snprintf(text, sizeof text, "1e%d", power);
        return strtod(text, NULL);
    }
    for (int i = 0; i < power; i++)
        product *= 10;
    return product;
}

/* The value that serde_json, with which `tokenizers` reads, makes of the shortest decimal text of x. It rounds the digits as one whole
 * number, and then divides or multiplies it by the power of ten. */
static double read_by_serde(double x)
{
    enum { MOST_POWER = 308 };
    decimal text;
    if (!find_digits(fabs(x), &text))
        text = print_digits(fabs(x));
    double value = (double)text.digits;
    for (; text.power < -MOST_POWER; text.power += MOST_POWER)
        value /= power_of_ten(MOST_POWER);
    value = text.power < 0 ? value / power_of_ten(-text.power) : value * power_of_ten(text.power);
    return copysign(value, x);
}

void clfi_unigram_read_as_tokenizers(json_t *root)
{
    json_t *model = json_object_get(root, "model");
    const char *type = json_string_value(json_object_get(model, "type"));
    const json_t *vocab = type && strcmp(type, "Unigram") == 0 ? json_object_get(model, "vocab") : NULL;
    for (size_t i = 0; i < json_array_size(vocab); i++) {
        json_t *score = json_array_get(json_array_get(vocab, i), 1);
        if (json_is_real(score) && isfinite(json_real_value(score)))
            json_real_set(score, read_by_serde(json_real_value(score)));
    }
}

static clf_status read(const json_t *json, const char *where, void **out)
{
    clf_status st;
    clf_vocabulary vocabulary = CLF_VOCABULARY_INIT;
    double *scores = NULL;
    const json_t *vocab;
    bool byte_fallback;
    int64_t unknown;
    clf_unigram *unigram;
    CLF_TRY(clfi_json_get_array(json, where, "vocab", &vocab));
    CLF_TRY(clfi_json_opt_int(json, where, "unk_id", 0, CLFI_VOCABULARY_MAX_ID, -1, &unknown));
    CLF_TRY(clfi_json_opt_bool(json, where, "byte_fallback", false, &byte_fallback));
    const size_t count = json_array_size(vocab);
    CLF_GOTO(clfi_alloc(count, sizeof *scores, "token scores", &scores));
    CLF_GOTO(read_vocabulary(vocab, where, &vocabulary, scores));
    CLF_GOTO(create(&vocabulary, scores, count, (int32_t)unknown, byte_fallback, where, &unigram));
    *out = unigram;
done:
    clfi_vocabulary_free(&vocabulary);
    free(scores);
    return st;
}

/* --- encoding --- */

static void reach(clf_best_path *path, double score, size_t start, int32_t id)
{
    if (path->start != UINT32_MAX && !(score > path->score))
        return;
    path->score = score;
    path->start = (uint32_t)start;
    path->id = id;
}

/* Extends the best way to `at` by each token that begins there. A character that is no token is an unknown one, so there is always a
 * way. */
static clf_status extend(const clf_unigram *unigram, const char *word, size_t size, size_t at, size_t character, clf_best_path *paths)
{
    uint32_t node = 0;
    bool has_character = false;
    const double score = paths[at].score;
    for (size_t i = at; i < size; i++) {
        const clf_trie_edge *edge = edge_of(unigram->edges, unigram->edge_slots, node << 8 | (unsigned char)word[i]);
        if (!edge->child)
            break;
        node = edge->child;
        const int32_t id = unigram->node_id[node];
        if (id < 0)
            continue;
        reach(&paths[i + 1], unigram->scores[id] + score, at, id);
        has_character = has_character || i + 1 - at == character;
    }
    if (has_character)
        return CLF_OK;
    if (unigram->unknown < 0)
        CLF_FAIL(CLF_UNSUPPORTED, "\"%.*s\" is not in the vocabulary, which has no unknown token", (int)character, word + at);
    reach(&paths[at + character], unigram->unknown_score + score, at, unigram->unknown);
    return CLF_OK;
}

static clf_status append(const clf_unigram *unigram, const char *word, size_t start, size_t end, clf_token_list *tokens)
{
    const int32_t id = clfi_vocabulary_find(&unigram->vocabulary, word + start, end - start);
    if (id >= 0)
        return clfi_token_append(tokens, id, start, end);
    bool has_bytes = unigram->byte_fallback;
    for (size_t i = start; has_bytes && i < end; i++)
        has_bytes = unigram->byte_id[(unsigned char)word[i]] >= 0;
    if (!has_bytes)
        return clfi_token_append(tokens, unigram->unknown, start, end);
    for (size_t i = start; i < end; i++) /* the token of each byte has the span of all */
        CLF_TRY(clfi_token_append(tokens, unigram->byte_id[(unsigned char)word[i]], start, end));
    return CLF_OK;
}

/* Appends the tokens of the best path. Neighbouring unknown tokens become one. */
static clf_status append_path(const clf_unigram *unigram, const char *word, size_t size, clf_best_path *paths, clf_token_list *tokens)
{
    /* Reverse the links: paths[start].end becomes the end of the token that begins there. */
    for (uint32_t end = (uint32_t)size, start; end > 0; end = start) {
        start = paths[end].start;
        paths[start].end = end;
        paths[start].next_id = paths[end].id;
    }
    for (size_t start = 0, end; start < size; start = end) {
        end = paths[start].end;
        while (unigram->unknown >= 0 && paths[start].next_id == unigram->unknown && end < size && paths[end].next_id == unigram->unknown)
            end = paths[end].end;
        CLF_TRY(append(unigram, word, start, end, tokens));
    }
    return CLF_OK;
}

/* Empties the paths from number *ready on, up to `end`. */
static clf_status prepare(clf_model_memory *memory, size_t end, size_t *ready)
{
    CLF_TRY(clfi_grow(&memory->paths, &memory->path_capacity, end + 1, sizeof *memory->paths, "paths through a word"));
    for (; *ready <= end; ++*ready)
        memory->paths[*ready] = (clf_best_path){.start = UINT32_MAX};
    return CLF_OK;
}

/* The last position that lies on the best way to each of the positions at .. end that are reached by now. The best way through the word
 * leads through one of them, so that it leads through the result too, whatever the rest of the word is. */
static size_t common_position(const clf_best_path *paths, size_t at, size_t end)
{
    size_t common = at;
    bool is_first = true;
    for (size_t i = at; i <= end; i++) {
        size_t other = i;
        if (paths[i].start == UINT32_MAX)
            continue;
        common = is_first ? i : common;
        is_first = false;
        while (common != other)
            if (common > other)
                common = paths[common].start;
            else
                other = paths[other].start;
    }
    return common;
}

/* Appends the word's tokens; the search ends when `enough` tokens of the sequence are certain. */
static clf_status search(const clf_unigram *unigram, clf_model_memory *memory, const char *word, size_t size, size_t enough,
                         clf_token_list *tokens)
{
    enum { LOOK_BYTES = 4096 };
    const size_t first = tokens->count;
    size_t ready = 0, look = LOOK_BYTES;
    for (size_t at = 0; at < size;) {
        uint32_t code;
        const size_t character = clfi_utf8_decode((const unsigned char *)word + at, size - at, &code);
        const size_t reach = character > unigram->longest ? character : unigram->longest, end = size - at < reach ? size : at + reach;
        CLF_TRY(prepare(memory, end, &ready));
        if (enough < SIZE_MAX && at >= look) {
            CLF_TRY(append_path(unigram, word, common_position(memory->paths, at, ready - 1), memory->paths, tokens));
            if (tokens->count > enough) { /* the last one may be an unknown token that goes on */
                tokens->count = enough;
                return CLF_OK;
            }
            tokens->count = first;
            look *= 2;
        }
        CLF_TRY(extend(unigram, word, size, at, character, memory->paths));
        at += character;
    }
    return append_path(unigram, word, size, memory->paths, tokens);
}

static clf_status encode(const void *model, const char *word, size_t size, clf_text_workspace *work, clf_token_list *tokens)
{
    const clf_unigram *unigram = model;
    clf_model_memory *memory;
    clf_cached_word *slot;
    bool found;
    const size_t first = tokens->count;
    CLF_TRY(clfi_text_workspace_model(work, &memory));
    CLF_TRY(clfi_model_memory_find(memory, unigram, unigram->made_ns, word, size, tokens, &found, &slot));
    if (found)
        return CLF_OK;
    CLF_TRY(search(unigram, memory, word, size, work->enough, tokens));
    clfi_model_memory_keep(slot, word, size, tokens, first);
    return CLF_OK;
}

static const clf_vocabulary *vocabulary_of(const void *model)
{
    return &((const clf_unigram *)model)->vocabulary;
}

const clf_token_model_kind clfi_unigram_kind = {{"Unigram", read, destroy}, encode, vocabulary_of};
