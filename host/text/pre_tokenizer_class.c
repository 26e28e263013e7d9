/* SPDX-License-Identifier: MIT */
/* Pre-tokenizers that split by the class of each character: Whitespace, WhitespaceSplit, Digits, Punctuation. */
#include <stdlib.h>

#include "base/utf8.h"
#include "io/json.h"
#include "text/pattern.h"
#include "text/pre_tokenizer.h"
#include "text/unicode.h"

/* Cuts bytes [start, end) into runs of characters of one class, as work->matches; a match's id is its class, and 0 means "no match". With
 * `each`, every character of a class other than 0 stands alone. */
static clf_status find_classes(int (*class_of)(uint32_t), bool each, const clf_str *text, size_t start, size_t end,
                               clf_text_workspace *work)
{
    const unsigned char *bytes = (const unsigned char *)text->data;
    work->matches.count = 0;
    for (size_t at = start; at < end;) {
        uint32_t code;
        const size_t step = clfi_utf8_decode(bytes + at, end - at, &code);
        const int class = class_of(code);
        clf_piece *last = work->matches.count ? &work->matches.pieces[work->matches.count - 1] : NULL;
        if (last && last->id == class && !(each && class))
            last->end = at + step;
        else
            CLF_TRY(clfi_piece_append(&work->matches, at, at + step, class));
        at += step;
    }
    return CLF_OK;
}

/* --- Whitespace: runs of word characters, runs of what is neither word nor space --- */

enum { SPACE, WORD, OTHER };

static int word_class(uint32_t code)
{
    if (clfi_char_is_word(code))
        return WORD;
    return clfi_char_is_whitespace(code) ? SPACE : OTHER;
}

static clf_status divide_whitespace(const void *settings, const clf_str *text, size_t start, size_t end, clf_piece_list *out,
                                    clf_text_workspace *work)
{
    (void)settings;
    CLF_TRY(find_classes(word_class, false, text, start, end, work));
    for (size_t i = 0; i < work->matches.count; i++)
        if (work->matches.pieces[i].id != SPACE)
            CLF_TRY(clfi_piece_append(out, work->matches.pieces[i].start, work->matches.pieces[i].end, -1));
    return CLF_OK;
}

const clf_pre_tokenizer_kind clfi_pre_tokenizer_whitespace = {{"Whitespace", NULL, NULL}, .divide = divide_whitespace, .is_local = true};

/* --- WhitespaceSplit: what stands between white space --- */

static int is_space(uint32_t code)
{
    return clfi_char_is_whitespace(code);
}

static clf_status divide_whitespace_split(const void *settings, const clf_str *text, size_t start, size_t end, clf_piece_list *out,
                                          clf_text_workspace *work)
{
    (void)settings;
    CLF_TRY(find_classes(is_space, false, text, start, end, work));
    return clfi_cut_apply(CLF_CUT_REMOVED, &work->matches, 0, out);
}

const clf_pre_tokenizer_kind clfi_pre_tokenizer_whitespace_split = {
    {"WhitespaceSplit", NULL, NULL}, .divide = divide_whitespace_split, .is_local = true};

/* --- Digits: numbers apart from the rest, as runs or one by one --- */

typedef struct clf_digits {
    bool individual;
} clf_digits;

static int is_digit(uint32_t code)
{
    return clfi_char_is_numeric(code);
}

static clf_status read_digits(const json_t *json, const char *where, void **out)
{
    clf_digits digits, *copy;
    CLF_TRY(clfi_json_get_bool(json, where, "individual_digits", &digits.individual));
    CLF_TRY(clfi_alloc(1, sizeof *copy, "pre-tokenizer", &copy));
    *copy = digits;
    *out = copy;
    return CLF_OK;
}

static clf_status divide_digits(const void *settings, const clf_str *text, size_t start, size_t end, clf_piece_list *out,
                                clf_text_workspace *work)
{
    const clf_digits *digits = settings;
    CLF_TRY(find_classes(is_digit, digits->individual, text, start, end, work));
    return clfi_cut_apply(CLF_CUT_ISOLATED, &work->matches, 0, out);
}

static clf_word_cut leave_words(const void *settings)
{
    (void)settings;
    return CLF_WORDS_LEFT;
}

const clf_pre_tokenizer_kind clfi_pre_tokenizer_digits = {{"Digits", read_digits, NULL}, .divide = divide_digits, .words = leave_words};

/* --- Punctuation --- */

static int is_punctuation(uint32_t code)
{
    return (clfi_char_properties(code).flags & CLFI_CHAR_PUNCTUATION) != 0;
}

static clf_status read_punctuation(const json_t *json, const char *where, void **out)
{
    clf_cut cut, *copy;
    CLF_TRY(clfi_cut_read(json, where, "behavior", CLF_CUT_ISOLATED, &cut));
    CLF_TRY(clfi_alloc(1, sizeof *copy, "pre-tokenizer", &copy));
    *copy = cut;
    *out = copy;
    return CLF_OK;
}

static clf_status divide_punctuation(const void *settings, const clf_str *text, size_t start, size_t end, clf_piece_list *out,
                                     clf_text_workspace *work)
{
    const clf_cut *cut = settings;
    CLF_TRY(find_classes(is_punctuation, true, text, start, end, work));
    return clfi_cut_apply(*cut, &work->matches, 0, out);
}

const clf_pre_tokenizer_kind clfi_pre_tokenizer_punctuation = {{"Punctuation", read_punctuation, NULL}, .divide = divide_punctuation};
