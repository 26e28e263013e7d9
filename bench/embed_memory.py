#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""\
Runs embed over a generated corpus (make_corpus.py). Prints the program's memory by the share of the file that is done, and compares the
bytes after kill -9 at a quarter of it and --resume. Fails if memory grows with the lines: if the program's own memory in the last quarter
is more than a tenth above that of the second.
usage: embed_memory.py PROGRAM MODEL_DIR [--lines 1000000] [--window N] [MORE OPTIONS OF embed]"""
import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

PARTS = 10  # rows of the table
GROWTH = 1.1


def read(path):
    with open(path, "rb") as file:
        return file.read()


def memory(process):
    """Own (anonymous) and resident memory of the process in MB; None: it has ended."""
    try:
        status = read(f"/proc/{process.pid}/status").decode()
        return tuple(int(re.search(rf"^{name}:\s+(\d+) kB$", status, re.M).group(1)) / 1e3 for name in ("RssAnon", "VmRSS"))
    except (AttributeError, OSError):  # the process has ended
        return None


def watch(command, output, size, stop_at=1.0):
    """Runs the command and returns a list of (share done, own MB, resident MB). The size of the part file tells the share. Kills the
    command when the share reaches `stop_at`."""
    samples = []
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        part = output + ".part"
        share = min(1, os.path.getsize(part) / size) if os.path.exists(part) else 0
        found = memory(process)
        if found:
            samples.append((share, *found))
        if share >= stop_at:
            process.kill()
        time.sleep(0.02)
    if process.returncode != (-signal.SIGKILL if stop_at < 1 else 0):
        sys.exit(f"{' '.join(command)}: status {process.returncode}")
    return samples


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("--lines", type=int, default=1000000)
    parser.add_argument("--window", type=int)
    options, more = parser.parse_known_args()
    here, program, model = os.path.dirname(os.path.abspath(__file__)), os.path.abspath(options.program), os.path.abspath(options.model)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("corpus.txt", "wb") as file:
            subprocess.run([sys.executable, os.path.join(here, "make_corpus.py"), str(options.lines)], stdout=file, check=True)
        with open("first.txt", "wb") as file:
            subprocess.run(["head", "-n", "100", "corpus.txt"], stdout=file, check=True)
        window = ["--window", str(options.window)] if options.window else []

        def embed(texts, output):
            return [program, "embed", model, "--file", texts, "-o", output, "--resume", *window, *more]

        subprocess.run(embed("first.txt", "first.npy"), check=True)  # compiles kernels, which takes memory
        size = os.path.getsize("first.npy") / 100 * options.lines
        samples = watch(embed("corpus.txt", "whole.npy"), "whole.npy", size)
        print("done    own MB  resident MB")
        for part in range(PARTS):
            rows = [row for row in samples if part <= row[0] * PARTS < part + 1 or (part + 1 == PARTS and row[0] == 1)]
            if rows:
                print(f"{100 * (part + 1) // PARTS:3d} % {max(row[1] for row in rows):9.1f} {max(row[2] for row in rows):12.1f}")
        second, last = ([row[1] for row in samples if low <= row[0] <= high] for low, high in ((0.25, 0.5), (0.75, 1)))
        if not second or not last:
            sys.exit("too few windows to see memory in: more lines, or a smaller --window")
        if max(last) > GROWTH * max(second):
            sys.exit(f"memory grows with the lines: {max(second):.1f} MB in the second quarter, {max(last):.1f} MB in the last")
        watch(embed("corpus.txt", "killed.npy"), "killed.npy", size, stop_at=0.25)
        if os.path.exists("killed.npy") or not os.path.exists("killed.npy.part"):
            sys.exit("killed at a quarter: expected a part file and no output")
        subprocess.run(embed("corpus.txt", "killed.npy"), check=True)
        if read("killed.npy") != read("whole.npy"):
            sys.exit("killed at a quarter and resumed: other bytes")
        print("killed at a quarter and resumed: the same bytes")


if __name__ == "__main__":
    main()
