/* SPDX-License-Identifier: MIT */
/* Truth, equality, order and text of values, as Python has them. */
#include "template/value.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "template/list_kind.h"

/* Before the digits of an integer key: no UTF-8 has this byte. */
#define INTEGER_KEY '\xff'

/* The key of a special object's mark: no UTF-8 has this byte either. */
#define SPECIAL_KEY "\xfe"

/* Its type is unknown to jansson, so none of its functions takes it for a value. Its count of references, (size_t)-1, keeps it from being
 * freed. */
static json_t undefined = {(json_type)(JSON_NULL + 1), (size_t)-1};

json_t *clfi_value_stored(json_t *value)
{
    return value ? value : &undefined;
}

json_t *clfi_value_read(json_t *stored)
{
    return stored == &undefined ? NULL : stored;
}

json_t *clfi_value_at(const json_t *list, size_t i)
{
    return clfi_value_read(json_array_get(list, i));
}

clf_special clfi_value_special(const json_t *value)
{
    return (clf_special)json_integer_value(json_object_get(value, SPECIAL_KEY));
}

const char *clfi_special_name(clf_special special)
{
    static const char *const names[] = {"value", "namespace", "loop", "method"};
    return names[special];
}

clf_status clfi_special_mark(json_t *object, clf_special special)
{
    if (json_object_set_new_nocheck(object, SPECIAL_KEY, json_integer(special)) != 0)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "out of memory: a template's %s", clfi_special_name(special));
    return CLF_OK;
}

const char *clfi_value_kind(const json_t *value)
{
    static const char *const names[] = {"dictionary", "list", "string", "integer", "real number", "bool", "bool", "none"};
    if (clfi_value_special(value))
        return clfi_special_name(clfi_value_special(value));
    if (json_is_array(value))
        return clfi_list_kind_name(clfi_list_kind_of(value));
    return value && value != &undefined ? names[json_typeof(value)] : "undefined";
}

bool clfi_value_is_true(const json_t *value)
{
    double number;
    size_t length;
    if (clfi_value_number(value, &number))
        return number != 0;
    if (clfi_list_kind_of(value) == CLF_LIST_GENERATOR) /* as in Python, also without elements */
        return true;
    return clfi_value_length(value, &length) && length > 0;
}

bool clfi_value_number(const json_t *value, double *out)
{
    if (json_is_number(value))
        *out = json_number_value(value);
    else if (json_is_boolean(value))
        *out = json_is_true(value);
    else
        return false;
    return true;
}

/* Two lists are equal if they are of one kind and have equal elements. */
static bool are_equal_lists(const json_t *a, const json_t *b)
{
    const size_t count = clfi_list_count(a);
    bool is = clfi_list_kind_of(a) == clfi_list_kind_of(b) && clfi_list_count(b) == count;
    for (size_t i = 0; is && i < count; i++)
        is = clfi_value_equal(clfi_value_at(a, i), clfi_value_at(b, i));
    return is;
}

bool clfi_value_equal(const json_t *a, const json_t *b)
{
    double x, y;
    if (!a || !b)
        return !a && !b;
    if (json_is_integer(a) && json_is_integer(b))
        return json_integer_value(a) == json_integer_value(b);
    if (clfi_value_number(a, &x) && clfi_value_number(b, &y))
        return x == y;
    if (json_is_array(a) && json_is_array(b))
        return clfi_list_kind_of(a) == CLF_LIST_GENERATOR || clfi_list_kind_of(b) == CLF_LIST_GENERATOR ? a == b : are_equal_lists(a, b);
    return json_equal(a, b);
}

bool clfi_value_order(const json_t *a, const json_t *b, int *out)
{
    double x, y;
    if (json_is_string(a) && json_is_string(b)) {
        const size_t m = json_string_length(a), n = json_string_length(b);
        const int order = memcmp(json_string_value(a), json_string_value(b), m < n ? m : n); /* UTF-8 orders as its code points do */
        *out = order ? (order > 0) - (order < 0) : (m > n) - (m < n);
        return true;
    }
    if (!clfi_value_number(a, &x) || !clfi_value_number(b, &y) || isnan(x) || isnan(y))
        return false;
    *out = (x > y) - (x < y);
    return true;
}

