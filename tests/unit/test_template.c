/* SPDX-License-Identifier: MIT */
/* Chat templates: the text that Jinja gives, what is refused and why, and limits. */
#include "template/template.h"

#include <stdlib.h>

#include "io/json_memory.h"
#include "support/check.h"

static clf_status render(const char *source, const json_t *variables, clf_str *out)
{
    clf_template *tpl;
    const clf_status st = clfi_template_parse(source, strlen(source), "template", &tpl);
    if (st != CLF_OK)
        return st;
    const clf_status rendered = clfi_template_render(tpl, variables, 86400, out);
    clfi_template_destroy(tpl);
    return rendered;
}

static void golden(void **state)
{
    json_error_t error;
    json_t *file = json_load_file(CLF_TEST_DATA "/template/golden.json", 0, &error), *variables = json_object_get(file, "variables");
    json_t *before = json_deep_copy(variables), *cases = json_object_get(file, "cases");
    size_t refused = 0;
    (void)state;
    assert_true(json_array_size(cases) >= 240);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *one = json_array_get(cases, i);
        const char *source = json_string_value(json_object_get(one, "template"));
        const json_t *text = json_object_get(one, "text");
        clf_str out = CLF_STR_INIT;
        const clf_status st = render(source, variables, &out);
        if (text)
            CHECK(st == CLF_OK && strcmp(clfi_str_text(&out), json_string_value(text)) == 0, "%s\n gives \"%s\" (%s)\n want  \"%s\"",
                  source, clfi_str_text(&out), st == CLF_OK ? "ok" : clf_last_error(), json_string_value(text));
        else
            CHECK(++refused && st == CLF_INVALID_ARGUMENT && strstr(clf_last_error(), json_string_value(json_object_get(one, "refused"))),
                  "%s: want a refusal, got %s: %s", source, clf_status_text(st), clf_last_error());
        clfi_str_free(&out);
    }
    assert_true(refused > 0);
    assert_true(json_equal(before, variables)); /* the caller's variables stay as they are */
    json_decref(before);
    json_decref(file);
}

