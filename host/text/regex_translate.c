/* SPDX-License-Identifier: MIT */
/* Translates Oniguruma's dialect (Ruby syntax, Unicode) to PCRE2's. Text that means the same in both is copied. \s, \w, \d, \h, \b and
 * scripts are spelled out, since PCRE2 counts other characters to them. Constructs that cannot be translated are refused. */
#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"
#include "text/regex.h"

/* White_Space, and all other characters. With Unicode properties, PCRE2's own \s includes U+180E as well. */
#define SPACE "\\x{09}-\\x{0d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}"
#define NO_SPACE                                                                                                                        \
    "\\x{00}-\\x{08}\\x{0e}-\\x{1f}\\x{21}-\\x{84}\\x{86}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{" \
    "202e}"                                                                                                                             \
    "\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{10ffff}"

/* Oniguruma's word characters: they include circled letters, but of category No only the fractions and powers of Latin-1, and these only
 * outside of [...]. */
#define WORD_INSIDE "\\x{24b6}-\\x{24e9}\\x{1f130}-\\x{1f149}\\x{1f150}-\\x{1f169}\\x{1f170}-\\x{1f189}\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}"
#define WORD "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}" WORD_INSIDE

/* Translation of an escape letter outside and inside [...]; NULL: refused there. */
static const struct {
    char letter;
    const char *alone, *inside;
} escapes[] = {
    {'s', "[" SPACE "]", SPACE},
    {'S', "[^" SPACE "]", NO_SPACE},
    {'w', "[" WORD "]", WORD_INSIDE},
    {'W', "[^" WORD "]", NULL},
    {'d', "\\p{Nd}", "\\p{Nd}"},
    {'D', "\\P{Nd}", "\\P{Nd}"},
    {'h', "[0-9A-Fa-f]", "0-9A-Fa-f"},
    {'H', "[^0-9A-Fa-f]", NULL},
    {'b', "(?:(?<=[" WORD "])(?![" WORD "])|(?<![" WORD "])(?=[" WORD "]))", NULL},
    {'B', "(?:(?<=[" WORD "])(?=[" WORD "])|(?<![" WORD "])(?![" WORD "]))", NULL},
    {'A', "\\A", NULL},
    {'G', "\\G", NULL},
    {'z', "\\z", NULL},
    {'Z', "\\Z", NULL},
    {'t', "\\x{09}", "\\x{09}"},
    {'n', "\\x{0a}", "\\x{0a}"},
    {'v', "\\x{0b}", "\\x{0b}"},
    {'f', "\\x{0c}", "\\x{0c}"},
    {'r', "\\x{0d}", "\\x{0d}"},
    {'a', "\\x{07}", "\\x{07}"},
    {'e', "\\x{1b}", "\\x{1b}"},
};

typedef struct clf_translation {
    const char *at; /* what is still to read */
    const char *start;
    const char *where;
    clf_str *out;
    bool in_class;
} clf_translation;

static clf_status refuse(const clf_translation *t, const char *what)
{
    CLF_FAIL(CLF_UNSUPPORTED, "%s: regular expression: %s at byte %zu of \"%.200s\"", t->where, what, (size_t)(t->at - t->start), t->start);
}

