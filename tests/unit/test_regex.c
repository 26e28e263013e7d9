/* SPDX-License-Identifier: MIT */
/* Regular expressions of tokenizers: their dialect, patterns that backtrack without end, and long runs of characters. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "support/operand.h"
#include "text/regex.h"

static void check_matches(const char *pattern, const char *text, const char *want)
{
    clf_regex *regex;
    clf_regex_memory *memory = NULL;
    clf_piece_list pieces = {0};
    clf_str got = CLF_STR_INIT;
    CHECK_OK(clfi_regex_create(pattern, "test", &regex));
    CHECK_OK(clfi_regex_find(regex, text, strlen(text), &memory, &pieces));
    for (size_t i = 0; i < pieces.count; i++)
        if (pieces.pieces[i].id)
            CHECK_OK(clfi_str_appendf(&got, "[%.*s]", (int)(pieces.pieces[i].end - pieces.pieces[i].start), text + pieces.pieces[i].start));
    CHECK(strcmp(clfi_str_text(&got), want) == 0, "%s on \"%s\": %s, want %s", pattern, text, clfi_str_text(&got), want);
    clfi_regex_destroy(regex);
    clfi_regex_memory_free(memory);
    free(pieces.pieces);
    clfi_str_free(&got);
}

static void regex_dialect(void **state)
{
    (void)state;
    check_matches("\\s+",
                  "a \xc2\x85\u3000"
                  "b\u180e"
                  "c",
                  "[ \xc2\x85\u3000]"); /* U+180E is no white space */
    check_matches("[^\\S]|x", " x\u180e", "[ ][x]");
    check_matches("\\w+", "a\u0301_1\u00b2\u24b6 \u2460", "[a\u0301_1\u00b2\u24b6]");
    check_matches("[\\w]+", "a\u0301_1\u00b2\u24b6 \u2460", "[a\u0301_1][\u24b6]"); /* as Oniguruma: powers only outside of [] */
    check_matches("[^\\w\\s]+", "\u00bd.\u00b9 1", "[\u00bd.\u00b9]");
    check_matches("\\d{,2}5", "12345 5", "[345][5]");
    check_matches("a{b", "a{b", "[a{b]");
    check_matches("\\h+", "0fg", "[0f]");
    check_matches("\\bno\\b", "no nob", "[no]");
    check_matches("(?i:'S)", "it's 'S", "['s]['S]");
    check_matches("^b$", "a\nb\nc", "[b]");
    check_matches("a*", "baac", "[][aa][]");
    check_matches("\\p{Han}|\\p{^L}|\\x{62}|\\u0063", "a\u6f22bc.", "[\u6f22][b][c][.]");
    check_matches("\\p{L}?+a", "aa", "[aa]");
    static const struct {
        const char *pattern;
        clf_status status;
        const char *part;
    } refused[] = {
        {"(a", CLF_FORMAT, "test: regular expression \"(a\""},
        {"[a", CLF_FORMAT, "missing terminating ]"},
        {"\\p{Klingon}", CLF_FORMAT, "regular expression"},
        {"[[:alpha:]]", CLF_UNSUPPORTED, "a class inside []"},
        {"[a-z&&[^b]]", CLF_UNSUPPORTED, "&& inside []"},
        {"[\\W]", CLF_UNSUPPORTED, "an escape inside []"},
        {"(a)\\1", CLF_UNSUPPORTED, "an unknown escape"},
        {"a(?i)b", CLF_UNSUPPORTED, "an unknown group"},
        {"(*FAIL)", CLF_UNSUPPORTED, "(*"},
        {"a{2}+", CLF_UNSUPPORTED, "a quantifier behind {}"},
        {"\\pL", CLF_UNSUPPORTED, "a property without {}"},
        {"\\x{110000000}", CLF_UNSUPPORTED, "a hexadecimal number"},
        {"a\\", CLF_UNSUPPORTED, "an unknown escape"},
    };
    for (size_t i = 0; i < COUNT(refused); i++) {
        clf_regex *regex = NULL;
        CHECK_FAILS(clfi_regex_create(refused[i].pattern, "test", &regex), refused[i].status, refused[i].part);
        assert_null(regex);
    }
}

/* A pattern that backtracks without end is an error, at once: inside groups, and inside repeats of one character. */
static void hostile_regex(void **state)
{
    static const char *const patterns[] = {"(a|a)*$", "a*a*[bc]", "(a*)*[bc]", "a+a+a+[bc]", "a*a*+[bc]", "(?:a?){30}a{30}[bc]"};
    const size_t length = long_text_bytes();
    char *text = malloc(length);
    (void)state;
    assert_non_null(text);
    memset(text, 'a', length);
    text[length - 1] = 'd';
    for (size_t i = 0; i < COUNT(patterns); i++) {
        clf_regex *regex;
        clf_regex_memory *memory = NULL;
        clf_piece_list pieces = {0};
        CHECK_OK(clfi_regex_create(patterns[i], "test", &regex));
        CHECK_FAILS(clfi_regex_find(regex, text, length, &memory, &pieces), CLF_UNSUPPORTED, "regular expression");
        clfi_regex_destroy(regex);
        clfi_regex_memory_free(memory);
        free(pieces.pieces);
    }
    free(text);
}

