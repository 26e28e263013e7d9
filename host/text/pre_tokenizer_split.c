/* SPDX-License-Identifier: MIT */
/* Pre-tokenizers that look for a pattern: Split, ByteLevel, Metaspace. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "io/json.h"
#include "text/byte_level.h"
#include "text/metaspace.h"
#include "text/normalizer.h"
#include "text/pattern.h"
#include "text/pre_tokenizer.h"

/* --- Split --- */

typedef struct clf_split {
    clf_pattern pattern;
    clf_cut cut;
    bool invert; /* what does not match counts as the match */
} clf_split;

static void destroy_split(void *settings)
{
    clf_split *split = settings;
    if (split)
        clfi_pattern_free(&split->pattern);
    free(split);
}

static clf_status read_split(const json_t *json, const char *where, void **out)
{
    clf_split split = {0}, *copy;
    CLF_TRY(clfi_cut_read(json, where, "behavior", -1, &split.cut));
    CLF_TRY(clfi_json_opt_bool(json, where, "invert", false, &split.invert));
    CLF_TRY(clfi_alloc(1, sizeof *copy, "pre-tokenizer", &copy));
    const clf_status st = clfi_pattern_read(json, where, &split.pattern);
    *copy = split;
    if (st != CLF_OK)
        destroy_split(copy);
    else
        *out = copy;
    return st;
}

static clf_status divide_split(const void *settings, const clf_str *text, size_t start, size_t end, clf_piece_list *out,
                               clf_text_workspace *work)
{
    const clf_split *split = settings;
    CLF_TRY(clfi_pattern_find(&split->pattern, text->data + start, end - start, work));
    for (size_t i = 0; split->invert && i < work->matches.count; i++)
        work->matches.pieces[i].id = !work->matches.pieces[i].id;
    return clfi_cut_apply(split->cut, &work->matches, start, out);
}

static clf_word_cut words_of_split(const void *settings)
{
    const clf_split *split = settings;
    const bool is_known = split->pattern.regex && clfi_regex_cuts_words(split->pattern.regex);
    return is_known && split->cut == CLF_CUT_ISOLATED && !split->invert ? CLF_WORDS_CUT : CLF_WORDS_UNKNOWN;
}

const clf_pre_tokenizer_kind clfi_pre_tokenizer_split = {
    {"Split", read_split, destroy_split}, .divide = divide_split, .words = words_of_split};

/* --- ByteLevel: GPT-2's words, then each byte as a character --- */

typedef struct clf_byte_level {
    clf_pattern words; /* without a regex: one piece */
    bool add_prefix_space;
} clf_byte_level;

static void destroy_byte_level(void *settings)
{
    clf_byte_level *byte_level = settings;
    if (byte_level)
        clfi_pattern_free(&byte_level->words);
    free(byte_level);
}

static clf_status read_byte_level(const json_t *json, const char *where, void **out)
{
    clf_byte_level byte_level = {0}, *copy;
    bool use_regex;
    CLF_TRY(clfi_json_get_bool(json, where, "add_prefix_space", &byte_level.add_prefix_space));
    CLF_TRY(clfi_json_opt_bool(json, where, "use_regex", true, &use_regex));
    CLF_TRY(clfi_alloc(1, sizeof *copy, "pre-tokenizer", &copy));
    const clf_status st = use_regex ? clfi_regex_create(clfi_regex_gpt2, where, &byte_level.words.regex) : CLF_OK;
    *copy = byte_level;
    if (st != CLF_OK)
        destroy_byte_level(copy);
    else
        *out = copy;
    return st;
}

static clf_status rewrite_byte_level(const void *settings, const clf_aligned_text *from, size_t start, size_t end, clf_aligned_text *to,
                                     clf_piece_list *out, clf_text_workspace *work)
{
    const clf_byte_level *byte_level = settings;
    if (byte_level->add_prefix_space && from->text.data[start] != ' ') {
        clfi_aligned_clear(&work->part, from->is_aligned);
        CLF_TRY(clfi_prepend(" ", from, start, end, &work->part));
        from = &work->part;
        start = 0;
        end = from->text.length;
    }
    work->matches.count = 0;
    if (byte_level->words.regex)
        CLF_TRY(clfi_pattern_find(&byte_level->words, from->text.data + start, end - start, work));
    else
        CLF_TRY(clfi_piece_append(&work->matches, 0, end - start, 0));
    for (size_t i = 0; i < work->matches.count; i++) {
        const size_t at = to->text.length;
        CLF_TRY(clfi_byte_level_append(to, from, start + work->matches.pieces[i].start, start + work->matches.pieces[i].end));
        CLF_TRY(clfi_piece_append(out, at, to->text.length, -1));
    }
    return CLF_OK;
}

/* add_prefix_space changes nothing here: it adds no space to a portion that begins with one, as all portions but the first do. */
static clf_word_cut words_of_byte_level(const void *settings)
{
    return ((const clf_byte_level *)settings)->words.regex ? CLF_WORDS_CUT : CLF_WORDS_LEFT;
}

