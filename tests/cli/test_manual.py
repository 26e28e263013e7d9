#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The manual page, README.md and --help agree: every command, every option of each, and no other. usage: test_manual.py PROGRAM DATA"""
import os
import re
import subprocess
import sys

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
    """What stands behind .TP: "--name METAVAR" of each option."""
    heads = [plain(lines[i + 1]) for i, line in enumerate(lines) if line == ".TP" and i + 1 < len(lines)]
    return {re.search(r"--([a-z0-9-]+)", h).group(1): h for h in heads if "--" in h}


def options(text):
    """{name: metavar} of a help text."""
    return {m.group(1): m.group(2) for m in re.finditer(r"^  (?:-.,|   ) --([a-z0-9-]+)(?: (\S+))?", text, re.M)}


def arguments(line):
    """What stands before the first option, "MODEL_DIR [TEXT ...]"."""
    return re.split(r"\[? ?--?[a-z]", line)[0].split()


with open(os.path.join(os.path.dirname(os.path.abspath(program)), "clformer.1"), encoding="utf-8") as file: # made from the program's rows
    page = sections(file.read())
with open(os.path.join(root, "README.md"), encoding="utf-8") as file:
    readme = file.read()
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
    for option, metavar in options(told(*name.split(), "--help")).items():
        if option == "help":
            continue
        seen.setdefault(section, set()).add(option)
        head = own.get(option) or common.get(option)
        if head is None:
            fail(f"the manual lacks {name} --{option}")
        elif metavar and metavar not in head:
            fail(f"the manual says {head!r} of {name} --{option} {metavar}")
    usage = told(*name.split(), "--help").partition("\n")[0]
    if name in heads and arguments(usage.partition("[OPTIONS]")[2]) != arguments(heads[name]):
        fail(f"the manual says {heads[name]!r} of {name}, --help {usage!r}")
    if f"clformer {section.split()[0]}" not in readme:
        fail("README.md lacks the command", section)
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
for word in ("--help", "--version", "-V"):
    if word not in told("--help") or word not in plain("\n".join(page["DESCRIPTION"])):
        fail("--help or the manual lacks", word)
print("all passed" if not failures else f"{len(failures)} failures")
sys.exit(1 if failures else 0)