/* Expressions that models are published with, on a million bytes of one sort of characters and another one behind them. */
static void long_runs(void **state)
{
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define ENDS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define BEFORE "[^\\r\\n\\p{L}\\p{N}]?"
#define REST "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
    static const char *const patterns[] = {
        "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
        ENDS "|" BEFORE "\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" REST,
        ENDS "|" BEFORE "\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" REST,
        ENDS "|" BEFORE "[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" REST,
        BEFORE UPPER "*" LOWER "+" ENDS "?|" BEFORE UPPER "+" LOWER "*" ENDS "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" REST,
        "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|" REST,
        ENDS "|" BEFORE "(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]?|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+",
        "[\\p{P}\\$\\+<=>\\^~\\|`]+",
        " ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+",
        "\\s?[A-Za-z]+",
        "\\s+$",
        "\\p{N}+",
        "[^\\n]+|[\\n]+",
    };
#undef UPPER
#undef LOWER
#undef ENDS
#undef BEFORE
#undef REST
    static const char *const units[] = {" ", "\t", "\n", "a", "A", "7", "!", "\u3000", "\u4e00", " \n", " a"};
    const size_t length = long_text_bytes();
    char *text = malloc(length + 8);
    (void)state;
    assert_non_null(text);
    for (size_t u = 0; u < COUNT(units); u++) {
        size_t size = 0;
        for (const size_t step = strlen(units[u]); size < length; size += step)
            memcpy(text + size, units[u], step);
        text[size++] = u < 3 ? 'x' : ' ';
        for (size_t i = 0; i < COUNT(patterns); i++) {
            clf_regex *regex;
            clf_regex_memory *memory = NULL;
            clf_piece_list pieces = {0};
            CHECK_OK(clfi_regex_create(patterns[i], "test", &regex));
            CHECK_OK(clfi_regex_find(regex, text, size, &memory, &pieces));
            CHECK(pieces.count > 0 && pieces.pieces[pieces.count - 1].end == size, "%s on \"%s\": not to its end", patterns[i], units[u]);
            clfi_regex_destroy(regex);
            clfi_regex_memory_free(memory);
            free(pieces.pieces);
        }
    }
    free(text);
}

static clf_str cut_by(const char *pattern, const clf_str *text)
{
    clf_regex *regex;
    clf_regex_memory *memory = NULL;
    clf_piece_list pieces = {0};
    clf_str cut = CLF_STR_INIT;
    CHECK_OK(clfi_regex_create(pattern, "test", &regex));
    CHECK_OK(clfi_regex_find(regex, clfi_str_text(text), text->length, &memory, &pieces));
    for (size_t i = 0; i < pieces.count; i++)
        CHECK_OK(clfi_str_appendf(&cut, "%zu-%zu:%d ", pieces.pieces[i].start, pieces.pieces[i].end, (int)pieces.pieces[i].id));
    clfi_regex_destroy(regex);
    clfi_regex_memory_free(memory);
    free(pieces.pieces);
    return cut;
}

/* An expression that begins with a repeated class is tried only at the start of a run. The group forces a try at each place; both give the
 * same result. */
static void runs_begin_once(void **state)
{
    static const char *const pairs[][2] = {
        {"\\s+$", "(?:\\s+)$"},
        {"\\s+(?!\\S)", "(?:\\s+)(?!\\S)"},
        {"\\p{L}+(?=\\d)", "(?:\\p{L}+)(?=\\d)"},
        {"[a-m]+[k-z]", "(?:[a-m]+)[k-z]"},
        {"[^a-m]+[ a]", "(?:[^a-m]+)[ a]"},
        {"\\p{N}+(?<=[02468])", "(?:\\p{N}+)(?<=[02468])"},
        {"[\\]\\[a]+b", "(?:[\\]\\[a]+)b"},
        {"\\s+(?<=\\s\\s)(?=[^\\s|])", "(?:\\s+)(?<=\\s\\s)(?=[^\\s|])"},
    };
    static const char pool[][4] = {"a", "k", "z", " ", "\n", "\t", "0", "7", "[", "]", "\u3000", "\u00e9"};
    uint64_t seed = 1;
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++)
        for (int n = 0; n < 300; n++) {
            clf_str text = CLF_STR_INIT;
            for (int k = 0; k < n / 4; k++) {
                seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                CHECK_OK(clfi_str_append_text(&text, pool[(seed >> 33) % COUNT(pool)]));
            }
            clf_str got = cut_by(pairs[i][0], &text), want = cut_by(pairs[i][1], &text);
            CHECK(strcmp(clfi_str_text(&got), clfi_str_text(&want)) == 0, "%s on \"%s\": %s, want %s", pairs[i][0], clfi_str_text(&text),
                  clfi_str_text(&got), clfi_str_text(&want));
            clfi_str_free(&got);
            clfi_str_free(&want);
            clfi_str_free(&text);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regex_dialect),
        cmocka_unit_test(hostile_regex),
        cmocka_unit_test(long_runs),
        cmocka_unit_test(runs_begin_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