/* Python's repr of a float: the fewest digits that read back as the same number. */
static clf_status append_real(double value, clf_str *out)
{
    char text[40];
    if (!isfinite(value))
        return clfi_str_append_text(out, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    int digits = 1;
    for (; digits <= DBL_DECIMAL_DIG; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, value);
        if (strtod(text, NULL) == value)
            break;
    }
    const int exponent = atoi(strchr(text, 'e') + 1);
    if (exponent >= -4 && exponent < 16) {
        const int decimals = digits - 1 - exponent;
        snprintf(text, sizeof text, "%.*f", decimals < 1 ? 1 : decimals, value);
    }
    return clfi_str_append_text(out, text);
}

static clf_status append_plain(const json_t *value, const char *const names[3], clf_str *out)
{
    if (json_is_integer(value))
        return clfi_str_appendf(out, "%lld", (long long)json_integer_value(value));
    if (json_is_real(value))
        return append_real(json_real_value(value), out);
    return clfi_str_append_text(out, names[json_is_true(value) ? 0 : json_is_false(value) ? 1 : 2]);
}

static size_t step_over(const char *text, size_t size)
{
    uint32_t code;
    return clfi_utf8_decode((const unsigned char *)text, size, &code);
}

/* Python's str.isprintable of one character. */
static bool is_printable(uint32_t code)
{
    static const utf8proc_category_t hidden[] = {UTF8PROC_CATEGORY_CN, UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CF, UTF8PROC_CATEGORY_CS,
                                                 UTF8PROC_CATEGORY_CO, UTF8PROC_CATEGORY_ZL, UTF8PROC_CATEGORY_ZP, UTF8PROC_CATEGORY_ZS};
    const utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)code);
    for (size_t i = 0; code != ' ' && i < COUNT(hidden); i++)
        if (category == hidden[i])
            return false;
    return true;
}

