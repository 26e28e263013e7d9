/* SPDX-License-Identifier: MIT */
/* Runs the string method format: "{} {0} {name.attribute[0]!r:>8} {:05d} {:.2f}". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "template/run.h"

enum { MAX_WIDTH = 1024, MAX_DECIMALS = 64 };

typedef struct formatter {
    template_run *run;
    const template_node *node;
    const template_arguments *arguments;
    size_t next;              /* the argument of the next {} */
    bool is_counted, is_told; /* a {}, or a {0}, came before; a text must not mix them */
    clf_str out;
} formatter;

/* [[fill]align][0][width][.decimals][s, d or f] */
typedef struct format_spec {
    const char *fill;
    size_t fill_bytes;
    char align; /* '\0': numbers on the right, texts on the left */
    int width, decimals;
    char type; /* '\0': none */
} format_spec;

static clf_status refuse(const formatter *f, const char *what, const char *text, size_t size)
{
    RUN_FAIL(f->run, f->node, CLF_UNSUPPORTED, "format: %s \"%.*s\" is not supported", what, (int)(size < 64 ? size : 64), text);
}

static size_t character_bytes(const char *text, const char *end)
{
    size_t bytes = 1;
    while (text + bytes < end && ((unsigned char)text[bytes] & 0xc0) == 0x80)
        bytes++;
    return bytes;
}

/* Reads digits at *at; -1: there are none, or the number is above `most`. */
static int take_number(const char **at, const char *end, int most)
{
    int number = 0;
    if (*at == end || **at < '0' || **at > '9')
        return -1;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at)
        number = number > most ? number : number * 10 + (**at - '0');
    return number > most ? -1 : number;
}

/* NUL is in no set, though strchr would find it. */
static bool is_one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

static clf_status read_spec(const formatter *f, const char *text, size_t size, format_spec *spec)
{
    const char *at = text, *const end = text + size;
    *spec = (format_spec){" ", 1, '\0', 0, -1, '\0'};
    const size_t first = size ? character_bytes(at, end) : 0;
    if (first < size && is_one_of(at[first], "<>^")) {
        spec->fill = at;
        spec->fill_bytes = first;
        spec->align = at[first];
        at += first + 1;
    } else if (size && is_one_of(*at, "<>^")) {
        spec->align = *at++;
    }
    if (at < end && *at == '0' && !spec->align) {
        spec->fill = at++;
        spec->align = '=';
    }
    if (at < end && *at >= '0' && *at <= '9')
        spec->width = take_number(&at, end, MAX_WIDTH);
    if (at < end && *at == '.') {
        at++;
        spec->decimals = take_number(&at, end, MAX_DECIMALS);
        if (spec->decimals < 0)
            return refuse(f, "the specification", text, size);
    }
    if (at < end && is_one_of(*at, "sdf"))
        spec->type = *at++;
    return at == end && spec->width >= 0 ? CLF_OK : refuse(f, "the specification", text, size);
}

static clf_status pad(formatter *f, const format_spec *spec, size_t count)
{
    for (size_t i = 0; i < count; i++)
        CLF_TRY(clfi_str_append(&f->out, spec->fill, spec->fill_bytes));
    return CLF_OK;
}

/* Appends the text, padded to the width. */
static clf_status append_aligned(formatter *f, const format_spec *spec, char align, const char *text, size_t size)
{
    size_t length = 0;
    for (size_t i = 0; i < size; i++)
        length += ((unsigned char)text[i] & 0xc0) != 0x80;
    const size_t missing = (size_t)spec->width > length ? (size_t)spec->width - length : 0;
    const size_t before = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
    if (align == '=' && size && text[0] == '-') { /* zeros after the sign */
        CLF_TRY(clfi_str_append_char(&f->out, '-'));
        text++;
        size--;
    }
    CLF_TRY(pad(f, spec, before));
    CLF_TRY(clfi_str_append(&f->out, text, size));
    return pad(f, spec, missing - before);
}

