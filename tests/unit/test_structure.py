#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The structure that host/README.md describes, drawn from the includes of the sources.

- No folder of host/ includes one that is not below it: the order is the chain and the side branches in the README.
- No circle of modules (a header with its source) larger than a header and its parts: x, x_one, x_two of one folder.
- The same of calls, which headers hide: drawn from the symbols that the object files of the build define and ask for.
- Only host/process starts processes and waits for them.
- No two structs, unions or enums have one name, also where each is a source file's own.
- No line is longer than .clang-format's ColumnLimit, be it of a source, a script or a file of CMake's.
- No comment and no message begins with a fragment.
- No sentence of a comment, a docstring, a Markdown file or a manual page has more than 35 words.
- cl/ is in folders by who may use them: shared/ includes itself, the others include shared/ and themselves, cpu/ and gpu/ any/ too, peak/
  also gpu/.

test_structure.py PROJECT BUILD
"""
import ast
import os
import re
import subprocess
import sys

# A folder and who may include what of cl/; peak/ is in the program only, so that the library's kernels cannot use it.
KERNELS = {"shared": {"shared"}, "any": {"shared", "any"}, "cpu": {"shared", "any", "cpu"}, "gpu": {"shared", "any", "gpu"},
           "peak": {"shared", "gpu", "peak"}}
# Files whose lines keep to .clang-format's ColumnLimit: sources, the manual pages and scripts below the folders, and those of the top
# level.
LIMITED = (".c", ".h", ".cl", ".1", ".7", ".py", ".sh", ".bash", "_clformer", ".cmake", "CMakeLists.txt")
STARTS = {"fork", "vfork", "posix_spawn", "posix_spawnp", "popen", "system", "wait", "waitpid", "wait3", "wait4"}
SCRIPTS = ("CMakeLists.txt", "quickstart", ".ci/run")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def files_below(root, folder, ends):
    for directory, _, names in sorted(os.walk(os.path.join(root, folder))):
        for name in sorted(names):
            if name.endswith(ends):
                yield os.path.relpath(os.path.join(directory, name), root)


def includes_of(root, path):
    return re.findall(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', read(os.path.join(root, path)), re.M)


def layers(root):
    """Each folder with all that is below it: `a -> b -> c` in the README reads from the lowest to the highest."""
    text = read(os.path.join(root, "host/README.md")).split("Dependency direction", 1)[1].split("\n\n")[0].split("The library ends")[0]
    above = {}
    for chain in re.findall(r"`([a-z]+(?: -> [a-z]+)+)`", text):
        names = chain.split(" -> ")
        for low, high in zip(names, names[1:]):
            above.setdefault(low, set())
            above.setdefault(high, set()).add(low)
    below = {}

    def reach(name, path=()):
        if name in path:
            sys.exit("host/README.md: the order of the layers is a circle: " + " -> ".join(path + (name,)))
        if name not in below:
            found = set(above[name])
            for low in above[name]:
                found |= reach(low, path + (name,))
            below[name] = found
        return below[name]

    for name in above:
        reach(name)
    return below


def host_faults(root):
    """Faults of folders, and the includes among modules: {module: {module}}."""
    below, faults, graph = layers(root), [], {}
    known = set(files_below(root, "host", (".c", ".h", ".S"))) | set(files_below(root, "include", (".h",)))
    folders = {path.split("/")[1] for path in known if path.startswith("host/")}
    faults += ["host/%s: not in host/README.md's order of layers" % name for name in sorted(folders - set(below))]
    for path in sorted(known):
        module = os.path.splitext(path)[0]
        graph.setdefault(module, set())
        for include in includes_of(root, path):
            target = next((p for p in ("host/" + include, "include/" + include, os.path.join(os.path.dirname(path), include))
                           if p in known), None)
            if not target:
                continue  # the system's, another library's, or made by the build
            if os.path.splitext(target)[0] != module:
                graph[module].add(os.path.splitext(target)[0])
            to = target.split("/")
            if to[0] != "host":
                continue
            if path.startswith("include/"):
                faults.append("%s includes %s: a public header sees no internal one" % (path, target))
                continue
            layer = path.split("/")[1]
            if to[1] != layer and to[1] not in below.get(layer, set()):
                faults.append("%s includes %s: %s is not below %s" % (path, target, to[1], layer))
    return faults, graph


def calls(root, build):
    """Who uses symbols of whom: {module: {module}}, and the faults of folders among them."""
    below, objects, owner, asked = layers(root), {}, {}, {}
    for path in files_below(build, "CMakeFiles", (".c.o",)):
        source = path.split("/", 2)[2][:-2]
        if source.startswith("host/") and os.path.exists(os.path.join(root, source)):
            objects[os.path.join(build, path)] = source[:-2]
    if len(objects) < 100:
        return ["%s: only %d object files of host/" % (build, len(objects))], {}
    symbols = subprocess.run(["nm", "-A", "-P"] + sorted(objects), capture_output=True, text=True, check=True).stdout
    for line in symbols.splitlines():
        path, name, kind = line.split()[:3]
        module = objects[path.rstrip(":")]
        if kind in "TDBR":
            owner[name] = module
        elif kind == "U":
            asked.setdefault(module, set()).add(name)
    graph = {module: {owner[name] for name in asked.get(module, set()) if name in owner} - {module} for module in objects.values()}
    faults = []
    for module, targets in sorted(graph.items()):
        layer = module.split("/")[1]
        if layer != "process":
            faults += ["%s.c calls %s, which is host/process's" % (module, name) for name in sorted(asked.get(module, set()) & STARTS)]
        faults += ["%s.c uses %s.c: %s is not below %s" % (module, target, target.split("/")[1], layer) for target in sorted(targets)
                   if target.split("/")[1] not in below.get(layer, set()) | {layer}]
    return faults, graph


def circles(graph):
    """Strongly connected sets of two and more (Tarjan)."""
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for target in sorted(graph[node]):
            if target not in order:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], order[target])
        if low[node] == order[node]:
            circle = set()
            while node not in circle:
                circle.add(stack.pop())
            if len(circle) > 1:
                found.append(sorted(circle))

    sys.setrecursionlimit(10000)
    for node in sorted(graph):
        if node not in order:
            visit(node)
    return found


def is_header_with_parts(circle):
    whole = min(circle, key=len)
    return all(module == whole or module.startswith(whole + "_") for module in circle)


def kernel_faults(root):
    faults, folder_of, files = [], {}, list(files_below(root, "cl", (".cl",)))
    for path in files:
        parts = path.split("/")
        if len(parts) != 3 or parts[1] not in KERNELS:
            faults.append("%s: expected cl/<%s>/<name>.cl" % (path, "|".join(KERNELS)))
        elif parts[2] in folder_of:
            faults.append("%s: cl/%s has a file of that name too" % (path, folder_of[parts[2]]))
        else:
            folder_of[parts[2]] = parts[1]
    for path in files:
        folder = path.split("/")[1]
        for include in includes_of(root, path):
            if include not in folder_of:
                faults.append("%s includes %s, which is not in cl/" % (path, include))
            elif folder_of[include] not in KERNELS.get(folder, set()):
                faults.append("%s includes %s of cl/%s" % (path, include, folder_of[include]))
    return faults


def line_faults(root):
    limit = int(re.search(r"^ColumnLimit: (\d+)$", read(os.path.join(root, ".clang-format")), re.M).group(1))
    paths = list(SCRIPTS) + [path for folder in ("host", "include", "cl", "tests", "bench") for path in files_below(root, folder, LIMITED)]
    return ["%s:%d: %d columns, at most %d" % (path, number, len(line), limit) for path in paths
            for number, line in enumerate(read(os.path.join(root, path)).split("\n"), 1) if len(line) > limit]


def name_faults(root):
    places = {}
    for folder in ("host", "include"):
        for path in files_below(root, folder, (".c", ".h")):
            for name in re.findall(r"^(?:typedef )?(?:struct|union|enum) (\w+) \{", read(os.path.join(root, path)), re.M):
                places.setdefault(name, []).append(path)
    return ["%s: is the name of a type in %s" % (name, " and ".join(paths)) for name, paths in sorted(places.items()) if len(paths) > 1]


FOLDERS = ("host", "include", "cl", "tests", "bench")
# Files whose comments begin with #.
SHELL = (".py", ".sh", ".bash", ".awk", ".cmake", "CMakeLists.txt")
# Words with which a fragment begins, whose subject comes late or never.
FRAGMENT = re.compile(r'(?:/\* |(?<!\\)"|^ *# )(Of|What|So many|Such an?|That|Where|Whose) [a-z]')
# The same at the beginning of a message, which begins in lower case, perhaps behind the name that it is about.
MESSAGE_FRAGMENT = re.compile(r'\S *(?<!\\)"(?:clformer: )?(?:%s: )*(of|what|so many|such an?|that|where|whose) \w+ \w+ \w+')


def fragment_faults(root):
    """Comments, and texts of messages, that begin with a fragment."""
    faults = []
    for path in [path for folder in FOLDERS for path in files_below(root, folder, (".c", ".h", ".cl") + SHELL)] + list(SCRIPTS):
        is_program = path.startswith("host/") and path.endswith((".c", ".h"))
        for number, line in enumerate(read(os.path.join(root, path)).split("\n"), 1):
            is_text = path.endswith((".c", ".h", ".cl", ".py")) or line.lstrip().startswith("#")
            found = is_text and FRAGMENT.search(line) or is_program and MESSAGE_FRAGMENT.search(line)
            if found:
                faults.append("%s:%d: begins with \"%s\" instead of its subject" % (path, number, found[1]))
    return faults


COMMENT = re.compile(r'/\*(.*?)\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
SENTENCE_WORDS = 35


def sentences(comment):
    """Those of a comment's running text. Lines of a table (indented, or with gaps) are left out; an item of a list begins a sentence."""
    lines = [re.sub(r"^ \* ?", "", line).rstrip() for line in comment.strip("\n").split("\n")]
    margin = min((len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()), default=0)
    runs, in_item = [[]], False
    for number, line in enumerate(lines):
        text = line.strip()
        is_item = text.startswith("- ")
        is_indented = number > 0 and len(line) - len(line.lstrip()) >= margin + 2 and not in_item
        if is_item or not text or is_indented or re.search(r"\S {2,}\S", text):
            in_item = is_item
            runs.append([])
        if is_item or text and not is_indented and not re.search(r"\S {2,}\S", text):
            runs[-1].append(text)
    for run in runs:
        yield from re.split(r"(?<=[.?!])\s+", " ".join(run))