/* Python's repr of a string: in single quotes, unless it contains some and no double ones; invisible characters are escaped. */
static clf_status append_quoted(const char *text, size_t size, clf_str *out)
{
    const char quote = memchr(text, '\'', size) && !memchr(text, '"', size) ? '"' : '\'';
    CLF_TRY(clfi_str_append_char(out, quote));
    for (size_t i = 0; i < size;) {
        uint32_t code;
        const char c = text[i];
        const size_t bytes = clfi_utf8_decode((const unsigned char *)text + i, size - i, &code);
        if (c == quote || c == '\\')
            CLF_TRY(clfi_str_appendf(out, "\\%c", c));
        else if (c == '\n' || c == '\r' || c == '\t')
            CLF_TRY(clfi_str_append_text(out, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t"));
        else if (is_printable(code))
            CLF_TRY(clfi_str_append(out, text + i, bytes));
        else
            CLF_TRY(clfi_str_appendf(out, code < 0x100 ? "\\x%02x" : code < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)code));
        i += bytes;
    }
    return clfi_str_append_char(out, quote);
}

/* Appends a character as \uXXXX; above 0xffff as two of them. */
static clf_status append_escaped(uint32_t code, clf_str *out)
{
    if (code < 0x10000)
        return clfi_str_appendf(out, "\\u%04x", (unsigned)code);
    code -= 0x10000;
    return clfi_str_appendf(out, "\\u%04x\\u%04x", (unsigned)(0xd800 + (code >> 10)), (unsigned)(0xdc00 + (code & 0x3ff)));
}

static clf_status append_json_string(const char *text, size_t size, bool is_ascii, clf_str *out)
{
    static const char from[] = "\"\\\n\r\t\b\f", to[] = "\"\\nrtbf";
    CLF_TRY(clfi_str_append_char(out, '"'));
    for (size_t i = 0; i < size;) {
        const char *escape = text[i] ? strchr(from, text[i]) : NULL;
        uint32_t code;
        const size_t bytes = clfi_utf8_decode((const unsigned char *)text + i, size - i, &code);
        if (escape)
            CLF_TRY(clfi_str_appendf(out, "\\%c", to[escape - from]));
        else if (code < ' ' || (is_ascii && code > '~'))
            CLF_TRY(append_escaped(code, out));
        else
            CLF_TRY(clfi_str_append(out, text + i, bytes));
        i += bytes;
    }
    return clfi_str_append_char(out, '"');
}

/* A form in which values are written: Python's or JSON's. */
typedef struct value_writer {
    bool is_json, is_ascii;
    int indent; /* < 0: one line */
    const char *comma, *is, *names[3];
    clf_str *out;
} value_writer;

static clf_status append_any(const value_writer *w, const json_t *value, int depth);

/* Appends the text before an element or before the closing bracket. */
static clf_status append_break(const value_writer *w, int depth, bool is_first, bool is_end)
{
    if (!is_first && !is_end)
        CLF_TRY(clfi_str_append_text(w->out, w->comma));
    return w->indent < 0 ? CLF_OK : clfi_str_appendf(w->out, "\n%*s", w->indent * depth, "");
}

static clf_status append_string(const value_writer *w, const char *text, size_t size)
{
    return w->is_json ? append_json_string(text, size, w->is_ascii, w->out) : append_quoted(text, size, w->out);
}

static clf_status append_key(const value_writer *w, const char *key, size_t length)
{
    if (key[0] != INTEGER_KEY)
        return append_string(w, key, length);
    const char *quote = w->is_json ? "\"" : "";
    return clfi_str_appendf(w->out, "%s%s%s", quote, key + 1, quote);
}

static clf_status append_dict(const value_writer *w, const json_t *dict, int depth)
{
    const char *key;
    size_t length;
    json_t *value;
    bool is_first = true;
    CLF_TRY(clfi_str_append_char(w->out, '{'));
    json_object_keylen_foreach((json_t *)dict, key, length, value)
    {
        CLF_TRY(append_break(w, depth + 1, is_first, false));
        CLF_TRY(append_key(w, key, length));
        CLF_TRY(clfi_str_append_text(w->out, w->is));
        CLF_TRY(append_any(w, value, depth + 1));
        is_first = false;
    }
    if (!is_first)
        CLF_TRY(append_break(w, depth, false, true));
    return clfi_str_append_char(w->out, '}');
}

/* JSON has lists and tuples, both as lists; other kinds are refused. Python's text of a range or a generator shows how it was made, or its
 * address, so these are refused too. */
static clf_status append_list(const value_writer *w, const json_t *list, int depth)
{
    const clf_list_kind kind = clfi_list_kind_of(list);
    const size_t count = clfi_list_count(list);
    if (w->is_json ? kind > CLF_LIST_TUPLE : !clfi_list_before(kind))
        CLF_FAIL(w->is_json ? CLF_FORMAT : CLF_UNSUPPORTED, "%s of a %s: expected a list (use the filter list)",
                 w->is_json ? "tojson" : "the text", clfi_list_kind_name(kind));
    CLF_TRY(clfi_str_append_text(w->out, w->is_json ? "[" : clfi_list_before(kind)));
    for (size_t i = 0; i < count; i++) {
        CLF_TRY(append_break(w, depth + 1, i == 0, false));
        CLF_TRY(append_any(w, json_array_get(list, i), depth + 1));
    }
    if (count)
        CLF_TRY(append_break(w, depth, false, true));
    if (kind == CLF_LIST_TUPLE && count == 1 && !w->is_json)
        CLF_TRY(clfi_str_append_char(w->out, ','));
    return clfi_str_append_text(w->out, w->is_json ? "]" : clfi_list_behind(kind));
}

static clf_status append_any(const value_writer *w, const json_t *value, int depth)
{
    if (depth > CLFI_TEMPLATE_MAX_DEPTH)
        CLF_FAIL(CLF_FORMAT, "a value is nested more than %d deep", CLFI_TEMPLATE_MAX_DEPTH);
    if (w->out->length > CLFI_TEMPLATE_MAX_OUTPUT)
        CLF_FAIL(CLF_FORMAT, "a value's text has more than %d bytes", CLFI_TEMPLATE_MAX_OUTPUT);
    if (value == &undefined && w->is_json)
        CLF_FAIL(CLF_FORMAT, "tojson: a value in it is undefined");
    if (value == &undefined)
        return clfi_str_append_text(w->out, "Undefined");
    if (json_is_object(value))
        return append_dict(w, value, depth);
    if (json_is_array(value))
        return append_list(w, value, depth);
    return json_is_string(value) ? append_string(w, json_string_value(value), json_string_length(value))
                                 : append_plain(value, w->names, w->out);
}

clf_status clfi_value_append_literal(const json_t *value, clf_str *out)
{
    const value_writer w = {false, false, -1, ", ", ": ", {"True", "False", "None"}, out};
    return append_any(&w, value, 0);
}

clf_status clfi_value_append(const json_t *value, clf_str *out)
{
    if (!value)
        return CLF_OK;
    if (json_is_string(value))
        return clfi_str_append(out, json_string_value(value), json_string_length(value));
    return clfi_value_append_literal(value, out);
}

clf_status clfi_value_append_json(const json_t *value, const template_json *how, clf_str *out)
{
    const char *const comma = how->comma ? how->comma : how->indent < 0 ? ", " : ",", *const is = how->is ? how->is : ": ";
    const value_writer w = {true, how->is_ascii, how->indent, comma, is, {"true", "false", "null"}, out};
    return append_any(&w, value, 0);
}

clf_status clfi_value_new(json_t *value, json_t **out)
{
    if (!value)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "out of memory: a template's value");
    *out = value;
    return CLF_OK;
}