static clf_status append_number(formatter *f, const format_spec *spec, const json_t *value)
{
    char text[400]; /* the largest double has 309 digits */
    int size = -1;
    double x = 0;
    clfi_value_number(value, &x);
    if (spec->type == 'f')
        size = snprintf(text, sizeof text, "%.*f", spec->decimals < 0 ? 6 : spec->decimals, x);
    else if (!json_is_real(value) && spec->decimals < 0)
        size = snprintf(text, sizeof text, "%lld", json_is_integer(value) ? (long long)json_integer_value(value) : (long long)x);
    if (size < 0)
        RUN_FAIL(f->run, f->node, CLF_UNSUPPORTED, "format: this specification of %s is not supported", clfi_value_kind(value));
    return append_aligned(f, spec, spec->align ? spec->align : '>', text, (size_t)size);
}

static clf_status append_text(formatter *f, const format_spec *spec, const char *text, size_t size)
{
    size_t taken = spec->decimals < 0 ? size : 0;
    for (int i = 0; i < spec->decimals && taken < size; i++)
        taken += character_bytes(text + taken, text + size);
    return append_aligned(f, spec, spec->align ? spec->align : '<', text, taken);
}

/* Appends the value by its conversion ('r', 's'; '\0': none) and its specification. */
static clf_status append_value(formatter *f, const json_t *value, char conversion, const char *spec_text, size_t spec_size)
{
    clf_str text = CLF_STR_INIT;
    format_spec spec;
    double x;
    if (spec_size == 0 && conversion != 'r')
        return clfi_value_append(value, &f->out);
    CLF_TRY(read_spec(f, spec_text, spec_size, &spec));
    CLF_TRY(clfi_run_touch(f->run, f->node, value));
    if (!conversion && spec.type != 's' && clfi_value_number(value, &x) && (spec.type || spec.decimals >= 0 || !json_is_real(value)))
        return append_number(f, &spec, value);
    if (!value || spec.type == 'd' || spec.type == 'f' || spec.align == '=' || (!conversion && !json_is_string(value)))
        RUN_FAIL(f->run, f->node, CLF_UNSUPPORTED, "format: the specification \"%.*s\" of %s is not supported", (int)spec_size, spec_text,
                 clfi_value_kind(value));
    clf_status st = conversion == 'r' ? clfi_value_append_literal(value, &text) : clfi_value_append(value, &text);
    if (st == CLF_OK)
        st = append_text(f, &spec, clfi_str_text(&text), text.length);
    clfi_str_free(&text);
    return st;
}

/* The argument that a field's name means: the next one for {}, number 0 for {0}, or {name}. Borrowed. */
static clf_status find_argument(formatter *f, const char *name, size_t size, const json_t **out)
{
    const char *at = name;
    const int number = take_number(&at, name + size, 1 << 20);
    if (size == 0 || (number >= 0 && at == name + size)) {
        const size_t index = size ? (size_t)number : f->next++;
        *(size ? &f->is_told : &f->is_counted) = true;
        if (f->is_told && f->is_counted)
            RUN_FAIL(f->run, f->node, CLF_FORMAT, "format: {} beside {0}");
        if (index >= f->arguments->count || f->arguments->names[index])
            RUN_FAIL(f->run, f->node, CLF_FORMAT, "format: there is no argument %zu", index);
        *out = f->arguments->values[index];
        return CLF_OK;
    }
    for (size_t i = 0; i < f->arguments->count; i++)
        if (f->arguments->names[i] && strlen(f->arguments->names[i]) == size && memcmp(f->arguments->names[i], name, size) == 0) {
            *out = f->arguments->values[i];
            return CLF_OK;
        }
    RUN_FAIL(f->run, f->node, CLF_FORMAT, "format: there is no argument \"%.*s\"", (int)(size < 64 ? size : 64), name);
}

