#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Branch coverage of host/, by folder, for whoever looks for error paths that no test takes.

usage: coverage.py SOURCE BUILD [--files FOLDER]

BUILD was configured with -DCLF_COVERAGE=ON, and tests have run in it since: ctest leaves its counts there. Prints for each folder of
host/ the share of lines and of branches that ran; with --files the same for each file of one folder, and the functions that never ran.
A file that is compiled into several programs counts once: a branch was taken when any of them took it."""
import collections
import gzip
import json
import os
import subprocess
import sys
import tempfile


def count_files(build):
    for folder, _, names in os.walk(build):
        for name in names:
            if name.endswith(".gcda"):
                yield os.path.join(folder, name)


def read_counts(source, build):
    """{file: ({line: count}, {(line, branch): count}, {function: count})}, of files in host/ alone."""
    files = collections.defaultdict(lambda: (collections.Counter(), collections.Counter(), collections.Counter()))
    paths = sorted(count_files(build))
    if not paths:
        sys.exit(f"coverage: {build}: no counts; configure with -DCLF_COVERAGE=ON and run ctest first")
    with tempfile.TemporaryDirectory() as work:
        for at in range(0, len(paths), 50):
            command = ["gcov", "--json-format", "--branch-probabilities", "--hash-filenames", *paths[at : at + 50]]
            subprocess.run(command, cwd=work, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for name in os.listdir(work):
            with gzip.open(os.path.join(work, name)) as file:
                for entry in json.load(file)["files"]:
                    path = os.path.realpath(os.path.join(build, entry["file"]))
                    relative = os.path.relpath(path, source)
                    if not relative.startswith("host/"):
                        continue
                    lines, branches, functions = files[relative]
                    for line in entry["lines"]:
                        lines[line["line_number"]] += line["count"]
                        for index, branch in enumerate(line["branches"]):
                            branches[line["line_number"], index] += branch["count"]
                    for function in entry["functions"]:
                        functions[function["name"]] += function["execution_count"]
    return files


def share(counts):
    return sum(1 for count in counts if count) / len(counts) if counts else 1.0


def print_row(name, lines, branches):
    print(f"{name:32} {100 * share(lines):6.1f} % of {len(lines):6} lines  {100 * share(branches):6.1f} % of {len(branches):6} branches")


def main():
    if len(sys.argv) not in (3, 5) or len(sys.argv) == 5 and sys.argv[3] != "--files":
        sys.exit(__doc__)
    source, build = (os.path.realpath(path) for path in sys.argv[1:3])
    files = read_counts(source, build)
    by_folder = collections.defaultdict(list)
    for path in sorted(files):
        by_folder[path.split("/")[1]].append(path)
    if len(sys.argv) == 5:
        for path in by_folder[sys.argv[4]]:
            lines, branches, functions = files[path]
            print_row(path, list(lines.values()), list(branches.values()))
            never = sorted(name for name, count in functions.items() if not count)
            if never:
                print("    never ran: " + ", ".join(never))
        return
    for folder, paths in [*by_folder.items(), ("all of host/", [path for paths in by_folder.values() for path in paths])]:
        print_row(folder, [c for path in paths for c in files[path][0].values()], [c for path in paths for c in files[path][1].values()])


if __name__ == "__main__":
    main()