clf_status clfi_value_of_text(const char *text, size_t size, json_t **out)
{
    json_t *made = json_stringn(text, size);
    if (!made) {
        if (clfi_utf8_check((const unsigned char *)text, size) != size)
            CLF_FAIL(CLF_FORMAT, "a value is not UTF-8");
        CLF_FAIL(CLF_OUT_OF_MEMORY, "out of memory: a template's value of %zu bytes", size);
    }
    *out = made;
    return CLF_OK;
}

bool clfi_value_length(const json_t *value, size_t *out)
{
    size_t count = 0;
    if (json_is_string(value)) {
        const size_t size = json_string_length(value);
        for (size_t at = 0; at < size; count++)
            at += step_over(json_string_value(value) + at, size - at);
    } else if (json_is_array(value)) {
        if (clfi_list_kind_of(value) == CLF_LIST_GENERATOR)
            return false;
        count = clfi_list_count(value);
    } else if (json_is_object(value)) {
        count = json_object_size(value);
    } else {
        return false;
    }
    *out = count;
    return true;
}

bool clfi_value_key(const json_t *value, template_key *out)
{
    if (json_is_string(value)) {
        out->text = json_string_value(value);
        out->length = json_string_length(value);
        return true;
    }
    const double real = json_real_value(value);
    const bool is_whole = json_is_real(value) && real == floor(real) && fabs(real) < 0x1p63;
    if (!json_is_integer(value) && !json_is_boolean(value) && !is_whole)
        return false;
    const json_int_t number = json_is_integer(value) ? json_integer_value(value) : is_whole ? (json_int_t)real : json_is_true(value);
    out->length = (size_t)snprintf(out->room, sizeof out->room, "%c%lld", INTEGER_KEY, (long long)number);
    out->text = out->room;
    return true;
}

clf_status clfi_value_of_key(const char *text, size_t length, json_t **out)
{
    if (text[0] == INTEGER_KEY)
        return clfi_value_new(json_integer(strtoll(text + 1, NULL, 10)), out);
    return clfi_value_of_text(text, length, out);
}

json_t *clfi_value_entry(const json_t *dict, const json_t *key)
{
    template_key stored;
    return json_is_object(dict) && clfi_value_key(key, &stored) ? json_object_getn(dict, stored.text, stored.length) : NULL;
}