/* Replaces *value by its part ".name" or "[0]" at *at, and moves *at past it. */
static clf_status take_part(formatter *f, const char **at, const char *end, json_t **value)
{
    const bool is_item = **at == '[';
    const char *const start = ++*at;
    json_t *part = NULL, *inner = NULL;
    while (*at < end && (is_item ? **at != ']' : **at != '.' && **at != '['))
        ++*at;
    const size_t size = (size_t)(*at - start);
    const char *digits = start;
    const int number = is_item ? take_number(&digits, *at, 1 << 20) : -1;
    clf_status st = size && (!is_item || *at < end) ? CLF_OK : refuse(f, "the field", start, size);
    if (st == CLF_OK)
        st = number >= 0 && digits == *at ? clfi_value_new(json_integer(number), &part) : clfi_value_of_text(start, size, &part);
    *at += is_item && *at < end;
    if (st == CLF_OK)
        st = clfi_run_item(f->run, f->node, *value, part, &inner);
    json_decref(part);
    json_decref(*value);
    *value = inner;
    return st;
}

/* Appends the value of a field; `text` stands between its braces. */
static clf_status append_field(formatter *f, const char *text, size_t size)
{
    const char *const colon = memchr(text, ':', size), *const end = colon ? colon : text + size;
    const char *const mark = memchr(text, '!', (size_t)(end - text)), *const name_end = mark ? mark : end;
    const json_t *argument = NULL;
    if (mark && (end - mark != 2 || !is_one_of(mark[1], "rs")))
        return refuse(f, "the field", text, size);
    const char *at = text;
    while (at < name_end && *at != '.' && *at != '[')
        at++;
    CLF_TRY(find_argument(f, text, (size_t)(at - text), &argument));
    json_t *value = json_incref((json_t *)argument);
    clf_status st = CLF_OK;
    while (st == CLF_OK && at < name_end) {
        if (*at != '.' && *at != '[')
            st = refuse(f, "the field", text, size);
        else
            st = take_part(f, &at, name_end, &value);
    }
    if (st == CLF_OK)
        st = append_value(f, value, mark ? mark[1] : '\0', colon ? colon + 1 : end, colon ? (size_t)(text + size - colon - 1) : 0);
    json_decref(value);
    return st;
}

static clf_status format(formatter *f, const char *at, const char *end)
{
    while (at < end) {
        const char *stop = at;
        while (stop < end && *stop != '{' && *stop != '}')
            stop++;
        CLF_TRY(clfi_str_append(&f->out, at, (size_t)(stop - at)));
        if (stop == end)
            return CLF_OK;
        if (stop + 1 < end && stop[1] == *stop) {
            CLF_TRY(clfi_str_append_char(&f->out, *stop));
            at = stop + 2;
            continue;
        }
        const char *closing = *stop == '{' ? memchr(stop, '}', (size_t)(end - stop)) : NULL;
        if (!closing)
            RUN_FAIL(f->run, f->node, CLF_FORMAT, "format: a single \"%c\"", *stop);
        if (memchr(stop + 1, '{', (size_t)(closing - stop - 1)))
            return refuse(f, "the field", stop + 1, (size_t)(closing - stop - 1));
        CLF_TRY(append_field(f, stop + 1, (size_t)(closing - stop - 1)));
        if (f->out.length > CLFI_TEMPLATE_MAX_OUTPUT)
            RUN_FAIL(f->run, f->node, CLF_FORMAT, "format: more than %d bytes", CLFI_TEMPLATE_MAX_OUTPUT);
        at = closing + 1;
    }
    return CLF_OK;
}

clf_status clfi_run_format(template_run *run, const template_node *node, const json_t *self, const template_arguments *arguments,
                           json_t **out)
{
    formatter f = {run, node, arguments, 0, false, false, CLF_STR_INIT};
    clf_status st = format(&f, json_string_value(self), json_string_value(self) + json_string_length(self));
    if (st == CLF_OK)
        st = clfi_value_of_text(clfi_str_text(&f.out), f.out.length, out);
    clfi_str_free(&f.out);
    return st;
}