def c_texts(text):
    for match in COMMENT.finditer(text):
        if match[1]:
            yield match.start(), match[1]


def shell_texts(text):
    for match in re.finditer(r"(?:^[ \t]*#(?!!).*\n)+", text, re.M):
        yield match.start(), re.sub(r"^[ \t]*# ?", "", match[0], flags=re.M)


def python_texts(text):
    yield from shell_texts(text)
    lines = [0] + [match.end() for match in re.finditer("\n", text)]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            yield lines[node.body[0].lineno - 1], ast.get_docstring(node)


def markdown_texts(text):
    """Paragraphs and items without code, tables and headings; a code span counts as one word."""
    text = re.sub(r"^ *```.*?^ *```", lambda code: "\n" * code[0].count("\n"), text, flags=re.S | re.M)
    for match in re.finditer(r"(?:^(?!    |[#|<]).*\S.*\n?)+", text, re.M):
        for item in re.finditer(r"(?:^(?:[-*]|\d+\.) |\A)(?s:.*?)(?=^(?:[-*]|\d+\.) |\Z)", match[0], re.M):
            prose = re.sub(r"`[^`]*`", "code", re.sub(r"^(?:[-*]|\d+\.) ", "", item[0]))
            yield match.start() + item.start(), "\n".join(line.strip() for line in prose.split("\n"))


