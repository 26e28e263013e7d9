/* SPDX-License-Identifier: MIT */
/* Rewrites Python's JSON as strict JSON, and back. A number that is not finite becomes the string U+0000 and a letter, and a number whose
 * digits are kept becomes U+0000 and its text. A string of the text that begins with U+0000 gets a second one in front, so that they cannot
 * be confused. */
#include "io/json_python.h"

#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *word, *stand_in;
    char letter;
    double value;
} numbers[] = {
    {"NaN", "\"\\u0000N\"", 'N', NAN}, {"Infinity", "\"\\u0000I\"", 'I', INFINITY}, {"-Infinity", "\"\\u0000M\"", 'M', -INFINITY}};

static size_t digits(const char *text, size_t size)
{
    size_t count = 0;
    while (count < size && text[count] >= '0' && text[count] <= '9')
        count++;
    return count;
}

/* Whether the whole of text[0..size) is a number of JSON. */
static bool is_number(const char *text, size_t size, bool *out_is_integer)
{
    size_t at = size && text[0] == '-', count = digits(text + at, size - at);
    *out_is_integer = true;
    if (count == 0 || (count > 1 && text[at] == '0'))
        return false;
    at += count;
    if (at < size && text[at] == '.') {
        *out_is_integer = false;
        count = digits(text + at + 1, size - at - 1);
        at += 1 + count;
        if (count == 0)
            return false;
    }
    if (at < size && (text[at] == 'e' || text[at] == 'E')) {
        *out_is_integer = false;
        at += 1 + (at + 1 < size && (text[at + 1] == '+' || text[at + 1] == '-'));
        count = digits(text + at, size - at);
        at += count;
        if (count == 0)
            return false;
    }
    return at == size;
}

static clf_status append_number(const char *text, size_t size, bool is_integer, bool keeps_digits, clf_str *out)
{
    enum { MOST_DIGITS = 18 }; /* numbers of so many digits always fit int64 */
    clf_str copy = CLF_STR_INIT;
    CLF_TRY(clfi_str_append(&copy, text, size)); /* ends with NUL */
    char *const point = strchr(copy.data, '.');
    if (point)
        *point = *localeconv()->decimal_point;
    const double value = strtod(copy.data, NULL);
    clfi_str_free(&copy);
    if (keeps_digits)
        return isinf(value) ? clfi_str_append_text(out, "null") : clfi_str_appendf(out, "\"\\u0000%.*s\"", (int)size, text);
    if (isinf(value))
        return clfi_str_append_text(out, numbers[value > 0 ? 1 : 2].stand_in);
    CLF_TRY(clfi_str_append(out, text, size));
    return is_integer && size > MOST_DIGITS ? clfi_str_append_text(out, ".0") : CLF_OK;
}

static bool is_word_byte(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '-' || c == '.' || c == '_';
}

/* A literal or a number outside strings, to its end. */
static clf_status append_word(const char *text, size_t size, bool keeps_digits, size_t *at, clf_str *out)
{
    const char *const word = text + *at;
    size_t length = 0;
    bool is_integer;
    while (*at + length < size && is_word_byte(word[length]))
        length++;
    *at += length;
    for (size_t i = 0; i < COUNT(numbers); i++)
        if (strlen(numbers[i].word) == length && memcmp(word, numbers[i].word, length) == 0)
            return clfi_str_append_text(out, keeps_digits ? "null" : numbers[i].stand_in);
    return is_number(word, length, &is_integer) ? append_number(word, length, is_integer, keeps_digits, out)
                                                : clfi_str_append(out, word, length);
}

/* The code unit of an escape \uXXXX at text[at..size); -1: there is no such escape. */
static int escaped_unit(const char *text, size_t at, size_t size)
{
    int unit = 0;
    if (at + 6 > size || text[at] != '\\' || text[at + 1] != 'u')
        return -1;
    for (size_t i = at + 2; i < at + 6; i++) {
        static const char hex[] = "0123456789abcdef";
        const char *const found = text[i] ? strchr(hex, text[i] >= 'A' && text[i] <= 'F' ? text[i] + ('a' - 'A') : text[i]) : NULL;
        if (!found)
            return -1;
        unit = unit * 16 + (int)(found - hex);
    }
    return unit;
}