const clf_pre_tokenizer_kind clfi_pre_tokenizer_byte_level = {
    {"ByteLevel", read_byte_level, destroy_byte_level}, .rewrite = rewrite_byte_level, .words = words_of_byte_level};

/* --- Metaspace: spaces become a character of their own, with which words begin --- */

typedef struct clf_metaspace {
    clf_pattern replacement; /* one character */
    clf_prepend_scheme scheme;
    bool split;
} clf_metaspace;

static void destroy_metaspace(void *settings)
{
    clf_metaspace *metaspace = settings;
    if (metaspace)
        clfi_pattern_free(&metaspace->replacement);
    free(metaspace);
}

clf_status clfi_metaspace_read(const json_t *json, const char *where, const char **replacement, clf_prepend_scheme *scheme)
{
    static const char *const names[] = {[CLF_PREPEND_ALWAYS] = "always", [CLF_PREPEND_FIRST] = "first", [CLF_PREPEND_NEVER] = "never"};
    const char *name;
    bool add_prefix_space;
    CLF_TRY(clfi_json_get_string(json, where, "replacement", replacement));
    CLF_TRY(clfi_json_opt_bool(json, where, "add_prefix_space", true, &add_prefix_space)); /* the older key for the scheme */
    CLF_TRY(clfi_json_opt_string(json, where, "prepend_scheme", names[add_prefix_space ? CLF_PREPEND_ALWAYS : CLF_PREPEND_NEVER], &name));
    if (clfi_utf8_length(*replacement, strlen(*replacement)) != 1)
        CLF_FAIL(CLF_FORMAT, "%s: replacement: expected one character, found \"%s\"", where, *replacement);
    for (size_t i = 0; i < COUNT(names); i++)
        if (strcmp(names[i], name) == 0) {
            *scheme = (clf_prepend_scheme)i;
            return CLF_OK;
        }
    CLF_FAIL(CLF_UNSUPPORTED, "%s: prepend_scheme \"%s\"; known are always, first and never", where, name);
}

static clf_status read_metaspace(const json_t *json, const char *where, void **out)
{
    clf_metaspace metaspace = {0}, *copy;
    const char *replacement;
    CLF_TRY(clfi_metaspace_read(json, where, &replacement, &metaspace.scheme));
    CLF_TRY(clfi_json_opt_bool(json, where, "split", true, &metaspace.split));
    CLF_TRY(clfi_alloc(1, sizeof *copy, "pre-tokenizer", &copy));
    const clf_status st = clfi_strdup(replacement, &metaspace.replacement.text);
    metaspace.replacement.size = strlen(replacement);
    *copy = metaspace;
    if (st != CLF_OK)
        destroy_metaspace(copy);
    else
        *out = copy;
    return st;
}

static clf_status rewrite_metaspace(const void *settings, const clf_aligned_text *from, size_t start, size_t end, clf_aligned_text *to,
                                    clf_piece_list *out, clf_text_workspace *work)
{
    const clf_metaspace *metaspace = settings;
    const clf_pattern *replacement = &metaspace->replacement;
    const char *bytes = from->text.data;
    const size_t begin = to->text.length;
    const clf_char_span nowhere = {0, 0};
    const bool has_it = bytes[start] == ' ' ||
                        (end - start >= replacement->size && memcmp(bytes + start, replacement->text, replacement->size) == 0);
    const bool wants_it =
        metaspace->scheme == CLF_PREPEND_ALWAYS || (metaspace->scheme == CLF_PREPEND_FIRST && from->spans[start].start == 0);
    uint32_t code;
    clfi_utf8_decode((const unsigned char *)replacement->text, replacement->size, &code);
    if (wants_it && !has_it)
        CLF_TRY(clfi_aligned_append(to, code, from->is_aligned ? from->spans[start] : nowhere));
    for (size_t i = start; i < end;) {
        const char *space = memchr(bytes + i, ' ', end - i);
        const size_t stop = space ? (size_t)(space - bytes) : end;
        CLF_TRY(clfi_aligned_append_slice(to, from, i, stop));
        if (space)
            CLF_TRY(clfi_aligned_append(to, code, from->is_aligned ? from->spans[stop] : nowhere));
        i = stop + (space != NULL);
    }
    if (!metaspace->split)
        return clfi_piece_append(out, begin, to->text.length, -1);
    CLF_TRY(clfi_pattern_find(replacement, to->text.data + begin, to->text.length - begin, work));
    return clfi_cut_apply(CLF_CUT_MERGED_WITH_NEXT, &work->matches, begin, out);
}

static bool needs_spans(const void *settings)
{
    return ((const clf_metaspace *)settings)->scheme == CLF_PREPEND_FIRST;
}

const clf_pre_tokenizer_kind clfi_pre_tokenizer_metaspace = {
    {"Metaspace", read_metaspace, destroy_metaspace}, .rewrite = rewrite_metaspace, .needs_spans = needs_spans};