def manual_texts(text):
    """Paragraphs of a manual page without examples and the heads of its lists."""
    text = re.sub(r"^\.(EX|nf)\n.*?^\.(EE|fi)\n", lambda example: "\n" * example[0].count("\n"), text, flags=re.S | re.M)
    text = re.sub(r"^\.TP\n.*\n", "\n\n", text, flags=re.M)
    for match in re.finditer(r"(?:^(?!\.(?:SH|SS|PP|TP|IP|TH|\\\")).+\n)+", text, re.M):
        yield match.start(), re.sub(r'^\.[A-Z]+ |(?:"? ?, ?"?(?= |$))', " ", match[0].replace('" ', " ").replace(' "', " "), flags=re.M)


TEXTS = {(".c", ".h", ".cl"): c_texts, (".py",): python_texts, SHELL[1:]: shell_texts, (".md",): markdown_texts, (".1", ".7"): manual_texts}


def sentence_faults(root):
    """Sentences of comments and documents that have too many words."""
    faults = []
    for ends, texts in TEXTS.items():
        paths = [path for folder in FOLDERS for path in files_below(root, folder, ends)]
        paths += {shell_texts: list(SCRIPTS), markdown_texts: ["README.md"]}.get(texts, [])
        for path in paths:
            text = read(os.path.join(root, path))
            for start, part in texts(text):
                line = text.count("\n", 0, start) + 1
                where = "%s:%d: a sentence of %%d words, at most %d: %%s ..." % (path, line, SENTENCE_WORDS)
                faults += [where % (len(words), " ".join(words[:8]))
                           for words in (sentence.split() for sentence in sentences(part)) if len(words) > SENTENCE_WORDS]
    return faults