/* Bytes of the escape at text[at..size); a surrogate pair counts as one. *out_lone: it is half a pair. */
static size_t escape_length(const char *text, size_t at, size_t size, bool *out_lone)
{
    const int unit = escaped_unit(text, at, size), next = escaped_unit(text, at + 6, size);
    const bool is_first = unit >= 0xd800 && unit <= 0xdbff, is_second = unit >= 0xdc00 && unit <= 0xdfff;
    const bool is_pair = is_first && next >= 0xdc00 && next <= 0xdfff;
    *out_lone = (is_first && !is_pair) || is_second;
    return is_pair ? 12 : unit >= 0 ? 6 : size - at < 2 ? 1 : 2;
}

static clf_status append_escape(const char *text, size_t size, size_t *at, clf_str *out)
{
    bool is_lone;
    const char *const escape = text + *at;
    const size_t length = escape_length(text, *at, size, &is_lone);
    *at += length;
    return is_lone ? clfi_str_append_text(out, "\\ufffd") : clfi_str_append(out, escape, length);
}

bool clfi_json_has_lone_surrogate(const char *text, size_t size)
{
    bool is_lone = false;
    for (size_t at = 0; at < size && !is_lone;)
        at += text[at] == '\\' ? escape_length(text, at, size, &is_lone) : 1;
    return is_lone;
}

clf_status clfi_json_rewrite(const char *text, size_t size, bool keeps_digits, size_t most, clf_str *out, size_t *out_read)
{
    bool in_string = false;
    size_t i = 0;
    while (i < size && out->length < most) {
        if (in_string && text[i] == '\\') {
            CLF_TRY(append_escape(text, size, &i, out));
        } else if (!in_string && is_word_byte(text[i])) {
            CLF_TRY(append_word(text, size, keeps_digits, &i, out));
        } else {
            in_string = in_string != (text[i] == '"');
            CLF_TRY(clfi_str_append_char(out, text[i++]));
            if (in_string && text[i - 1] == '"' && escaped_unit(text, i, size) == 0)
                CLF_TRY(clfi_str_append_text(out, "\\u0000"));
        }
    }
    *out_read = i;
    return CLF_OK;
}

/* A real number of jansson's that is never freed. json_real refuses numbers that are not finite, so this is laid out as jansson's own: the
 * public json_t, then the double. Several doubles cover other offsets, and each use checks that jansson reads the right number. */
typedef struct real_value {
    json_t json;
    double value[4];
} real_value;

static clf_status number_of_letter(char letter, json_t **out)
{
    static real_value values[COUNT(numbers)] = {{{JSON_REAL, (size_t)-1}, {NAN, NAN, NAN, NAN}},
                                                {{JSON_REAL, (size_t)-1}, {INFINITY, INFINITY, INFINITY, INFINITY}},
                                                {{JSON_REAL, (size_t)-1}, {-INFINITY, -INFINITY, -INFINITY, -INFINITY}}};
    size_t i = 0;
    while (numbers[i].letter != letter)
        i++;
    const double value = json_real_value(&values[i].json);
    if (!(isnan(value) && isnan(numbers[i].value)) && value != numbers[i].value)
        CLF_FAIL(CLF_UNSUPPORTED, "this version of jansson cannot represent %s", numbers[i].word);
    *out = &values[i].json;
    return CLF_OK;
}

static clf_status restore(json_t *value, json_t **out);

/* restore_array and restore_object put each restored value in the place of the one that it replaces. */
static clf_status restore_array(json_t *array)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        json_t *const before = json_array_get(array, i), *after;
        CLF_TRY(restore(before, &after));
        if (after != before && json_array_set(array, i, after) != 0)
            CLF_FAIL(CLF_OUT_OF_MEMORY, "JSON: not enough memory");
    }
    return CLF_OK;
}

