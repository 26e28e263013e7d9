/* SPDX-License-Identifier: MIT */
/* Search for added tokens: candidates by first byte, the longest first, then the conditions and white space of the token found. */
#include "text/added_tokens.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "text/normalizer.h"
#include "text/unicode.h"

typedef struct clf_added_pattern {
    char *text; /* owned */
    size_t size;
    size_t order; /* the lowest of equal patterns counts: special tokens first, then as added */
    int32_t id;
    bool single_word, lstrip, rstrip, strips_ascii, special;
} clf_added_pattern;

typedef struct clf_added_form {
    int32_t id;
    char *text; /* owned */
} clf_added_form;

static void free_matcher(clf_added_matcher *matcher)
{
    for (size_t i = 0; i < matcher->count; i++)
        free(matcher->patterns[i].text);
    free(matcher->patterns);
}

void clfi_added_tokens_free(clf_added_tokens *added)
{
    for (size_t i = 0; i < added->count; i++)
        free((char *)added->tokens[i].content);
    for (size_t i = 0; i < added->form_count; i++)
        free(added->forms[i].text);
    free(added->forms);
    free(added->tokens);
    clfi_vocabulary_free(&added->ids);
    free_matcher(&added->raw);
    free_matcher(&added->normalized);
    *added = (clf_added_tokens){.ids = CLF_VOCABULARY_INIT};
}

clf_status clfi_added_tokens_add(clf_added_tokens *added, const clf_added_token *token)
{
    if (token->size == 0)
        return CLF_OK;
    const bool known = clfi_vocabulary_find(&added->ids, token->content, token->size) >= 0;
    CLF_TRY(clfi_vocabulary_add(&added->ids, token->content, token->size, token->id));
    char *content;
    CLF_TRY(clfi_strndup(token->content, token->size, &content));
    clf_added_token copy = *token;
    copy.content = content;
    for (size_t i = 0; known && i < added->count; i++)
        if (strcmp(added->tokens[i].content, content) == 0) {
            free((char *)added->tokens[i].content);
            added->tokens[i] = copy;
            return CLF_OK;
        }
    const clf_status st = clfi_grow(&added->tokens, &added->capacity, added->count + 1, sizeof *added->tokens, "added tokens");
    if (st != CLF_OK) {
        free(content);
        return st;
    }
    added->tokens[added->count++] = copy;
    return CLF_OK;
}

