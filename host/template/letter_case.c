/* SPDX-License-Identifier: MIT */
/* Case mappings. utf8proc has the simple ones and full case folding; the other full mappings are derived from these (Unicode,
 * SpecialCasing.txt). */
#include "template/letter_case.h"

#include <stdbool.h>
#include <string.h>

#include <utf8proc.h>

#include "template/value.h"

enum { MOST_CODES = 4 }; /* of one character's mapping */

enum { FINAL_SIGMA = 0x3c2, IOTA = 0x3b9, SIGMA = 0x3a3, DOTTED_CAPITAL_I = 0x130, DOT_ABOVE = 0x307, IOTA_BELOW = 0x345, SHARP_S = 0xdf };

typedef struct range {
    utf8proc_int32_t first, last;
} range;

/* Unicode 15's DerivedCoreProperties.txt: Cased beyond the categories Lu, Ll and Lt; Case_Ignorable beyond Mn, Me, Cf, Lm and Sk. */
static const range cased[] = {{0xaa, 0xaa},       {0xba, 0xba},       {0x2b0, 0x2b8},     {0x2c0, 0x2c1},     {0x2e0, 0x2e4},
                              {0x345, 0x345},     {0x37a, 0x37a},     {0x10fc, 0x10fc},   {0x1d2c, 0x1d6a},   {0x1d78, 0x1d78},
                              {0x1d9b, 0x1dbf},   {0x2071, 0x2071},   {0x207f, 0x207f},   {0x2090, 0x209c},   {0x2160, 0x217f},
                              {0x24b6, 0x24e9},   {0x2c7c, 0x2c7d},   {0xa69c, 0xa69d},   {0xa770, 0xa770},   {0xa7f2, 0xa7f4},
                              {0xa7f8, 0xa7f9},   {0xab5c, 0xab5f},   {0xab69, 0xab69},   {0x10780, 0x10780}, {0x10783, 0x10785},
                              {0x10787, 0x107b0}, {0x107b2, 0x107ba}, {0x1e030, 0x1e06d}, {0x1f130, 0x1f149}, {0x1f150, 0x1f169},
                              {0x1f170, 0x1f189}};
static const range ignorable[] = {{'\'', '\''},     {'.', '.'},       {':', ':'},       {0xb7, 0xb7},
                                  {0x387, 0x387},   {0x55f, 0x55f},   {0x5f4, 0x5f4},   {0x2018, 0x2019},
                                  {0x2024, 0x2024}, {0x2027, 0x2027}, {0xfe13, 0xfe13}, {0xfe52, 0xfe52},
                                  {0xfe55, 0xfe55}, {0xff07, 0xff07}, {0xff0e, 0xff0e}, {0xff1a, 0xff1a}};

static bool is_in(const range *ranges, size_t count, utf8proc_int32_t code)
{
    for (size_t i = 0; i < count; i++)
        if (code <= ranges[i].last)
            return code >= ranges[i].first;
    return false;
}

static bool is_cased(utf8proc_int32_t code)
{
    const utf8proc_category_t category = utf8proc_category(code);
    return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL || category == UTF8PROC_CATEGORY_LT ||
           is_in(cased, COUNT(cased), code);
}

static bool is_ignorable(utf8proc_int32_t code)
{
    const utf8proc_category_t category = utf8proc_category(code);
    return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME || category == UTF8PROC_CATEGORY_CF ||
           category == UTF8PROC_CATEGORY_LM || category == UTF8PROC_CATEGORY_SK || is_in(ignorable, COUNT(ignorable), code);
}

static size_t fold(utf8proc_int32_t code, utf8proc_int32_t out[MOST_CODES])
{
    int boundary = 0;
    const utf8proc_ssize_t count = utf8proc_decompose_char(code, out, MOST_CODES, UTF8PROC_CASEFOLD, &boundary);
    if (count >= 1 && count <= MOST_CODES)
        return (size_t)count;
    out[0] = code;
    return 1;
}

/* Upper case of a letter. If it folds to several letters, these in upper case, except for capitals (U+0130, U+1E9E), which stay. */
static size_t upper(utf8proc_int32_t code, utf8proc_int32_t out[MOST_CODES])
{
    const size_t count = fold(code, out);
    if (count == 1 || utf8proc_category(code) == UTF8PROC_CATEGORY_LU) {
        out[0] = utf8proc_category(code) == UTF8PROC_CATEGORY_LU ? code : utf8proc_toupper(code);
        return 1;
    }
    for (size_t i = 0; i < count; i++)
        out[i] = utf8proc_toupper(out[i]);
    return count;
}

static size_t lower(utf8proc_int32_t code, utf8proc_int32_t out[MOST_CODES])
{
    out[0] = utf8proc_tolower(code);
    out[1] = DOT_ABOVE;
    return code == DOTTED_CAPITAL_I ? 2 : 1;
}