static void failures(void **state)
{
    static const struct {
        const char *source;
        clf_status status;
        const char *part;
    } rows[] = {
        {"{{ 1 ", CLF_FORMAT, "line 1: expected \"}}\", the template ends"},
        {"\n\n{% if 1 %}", CLF_FORMAT, "template line 3: expected elif, found the end"},
        {"{{ 'a }}", CLF_FORMAT, "a string is not closed"},
        {"{# a", CLF_FORMAT, "a comment is not closed"},
        {"{% raw %} a", CLF_FORMAT, "a raw block is not closed"},
        {"{{ }}", CLF_FORMAT, "expected an expression, found \"}}\""},
        {"{{ 1 2 }}", CLF_FORMAT, "expected \"}}\", found \"2\""},
        {"{{ [1, }}", CLF_FORMAT, "expected \"}}\", the template ends"},
        {"{{ $ }}", CLF_FORMAT, "unexpected \"$\""},
        {"{% endif %}", CLF_UNSUPPORTED, "statement \"endif\""},
        {"{% for x in [1] %}{{ loop.cycle() }}{% endfor %}", CLF_FORMAT, "loop.cycle: expected one value or more"},
        {"{{ {}.cycle(1) }}", CLF_UNSUPPORTED, "dictionary has no method \"cycle\" here"},
        {"{{ 'a'.title(1) }}", CLF_FORMAT, "title: expected at most 0 arguments"},
        {"{{ {'items': 1}.items }}", CLF_UNSUPPORTED, "items without a call is a method: expected items() or [\"items\"]"},
        {"{% if strftime_now %}a{% endif %}", CLF_UNSUPPORTED, "the function strftime_now without a call"},
        {"{% include 'x' %}", CLF_UNSUPPORTED, "statement \"include\" is not supported"},
        {"{% break %}", CLF_FORMAT, "break outside of a loop"},
        {"{% for x in [1] recursive %}{% endfor %}", CLF_UNSUPPORTED, "recursive loops"},
        {"{{ a.b }}", CLF_FORMAT, "\"b\" of a value that is undefined"},
        {"{{ a['b'] }}", CLF_FORMAT, "an item of a value that is undefined"},
        {"{{ 'a' + 1 }}", CLF_FORMAT, "string + integer: expected numbers, two strings or two lists"},
        {"{{ 1 / 0 }}", CLF_FORMAT, "division by zero"},
        {"{{ 9223372036854775807 + 1 }}", CLF_FORMAT, "beyond 64 bits"},
        {"{{ 99999999999999999999 }}", CLF_FORMAT, "expected a number below 2^63"},
        {"{{ 1e400 }}", CLF_FORMAT, "below 2^1024"},
        {"{{ 007 }}", CLF_FORMAT, "expected"},
        {"{{ 1__0 }}", CLF_FORMAT, "expected"},
        {"{{ 1e }}", CLF_FORMAT, "expected"},
        {"{{ x.0.1e5 }}", CLF_FORMAT, "expected"},
        {"{{ 0x }}", CLF_FORMAT, "expected"},
        {"{{ 0b12 }}", CLF_FORMAT, "expected"},
        {"{{ 'a' < 1 }}", CLF_FORMAT, "these have no order"},
        {"{{ [] in {} }}", CLF_FORMAT, "list in dictionary: expected"},
        {"{{ 1 in 2 }}", CLF_FORMAT, "on the right"},
        {"{{ x | pprint }}", CLF_UNSUPPORTED, "filter \"pprint\" is not supported"},
        {"{{ x is callable }}", CLF_UNSUPPORTED, "test \"callable\" is not supported"},
        {"{{ [1, {'a': x}] | tojson }}", CLF_FORMAT, "tojson: a value in it is undefined"},
        {"{{ '{:\\0d}'.format(3) }}", CLF_UNSUPPORTED, "format: "},
        {"{{ '{!\\0}'.format(3) }}", CLF_UNSUPPORTED, "format: "},
        {"{{ 'a'|safe + 'b' }}", CLF_UNSUPPORTED, "+ of a safe text"},
        {"{{ 'a' + ('b'|safe) }}", CLF_UNSUPPORTED, "+ of a safe text"},
        {"{{ range(3) }}", CLF_UNSUPPORTED, "the text of a range: expected a list (use the filter list)"},
        {"{{ [1]|select ~ 'x' }}", CLF_UNSUPPORTED, "the text of a generator"},
        {"{{ {}.keys()|tojson }}", CLF_FORMAT, "tojson of a dict_keys: expected a list"},
        {"{{ [1]|map('string')|last }}", CLF_FORMAT, "last of a generator"},
        {"{{ [1]|select|length }}", CLF_FORMAT, "length of generator, expected a list"},
        {"{{ (1,) + [2] }}", CLF_FORMAT, "tuple + list: expected"},
        {"{{ 'a'.startswith(['a']) }}", CLF_FORMAT, "argument 1 is list, expected string or a tuple of strings"},
        {"{{ 5|indent }}", CLF_FORMAT, "indent of integer, expected a string"},
        {"{{ lipsum() }}", CLF_UNSUPPORTED, "function \"lipsum\" is not supported"},
        {"{{ 'a'.center(1) }}", CLF_UNSUPPORTED, "string has no method \"center\""},
        {"{{ '{'.format(1) }}", CLF_FORMAT, "format: a single \"{\""},
        {"{{ '}'.format(1) }}", CLF_FORMAT, "format: a single \"}\""},
        {"{{ '{}'.format() }}", CLF_FORMAT, "format: there is no argument 0"},
        {"{{ '{a}'.format(1, b=2) }}", CLF_FORMAT, "format: there is no argument \"a\""},
        {"{{ '{}{0}'.format(1) }}", CLF_FORMAT, "format: {} beside {0}"},
        {"{{ '{0[1}'.format([1]) }}", CLF_UNSUPPORTED, "format: the field \"1\" is not supported"},
        {"{{ '{:{}}'.format(1, 2) }}", CLF_UNSUPPORTED, "format: the field \":{\" is not supported"},
        {"{{ '{:,}'.format(1) }}", CLF_UNSUPPORTED, "format: the specification \",\" is not supported"},
        {"{{ '{:99999999999999}'.format(1) }}", CLF_UNSUPPORTED, "format: the specification \"99999999999999\" is not supported"},
        {"{{ '{:d}'.format('a') }}", CLF_UNSUPPORTED, "format: the specification \"d\" of string is not supported"},
        {"{{ '{:.3}'.format(1.5) }}", CLF_UNSUPPORTED, "format: this specification of real number is not supported"},
        {"{{ '{.x.y}'.format({}) }}", CLF_FORMAT, "an item of a value that is undefined"},
        {"{{ []|dictsort }}", CLF_FORMAT, "dictsort: expected a dictionary, found list"},
        {"{{ {}|dictsort(by='x') }}", CLF_FORMAT, "by=\"key\" or by=\"value\""},
        {"{{ {'a': 1, 2: 3}|dictsort }}", CLF_FORMAT, "dictsort: string and integer have no order"},
        {"{{ [1, 'a']|max }}", CLF_FORMAT, "max: integer and string have no order"},
        {"{{ [1]|sort(attribute='a,b') }}", CLF_UNSUPPORTED, "sort by several attributes is not supported"},
        {"{{ [1]|tojson(sort_keys=true) }}", CLF_UNSUPPORTED, "tojson: argument \"sort_keys\" is not supported"},
        {"{{ [1]|tojson(indent='x') }}", CLF_FORMAT, "an indent from 0 to 64"},
        {"{{ [1]|tojson(separators=[',']) }}", CLF_FORMAT, "expected two strings as separators"},
        {"{{ a|int }}", CLF_FORMAT, "int of a value that is undefined"},
        {"{{ 'ab' * 9999999999 }}", CLF_FORMAT, "string * 9999999999: more than 1048576 bytes or elements"},
        {"{{ none.a.b }}", CLF_FORMAT, "\"b\" of a value that is undefined"},
        {"{{ [].append(1) }}", CLF_UNSUPPORTED, "list has no method \"append\""},
        {"{{ 'a'()() }}", CLF_UNSUPPORTED, "a call of a value"},
        {"{% set d = {} %}{% set d.a = 1 %}", CLF_FORMAT, "\"d.a\" cannot be set: expected a namespace, found dictionary"},
        {"{% set n = namespace() %}{% set n.a = n %}", CLF_UNSUPPORTED, "a namespace inside another value"},
        {"{% set n = namespace() %}{% set n.a = [n] %}", CLF_UNSUPPORTED, "n is a namespace: expected one of its attributes"},
        {"{% set n = namespace() %}{{ n|tojson }}", CLF_UNSUPPORTED, "n is a namespace"},
        {"{% for x in [1] %}{{ loop }}{% endfor %}", CLF_UNSUPPORTED, "loop is a loop: expected one of its attributes"},
        {"{% set n = namespace(a=1) %}{{ n.items() }}", CLF_UNSUPPORTED, "namespace has no method \"items\" here"},
        {"{% set n = namespace(a=1) %}{{ n is eq 1 }}", CLF_UNSUPPORTED, "test eq of a namespace is not supported"},
        {"{{ ['a']|map(attribute='upper')|list }}", CLF_UNSUPPORTED, "map: \"upper\" is a method"},
        {"{{ 1 .real }}", CLF_UNSUPPORTED, "real of integer is not supported"},
        {"{% macro m() %}{% endmacro %}{{ m }}", CLF_UNSUPPORTED, "the function m without a call"},
        {"{{ self }}", CLF_UNSUPPORTED, "the function self without a call"},
        {"{% set m = 1 %}{% macro m() %}{% endmacro %}", CLF_UNSUPPORTED, "macro m has the name of a variable"},
        {"{% macro m() %}{% endmacro %}{% set m = 1 %}{{ m() }}", CLF_FORMAT, "a call of the variable \"m\""},
        {"{% for x in [1] %}{% macro m() %}{% endmacro %}{% endfor %}{{ m() }}", CLF_UNSUPPORTED, "function \"m\" is not supported"},
        {"{% macro m(a=1, b) %}{% endmacro %}", CLF_FORMAT, "a default like that of the parameter before"},
        {"{% for x in [1] %}{% generation %}{% break %}{% endgeneration %}{% endfor %}", CLF_FORMAT, "break outside of a loop"},
        {"{{ '\\N{BULLET}' }}", CLF_UNSUPPORTED, "the escape \\N"},
        {"{{ '1_000'|int }}", CLF_UNSUPPORTED, "int of a text with an underscore"},
        {"{% for a, b in [[1]] %}{% endfor %}", CLF_FORMAT, "an element of 1 parts for 2 variables"},
        {"{% for a in 5 %}{% endfor %}", CLF_FORMAT, "integer has no elements"},
        {"{{ range(100001) }}", CLF_FORMAT, "at most 100000 numbers"},
        {"{{ {true: 2} }}", CLF_UNSUPPORTED, "a dictionary's key is bool, expected string or integer"},
        {"{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}", CLF_FORMAT, "macro m: expected at most 1 arguments, found 2"},
        {"{% macro m(a) %}{% endmacro %}{{ m(b=2) }}", CLF_FORMAT, "macro m has no parameter \"b\""},
        {"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", CLF_FORMAT, "nested too deep"},
        {"{{ raise_exception('no \x01 way') }}", CLF_INVALID_ARGUMENT, "line 1: no ? way"},
        {"{% set n = namespace(a=[]) %}{% for i in range(200) %}{% set n.a = [n.a] %}{% endfor %}", CLF_FORMAT, "nested more than 96 deep"},
        {"{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}", CLF_FORMAT, "steps"},
        {"{% set n = namespace(a='aaaaaaaaaaaaaaaa') %}{% for i in range(40) %}{% set n.a = n.a + n.a %}{% endfor %}", CLF_FORMAT, "bytes"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        clf_str out = CLF_STR_INIT;
        CHECK_OK(clfi_str_append_text(&out, "before"));
        const clf_status st = render(rows[i].source, NULL, &out);
        CHECK(st == rows[i].status && strstr(clf_last_error(), rows[i].part) && strcmp(out.data, "before") == 0,
              "%s: want %s with \"%s\", got %s: %s (%s)", rows[i].source, clf_status_text(rows[i].status), rows[i].part,
              clf_status_text(st), clf_last_error(), out.data);
        clfi_str_free(&out);
    }
}

#define DOUBLED "{% set n = namespace(a='aaaaaaaaaaaaaaaa') %}{% for i in range(19) %}{% set n.a = n.a + n.a %}{% endfor %}"
#define PAIRED "{% set n = namespace(a=1) %}{% for i in range(60) %}{% set n.a = [n.a, n.a] %}{% endfor %}"
#define WORK "too much work: more than 67108864"

#define MEMORY "more than 268435456 bytes"

/* Live memory has a limit, however it is divided; freed memory does not count. */
static void memory(void **state)
{
    static const struct {
        const char *start, *part, *end, *error;
    } rows[] = {
        {"\n{% set a = [", "range(90000),", "] %}", "template line 2: values of " MEMORY},
        {"{{ [", "range(90000)|list,", "]|length }}", "values of " MEMORY},
        {"{% macro m(x) %}", "{{ x }}", "{{ m(x) }}{% endmacro %}{{ m('a' * 20000) }}", "values and texts of " MEMORY},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        clf_str source = CLF_STR_INIT, out = CLF_STR_INIT;
        CHECK_OK(clfi_str_append_text(&source, rows[i].start));
        for (int k = 0; k < 300; k++)
            CHECK_OK(clfi_str_append_text(&source, rows[i].part));
        CHECK_OK(clfi_str_append_text(&source, rows[i].end));
        const clf_status st = render(source.data, NULL, &out);
        CHECK(st == CLF_FORMAT && strstr(clf_last_error(), rows[i].error) && out.length == 0, "%.60s...: want \"%s\", got %s: %s",
              source.data, rows[i].error, clf_status_text(st), clf_last_error());
        clfi_str_free(&source);
        clfi_str_free(&out);
    }
    clf_str out = CLF_STR_INIT;
    CHECK_OK(render("{% for i in range(100) %}{% set x = range(90000) %}{% endfor %}done", NULL, &out));
    assert_string_equal(out.data, "done");
    clfi_str_free(&out);
    clf_json_account account; /* values that are let go leave nothing behind */
    clfi_json_account_begin(&account, 1 << 20);
    json_t *list = json_array();
    size_t count = 0;
    while (json_array_append_new(list, json_string("a text of some length")) == 0)
        count++;
    CHECK(account.is_over && account.alive <= 1 << 20 && count > 1000, "%zu elements, %lld bytes", count, (long long)account.alive);
    json_decref(list);
    assert_int_equal(account.alive, 0);
    clfi_json_account_end();
}

/* A few steps over long values, or over values that are shared at every level, end as well. */
static void long_values(void **state)
{
    static const struct {
        const char *source, *part;
    } rows[] = {
        {PAIRED, WORK},
        {"{% set n = namespace(a=[1]) %}{% for i in range(40) %}{% set n.a = n.a + n.a %}{% endfor %}",
         "a list of more than 1048576 elements"},
        {"{% set b = range(99999) %}{% for i in range(99999) %}{% set x = b|sort %}{% endfor %}", WORK},
        {"{% set b = range(99999) %}{% for i in range(99) %}{% set x = b|reject('ge', 0)|list %}{% endfor %}", WORK},
        {DOUBLED "{% for i in range(99999) %}{{ 'b' in n.a }}{% endfor %}", WORK},
        {DOUBLED "{% for i in range(99999) %}{{ n.a[5:6] }}{% endfor %}", WORK},
        {DOUBLED "{{ ('{0:.1}' * 100000).format(n.a) }}", WORK},
        {DOUBLED "{% for c in n.a %}{% endfor %}", "a list of more than 1048576 elements"},
        {"{{ ('a' * 1048576).split('a')|length }}", "into more than 1048576 parts"},
        {DOUBLED "{{ ([n.a] * 100000)|join|length }}", "join: more than 16777216 bytes"},
        {DOUBLED "{{ n.a.join([n.a] * 100000)|length }}", "join: more than 16777216 bytes"},
        {DOUBLED "{{ n.a.replace('a', n.a)|length }}", "replace: more than 16777216 bytes"},
        {"{{ ('a' * 1000000).strip('b' * 999999 ~ 'a')|length }}", WORK},
        {"{{ ('\\na' * 500000)|indent(1024, true) }}", "indent: more than 16777216 bytes"},
        {"{% macro a(x) %}{{ b(x) }}{{ b(x) }}{% endmacro %}{% macro b(x) %}{{ a(x) }}{% endmacro %}{{ a(1) }}", "nested too deep"},
        {"{% macro a(x) %}{% if x %}{{ a(x - 1) }}{{ a(x - 1) }}{% endif %}{% endmacro %}{{ a(60) }}", "more than 1000000 steps"},
        {"{% macro m(x) %}{{ m(x + x) }}{% endmacro %}{{ m('a') }}", "bytes"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        clf_str out = CLF_STR_INIT;
        const clf_status st = render(rows[i].source, NULL, &out);
        CHECK(st == CLF_FORMAT && strstr(clf_last_error(), rows[i].part) && out.length == 0, "%s: want \"%s\", got %s: %s", rows[i].source,
              rows[i].part, clf_status_text(st), clf_last_error());
        clfi_str_free(&out);
    }
    clf_str out = CLF_STR_INIT;
    CHECK_OK(render("{{ (-1) ** 9223372036854775807 }} {{ 0 ** 0 }} {{ 1 ** 9223372036854775807 }} {{ ('a b' * 9).rsplit('b', 5)|length }}",
                    NULL, &out));
    assert_string_equal(out.data, "-1 1 1 6");
    clfi_str_free(&out);
}

/* Any number of brackets and of nested blocks ends with a message, not with the stack. */
static void deep(void **state)
{
    static const struct {
        const char *start, *opening, *closing, *end;
    } rows[] = {{"{{ ", "(", ")", " }}"},
                {"{{ ", "[", "]", " }}"},
                {"", "{% if 1 %}", "{% endif %}", ""},
                {"{{ ", "-", "", "1 }}"},
                {"{{ ", "not ", "", "1 }}"}};
    enum { COPIES = 20000 };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        clf_str source = CLF_STR_INIT, out = CLF_STR_INIT;
        CHECK_OK(clfi_str_append_text(&source, rows[i].start));
        for (int j = 0; j < COPIES; j++)
            CHECK_OK(clfi_str_append_text(&source, rows[i].opening));
        for (int j = 0; j < COPIES; j++)
            CHECK_OK(clfi_str_append_text(&source, rows[i].closing));
        CHECK_OK(clfi_str_append_text(&source, rows[i].end));
        CHECK_FAILS(render(source.data, NULL, &out), CLF_FORMAT, "at most 96 nested");
        clfi_str_free(&source);
        clfi_str_free(&out);
    }
}

static void clock_of_the_caller(void **state)
{
    clf_str out = CLF_STR_INIT;
    (void)state;
    setenv("TZ", "UTC", 1);
    CHECK_OK(render("{{ strftime_now('%d %b %Y') }}", NULL, &out));
    assert_string_equal(out.data, "02 Jan 1970");
    clfi_str_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden),      cmocka_unit_test(failures), cmocka_unit_test(memory),
        cmocka_unit_test(long_values), cmocka_unit_test(deep),     cmocka_unit_test(clock_of_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
