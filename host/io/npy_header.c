/* SPDX-License-Identifier: MIT */
/* Parser for just the Python literals that a .npy header may hold: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }. */
#include "io/npy_header.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct cursor {
    const char *start, *at, *end;
    const char *name; /* of the file */
} cursor;

enum { STRING_BYTES = 64 }; /* longer than any key or dtype that is accepted */

static clf_status fail_at(const cursor *c, const char *expected)
{
    char found[48] = "the end";
    const int rest = c->end - c->at > 16 ? 16 : (int)(c->end - c->at);
    if (rest > 0)
        snprintf(found, sizeof found, "\"%.*s\"%s", rest, c->at, c->end - c->at > 16 ? "..." : "");
    CLF_FAIL(CLF_FORMAT, "%s: header: at %td: expected %s, found %s", c->name, c->at - c->start, expected, found);
}

static void skip_space(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t' || *c->at == '\r' || *c->at == '\f'))
        c->at++;
}

/* Consumes the byte after white space if it is there. */
static bool accept(cursor *c, char byte)
{
    skip_space(c);
    if (c->at == c->end || *c->at != byte)
        return false;
    c->at++;
    return true;
}

static clf_status expect(cursor *c, char byte)
{
    const char expected[] = {'\'', byte, '\'', '\0'};
    return accept(c, byte) ? CLF_OK : fail_at(c, expected);
}

/* A string without escapes, in single or double quotes. */
static clf_status parse_string(cursor *c, const char *expected, char out[STRING_BYTES])
{
    skip_space(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return fail_at(c, expected);
    const char *text = c->at + 1;
    const char *close = memchr(text, *c->at, (size_t)(c->end - text));
    if (!close || close - text >= STRING_BYTES || memchr(text, '\\', (size_t)(close - text)) ||
        memchr(text, '\0', (size_t)(close - text)))
        return fail_at(c, expected);
    memcpy(out, text, (size_t)(close - text));
    out[close - text] = '\0';
    c->at = close + 1;
    return CLF_OK;
}

static clf_status parse_bool(cursor *c, bool *out)
{
    static const char *const words[] = {"False", "True"};
    skip_space(c);
    for (int i = 0; i < 2; i++) {
        const size_t length = strlen(words[i]);
        if ((size_t)(c->end - c->at) >= length && memcmp(c->at, words[i], length) == 0) {
            c->at += length;
            *out = i == 1;
            return CLF_OK;
        }
    }
    return fail_at(c, "True or False");
}

/* A dimension: decimal digits without leading zeros; an L after it is Python 2's long integer. */
static clf_status parse_dimension(cursor *c, int64_t *out)
{
    static const char expected[] = "dimension from 0 to 2^63-1";
    skip_space(c);
    cursor digits = *c;
    int64_t value = 0;
    if (digits.at == digits.end || !isdigit((unsigned char)*digits.at))
        return fail_at(c, expected);
    do {
        const int digit = *digits.at - '0';
        if (value > (INT64_MAX - digit) / 10)
            return fail_at(c, expected);
        value = value * 10 + digit;
        digits.at++;
    } while (digits.at < digits.end && isdigit((unsigned char)*digits.at));
    if (*c->at == '0' && digits.at - c->at > 1)
        return fail_at(c, expected);
    if (digits.at < digits.end && *digits.at == 'L')
        digits.at++;
    c->at = digits.at;
    *out = value;
    return CLF_OK;
}

/* (), (n,), (n, m), (n, m,): one element needs its comma, as in Python. */
static clf_status parse_shape(cursor *c, npy_header *out)
{
    CLF_TRY(expect(c, '('));
    bool comma = true;
    for (out->rank = 0; !accept(c, ')'); out->rank++) {
        if (!comma)
            return fail_at(c, "',' or ')'");
        if (out->rank == CLFI_NPY_MAX_RANK)
            CLF_FAIL(CLF_UNSUPPORTED, "%s: header: \"shape\": more than %d dimensions", c->name, CLFI_NPY_MAX_RANK);
        CLF_TRY(parse_dimension(c, &out->dim[out->rank]));
        comma = accept(c, ',');
        if (out->rank == 0 && !comma)
            return fail_at(c, "',' after the only dimension");
    }
    return CLF_OK;
}

/* Name of an unsupported dtype, by NumPy's kind letter. */
static const char *kind_name(char kind)
{
    switch (kind) {
    case 'O':
        return "Python objects";
    case 'S':
    case 'a':
    case 'U':
        return "strings";
    case 'V':
        return "raw bytes";
    case 'c':
        return "complex numbers";
    case 'M':
    case 'm':
        return "times";
    default:
        return "unknown to this reader";
    }
}

static clf_status parse_descr(cursor *c, npy_header *out)
{
    char text[STRING_BYTES];
    skip_space(c);
    if (c->at < c->end && (*c->at == '[' || *c->at == '(' || *c->at == '{'))
        CLF_FAIL(CLF_UNSUPPORTED, "%s: header: \"descr\": expected one number type such as '<f4', found a structured dtype", c->name);
    CLF_TRY(parse_string(c, "a dtype in quotes", text));
    const bool ordered = text[0] && strchr("<>|=", text[0]);
    const char *kind = text + ordered;
    if (!clfi_file_dtype_from_numpy(kind, &out->dtype))
        CLF_FAIL(CLF_UNSUPPORTED, "%s: header: \"descr\": expected f2, f4, f8, i1 to i8, u1 to u8 or b1, found '%s' (%s)", c->name, text,
                 kind_name(*kind));
    out->swapped = text[0] == '>' && clfi_file_dtype_bytes(out->dtype) > 1;
    return CLF_OK;
}

clf_status clfi_npy_parse_header(const char *text, size_t size, const char *name, npy_header *out)
{
    enum { DESCR, FORTRAN_ORDER, SHAPE, KEYS };
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    cursor c = {text, text, text + size, name};
    bool seen[KEYS] = {false, false, false};
    bool comma = true;
    npy_header header = {0};
    CLF_TRY(expect(&c, '{'));
    while (!accept(&c, '}')) {
        char key[STRING_BYTES];
        int which = 0;
        if (!comma)
            return fail_at(&c, "',' or '}'");
        const cursor before = c;
        CLF_TRY(parse_string(&c, "a key in quotes or '}'", key));
        while (which < KEYS && strcmp(key, keys[which]) != 0)
            which++;
        if (which == KEYS || seen[which])
            return fail_at(&before, "each of descr, fortran_order and shape once");
        seen[which] = true;
        CLF_TRY(expect(&c, ':'));
        CLF_TRY(which == DESCR           ? parse_descr(&c, &header)
                : which == FORTRAN_ORDER ? parse_bool(&c, &header.fortran)
                                         : parse_shape(&c, &header));
        comma = accept(&c, ',');
    }
    skip_space(&c);
    if (c.at != c.end)
        return fail_at(&c, "nothing after '}'");
    for (int i = 0; i < KEYS; i++) {
        if (!seen[i])
            CLF_FAIL(CLF_FORMAT, "%s: header: \"%s\": expected, found nothing", name, keys[i]);
    }
    *out = header;
    return CLF_OK;
}