static int compare_patterns(const void *a, const void *b)
{
    const clf_added_pattern *x = a, *y = b;
    const unsigned char first_x = (unsigned char)x->text[0], first_y = (unsigned char)y->text[0];
    if (first_x != first_y)
        return first_x < first_y ? -1 : 1;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static clf_status add_pattern(clf_added_matcher *matcher, const clf_added_token *token, size_t order, const char *text, size_t size)
{
    CLF_TRY(clfi_grow(&matcher->patterns, &matcher->capacity, matcher->count + 1, sizeof *matcher->patterns, "added tokens"));
    char *copy;
    CLF_TRY(clfi_strndup(text, size, &copy));
    matcher->patterns[matcher->count++] = (clf_added_pattern){
        copy, size, order, token->id, token->single_word, token->lstrip, token->rstrip, token->strips_ascii, token->special};
    return CLF_OK;
}

static void finish_matcher(clf_added_matcher *matcher)
{
    if (matcher->count)
        qsort(matcher->patterns, matcher->count, sizeof *matcher->patterns, compare_patterns);
    size_t next = 0;
    for (unsigned byte = 0; byte < 256; byte++) {
        matcher->first[byte] = (uint32_t)next;
        while (next < matcher->count && (unsigned char)matcher->patterns[next].text[0] == byte)
            next++;
    }
    matcher->first[256] = (uint32_t)next;
}

static int compare_forms(const void *a, const void *b)
{
    const clf_added_form *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

const char *clfi_added_token_text(const clf_added_tokens *added, int32_t id)
{
    const clf_added_form key = {id, NULL};
    const clf_added_form *form = added->form_count ? bsearch(&key, added->forms, added->form_count, sizeof key, compare_forms) : NULL;
    return form ? form->text : clfi_vocabulary_token(&added->ids, id);
}

static clf_status add_form(clf_added_tokens *added, const clf_added_token *token, const clf_str *normal)
{
    if (normal->length == token->size && memcmp(normal->data, token->content, token->size) == 0)
        return CLF_OK;
    clf_added_form *form = &added->forms[added->form_count];
    CLF_TRY(clfi_strndup(normal->data, normal->length, &form->text));
    form->id = token->id;
    added->form_count++;
    return CLF_OK;
}

clf_status clfi_added_tokens_finish(clf_added_tokens *added, size_t known, const clf_chain *normalizers)
{
    clf_text_workspace work = {.repaired = CLF_STR_INIT};
    clf_status st = clfi_vocabulary_index(&added->ids, known);
    if (st == CLF_OK)
        st = clfi_alloc(added->count, sizeof *added->forms, "added tokens", &added->forms);
    for (size_t i = 0; st == CLF_OK && i < added->count; i++) {
        const clf_added_token *token = &added->tokens[i];
        const size_t order = token->special ? i : added->count + i;
        if (!token->normalized) {
            st = add_pattern(&added->raw, token, order, token->content, token->size);
            continue;
        }
        clfi_text_workspace_begin(&work, token->size, false);
        st = clfi_aligned_append_given(&work.text[0], token->content, token->size, 0);
        if (st == CLF_OK)
            st = clfi_normalize(normalizers, &work);
        const clf_str *normal = &work.text[0].text;
        if (st == CLF_OK && normal->length == 0)
            st = clfi_fail(CLF_UNSUPPORTED, "added token %d \"%s\": nothing is left of it after normalisation", (int)token->id,
                           token->content);
        if (st == CLF_OK)
            st = add_pattern(&added->normalized, token, order, normal->data, normal->length);
        if (st == CLF_OK)
            st = add_form(added, token, normal);
    }
    if (added->form_count)
        qsort(added->forms, added->form_count, sizeof *added->forms, compare_forms);
    finish_matcher(&added->raw);
    finish_matcher(&added->normalized);
    clfi_text_workspace_free(&work);
    return st;
}

/* The code point that ends just before text[at]; at > 0. */
static uint32_t code_before(const unsigned char *text, size_t at, size_t *start)
{
    size_t begin = at - 1;
    while (begin > 0 && at - begin < 4 && (text[begin] & 0xc0) == 0x80)
        begin--;
    uint32_t code;
    clfi_utf8_decode(text + begin, at - begin, &code);
    *start = begin;
    return code;
}

static bool stands_alone(const unsigned char *text, size_t size, size_t start, size_t end)
{
    size_t before;
    uint32_t code;
    if (start > 0 && clfi_char_is_word(code_before(text, start, &before)))
        return false;
    if (end == size)
        return true;
    clfi_utf8_decode(text + end, size - end, &code);
    return !clfi_char_is_word(code);
}

static bool takes_space(const clf_added_pattern *pattern, uint32_t code)
{
    return clfi_char_is_whitespace(code) && (code < 0x80 || !pattern->strips_ascii);
}

/* Finds the next accepted match; *from moves past the pattern itself, not past stripped white space. So a match may begin before
 * `done`, where the match before it ended. */
static bool find_match(const clf_added_matcher *matcher, const unsigned char *text, size_t size, bool ignore_special, size_t done,
                       size_t *from, clf_segment *match)
{
    for (size_t at = *from; at < size; at++) {
        for (size_t i = matcher->first[text[at]]; i < matcher->first[text[at] + 1u]; i++) {
            const clf_added_pattern *pattern = &matcher->patterns[i];
            if ((pattern->special && ignore_special) || pattern->size > size - at || memcmp(text + at, pattern->text, pattern->size) != 0)
                continue;
            size_t start = at, end = at + pattern->size;
            if (pattern->single_word && !stands_alone(text, size, start, end)) {
                at = end - 1; /* a refused match still uses up its text */
                break;
            }
            *from = end;
            for (size_t previous; pattern->lstrip && start > done && takes_space(pattern, code_before(text, start, &previous));)
                start = previous;
            if (pattern->lstrip && start < done) /* the match before has taken the white space of this one */
                start = done;
            while (pattern->rstrip && end < size) {
                uint32_t code;
                const size_t bytes = clfi_utf8_decode(text + end, size - end, &code);
                if (!takes_space(pattern, code))
                    break;
                end += bytes;
            }
            if (start >= end) {
                at = *from - 1;
                break;
            }
            *match = (clf_segment){start, end, pattern->id};
            return true;
        }
    }
    *from = size;
    return false;
}

bool clfi_added_next(const clf_added_matcher *matcher, const char *text, size_t size, bool ignore_special, clf_segment_walk *walk,
                     clf_segment *segment)
{
    if (!walk->holds && matcher->count && walk->search < size)
        walk->holds = find_match(matcher, (const unsigned char *)text, size, ignore_special, walk->done, &walk->search, &walk->held);
    if (walk->holds && walk->done >= walk->held.start) {
        *segment = walk->held;
        walk->holds = false;
        walk->done = segment->end;
        return true;
    }
    const size_t end = walk->holds ? walk->held.start : size;
    if (walk->done >= end)
        return false;
    *segment = (clf_segment){walk->done, end, -1};
    walk->done = end;
    return true;
}