static const char *character_at(const char *text, size_t index)
{
    for (; index > 0; text++)
        index -= ((unsigned char)text[1] & 0xc0) != 0x80; /* the text is valid UTF-8 and ends with NUL */
    return text;
}

clf_status clfi_value_characters(const json_t *string, size_t first, size_t count, int64_t step, json_t **out)
{
    const char *const text = json_string_value(string), *const end = text + json_string_length(string);
    clf_str made = CLF_STR_INIT;
    clf_status st = CLF_OK;
    const char *at = count ? character_at(text, first) : text;
    for (size_t i = 0; st == CLF_OK && i < count; i++) {
        st = clfi_str_append(&made, at, step_over(at, (size_t)(end - at)));
        for (int64_t s = step; i + 1 < count && s > 0; s--)
            at += step_over(at, (size_t)(end - at));
        for (int64_t s = step; i + 1 < count && s < 0; s++)
            do
                at--;
            while (((unsigned char)*at & 0xc0) == 0x80);
    }
    if (st == CLF_OK)
        st = clfi_value_of_text(clfi_str_text(&made), made.length, out);
    clfi_str_free(&made);
    return st;
}

size_t clfi_value_space(const char *text, size_t size)
{
    uint32_t code;
    const size_t bytes = clfi_utf8_decode((const unsigned char *)text, size, &code);
    const bool is_space = (code >= 9 && code <= 13) || (code >= 0x1c && code <= 0x20) || code == 0x85 || code == 0xa0 || code == 0x1680 ||
                          (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 || code == 0x202f || code == 0x205f ||
                          code == 0x3000;
    return is_space ? bytes : 0;
}

/* Whether strip removes the character text[0..bytes). */
static bool is_stripped(const char *text, size_t bytes, const json_t *characters)
{
    if (!characters)
        return clfi_value_space(text, bytes) > 0;
    const char *set = json_string_value(characters);
    for (size_t left = json_string_length(characters); left > 0;) {
        const size_t length = step_over(set, left);
        if (length == bytes && memcmp(set, text, bytes) == 0)
            return true;
        set += length;
        left -= length;
    }
    return false;
}

void clfi_value_strip(const char **text, size_t *size, const json_t *characters, bool left, bool right)
{
    while (left && *size > 0) {
        const size_t bytes = step_over(*text, *size);
        if (!is_stripped(*text, bytes, characters))
            break;
        *text += bytes;
        *size -= bytes;
    }
    while (right && *size > 0) {
        size_t bytes = 1;
        while (bytes < *size && ((unsigned char)(*text)[*size - bytes] & 0xc0) == 0x80)
            bytes++;
        if (!is_stripped(*text + *size - bytes, bytes, characters))
            break;
        *size -= bytes;
    }
}

bool clfi_value_contains(const json_t *container, const json_t *item, bool *out)
{
    *out = false;
    if (json_is_string(container) && json_is_string(item)) {
        *out =
            memmem(json_string_value(container), json_string_length(container), json_string_value(item), json_string_length(item)) != NULL;
        return true;
    }
    if (json_is_object(container)) {
        *out = clfi_value_entry(container, item) != NULL;
        return !json_is_array(item) && !json_is_object(item); /* Python accepts none of these as key */
    }
    size_t seen = 0;
    for (; seen < clfi_list_count(container) && !*out; seen++)
        *out = clfi_value_equal(clfi_value_at(container, seen), item);
    if (clfi_list_kind_of(container) == CLF_LIST_GENERATOR && clfi_list_drop(container, seen) != CLF_OK)
        return false;
    return json_is_array(container) || !container; /* undefined holds nothing */
}

void clfi_value_reverse(json_t *list)
{
    for (size_t i = 0, j = json_array_size(list); i + 1 < j; i++, j--) {
        json_t *first = json_incref(json_array_get(list, i));
        json_array_set(list, i, json_array_get(list, j - 1));
        json_array_set_new(list, j - 1, first);
    }
}
