#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The manual page and --help agree: every command, every option of each, and no other. usage: test_manual.py PROGRAM DATA"""
import os
import re
import shlex
import subprocess
import sys
from collections import Counter

program, data = sys.argv[1:3]
root = os.path.dirname(os.path.dirname(os.path.abspath(data)))
failures = []


def fail(*parts):
    failures.append(parts)
    print("FAIL:", *parts)


def told(*args):
    return subprocess.run([program, *args], capture_output=True, text=True, check=True).stdout


def plain(line):
    """A line of the page without its macros and fonts."""
    return re.sub(r"\\f.", "", line).replace("\\-", "-").replace('"', "")


def sections(page):
    """The text below each .SS of OPTIONS, and each .SH."""
    found, name = {}, ""
    for line in page.splitlines():
        if line.startswith((".SH ", ".SS ")):
            name = plain(line[4:]).strip()
            found[name] = []
        elif name:
            found[name].append(line)
    return found


def documented(lines):
    """The text behind .TP: "--name METAVAR" of each option."""
    heads = [plain(lines[i + 1]) for i, line in enumerate(lines) if line == ".TP" and i + 1 < len(lines)]
    return {re.search(r"--([a-z0-9-]+)", h).group(1): h for h in heads if "--" in h}


def options(text):
    """{name: metavar} of a help text."""
    return {m.group(1): m.group(2) for m in re.finditer(r"^  (?:-.,|   ) --([a-z0-9-]+)(?: (\S+))?", text, re.M)}


def arguments(line):
    """The text before the first option, "MODEL_DIR [TEXT ...]"."""
    return re.split(r"\[? ?--?[a-z]", line)[0].split()


with open(os.path.join(os.path.dirname(os.path.abspath(program)), "clformer.1"), encoding="utf-8") as file: # made from the program's rows
    page = sections(file.read())
common = documented(page.get("COMMON OPTIONS", []))
heads = dict(re.findall(r"^\.TP\n\.B[IR]? ([a-z]+)(.*)", plain("\n".join(page["COMMANDS"])), re.M))
commands = re.findall(r"^  ([a-z]+) ", told("--help").split("commands:")[1], re.M)
names = [(command, command) for command in commands if command != "op"]
names += [(f"op {op}", f"op {op}") for op in re.findall(r"^([a-z_]+) ", told("op", "--list"), re.M) if not op.startswith(("Files", "All"))]
seen = {}
for name, section in names:
    own = documented(page.get(section, []))
    if section not in page:
        fail("the manual has no section", section)
        continue
    text = told(*name.split(), "--help")
    for kind, pattern in (("option", r"^  (?:-.,|   ) (--[a-z0-9-]+)"), ("letter", r"^  (-.),")):
        twice = [given for given, count in Counter(re.findall(pattern, text, re.M)).items() if count > 1]
        if twice:
            fail(f"{name} has several of one {kind}:", twice)
    for option, metavar in options(text).items():
        if option == "help":
            continue
        seen.setdefault(section, set()).add(option)
        head = own.get(option) or common.get(option)
        if head is None:
            fail(f"the manual lacks {name} --{option}")
        elif metavar and metavar not in head:
            fail(f"the manual says {head!r} of {name} --{option} {metavar}")
    usage = " ".join(told(*name.split(), "--help").partition("\n\n")[0].split())
    if name in heads and arguments(usage.partition("[OPTIONS]")[2]) != arguments(heads[name]):
        fail(f"the manual says {heads[name]!r} of {name}, --help {usage!r}")
# An option's words stand once: where three commands share them, below COMMON OPTIONS.
with open(os.path.join(os.path.dirname(os.path.abspath(program)), "clformer.1"), encoding="utf-8") as file:
    rows = Counter(re.findall(r"^\.TP\n(.*-.*\n[^.].*)$", file.read(), re.M))
if len(rows) < 100:
    fail("the manual has few options with their text:", len(rows))
for row, count in rows.items():
    if count > 2:
        fail(f"the manual says {count} times:", row)
# Two examples in each help, which the page repeats; every one is a command line that the program takes.
for name, section in names + [("op", "op")]:
    told_examples = re.findall(r"^  clformer (.*)$", told(*name.split(), "--help").partition("\nexamples:\n")[2], re.M)
    if len(told_examples) != 2 or len(set(told_examples)) != 2:
        fail(f"{name} --help has other than two examples:", told_examples)
    for example in told_examples:
        if not (example + " ").startswith(name + " ") and name != "op":
            fail(f"{name} --help has an example of another command:", example)
        if section != "op" and f"clformer {example}" not in [plain(line) for line in page[section]] and \
                f"clformer {example}".replace('"', "") not in [plain(line) for line in page[section]]:
            fail(f"the manual lacks {name}'s example", example)
        words = shlex.split(example)
        if "--" in words:
            words = words[:words.index("--")]
        done = subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=False)
        if done.returncode or not done.stdout.startswith("usage: clformer " + name.split()[0]):
            fail(f"{name}'s example is refused:", example, done.stderr)
        if len(f"  clformer {example}") > 100:
            fail(f"{name}'s example is long:", example)
for section, known in seen.items():
    for option in set(documented(page[section])) - known - {"list"}:
        fail(f"the manual tells of {section} --{option}, which is none")
if len(seen) < 20:
    fail("the manual tells the options of few commands:", sorted(seen))
if not documented(page["op"]).get("list"):
    fail("the manual lacks op --list")
for heading in ("FILES", "ENVIRONMENT", "EXIT STATUS", "EXAMPLES"):
    if heading not in page:
        fail("the manual has no section", heading)
for status in ("0", "1", "2", "130"):
    if f".B {status}" not in page["EXIT STATUS"]:
        fail("the manual doesn't tell exit status", status)
for typed, meant in (("embedd", "embed"), ("--verison", "--version"), ("--hlep", "--help"), ("-v", "--version")):
    done = subprocess.run([program, typed], capture_output=True, text=True, check=False)
    if done.returncode != 2 or f"did you mean {meant}" not in done.stderr.replace("clformer --", "--"):
        fail(typed, "does not lead to", meant, done.stderr)
for word in ("--help", "--version", "-V"):
    if word not in told("--help") or word not in plain("\n".join(page["DESCRIPTION"])):
        fail("--help or the manual lacks", word)
bare = subprocess.run([program], capture_output=True, text=True, check=False)
if bare.returncode != 2 or bare.stdout or bare.stderr != told("--help"):
    fail("without a command: status", bare.returncode, bare.stdout, bare.stderr)
print("all passed" if not failures else f"{len(failures)} failures")
sys.exit(1 if failures else 0)
