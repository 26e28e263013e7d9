#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""\
Compares mpirun, with several ranks of one thread each, with one process that has as many threads. Both embed the same lines on the same
processors, alternately. Times are those of whole programs, with their start, and count only if every run writes the same bytes.
usage: compare_ranks.py PROGRAM MODEL_DIR [--lines N] [--ranks N] [--window N] [--rounds N]"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time


def read(path):
    with open(path, "rb") as file:
        return file.read()


def threads(count):
    """An environment with `count` threads for PoCL (before version 5, and since). Other drivers count the processors that they may use."""
    return {**os.environ, "POCL_MAX_PTHREAD_COUNT": str(count), "POCL_CPU_MAX_CU_COUNT": str(count)}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("model")
    for name, default in (("lines", 3000), ("ranks", 2), ("window", 64), ("rounds", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    here, program = os.path.dirname(os.path.abspath(__file__)), os.path.abspath(options.program)
    model = os.path.abspath(options.model)
    processors = sorted(os.sched_getaffinity(0))
    if len(processors) < options.ranks:
        sys.exit(f"{options.ranks} ranks: expected a processor for each, found {len(processors)}")
    os.sched_setaffinity(0, processors[:options.ranks])
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("corpus.txt", "wb") as file:
            subprocess.run([sys.executable, os.path.join(here, "make_corpus.py"), str(options.lines)], stdout=file, check=True)
        embed = [program, "embed", model, "--file", "corpus.txt", "--window", str(options.window), "-o", "out.npy"]
        one, many = f"one process of {options.ranks} threads", f"{options.ranks} ranks"
        ways = {one: (embed, threads(options.ranks)),
                many: (["mpirun", "--bind-to", "none", "--oversubscribe", "-n", str(options.ranks), *embed], threads(1))}
        seconds, first = {way: [] for way in ways}, None
        for turn in range(options.rounds + 1):  # the first turn compiles kernels and is not counted
            for way in sorted(ways, reverse=turn % 2 == 1):
                command, environment = ways[way]
                began = time.monotonic()
                subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                took = time.monotonic() - began
                found = read("out.npy")
                first = first or found
                if found != first:
                    sys.exit(f"{way}: other bytes than the first run's")
                os.remove("out.npy")
                if turn:
                    seconds[way].append(took)
        for way, all_seconds in seconds.items():
            print(f"{way}: {statistics.median(all_seconds):.2f} s ({min(all_seconds):.2f} to {max(all_seconds):.2f})")
        ratios = sorted(a / b for a, b in zip(seconds[one], seconds[many]))
        print(f"{many}, of the speed of {one}: {statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f})")


if __name__ == "__main__":
    main()