def check_the_checks():
    """A circle and its shape are found in graphs that have them."""
    graph = {"a/x": {"a/x_y"}, "a/x_y": {"a/x"}, "a/z": {"a/x", "b/q"}, "b/q": {"b/r"}, "b/r": {"a/z"}}
    found = circles(graph)
    assert found == [["a/x", "a/x_y"], ["a/z", "b/q", "b/r"]], found
    assert all(FRAGMENT.search("%sOf a row: its sum." % start) for start in ("/* ", '"', '"""', "    # "))
    assert not FRAGMENT.search("/* Offset of a row. */")
    assert MESSAGE_FRAGMENT.search('("%s: of so many rows') and not MESSAGE_FRAGMENT.search('    "of so many rows')
    long = " ".join(["word"] * 20) + "\n * " + " ".join(["word"] * 16) + ". Short one."
    assert [len(sentence.split()) for sentence in sentences(" " + long)] == [36, 2]
    assert list(sentences(" A table:\n *   one  1\n *   two  2\n * Its end.")) == ["A table:", "", "Its end."]
    assert [text for _, text in python_texts('"""One."""\nX = """no"""\n# Two.\n')] == ["Two.\n", "One."]
    assert [text for _, text in markdown_texts("# No\n\nOne `a b`.\n\n    no\n\n- Two\n  more.\n- Three.\n")] == \
        ["One code.\n", "Two\nmore.\n", "Three.\n"]
    page = ".SH NO\nOne\n.B two\n.EX\nno\n.EE\n.TP\nno\nThree.\n"
    assert [text.split() for _, text in manual_texts(page)] == [["One", "two"], ["Three."]]
    assert is_header_with_parts(found[0]) and not is_header_with_parts(found[1])


def main():
    root = sys.argv[1]
    check_the_checks()
    faults, graph = host_faults(root)
    if sum(len(targets) for targets in graph.values()) < 500:
        faults.append("only %d includes were understood" % sum(len(targets) for targets in graph.values()))
    call_faults, call_graph = calls(root, sys.argv[2])
    faults += call_faults
    for verb, arrows in (("include", graph), ("call", call_graph)):
        for circle in circles(arrows):
            if not is_header_with_parts(circle):
                faults.append("these %s each other in a circle: " % verb + ", ".join(circle))
    faults += kernel_faults(root) + name_faults(root) + line_faults(root) + fragment_faults(root) + sentence_faults(root)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
