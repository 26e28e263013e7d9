#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes golden.json: templates, variables, and the text that Jinja gives with the settings of transformers.
usage: make_golden.py (needs jinja2)"""
import datetime
import json
import pathlib

from jinja2.ext import Extension, loopcontrols
from jinja2.nodes import CallBlock
from jinja2.sandbox import ImmutableSandboxedEnvironment


class Generation(Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return CallBlock(self.call_method("_same"), [], [], body).set_lineno(line)

    def _same(self, caller):
        return caller()


class Refused(Exception):
    pass


def refuse(message):
    raise Refused(message)


environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
environment.filters["tojson"] = lambda x, ensure_ascii=False, indent=None, separators=None, sort_keys=False: json.dumps(
    x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
environment.globals["raise_exception"] = refuse
environment.globals["strftime_now"] = lambda form: datetime.datetime.now().strftime(form)

MESSAGES = [{"role": "system", "content": " Be brief. "}, {"role": "user", "content": "Hi <b>\"ä\"</b>\n"},
            {"role": "assistant", "content": "Hello."}, {"role": "user", "content": "Why?"}]
TOOLS = [{"type": "function", "function": {"name": "add", "description": "a + b", "parameters": {"a": 1, "b": [1.5, None, True]}}}]
CHAT = {"messages": MESSAGES, "add_generation_prompt": True, "bos_token": "<s>", "eos_token": "</s>", "tools": TOOLS}

CHATS = [
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are kind<|im_end|>\n' }}{% endif %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}"
    "{% set system = messages[0]['content'] %}{% else %}"
    "{% set loop_messages = messages %}{% endif %}{% for m in loop_messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate') }}{% endif %}{% if loop.index0 == 0 and system is defined %}"
    "{% set content = '<<SYS>>\\n' + system.strip() + '\\n<</SYS>>\\n\\n' + m['content'] %}{% else %}"
    "{% set content = m['content'] %}{% endif %}"
    "{% if m['role'] == 'user' %}{{ ' [INST] ' + content | trim + ' [/INST]' }}"
    "{% elif m.role == 'assistant' %}{{ ' ' + content.strip() + eos_token }}"
    "{% endif %}{% endfor %}",
    "{%- if tools %}\n    {{- '<|im_start|>system\\n' }}\n    {%- for tool in tools %}\n        {{- \"\\n\" }}\n"
    "        {{- tool | tojson }}\n"
    "    {%- endfor %}\n{%- endif %}\n{%- set ns = namespace(multi=true, last=messages|length - 1) %}\n"
    "{%- for message in messages[::-1] %}\n"
    "    {%- set index = (messages|length - 1) - loop.index0 %}\n"
    "    {%- if ns.multi and message.role == \"user\" and message.content is string and not"
    "(message.content.startswith('<t>') and message.content.endswith('</t>')) %}\n        {%- set ns.multi = false %}\n"
    "        {%- set ns.last = index %}\n"
    "    {%- endif %}\n{%- endfor %}\n{{- ns.last }}:{{ ns.multi }}\n{% for m in messages %}\n  {%- if m.role == 'assistant' %}"
    "{% generation %}{{ m.content.split('</think>')[-1].lstrip('\\n') }}{% endgeneration %}{% endif %}\n{% endfor %}",
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}",
    "{% macro show(name, mark='#', n=2) %}{{ mark * 1 if false else mark }}{{ name }}{{ n }}{% endmacro %}"
    "{% for m in messages if m.role != 'system' %}{{ show(m.role, n=loop.index) }}{{ ', ' if not loop.last }}{% else %}none{% endfor %}",
]
EXPRESSIONS = [
    "1 + 2 * 3 ** 2 // 4 % 5", "-7 // 2", "-7 % 3", "7 / 2", "2 ** -1", "1.5 + 1", "10 / 5", "1e3" if False else "1000.0", "0.1 + 0.2",
    "1/3", "100000000.0 * 10**9", "0.00001 * 1.0", "'a' ~ 1 ~ none ~ true", "[1, 'a', none, 1.0, {'k': \"it's\"}]", "(1, 2)[0]",
    "'abc'[::-1]", "'abcdef'[1:5:2]", "'äöü'[1:]", "[1,2,3][-2:]",
    "[1,2,3,4][3:0:-1]", "[1,2][5:]", "'abc'[-1]", "messages[0].role", "messages[9]", "messages[0]['nothing']", "nothing is defined",
    "nothing is undefined", "nothing|default('d')", "''|default('d', true)", "messages|length", "'äöü'|length", "'  x '|trim ~ '|'",
    "'xxaxx'.strip('x')", "'a,b,,c'.split(',')", "' a  b '.split()", "'a-b-c'.split('-', 1)", "'a-b-c'.rsplit('-', 1)",
    "'Hello World'.lower()", "'hello wORLD'|title", "'hello wORLD'|capitalize", "'abc'|upper",
    "'aaa'.replace('a', 'b', 2)", "'a' in 'abc'", "'role' in messages[0]", "3 not in [1, 2]", "1 < 2 < 3", "1 == 1.0", "true == 1",
    "'1' == 1", "not none", "none is none", "1 is number", "'a' is string", "{} is mapping", "[] is iterable", "true is true",
    "2 is even",
    "3 is divisibleby 3", "3 is divisibleby(2)", "4 is odd", "messages|map(attribute='role')|join(', ')",
    "messages|selectattr('role', 'equalto', 'user')|list|length", "messages|rejectattr('role', 'in', ['user'])|list|length",
    "[1,0,2]|select|list", "['a','b']|map('upper')|list", "[3,1]|first", "[3,1]|last", "'abc'|reverse", "[1,2]|reverse|list",
    "'5'|int + 1",
    "'x'|int", "'2.5'|float", "-3|abs", "tools|tojson", "tools[0].function|tojson(indent=2)", "'a\\nb\\n\\nc'|indent(2)",
    "'a\\nb'|indent(2, true)", "{'a': 1}.items()|list|length", "{'a': 1, 'b': 2}.keys()|list",
    "{'a': 1}.get('b', 3)", "{'a': 1}.get('b')", "range(3)|list", "range(5, 0, -2)|list", "range(3,0,-1)|list", "2 is le 2", "(-1.5)|abs",
    "'inf'|int", "'9007199254740993'|int", "'0x10'|int", "' 42\\n'|int", "'1.9'|int", "' 7 '|float",
    "'x' if false", "1 if true else 2", "1 or 2",
    "0 or 'a'", "'' and 1", "dict(a=1)", "'%' ~ '{{' ~ '}}'", "'a' 'b'", "'tab\\t\"q\"'", "['tab\\t\\'q']", "'\\u00e4\\x41'",
    "messages[0].content.strip().startswith('Be')", "'abcabc'.count('bc')", "'abc'.find('c')",
    "', '.join(['a', 'b'])", "[1] + [2]", "'ab' < 'b'", "'a'|string ~ 1|string", "none", "true", "[true, false]", "1 != 2", "((1))",
    "{'a': [1, 2]}['a'][1]", "'x'.upper", "{'b': 1, 'A': 2, 'c': 0}|dictsort|map('first')|join",
    "{'b': 1, 'A': 2}|dictsort(true)|map('last')|list", "{'a': 2, 'b': 1}|dictsort(by='value')|map('first')|list",
    "{'b': 1, 'A': 2}|dictsort(false, 'value', true)|map('join')|list", "{'b': 1, 'A': 2}|dictsort(reverse=true)|map('first')|list",
    "{}|dictsort|length", "{10: 'a', 9: 'b', -1: 'c'}|dictsort|map('first')|list", "[3, 1.5, 2, true]|min", "[3, 1, 3.0]|max",
    "['b', 'A', 'c']|min", "['b', 'A', 'c']|max", "['a', 'A']|min ~ ['a', 'A']|max",
    "['a', 'A', 'b', 'B']|min(true) ~ ['a', 'B']|max(case_sensitive=true)", "[]|min", "nothing|max", "'hello'|max",
    "{'a': 1, 'z': 2}|max",
    "messages|min(attribute='role')", "messages|max(attribute='role')",
    "[[1, 'x'], [0, 'y']]|min(attribute=0|string)", "[3, 1, 2]|sort", "['b', 'A', 'c', 'a']|sort", "['b', 'A', 'c', 'a']|sort(true)",
    "['b', 'A', 'c']|sort(case_sensitive=true)", "messages|sort(attribute='role')|map(attribute='content')|list",
    "messages|sort(attribute='role', reverse=true)|map(attribute='content')|list", "range(40)|sort(true)",
    "tools|map(attribute='function.name')|join", "tools|map(attribute='function.parameters.b.0')|list", "tools|tojson(true)",
    "'ä\U0001f600\u2028\x7f\\x01\"'|tojson(ensure_ascii=true)", "'ä\U0001f600\x7f'|tojson(false)", "tools|tojson(false, 2)",
    "tools|tojson(ensure_ascii=False, indent=4)", "tools|tojson(indent=none)", "[1, {'a': []}]|tojson(indent=0)",
    "tools|tojson(separators=(',', ':'))", "[1, {'a': {}}]|tojson(indent=1, separators=(', ', ' = '))", "'{} and {}'.format(1, 'b')",
    "'{0}{1}{0}'.format('a', 2)", "'{x}:{y}'.format(x=1, y=none)",
    "'{{}} {} }}{{'.format(1.5)", "'{!r} {!s} {!r:>5}|'.format('a', 'b', 'c')", "'{0.role} {0[content]}'.format(messages[0])",
    "'{0[1]}{0[0][a]}{0[5]}'.format([{'a': 1}, 2])", "'{:>5}|{:<5}|{:^6}|{:*^7}|{:ä>3}'.format('a', 'ö', 'c', 'd', 'e')",
    "'{:5}|{:5}|{:<5}|'.format('a', 3, 4)", "'{:05d} {:05d} {:3d}'.format(42, -42, 12345)",
    "'{:.2f} {:8.1f} {:08.3f} {:f}'.format(3.14159, 2, -1.5, true)",
    "'{:.3} {:6.2s}|{:s}'.format('äbcdef', 'abc', 'x')", "'{} {} {}'.format([1, 'a'], {'a': 1}, true)", "'{:>5}'.format(true)",
    "'{}|'.format(nothing)", "'{}'.format(0.1)", "''.format(1)",
    "{1: 'a', '1': 'b', -2: 'c'}", "{1: 'a'}[1] ~ {1: 'a'}['1'] ~ {'1': 'a'}[1]", "{1: 'a', 1: 'b'}", "{1: 'a', 'x': {2: []}}|tojson",
    "{1: 'a'}.get(1) ~ {1: 'a'}.get('1', 'no')", "1 in {1: 'a'}", "'1' in {1: 'a'}", "2 in {1: 'a'}", "{2: 'a', 1: 'b'}.keys()|list",
    "{2: 'a'}.values()|list", "{1: 'a'} == {1: 'a'}", "{1: 'a'} == {'1': 'a'}", "{1: 2}[true]", "dict({1: 2}, a=3)",
    "none.a", "none['a']", "none[0]", "none.a is defined", "none.a|default('d')", "5['a']", "5 .a", "'abc'[9]", "'abc'['x']", "'abc'.foo",
    "[1]['a']", "[1][none]", "{'a': 1}[none]", "[5, 6][true]", "messages[0].a is none",
    "messages[0].tool_calls is defined and messages[0].tool_calls is not none", "'abc' is in 'abcd'", "'a' is in ['a']",
    "'a' is not in {'a': 1}", "1 is gt 0", "1 is lt(2)", "2 is ge 2", "2 is le 1", "[1, 2, 3]|select('gt', 1)|list",
    "[1, 2, 3]|reject('lessthan', 2)|list", "true is sameas 1", "true is sameas true", "'ab' * 3 ~ 2 * '-'", "[1, 2] * 2",
    "'a' * -1 ~ 'b' * 0", "range is defined", "raise_exception is undefined", "strftime_now is not defined",
    "namespace is defined and dict is defined",
    "none|selectattr('a')|list|length", "none|map('upper')|list", "none|reject('odd')|list", "none|map(attribute='a')|list",
    "[nothing]", "[nothing, 1]|join(',')", "[nothing][0] is defined", "{'a': nothing}", "{'a': nothing}.a is defined",
    "{'a': nothing}.get('a', 'z')", "'a' in {'a': nothing}", "[nothing] == [nothing]", "nothing in [nothing]", "none in [nothing]",
    "[nothing]|first is defined", "[nothing, 2]|last", "[nothing]|length", "[1, nothing]|reverse|join('-')", "[nothing, 'b'][1:]",
    "messages|map(attribute='name')|join(',')", "messages|map(attribute='name')|list", "messages|map(attribute='name', default='x')|list",
    "[nothing, 'a']|map('upper')|list", "[nothing, 1, none]|select('defined')|list", "[nothing, 1]|reject('none')|list",
    "[nothing, 0, 1]|select|list", "[nothing]|map('default', 'd')|list", "dict(a=nothing).a is undefined",
    "namespace(a=nothing).a is defined", "namespace(a=nothing).a ~ '|'", "{'a': nothing}.values()|list",
    "'{}{!r}|'.format([nothing], [nothing])", "[nothing]|string",
]
BLOCKS = [
    "a\n  {% if true %}\n b\n  {% endif %}\nc\n", "a {#- c -#} b", "{# c #}\nx", "  {{ 1 }}\n", "x  {%- if true -%}  y  {%- endif -%}  z",
    "{% raw %}{{ x }}{% endraw %} y", "{% for i in range(3) %}{{ i }}{% if i == 1 %}{% break %}{% endif %}{% endfor %}",
    "{% for i in range(4) %}{% if i is odd %}{% continue %}{% endif %}{{ i }}{% endfor %}",
    "{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}={{ v }};{% endfor %}", "{% for x in [] %}a{% else %}empty{% endfor %}",
    "{% for c in 'äb' %}[{{ c }}]{% endfor %}", "{% for k in {'x': 1} %}{{ k }}{% endfor %}",
    "{% for x in nothing %}a{% else %}none{% endfor %}", "{% set x = 1 %}{% for i in [1] %}{% set x = 2 %}{% endfor %}{{ x }}",
    "{% set x %}a{{ 1 }}b{% endset %}[{{ x }}]",
    "{% for i in [1,2,3] %}{{ loop.index }}{{ loop.revindex }}{{ loop.first }}{{ loop.last }}{{ loop.length }}"
    "{{ loop.previtem }}{{ loop.nextitem }} {% endfor %}", "a\n{% set x = 1 %}\nb\n\n", "a\r\n{% if true %}\r\nb{% endif %}",
    "{%+ if true +%}\nx{% endif %}", " {%+ if true %}x{% endif %}",
    "{% if nothing %}a{% elif 0 %}b{% elif 'x' %}c{% else %}d{% endif %}", "{{ nothing }}|{{ nothing|length }}|{{ none }}",
    "{% macro m(a, b=2) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(b=4, a=5) }}{{ m() }}", "{% set t = 1, 2 %}{{ t[1] }}",
    "{% for k, v in {1: 'a', 2: 'b'}.items() %}{{ k + 1 }}{{ v }}{% endfor %}",
    "{% for k in {1: 'a', -2: 'b'} %}{{ k - 1 }},{% endfor %}",
    "{% set d = {3: 'x'} %}{% for m in messages %}{{ d[loop.index] }}{% endfor %}",
    "{% for k, v in tools[0].function|dictsort %}{{ k }}:{{ v }};{% endfor %}",
    "{% if messages[0].tool_calls %}a{% else %}b{% endif %}{% for t in messages[0].tool_calls %}c{% endfor %}",
    "{% macro m(eos_token) %}[{{ eos_token }}]{% endmacro %}{{ m() }}{{ m('x') }}{{ eos_token }}",
    "{% macro m(a=1, b=2) %}[{{ a }}{{ b }}]{% endmacro %}{{ m(nothing) }}{{ m(b=nothing) }}{{ m() }}",
    "{{ range is defined }}{% set range = nothing %}{{ range is defined }}",
    "{% macro m(tools=nothing) %}[{{ tools is defined }}]{% endmacro %}{{ m() }}",
    "{% set eos_token = nothing %}[{{ eos_token }}]{% if eos_token is defined %}a{% else %}b{% endif %}",
    "{% for eos_token in [nothing, 1] %}[{{ eos_token }}]{{ eos_token is defined }}{% endfor %}{{ eos_token }}",
    "{% for bos_token, eos_token in [[1, nothing]] %}[{{ bos_token }}{{ eos_token }}]{% endfor %}",
    "{% for x in [nothing, nothing, 1] %}[{{ loop.previtem is defined }}{{ loop.nextitem is defined }}]{% endfor %}",
    "{% set ns = namespace(a=1) %}{% set ns.a = nothing %}[{{ ns.a }}]{{ ns.a is defined }}",
    "{% set x = 1 %}{% for i in [1] %}{% set x = nothing %}[{{ x }}]{% endfor %}{{ x }}",
    "{% for k, v in {'b': nothing, 'a': 1}|dictsort %}{{ k }}{{ v }}{{ v is defined }};{% endfor %}",
    "{% for k, v in {'b': nothing}.items() %}{{ k }}{{ v }}{{ v is defined }}{% endfor %}",
    "{% for x in [nothing, 1] if x is defined %}[{{ x }}]{% endfor %}",
    "  {# c #}\n  x\n", "{{ 'a' -}}  \n b", "\n\n{% if true %}\n\n{% endif %}", "\t{% if true %}\tx\t{% endif %}\t\n",
]


# Every letter whose capitals, small letters or folding are several, and a few of each other kind. Final sigmas depend on what is near.
LETTERS = " ".join([chr(code) for code in range(0x10000) if not 0xd800 <= code < 0xe000 and
                    max(len(chr(code).upper()), len(chr(code).lower()), len(chr(code).casefold())) > 1] +
                   list("aZ\u00e4\u01c4\u01c5\u01c6\u0131\u10d0\u1c90\u2160\u24d0\ua64a\U00010400\U0001e900\U0001f130") +
                   "\u03a3 A\u03a3 A\u03a3B A'\u03a3. \u0391\u03a3\u00ad A\u03a3\u0301b A1\u03a3 \u1d2c\u03a3 \u2170\u03a3 \u03a3\u03a3 "
                   "x\u0345\u03a3".split(" "))
WORDS = ("what's on? it's fine (a-b) [c{d <e e.f,g/h \u00dfx-\ufb01y\u00a0z\u3000w \u01c6a-\u01c6 \u039f\u03a3 \u03a3 A\u03a3-\u03a3a "
         "1a")
EXPRESSIONS += [f'"{text}".{name}()' for text in (LETTERS, WORDS)
                for name in ("upper", "lower", "title", "capitalize", "swapcase", "casefold")]
EXPRESSIONS += [f'"{text}"|{name}' for text in (LETTERS, WORDS) for name in ("upper", "lower", "title", "capitalize")]
EXPRESSIONS += [f'"{text}".split(" ")|map("{name}")|join(" ")' for text in (LETTERS, WORDS) for name in ("title", "capitalize")]
EXPRESSIONS += ["['\u00df', 'SS', 'ss', '\u03a3', '\u03c3', 'A\u03a3']|sort",
                "''|title ~ ''.title() ~ ''|capitalize", "5|title ~ none|upper",
                "tools is none", "nothing is none"]
# Numbers with one digit, of every size; what floors and remainders of real numbers are; lines, and letters that cannot be seen.
EXPRESSIONS += [f"{sign}{digit} / 1{'0' * zeros}" for zeros in range(19) for digit in (1, 5, 9) for sign in ("", "-")]
EXPRESSIONS += [f"{x} {sign} {y}" for sign in ("//", "%") for x in (7.5, -7.5, 0.0, 9007199254740991.0, 0.1, 1) for y in (2.5, -0.1, 3.0)]
EXPRESSIONS += ["[0.05, {'a': 0.007}]|tojson", "0.05", "1.0 % -1", "5|safe + 1|string if false", "5|safe ~ '<' ~ true|safe",
                "''|indent(2, true)", "'\\na\\n'|indent(2, true)", "'a\\r\\nb\\rc\\r'|indent(3)",
                "'a\u2028b\x85c\\fd\x1de'|indent(width=1, first=true)",
                "['\u00a0\u00ad\u200b\u2028\ue000\ufeff\u3000\U000e0001 \u00e4\u4e2d\U0001f600\x7f\x85']"]
BLOCKS += [
    "{% for x in 'abc' %}{{ loop.depth }}{{ loop.depth0 }}{% for y in 'de' %}{{ loop.depth }}{% endfor %}{% endfor %}",
    "{% for x in 'abcde' %}{{ loop.cycle('odd', 'even') }}{{ loop.cycle(1) }}{{ loop.cycle('a', nothing, 'c') }} {% endfor %}",
    "{% for x in [1, 1, 2, 2, 1] %}{{ loop.changed(x) }}{{ x }} {% endfor %}",
    "{% for x in [1, 1.0, true, nothing, none] %}{{ loop.changed(x, 2) }} {% endfor %}",
    "{% for x in 'ab' %}{{ loop.changed() }}{{ loop.changed(x) }}{% for y in 'cc' %}{{ loop.changed(y) }}{{ loop.cycle(1, 2) }}"
    "{% endfor %};{% endfor %}",
    "{% for x in 'ab' %}{% set outer = loop %}{% for y in 'cd' %}{{ outer.cycle('p', 'q') }}{{ outer.index }}{% endfor %}{% endfor %}",
]

# Tuples, views of dictionaries, ranges and generators: text, truth, length, items, equality, and elements that are gone after one loop.
KINDS = ["(1, 2)", "(1,)", "()", "1, 2", "1,", "((1, 2), (3,))", "[(1, 2)]", "(1, 2)[-1]", "(1, 2, 3)[1:]", "(1, 2, 3)[::-1]",
         "(1, 2) + (3,)", "(1, 2) * 2", "(1, 2) == (1, 2.0)", "(1, 2) == [1, 2]", "[1] == [1.0]", "1 in (1, 2)", "(1,) in [(1,)]",
         "(1, 2)|length", "(1, 2)|list", "(3, 1)|sort", "(1, 2)|tojson", "(1, 2) ~ 'x'", "(1, 2) is sequence", "'y' if () else 'n'",
         "(1, 2) is sameas((1, 2))", "((1, 2), (3, 4))|map('first')|list", "(1, 'a', none, true, 1.5)",
         "\"it's\".split(' ')[0] in ('it\\'s',)", "(nothing,)", "{'a': (1,)}", "d.items()", "d.keys()", "d.values()", "d.items()|list",
         "d|dictsort", "d|items|list", "d.items()|length", "d.keys()[0]", "d.items()|first", "'b' in d.keys()", "('b', 1) in d.items()",
         "d.keys() == ['b', 'a']", "d.keys() is sequence", "'y' if {}.items() else 'n'", "d.keys() ~ d.values()", "range(3)[1]",
         "range(5)[1:3]|list", "2 in range(3)", "range(3) == [0, 1, 2]", "'y' if range(0) else 'n'", "range(3)|reverse|list",
         "'y' if []|select else 'n'", "'y' if []|map('upper') else 'n'", "'y' if messages|selectattr('role', 'equalto', 'x') else 'n'",
         "'y' if messages|selectattr('role', 'equalto', 'x')|list else 'n'", "([1]|select)[0]", "[1]|select == [1]", "3 in [3]|select",
         "[1]|select is sequence", "[1]|select is iterable", "'y' if []|reverse else 'n'", "[1, 2]|select|reverse",
         "'abc'.startswith(('x', 'ab'))", "[1]|tojson(separators=(',', ':'))"]
NUMBERS = ["1e5", "1E3", "2.5e-3", "1e+2", "1_0e1_0", "1_000.5_0", "0x1F", "0X_ff", "0b101", "0o17", "00", "0_0", "1.e5", "[[1, 2], 3].0.1",
           "1e-400", "3e2//7", "1e5|int", "1e16"]
EXPRESSIONS += NUMBERS
BLOCKS += ["{% set d = {'b': 1, 'a': 'x'} %}{{ " + source + " }}" for source in KINDS]
BLOCKS += [
    "{% for a, b in ((1, 2), (3, 4)) %}{{ a }}{{ b }};{% endfor %}{% for x in 1, 2 %}{{ x }}{% endfor %}{% set x = 1, %}{{ x }}",
    "{% for p in {'a': 1}.items() %}{{ p }}{% endfor %}{% for k, v in {'a': 1}|items %}{{ k }}{{ v }}{% endfor %}",
    "{% set g = [3, 1]|select %}{{ g|list }}{{ g|list }}", "{% set g = [3, 1, 2]|select %}{{ 1 in g }}{{ g|list }}",
    "{% set g = [3, 1]|select %}{{ g|first }}{{ g|list }}{{ g|first is defined }}",
    "{% set g = 'ab'|map('upper') %}{% for x in g %}{{ x }}{% endfor %}{% for x in g %}{{ x }}{% else %}none{% endfor %}",
    "{% for x in [3, 1]|select %}{{ loop.index }}/{{ loop.length }}{{ loop.last }}{% endfor %}",
    "{% set ns = namespace(t=()) %}{% set ns.t = ns.t + (1,) %}{{ ns.t }}",
]

# Variables that blocks hide and see; macros, loops whose blocks were left early, raw blocks, white space of every alphabet, escapes, and
# methods that are looked at without a call.
BLOCKS += [
    "{% set a = 1 %}{% set x %}{% set a = 2 %}{{ a }}{% endset %}{{ a }}{{ x }}",
    "{% set x %}{% set q = 5 %}{{ q }}{% endset %}[{{ q }}]{{ x }}",
    "{% set a = 1 %}{% generation %}{% set a = 2 %}{{ a }}{% endgeneration %}{{ a }}",
    "{% for x in [3, 1] %}{% generation %}{{ x }}{{ loop.index }}{% if x == 3 %}{% set q = 1 %}{% endif %}[{{ q }}]{% endgeneration %}"
    "[{{ q }}]{% endfor %}", "{% set ns = namespace(a=1) %}{% generation %}{% set ns.a = 2 %}{% endgeneration %}{{ ns.a }}",
    "{% for x in [] %}{% else %}{% set q = 1 %}{{ q }}{% endfor %}[{{ q }}]", "{% if true %}{% set q = 1 %}{% endif %}{{ q }}",
    "{% for x in [3, 1] %}{% macro m() %}{{ x }}{% endmacro %}{{ m() }}{% endfor %}{{ m is defined }}",
    "{% macro m(a) %}{% macro k() %}{{ a }}{% endmacro %}{{ k() }}{% endmacro %}{{ m(4) }}{{ k is defined }}",
    "{% macro m() %}[{{ x }}]{% endmacro %}{% set x = 2 %}{{ m() }}{% for x in [7] %}{{ m() }}{% endfor %}",
    "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}B{% endmacro %}{{ a() }}{{ a is defined }}{{ a is undefined }}",
    "{% macro m(n) %}{% if n > 0 %}{{ n }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(3) }}",
    "{% set x %}{% macro m() %}M{% endmacro %}{{ m() }}{% endset %}{{ x }}{{ m is defined }}",
    "{% macro m(a=n, n=4) %}{{ a }}|{{ n }}{% endmacro %}{{ m() }}",
    "{% set a = 3 %}{% macro m(a=a) %}[{{ a }}]{% endmacro %}{{ m() }}{{ m(1) }}",
    "{% macro m(a) %}{{ a }}{{ varargs }}{{ kwargs }}[{{ caller }}]{% endmacro %}{{ m(1) }}",
    "{% set ns = namespace(a=1) %}{% macro m(x) %}{% set x.a = x.a + 1 %}{{ x.a }}{% endmacro %}{{ m(ns) }}{{ ns.a }}{{ ns['a'] }}",
    "{% set ns = namespace() %}"
    "{{ 'y' if ns }}{{ ns is mapping }}{{ ns is iterable }}{{ ns is defined }}{{ ns.items is defined }}{{ not ns }}",
    "{% for x in [1] %}"
    "{{ 'y' if loop }}{{ loop is mapping }}{{ loop.items is defined }}{{ loop['index'] }}{{ loop.cycle is defined }}{% endfor %}",
    "{% for x in [1, 2] %}{% break %}{% else %}E{% endfor %}", "{% for x in [1, 2] %}{% continue %}{% else %}E{% endfor %}",
    "{% for x in [1, 2] %}{% if x == 2 %}{% break %}{% endif %}{% else %}E{% endfor %}",
    "{% for x, y in [[1, 2], [3, 4]] if x %}{{ loop.previtem }}{{ loop.nextitem }}{% endfor %}",
    "{% for x in [[1, 2], [3, 4]] if x %}{{ loop.previtem }}{% endfor %}",
    "{{+ true }}{{+ 'a' }}{{ +1 }}{{- +1 }}", " x  {{+ 1 }}", "{% raw %}\n a\n{% endraw %}\nb",
    "x\n  {% raw %}\n  y\n  {% endraw %}\n  z",
    "{%- raw -%}\n a\n{%- endraw -%}\nb", "  {% raw %}  a {% endraw +%}\nb", "{%+ raw %}x{%+ endraw %} y",
    "a\u00a0{%- if true -%}\u3000b{% endif %}", "a\n\u00a0 {% if true %}\u00a0b{% endif %}", "a\n\u2003 {# x #}\u00a0b",
    "a\x1c{%- if true -%}\x1fb{% endif %}", "a\x85{{- 1 -}}\x85b", "\u00a0{{ 1 }}{{\u00a01\u00a0}}{%\u2003if true\u00a0%}a{% endif %}",
    "a\u2028 {% if true %}x{% endif %}", "{{ 'a\\\nb' }}{{ 'a\\qb\\101\\012\\778' }}",
    "{% set d = {'a': {'type': 'x'}} %}{{ d['items'] is defined }}{{ 'y' if d['keys'] }}{% if d['items']['type'] == 'x' %}A{% else %}"
    "B{% endif %}",
    "{% set d = {'items': 1} %}"
    "{{ d.items is mapping }}{{ d.items is string }}{{ 'y' if d.items and d.items is not none }}{{ d['items'] }}",
    "{% set d = {'update': 1} %}"
    "[{{ d.update }}]{{ d.update is defined }}{{ d['update'] }}{{ [1].append is defined }}{{ [1].index is defined }}",
    "{{ 'a'.strip is defined }}{{ 'a'['upper'] is defined }}{{ 'a'.strip.x is defined }}{{ 'a'.nothing is defined }}"
    "{{ none.strip is defined }}",
    "{% set d = {1: 'a'} %}{{ d[1.0] }}{{ d[1.5] }}{{ 1.0 in d }}",
    "{{ self is defined }}{{ cycler is defined }}{{ joiner is defined }}{{ loop is defined }}",
]


def render(source, variables):
    try:
        return {"text": environment.from_string(source).render(**variables)}
    except Refused as refused:
        return {"refused": str(refused)}


cases = [{"template": source, "variables": CHAT} for source in CHATS]
cases += [{"template": "{{ " + source + " }}"} for source in EXPRESSIONS if source != "'x'.upper"]
cases += [{"template": source} for source in BLOCKS]
for case in cases:
    case |= render(case["template"], case.get("variables", CHAT))
path = pathlib.Path(__file__).parent / "golden.json"
path.write_text(json.dumps({"variables": CHAT, "cases": [{k: v for k, v in case.items() if k != "variables"} for case in cases]},
                           ensure_ascii=False, indent=0) + "\n")
print(len(cases), "cases")
