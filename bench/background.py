#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Memory bandwidth that `clformer embed` leaves to another program on the same CPU: a process copies 64 MB back and forth,
alternately alone, beside embed, and beside embed --background.

usage: background.py PROGRAM MODEL [--rounds N] [--seconds S] [--tolerance T]

Prints JSON lines: GB/s of the copy (read and written) as the median over the rounds, with the least and the most, and texts/s of embed.
Ends with status 1 if --background leaves the copy less than embed without it does: less than 1 - T of that (default: T = 0.05)."""
import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

from serve import report, texts_of

SIZE = 64 << 20


def copy_rate(seconds):
    """Copies for the given seconds; returns GB/s, read and written."""
    target, source = memoryview(bytearray(SIZE)), memoryview(bytearray(SIZE))
    target[:] = source
    start, count = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        target[:] = source
        target, source = source, target
        count += 1
    return 2 * SIZE * count / (time.perf_counter() - start) / 1e9


def judge(plain, background, tolerance):
    """Compares the copy's rates beside embed and beside embed --background. Returns the reason for status 1; "": there is none."""
    if not plain or not background:
        return "nothing was measured"
    least = (1 - tolerance) * statistics.median(plain)
    if all(math.isfinite(rate) for rate in [*plain, *background]) and statistics.median(background) >= least:
        return ""
    return f"embed --background leaves {statistics.median(background):.2f} GB/s to a copy, expected at least {least:.2f}"


def lines_of(path):
    with open(path, "rb") as file:
        return file.read().count(b"\n")


def beside(command, folder, seconds):
    """Copies while the command works, then kills it. Returns GB/s of the copy and the command's texts/s."""
    path = os.path.join(folder, "rows")
    with open(path, "wb") as rows, open(os.path.join(folder, "log"), "wb") as log:
        worker = subprocess.Popen(command, stdout=rows, stderr=log)
    while not os.path.getsize(path) and worker.poll() is None:  # until the command writes its first rows
        time.sleep(0.01)
    start, before = time.perf_counter(), lines_of(path)
    rate = copy_rate(seconds)
    elapsed, done = time.perf_counter() - start, lines_of(path) - before
    if worker.poll() is not None:
        sys.exit(f"{' '.join(command)}: ended before the copy: more texts are needed")
    worker.kill()
    worker.wait()
    return rate, done / elapsed


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--tolerance", type=float, default=0.05)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        texts = os.path.join(folder, "texts")
        with open(texts, "w", encoding="ascii") as file:
            file.write("\n".join(texts_of(20000, 1)) + "\n")
        embed = [options.program, "embed", options.model, "--file", texts, "--window", "64", "--format", "text"]
        subprocess.run([*embed[:4], "-", "--format", "text"], input=b"warm\n", check=True, capture_output=True)
        rates = {"alone": [], "embed": [], "embed --background": []}
        texts_s = {"embed": [], "embed --background": []}
        for _ in range(options.rounds):
            rates["alone"].append(copy_rate(options.seconds))
            for name, more in (("embed", []), ("embed --background", ["--background"])):
                rate, per_second = beside([*embed, *more], folder, options.seconds)
                rates[name].append(rate)
                texts_s[name].append(per_second)
    for name, values in rates.items():
        own = {"texts_per_s": statistics.median(texts_s[name])} if name in texts_s else {}
        report(copy_beside=name, gb_per_s=statistics.median(values), least=min(values), most=max(values), **own)
    sys.exit(judge(rates["embed"], rates["embed --background"], options.tolerance) or 0)


if __name__ == "__main__":
    main()