/* Title case of a letter. If it folds to several letters, the first that has a capital gets it, and an iota at the end is subscript. */
static size_t title(utf8proc_int32_t code, utf8proc_int32_t out[MOST_CODES])
{
    const utf8proc_int32_t simple = utf8proc_totitle(code);
    const size_t count = fold(code, out);
    if (count == 1 || utf8proc_category(code) == UTF8PROC_CATEGORY_LU || (simple != code && code != SHARP_S) ||
        utf8proc_category(code) == UTF8PROC_CATEGORY_LT) {
        out[0] = simple;
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        const utf8proc_int32_t capital = utf8proc_totitle(out[i]);
        if (capital != out[i]) {
            out[i] = capital;
            break;
        }
    }
    if (out[count - 1] == IOTA)
        out[count - 1] = IOTA_BELOW;
    return count;
}

/* One part of a text, changed on its own. */
typedef struct caser {
    const char *text;
    size_t size;
    clf_str *out;
    bool follows_letter; /* the last character that is not ignorable was cased */
} caser;

static clf_status append(const caser *c, const utf8proc_int32_t *codes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        CLF_TRY(clfi_str_append_code_point(c->out, (uint32_t)codes[i]));
    return CLF_OK;
}

/* Reads the character at text[at..size). Returns its bytes; 0: it is not UTF-8. */
static size_t read_code(const caser *c, size_t at, utf8proc_int32_t *code)
{
    const utf8proc_ssize_t bytes = utf8proc_iterate((const utf8proc_uint8_t *)c->text + at, (utf8proc_ssize_t)(c->size - at), code);
    return bytes > 0 ? (size_t)bytes : 0;
}

/* Whether a cased character follows from `at` on, where ignorable characters do not count. */
static bool precedes_letter(const caser *c, size_t at)
{
    utf8proc_int32_t code;
    for (size_t bytes; at < c->size && (bytes = read_code(c, at, &code)) > 0; at += bytes)
        if (!is_ignorable(code))
            return is_cased(code);
    return false;
}

/* Appends the lower case of the character that ends before `next`. A sigma after a letter and before none becomes a final one. */
static clf_status append_lower(const caser *c, utf8proc_int32_t code, size_t next)
{
    utf8proc_int32_t codes[MOST_CODES];
    const size_t count = lower(code, codes);
    if (code == SIGMA && c->follows_letter && !precedes_letter(c, next))
        codes[0] = FINAL_SIGMA;
    return append(c, codes, count);
}

static clf_status append_mapped(const caser *c, size_t (*map)(utf8proc_int32_t code, utf8proc_int32_t *out), utf8proc_int32_t code)
{
    utf8proc_int32_t codes[MOST_CODES];
    return append(c, codes, map(code, codes));
}

/* Swaps the case: a letter that has a lower case gets it, others get their upper case. Letters of category Lt stay. */
static clf_status append_swapped(const caser *c, utf8proc_int32_t code, size_t next)
{
    if (utf8proc_category(code) == UTF8PROC_CATEGORY_LT)
        return append(c, &code, 1);
    return utf8proc_tolower(code) != code ? append_lower(c, code, next) : append_mapped(c, upper, code);
}

static clf_status change(clf_letter_case to, const char *text, size_t size, clf_str *out)
{
    caser c = {text, size, out, false};
    bool follows_cased = false;
    for (size_t at = 0, next; at < size; at = next) {
        utf8proc_int32_t code;
        next = at + read_code(&c, at, &code);
        if (next == at)
            CLF_FAIL(CLF_FORMAT, "a value is not UTF-8");
        if (to == CLF_CASE_UPPER || to == CLF_CASE_FOLD)
            CLF_TRY(append_mapped(&c, to == CLF_CASE_UPPER ? upper : fold, code));
        else if (to == CLF_CASE_SWAP)
            CLF_TRY(append_swapped(&c, code, next));
        else if ((to == CLF_CASE_TITLE && !follows_cased) || (to == CLF_CASE_CAPITALIZE && at == 0))
            CLF_TRY(append_mapped(&c, title, code));
        else
            CLF_TRY(append_lower(&c, code, next));
        follows_cased = is_cased(code);
        if (!is_ignorable(code))
            c.follows_letter = follows_cased;
    }
    return CLF_OK;
}

static size_t character_bytes(const char *text, size_t size)
{
    utf8proc_int32_t code;
    const utf8proc_ssize_t bytes = utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)size, &code);
    return bytes > 0 ? (size_t)bytes : 1;
}

static bool is_between_words(const char *text, size_t size)
{
    return clfi_value_space(text, size) > 0 || memchr("-({[<", text[0], 5);
}

/* Changes words and the text between them, each on its own: its first character to upper case, the rest to lower case. */
static clf_status change_words(const char *text, size_t size, clf_str *out)
{
    for (size_t at = 0, end; at < size; at = end) {
        const bool is_between = is_between_words(text + at, size - at);
        const size_t first = character_bytes(text + at, size - at);
        for (end = at + first; end < size && is_between_words(text + end, size - end) == is_between;)
            end += character_bytes(text + end, size - end);
        CLF_TRY(change(CLF_CASE_UPPER, text + at, first, out));
        CLF_TRY(change(CLF_CASE_LOWER, text + at + first, end - at - first, out));
    }
    return CLF_OK;
}

clf_status clfi_letter_case(clf_letter_case to, const char *text, size_t size, clf_str *out)
{
    return to == CLF_CASE_TITLE_WORDS ? change_words(text, size, out) : change(to, text, size, out);
}
