#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mpirun with several ranks on one machine beside one process that has all its processors, embedding the same lines in turns: whole programs,
with their start. Each run's embeddings are compared with the first's before its time counts.
usage: compare_ranks.py PROGRAM MODEL_DIR [--lines N] [--ranks N] [--window N] [--rounds N]"""
import argparse
import ast
import os
import statistics
import subprocess
import sys
import tempfile
import time
from array import array

BOUND = 1e-5  # of normalised vectors


def rows(path):
    with open(path, "rb") as file:
        content = file.read()
    length = int.from_bytes(content[8:10], "little")
    header = ast.literal_eval(content[10:10 + length].decode())
    return header["shape"], array("f", content[10 + length:])


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("model")
    for name, default in (("lines", 3000), ("ranks", 2), ("window", 64), ("rounds", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    here, program = os.path.dirname(os.path.abspath(__file__)), os.path.abspath(options.program)
    model = os.path.abspath(options.model)
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("corpus.txt", "wb") as file:
            subprocess.run([sys.executable, os.path.join(here, "make_corpus.py"), str(options.lines)], stdout=file, check=True)
        embed = [program, "embed", model, "--file", "corpus.txt", "--window", str(options.window), "-o", "out.npy"]
        ways = {"one process": embed, f"{options.ranks} ranks": ["mpirun", "--bind-to", "none", "--oversubscribe", "-n", str(options.ranks), *embed]}
        seconds, first = {way: [] for way in ways}, None
        for turn in range(options.rounds + 1):  # the first compiles kernels and is not counted
            for way in sorted(ways, reverse=turn % 2 == 1):
                began = time.monotonic()
                subprocess.run(ways[way], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                took = time.monotonic() - began
                found = rows("out.npy")
                first = first or found
                worst = max(abs(a - b) for a, b in zip(first[1], found[1]))
                if found[0] != first[0] or not worst <= BOUND:
                    sys.exit(f"{way}: other embeddings than the first run's, by {worst}")
                if turn:
                    seconds[way].append(took)
        one, many = seconds.values()
        for way, all_seconds in seconds.items():
            print(f"{way}: {statistics.median(all_seconds):.2f} s ({min(all_seconds):.2f} to {max(all_seconds):.2f})")
        ratios = sorted(a / b for a, b in zip(one, many))
        print(f"{options.ranks} ranks of one process's speed: {statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f})")


if __name__ == "__main__":
    main()