static clf_status restore_object(json_t *object)
{
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        json_t *const before = json_object_iter_value(at), *after;
        CLF_TRY(restore(before, &after));
        if (after != before && json_object_iter_set(object, at, after) != 0)
            CLF_FAIL(CLF_OUT_OF_MEMORY, "JSON: not enough memory");
    }
    return CLF_OK;
}

/* *out: the value itself, changed in place, or the number that it stands for; borrowed. */
static clf_status restore(json_t *value, json_t **out)
{
    *out = value;
    if (json_is_array(value))
        return restore_array(value);
    if (json_is_object(value))
        return restore_object(value);
    const size_t size = json_string_length(value);
    const char *const text = json_string_value(value);
    if (size < 2 || text[0] != '\0')
        return CLF_OK;
    if (text[1] != '\0')
        return number_of_letter(text[1], out);
    return json_string_setn_nocheck(value, text + 1, size - 1) == 0 ? CLF_OK : clfi_fail(CLF_OUT_OF_MEMORY, "JSON: not enough memory");
}

clf_status clfi_json_restore(json_t **root)
{
    json_t *restored = NULL;
    const clf_status st = restore(*root, &restored);
    json_t *const before = *root;
    *root = st == CLF_OK ? json_incref(restored) : NULL;
    json_decref(before);
    return st;
}

/* The stand-in of a scalar, or the scalar itself if it needs none; a new reference. */
static json_t *scalar_stand_in(const json_t *value)
{
    const size_t size = json_string_length(value);
    if (json_is_real(value)) {
        const double number = json_real_value(value);
        const char mark[2] = {'\0', numbers[isnan(number) ? 0 : number > 0 ? 1 : 2].letter};
        return isfinite(number) ? json_incref((json_t *)value) : json_stringn_nocheck(mark, sizeof mark);
    }
    if (size == 0 || json_string_value(value)[0] != '\0')
        return json_incref((json_t *)value);
    char *marked = calloc(1, size + 1);
    if (!marked)
        return NULL;
    memcpy(marked + 1, json_string_value(value), size);
    json_t *made = json_stringn_nocheck(marked, size + 1);
    free(marked);
    return made;
}

json_t *clfi_json_stand_in(const json_t *value)
{
    const char *key;
    size_t length, i;
    json_t *inner, *copy = json_is_object(value) ? json_object() : json_is_array(value) ? json_array() : NULL;
    bool is_whole = copy != NULL;
    if (!json_is_object(value) && !json_is_array(value))
        return scalar_stand_in(value);
    json_object_keylen_foreach((json_t *)value, key, length, inner)
    {
        is_whole = is_whole && json_object_setn_new_nocheck(copy, key, length, clfi_json_stand_in(inner)) == 0;
    }
    json_array_foreach(value, i, inner) is_whole = is_whole && json_array_append_new(copy, clfi_json_stand_in(inner)) == 0;
    if (is_whole)
        return copy;
    json_decref(copy);
    return NULL;
}

clf_status clfi_json_append_restored(const char *text, clf_str *out)
{
    static const char mark[] = "\"\\u0000";
    const char *at = text;
    for (const char *found; (found = strstr(at, mark));) {
        at = found + 1;
        if (found > text && found[-1] == '\\') /* a quotation mark inside a string */
            continue;
        const char *const behind = found + sizeof mark - 1;
        CLF_TRY(clfi_str_append(out, text, (size_t)(found - text)));
        size_t i = 0, kept = 0;
        while (is_word_byte(behind[kept]))
            kept++;
        while (i < COUNT(numbers) && (kept != 1 || behind[0] != numbers[i].letter || behind[1] != '"'))
            i++;
        const bool is_number = i < COUNT(numbers) || (kept > 0 && (behind[0] == '-' || digits(behind, kept) > 0));
        CLF_TRY(i < COUNT(numbers) ? clfi_str_append_text(out, numbers[i].word)
                : is_number        ? clfi_str_append(out, behind, kept)
                                   : clfi_str_append_text(out, "\""));
        at = text = is_number ? behind + kept + 1 : behind;
    }
    return clfi_str_append_text(out, text);
}