static clf_status put(clf_translation *t, const char *text)
{
    return clfi_str_append_text(t->out, text);
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* \xHH, \x{H...} and \uHHHH; `at` is after the letter. */
static clf_status number(clf_translation *t, char letter)
{
    const bool braces = letter == 'x' && *t->at == '{';
    size_t digits = 0;
    t->at += braces;
    while (is_hex(t->at[digits]))
        digits++;
    if (!braces)
        digits = letter == 'u' ? 4 : digits > 2 ? 2 : digits;
    for (size_t i = 0; i < digits; i++)
        if (!is_hex(t->at[i]))
            return refuse(t, "a hexadecimal number");
    if (digits == 0 || digits > 6 || (braces && t->at[digits] != '}'))
        return refuse(t, "a hexadecimal number");
    CLF_TRY(clfi_str_appendf(t->out, "\\x{%.*s}", (int)digits, t->at));
    t->at += digits + braces;
    return CLF_OK;
}

/* Copies \p{L}; longer names are scripts, for which PCRE2 would otherwise take Script_Extensions. */
static clf_status property(clf_translation *t, char letter)
{
    const char *name = t->at + 1, *end = *t->at == '{' ? strchr(name, '}') : NULL;
    if (!end)
        return refuse(t, "a property without {}");
    const bool negated = *name == '^';
    name += negated;
    const size_t size = (size_t)(end - name);
    if (size == 0 || size > 40)
        return refuse(t, "a property name");
    CLF_TRY(
        clfi_str_appendf(t->out, "\\%c{%s%.*s}", negated ? (letter == 'p' ? 'P' : 'p') : letter, size > 2 ? "sc:" : "", (int)size, name));
    t->at = end + 1;
    return CLF_OK;
}

static clf_status escape(clf_translation *t)
{
    const char letter = t->at[1];
    if (letter == 'p' || letter == 'P' || letter == 'x' || letter == 'u') {
        t->at += 2;
        return letter == 'x' || letter == 'u' ? number(t, letter) : property(t, letter);
    }
    for (size_t i = 0; i < COUNT(escapes); i++) {
        if (escapes[i].letter != letter)
            continue;
        const char *text = t->in_class ? escapes[i].inside : escapes[i].alone;
        if (!text)
            return refuse(t, "an escape inside []");
        t->at += 2;
        return put(t, text);
    }
    const bool is_letter = (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
    if (is_letter || !letter)
        return refuse(t, "an unknown escape");
    if ((unsigned char)letter < 0x80)
        CLF_TRY(clfi_str_append_char(t->out, '\\'));
    t->at += 2;
    return clfi_str_append_char(t->out, letter);
}

/* Copies the start of a group that both dialects understand alike. */
static clf_status group(clf_translation *t)
{
    static const char *const known[] = {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!", "(?i:", "(?-i:"};
    if (t->at[1] == '*')
        return refuse(t, "(*");
    if (t->at[1] != '?') {
        t->at++;
        return put(t, "(");
    }
    for (size_t i = 0; i < COUNT(known); i++)
        if (strncmp(t->at, known[i], strlen(known[i])) == 0) {
            t->at += strlen(known[i]);
            return put(t, known[i]);
        }
    if (t->at == t->start && strncmp(t->at, "(?i)", 4) == 0) { /* elsewhere the dialects differ on how far it reaches */
        t->at += 4;
        return put(t, "(?i)");
    }
    return refuse(t, "an unknown group");
}

/* {n}, {n,}, {n,m}, {,m}; any other { is itself. */
static clf_status interval(clf_translation *t)
{
    const char *low = t->at + 1;
    size_t low_digits = strspn(low, "0123456789");
    const char *after = low + low_digits;
    const bool comma = *after == ',';
    const char *high = after + comma;
    const size_t high_digits = comma ? strspn(high, "0123456789") : 0;
    if (high[high_digits] != '}' || low_digits + high_digits == 0) {
        t->at++;
        return put(t, "\\{");
    }
    const char next = high[high_digits + 1];
    if (next == '+' || (next == '?' && !comma))
        return refuse(t, "a quantifier behind {}");
    if (low_digits > 5 || high_digits > 5)
        return refuse(t, "a number of repeats");
    CLF_TRY(clfi_str_appendf(t->out, "{%.*s%s%.*s}", low_digits ? (int)low_digits : 1, low_digits ? low : "0", comma ? "," : "",
                             (int)high_digits, high));
    t->at = high + high_digits + 1;
    return CLF_OK;
}

static clf_status step(clf_translation *t)
{
    const char c = *t->at;
    if (c == '\\')
        return escape(t);
    if (t->in_class) {
        if (c == '[')
            return refuse(t, "a class inside []");
        if (c == '&' && t->at[1] == '&')
            return refuse(t, "&& inside []");
        t->in_class = c != ']';
    } else if (c == '(') {
        return group(t);
    } else if (c == '{') {
        return interval(t);
    } else if (c == '[') {
        t->in_class = true;
        if (t->at[1] == '^') {
            t->at++;
            CLF_TRY(put(t, "[^"));
        } else {
            CLF_TRY(put(t, "["));
        }
        if (*++t->at == ']')
            return refuse(t, "an empty []");
        return CLF_OK;
    }
    t->at++;
    return clfi_str_append_char(t->out, c);
}

clf_status clfi_regex_translate(const char *pattern, const char *where, clf_str *out)
{
    clf_translation t = {.at = pattern, .start = pattern, .where = where, .out = out};
    while (*t.at)
        CLF_TRY(step(&t));
    return CLF_OK;
}
