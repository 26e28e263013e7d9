/* SPDX-License-Identifier: MIT */
/* Cuts a template into tokens. White space around tags is treated as by Jinja's lexer with trim_blocks and lstrip_blocks. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "template/syntax.h"
#include "template/value.h"

typedef struct scanner {
    clf_template *tpl;
    const char *at, *end;
    int line;
    bool is_line_start; /* a line begins here: at the template's start, or the last tag took the newline after it */
} scanner;

/* Goes back over white space, as Python's str.isspace has it, at the end of text[from..at); with `stop` only to the character after it. */
static const char *before_space(const char *from, const char *at, char stop)
{
    while (at > from && at[-1] != stop) {
        const char *start = at - 1;
        while (start > from && ((unsigned char)*start & 0xc0) == 0x80)
            start--;
        if (clfi_value_space(start, (size_t)(at - start)) != (size_t)(at - start))
            break;
        at = start;
    }
    return at;
}

/* Goes past white space at `at`. */
static const char *behind_space(const char *at, const char *end)
{
    for (size_t bytes; at < end && (bytes = clfi_value_space(at, (size_t)(end - at))) > 0;)
        at += bytes;
    return at;
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_digit_of(char c, int base)
{
    const char lower = (char)(c | 32);
    return (base > 10 && lower >= 'a' && lower <= 'f') || (is_digit(c) && c - '0' < base);
}

static clf_status add(scanner *s, template_token_kind kind, const char *text, size_t length, json_t *value)
{
    clf_template *tpl = s->tpl;
    const clf_status st = clfi_grow(&tpl->tokens, &tpl->token_capacity, tpl->token_count + 1, sizeof *tpl->tokens, "template tokens");
    if (st != CLF_OK) {
        json_decref(value);
        return st;
    }
    tpl->tokens[tpl->token_count++] = (template_token){kind, s->line, text, length, value};
    return CLF_OK;
}

static void count_lines(scanner *s, const char *from, const char *to)
{
    for (; from < to; from++)
        s->line += *from == '\n';
}

static bool starts(const scanner *s, const char *text)
{
    const size_t length = strlen(text);
    return (size_t)(s->end - s->at) >= length && memcmp(s->at, text, length) == 0;
}

static void append_escape(clf_str *out, scanner *s, clf_status *st)
{
    static const char from[] = "ntrbfav\\'\"", to[] = "\n\t\r\b\f\a\v\\'\"";
    const char *found = *s->at ? strchr(from, *s->at) : NULL;
    uint32_t code = 0;
    int digits = *s->at == 'x' ? 2 : *s->at == 'u' ? 4 : *s->at == 'U' ? 8 : 0;
    if (found) {
        *st = clfi_str_append_char(out, to[found - from]);
        s->at++;
        return;
    }
    if (*s->at == '\n') { /* the line goes on */
        s->at++;
        return;
    }
    if (is_digit_of(*s->at, 8)) {
        for (int i = 0; i < 3 && s->at < s->end && is_digit_of(*s->at, 8); i++)
            code = code * 8 + (uint32_t)(*s->at++ - '0');
        *st = clfi_str_append_code_point(out, code);
        return;
    }
    if (*s->at == 'N' || (unsigned char)*s->at >= 0x80) {
        *st = clfi_fail(CLF_UNSUPPORTED, "%s line %d: the escape \\N, or one of a letter beyond ASCII, in a string", s->tpl->name, s->line);
        return;
    }
    if (!digits) { /* Python keeps an escape that it does not know */
        *st = clfi_str_append_char(out, '\\');
        return;
    }
    for (s->at++; digits > 0; digits--, s->at++) {
        const char c = s->at < s->end ? *s->at : ' ';
        if (!is_digit_of(c, 16)) {
            *st = clfi_fail(CLF_FORMAT, "%s line %d: a broken escape in a string", s->tpl->name, s->line);
            return;
        }
        code = code * 16 + (uint32_t)(is_digit(c) ? c - '0' : (c | 32) - 'a' + 10);
    }
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        *st = clfi_fail(CLF_FORMAT, "%s line %d: an escape that is no character in a string", s->tpl->name, s->line);
    else
        *st = clfi_str_append_code_point(out, code);
}

static clf_status scan_string(scanner *s)
{
    const char quote = *s->at++;
    const char *start = s->at;
    clf_str text = CLF_STR_INIT;
    clf_status st = CLF_OK;
    while (st == CLF_OK && s->at < s->end && *s->at != quote) {
        if (*s->at == '\\' && s->at + 1 < s->end) {
            s->at++;
            append_escape(&text, s, &st);
        } else {
            st = clfi_str_append_char(&text, *s->at++);
        }
    }
    if (st == CLF_OK && s->at >= s->end)
        st = clfi_fail(CLF_FORMAT, "%s line %d: a string is not closed", s->tpl->name, s->line);
    if (st == CLF_OK && clfi_utf8_check((const unsigned char *)clfi_str_text(&text), text.length) < text.length)
        st = clfi_fail(CLF_FORMAT, "%s line %d: a string is not UTF-8", s->tpl->name, s->line);
    if (st == CLF_OK) {
        json_t *value = json_stringn(clfi_str_text(&text), text.length);
        st = value ? add(s, TOKEN_STRING, start, (size_t)(s->at - start), value)
                   : clfi_fail(CLF_OUT_OF_MEMORY, "out of memory: a template's string");
        count_lines(s, start, s->at);
        s->at++;
    }
    clfi_str_free(&text);
    return st;
}

/* Passes digits, between which single underscores may stand. False: there are none here. */
static bool pass_digits(const char **at, const char *end, int base)
{
    const char *c = *at;
    if (c == end || !is_digit_of(*c, base))
        return false;
    do {
        c++;
        if (end - c >= 2 && *c == '_' && is_digit_of(c[1], base))
            c++;
    } while (c < end && is_digit_of(*c, base));
    *at = c;
    return true;
}

/* Passes the fraction and the exponent of a real number, of which one must be there. No real number stands after a dot: "x.1.5" has two
 * indices. */
static bool pass_real(scanner *s)
{
    const char *at = s->at, *start = s->at;
    if (!pass_digits(&at, s->end, 10) || start[-1] == '.') /* a tag begins before it */
        return false;
    bool is_real = false;
    if (at < s->end && *at == '.') {
        const char *fraction = at + 1;
        is_real = pass_digits(&fraction, s->end, 10);
        at = is_real ? fraction : at;
    }
    if (at < s->end && (*at | 32) == 'e') {
        const char *exponent = at + 1;
        exponent += exponent < s->end && (*exponent == '+' || *exponent == '-');
        if (pass_digits(&exponent, s->end, 10)) {
            is_real = true;
            at = exponent;
        }
    }
    if (is_real)
        s->at = at;
    return is_real;
}

/* Passes a whole number and returns its base: 2, 8 or 16 after 0b, 0o or 0x, else 10. A decimal number with leading zeros ends after
 * them, as in Jinja. */
static int pass_whole(scanner *s)
{
    static const struct {
        char letter;
        int base;
    } prefixes[] = {{'b', 2}, {'o', 8}, {'x', 16}};
    for (size_t i = 0; i < COUNT(prefixes) && s->end - s->at >= 3 && *s->at == '0'; i++) {
        const char *at = s->at + (s->at[2] == '_' ? 3 : 2);
        if ((s->at[1] | 32) == prefixes[i].letter && pass_digits(&at, s->end, prefixes[i].base)) {
            s->at = at;
            return prefixes[i].base;
        }
    }
    pass_digits(&s->at, s->end, *s->at == '0' ? 1 : 10);
    return 10;
}

static clf_status scan_number(scanner *s)
{
    const char *start = s->at;
    char digits[64];
    size_t used = 0;
    const bool is_real = pass_real(s);
    const int base = is_real ? 10 : pass_whole(s);
    const size_t length = (size_t)(s->at - start);
    for (size_t i = base == 10 ? 0 : 2; i < length && used + 1 < sizeof digits; i++)
        if (start[i] != '_')
            digits[used++] = start[i];
    digits[used] = '\0';
    errno = 0;
    const double real = is_real ? strtod(digits, NULL) : 0;
    const long long whole = is_real ? 0 : strtoll(digits, NULL, base);
    if (length >= sizeof digits || (is_real ? isinf(real) : errno != 0))
        CLF_FAIL(CLF_FORMAT, "%s line %d: expected a number below 2^63, or a real one below 2^1024, in at most %zu characters",
                 s->tpl->name, s->line, sizeof digits - 1);
    json_t *value = is_real ? json_real(real) : json_integer(whole);
    return value ? add(s, TOKEN_NUMBER, start, length, value) : clfi_fail(CLF_OUT_OF_MEMORY, "out of memory: a template's number");
}

static clf_status scan_sign(scanner *s)
{
    static const char *const signs[] = {"**", "//", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "~", "<",
                                        ">",  "=",  "(",  ")",  "[",  "]",  "{", "}", ".", ",", ":", "|"};
    for (size_t i = 0; i < COUNT(signs); i++) {
        if (starts(s, signs[i])) {
            s->at += strlen(signs[i]);
            return add(s, TOKEN_SIGN, signs[i], strlen(signs[i]), NULL);
        }
    }
    CLF_FAIL(CLF_FORMAT, "%s line %d: unexpected \"%.1s\"", s->tpl->name, s->line, s->at);
}

/* Skips white space after a closed tag: all of it after "-%}", "-}}" and "-#}", one newline after "%}" and "#}", none after "}}" and
 * "+%}". */
static void skip_behind(scanner *s, bool takes_all, bool takes_newline)
{
    const char *from = s->at;
    if (takes_all)
        s->at = behind_space(s->at, s->end);
    else if (takes_newline && s->at < s->end && *s->at == '\n')
        s->at++;
    s->is_line_start = s->at > from && s->at[-1] == '\n';
    count_lines(s, from, s->at);
}

/* Reads the end of a tag if it is here; the caller has checked that no bracket of the tag is open. */
static bool close_tag(scanner *s, const char *closing, bool is_variable, clf_status *st)
{
    const bool has_sign = s->at < s->end && (*s->at == '-' || (*s->at == '+' && !is_variable));
    const char *close = s->at + has_sign;
    if (s->end - close < 2 || memcmp(close, closing, 2) != 0)
        return false;
    *st = add(s, is_variable ? TOKEN_VAR_END : TOKEN_TAG_END, closing, 2, NULL);
    const bool takes_all = has_sign && *s->at == '-', keeps = has_sign && *s->at == '+';
    s->at = close + 2;
    skip_behind(s, takes_all, !is_variable && !keeps);
    return true;
}

static clf_status scan_tag(scanner *s, bool is_variable)
{
    const char *const closing = is_variable ? "}}" : "%}";
    int open = 0;
    clf_status st = CLF_OK;
    CLF_TRY(add(s, is_variable ? TOKEN_VAR_BEGIN : TOKEN_TAG_BEGIN, s->at, 0, NULL));
    while (st == CLF_OK) {
        const char *const from = s->at;
        s->at = behind_space(from, s->end);
        count_lines(s, from, s->at);
        if (s->at >= s->end)
            CLF_FAIL(CLF_FORMAT, "%s line %d: expected \"%s\", the template ends", s->tpl->name, s->line, closing);
        if (open == 0 && close_tag(s, closing, is_variable, &st))
            return st;
        const char c = *s->at;
        if (is_name_start(c)) {
            const char *start = s->at;
            while (s->at < s->end && (is_name_start(*s->at) || is_digit(*s->at)))
                s->at++;
            st = add(s, TOKEN_NAME, start, (size_t)(s->at - start), NULL);
        } else if (is_digit(c)) {
            st = scan_number(s);
        } else if (c == '\'' || c == '"') {
            st = scan_string(s);
        } else {
            open += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
            st = scan_sign(s);
        }
    }
    return st;
}

static clf_status skip_comment(scanner *s)
{
    const char *from = s->at;
    while (s->at < s->end && !starts(s, "#}"))
        s->at++;
    if (s->at >= s->end)
        CLF_FAIL(CLF_FORMAT, "%s line %d: a comment is not closed", s->tpl->name, s->line);
    const char sign = s->at > from ? s->at[-1] : ' ';
    count_lines(s, from, s->at);
    s->at += 2;
    skip_behind(s, sign == '-', sign != '+');
    return CLF_OK;
}

/* The size of the text before a tag, without white space that the tag takes: all of it before "{%-", and from the line's start before "{%"
 * and "{#". */
static size_t text_before(const scanner *s, const char *from, const char *tag, char sign, bool is_variable)
{
    if (sign == '-')
        return (size_t)(before_space(from, tag, '\0') - from);
    if (is_variable || sign == '+')
        return (size_t)(tag - from);
    const char *const start = before_space(from, tag, '\n');
    const bool begins_line = start > from ? start[-1] == '\n' : s->is_line_start;
    return (size_t)((begins_line ? start : tag) - from);
}

/* Reads what follows "{%" of a tag that is `word` alone, and moves *at past it. *sign: '-' or '+' before "%}", else ' '. False: it is
 * another tag. */
static bool pass_word_tag(const scanner *s, const char **at, const char *word, char *sign)
{
    const size_t length = strlen(word);
    const char *c = behind_space(*at, s->end);
    if ((size_t)(s->end - c) < length || memcmp(c, word, length) != 0)
        return false;
    c = behind_space(c + length, s->end);
    *sign = c < s->end && (*c == '-' || *c == '+') ? *c++ : ' ';
    if (s->end - c < 2 || memcmp(c, "%}", 2) != 0)
        return false;
    *at = c + 2;
    return true;
}

/* Reads {% raw %} ... {% endraw %}, whose text is taken as it stands, with the newline after {% raw %}. *is_raw: the tag at s->at was one,
 * and all of it has been read. */
static clf_status scan_raw(scanner *s, bool *is_raw)
{
    const char *text = s->at;
    char closing;
    *is_raw = pass_word_tag(s, &text, "raw", &closing) && closing != '+';
    if (!*is_raw)
        return CLF_OK;
    count_lines(s, s->at, text);
    s->at = text;
    skip_behind(s, closing == '-', false);
    for (const char *from = s->at; s->at < s->end; s->at++) {
        const char *tag = s->at, *at = tag + 2;
        char sign = ' ';
        if (!starts(s, "{%"))
            continue;
        if (at < s->end && (*at == '-' || *at == '+'))
            sign = *at++;
        if (!pass_word_tag(s, &at, "endraw", &closing))
            continue;
        CLF_TRY(add(s, TOKEN_TEXT, from, text_before(s, from, tag, sign, false), NULL));
        count_lines(s, from, at);
        s->at = at;
        skip_behind(s, closing == '-', closing == ' ');
        return CLF_OK;
    }
    CLF_FAIL(CLF_FORMAT, "%s line %d: a raw block is not closed", s->tpl->name, s->line);
}

static clf_status scan_one(scanner *s)
{
    const char *from = s->at, *tag = s->at;
    while (tag < s->end && !(tag[0] == '{' && tag + 1 < s->end && (tag[1] == '{' || tag[1] == '%' || tag[1] == '#')))
        tag++;
    if (tag == s->end) {
        s->at = tag;
        return add(s, TOKEN_TEXT, from, (size_t)(tag - from), NULL);
    }
    const char kind = tag[1];
    const char sign = tag + 2 < s->end && (tag[2] == '-' || tag[2] == '+') ? tag[2] : ' ';
    CLF_TRY(add(s, TOKEN_TEXT, from, text_before(s, from, tag, sign, kind == '{'), NULL));
    count_lines(s, from, tag);
    s->at = tag + 2 + (sign != ' ');
    if (kind == '#')
        return skip_comment(s);
    if (kind == '%') {
        bool is_raw;
        CLF_TRY(scan_raw(s, &is_raw));
        if (is_raw)
            return CLF_OK;
    }
    return scan_tag(s, kind == '{');
}

clf_status clfi_template_scan(clf_template *tpl, size_t size)
{
    scanner s = {tpl, tpl->source, tpl->source + size, 1, true};
    if (size && s.end[-1] == '\n') /* as Jinja without keep_trailing_newline */
        s.end--;
    while (s.at < s.end)
        CLF_TRY(scan_one(&s));
    return add(&s, TOKEN_END, s.end, 0, NULL);
}
